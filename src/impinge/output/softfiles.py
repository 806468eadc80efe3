"""Frames of soft bodies in a folder, written one after the other, and read back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import overload

import numpy as np

from impinge import _check
from impinge.output.gltf import write_gltf
from impinge.output.obj import write_obj
from impinge.output.ply import write_ply
from impinge.output.softframe import SoftFrame
from impinge.output.softvtk import read_obstacles, read_soft, write_obstacles, write_soft
from impinge.output.vtk import Collection
from impinge.shapes.mesh import Mesh

__all__ = ["FORMATS", "SoftFiles"]

FORMATS = "vtp", "obj", "ply", "glb"


class SoftFiles(Sequence[SoftFrame]):
    """Writes frames into a folder; those for ParaView can be read back, as from a list.

    ``vtp`` writes ``frames/soft_000012.vtp`` and, when they have moved, ``frames/obstacles_000012.vtp``, and lists
    them in ``soft.pvd`` and ``obstacles.pvd``; ``obj`` and ``ply`` write ``frames/frame_000012.obj`` and ``.ply``;
    ``glb`` writes ``animation.glb`` of all frames at the end, from the files of ``vtp``, which it implies. Files depend
    on the frames alone: a run that is resumed leaves the same ones as a run that was never cut.

    Parameters
    ----------
    folder : Path
        It exists.
    formats : iterable of "vtp", "obj", "ply" and "glb"
    names : sequence of str
        Of the bodies, for OBJ and glTF.
    written : int
        Number of frames that are there already, and stay.
    time : float, s
        Files that show a later time are not listed any more.
    """

    def __init__(
        self,
        folder: Path,
        formats: Iterable[str] = ("vtp",),
        names: Sequence[str] = (),
        written: int = 0,
        time: float = 0.0,
    ) -> None:
        self.folder, self.names = Path(folder), list(names)
        self.formats = {_check.choice("formats", name, FORMATS) for name in formats}
        self.written = _check.integer("written", written, 0)
        (self.folder / "frames").mkdir(exist_ok=True)
        self._soft, self._obstacles = Collection(self.folder / "soft.pvd"), Collection(self.folder / "obstacles.pvd")
        if self.written and self._soft.path.exists():
            self._soft = Collection.read(self._soft.path)
            self._soft.keep_until(time)
            if self._obstacles.path.exists():
                self._obstacles = Collection.read(self._obstacles.path)
                self._obstacles.keep_until(time)

    def write(self, frame: SoftFrame) -> None:
        """Write the next frame, of a later time than all before."""
        if self.formats & {"vtp", "glb"}:
            path = self._path("soft", "vtp")
            write_soft(path, frame)
            self._soft.add(frame.time, path)
            self._write_obstacles(frame)
        if "obj" in self.formats:
            write_obj(self._path("frame", "obj"), frame, self.names)
        if "ply" in self.formats:
            write_ply(self._path("frame", "ply"), frame)
        self.written += 1

    def finish(self) -> None:
        """Write what is made of all frames together; once more if frames were added since."""
        if "glb" in self.formats and len(self):
            write_gltf(self.folder / "animation.glb", self, self.names)

    def _path(self, name: str, ending: str) -> Path:
        return self.folder / "frames" / f"{name}_{self.written:06d}.{ending}"

    def _write_obstacles(self, frame: SoftFrame) -> None:
        """Only if they are not where the last file shows them."""
        shown = self._obstacles_at(frame.time)
        if frame.obstacles and not _same(shown, frame.obstacles):
            path = self._path("obstacles", "vtp")
            write_obstacles(path, frame.obstacles)
            self._obstacles.add(frame.time, path)

    def _obstacles_at(self, time: float) -> list[Mesh]:
        listed = [file for shown, _, file in self._obstacles.entries if shown <= time]
        return read_obstacles(self._obstacles.path_of(listed[-1])) if listed else []

    def __len__(self) -> int:
        """How many frames can be read back."""
        return len(self._soft.entries)

    @overload
    def __getitem__(self, number: int) -> SoftFrame: ...
    @overload
    def __getitem__(self, number: slice) -> list[SoftFrame]: ...
    def __getitem__(self, number: int | slice) -> SoftFrame | list[SoftFrame]:
        """Frames as their files show them; edges and faces have data by the same names, NaN where there were none."""
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        time, _, file = self._soft.entries[number]
        return read_soft(self._soft.path_of(file), time, self._obstacles_at(time))


def _same(one: Sequence[Mesh], other: Sequence[Mesh]) -> bool:
    """Whether obstacles, all together, have the same vertices and faces."""
    if not one or not other:
        return len(one) == len(other)
    a, b = Mesh.concatenate(one), Mesh.concatenate(other)
    return np.array_equal(a.vertices, b.vertices) and np.array_equal(a.faces, b.faces)
