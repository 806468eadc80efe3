"""What a scene may say, but hardly means: numbers in other units, and times that do not go together."""

from __future__ import annotations

from impinge.run.scene import models, softmodels
from impinge.run.scene.toml import Document

__all__ = ["check_step"]

# So do things drawn in millimetres: their masses are 1e9 times too large.
_SLOW = "; contacts take as long where the stiffness is too low for the masses, or lengths are in mm: scale = 1e-3"


def check_step(document: Document, scene: models.Particles | softmodels.Soft, dt: float, why: str) -> None:
    """An error if a time step is longer than the run, and a warning if it is longer than from frame to frame."""
    until, frames = scene.run.until, scene.output.frames
    if dt > until:
        hint = _SLOW if scene.world.dt == "auto" else ""
        raise document.error(("world", "dt"), f"found {why}, expected at most run.until, {until:g} s{hint}")
    if frames is not None and dt > frames:
        found = f"found {frames:g} s, less than a time step ({why})"
        document.warn(("output", "frames"), f"{found}; a frame comes after every step")
