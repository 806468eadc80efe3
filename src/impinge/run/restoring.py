"""What a checkpoint says is checked before an engine trusts it: anybody can write a file, and its checksum too."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from impinge.bodies import _planes
from impinge.bodies.rigid import _layout
from impinge.bodies.rigid._distance import PIECES
from impinge.bodies.rigid.dynamics import FARTHEST
from impinge.errors import ImpingeError, InputError, reason
from impinge.run.rows import LEAST_MASS, MOST_MASS

if TYPE_CHECKING:
    from impinge.bodies.dynamics import Dynamics

__all__ = ["alike", "check_dynamics", "numbers_below", "reading"]

_LARGEST = 2**62  # of whole numbers


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Whatever goes wrong as content becomes a world is an error about the file."""
    try:
        yield
    except ImpingeError as error:
        if str(error).startswith((str(path), "motions: ", "threads: ")):
            raise
        raise InputError(f"{path}: found a damaged checkpoint ({reason(error)})") from None
    except (
        ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
    ) as error:  # fmt: skip
        raise InputError(f"{path}: found a damaged checkpoint ({reason(error)})") from None


def alike(found: Any, model: Any, name: str) -> None:
    """An error unless a value has the parts and types of another: arrays may have other lengths, and must be finite."""
    if isinstance(model, dict):
        if not isinstance(found, dict) or found.keys() != model.keys():
            raise InputError(f"{name}: found other parts, expected {', '.join(model)}")
        for key, value in model.items():
            alike(found[key], value, f"{name}.{key}")
    elif isinstance(model, np.ndarray):
        if not isinstance(found, np.ndarray) or found.dtype != model.dtype or found.ndim != model.ndim:
            raise InputError(f"{name}: found something else, expected an array of {model.dtype}")
        if found.shape[1:] != model.shape[1:]:
            raise InputError(f"{name}: found shape {found.shape}, expected (n, …) as in {model.shape}")
    elif isinstance(model, tuple):
        if not isinstance(found, tuple) or len(found) != len(model):
            raise InputError(f"{name}: found something else, expected {len(model)} values")
        for number, value in enumerate(model):
            alike(found[number], value, f"{name}[{number}]")
    elif _kind(found) != _kind(model):
        raise InputError(f"{name}: found {type(found).__name__}, expected {type(model).__name__}")
    elif isinstance(found, int | np.integer) and not -_LARGEST < found < _LARGEST:
        raise InputError(f"{name}: found {found}, expected a smaller number")


def _kind(value: Any) -> str:
    """Of a number, whether Python's or NumPy's, or of anything else."""
    return np.asarray(value).dtype.kind if isinstance(value, bool | float | np.generic) else type(value).__name__[:1]


