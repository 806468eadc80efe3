"""Small versions of the scenes in examples/, and the states they end in.

    python -m tests.run.examples

writes the states of this type of processor to states.json: after a change that is meant to change them, or on a
processor that has none yet.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from llvmlite import binding

from impinge.run.scene import Scene, models
from impinge.run.scene.build import Built
from impinge.run.scene.toml import read_toml
from impinge.run.world import World

FOLDER = Path(__file__).resolve().parents[2] / "examples"
STATES = Path(__file__).with_name("states.json")


class Small(NamedTuple):
    """How much of an example is run."""

    steps: int
    changes: Mapping[str, Any] = MappingProxyType({})  # dotted keys of the scene, and what they are instead


_DOWN = [0.0, 0.0, -1.0]
_FEW_ROCKS = {
    "random.count": 3,
    "random.lower": [-0.08, -0.08, 0.01],
    "random.upper": [0.08, 0.08, 0.2],
    "velocity": _DOWN,
}
_IN_DEMO = (("spheres", 0), ("polyhedra", 0), ("polyhedra", 1))
SMALL = {
    "biaxial": Small(6000),
    "column": Small(2500),
    "conveyor": Small(3500, {"sinks.0.lower": [0.1, -1.0, -1.0]}),
    "demo": Small(
        3000,
        {
            "spheres.0.random.count": 60,
            **{f"polyhedra.{k}.random.count": 3 for k in range(2)},
            **{f"{kind}.{k}.random.upper": [0.06, 0.06, 0.16] for kind, k in _IN_DEMO},
            **{f"{kind}.{k}.random.lower": [-0.06, -0.06, 0.06] for kind, k in _IN_DEMO},
            **{f"{kind}.{k}.velocity": _DOWN for kind, k in _IN_DEMO},
        },
    ),
    "drum": Small(1500),
    "hook-ring": Small(3000),
    "hooks": Small(660),
    "hopper-mixed": Small(
        3500,
        {
            "spheres.0.random.count": 40,
            "polyhedra.0.random.count": 8,
            "polyhedra.1.random.count": 8,
            "spheres.0.random.upper": [0.05, 0.05, 0.18],
            "spheres.0.random.lower": [-0.05, -0.05, 0.02],
            "polyhedra.0.random.upper": [0.05, 0.05, 0.18],
            "polyhedra.0.random.lower": [-0.05, -0.05, 0.02],
            "polyhedra.1.random.upper": [0.05, 0.05, 0.18],
            "polyhedra.1.random.lower": [-0.05, -0.05, 0.02],
        },
    ),
    "hopper": Small(
        4500,
        {"spheres.0.random.count": 1100, "spheres.0.random.upper": [0.046, 0.046, 0.085], "obstacles.0.cone.rim": 0.03},
    ),
    "paper-demo-300": Small(30_000, {"spheres.0.velocity": [0.0, -2.0]}),
    "paper-discs": Small(10_000),
    "paper-fracture": Small(2000),
    "paper-fracture-3": Small(500),
    "paper-fracture-4": Small(200),
    "paper-fracture-5": Small(100),
    "paper-spheres": Small(1000),
    "rocks": Small(
        1200,
        {f"polyhedra.{k}.{key}": value for k in range(4) for key, value in _FEW_ROCKS.items()},
    ),
    "rods": Small(
        1500,
        {"polyhedra.0.random.count": 4, "polyhedra.0.random.upper": [0.3, 0.3, 0.16], "polyhedra.0.velocity": _DOWN},
    ),
    "torus-hole": Small(2500, {"spheres.0.velocity": _DOWN, "spheres.0.centres": [[0.012, 0.0, 0.16]]}),
}


def scene(name: str, changes: Mapping[str, Any], model: Any = models.Particles) -> Scene:
    """An example, some keys of which say something else."""
    document = read_toml(FOLDER / f"{name}.toml")
    for key, value in changes.items():
        *tables, last = key.split(".")
        table: Any = document.content
        for part in tables:
            table = table[int(part)] if part.isdigit() else table[part]
        table[last] = value
    return Scene(document, model.model_validate(document.content))


def start(name: str, threads: int | None = None) -> Built:
    """The small version at its start."""
    return scene(name, SMALL[name].changes).build_with_groups(threads)


def state(world: World) -> str:
    """A hash of all numbers, places and velocities."""
    spheres, digest = world.spheres, hashlib.sha256()
    arrays = [spheres.ids, spheres.centres, spheres.velocities]
    if len(world.polyhedra):
        bodies = world.polyhedra
        arrays += [bodies.positions, bodies.rotations, bodies.velocities, bodies.spins]
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()[:32]


def processor() -> str:
    """The type of this processor, as the compiler knows it, and its vectors, which a virtual machine may do without:
    bits may differ between them.
    """
    features = binding.get_host_cpu_features()
    vectors = next((name for name in ("avx512f", "avx2", "avx") if features.get(name)), "no avx")
    return f"{binding.get_host_cpu_name()}, {vectors}"


def pinned() -> dict[str, dict[str, str]]:
    """Known states: processor, example, hash."""
    found: dict[str, dict[str, str]] = json.loads(STATES.read_text(encoding="utf-8"))
    return found


def pin() -> None:
    """Write the states of this processor."""
    states = pinned() if STATES.exists() else {}
    mine = {}
    for name, small in SMALL.items():
        world = start(name).world
        world.step(small.steps)
        mine[name] = state(world)
        print(f"{processor()}, {name}: {mine[name]}")
    states[processor()] = mine
    STATES.write_text(json.dumps(states, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    pin()
