"""Small valid files of every kind, from which bad ones are made."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import impinge
from impinge.run.loop import run_scene
from impinge.run.scene import read_scene
from impinge.shapes import generators
from impinge.shapes.files import save

from ..run.scenes import FULL
from ..run.softscenes import SOFT_FULL

# Few of each, so that building and one step take a moment.
ROCKS = """
[run]
until = 0.01
[output]
frames = 0.005
series = 0.005
[materials.rock]
density = 2500
young = 1e7
restitution = 0.5
friction = 0.4
[[polyhedra]]
material = "rock"
file = "box.ply"
scale = 0.1
positions = [[0, 0, 0.2], [0.02, 0, 0.34]]
rotations = [[1, 0, 0, 0], [1, 0.2, 0, 0]]
[[polyhedra]]
material = "rock"
prism = { outline = [[0, 0], [0.1, 0], [0.1, 0.05], [0.05, 0.05], [0.05, 0.1], [0, 0.1]], height = 0.05 }
random = { lower = [-0.2, -0.2, 0.5], upper = [0.2, 0.2, 0.8], count = 2 }
[[spheres]]
material = "rock"
file = "spheres.csv"
[[spheres]]
material = "rock"
lattice = { lower = [-0.3, -0.3, 1], upper = [0.3, 0.3, 1.2], kind = "hexagonal", jitter = 0.1 }
distribution = { kind = "lognormal", mean = 0.05, sigma = 0.2, low = 0.04, high = 0.06 }
[[sources]]
material = "rock"
torus = { radius = 0.1, tube = 0.03, segments = 8, rings = 5 }
lower = [-0.2, -0.2, 1.5]
upper = [0.2, 0.2, 1.8]
rate = 500
[[planes]]
point = [0, 0, -0.5]
normal = [0, 0, 1]
material = "rock"
[[obstacles]]
lathe = { profile = [[0, -1], [1, -1.1], [1, -1.2]], segments = 12 }
[[obstacles]]
cone = { orifice = 0.1, radius = 0.5, height = 0.2, rim = 0.1, segments = 8 }
translate = [0, 0, -2]
[[obstacles]]
torus = { radius = 0.3, tube = 0.1, segments = 8, rings = 5 }
translate = [0, 0, -3]
"""
DISCS = """
[world]
dim = 2
box = [[0, 0], [1, 1]]
periodic = [true, false]
integrator = "position"
[run]
until = 0.01
[materials.a]
density = 1000
stiffness = 1000
unloading = 1500
pull = 100
[[spheres]]
material = "a"
random = { lower = [0, 0.1], upper = [1, 0.9], fraction = 0.3 }
distribution = { kind = "choice", radii = [0.03, 0.05], weights = [1, 2] }
[[planes]]
point = [0, 0]
normal = [0, 1]
[[planes]]
point = [0, 1]
normal = [0, -1]
load = 10
"""
ROPES = """
[run]
until = 0.02
[[bodies]]
kind = "cable"
helix = { radius = 0.1, height = 0.5, turns = 2, nodes = 12 }
radius = 0.01
stretch = 50
mass_per_length = 0.1
strain_limits = { upper = 0.1, rate = 10 }
[[bodies]]
kind = "cable"
file = "points.csv"
translate = [0, 0, 2]
radius = 0.01
stretch = 50
bend = 1e-3
mass_per_length = 0.1
[[bodies]]
kind = "cloth"
file = "sheet.obj"
translate = [0, 0, 4]
thickness = 0.01
stretch = 20
shear = 5
density = 0.2
"""


def _small_mesh() -> impinge.Mesh:
    return generators.icosphere(1, 1.0)


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _gltf(mesh: impinge.Mesh) -> bytes:
    """As text, with the numbers in it."""
    data = mesh.vertices.astype("<f4").tobytes() + mesh.faces.astype("<u4").tobytes()
    at = 12 * len(mesh.vertices)
    tree = {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": len(data), "uri": "data:;base64," + base64.b64encode(data).decode()}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": at},
            {"buffer": 0, "byteOffset": at, "byteLength": len(data) - at},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(mesh.vertices), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 3 * len(mesh.faces), "type": "SCALAR"},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
        "scene": 0,
    }
    return json.dumps(tree).encode()


def _stl_text(mesh: impinge.Mesh) -> bytes:
    facets = [
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {' '.join(map(repr, mesh.vertices[k].tolist()))}\n" for k in face)
        + "endloop\nendfacet\n"
        for face in mesh.faces[:12]
    ]
    return f"solid x\n{''.join(facets)}endsolid x\n".encode()


_OBJ = b"""mtllib a.mtl
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
vt 0 0
vn 0 0 1
g one
usemtl x
f 1/1/1 3/1/1 2/1/1
f 1//1 2//1 4//1
o two
f -1 -2 -4
f 2 3 4
"""
_PLY_TEXT = b"""ply
format ascii 1.0
comment TextureFile a.png
element thing 2
property int a
element vertex 4
property float x
property float y
property float z
property uchar red
element face 4
property list uchar int vertex_indices
end_header
1
2
0 0 0 1
1 0 0 2
0 1 0 3
0 0 1 4
3 0 2 1
3 0 1 3
3 0 3 2
3 1 2 3
"""


def _mesh_seeds(folder: Path) -> dict[str, list[tuple[str, bytes]]]:
    mesh, found = _small_mesh(), []
    for ending in ("ply", "obj", "off", "stl", "glb", "npz"):
        save(mesh, folder / f"mesh.{ending}")
        found.append((ending, (folder / f"mesh.{ending}").read_bytes()))
    found += [("gltf", _gltf(mesh)), ("stl", _stl_text(mesh)), ("obj", _OBJ), ("ply", _PLY_TEXT)]
    return {"mesh": found}


def _point_seeds() -> dict[str, list[tuple[str, bytes]]]:
    points = np.random.default_rng(0).random((20, 3))
    rows = "".join(f"{x!r},{y!r},{z!r}\n" for x, y, z in points.tolist())
    spaced = rows.replace(",", " ")
    vertices = points.astype("<f8").tobytes()
    head = b"ply\nformat binary_little_endian 1.0\nelement a 1\nproperty int b\nelement vertex 20\n"
    head += b"property double x\nproperty double y\nproperty double z\nend_header\n"
    return {
        "points": [
            ("npy", _npy(points)), ("npy", _npy(np.asfortranarray(points.astype("f4")))), ("npz", _npz(points=points)),
            ("csv", f"id,x,y,z\n{''.join(f'a{row}'.replace('a0', 'a,0') for row in rows.splitlines(True))}".encode()),
            ("csv", rows.encode()), ("csv", f"# x y z\n{spaced}".encode()), ("xyz", spaced.encode()),
            ("xyz", f"20\nProperties=pos:R:3\n{spaced}".encode()),
            ("xyz", f"20\n\n{''.join(f'H {row}' for row in spaced.splitlines(True))}".encode()),
            ("ply", _PLY_TEXT), ("ply", head + bytes(4) + vertices),
        ],
        "spheres": [
            ("npy", _npy(np.column_stack([points, points[:, 0]]))), ("npz", _npz(centres=points, radii=points[:, 0])),
            ("csv", b"x,y,z,radius\n" + b"".join(f"{x},{y},{z},0.1\n".encode() for x, y, z in points.tolist())),
            ("csv", b"".join(f"{x},{y},0.1\n".encode() for x, y, _ in points.tolist())),
            ("xyz", b"20\nProperties=species:S:1:pos:R:3:radius:R:1\n"
             + b"".join(f"H {x} {y} {z} 0.1\n".encode() for x, y, z in points.tolist())),
        ],
    }  # fmt: skip


def write_neighbours(folder: Path) -> None:
    """The files that scenes name."""
    save(generators.box((1.0, 1.0, 1.0)), folder / "box.ply")
    (folder / "spheres.csv").write_text("x,y,z,radius\n0,0,2,0.1\n0,0.5,2,0.1\n")
    (folder / "points.csv").write_text("x,y,z\n0,0,0\n0,0.1,0\n0,0.2,0\n0,0.3,0.1\n")
    (folder / "sheet.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n")


def _run_seeds(folder: Path) -> dict[str, list[tuple[str, bytes]]]:
    """Checkpoints and the other files of runs; `folder` keeps the runs themselves, for what needs all of it."""
    found: dict[str, list[tuple[str, bytes]]] = {"world": [], "soft": [], "resume": [], "recording": []}
    write_neighbours(folder)
    for name, text in {"full": FULL, "rocks": ROCKS, "discs": DISCS, "soft_full": SOFT_FULL, "ropes": ROPES}.items():
        (folder / f"{name}.toml").write_text(text)
        scene = read_scene(folder / f"{name}.toml")
        world: Any = scene.build()
        world.step(5)
        world.save(folder / f"{name}.h5")
        is_soft = name in ("soft_full", "ropes")
        found["soft" if is_soft else "world"].append(("h5", (folder / f"{name}.h5").read_bytes()))
        if name in ("full", "rocks", "soft_full"):
            run_scene(scene, folder / name)
            of_run = "h5", (folder / name / "checkpoint.h5").read_bytes()
            found["resume"].append(of_run)
            found["soft" if is_soft else "world"].append(of_run)
            for path in sorted((folder / name).rglob("*")):
                if path.suffix in (".pvd", ".vtp", ".csv", ".json") and "chains" not in path.name:
                    label = path.relative_to(folder).as_posix()
                    if "frames/" not in label or path.stem.endswith("000000"):
                        found["recording"].append((label, path.read_bytes()))
    return found


def _scene_seeds(folder: Path) -> dict[str, list[tuple[str, bytes]]]:
    write_neighbours(folder)
    return {"scene": [("toml", text.encode()) for text in (FULL, ROCKS, DISCS, SOFT_FULL, ROPES)]}


def _solid_seeds(folder: Path) -> dict[str, list[tuple[str, bytes]]]:
    found = []
    for method in ("octree", "octree", "direct", "multipole"):
        level = 3 if found else 1
        impinge.Solid(generators.icosphere(level, 1.0), method).save(folder / "solid.npz")
        found.append(("solid", (folder / "solid.npz").read_bytes()))
    return {"solid": found}


def make(folder: Path, readers: Iterable[str]) -> dict[str, list[tuple[str, bytes]]]:
    """By reader: kinds, or for recordings the places of files, and contents."""
    makers: dict[Callable[[], dict[str, list[tuple[str, bytes]]]], set[str]] = {
        lambda: _mesh_seeds(folder): {"mesh"},
        _point_seeds: {"points", "spheres"},
        lambda: _scene_seeds(folder): {"scene"},
        lambda: _run_seeds(folder): {"world", "soft", "resume", "recording"},
        lambda: _solid_seeds(folder): {"solid"},
    }
    folder.mkdir(parents=True)
    found: dict[str, list[tuple[str, bytes]]] = {}
    for maker, made in makers.items():
        if made & set(readers):
            found |= maker()
    return found
