"""A soft world as plain data, and back: what checkpoints hold.

A world is described by the calls that made it, which it remembers with their arguments, and built again by the same
calls; then it gets the numbers back that change over time. A method that adds to a world needs no more than
`remembered` above it, and an argument of the constructor no more than an attribute of the same name.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import scipy.sparse as sp

from impinge.bodies.motion import Motion
from impinge.errors import InputError
from impinge.output import checkpoint
from impinge.run import restoring
from impinge.run.saved import load_world
from impinge.run.softbody import node_numbers
from impinge.run.softcontacts import Touch
from impinge.shapes.mesh import Mesh

if TYPE_CHECKING:
    from impinge.run.soft import SoftWorld

__all__ = ["Motions", "load", "of_world", "remembered", "save", "to_world"]

_KIND, _VERSION = "soft_world", 1
# What the next step depends on, besides the calls.
_STATE = (
    "time", "steps", "scaled_steps", "unsettled_steps", "friction_error", "_x", "_v", "_before", "_touch",
    "_user_forces", "_bar_forces", "_work", "_slack",
)  # fmt: skip

Motions = Mapping[str, Callable[[float], Any]]
_World = TypeVar("_World", bound="SoftWorld")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Method = Callable[Concatenate[_World, _Arguments], _Result]


def remembered(method: _Method[_World, _Arguments, _Result]) -> _Method[_World, _Arguments, _Result]:
    """A method of a world whose calls, those that do not fail, are part of the world's description."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call(world: _World, *positional: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        result = method(world, *positional, **named)  # before all else: its errors name the method
        given = signature.bind(world, *positional, **named).arguments
        name, before = method.__name__, [called for called, _ in world._calls]
        label = f"{name.removeprefix('add_')} {before.count(name)}"
        arguments = {key: _stored(world, key, value, label) for key, value in list(given.items())[1:]}
        world._calls.append((name, arguments))
        return result

    call.is_remembered = True  # type: ignore[attr-defined]
    return call


def save(path: str | Path, world: SoftWorld) -> None:
    """Write a world to a file."""
    checkpoint.save(path, of_world(world), _KIND, _VERSION)


def load(cls: type[_World], path: str | Path, threads: int | None, motions: Motions) -> _World:
    """Read a world from a file."""
    content = load_world(path, _KIND, _VERSION)
    with restoring.reading(path):
        return to_world(cls, content, threads, motions)


def of_world(world: SoftWorld) -> dict[str, Any]:
    """All that a world is, as arrays, numbers and texts."""
    settings = [name for name in inspect.signature(type(world)).parameters if name != "threads"]
    return {
        "settings": {name: _stored(world, name, getattr(world, name), name) for name in settings},
        "calls": [{"method": method, "arguments": arguments} for method, arguments in world._calls],
        "is_checked": world._ready,
        "state": {name: getattr(world, name) for name in _STATE},
    }


def to_world(cls: type[_World], content: dict[str, Any], threads: int | None, motions: Motions) -> _World:
    """The world of `of_world`; motions : functions of time by name, as "obstacle 0" and "fix 2"."""
    arguments = [content["settings"], *(entry["arguments"] for entry in content["calls"])]
    values = [value for some in arguments for value in some.values() if isinstance(value, dict)]
    moving = [value["function"] for value in values if "function" in value]
    for name in motions:
        if name not in moving:
            raise InputError(f"motions: found {name!r}, expected names of what moves by functions of time, {moving}")
    world = cls(**{name: _restored([], value, motions) for name, value in content["settings"].items()}, threads=threads)
    for entry in content["calls"]:
        given = {key: _restored(world.bodies, value, motions) for key, value in entry["arguments"].items()}
        method = getattr(cls, entry["method"], None)
        if not getattr(method, "is_remembered", False):  # others do other things, such as writing files
            raise InputError(f"calls: found {entry['method']!r}, which makes no part of a world")
        getattr(world, entry["method"])(**given)
    _check_state(world, content["state"])
    for name in _STATE:
        value = content["state"][name]
        setattr(world, name, Touch(*value) if name == "_touch" else value)
    if content["is_checked"]:  # steps are certified; a look at where they ended need not find as much
        world._assemble()
        world._ready = True
    return world


