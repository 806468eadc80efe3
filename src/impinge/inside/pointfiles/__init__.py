"""Points from files and their classification to files, in chunks, so that files may be larger than memory.

======== ================================================= ==================================================
ending   read                                              written
======== ================================================= ==================================================
``.npy`` numbers of shape (n, 3)                           int8 of shape (n,)
``.npz`` the array ``points``, or the only array           the array ``classification``, int8 of shape (n,)
``.csv`` columns x, y, z, or the first three               header, then x,y,z,classification
``.xyz`` ``x y z …``; or a count, a comment, ``El x y z``  ``x y z classification``, with a head if it had one
``.ply`` x, y, z of the vertices, as text or binary        vertices with ``classification``, binary
======== ================================================= ==================================================

>>> source = open_points("points.csv")
>>> with open_sink("answer.ply", source) as sink:
...     for points in source.chunks():
...         sink.write(points, solid.classify(points))
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from impinge.errors import InputError
from impinge.inside.pointfiles.arrays import NpyPoints, NpzPoints
from impinge.inside.pointfiles.ply import open_ply
from impinge.inside.pointfiles.sinks import Sink, open_sink
from impinge.inside.pointfiles.source import CHUNK, PointSource
from impinge.inside.pointfiles.text import open_csv, open_xyz
from impinge.untrusted import check_file

__all__ = ["CHUNK", "PointSource", "Sink", "open_points", "open_sink"]

_READERS = {".npy": NpyPoints, ".npz": NpzPoints, ".csv": open_csv, ".xyz": open_xyz, ".ply": open_ply}


def open_points(path: str | PathLike[str]) -> PointSource:
    """The points of a file, to be read in chunks; the ending decides the format.

    Reads no more than the head of the file. What is wrong with the rest is told while it is read, as an
    `InputError` with the name of the file and the number of the row, counted from 0.
    """
    file = Path(path)
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        known = ", ".join(_READERS)
        raise InputError(f"{file}: found points with the ending {file.suffix!r}, expected one of {known}")
    check_file(file)
    try:
        return reader(file)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error})") from None
