"""Soft bodies for ParaView, read back by VTK, by a reader of our own in the tests, and by that of the library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from impinge import shapes
from impinge.errors import InputError
from impinge.output import SoftFrame, read_soft, write_mesh, write_soft
from impinge.output.softvtk import read_obstacles, write_obstacles
from impinge.output.vtk import read_polydata
from tests.output.softscenes import scene

from .vtk_files import READERS, Reader, assert_same, read_own


@pytest.mark.parametrize("read", READERS)
def test_cells_and_data(tmp_path: Path, read: Reader) -> None:
    frame = scene(0.2)
    write_soft(tmp_path / "a.vtp", frame)
    found = read(tmp_path / "a.vtp")
    assert_same(found["Points"]["Points"], frame.positions)
    assert_same(found["Lines"]["connectivity"].reshape(-1, 2), frame.edges.astype(np.int64))
    assert_same(found["Lines"]["offsets"], np.arange(2, 42, 2))
    assert_same(found["Polys"]["connectivity"].reshape(-1, 3), frame.faces.astype(np.int64))
    assert list(found["PointData"]) == ["radius", "body", "velocity", "contact_force"]
    assert_same(found["PointData"]["radius"], frame.radii)
    assert_same(found["PointData"]["body"], frame.bodies)
    assert_same(found["PointData"]["velocity"], frame.point_data["velocity"])
    assert list(found["CellData"]) == ["body", "strain", "bending"]
    assert_same(found["CellData"]["body"], np.repeat([1, 2, 0], [8, 12, 50]))
    assert_same(found["CellData"]["strain"], np.r_[frame.edge_data["strain"], frame.face_data["strain"]])
    assert np.isnan(found["CellData"]["bending"][:20]).all()
    assert_same(found["CellData"]["bending"][20:], frame.face_data["bending"])


def test_paraview_sees_cells_with_their_data(tmp_path: Path) -> None:
    """VTK numbers lines before polygons, as the data are ordered."""
    xml = pytest.importorskip("vtkmodules.vtkIOXML", reason="VTK is not installed")
    frame = scene()
    write_soft(tmp_path / "a.vtp", frame)
    reader = xml.vtkXMLPolyDataReader()
    reader.SetFileName(str(tmp_path / "a.vtp"))
    reader.Update()
    data = reader.GetOutput()
    strain = data.GetCellData().GetArray("strain")
    assert data.GetNumberOfCells() == 70
    for cell in range(70):
        points = data.GetCell(cell).GetPointIds()
        corners = [points.GetId(k) for k in range(points.GetNumberOfIds())]
        wanted = frame.edges[cell] if cell < 20 else frame.faces[cell - 20]
        assert corners == wanted.tolist()
        known = frame.edge_data["strain"][cell] if cell < 20 else frame.face_data["strain"][cell - 20]
        assert strain.GetValue(cell) == known


def test_there_and_back(tmp_path: Path) -> None:
    frame = scene(0.2)
    write_soft(tmp_path / "a.vtp", frame)
    found = read_soft(tmp_path / "a.vtp", 0.2, frame.obstacles)
    for name in ("positions", "faces", "radii", "bodies", "edges"):
        assert_same(getattr(found, name), getattr(frame, name))
    assert [cable.tolist() for cable in found.cables] == [cable.tolist() for cable in frame.cables]
    assert found.time == 0.2
    assert found.obstacles == frame.obstacles
    write_soft(tmp_path / "b.vtp", found)
    assert (tmp_path / "a.vtp").read_bytes() == (tmp_path / "b.vtp").read_bytes()


@pytest.mark.parametrize("read", READERS)
def test_only_some_of_it(tmp_path: Path, read: Reader) -> None:
    points = np.random.default_rng(0).random((4, 3))
    for number, frame in enumerate([
        SoftFrame(0, []), SoftFrame(0, points), SoftFrame(0, points, [[0, 1, 2]], face_data={"n": [7]}),
        SoftFrame(0, points, cables=[[0, 1, 2, 0]], edge_data={"n": [7, 8, 9]}),
    ]):  # fmt: skip
        path = tmp_path / f"{number}.vtp"
        write_soft(path, frame)
        found = read(path)
        assert len(found["Points"]["Points"]) == len(frame.positions)
        assert len(found["Polys"]["offsets"]) == len(frame.faces)
        assert len(found["Lines"]["offsets"]) == len(frame.edges)
        if "n" in found["CellData"]:
            assert found["CellData"]["n"].dtype == np.int64
        again = read_soft(path, 0)
        assert [cable.tolist() for cable in again.cables] == [cable.tolist() for cable in frame.cables]


def test_cables_of_different_bodies_stay_apart(tmp_path: Path) -> None:
    points = np.random.default_rng(0).random((5, 3))
    frame = SoftFrame(0, points, cables=[[0, 1, 2], [3, 4], [1, 0]], bodies=[0, 0, 0, 1, 1])
    write_soft(tmp_path / "a.vtp", frame)
    assert [cable.tolist() for cable in read_soft(tmp_path / "a.vtp", 0).cables] == [[0, 1, 2], [3, 4], [1, 0]]


def test_obstacles(tmp_path: Path) -> None:
    meshes = [shapes.box(), shapes.icosphere(1), shapes.box(2.0)]
    write_obstacles(tmp_path / "a.vtp", meshes)
    content = read_own(tmp_path / "a.vtp")
    assert_same(content["CellData"]["obstacle"], np.repeat([0, 1, 2], [12, 80, 12]))
    found = read_obstacles(tmp_path / "a.vtp")
    for mesh, wanted in zip(found, meshes, strict=True):
        assert_same(mesh.vertices, wanted.vertices)
        assert_same(mesh.faces, wanted.faces)


def test_reader_of_the_library(tmp_path: Path) -> None:
    write_soft(tmp_path / "a.vtp", scene())
    wanted, found = read_own(tmp_path / "a.vtp"), read_polydata(tmp_path / "a.vtp")
    assert list(found) == list(wanted)
    for section, arrays in wanted.items():
        assert list(found[section]) == list(arrays)
        for name, array in arrays.items():
            assert_same(found[section][name], array)


def test_other_files_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.vtp"
    write_soft(path, scene())
    whole = path.read_bytes()
    for broken in (b"", b"solid", whole[:300], whole[:-200], whole.replace(b"Float64", b"Float65")):
        path.write_bytes(broken)
        with pytest.raises(InputError, match="found something else or a damaged file"):
            read_soft(path, 0)
    write_mesh(path, *shapes.box().__reduce__()[1], {})
    with pytest.raises(InputError, match="expected cloths and cables"):
        read_soft(path, 0)
    with pytest.raises(InputError, match="expected obstacles"):
        read_obstacles(path)
