"""Reading and writing meshes."""

import os

import numpy as np
import pytest

from impinge import Mesh, read_mesh
from impinge.errors import InputError
from impinge.shapes import box, octasphere, torus

EXACT = [".npz", ".ply", ".obj", ".off"]
SINGLE = [".stl", ".glb"]


def awkward():
    """Coordinates with all bits in use, of many sizes, and a vertex that no face uses."""
    mesh = octasphere(2, 1 / 3)
    vertices = np.vstack([[[9.0, -0.0, 1e-300]], mesh.vertices * [1e-12, 1.0, 1e15]])
    return Mesh(vertices, mesh.faces + 1)


@pytest.mark.parametrize("ending", EXACT)
def test_exact_round_trip(tmp_path, ending):
    mesh = awkward()
    mesh.save(tmp_path / f"mesh{ending}")
    again = read_mesh(tmp_path / f"mesh{ending}")
    assert np.array_equal(again.vertices, mesh.vertices)
    assert np.array_equal(again.faces, mesh.faces)


@pytest.mark.parametrize("ending", SINGLE)
def test_single_precision_round_trip(tmp_path, ending):
    mesh = torus(segments=9, rings=7)
    mesh.save(str(tmp_path / f"mesh{ending.upper()}"))
    again = read_mesh(str(tmp_path / f"mesh{ending.upper()}"))
    assert len(again.faces) == len(mesh.faces)
    assert np.allclose(again.triangles, mesh.triangles, rtol=0, atol=1e-7)
    assert again.is_closed


def test_save_replaces_and_leaves_nothing_behind(tmp_path):
    path = tmp_path / "mesh.off"
    path.write_text("old")
    box().save(path)
    octasphere(0).save(path)
    assert len(read_mesh(path).faces) == 8
    assert os.listdir(tmp_path) == ["mesh.off"]


def test_save_says_what_is_wrong(tmp_path):
    with pytest.raises(InputError, match=r"mesh\.xyz: unknown ending '\.xyz', expected one of \.npz, \.ply"):
        box().save(tmp_path / "mesh.xyz")
    with pytest.raises(InputError, match=r"no/mesh\.ply: cannot be written \(No such file"):
        box().save(tmp_path / "no" / "mesh.ply")
    (tmp_path / "folder.ply").mkdir()
    with pytest.raises(InputError, match=r"folder\.ply: cannot be written"):
        box().save(tmp_path / "folder.ply")
    assert os.listdir(tmp_path) == ["folder.ply"]
    with pytest.raises(InputError, match=r"^path: found int, expected the name of a file"):
        box().save(3)


def test_polygons_and_scenes(tmp_path):
    square = tmp_path / "square.obj"
    square.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n")
    assert read_mesh(square).area == 1
    trimesh = pytest.importorskip("trimesh")
    cube = trimesh.creation.box()
    scene = trimesh.Scene()
    scene.add_geometry(cube)
    scene.add_geometry(cube, transform=trimesh.transformations.translation_matrix([5, 0, 0]))
    scene.export(tmp_path / "scene.glb")
    mesh = read_mesh(tmp_path / "scene.glb")
    assert mesh.components().max() == 1
    assert mesh.volume == pytest.approx(2)


def write(path, content):
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content)
    return path


HEAD = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
FACES = "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
DAMAGED = {
    "empty.ply": "",
    "empty.obj": "",
    "empty.off": "",
    "empty.stl": "",
    "empty.glb": "",
    "empty.npz": "",
    "noise.ply": bytes(range(256)),
    "noise.stl": bytes(range(256)),
    "noise.glb": bytes(range(256)),
    "noise.npz": bytes(range(256)),
    "prose.obj": "hello world\nnothing here",
    "prose.off": "hello",
    "cloud.ply": HEAD + "end_header\n0 0 0\n1 1 1\n2 2 2\n",
    "points.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\n",
    "short.ply": HEAD + FACES + "0 0 0\n1 0 0\n0 1 0\n",
    "range.obj": "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 9\n",
    "range.off": "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_one_clear_line(tmp_path, name):
    path = write(tmp_path / name, DAMAGED[name])
    with pytest.raises(InputError) as caught:
        read_mesh(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_bad_numbers_in_a_file(tmp_path):
    path = write(tmp_path / "nan.off", "OFF # with a remark\n# 9 9 9\n3 1 0\n0 0 0\n1 0 nan\n0 1 0\n3 0 1 2\n")
    with pytest.raises(InputError, match=r"nan\.off: vertices: row 1 is not finite"):
        read_mesh(path)
    np.savez(tmp_path / "other.npz", points=np.zeros((3, 3)))
    with pytest.raises(InputError, match=r"other\.npz: has no array called vertices, expected vertices and faces"):
        read_mesh(tmp_path / "other.npz")


@pytest.mark.parametrize("ending", [".npz", ".ply", ".off", ".stl", ".glb"])
@pytest.mark.parametrize("part", [0.3, 0.6, 0.9, 0.99])
def test_files_cut_short(tmp_path, ending, part):
    path = tmp_path / f"mesh{ending}"
    octasphere(2).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(InputError, match=r"mesh\.\w+: "):
        read_mesh(path)


def test_text_ply_cut_short(tmp_path):
    text = HEAD.replace("3", "4", 1) + FACES.replace("1", "4", 1)
    text += "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n"
    path = write(tmp_path / "text.ply", text)
    assert read_mesh(path).is_closed
    path.write_text(text[:-16])
    with pytest.raises(InputError, match=r"ends early: it announces 4 vertices and 4 faces, but holds 4 and 2"):
        read_mesh(path)


def test_missing_and_unknown_files(tmp_path):
    with pytest.raises(InputError, match=r"no\.ply: no such file"):
        read_mesh(tmp_path / "no.ply")
    with pytest.raises(InputError, match=r": is a folder, not a file"):
        read_mesh(tmp_path)
    for name in ("mesh.what", "mesh"):
        (tmp_path / name).write_text("?")
        with pytest.raises(InputError, match=r"unknown ending .*\.npz, \.obj, \.off, \.ply, \.stl"):
            read_mesh(tmp_path / name)
    with pytest.raises(InputError, match=r"^path: found list"):
        read_mesh([])
