"""What a scene may say, but hardly means: numbers in other units, and times that do not go together."""

from __future__ import annotations

import math

from impinge.run.scene import models, softmodels
from impinge.run.scene.toml import Document, Key

__all__ = ["WIDE", "check_step", "check_thickness", "check_width"]

_HUGE = 500.0  # times as wide as all else that moves
WIDE = 10.0  # m: hardly any body is as wide, and a part of 1 cm in millimetres is

# So do things drawn in millimetres: their masses are 1e9 times too large.
_SLOW = "; contacts take as long where the stiffness is too low for the masses, or lengths are in mm: scale = 1e-3"
_COARSE = 5.0  # edges: so thick may be what is cut into parts very finely


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
