"""Grids by scanning the triangles, against the same points one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from impinge import Mesh, _jit
from impinge.inside.direct import Direct
from impinge.inside.grid import Axes, classify_grid, even_places, grid_points
from impinge.inside.octree import Octree

from . import scenes


def assert_like_points(mesh: Mesh, axes: Axes) -> NDArray[np.int8]:
    found = classify_grid(mesh, axes)
    wanted = Octree(mesh).classify(grid_points(*axes)).reshape(found.shape)
    wrong = np.argwhere(found != wanted)
    assert len(wrong) == 0, f"{len(wrong)} wrong, first {wrong[0]}: {found[tuple(wrong[0])]}"
    return found


def axes_around(mesh: Mesh, shape: tuple[int, int, int], reach: float) -> Axes:
    low, high = np.asarray(mesh.bounds)
    middle, half = low / 2 + high / 2, high / 2 - low / 2  # halves, since sizes may be the largest doubles
    x, y, z = (even_places(middle[k] - reach * half[k], middle[k] + reach * half[k], shape[k]) for k in range(3))
    return x, y, z


@pytest.mark.parametrize("name", scenes.SMALL)
def test_same_as_its_points(name: str) -> None:
    mesh = scenes.SMALL[name]()
    n = 7 if name in scenes.SLOW else 33
    for shape, reach in (((9, 14, 6), 1.1), ((n, n, n), 1.0), ((1, 2, 130), 0.5), ((3, 1, 1), 0.3), ((0, 3, 3), 1.0)):
        assert_like_points(mesh, axes_around(mesh, shape, reach if name != "largest" else min(reach, 1.0)))


@pytest.mark.parametrize("path", scenes.files(), ids=lambda path: path.name)
def test_real_meshes(path: object) -> None:
    mesh = scenes.load(path)  # type: ignore[arg-type]
    if not mesh.is_closed:
        pytest.skip("not closed")
    assert_like_points(mesh, axes_around(mesh, (64, 63, 65), 1.0))


@pytest.mark.parametrize("name", ["lattice-blob", "box", "nested"])
def test_lines_through_vertices_and_along_edges(name: str) -> None:
    mesh = scenes.SMALL[name]()
    x, y, z = (np.unique(mesh.vertices[:, k])[:: max(len(mesh.vertices) // 3000, 1)] for k in range(3))
    classes = assert_like_points(mesh, (x[:40], y[:40], z[:70]))
    assert (classes == 0).any()


def test_axes_without_length_and_with_equal_places() -> None:
    mesh = scenes.SMALL["lattice-blob"]()
    middle, high = np.asarray(mesh.bounds).mean(axis=0), mesh.bounds[1]
    still = [np.full(5, value) for value in middle]
    close = middle[2] + np.spacing(middle[2] + 1.0) * np.arange(-40, 41) / 16
    assert_like_points(mesh, (still[0], still[1], still[2]))
    assert_like_points(mesh, (still[0], np.linspace(-high[1], high[1], 20), np.sort(close)))
    assert_like_points(mesh, (np.sort(close), np.sort(close), np.linspace(-high[2], high[2], 20)))


corner = st.tuples(*[st.integers(0, 4)] * 3)


@given(st.lists(st.lists(corner, min_size=4, max_size=4), min_size=1, max_size=4), st.sampled_from([5, 9, 17]))
def test_lattice_tetrahedra(bodies: list[list[tuple[int, int, int]]], n: int) -> None:
    """Every line meets vertices, edges and planes; bodies may be flat, inverted, overlapping or the same."""
    vertices = np.array(bodies, float).reshape(-1, 3)
    faces = np.concatenate([np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]) + 4 * k for k in range(len(bodies))])
    mesh = Mesh(vertices, faces)
    axis = np.linspace(0.0, 4.0, n)
    classes = classify_grid(mesh, (axis, axis, axis))
    wanted = Direct(mesh).classify(grid_points(axis, axis, axis)).reshape(classes.shape)
    np.testing.assert_array_equal(classes, wanted)


def test_threads_do_not_matter() -> None:
    mesh = scenes.SMALL["foam"]()
    axes = axes_around(mesh, (40, 41, 42), 1.0)
    with _jit.threads(1):
        alone = classify_grid(mesh, axes)
    np.testing.assert_array_equal(classify_grid(mesh, axes), alone)
