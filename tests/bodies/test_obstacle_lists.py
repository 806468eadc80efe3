"""Lists of triangles near spheres: against all triangles, for a skin, for any number of threads."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge import _jit
from impinge.bodies import _obstacles as kernels
from impinge.bodies.motion import Motion
from impinge.bodies.obstacles import Obstacle, combine, near, poses_at
from impinge.shapes.generators import box, cylinder, octasphere
from impinge.shapes.mesh import Mesh

from .obstacle_contacts import (
    Memory,
    closest_on_triangle,
    contacts,
    floor,
)


@settings(max_examples=30)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.02, 0.3]),
    st.sampled_from(["soup", "floor", "box", "drum", "two", "mixed"]),
)
def test_near_against_all_triangles(seed: int, skin: float, kind: str) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 60))
    soup = Mesh(rng.uniform(-1, 1, (3 * count, 3)), np.arange(3 * count).reshape(-1, 3))
    small = Mesh(rng.uniform(-0.02, 0.02, (90, 3)) + 0.3, np.arange(90).reshape(-1, 3))
    meshes = {
        "soup": [soup], "floor": [floor(5)], "box": [box(1.0, divisions=4)], "drum": [cylinder(0.6, 0.9, 20)],
        "two": [soup, box(1.0)], "mixed": [soup + small],
    }[kind]  # fmt: skip
    obstacles = [Obstacle(mesh, Motion((0, 0, 0.1), ((0.3, 0.2, 0.1), (0, 1, 0)))) for mesh in meshes]
    surfaces, poses = combine(obstacles, [3] * len(meshes)), poses_at(obstacles, 0.8)
    x = np.column_stack([rng.uniform(-1.2, 1.2, (12, 3)), rng.uniform(0.01, 0.4, 12)])
    lists = near(surfaces, x, skin, poses)
    first = np.cumsum([0] + [o.patches for o in obstacles])
    for i, row in enumerate(x):
        patches = lists.patches[lists.starts[i] : lists.starts[i + 1]]
        assert (np.diff(patches) > 0).all()
        surely, perhaps = set(), set()
        for o, (obstacle, mesh) in enumerate(zip(obstacles, meshes, strict=True)):
            pose = obstacle.pose_at(0.8)
            for patch, triangle in zip(
                obstacle.patch_of, mesh.triangles @ pose.rotation.T + pose.translation, strict=True
            ):
                gap = np.linalg.norm(row[:3] - closest_on_triangle(row[:3], triangle)) - row[3] - skin
                surely |= {first[o] + patch} if gap <= -1e-9 else set()
                perhaps |= {first[o] + patch} if gap <= 1e-9 else set()
        assert surely <= set(patches.tolist()) <= perhaps
        for e in range(lists.starts[i], lists.starts[i + 1]):
            mine = lists.triangles[lists.triangle_starts[e] : lists.triangle_starts[e + 1]]
            assert len(mine) > 0
            assert (surfaces.patches[mine] == lists.patches[e]).all()
    assert lists.triangle_starts[-1] == len(lists.triangles)
    assert lists.most == np.diff(lists.starts).max()


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(["floor", "box", "drum", "ball"]))
def test_lists_are_good_for_a_skin(seed: int, kind: str) -> None:
    """After a motion of up to the skin, contacts are those of fresh lists, bit by bit."""
    rng = np.random.default_rng(seed)
    mesh = {"floor": floor(), "box": box(1.0, divisions=5), "drum": cylinder(0.6, 0.9, 20), "ball": octasphere(3, 0.5)}
    obstacle = Obstacle(mesh[kind])
    surfaces, poses = combine([obstacle], [0]), poses_at([obstacle], 0.0)
    x = np.column_stack([rng.uniform(-0.8, 0.8, (20, 3)), rng.uniform(0.05, 0.3, 20)])
    lists = near(surfaces, x, 0.1, poses)
    step = rng.normal(size=(20, 3))
    x[:, :3] += 0.1 * step / np.linalg.norm(step, axis=1)[:, None]
    fresh = near(surfaces, x, 0.0, poses)
    for i in range(20):
        old, new = Memory(lists, 0).touch(i, x, surfaces, poses), Memory(fresh, 0).touch(i, x, surfaces, poses)
        np.testing.assert_array_equal(old[:, 1:], new[:, 1:])


def test_lists_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(5)
    obstacle = Obstacle(octasphere(5))
    surfaces, poses = combine([obstacle], [0]), poses_at([obstacle], 0.0)
    x = np.column_stack([rng.uniform(-1.2, 1.2, (3000, 3)), rng.uniform(0.01, 0.1, 3000)])
    with _jit.threads(1):
        one = near(surfaces, x, 0.01, poses)
    two = near(surfaces, x, 0.01, poses)
    assert one.most == two.most > 10
    for a, b in zip(one[:5], two[:5], strict=True):
        np.testing.assert_array_equal(a, b)


def test_no_obstacles_and_no_spheres() -> None:
    empty = near(combine([], []), np.zeros((3, 4)), 0.1, poses_at([], 0.0))
    np.testing.assert_array_equal(empty.starts, [0, 0, 0, 0])
    assert Memory(empty).touch(1, np.ones((3, 4)), combine([], []), poses_at([], 0.0)).shape == (0, kernels.COLUMNS)
    obstacle = Obstacle(box())
    nobody = near(combine([obstacle], [0]), np.empty((0, 4)), 0.1, poses_at([obstacle], 0.0))
    assert nobody.starts.tolist() == [0]
    assert nobody.most == 0


def test_many_triangles() -> None:
    """Half a million: linear memory, patches of a curved surface are its triangles."""
    obstacle = Obstacle(octasphere(8))
    assert 524_200 < obstacle.patches < 524_288  # some neighbours have four corners on a circle, by symmetry
    surfaces = combine([obstacle], [0])
    assert sum(np.asarray(array).nbytes for array in surfaces) < 300 * 524_288
    (rows,) = contacts(obstacle, [[0.0, 0.0, 1.0099]], 0.01)
    assert len(rows) == 1
