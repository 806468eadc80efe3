"""Files for ParaView, read back by VTK and by a reader of our own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from impinge import shapes
from impinge.errors import InputError
from impinge.output import Collection, write_chains, write_mesh, write_spheres
from tests.output.disks import full_after

from .vtk_files import READERS, Reader, assert_same, read_own


@pytest.mark.parametrize("read", READERS)
def test_spheres(tmp_path: Path, read: Reader) -> None:
    rng = np.random.default_rng(0)
    centres, radii = rng.normal(size=(50, 3)), rng.random(50)
    arrays = {
        "id": np.arange(50)[::-1],
        "velocity": rng.normal(size=(50, 3)),
        "Größe <&\"'>": np.r_[np.nan, -0.0, np.inf, rng.random(47)],
        "single": rng.random(50).astype(np.float32),
        "stress": rng.normal(size=(50, 9)),
        "asleep": rng.random(50) < 0.5,
        "big": np.full(50, 2**63, np.uint64),
        "pair": np.arange(100, dtype=np.int32).reshape(50, 2),
    }
    write_spheres(tmp_path / "a.vtp", centres, radii, arrays)
    found = read(tmp_path / "a.vtp")
    assert_same(found["Points"]["Points"], centres)
    assert list(found["PointData"]) == ["radius", *arrays]
    assert_same(found["PointData"]["radius"], radii)
    assert_same(found["PointData"]["asleep"], arrays.pop("asleep").astype(np.uint8))
    for name, array in arrays.items():
        assert_same(found["PointData"][name], array)
    assert_same(found["Verts"]["connectivity"], np.arange(50))
    assert_same(found["Verts"]["offsets"], np.arange(1, 51))
    assert found["CellData"] == {}


@pytest.mark.parametrize("read", READERS)
def test_discs(tmp_path: Path, read: Reader) -> None:
    write_spheres(tmp_path / "a.vtp", [[1, 2], [3, 4]], 0.5, {"velocity": [[5.0, 6], [7, 8]]})
    found = read(tmp_path / "a.vtp")
    assert_same(found["Points"]["Points"], [[1.0, 2, 0], [3, 4, 0]])
    assert_same(found["PointData"]["velocity"], [[5.0, 6, 0], [7, 8, 0]])
    assert_same(found["PointData"]["radius"], [0.5, 0.5])


@pytest.mark.parametrize("read", READERS)
def test_mesh(tmp_path: Path, read: Reader) -> None:
    mesh = shapes.octasphere(2)
    number = np.arange(len(mesh.faces))
    write_mesh(tmp_path / "a.vtp", mesh.vertices, mesh.faces, {"number": number})
    found = read(tmp_path / "a.vtp")
    assert_same(found["Points"]["Points"], mesh.vertices)
    assert_same(found["Polys"]["connectivity"].reshape(-1, 3), mesh.faces.astype(np.int64))
    assert_same(found["Polys"]["offsets"], 3 * (number + 1))
    assert_same(found["CellData"]["number"], number)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_chains(tmp_path: Path, read: Reader, dimension: int) -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 7, dimension))
    force = np.arange(7) * 0.1
    write_chains(tmp_path / "a.vtp", a, b, {"force": force})
    found = read(tmp_path / "a.vtp")
    lines = found["Points"]["Points"][found["Lines"]["connectivity"].reshape(-1, 2)]
    np.testing.assert_array_equal(lines[:, 0, :dimension], a)
    np.testing.assert_array_equal(lines[:, 1, :dimension], b)
    assert not lines[:, :, dimension:].any()
    assert_same(found["Lines"]["offsets"], np.arange(2, 16, 2))
    assert_same(found["CellData"]["force"], force)


@pytest.mark.parametrize("read", READERS)
def test_nothing(tmp_path: Path, read: Reader) -> None:
    write_spheres(tmp_path / "s.vtp", [], [], {"velocity": np.empty((0, 3)), "id": np.empty(0, np.int64)})
    write_mesh(tmp_path / "m.vtp", [], [], {"number": []})
    write_chains(tmp_path / "c.vtp", np.empty((0, 2)), np.empty((0, 2)), {"force": []})
    for name, cells in (("s", "Verts"), ("m", "Polys"), ("c", "Lines")):
        found = read(tmp_path / f"{name}.vtp")
        assert len(found["Points"]["Points"]) == 0
        assert len(found[cells]["connectivity"]) == 0
    assert list(read(tmp_path / "s.vtp")["PointData"]) == ["radius", "velocity", "id"]


NUMBERS = st.sampled_from(["f4", "f8", ">f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4"])
SHAPES = st.tuples(st.just(4), st.integers(1, 5)) | st.just((4,))


@given(array=NUMBERS.flatmap(lambda dtype: hnp.arrays(dtype, SHAPES)))
def test_every_kind_of_number(tmp_path_factory: pytest.TempPathFactory, array: NDArray[Any]) -> None:
    path = tmp_path_factory.mktemp("vtk") / "a.vtp"
    write_spheres(path, np.zeros((4, 3)), 1.0, {"a": np.asfortranarray(array)})
    found = read_own(path)["PointData"]["a"]
    if array.dtype.kind == "f" and array.shape == (4, 2):
        array = np.column_stack([array, np.zeros(4, array.dtype)])
    array = array.squeeze(axis=1) if array.shape == (4, 1) else array
    assert_same(found, array.astype(array.dtype.newbyteorder("<")))


def test_same_arrays_same_bytes(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).random((10, 6))
    write_spheres(tmp_path / "a.vtp", rows[:, :3], rows[:, 3], {"v": rows[:, 3:]})
    write_spheres(tmp_path / "b.vtp", rows[:, :3].copy(), rows[:, 3].copy(), {"v": rows[:, 3:].copy()})
    assert (tmp_path / "a.vtp").read_bytes() == (tmp_path / "b.vtp").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 0, np.nan]], 1.0, {}), "centres: row 0 is not finite"),
        (([[0, 0, 0, 0]], 1.0, {}), r"centres: found shape \(1, 4\)"),
        (([[0, 0, 0]], -1.0, {}), "radii: row 0 is -1.0"),
        (([[0, 0, 0]], [1, 2], {}), r"radii: found shape \(2,\)"),
        (([[0, 0, 0]], 1.0, {"v": [1, 2]}), r"v: found int64 of shape \(2,\), expected numbers of shape \(1,\)"),
        (([[0, 0, 0]], 1.0, {"v": 1.0}), r"v: found float64 of shape \(\)"),
        (([[0, 0, 0]], 1.0, {"v": np.zeros((1, 0))}), r"v: found float64 of shape \(1, 0\)"),
        (([[0, 0, 0]], 1.0, {"v": ["a"]}), "v: found text"),
        (([[0, 0, 0]], 1.0, {"v": [1j]}), "v: found complex numbers"),
        (([[0, 0, 0]], 1.0, {"v": [[1], [2, 3]]}), "v: found something that is not an array"),
        (([[0, 0, 0]], 1.0, {"radius": [1]}), "arrays: found 'radius', which is written anyway"),
        (([[0, 0, 0]], 1.0, {"": [1]}), "arrays: found the name ''"),
        (([[0, 0, 0]], 1.0, {"a\nb": [1]}), "arrays: found the name"),
        (([[0, 0, 0]], 1.0, {7: [1]}), "arrays: found the name 7"),
    ],
)
def test_bad_spheres(tmp_path: Path, arguments: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        write_spheres(tmp_path / "a.vtp", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_bad_meshes_and_chains(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="faces: row 0"):
        write_mesh(tmp_path / "a.vtp", np.zeros((3, 3)), [[0, 1, 3]], {})
    with pytest.raises(InputError, match="points_b: found shape"):
        write_chains(tmp_path / "a.vtp", np.zeros((3, 3)), np.zeros((2, 3)), {})
    with pytest.raises(InputError, match="points_a: found text"):
        write_chains(tmp_path / "a.vtp", "abc", np.zeros((2, 3)), {})
    assert list(tmp_path.iterdir()) == []


def test_full_disk(tmp_path: Path) -> None:
    write_spheres(tmp_path / "a.vtp", np.zeros((1, 3)), 1.0, {})
    before = (tmp_path / "a.vtp").read_bytes()
    with full_after(5000), pytest.raises(OSError):
        write_spheres(tmp_path / "a.vtp", np.zeros((1000, 3)), 1.0, {})
    assert (tmp_path / "a.vtp").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.vtp"]


# Collections


def test_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    collection = Collection("run.pvd")
    for number, time in enumerate([0.0, 0.1, 0.30000000000000004]):
        collection.add(time, Path("frames") / f"a&{number}.vtp")
        collection.add(time, tmp_path / "frames" / f"walls_{number}.vtp", part=1)
        assert Collection.read("run.pvd").entries == collection.entries
    tree = ElementTree.parse("run.pvd").getroot()
    assert tree.attrib == {"type": "Collection", "version": "0.1", "byte_order": "LittleEndian"}
    last = tree.findall("Collection/DataSet")[-2].attrib
    assert last == {"timestep": "0.30000000000000004", "group": "", "part": "0", "file": "frames/a&2.vtp"}
    assert collection.entries[1] == (0.0, 1, "frames/walls_0.vtp")
    assert sorted(os.listdir()) == ["run.pvd"]


def test_a_resumed_collection_is_the_same(tmp_path: Path) -> None:
    whole, cut = Collection(tmp_path / "a.pvd"), Collection(tmp_path / "b.pvd")
    for number in range(10):
        whole.add(number / 10, tmp_path / f"{number}.vtp")
    for number in range(7):
        cut.add(number / 10, tmp_path / f"{number}.vtp")
    resumed = Collection.read(tmp_path / "b.pvd")
    resumed.keep_until(0.3)
    assert [entry[0] for entry in Collection.read(tmp_path / "b.pvd").entries] == [0.0, 0.1, 0.2, 0.3]
    for number in range(3, 10):  # one of them again
        resumed.add(number / 10, tmp_path / f"{number}.vtp")
    assert (tmp_path / "a.pvd").read_bytes() == (tmp_path / "b.pvd").read_bytes()


def test_empty_collection(tmp_path: Path) -> None:
    collection = Collection(tmp_path / "a.pvd")
    collection.add(1.0, tmp_path / "a.vtp")
    collection.keep_until(0.0)
    assert Collection.read(tmp_path / "a.pvd").entries == []


@pytest.mark.parametrize(
    "text",
    ["", "no xml", "<VTKFile><DataSet/></VTKFile>", "<a><DataSet timestep='x' part='0' file='f'/></a>", "\0\xff"],
)
def test_bad_collections(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.pvd").write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=r"a.pvd: found something else, expected a collection"):
        Collection.read(tmp_path / "a.pvd")


def test_bad_use_of_collections(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Collection.read(tmp_path / "a.pvd")
    collection = Collection(tmp_path / "a.pvd")
    for time in (np.nan, -1.0, "1"):
        with pytest.raises(InputError, match="time: found"):
            collection.add(time, "a.vtp")
    with pytest.raises(InputError, match="part: found -1"):
        collection.add(0.0, "a.vtp", part=-1)
    assert collection.entries == []
