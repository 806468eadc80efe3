"""Files that mean harm, one kind each: what they try must not happen, and be an error that names the file."""

from __future__ import annotations

import json
import os
import resource
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impinge
from impinge.errors import InputError
from impinge.output.softvtk import read_obstacles
from impinge.output.vtk import Collection
from impinge.shapes.files import read_mesh

from .hostile import HUGE, glb, npy_head, refused, zipped

PLY = f"ply\nformat binary_little_endian 1.0\nelement vertex {HUGE}\nproperty double x\nproperty double y\n" \
    "property double z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"  # fmt: skip
ANNOUNCED = [
    ("mesh", "a.ply", PLY.encode()),
    ("mesh", "a.ply", PLY.replace("binary_little_endian", "ascii").encode()),
    ("mesh", "a.off", f"OFF\n{HUGE} {HUGE} 0\n0 0 0\n".encode()),
    ("mesh", "a.off", b"OFF\n3 " + b"9" * 6000 + b" 0\n0 0 0\n"),
    ("mesh", "a.npz", zipped(vertices=npy_head(f"({HUGE}, 3)"), faces=npy_head("(1, 3)", "<i4") + bytes(12))),
    ("mesh", "a.glb", glb(
        accessors=[{"componentType": 5126, "count": HUGE, "type": "VEC3"}],
        meshes=[{"primitives": [{"attributes": {"POSITION": 0}}]}], nodes=[{"mesh": 0}], scenes=[{"nodes": [0]}],
    )),
    ("points", "a.npy", npy_head(f"({HUGE}, 3)")), ("points", "a.npy", npy_head("(-5, 3)")),
    ("points", "a.npz", zipped(points=npy_head(f"({HUGE}, 3)"))),
    ("points", "a.npz", zipped(points=b"\x93NUMPY\x02\x00" + (10**9).to_bytes(4, "little") + bytes(10**8))),
    ("points", "a.ply", PLY.encode()),
    ("points", "a.ply", f"ply\nformat ascii 1.0\nelement a {HUGE}\nproperty int b\nelement vertex 1\nproperty float x\n"
     "property float y\nproperty float z\nend_header\n1\n".encode()),
    ("points", "a.ply", b"ply\nformat ascii 1.0\nelement vertex \xb2\nproperty float x\nend_header\n"),
    ("points", "a.xyz", f"{HUGE}\n\n1 2 3\n".encode()), ("points", "a.xyz", b"9" * 6000 + b"\n\n1 2 3\n"),
    ("points", "a.xyz", "1\nProperties=species:S:\u00b2:id:I:1\nH 1 2 3\n".encode()),
    ("spheres", "a.npy", npy_head(f"({HUGE}, 4)")),
    ("spheres", "a.npz", zipped(centres=npy_head(f"({HUGE}, 3)"), radii=npy_head("(1,)") + bytes(8))),
    ("spheres", "a.xyz", f"{HUGE}\n\nH 1 2 3 1\n".encode()),
    ("solid", "a.npz", zipped(format=npy_head("()", "<U999999999"))),
]  # fmt: skip


@pytest.mark.parametrize(("reader", "name", "data"), ANNOUNCED, ids=[f"{r}-{n[2:]}" for r, n, _ in ANNOUNCED])
def test_what_announces_more_than_it_has(tmp_path: Path, reader: str, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    refused(reader, tmp_path / name)


@pytest.mark.parametrize(("reader", "array"), [("mesh", "vertices"), ("spheres", "centres"), ("solid", "format")])
def test_archives_that_unpack_to_very_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, array: str
) -> None:
    monkeypatch.setattr("impinge.untrusted._MOST", 1 << 20)
    content = npy_head("(500000, 1)") + bytes(4_000_000)
    (tmp_path / "a.npz").write_bytes(zipped(**{array: content}))
    refused(reader, tmp_path / "a.npz")


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("reader", ["mesh", "points", "spheres", "solid"])
def test_archives_packed_in_ways_without_bounds(tmp_path: Path, reader: str, kind: int) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w", kind) as archive:
        for name in ("points", "centres", "vertices", "format"):
            archive.writestr(f"{name}.npy", npy_head("(1, 3)") + bytes(24))
    refused(reader, tmp_path / "a.npz")


class Harm:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("harmed",)


