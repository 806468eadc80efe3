"""Planes in pictures."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.output.planes import near_part, part_in_box, planes_seen

BOX = np.array([[0.0, 0, 0], [2, 1, 1]])


def test_a_floor_at_the_side_of_a_box() -> None:
    part = part_in_box(BOX, [5, 5, 0], [0, 0, 3], 1.1)
    assert part is not None
    rim, faces = part
    assert rim.min(axis=0) == pytest.approx([-0.1, -0.05, 0])
    assert rim.max(axis=0) == pytest.approx([2.1, 1.05, 0])
    normals = np.cross(rim[faces[:, 1]] - rim[faces[:, 0]], rim[faces[:, 2]] - rim[faces[:, 0]])
    assert normals.sum(axis=0) == pytest.approx([0, 0, 2 * 2.2 * 1.1])


def test_planes_elsewhere_are_not_drawn() -> None:
    assert part_in_box(BOX, [0, 0, -1], [0, 0, 1], 1.1) is None


def test_a_corner_that_is_cut_off() -> None:
    part = part_in_box(BOX, [0, 0, 0.5], [1, 1, 1], 1.0)
    assert part is not None
    assert len(part[0]) == 3


def test_what_the_eye_sees() -> None:
    floor, lid = ([0, 0, 0], [0, 0, 1]), ([0, 0, 1], [0, 0, -1])
    for elevation, height in ((20.0, 0.0), (-20.0, 1.0)):
        (mesh,) = planes_seen([floor, lid], BOX, (-60.0, elevation))
        assert mesh.vertices[:, 2] == pytest.approx(np.full(4, height))
    assert planes_seen([floor], None, (-60.0, 20.0)) == []


def test_a_floor_below_what_is_shown() -> None:
    """Up to half the size of what is shown away, as wide as what is shown."""
    near = near_part(BOX, [0, 0, -0.9], [0, 0, 1])
    assert near is not None
    assert near[0][:, 2] == pytest.approx(np.full(4, -0.9))
    assert np.ptp(near[0], axis=0) == pytest.approx([2.16, 1.08, 0])
    assert near_part(BOX, [0, 0, -1.1], [0, 0, 1]) is None
    (slope,) = planes_seen([([0, 0, -0.7], [0, -0.6, 0.8])], BOX, (-60.0, 20.0))
    assert (slope.vertices - [0, 0, -0.7]) @ [0, -0.6, 0.8] == pytest.approx(np.zeros(len(slope.vertices)))
    assert np.ptp(slope.vertices[:, 0]) == pytest.approx(2.16)


def test_planes_that_cut_what_is_shown_are_not_moved() -> None:
    np.testing.assert_array_equal(
        near_part(BOX, [0, 0, 0.3], [1, 0, 2])[0], part_in_box(BOX, [0, 0, 0.3], [1, 0, 2], 1.08)[0]
    )  # type: ignore[index]
