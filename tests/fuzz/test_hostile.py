"""Files that mean harm, one kind each: what they try must not happen, and be an error that names the file."""

from __future__ import annotations

import io
import json
import os
import resource
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impinge
from impinge.broad.files import read_spheres
from impinge.errors import InputError
from impinge.inside import files as solid_files
from impinge.inside.pointfiles import open_points
from impinge.output import checkpoint
from impinge.output.softvtk import read_obstacles
from impinge.output.vtk import Collection, read_polydata
from impinge.run.scene import read_scene
from impinge.shapes.files import read_mesh

READERS: dict[str, Callable[[Path], Any]] = {
    "mesh": read_mesh,
    "points": lambda path: list(open_points(path).chunks()),
    "spheres": read_spheres,
    "scene": lambda path: read_scene(path).build(),
    "solid": impinge.Solid.load,
    "world": impinge.World.load,
    "soft": impinge.SoftWorld.load,
    "frame": read_polydata,
    "list": Collection.read,
}


def refused(reader: str, path: Path) -> str:
    """What is said of a file, in little time and memory."""
    start = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            READERS[reader](path)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
    assert time.process_time() - start < 10
    said = str(caught.value)
    assert path.name in said
    assert said.isprintable()
    return said


def npy_head(shape: str, kind: str = "<f8") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return buffer.getvalue()


def glb(**tree: Any) -> bytes:
    text = json.dumps({"asset": {"version": "2.0"}, **tree}).encode()
    text += b" " * (-len(text) % 4)
    return (
        b"glTF" + (2).to_bytes(4, "little") + (20 + len(text)).to_bytes(4, "little")
        + len(text).to_bytes(4, "little") + b"JSON" + text
    )  # fmt: skip


HUGE = 10**15
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


SCENE = """
[run]
until = 0.001
[materials.a]
density = 1000
stiffness = 1e6
[[spheres]]
material = "a"
centres = [[0, 0, 0]]
radii = 0.1
"""
CABLE = '\n[[bodies]]\nkind = "cable"\nradius = 0.01\nstretch = 1\nmass_per_length = 1\n'
LATTICE = "lattice = { lower = [0, 0, 0], upper = [1, 1, 1] }\nradii = 1e-4"
SCENES = {
    "very many spheres": SCENE.replace("centres = [[0, 0, 0]]\nradii = 0.1", LATTICE),
    "more than fit into numbers": SCENE.replace("centres = [[0, 0, 0]]\nradii = 0.1", LATTICE.replace("-4", "-300")),
    "a share of very small spheres": SCENE.replace(
        "centres = [[0, 0, 0]]\nradii = 0.1",
        "random = { lower = [0, 0, 0], upper = [1, 1, 1], fraction = 0.2 }\nradii = 1e-4",
    ),
    "a count": SCENE.replace(
        "centres = [[0, 0, 0]]", "random = { lower = [0, 0, 0], upper = [9, 9, 9], count = 1000000000 }"
    ),
    "a torus": SCENE + "[[obstacles]]\ntorus = { radius = 1, tube = 0.1, segments = 10000, rings = 10000 }\n",
    "a cable": f"[run]\nuntil = 1\n{CABLE}line = {{ start = [0, 0, 0], end = [1, 0, 0], nodes = {10**12} }}\n",
    "a ring": f"[run]\nuntil = 1\n{CABLE}circle = {{ radius = 1, nodes = {10**30} }}\n",
    "a sheet": '[run]\nuntil = 1\n[[bodies]]\nkind = "cloth"\nthickness = 0.1\nstretch = 1\nshear = 1\ndensity = 1\n'
    "sheet = { size = [1, 1], nodes = [1000000, 1000000] }\n",
    "materials": SCENE + "".join(f"[materials.m{k}]\ndensity = 1\nstiffness = 1\n" for k in range(2000)),
    "brackets": SCENE + "x = " + "[" * 100_000,
    "braces": SCENE + "x = " + "{a=" * 100_000,
    "a long key": SCENE + ".".join("a" * 100_000) + " = 1\n",
    "a long number": SCENE + "x = " + "9" * 10_000 + "\n",
    "a key of several lines": SCENE + '"a\\nb\\u001b[2J" = 1\n',
}


