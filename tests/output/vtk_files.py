"""Files for ParaView, read back by VTK and by a reader of our own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

SECTIONS = ("PointData", "CellData", "Points", "Verts", "Lines", "Polys")
Content = dict[str, dict[str, NDArray[Any]]]


def read_own(path: Path) -> Content:
    """All arrays by section, as the file format says."""
    data = path.read_bytes()
    head, begin, rest = data.partition(b'<AppendedData encoding="raw">\n_')
    assert begin
    tree = ElementTree.fromstring(head + b"</VTKFile>")
    assert tree.attrib == {
        "type": "PolyData", "version": "1.0", "byte_order": "LittleEndian", "header_type": "UInt64",
    }  # fmt: skip
    piece = tree.find("PolyData/Piece")
    assert piece is not None
    result: Content = {}
    end = 0
    for section in SECTIONS:
        result[section] = {}
        for tag in piece.findall(f"{section}/DataArray"):
            offset = int(tag.attrib["offset"])
            assert offset == end  # nothing between the arrays
            size = int.from_bytes(rest[offset : offset + 8], "little")
            end = offset + 8 + size
            kind = tag.attrib["type"].lower()
            array = np.frombuffer(rest[offset + 8 : end], np.dtype(kind).newbyteorder("<"))
            columns = int(tag.attrib["NumberOfComponents"])
            result[section][tag.attrib["Name"]] = array.reshape(-1, columns) if columns > 1 else array
    assert rest[end:] == b"\n</AppendedData>\n</VTKFile>\n"
    counts = {key: int(value) for key, value in piece.attrib.items()}
    assert counts["NumberOfPoints"] == len(result["Points"]["Points"].reshape(-1, 3))
    for cells in ("Verts", "Lines", "Polys"):
        assert counts[f"NumberOf{cells}"] == len(result[cells].get("offsets", []))
    return result


def read_vtk(path: Path) -> Content:
    """The same by VTK."""
    xml = pytest.importorskip("vtkmodules.vtkIOXML", reason="VTK is not installed")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    reader = xml.vtkXMLPolyDataReader()
    problems: list[str] = []
    reader.AddObserver("ErrorEvent", lambda *_: problems.append("error"))
    reader.AddObserver("WarningEvent", lambda *_: problems.append("warning"))
    reader.SetFileName(str(path))
    assert reader.CanReadFile(str(path))
    reader.Update()
    assert problems == []
    data = reader.GetOutput()

    def fields(source: Any) -> dict[str, NDArray[Any]]:
        return {source.GetArrayName(k): vtk_to_numpy(source.GetArray(k)) for k in range(source.GetNumberOfArrays())}

    result: Content = {"PointData": fields(data.GetPointData()), "CellData": fields(data.GetCellData())}
    # VTK has no points, rather than none of them, in an empty data set.
    points = data.GetPoints()
    result["Points"] = {"Points": vtk_to_numpy(points.GetData()) if data.GetNumberOfPoints() else np.empty((0, 3))}
    for name in ("Verts", "Lines", "Polys"):
        cells = getattr(data, f"Get{name}")()
        corners = vtk_to_numpy(cells.GetConnectivityArray())
        result[name] = {"connectivity": corners, "offsets": vtk_to_numpy(cells.GetOffsetsArray())[1:]}
    return result


READERS: list[Any] = [pytest.param(read_own, id="own"), pytest.param(read_vtk, id="vtk")]


Reader = Callable[[Path], Content]


def assert_same(found: NDArray[Any], wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert found.tobytes() == wanted.tobytes()