def _check_state(world: SoftWorld, state: Any) -> None:
    """An error unless a state is one of this world, which has just been made."""
    model = {name: getattr(world, name) for name in _STATE}
    before = state["_before"]
    restoring.alike({**state, "_before": None}, {**model, "_before": None, "_touch": tuple(model["_touch"])}, "state")
    moving = [state["_x"], state["_v"]]
    if before is not None:
        restoring.alike(before, (model["_x"], model["_v"]), "state._before")
        moving += before
    if any(rows.shape != world._x.shape for rows in moving) or state["_work"].shape != world._work.shape:
        raise InputError(f"state: found rows of other numbers of nodes, expected {len(world._x)}")
    touch = Touch(*state["_touch"])
    if len({len(part) for part in touch}) > 1:
        raise InputError("state._touch: found parts of different lengths")
    reals = [part for part in touch if part.dtype.kind == "f"]
    restoring.finite("state", *moving, *reals, *(state[name] for name in ("_user_forces", "_bar_forces", "_work")))
    counted = [state[name] for name in ("time", "steps", "scaled_steps", "unsettled_steps", "_slack")]
    if not all(0 <= number < math.inf for number in counted):
        raise InputError("state: found times or counts that are not finite, or below 0")
    if len(touch.forces):
        world._assemble()
        _check_pairs(world, touch)


def _check_pairs(world: SoftWorld, touch: Touch) -> None:
    """An error unless pairs are of features that are there."""
    surface = world.surface
    restoring.numbers_below("state._touch.kinds", touch.kinds, 2)
    restoring.numbers_below("state._touch.corners", touch.corners, len(surface.body_of))
    counts = np.array([[len(surface.body_of), len(surface.faces)], [len(surface.edges), len(surface.edges)]])
    if (touch.numbers < 0).any() or (touch.numbers >= counts[touch.kinds]).any():
        raise InputError("state._touch.numbers: found features that are not there")


def _stored(world: SoftWorld, key: str, value: Any, label: str) -> Any:
    """An argument as a checkpoint can hold it; what is not plain becomes a dictionary of one entry, its kind."""
    if key == "mesh":
        mesh = Mesh.of(value)
        return {"mesh": {"vertices": mesh.vertices, "faces": mesh.faces}}
    if key == "nodes":  # may be anything that chooses some
        return node_numbers(value, world.bodies, len(world._x))
    if value is None or isinstance(value, str | bool | int | float | np.generic):
        return value
    if isinstance(value, Motion):
        return {"motion": asdict(value)}
    if callable(value):
        return {"function": label}
    if sp.issparse(value):
        matrix = sp.csr_array(value)
        parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
        return {"sparse": {name: np.array(part) for name, part in parts.items()}}
    for number, body in enumerate(world.bodies):
        if value is body:
            return {"body": number}
    if isinstance(value, list | tuple) and any(part is body for part in value for body in world.bodies):
        return [_stored(world, key, part, label) for part in value]
    return np.array(value)


def _restored(bodies: Sequence[Any], value: Any, motions: Motions) -> Any:
    """The argument that `_stored` was given."""
    if isinstance(value, list):
        return [_restored(bodies, part, motions) for part in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "mesh":
        return Mesh(content["vertices"], content["faces"])
    if kind == "motion":
        return Motion(**content)
    if kind == "sparse":
        return sp.csr_array((content["data"], content["indices"], content["indptr"]), shape=tuple(content["shape"]))
    if kind == "body":
        return bodies[content]
    if content not in motions:
        raise InputError(f"motions: found none for {content!r}, expected the function of time by which it moves")
    return motions[content]