@pytest.mark.parametrize(("reader", "ending"), [
    ("mesh", "npz"), ("points", "npz"), ("points", "npy"), ("spheres", "npz"), ("spheres", "npy"), ("solid", "npz"),
])  # fmt: skip
def test_no_code_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, ending: str) -> None:
    monkeypatch.chdir(tmp_path)
    harm = np.array([[Harm()]], object)
    if ending == "npy":
        np.save(tmp_path / "a.npy", harm, allow_pickle=True)
    else:
        names = ("vertices", "faces", "points", "centres", "radii", "format")
        np.savez(tmp_path / "a.npz", **dict.fromkeys(names, harm))  # type: ignore[arg-type]
    refused(reader, tmp_path / f"a.{ending}")
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize(("reader", "ending"), [
    ("mesh", "ply"), ("points", "csv"), ("spheres", "csv"), ("scene", "toml"), ("solid", "npz"), ("world", "h5"),
    ("soft", "h5"), ("frame", "vtp"), ("list", "pvd"),
])  # fmt: skip
def test_pipes_and_devices(tmp_path: Path, reader: str, ending: str) -> None:
    os.mkfifo(tmp_path / f"pipe.{ending}")
    refused(reader, tmp_path / f"pipe.{ending}")
    (tmp_path / f"endless.{ending}").symlink_to("/dev/zero")
    refused(reader, tmp_path / f"endless.{ending}")
    (tmp_path / f"circle.{ending}").symlink_to(tmp_path / f"circle.{ending}")
    refused(reader, tmp_path / f"circle.{ending}")


TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def test_meshes_open_no_other_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.mtl")
    (tmp_path / "a.obj").write_text(f"mtllib a.mtl\nusemtl x\n{TRIANGLE}")
    assert len(read_mesh(tmp_path / "a.obj").faces) == 1
    os.mkfifo(tmp_path / "a.png")
    ply = "ply\nformat ascii 1.0\ncomment TextureFile a.png\nelement vertex 3\nproperty float x\nproperty float y\n"
    ply += "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    (tmp_path / "a.ply").write_text(f"{ply}0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
    assert len(read_mesh(tmp_path / "a.ply").faces) == 1


