"""What a scene may say, but hardly means: numbers in other units, and times that do not go together."""

from __future__ import annotations

import math

from impinge.run.scene import models, softmodels
from impinge.run.scene.toml import Document, Key

__all__ = ["WIDE", "check_scene", "check_step", "check_thickness", "check_width"]

_HUGE = 500.0  # times as wide as all else that moves
WIDE = 10.0  # m: hardly any body is as wide, and a part of 1 cm in millimetres is

# So do things drawn in millimetres: their masses are 1e9 times too large.
_SLOW = "; contacts take as long where the stiffness is too low for the masses, or lengths are in mm: scale = 1e-3"
_LIGHT = 20.0  # kg/m³: foams are as light, and all is below that in g/cm³
_COARSE = 5.0  # edges: so thick may be what is cut into parts very finely


def check_scene(document: Document, scene: models.Particles | softmodels.Soft) -> None:
    """Warnings about what can be seen without a world."""
    gravity, until, frames = scene.world.gravity, scene.run.until, scene.output.frames
    if gravity is not None and gravity[-1] > 0 and not any(gravity[:-1]):
        document.warn(("world", "gravity"), f"found {gravity}, which points upwards; down is {-gravity[-1]:g}")
    if frames is not None and frames > until:
        found = f"found {frames:g} s, more than run.until, {until:g} s"
        document.warn(("output", "frames"), f"{found}; there will be a frame of the start only")
    if isinstance(scene, models.Particles) and not scene.is_flat:
        moving: list[models.Spheres | models.Polyhedra | models.Source] = [*scene.spheres, *scene.polyhedra]
        used = {thing.material for thing in [*moving, *scene.sources]}
        for name, material in scene.materials.items():
            if name in used and material.density < _LIGHT:
                found = f"found {material.density:g} kg/m³, less than nearly all that is solid"
                hint = f"; if it is in g/cm³: density = {1000 * material.density:g}"
                document.warn(("materials", name, "density"), found + (hint if material.density > 0.1 else ""))


def check_step(document: Document, scene: models.Particles | softmodels.Soft, dt: float, why: str) -> None:
    """An error if a time step is longer than the run, and a warning if it is longer than from frame to frame."""
    until, frames = scene.run.until, scene.output.frames
    if dt > until:  # in shorter ones frames and rows that are due can be counted, as they can be in the run
        hint = _SLOW if scene.world.dt == "auto" else ""
        raise document.error(("world", "dt"), f"found {why}, expected at most run.until, {until:g} s{hint}")
    if frames is not None and dt > frames:
        found = f"found {frames:g} s, less than a time step ({why})"
        document.warn(("output", "frames"), f"{found}; a frame comes after every step")


def check_width(document: Document, key: Key, width: float, rest: float, most: float = math.inf) -> None:
    """A warning about a mesh, of the key `file`, that is very wide next to all else that moves, or wider than most."""
    found = f"found a mesh {width:.4g} m wide"
    if rest > 0 and width > _HUGE * rest:
        found += f", {width / rest:,.0f} times as wide as all else that moves"
    elif width <= most:
        return
    document.warn((*key, "file"), f"{found}; if it was drawn in millimetres: scale = 1e-3")


def check_thickness(document: Document, key: Key, value: float, thick: float, edge: float) -> None:
    """A warning about a cable or cloth that is much thicker than its edges are long; value : of the key, m."""
    if thick > _COARSE * edge:
        found = f"found {value:g} m, which is {thick / edge:.3g} times as thick as its edges are long ({edge:.3g} m)"
        document.warn(key, f"{found}, and slow; if it is in millimetres: {key[-1]} = {1e-3 * value:g}")
