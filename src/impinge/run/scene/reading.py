"""Scenes: a TOML file in, a checked scene out, which can make its world."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from impinge import _check
from impinge.errors import InputError
from impinge.facts import html_table
from impinge.run.scene import models, softmodels
from impinge.run.scene.errors import explain
from impinge.run.scene.plausible import check_scene
from impinge.run.scene.toml import Document, Key, read_toml

if TYPE_CHECKING:
    from impinge.run.scene.build import Built
    from impinge.run.soft import SoftWorld
    from impinge.run.world import World

__all__ = ["Scene", "read_scene"]

_MOST_MATERIALS = 1000  # each has a law with each
_MOST_TIMES = 1e9  # that something is written in a run
_SHORTEST = 1e-300  # s, of a run


class Scene:
    """A scene file that has been read and checked.

    Attributes
    ----------
    model : impinge.run.scene.models.Particles or impinge.run.scene.softmodels.Soft
        What it says.
    """

    def __init__(self, document: Document, model: models.Particles | softmodels.Soft) -> None:
        self.document, self.model = document, model

    def __repr__(self) -> str:
        return f"<impinge.Scene: {self.path}>"

    def _repr_html_(self) -> str:
        model = self.model
        lists = [(name, len(value)) for name, value in model if isinstance(value, list | dict) and value]
        frames = model.output.frames
        facts = [("file", str(self.path)), ("kind", model.kind), ("until [s]", model.run.until), *lists,
                 ("frames", "none" if frames is None else f"every {frames:g} s")]  # fmt: skip
        return html_table("Scene", facts)

    @property
    def path(self) -> Path:
        """The file it was read from."""
        return self.document.path

    def build(self, threads: int | None = None) -> World | SoftWorld:
        """The world of the scene; threads : instead of those that the scene says."""
        if isinstance(self.model, models.Particles):
            return self.build_with_groups(threads).world
        from impinge.run.scene import softbuild

        world = softbuild.build(self.model, self.document, self.threads(threads))
        check_scene(self.document, self.model)
        return world

    def build_with_groups(self, threads: int | None = None) -> Built:
        """The world of a scene of spheres and polyhedra, and the permanent numbers of the spheres of every group."""
        from impinge.run.scene.build import build

        assert isinstance(self.model, models.Particles)
        built = build(self.model, self.document, self.threads(threads))
        check_scene(self.document, self.model)  # after all errors, which come alone
        return built

    def threads(self, given: int | None = None) -> int | None:
        """The number of threads given, or else what the scene says; at most the cores of this machine, with a warning.

        A scene may come from a larger machine, and results do not depend on the number.
        """
        from impinge import _jit

        wanted = self.model.run.threads if given is None else given
        try:
            with _jit.threads(wanted):
                return wanted
        except InputError:
            if given is not None:
                raise
        cores = _jit.thread_count()
        found = f"found {wanted}, more than this machine has cores, {cores}"
        self.document.warn(("run", "threads"), f"{found}, which it takes; results are the same")
        return cores


def read_scene(path: str | os.PathLike[str], *, allow_outside: bool = False) -> Scene:
    """Read a scene file and check it.

    Errors name file, line, key, what was found and what is allowed.

    Parameters
    ----------
    path : path
    allow_outside : bool
        Whether the scene may name files that are not in its folder, or below: another's scene should not.

    Examples
    --------
    >>> scene = impinge.read_scene("hopper.toml")  # doctest: +SKIP
    >>> world = scene.build()  # doctest: +SKIP
    """
    document = read_toml(Path(path), _check.truth("allow_outside", allow_outside))
    kind = _kind_of(document)
    try:
        model = kind.model_validate(document.content)
    except ValidationError as error:
        raise explain(document, kind, error) from None
    _check_times(document, model)
    if isinstance(model, models.Particles):
        _check_materials(document, model)
        _check_names(document, model)
    else:
        _check_bodies(document, model)
    return Scene(document, model)


def _kind_of(document: Document) -> Any:
    """The model of a scene: of what it says that it is about, or else of cables and cloth if it has bodies."""
    content = document.content
    said = content.get("kind", "soft" if "bodies" in content else "particles")
    if said not in ("particles", "polyhedra", "soft"):
        raise document.error(("kind",), f"found {said!r}, expected one of 'particles', 'polyhedra', 'soft'")
    mine, other = (softmodels.Soft, models.Particles) if said == "soft" else (models.Particles, softmodels.Soft)
    for name in content:
        if name in other.model_fields and name not in mine.model_fields:
            key: Key = (name, 0) if isinstance(content[name], list) else (name,)
            what = "cables and cloth" if said == "soft" else "spheres and polyhedra"
            either = "expected a scene of spheres and polyhedra or one of cables and cloth, not of both"
            floor = "; a floor is [[obstacles]] with plate = { size = [2, 2] }" if name in ("planes", "boxes") else ""
            raise document.error(key, f"found it in a scene of {what}, {either}{floor}")
    return mine


def _check_times(document: Document, scene: models.Particles | softmodels.Soft) -> None:
    """Intervals must be such that their numbers can be counted."""
    until = scene.run.until
    if until < _SHORTEST:
        raise document.error(("run", "until"), f"found {until!r}, expected at least {_SHORTEST:g}")
    for name in ("frames", "series", "checkpoint"):
        interval = getattr(scene.output, name)
        if interval is not None and until / interval > _MOST_TIMES:
            found = f"found {interval!r}, {until / interval:.3g} times until the end of the run"
            raise document.error(("output", name), f"{found}, expected at most {_MOST_TIMES:g} times")


def _check_bodies(document: Document, scene: softmodels.Soft) -> None:
    """Names of bodies must differ, and bodies whose nodes are fixed be there."""
    names = scene.body_names
    _check_different(document, "bodies", names)
    for number, fixed in enumerate(scene.fixed):
        if fixed.body not in names:
            raise document.error(("fixed", number, "body"), f"found {fixed.body!r}, expected one of {_listed(names)}")


def _check_different(document: Document, kind: str, names: list[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            second = len(names) - 1 - names[::-1].index(name)
            raise document.error((kind, second, "name"), f"found {name!r} twice, expected another name")


def _check_materials(document: Document, scene: models.Particles) -> None:
    """Every material that is used must be there."""
    if len(scene.materials) > _MOST_MATERIALS:
        raise document.error(("materials",), f"found {len(scene.materials)}, expected at most {_MOST_MATERIALS}")
    for kind in ("spheres", "polyhedra", "planes", "boxes", "obstacles", "sources", "contacts"):
        for number in range(len(getattr(scene, kind))):
            key: Key = (kind, number, "materials" if kind == "contacts" else "material")
            used: Any = document.value(key) if document.has(key) else []
            for name in [used] if isinstance(used, str) else used:
                if name not in scene.materials:
                    raise document.error(key, f"found {name!r}, expected one of {_listed(scene.materials)}")


def _check_names(document: Document, scene: models.Particles) -> None:
    """Names of groups, sinks and measures must differ, and groups that are measured be there."""
    groups = [spheres.name or f"spheres {number + 1}" for number, spheres in enumerate(scene.spheres)]
    shapes = [some.name or f"polyhedra {number + 1}" for number, some in enumerate(scene.polyhedra)]
    sinks = [sink.name or f"sink {number + 1}" for number, sink in enumerate(scene.sinks)]
    measures = [measure.name for measure in scene.measures]
    for kind, names in {"spheres": groups, "polyhedra": shapes, "sinks": sinks, "measures": measures}.items():
        _check_different(document, kind, names)
    for number, measure in enumerate(scene.measures):
        for group in measure.groups or []:
            if group not in groups:
                raise document.error(
                    ("measures", number, "groups"), f"found {group!r}, expected two of {_listed(groups)}"
                )


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names)) or "none, as there is none"
