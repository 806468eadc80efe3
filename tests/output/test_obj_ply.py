"""OBJ and PLY files, read back by trimesh and by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from impinge.output import SoftFrame, Tubes, write_obj, write_ply
from tests.output.disks import full_after
from tests.output.softscenes import scene


def read_obj(path: Path) -> tuple[Any, dict[str, list[tuple[str, list[int]]]]]:
    """Vertices, and by object the kind of each element with its indices from 0."""
    vertices, objects = [], {}
    current: list[tuple[str, list[int]]] = []
    for line in path.read_text().splitlines():
        kind, *rest = line.split()
        if kind == "v":
            vertices.append([float(x) for x in rest])
        elif kind == "o":
            current = objects.setdefault(rest[0], [])
        elif kind in ("f", "l"):
            current.append((kind, [int(x) - 1 for x in rest]))
        else:
            assert kind == "#"
    return np.array(vertices), objects


def test_obj_by_hand(tmp_path: Path) -> None:
    frame = scene(0.3)
    write_obj(tmp_path / "a.obj", frame, ["sheet", "rope of mine"])
    vertices, objects = read_obj(tmp_path / "a.obj")
    ball, box = frame.obstacles
    np.testing.assert_array_equal(vertices, np.concatenate([frame.positions, ball.vertices, box.vertices]))
    assert list(objects) == ["sheet", "rope_of_mine", "body_2", "obstacle_0", "obstacle_1"]
    assert objects["sheet"] == [("f", face) for face in frame.faces.tolist()]
    assert objects["rope_of_mine"] == [("l", frame.cables[0].tolist())]
    assert objects["body_2"] == [("l", frame.cables[1].tolist())]
    assert objects["obstacle_1"] == [("f", (face + 57 + len(ball.vertices)).tolist()) for face in box.faces]


def triangles_of(frame: SoftFrame) -> Any:
    return np.concatenate([frame.positions[frame.faces], *(mesh.triangles for mesh in frame.obstacles)])


def sorted_rows(triangles: Any) -> Any:
    rows = np.asarray(triangles).reshape(-1, 9)
    return rows[np.lexsort(rows.T)]


@pytest.mark.parametrize(("write", "ending"), [(write_obj, "obj"), (write_ply, "ply")])
@pytest.mark.parametrize("tubes", [False, True])
def test_trimesh_reads_the_faces(tmp_path: Path, write: Callable[..., None], ending: str, tubes: bool) -> None:
    frame = Tubes(6).of(scene()) if tubes else scene()
    path = tmp_path / f"a.{ending}"
    write(path, frame)
    loaded = trimesh.load(path, process=False, maintain_order=True, force="mesh")
    np.testing.assert_allclose(sorted_rows(loaded.triangles), sorted_rows(triangles_of(frame)), atol=1e-8)


def test_trimesh_reads_what_ply_says_of_vertices_and_edges(tmp_path: Path) -> None:
    frame = scene()
    write_ply(tmp_path / "a.ply", frame)
    loaded = trimesh.load(tmp_path / "a.ply", process=False)
    raw = loaded.metadata["_ply_raw"]
    vertex, edge = raw["vertex"]["data"], raw["edge"]["data"]
    count = sum(len(mesh.vertices) for mesh in frame.obstacles)
    np.testing.assert_array_equal(np.column_stack([vertex[axis] for axis in "xyz"])[:57], frame.positions)
    np.testing.assert_array_equal(vertex["radius"], np.r_[frame.radii, np.zeros(count)].astype(np.float32))
    bodies = np.repeat([-1, -2], [len(mesh.vertices) for mesh in frame.obstacles])
    np.testing.assert_array_equal(vertex["body"], np.r_[frame.bodies, bodies])
    np.testing.assert_array_equal(np.column_stack([edge["vertex1"], edge["vertex2"]]), frame.edges)


def test_ply_by_hand(tmp_path: Path) -> None:
    frame = SoftFrame(0.5, [[1, 2, 3], [4, 5, 6], [7, 8, 9.5]], [[0, 1, 2]], [[2, 0]], 0.25)
    write_ply(tmp_path / "a.ply", frame)
    head, _, data = (tmp_path / "a.ply").read_bytes().partition(b"end_header\n")
    assert head.decode().splitlines() == [
        "ply", "format binary_little_endian 1.0", "comment impinge, t = 0.5 s",
        "element vertex 3", "property double x", "property double y", "property double z", "property float radius",
        "property int body", "element face 1", "property list uchar int vertex_indices",
        "element edge 1", "property int vertex1", "property int vertex2",
    ]  # fmt: skip
    assert len(data) == 3 * 32 + 13 + 8
    assert np.frombuffer(data[64:88], "<f8").tolist() == [7, 8, 9.5]
    assert data[96] == 3
    assert np.frombuffer(data[97:], "<i4").tolist() == [0, 1, 2, 2, 0]


@pytest.mark.parametrize(("write", "ending"), [(write_obj, "obj"), (write_ply, "ply")])
def test_nothing_and_a_full_disk(tmp_path: Path, write: Callable[..., None], ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    write(path, SoftFrame(0, []))
    before = path.read_bytes()
    with full_after(3000), pytest.raises(OSError):
        write(path, scene())
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
