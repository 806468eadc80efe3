"""A world as plain data, and back: what checkpoints hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from impinge.bodies.motion import Motion, PoseFunction
from impinge.bodies.obstacles import Obstacle
from impinge.bodies.rain import Rain
from impinge.bodies.rigid.shape import Shape
from impinge.errors import InputError
from impinge.output import checkpoint
from impinge.response.materials import Material
from impinge.shapes.mesh import Mesh

if TYPE_CHECKING:
    from impinge.run.world import World

__all__ = ["load", "of_world", "save", "to_world"]

_KIND, _VERSION = "world", 2


def save(path: str | Path, world: World) -> None:
    """Write a world to a file."""
    checkpoint.save(path, of_world(world), _KIND, _VERSION)


def load(cls: type[World], path: str | Path, threads: int | None, motions: Mapping[str, PoseFunction]) -> World:
    """Read a world from a file."""
    return to_world(cls, checkpoint.load(path, _KIND, _VERSION), threads, motions)


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
            {"rain": source.rain.settings, "material": source.material, "state": source.rain.state()}
            for source in world._sources
        ],
        "sinks": [
            {"lower": sink.lower, "upper": sink.upper, "count": sink.count, "mass": sink.mass} for sink in world.sinks
        ],
        "state": dynamics.state(),
    }  # fmt: skip


def to_world(
    cls: type[World], content: dict[str, Any], threads: int | None, motions: Mapping[str, PoseFunction]
) -> World:
    """The world of `of_world`."""
    settings = dict(content["settings"])
    if settings["periodic"].ndim == 0:
        settings["periodic"] = bool(settings["periodic"])
    world = cls(**settings, threads=threads)
    world._materials = [Material(**values) for values in content["materials"]]
    world._laws = {(a, b): Material(**entry["law"]) for entry in content["laws"] for a, b in [entry["pair"]]}
    world._restore_walls(content["planes"], [entry["name"] for entry in content["obstacles"]])
    for entry in content["obstacles"]:
        motion: Motion | PoseFunction | None = None if entry["motion"] is None else Motion(**entry["motion"])
        if entry["function"]:
            if entry["name"] not in motions:
                raise InputError(
                    f"motions: found none for {entry['name']!r}, expected the function of time by which it moves"
                )
            motion = motions[entry["name"]]
        mesh = Mesh(entry["vertices"], entry["faces"])
        world._dynamics.add_obstacle(Obstacle(mesh, motion), entry["material"])
    for entry in content["shapes"]:
        world._dynamics.rigid.add_shape(Shape(Mesh(entry["vertices"], entry["faces"]), entry["resolution"]))
    for entry in content["sources"]:
        rain = Rain(**entry["rain"])
        rain.restore(entry["state"])
        world.add_source(rain, world.materials[entry["material"]])
    for entry in content["sinks"]:
        sink = world.add_sink(entry["lower"], entry["upper"])
        sink.count, sink.mass = entry["count"], entry["mass"]
    world._dynamics.restore(content["state"])
    return world
