"""Spheres, obstacles and force chains for ParaView: VTK's XML files, and collections of them over time.

Only NumPy is needed. The numbers stand as they are in memory behind the XML ("appended raw"). Equal arrays give
equal bytes: there are no dates and no versions of programs in the files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.errors import InputError
from impinge.output.arrays import Arrays, read_arrays, read_points, read_spheres, with_z
from impinge.output.atomic import replacing
from impinge.untrusted import check_file, within

__all__ = ["KINDS", "Collection", "read_polydata", "write_chains", "write_mesh", "write_polydata", "write_spheres"]

KINDS = "Verts", "Lines", "Polys"  # of cells, in the order of their data
_APPENDED = '<AppendedData encoding="raw">\n_'
_PREFIX = {"f": "Float", "i": "Int", "u": "UInt"}
_TYPES = {
    f"{name}{8 * size}": np.dtype(f"<{kind}{size}")
    for kind, name in _PREFIX.items() for size in (1, 2, 4, 8) if (kind, size) != ("f", 1)
}  # fmt: skip


def write_spheres(path: str | os.PathLike[str], centres: ArrayLike, radii: ArrayLike, arrays: Arrays) -> None:
    """Spheres as points with a radius; ParaView shows them with "Point Gaussian" or the filter "Glyph".

    Parameters
    ----------
    path : path
        Ending in .vtp.
    centres : (n, 2) or (n, 3) float64, m
        z = 0 in two dimensions.
    radii : float or (n,) float64, m
    arrays : mapping of names to (n,) or (n, k) numbers
        What else is known of every sphere, e.g. "id" and "velocity".
    """
    points, sizes = read_spheres(centres, radii)
    rows = np.arange(len(points))
    data = {"radius": sizes, **read_arrays(arrays, len(points), "centres", {"radius"})}
    write_polydata(path, with_z(points), {"Verts": rows[:, None]}, point_data=data)


def write_mesh(path: str | os.PathLike[str], vertices: ArrayLike, faces: ArrayLike, arrays: Arrays) -> None:
    """Triangles with what is known of each.

    Parameters
    ----------
    path : path
        Ending in .vtp.
    vertices : (n, 3) float64, m
    faces : (m, 3) int32
    arrays : mapping of names to (m,) or (m, k) numbers
    """
    points = _check.vectors("vertices", vertices)
    triples = _check.indices("faces", faces, 3, len(points), "vertices")
    write_polydata(path, points, {"Polys": triples}, cell_data=read_arrays(arrays, len(triples), "faces"))


def write_chains(path: str | os.PathLike[str], points_a: ArrayLike, points_b: ArrayLike, arrays: Arrays) -> None:
    """Contacts as lines from one centre to the other; the filter "Tube" makes force chains of them.

    Parameters
    ----------
    path : path
        Ending in .vtp.
    points_a, points_b : (m, 2) or (m, 3) float64, m
    arrays : mapping of names to (m,) or (m, k) numbers
        What is known of every contact, e.g. "force".
    """
    ends = read_points("points_a", points_a), read_points("points_b", points_b)
    if ends[0].shape != ends[1].shape:
        raise InputError(f"points_b: found shape {ends[1].shape}, expected {ends[0].shape} as points_a")
    points = with_z(np.stack(ends, axis=1).reshape(-1, ends[0].shape[1]))
    data = read_arrays(arrays, len(ends[0]), "contacts")
    write_polydata(path, points, {"Lines": np.arange(len(points)).reshape(-1, 2)}, cell_data=data)


class _Appended:
    """Arrays that stand behind the XML, each after its length in bytes; the XML tells where."""

    def __init__(self) -> None:
        self.blocks: list[NDArray[Any]] = []
        self.size = 0

    def tag(self, name: str, array: NDArray[Any]) -> str:
        """Take an array; its XML."""
        offset = self.size
        self.blocks.append(np.ascontiguousarray(array, array.dtype.newbyteorder("<")))
        self.size += 8 + array.nbytes
        kind = f"{_PREFIX[array.dtype.kind]}{8 * array.dtype.itemsize}"
        columns = 1 if array.ndim == 1 else array.shape[1]
        return (
            f'<DataArray type="{kind}" Name={quoteattr(name)} NumberOfComponents="{columns}" '
            f'format="appended" offset="{offset}"/>'
        )

    def write(self, file: BinaryIO) -> None:
        for block in self.blocks:
            file.write(np.array(block.nbytes, "<u8").tobytes())
            file.write(block.tobytes())


def write_polydata(
    path: str | os.PathLike[str],
    points: NDArray[np.float64],
    cells: Mapping[str, NDArray[Any]],
    point_data: Mapping[str, NDArray[Any]] | None = None,
    cell_data: Mapping[str, NDArray[Any]] | None = None,
) -> None:
    """Points and cells, from arrays that are trusted.

    Parameters
    ----------
    path : path
    points : (n, 3) float64, m
    cells : mapping of "Verts", "Lines" and "Polys" to (m, k) integers
        Rows of `points`; those of one kind have as many corners each.
    point_data, cell_data : mapping of names to arrays
        A row for each point, and for each cell: first those of Verts, then of Lines, then of Polys.
    """
    appended = _Appended()

    def section(name: str, arrays: Mapping[str, NDArray[Any]]) -> str:
        return "\n".join([f"<{name}>", *(appended.tag(key, array) for key, array in arrays.items()), f"</{name}>"])

    def corners(kind: str) -> str:
        ends = np.arange(1, len(cells[kind]) + 1, dtype=np.int64) * cells[kind].shape[1]
        return section(kind, {"connectivity": cells[kind].ravel().astype(np.int64), "offsets": ends})

    head = "\n".join([
        '<?xml version="1.0"?>',
        '<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">',
        "<PolyData>",
        f'<Piece NumberOfPoints="{len(points)}" NumberOfStrips="0" '
        + " ".join(f'NumberOf{kind}="{len(cells.get(kind, ()))}"' for kind in KINDS) + ">",
        section("PointData", point_data or {}),
        section("CellData", cell_data or {}),
        section("Points", {"Points": points}),
        *(corners(kind) for kind in KINDS if kind in cells),
        "</Piece>",
        "</PolyData>",
        _APPENDED,
    ])  # fmt: skip
    with replacing(path) as file:
        file.write(head.encode())
        appended.write(file)
        file.write(b"\n</AppendedData>\n</VTKFile>\n")


def read_polydata(path: str | os.PathLike[str]) -> dict[str, dict[str, NDArray[Any]]]:
    """Arrays by section ("PointData", "CellData", "Points", "Verts", "Lines", "Polys") and name, of files from here.

    Points are finite, cells have points that are there, data a row for each point and each cell.
    """
    file = Path(path)
    check_file(file)
    head, begin, data = file.read_bytes().partition(_APPENDED.encode())
    try:
        piece = ElementTree.fromstring(head + b"</VTKFile>").find("PolyData/Piece")
        if piece is None or not begin:
            raise ValueError
        found = {
            section: {
                tag.attrib["Name"]: _read_array(tag.attrib, data) for tag in piece.findall(f"{section}/DataArray")
            }
            for section in ("PointData", "CellData", "Points", *KINDS)
        }
        _check_polydata(found)
        return found
    except (ElementTree.ParseError, KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError):
        raise InputError(f"{path}: found something else or a damaged file, expected one of impinge (.vtp)") from None


def _read_array(tag: Mapping[str, str], data: bytes) -> NDArray[Any]:
    """An array as `_Appended` has written it."""
    start, columns = int(tag["offset"]) + 8, int(tag["NumberOfComponents"])
    if not 8 <= start <= len(data) or columns < 1:
        raise ValueError
    size = int.from_bytes(data[start - 8 : start], "little")
    dtype = _TYPES[tag["type"]]
    array = np.frombuffer(data, dtype, size // dtype.itemsize, start)
    return array if columns == 1 else array.reshape(-1, columns)


def _check_polydata(content: Mapping[str, Mapping[str, NDArray[Any]]]) -> None:
    """ValueError if what others will trust is not so."""
    points = content["Points"]["Points"]
    if points.ndim != 2 or points.shape[1] != 3 or points.dtype.kind != "f" or not np.isfinite(points).all():
        raise ValueError
    cells = 0
    for kind in KINDS:
        if content[kind]:
            corners, ends = content[kind]["connectivity"], content[kind]["offsets"]
            is_whole = corners.ndim == ends.ndim == 1 and corners.dtype.kind == ends.dtype.kind == "i"
            if not is_whole or (len(corners) and not 0 <= corners.min() <= corners.max() < len(points)):
                raise ValueError
            cells += len(ends)
    for section, count in (("PointData", len(points)), ("CellData", cells)):
        if any(len(array) != count for array in content[section].values()):
            raise ValueError


class Collection:
    """A .pvd file: which file shows which moment; ParaView plays it as one animation.

    The file is written anew after every change, as a whole.

    Parameters
    ----------
    path : path
        Ending in .pvd. An older file stays until the first change.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._files: dict[tuple[float, int], str] = {}

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Collection:
        """The collection that a file holds."""
        result = cls(path)
        check_file(result.path)
        try:
            sets = ElementTree.fromstring(result.path.read_bytes()).iter("DataSet")
            result._files = {
                (_check.not_negative("time", float(s.attrib["timestep"])), int(s.attrib["part"])): s.attrib["file"]
                for s in sets
            }
        except (ElementTree.ParseError, KeyError, ValueError, RecursionError):
            raise InputError(f"{path}: found something else, expected a collection of files (.pvd)") from None
        return result

    def path_of(self, file: str) -> Path:
        """A file that is listed, which must be beside the list or in a folder there."""
        try:
            path = within(self.path.parent, file)
            if path.is_file():
                return path
        except InputError as error:
            raise InputError(f"{self.path}: {error}") from None
        except OSError:  # no name of a file
            pass
        raise InputError(f"{path}: is missing, expected the frame that {self.path.name} names")

    @property
    def entries(self) -> list[tuple[float, int, str]]:
        """Time in s, part, and file relative to the folder of the collection; in this order."""
        return [(*key, file) for key, file in sorted(self._files.items())]

    def add(self, time: float, file: str | os.PathLike[str], part: int = 0) -> None:
        """A file shows this time in s; several may, as different parts. The same part is replaced."""
        relative = os.path.relpath(file, self.path.parent)
        key = _check.not_negative("time", time), _check.integer("part", part, 0)
        self._files[key] = relative.replace(os.sep, "/")
        self._write()

    def keep_until(self, time: float) -> None:
        """Forget what was added for later times: a run that is resumed adds it again."""
        last = _check.not_negative("time", time)
        self._files = {key: file for key, file in self._files.items() if key[0] <= last}
        self._write()

    def _write(self) -> None:
        lines = [
            f'<DataSet timestep="{time!r}" group="" part="{part}" file={quoteattr(file)}/>\n'
            for time, part, file in self.entries
        ]
        with replacing(self.path) as stream:
            stream.write(
                '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">\n'
                f"<Collection>\n{''.join(lines)}</Collection>\n</VTKFile>\n".encode()
            )
