"""Checkpoints of worlds, and of runs of scenes, which hold a world and how much was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from impinge.errors import InputError
from impinge.output import checkpoint
from impinge.run.restoring import reading

__all__ = ["RUN", "load_world"]

RUN = "run", 2  # kind and version, one more whenever that of worlds is


def load_world(path: str | Path, kind: str, version: int) -> dict[str, Any]:
    """What a checkpoint says of a world of this kind: one that was saved, or that of a run."""
    try:
        return checkpoint.load(path, kind, version)
    except InputError as error:
        try:
            saved = checkpoint.load(path, *RUN)
        except InputError as of_run:
            raise (of_run if f"kind {RUN[0]!r}" in str(error) else error) from None
    with reading(path):
        content: dict[str, Any] = dict(saved["world"])
    is_soft = "calls" in content
    if is_soft != (kind == "soft_world"):
        what, name = ("cables and cloth", "SoftWorld") if is_soft else ("spheres and polyhedra", "World")
        raise InputError(f"{path}: found a run of {what}, expected another one, or impinge.{name}.load")
    return content