@pytest.mark.parametrize("name", ["../secret.bin", "/etc/hostname", "link.bin", "pipe.bin", "http://127.0.0.1:9/a.bin"])
def test_buffers_of_gltf_are_beside_it(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(36))
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    os.mkfifo(folder / "pipe.bin")
    tree = {
        "asset": {"version": "2.0"}, "buffers": [{"byteLength": 36, "uri": name}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
    }  # fmt: skip
    (folder / "a.gltf").write_text(json.dumps(tree))
    refused("mesh", folder / "a.gltf")
    (folder / "good.bin").write_bytes(np.eye(3, dtype="<f4").tobytes())
    tree["buffers"] = [{"byteLength": 36, "uri": "good.bin"}]
    (folder / "a.gltf").write_text(json.dumps(tree))
    assert len(read_mesh(folder / "a.gltf").faces) == 1


MANY = 20_000


@pytest.mark.parametrize(("name", "text"), [
    ("a.obj", TRIANGLE + "".join(f"usemtl a{k}\nf 1 2 3\n" for k in range(MANY))),
    ("a.stl", "".join(
        f"solid {k}\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
        f"endsolid {k}\n" for k in range(MANY + 1)
    )),
])  # fmt: skip
def test_meshes_of_very_many_parts(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    start = time.process_time()
    assert len(read_mesh(tmp_path / name).faces) == MANY + 1
    assert time.process_time() - start < 5


def test_glb_that_shows_a_mesh_very_often(tmp_path: Path) -> None:
    parts: dict[str, Any] = {
        "accessors": [{"componentType": 5126, "count": 3000, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    }
    (tmp_path / "a.glb").write_bytes(glb(**parts, nodes=[{"mesh": 0}] * 1000, scenes=[{"nodes": list(range(1000))}]))
    assert "too many" in refused("mesh", tmp_path / "a.glb")
    parts["accessors"][0]["count"] = 100
    (tmp_path / "a.glb").write_bytes(glb(**parts, nodes=[{}] * 30_000, scenes=[{"nodes": [0]}]))
    assert "30000 nodes" in refused("mesh", tmp_path / "a.glb")
    nodes = [{"children": [k + 1, k + 1]} for k in range(40)] + [{"mesh": 0}]
    (tmp_path / "a.glb").write_bytes(glb(**parts, nodes=nodes, scenes=[{"nodes": [0]}]))
    assert "tree of nodes" in refused("mesh", tmp_path / "a.glb")


def vtp(tags: str, data: bytes) -> bytes:
    head = f'<?xml version="1.0"?>\n<VTKFile>\n<PolyData>\n<Piece>\n{tags}\n</Piece>\n</PolyData>\n'
    return head.encode() + b'<AppendedData encoding="raw">\n_' + data


@pytest.mark.parametrize("tag", [
    'type="Float64" NumberOfComponents="3" offset="-8"', 'type="Float64" NumberOfComponents="0" offset="0"',
    'type="Object" NumberOfComponents="3" offset="0"', 'type="Float64" NumberOfComponents="3" offset="99"',
    'type="V0" NumberOfComponents="3" offset="0"', f'type="Float64" NumberOfComponents="3" offset="{HUGE}"',
    'type="Float64" NumberOfComponents="-1" offset="0"', f'type="Float64" NumberOfComponents="3" offset="{"9" * 6000}"',
])  # fmt: skip
def test_frames_whose_arrays_are_elsewhere(tmp_path: Path, tag: str) -> None:
    data = (HUGE).to_bytes(8, "little") + bytes(72)
    (tmp_path / "a.vtp").write_bytes(vtp(f'<Points><DataArray Name="Points" {tag}/></Points>', data))
    refused("frame", tmp_path / "a.vtp")


def test_obstacles_that_are_counted_without_end(tmp_path: Path) -> None:
    from impinge.output.vtk import write_mesh

    write_mesh(tmp_path / "a.vtp", np.eye(3), [[0, 1, 2]], {"obstacle": np.array([HUGE])})
    with pytest.raises(InputError, match=r"a\.vtp: "):
        read_obstacles(tmp_path / "a.vtp")


def test_lists_that_name_what_is_no_file(tmp_path: Path) -> None:
    collection = Collection(tmp_path / "a.pvd")
    for name in ("a" * 5000, "../b.vtp", "/etc/passwd", "", "none.vtp"):
        with pytest.raises(InputError, match=r"expected (a|the) f"):
            collection.path_of(name)


@pytest.mark.parametrize("table", [b"a,a\n1,2\n", b"a\nx\n", b"\xff\n", b'"' + b"x" * 200_000 + b"\n"])
def test_tables_that_are_none(tmp_path: Path, table: bytes) -> None:
    from impinge.show.recording import _read_table

    (tmp_path / "series.csv").write_bytes(table)
    with pytest.raises(InputError, match=r"series\.csv: "):
        _read_table(tmp_path / "series.csv")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy says that numbers are too large
def test_obstacles_of_absurd_speed() -> None:
    world = impinge.World()
    material = impinge.Material(density=1000, stiffness=1e3)
    world.add_spheres([[0, 0, 0]], 0.1, material)
    world.add_obstacle(impinge.shapes.box((1.0, 1.0, 1.0), lower=(1, 1, 1)), material, impinge.Motion((1e200, 0, 0)))
    with pytest.raises(impinge.errors.RunError):
        world.step(20)


def test_links_in_place_of_temporary_files(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / ".a.h5.part").symlink_to(tmp_path / "mine")
    impinge.World().save(tmp_path / "a.h5")
    assert (tmp_path / "mine").read_text() == "mine"


def test_texts_that_stand_for_very_long_ones(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY a{k + 1} "{f"&a{k};" * 10}">' for k in range(12))
    text = f'<!DOCTYPE x [<!ENTITY a0 "aaaaaaaaaa">{entities}]><Collection>&a12;</Collection>'
    (tmp_path / "a.pvd").write_text(text)
    refused("list", tmp_path / "a.pvd")


def test_memory_is_what_the_system_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    from impinge import untrusted

    assert untrusted.memory() > 0
    monkeypatch.setattr(resource, "getrlimit", lambda which: (12345, 12345))
    assert untrusted.memory() == 12345
    with pytest.raises(InputError, match="nodes: found 1e\\+04 nodes in it, more than this machine has memory for"):
        untrusted.check_room("nodes", 10_000, "nodes", 2)
