"""Scenes: a TOML file in, a checked scene out, which can make its world."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from impinge.errors import InputError
from impinge.run.scene import models
from impinge.run.scene.errors import explain
from impinge.run.scene.toml import Document, Key, read_toml

if TYPE_CHECKING:
    from impinge.run.scene.build import Built
    from impinge.run.world import World

__all__ = ["Scene", "read_scene"]


class Scene:
    """A scene file that has been read and checked.

    Attributes
    ----------
    path : Path
    model : impinge.run.scene.models.Particles
        What it says.
    """

    def __init__(self, document: Document, model: models.Particles) -> None:
        self.document, self.model = document, model

    def __repr__(self) -> str:
        return f"<impinge.Scene: {self.path}>"

    @property
    def path(self) -> Path:
        return self.document.path

    def build(self, threads: int | None = None) -> World:
        """The world of the scene; threads : instead of those that the scene says."""
        return self.build_with_groups(threads).world

    def build_with_groups(self, threads: int | None = None) -> Built:
        """The world, and the permanent numbers of the spheres of every group."""
        from impinge.run.scene.build import build

        return build(self.model, self.document, self.threads(threads))

    def threads(self, given: int | None = None) -> int | None:
        """The number of threads given, or else what the scene says; an error if this machine has fewer cores."""
        from impinge import _jit

        wanted = self.model.run.threads if given is None else given
        try:
            with _jit.threads(wanted):
                return wanted
        except InputError as error:
            if given is not None:
                raise
            raise self.document.error_in(("run",), str(error)) from None


def read_scene(path: str | os.PathLike[str]) -> Scene:
    """Read a scene file and check it.

    Errors name file, line, key, what was found and what is allowed.

    Examples
    --------
    >>> scene = impinge.read_scene("hopper.toml")  # doctest: +SKIP
    >>> world = scene.build()  # doctest: +SKIP
    """
    document = read_toml(Path(path))
    try:
        model = models.Particles.model_validate(document.content)
    except ValidationError as error:
        raise explain(document, models.Particles, error) from None
    _check_materials(document, model)
    _check_names(document, model)
    return Scene(document, model)


def _check_materials(document: Document, scene: models.Particles) -> None:
    """Every material that is used must be there."""
    for kind in ("spheres", "planes", "boxes", "obstacles", "sources", "contacts"):
        for number in range(len(getattr(scene, kind))):
            key: Key = (kind, number, "materials" if kind == "contacts" else "material")
            used: Any = document.value(key) if document.has(key) else []
            for name in [used] if isinstance(used, str) else used:
                if name not in scene.materials:
                    raise document.error(key, f"found {name!r}, expected one of {_listed(scene.materials)}")


def _check_names(document: Document, scene: models.Particles) -> None:
    """Names of groups, sinks and measures must differ, and groups that are measured be there."""
    groups = [spheres.name or f"spheres {number + 1}" for number, spheres in enumerate(scene.spheres)]
    sinks = [sink.name or f"sink {number + 1}" for number, sink in enumerate(scene.sinks)]
    measures = [measure.name for measure in scene.measures]
    for kind, names in {"spheres": groups, "sinks": sinks, "measures": measures}.items():
        for name, count in Counter(names).items():
            if count > 1:
                second = len(names) - 1 - names[::-1].index(name)
                raise document.error((kind, second, "name"), f"found {name!r} twice, expected another name")
    for number, measure in enumerate(scene.measures):
        for group in measure.groups or []:
            if group not in groups:
                raise document.error(
                    ("measures", number, "groups"), f"found {group!r}, expected two of {_listed(groups)}"
                )


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names)) or "none, as there is none"