def finite(name: str, *arrays: NDArray[Any]) -> None:
    """An error if a number is not finite."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise InputError(f"{name}: found numbers that are not finite")


def _near(name: str, places: NDArray[np.float64]) -> None:
    """An error if a body is so far away that no run goes on with it."""
    if (np.abs(places) > FARTHEST).any():
        raise InputError(f"{name}: found {np.abs(places).max():g} m, expected at most {FARTHEST:g} m")


def numbers_below(name: str, array: Any, high: int, low: int = 0) -> None:
    """An error unless all are whole numbers from low to below high."""
    found = np.asarray(array)
    if found.dtype.kind not in "iu" or (found.size and not low <= int(found.min()) <= int(found.max()) < high):
        raise InputError(f"{name}: expected whole numbers from {low} to {high - 1}")


def _same_length(name: str, parts: Mapping[str, NDArray[Any]]) -> int:
    """An error unless all have as many rows; returns how many."""
    lengths = {len(array) for array in parts.values()}
    if len(lengths) > 1:
        raise InputError(f"{name}: found rows of {sorted(lengths)}, expected as many of each")
    return lengths.pop()


def check_dynamics(state: Any, dynamics: Dynamics, materials: int, planes: int) -> None:
    """An error unless a state is one of these obstacles and shapes, so many materials and planes."""
    model = dynamics.state()
    for name in dynamics.lists.memories():  # histories have columns as contacts need them
        memory = state["memories"][name]
        history = memory["history"]
        if not isinstance(history, np.ndarray) or history.dtype != np.float64 or history.ndim != 2:
            raise InputError(f"state.memories.{name}: found a history of another kind")
        model["memories"][name]["history"] = history
    alike(state, model, "state")
    dt, steps, (first, start) = state["dt"], state["steps"], state["since"]
    if not ((0 < dt < math.inf or math.isnan(dt)) and 0 <= first <= steps and 0 <= start < math.inf):
        raise InputError(f"state: found dt = {dt}, {steps} steps, those from {first} on since t = {start} s")
    if (steps - first) * dt == math.inf:
        raise InputError(f"state: found {steps} steps of {dt} s, expected a time that is a number")
    rows = state["planes"]
    if len(rows) != planes:
        raise InputError(f"state.planes: found {len(rows)}, expected {planes}")
    loaded = ~np.isnan(rows[:, _planes.LOAD])
    finite("state.planes", rows[:, : _planes.LOAD], rows[loaded])
    numbers_below("state.planes", rows[:, _planes.MADE_OF].astype(np.int64), materials, -1)
    _check_particles(state["particles"], materials)
    for name, memory in state["memories"].items():
        _check_memory(f"state.memories.{name}", memory, state["particles"]["ids"])
    _check_rigid(state["rigid"], len(dynamics.rigid.shapes), materials, len(dynamics.obstacles), planes)


def _check_particles(state: dict[str, Any], materials: int) -> None:
    rows = {name: array for name, array in state.items() if name != "next_id"}
    _same_length("state.particles", rows)
    numbers_below("state.particles.next_id", state["next_id"], 2**40)
    numbers_below("state.particles.ids", state["ids"], state["next_id"])
    numbers_below("state.particles.kinds", state["kinds"], materials)
    finite("state.particles", *(rows[name] for name in rows if name not in ("lost", "work")))
    _near("state.particles.x", state["x"])
    if (np.diff(state["ids"]) <= 0).any() or (state["x"][:, 3] <= 0).any():
        raise InputError("state.particles: found numbers out of order, or radii that are not above 0")
    if not ((state["mass"] > LEAST_MASS) & (state["mass"] < MOST_MASS)).all():
        raise InputError("state.particles.mass: found masses beyond all numbers")


def _check_memory(name: str, memory: dict[str, NDArray[Any]], ids: NDArray[np.int64]) -> None:
    _same_length(name, memory)
    owners, names = memory["owners"], memory["names"]
    finite(name, memory["history"][:, :3])
    if len(owners) and not np.isin(owners, ids).all():
        raise InputError(f"{name}: found contacts of spheres that are not there")
    later = (owners[1:] > owners[:-1]) | ((owners[1:] == owners[:-1]) & (names[1:] > names[:-1]))
    if not later.all():
        raise InputError(f"{name}: found contacts out of order")


def _check_rigid(state: dict[str, Any], shapes: int, materials: int, obstacles: int, planes: int) -> None:
    rows = {name: array for name, array in state.items() if name not in ("next_id", "memory")}
    count = _same_length("state.rigid", rows)
    numbers_below("state.rigid.next_id", state["next_id"], 2**40)
    numbers_below("state.rigid.ids", state["ids"], state["next_id"])
    numbers_below("state.rigid.kinds", state["kinds"], materials)
    numbers_below("state.rigid.forms", state["forms"], shapes)
    finite("state.rigid", *(rows[name] for name in rows if name not in ("lost", "work")))
    _near("state.rigid.place", state["place"])
    lengths = np.linalg.norm(state["pose"], axis=1)
    if (np.diff(state["ids"]) <= 0).any():
        raise InputError("state.rigid.ids: found them out of order")
    if (state["mass"] <= 0).any() or (state["inertia"] <= 0).any() or (np.abs(lengths - 1) > 1e-6).any():
        raise InputError("state.rigid: found masses of 0, or turns that are none")
    memory = state["memory"]
    pairs, things, contacts = memory["pairs"], memory["things"], memory["contacts"]
    numbers_below("state.rigid.memory.pairs", pairs[:, _layout.BODY], count)
    numbers_below("state.rigid.memory.pairs", pairs[:, _layout.KIND_OF], _layout.HOLLOW + 1)
    numbers_below("state.rigid.memory.pairs", pairs[:, _layout.OTHER], count + obstacles + planes)
    rows_now = list(map(tuple, pairs.tolist()))
    if rows_now != sorted(set(rows_now)):
        raise InputError("state.rigid.memory.pairs: found them out of order")
    numbers_below("state.rigid.memory.things", things[:, [3, 4, 6]], 2)
    numbers_below("state.rigid.memory.things", things[:, 5], 2**31)
    listed = things[:, [0, 1, 2, 3, 4, 5]]
    if (listed[1:, :3] < listed[:-1, :3]).all(axis=1).any():
        raise InputError("state.rigid.memory.things: found them out of order")
    numbers_below("state.rigid.memory.contacts", contacts[:, 0], len(things))
    numbers_below("state.rigid.memory.contacts", contacts[:, 1], PIECES)
    if len(contacts) != len(memory["history"]):
        raise InputError("state.rigid.memory: found contacts without a history")
    is_edge = things[contacts[:, 0], 4] == 1
    if contacts[~is_edge, 1].any():
        raise InputError("state.rigid.memory.contacts: found pieces of points")
    finite("state.rigid.memory", memory["history"])
