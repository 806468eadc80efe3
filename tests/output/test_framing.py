"""What pictures show of the places where things are."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.output.camera import box_corners, box_edges, view_axes
from impinge.output.framing import Framing, corners_of, near_edges
from impinge.shapes import box

RNG = np.random.default_rng(0)
HEAP = np.column_stack([RNG.random((1000, 3)), np.full(1000, 0.01)])
SHOWN = np.array([[0.0, 0, 0], [1, 1, 2]])


def bounds(*arguments: object, axes: object = None) -> object:
    framing = Framing(np.eye(3) if axes is None else axes)  # type: ignore[arg-type]
    framing.add(*arguments)  # type: ignore[arg-type]
    return framing.bounds()


def test_spheres_far_from_most_are_left_out() -> None:
    far = np.concatenate([HEAP, [[9, 0, 0, 0.01], [0, -7, 0, 0.01]]])
    found = bounds(far)
    assert (found[0] > -0.5).all()
    assert (found[1] < 1.5).all()
    low, high = (HEAP[:, :3] - 0.01).min(axis=0), (HEAP[:, :3] + 0.01).max(axis=0)
    assert (found[0] <= low).all()
    assert (found[1] >= high).all()
    np.testing.assert_allclose(bounds(HEAP), [low, high])  # all of what lies together is shown


def test_few_and_large_ones_are_shown_wherever_they_are() -> None:
    np.testing.assert_allclose(bounds(np.array([[0, 0, 0, 1], [50, 0, 0, 2.0]])), [[-1, -2, -2], [52, 2, 2]])
    large = np.concatenate([HEAP, [[0.5, 0.5, 5, 0.5]]])
    assert bounds(large)[1][2] == 5.5


def test_places_and_bodies() -> None:
    bodies = [box((1, 1, 1)), box((1, 1, 1)).transformed(translation=[3, 0, 0])]
    np.testing.assert_allclose(bounds(np.empty((0, 4)), corners_of(bodies)), [[-0.5, -0.5, -0.5], [3.5, 0.5, 0.5]])
    places = [np.array([[100.0, 0, 0]]), np.empty((0, 3)), np.array([[0, 0, 0, 2.0]])]
    np.testing.assert_allclose(bounds(np.empty((0, 4)), None, places), [[-2, -2, -2], [100, 2, 2]])
    assert bounds(np.empty((0, 4))) is None
    assert Framing(np.eye(3)).corners() is None


def test_along_other_axes_and_over_time() -> None:
    axes = view_axes(-60.0, 20.0)
    framing = Framing(axes)
    framing.add(np.array([[0.0, 0, 0, 1]]))
    framing.add(np.array([[0.0, 0, 3, 1]]))
    corners = framing.corners()
    assert corners is not None
    along = corners @ axes.T
    up = 3 * np.cos(np.radians(20))
    np.testing.assert_allclose(along.min(axis=0), [-1, -1, -1], atol=1e-12)
    np.testing.assert_allclose(along.max(axis=0), [1, 1 + up, 1 + 3 * np.sin(np.radians(20))])


@pytest.mark.parametrize("dimension", [2, 3])
def test_boxes_have_corners_and_edges(dimension: int) -> None:
    corners = np.array([np.zeros(dimension), np.arange(1.0, dimension + 1)])
    assert len({tuple(row) for row in box_corners(corners)}) == 2**dimension
    edges = box_edges(corners)
    lengths = np.abs(edges[:, 0] - edges[:, 1]).sum(axis=1)
    assert sorted(lengths) == sorted([*range(1, dimension + 1)] * 2 ** (dimension - 1))


def test_edges_of_a_box_that_is_near() -> None:
    room = np.array([[-0.2, -0.2, 0], [1.2, 1.2, 2.5]])
    np.testing.assert_array_equal(near_edges(room, SHOWN), box_edges(room))


def test_a_tall_box_ends_where_nothing_is() -> None:
    edges = near_edges(np.array([[0.0, 0, 0], [1, 1, 50]]), SHOWN)
    assert len(edges) == 8  # around the floor, and upwards
    assert edges[:, :, 2].max() == 2
    upright = edges[edges[:, 0, 2] != edges[:, 1, 2]]
    assert len(upright) == 4


def test_a_box_far_away_and_one_that_repeats() -> None:
    wide = np.array([[-50.0, -50, -50], [50, 50, 50]])
    assert len(near_edges(wide, SHOWN)) == 0
    np.testing.assert_array_equal(near_edges(wide, SHOWN, True), box_edges(wide))
    assert len(near_edges(wide, SHOWN, [True, True, False])) == 4