@pytest.mark.parametrize("name", SCENES)
def test_scenes_that_ask_for_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("impinge.untrusted.memory", lambda: 1 << 30)
    (tmp_path / "a.toml").write_text(SCENES[name])
    refused("scene", tmp_path / "a.toml")


def test_lines_of_a_scene_are_found_in_time_that_grows_as_it(tmp_path: Path) -> None:
    places = "\n".join("  , [0, 0, 0]" for _ in range(5000))  # commas where few expect them
    text = SCENE.replace("centres = [[0, 0, 0]]", f"centres = [[0, 0, 0]\n{places}\n]") + "wrong = 1\n"
    (tmp_path / "a.toml").write_text(text)
    start = time.process_time()
    with pytest.raises(InputError, match=r":5012: spheres\[0\]\.wrong: unknown key"):
        read_scene(tmp_path / "a.toml")
    assert time.process_time() - start < 5


def write_beside(folder: Path) -> None:
    (folder / "spheres.csv").write_text("x,y,z,radius\n0,0,0,1\n")


NAMED = SCENE.replace("centres = [[0, 0, 0]]\nradii = 0.1", 'file = "NAME"')


@pytest.mark.parametrize(
    "name", ["../spheres.csv", "ABSOLUTE", "link.csv", "linked/spheres.csv", "sub/../../spheres.csv"]
)
def test_scenes_name_files_in_their_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    write_beside(tmp_path)
    (folder / "link.csv").symlink_to(tmp_path / "spheres.csv")
    (folder / "linked").symlink_to(tmp_path)
    name = str(tmp_path / "spheres.csv") if name == "ABSOLUTE" else name
    (folder / "a.toml").write_text(NAMED.replace("NAME", name))
    assert "spheres[0].file: " in refused("scene", folder / "a.toml")
    assert "--allow-outside" in refused("scene", folder / "a.toml")
    assert len(read_scene(folder / "a.toml", allow_outside=True).build().spheres) == 1  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["spheres.csv", "sub/spheres.csv", "sub/../spheres.csv", "linked.csv"])
def test_files_in_the_folder_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "sub").mkdir()
    write_beside(tmp_path)
    write_beside(tmp_path / "sub")
    (tmp_path / "linked.csv").symlink_to(tmp_path / "sub" / "spheres.csv")
    (tmp_path / "a.toml").write_text(NAMED.replace("NAME", name))
    assert len(read_scene(tmp_path / "a.toml").build().spheres) == 1  # type: ignore[union-attr]


def soft_content(path: Path) -> dict[str, Any]:
    world = impinge.SoftWorld()
    world.add_cable(np.linspace([0, 0, 0], [1, 0, 0], 5), radius=0.01, stretch=10.0, mass_per_length=0.1)
    world.save(path)
    return checkpoint.load(path, "soft_world", 1)


def test_checkpoints_call_nothing_but_what_makes_worlds(tmp_path: Path) -> None:
    content = soft_content(tmp_path / "a.h5")
    content["calls"].append({"method": "save", "arguments": {"path": str(tmp_path / "harmed.h5")}})
    checkpoint.save(tmp_path / "a.h5", content, "soft_world", 1)
    refused("soft", tmp_path / "a.h5")
    assert not (tmp_path / "harmed.h5").exists()


def test_checkpoints_set_nothing_but_the_state(tmp_path: Path) -> None:
    content = soft_content(tmp_path / "a.h5")
    content["state"]["save"] = 1.0
    checkpoint.save(tmp_path / "a.h5", content, "soft_world", 1)
    refused("soft", tmp_path / "a.h5")


def spheres_content(path: Path) -> dict[str, Any]:
    world = impinge.World()
    world.add_spheres([[0, 0, 0], [0, 0, 0.19]], 0.1, impinge.Material(density=1000, stiffness=1e3, friction=0.3))
    world.step(3)
    world.save(path)
    return checkpoint.load(path, "world", 2)


@pytest.mark.parametrize(("place", "value"), [
    ("x", np.zeros((2, 3))), ("x", np.full((2, 4), np.nan)), ("kinds", np.array([0, 10**6])), ("ids", np.array([1, 0])),
    ("kinds", np.array([0.0, 0.0])), ("mass", np.zeros(2)), ("v", np.zeros((1, 3))), ("next_id", -1),
    ("next_id", 10**30),
])  # fmt: skip
def test_states_that_kernels_would_trust(tmp_path: Path, place: str, value: Any) -> None:
    content = spheres_content(tmp_path / "a.h5")
    content["state"]["particles"][place] = value
    checkpoint.save(tmp_path / "a.h5", content, "world", 2)
    refused("world", tmp_path / "a.h5")


