"""A world as plain data, and back: what checkpoints hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from impinge import _check
from impinge.bodies.motion import Motion, PoseFunction
from impinge.bodies.obstacles import Obstacle
from impinge.bodies.rain import Rain
from impinge.bodies.rigid.rain import PolyhedraRain
from impinge.bodies.rigid.shape import Shape
from impinge.errors import InputError
from impinge.output import checkpoint
from impinge.response.materials import Material
from impinge.run import restoring
from impinge.run.saved import load_world
from impinge.shapes.mesh import Mesh

if TYPE_CHECKING:
    from impinge.run.world import World

__all__ = ["VERSION", "load", "of_world", "save", "to_world"]

_KIND, VERSION = "world", 4


def save(path: str | Path, world: World) -> None:
    """Write a world to a file."""
    checkpoint.save(path, of_world(world), _KIND, VERSION)


def load(cls: type[World], path: str | Path, threads: int | None, motions: Mapping[str, PoseFunction]) -> World:
    """Read a world from a file."""
    content = load_world(path, _KIND, VERSION)
    with restoring.reading(path):
        return to_world(cls, content, threads, motions)


def of_world(world: World) -> dict[str, Any]:
    """All that a world is, as arrays, numbers and texts."""
    dynamics = world._dynamics
    return {
        "settings": world._settings,
        "materials": [asdict(material) for material in world._materials],
        "laws": [{"pair": list(pair), "law": asdict(law)} for pair, law in world._laws.items()],
        "planes": [wall.name for wall in world._planes],
        "obstacles": [
            {
                "name": wall.name, "vertices": obstacle.mesh.vertices, "faces": obstacle.mesh.faces, "material": kind,
                "motion": asdict(obstacle.motion) if isinstance(obstacle.motion, Motion) else None,
                "function": obstacle.moves and not isinstance(obstacle.motion, Motion),
            }
            for wall, obstacle, kind in zip(world._obstacles, dynamics.obstacles, dynamics.made_of, strict=True)
        ],
        "shapes": [
            {"vertices": shape.mesh.vertices, "faces": shape.mesh.faces, "resolution": shape.asked}
            for shape in dynamics.rigid.shapes
        ],
        "sources": [
            {
                "rain": {key: value for key, value in source.rain.settings.items() if key != "shapes"},
                "shapes": np.array(source.shapes, np.int64), "material": source.material, "state": source.rain.state(),
            }
            for source in world._sources
        ],
        "sinks": [
            {
                "lower": sink.lower, "upper": sink.upper, "spheres": sink.spheres, "polyhedra": sink.polyhedra,
                "mass": sink.mass,
            }
            for sink in world.sinks
        ],
        "why_dt": world._timestep.why, "tightest": world._timestep.tightest, "state": dynamics.state(),
    }  # fmt: skip


def to_world(
    cls: type[World], content: dict[str, Any], threads: int | None, motions: Mapping[str, PoseFunction]
) -> World:
    """The world of `of_world`, each part of which is checked, as the file may be anybody's."""
    settings = dict(content["settings"])
    if settings["periodic"].ndim == 0:
        settings["periodic"] = bool(settings["periodic"])
    world = cls(**settings, threads=threads)
    world._materials = [Material(**values) for values in content["materials"]]
    materials = len(world._materials)
    for entry in content["laws"]:
        restoring.numbers_below("laws", entry["pair"], materials)
        a, b = entry["pair"]
        world._laws[a, b] = Material(**entry["law"])
    names = content["planes"], [entry["name"] for entry in content["obstacles"]]
    if not all(isinstance(name, str) for some in names for name in some):
        raise InputError("names: found something else, expected texts")
    world._restore_walls(*names)
    for entry in content["obstacles"]:
        motion: Motion | PoseFunction | None = None if entry["motion"] is None else Motion(**entry["motion"])
        if entry["function"]:
            if entry["name"] not in motions:
                raise InputError(
                    f"motions: found none for {entry['name']!r}, expected the function of time by which it moves"
                )
            motion = motions[entry["name"]]
        mesh = Mesh(entry["vertices"], entry["faces"])
        restoring.numbers_below("obstacles", entry["material"], materials, -1)
        world._dynamics.add_obstacle(Obstacle(mesh, motion), entry["material"])
    for entry in content["shapes"]:
        asked = entry["resolution"]
        mesh = Mesh(entry["vertices"], entry["faces"])
        world._dynamics.rigid.add_shape(Shape(mesh, None if asked is None else _check.positive("resolution", asked)))
    for entry in content["sources"]:
        shapes = entry["shapes"]
        restoring.numbers_below("sources", shapes, len(world._dynamics.rigid.shapes))
        meshes = [world._dynamics.rigid.shapes[number].mesh for number in shapes]
        rain = PolyhedraRain(shapes=meshes, **entry["rain"]) if len(shapes) else Rain(**entry["rain"])
        rain.restore(entry["state"])
        restoring.numbers_below("sources", entry["material"], materials)
        world.add_source(rain, world.materials[entry["material"]])
    for entry in content["sinks"]:
        sink = world.add_sink(entry["lower"], entry["upper"])
        sink.spheres, sink.polyhedra = (_check.integer(name, entry[name], 0) for name in ("spheres", "polyhedra"))
        sink.mass = _check.not_negative("mass", entry["mass"])
    step = world._timestep
    step.why, step.tightest = content["why_dt"], content["tightest"]
    if not (isinstance(step.why, str) and isinstance(step.tightest, float) and step.tightest > 0):
        raise InputError("why_dt: found something else, expected a text and a number above 0")
    restoring.check_dynamics(content["state"], world._dynamics, materials, len(content["planes"]))
    world._dynamics.restore(content["state"])
    world._note_checked()
    return world
