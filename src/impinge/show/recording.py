"""The folder of a run, read back: frames, numbers over time, scene and summary."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.errors import InputError
from impinge.facts import html_table
from impinge.output.softframe import SoftFrame
from impinge.output.softvtk import read_obstacles, read_soft
from impinge.output.vtk import Collection, read_polydata
from impinge.run.scene import Scene, read_scene
from impinge.run.timings import TIMINGS
from impinge.shapes.mesh import Mesh

__all__ = ["Bodies", "Frame", "Recording", "Spheres"]

Floats = NDArray[np.float64]
_LISTS = "spheres.pvd", "polyhedra.pvd", "soft.pvd"  # of what moves; one of them is there


class Spheres(NamedTuple):
    """Spheres, or discs, of a frame."""

    centres: Floats  # (n, 3), m
    radii: Floats  # (n,), m
    data: dict[str, NDArray[Any]]  # (n,) or (n, k) each: id, velocity, …


class Bodies(NamedTuple):
    """Rigid bodies of a frame, one after the other, as one surface."""

    vertices: Floats  # (v, 3), m
    faces: NDArray[np.int64]  # (f, 3)
    numbers: NDArray[np.int64]  # (f,): which body a face is of
    data: dict[str, NDArray[Any]]  # (b,) or (b, k) each: id, velocity, …; of every body

    def meshes(self) -> list[Mesh]:
        """Each by itself."""
        found = []
        for faces in np.split(self.faces, np.flatnonzero(np.diff(self.numbers)) + 1):
            if len(faces):
                used, numbered = np.unique(faces, return_inverse=True)
                found.append(Mesh(self.vertices[used], numbered.reshape(-1, 3)))
        return found


class Frame(NamedTuple):
    """What there was at one time; None for kinds that the scene has none of."""

    time: float  # s
    spheres: Spheres | None
    bodies: Bodies | None
    soft: SoftFrame | None  # with its obstacles
    obstacles: list[Mesh]  # where they were


class Recording(Sequence[Frame]):
    """The frames of a run, read from its folder as they are asked for.

    Parameters
    ----------
    folder : path
        That `impinge run` has written.

    Attributes
    ----------
    scene : Scene
    times : (k,) float64, s
        Of the frames.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        if not (self.folder / "scene.toml").is_file():
            raise InputError(f"{self.folder}: holds no run, expected a folder that `impinge run` has written")
        self.scene: Scene = read_scene(self.folder / "scene.toml")
        self._collections = {
            name: Collection.read(self.folder / name)
            for name in (*_LISTS, "obstacles.pvd")
            if (self.folder / name).is_file()
        }
        self._lists = {name: collection.entries for name, collection in self._collections.items()}
        moving = [self._lists[name] for name in _LISTS if self._lists.get(name)]
        if not moving:
            raise InputError(
                f"{self.folder}: holds no frames, expected some; say in the scene: [output] with frames = "
                'an interval in s, and formats with "vtp"'
            )
        # A run that was killed may have written one kind of the last frame, and not the other.
        self.times: Floats = np.array(sorted(set.intersection(*({time for time, _, _ in each} for each in moving))))
        self._obstacles: tuple[str, list[Mesh]] = "", []

    def __repr__(self) -> str:
        return f"<impinge.Recording: {self.folder}, {len(self)} frames until {self.times[-1]:g} s>"

    def _repr_html_(self) -> str:
        span = f"{len(self):,}, from {self.times[0]:g} to {self.times[-1]:g} s"
        facts = [("folder", str(self.folder)), ("kind", self.scene.model.kind), ("frames", span)]
        return html_table("Recording", facts)

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, number: Any) -> Any:
        """A frame, or a list of some."""
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        time = float(self.times[number])
        obstacles = self._obstacles_at(time)
        spheres, bodies, soft = (self._file(name, time) for name in _LISTS)
        return Frame(
            time,
            None if spheres is None else _read_spheres(spheres),
            None if bodies is None else _read_bodies(bodies),
            None if soft is None else read_soft(soft, time, obstacles),
            obstacles,
        )

    def nearest(self, time: float) -> int:
        """Number of the frame whose time is nearest."""
        return int(np.abs(self.times - time).argmin())

    def _file(self, name: str, time: float) -> Path | None:
        """The file that shows a time."""
        found = [file for shown, _, file in self._lists.get(name, ()) if shown == time]
        return self._collections[name].path_of(found[-1]) if found else None

    def _obstacles_at(self, time: float) -> list[Mesh]:
        """The last that were written until then."""
        listed = [file for shown, _, file in self._lists.get("obstacles.pvd", ()) if shown <= time]
        if not listed:
            return []
        if listed[-1] != self._obstacles[0]:
            self._obstacles = listed[-1], read_obstacles(self._collections["obstacles.pvd"].path_of(listed[-1]))
        return self._obstacles[1]

    @cached_property
    def series(self) -> dict[str, Floats]:
        """Columns of series.csv by name, the time among them; empty if the scene asked for none."""
        return _read_table(self.folder / "series.csv")

    @cached_property
    def timings(self) -> dict[str, Floats]:
        """Columns of timings.csv by name; empty if it is not there, as in folders of older runs."""
        return _read_table(self.folder / TIMINGS)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What summary.json says; empty while the run goes on."""
        path = self.folder / "summary.json"
        if not path.is_file():
            return {}
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict):
            raise InputError(f"{path}: found something else, expected the summary of a run")
        return facts


def _read_spheres(path: Path) -> Spheres:
    content = read_polydata(path)
    try:
        data = content["PointData"]
        centres, radii = content["Points"]["Points"], data.pop("radius")
        return Spheres(centres, _check.sizes("radius", radii, len(centres), "centres"), data)
    except (KeyError, ValueError):
        raise InputError(f"{path}: found other things, expected spheres of impinge") from None


def _read_bodies(path: Path) -> Bodies:
    content = read_polydata(path)
    try:
        faces, data = content["Polys"]["connectivity"].reshape(-1, 3), content["CellData"]
        points = content["Points"]["Points"]
        if any(len(rows) != len(faces) for rows in data.values()) or data["id"].ndim != 1:
            raise ValueError
        _, first, numbers = np.unique(data["id"], return_index=True, return_inverse=True)
        return Bodies(points, faces, numbers, {name: rows[first] for name, rows in data.items()})
    except (KeyError, ValueError):
        raise InputError(f"{path}: found other things, expected rigid bodies of impinge") from None


def _read_table(path: Path) -> dict[str, Floats]:
    """Columns of a table by their names; a last row that is not whole, as a killed run leaves it, is left out."""
    if not path.is_file():
        return {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        names, *rows = list(csv.reader(line for line in lines if line.endswith("\n"))) or [[]]
        numbers = [[float(cell) for cell in row] for row in rows]
        if any(len(row) != len(names) for row in numbers) or len(set(names)) < len(names):
            raise ValueError
    except (ValueError, csv.Error):
        raise InputError(f"{path}: found other things, expected rows of numbers as `impinge run` writes them") from None
    return dict(zip(names, np.array(numbers).reshape(len(numbers), len(names)).T, strict=True))