@pytest.mark.parametrize(("name", "value"), [
    ("owners", np.array([7])), ("names", np.array([1, 1])), ("history", np.zeros((5, 3))),
    ("history", np.full((1, 8), np.nan)),
])  # fmt: skip
def test_memories_that_kernels_would_trust(tmp_path: Path, name: str, value: Any) -> None:
    content = spheres_content(tmp_path / "a.h5")
    assert len(content["state"]["memories"]["pairs"]["owners"]) == 1
    content["state"]["memories"]["pairs"][name] = value
    checkpoint.save(tmp_path / "a.h5", content, "world", 2)
    refused("world", tmp_path / "a.h5")


@pytest.mark.parametrize("entry", [
    ["array", "<f8", [HUGE], 512], ["array", "<f8", [2**62, 2**62], 512], ["array", "<f8", [-1], 512],
    ["array", "|O", [1], 512], ["array", "<f8", [1], 10**9], ["array", "<f8", [1], -8], ["int", "|u1", [9], 0],
    ["dict", []], ["list", 3], ["list", [["list"]]], [], ["array", "<f8", [1.5], 512], "x", None,
])  # fmt: skip
def test_an_index_that_is_wrong(tmp_path: Path, entry: Any) -> None:
    rewrite_index(tmp_path, lambda parts: {**parts, "state": entry})
    refused("world", tmp_path / "a.h5")


def test_an_index_that_shows_the_same_numbers_very_often(tmp_path: Path) -> None:
    rewrite_index(tmp_path, lambda parts: {"x": ["list", [["array", "|u1", [4000], 512]] * 20_000]})
    assert "room" in refused("world", tmp_path / "a.h5")


def test_an_index_without_end(tmp_path: Path) -> None:
    rewrite_index(tmp_path, lambda parts: None, '{"a": ' + '["list", [' * 100_000)
    refused("world", tmp_path / "a.h5")


def rewrite_index(folder: Path, change: Callable[[Any], Any], text: str = "") -> None:
    """A checkpoint with another index, and a checksum that is right."""
    spheres_content(folder / "a.h5")
    data = (folder / "a.h5").read_bytes()
    head = checkpoint._HEAD.fullmatch(data[:512])
    assert head is not None
    at, label = int(head[3]), data[: head.start(4) - len("blake2b ")]
    body = data[512:at] + (text or json.dumps(change(json.loads(data[at:])))).encode()
    line = f"blake2b {checkpoint._checksum(label, memoryview(body))}\n".encode()
    (folder / "a.h5").write_bytes((label + line).ljust(512, b"\0") + body)


@pytest.mark.parametrize("change", [
    {"codes": lambda array: np.full_like(array, 2)},  # all are nodes: around in a circle
    {"codes": lambda array: np.full_like(array, (10**8 << 2) | 1)},  # records far outside
    {"codes": lambda array: array[:-1]}, {"words": lambda array: array[:8]},
    {"words": lambda array: np.full(array.shape, 2**28 * (2**32 + 1)).view(np.float64)},  # triangles and blocks
    {"shape": lambda array: array * 1000}, {"inv": lambda array: array * 1e9}, {"high": lambda array: array + 1e6},
    {"depth": lambda array: array + 40}, {"low": lambda array: np.zeros(2)}, {"accuracy": lambda array: np.zeros(3)},
])  # fmt: skip
def test_trees_that_kernels_would_trust(tmp_path: Path, change: dict[str, Callable[[Any], Any]]) -> None:
    path = tmp_path / "a.npz"
    impinge.Solid(impinge.shapes.icosphere(3, 1.0)).save(path)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files if name not in ("format", "method", "checksum")}
    for name, other in change.items():
        arrays[name] = np.asarray(other(arrays[name]), arrays[name].dtype)
    head = {"format": solid_files.FORMAT, "method": "octree", "checksum": solid_files._checksum(arrays)}
    np.savez(path, **head, **arrays)  # type: ignore[arg-type]
    refused("solid", path)


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
