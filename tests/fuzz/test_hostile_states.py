"""Checkpoints and prepared solids that were changed, with a checksum that is right."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impinge
from impinge.inside import files as solid_files
from impinge.output import checkpoint
from impinge.run.state import VERSION

from .hostile import HUGE, refused


def soft_content(path: Path) -> dict[str, Any]:
    world = impinge.SoftWorld()
    world.add_cable(np.linspace([0, 0, 0], [1, 0, 0], 5), radius=0.01, stretch=10.0, mass_per_length=0.1)
    world.save(path)
    return checkpoint.load(path, "soft_world", 1)


def test_checkpoints_call_nothing_but_what_makes_worlds(tmp_path: Path) -> None:
    content = soft_content(tmp_path / "a.h5")
    content["calls"].append({"method": "save", "arguments": {"path": str(tmp_path / "harmed.h5")}})
    checkpoint.save(tmp_path / "a.h5", content, "soft_world", 1)
    refused("soft", tmp_path / "a.h5")
    assert not (tmp_path / "harmed.h5").exists()


def test_checkpoints_set_nothing_but_the_state(tmp_path: Path) -> None:
    content = soft_content(tmp_path / "a.h5")
    content["state"]["save"] = 1.0
    checkpoint.save(tmp_path / "a.h5", content, "soft_world", 1)
    refused("soft", tmp_path / "a.h5")


@pytest.mark.parametrize(("name", "value"), [
    ("time", math.inf), ("time", math.nan), ("time", -1.0), ("steps", -1), ("_slack", math.nan), ("_slack", math.inf),
])  # fmt: skip
def test_times_and_counts_of_soft_worlds(tmp_path: Path, name: str, value: Any) -> None:
    content = soft_content(tmp_path / "a.h5")
    content["state"][name] = value
    checkpoint.save(tmp_path / "a.h5", content, "soft_world", 1)
    assert "times or counts" in refused("soft", tmp_path / "a.h5")


def spheres_content(path: Path) -> dict[str, Any]:
    world = impinge.World()
    world.add_spheres([[0, 0, 0], [0, 0, 0.19]], 0.1, impinge.Material(density=1000, stiffness=1e3, friction=0.3))
    world.step(3)
    world.save(path)
    return checkpoint.load(path, "world", VERSION)


@pytest.mark.parametrize(("place", "value"), [
    ("x", np.zeros((2, 3))), ("x", np.full((2, 4), np.nan)), ("kinds", np.array([0, 10**6])), ("ids", np.array([1, 0])),
    ("kinds", np.array([0.0, 0.0])), ("mass", np.zeros(2)), ("mass", np.full(2, 1e300)), ("v", np.zeros((1, 3))),
    ("next_id", -1), ("next_id", 10**30), ("x", np.zeros((2, 4))),
    ("x", np.array([[0, 0, 0, 0.1], [0, 0, 1e200, 0.1]])),
])  # fmt: skip
def test_states_that_kernels_would_trust(tmp_path: Path, place: str, value: Any) -> None:
    content = spheres_content(tmp_path / "a.h5")
    content["state"]["particles"][place] = value
    checkpoint.save(tmp_path / "a.h5", content, "world", VERSION)
    refused("world", tmp_path / "a.h5")


@pytest.mark.parametrize(("dt", "steps", "since"), [
    (math.inf, 3, (0, 0.0)), (0.0, 3, (0, 0.0)), (1e-4, -1, (0, 0.0)), (1e-4, 3, (4, 0.0)), (1e-4, 3, (-1, 0.0)),
    (1e-4, 3, (0, math.nan)), (1e-4, 3, (0, math.inf)), (1e-4, 3, (0, -1.0)), (1e308, 3, (0, 0.0)),
])  # fmt: skip
def test_times_that_are_none(tmp_path: Path, dt: float, steps: int, since: tuple[int, float]) -> None:
    content = spheres_content(tmp_path / "a.h5")
    content["state"] |= {"dt": dt, "steps": steps, "since": since}
    checkpoint.save(tmp_path / "a.h5", content, "world", VERSION)
    assert "steps" in refused("world", tmp_path / "a.h5")


def test_energies_whose_sum_is_beyond_numbers_on_the_way(tmp_path: Path) -> None:
    content = spheres_content(tmp_path / "a.h5")
    particles = content["state"]["particles"]
    more = {name: np.repeat(rows, 8, axis=0) for name, rows in particles.items() if name != "next_id"}
    more |= {"ids": np.arange(16), "lost": np.zeros(16)}
    more["x"][:, 0] += 9.0 * np.arange(16)
    more["lost"][[0, 1, 8, 9]] = 1.7e308, 1.7e308, -1.7e308, -1.7e308  # NumPy adds every eighth first
    content["state"]["particles"] = {**more, "next_id": 16}
    content["state"]["memories"]["pairs"] = {
        name: rows[:0] for name, rows in content["state"]["memories"]["pairs"].items()
    }
    checkpoint.save(tmp_path / "a.h5", content, "world", VERSION)
    with pytest.raises(OverflowError):
        math.fsum(more["lost"])
    assert isinstance(impinge.World.load(tmp_path / "a.h5").energy().dissipated, float)


@pytest.mark.parametrize(("place", "value"), [
    ("ids", np.array([1, 0])), ("ids", np.array([0, 2])), ("ids", np.array([-1, 0])), ("ids", np.array([0.0, 1.0])),
    ("ids", np.array([0])), ("next_id", -1), ("next_id", 1), ("next_id", 10**30), ("next_id", 2.0),
    ("place", np.array([[0, 0, 0], [3, 0, 1e200]])),
])  # fmt: skip
def test_states_of_bodies_that_are_wrong(tmp_path: Path, place: str, value: Any) -> None:
    world = impinge.World()
    rock = impinge.Material(density=1000, stiffness=1e3)
    world.add_polyhedra(impinge.shapes.box(), [[0, 0, 0], [3, 0, 0]], material=rock)
    world.save(tmp_path / "a.h5")
    content = checkpoint.load(tmp_path / "a.h5", "world", VERSION)
    content["state"]["rigid"][place] = value
    checkpoint.save(tmp_path / "a.h5", content, "world", VERSION)
    refused("world", tmp_path / "a.h5")


@pytest.mark.parametrize(("name", "value"), [
    ("owners", np.array([7])), ("names", np.array([1, 1])), ("history", np.zeros((5, 3))),
    ("history", np.full((1, 8), np.nan)),
])  # fmt: skip
def test_memories_that_kernels_would_trust(tmp_path: Path, name: str, value: Any) -> None:
    content = spheres_content(tmp_path / "a.h5")
    assert len(content["state"]["memories"]["pairs"]["owners"]) == 1
    content["state"]["memories"]["pairs"][name] = value
    checkpoint.save(tmp_path / "a.h5", content, "world", VERSION)
    refused("world", tmp_path / "a.h5")


@pytest.mark.parametrize("entry", [
    ["array", "<f8", [HUGE], 512], ["array", "<f8", [2**62, 2**62], 512], ["array", "<f8", [-1], 512],
    ["array", "|O", [1], 512], ["array", "<f8", [1], 10**9], ["array", "<f8", [1], -8], ["int", "|u1", [9], 0],
    ["dict", []], ["list", 3], ["list", [["list"]]], [], ["array", "<f8", [1.5], 512], "x", None,
])  # fmt: skip
def test_an_index_that_is_wrong(tmp_path: Path, entry: Any) -> None:
    rewrite_index(tmp_path, lambda parts: {**parts, "state": entry})
    refused("world", tmp_path / "a.h5")


def test_an_index_that_shows_the_same_numbers_very_often(tmp_path: Path) -> None:
    rewrite_index(tmp_path, lambda parts: {"x": ["list", [["array", "|u1", [4000], 512]] * 20_000]})
    assert "room" in refused("world", tmp_path / "a.h5")


def test_an_index_without_end(tmp_path: Path) -> None:
    rewrite_index(tmp_path, lambda parts: None, '{"a": ' + '["list", [' * 100_000)
    refused("world", tmp_path / "a.h5")


def rewrite_index(folder: Path, change: Callable[[Any], Any], text: str = "") -> None:
    """A checkpoint with another index, and a checksum that is right."""
    spheres_content(folder / "a.h5")
    data = (folder / "a.h5").read_bytes()
    head = checkpoint._HEAD.fullmatch(data[:512])
    assert head is not None
    at, label = int(head[3]), data[: head.start(4) - len("blake2b ")]
    body = data[512:at] + (text or json.dumps(change(json.loads(data[at:])))).encode()
    line = f"blake2b {checkpoint._checksum(label, memoryview(body))}\n".encode()
    (folder / "a.h5").write_bytes((label + line).ljust(512, b"\0") + body)


@pytest.mark.parametrize("change", [
    {"codes": lambda array: np.full_like(array, 2)},  # all are nodes: around in a circle
    {"codes": lambda array: np.full_like(array, (10**8 << 2) | 1)},  # records far outside
    {"codes": lambda array: array[:-1]}, {"words": lambda array: array[:8]},
    {"words": lambda array: np.full(array.shape, 2**28 * (2**32 + 1)).view(np.float64)},  # triangles and blocks
    {"shape": lambda array: array * 1000}, {"inv": lambda array: array * 1e9}, {"high": lambda array: array + 1e6},
    {"depth": lambda array: array + 40}, {"low": lambda array: np.zeros(2)}, {"accuracy": lambda array: np.zeros(3)},
])  # fmt: skip
def test_trees_that_kernels_would_trust(tmp_path: Path, change: dict[str, Callable[[Any], Any]]) -> None:
    path = tmp_path / "a.npz"
    impinge.Solid(impinge.shapes.icosphere(3, 1.0)).save(path)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files if name not in ("format", "method", "checksum")}
    for name, other in change.items():
        arrays[name] = np.asarray(other(arrays[name]), arrays[name].dtype)
    head = {"format": solid_files.FORMAT, "method": "octree", "checksum": solid_files._checksum(arrays)}
    np.savez(path, **head, **arrays)  # type: ignore[arg-type]
    refused("solid", path)
