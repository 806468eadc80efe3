"""Frames: what is wrong with them is told, and values get to the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from impinge.errors import InputError
from impinge.output import SoftFrame
from impinge.output.softframe import body_names, join_data
from tests.output.softscenes import scene

SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]


def test_what_is_left_out() -> None:
    frame = SoftFrame(0, SQUARE)
    assert frame.faces.shape == (0, 3)
    assert frame.edges.shape == (0, 2)
    assert frame.radii.tolist() == [0.0] * 4
    assert frame.bodies.tolist() == [0] * 4
    assert not frame.obstacles
    assert SoftFrame(0, []).positions.shape == (0, 3)


def test_edges_of_open_and_closed_cables() -> None:
    frame = SoftFrame(0, SQUARE, cables=[[0, 1, 2, 0], [3, 2]])
    assert frame.edges.tolist() == [[0, 1], [1, 2], [2, 0], [3, 2]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"time": -1}, "time: found -1"),
        ({"positions": [[0, 0, np.nan]]}, "positions: row 0 is not finite"),
        ({"positions": [[0, 0]]}, r"positions: found shape \(1, 2\)"),
        ({"faces": [[0, 1, 4]]}, "faces: row 0 is"),
        ({"cables": [[0, 1], [0]]}, r"cables\[1\]: found shape \(1,\)"),
        ({"cables": [[0, 7]]}, r"cables\[0\]: row 1 is \(7\)"),
        ({"cables": [[[0, 1]]]}, r"cables\[0\]: found shape \(1, 2\)"),
        ({"cables": [[0.0, 1.0]]}, r"cables\[0\]: found float64"),
        ({"radii": -1.0}, "radii: row 0 is -1"),
        ({"radii": [1, 2]}, r"radii: found shape \(2,\)"),
        ({"bodies": [0, 1]}, r"bodies: found int64 of shape \(2,\)"),
        ({"bodies": [0, 1, 0, 4]}, "bodies: row 3 is 4"),
        ({"bodies": [0, -1, 0, 0]}, "bodies: row 1 is -1"),
        ({"bodies": [0.0, 1, 2, 3]}, "bodies: found float64"),
        ({"point_data": {"v": [1]}}, "v: found int64 of shape"),
        ({"point_data": {"body": [1] * 4}}, "'body', which is written anyway"),
        ({"edge_data": {"v": [1]}}, "a row for each of edges of cables"),
        ({"face_data": {"v": [1]}}, "a row for each of faces"),
        ({"obstacles": ["a"]}, r"obstacles\[0\]"),
        (
            {"faces": [[0, 1, 2]], "cables": [[0, 1]], "edge_data": {"v": [1]}, "face_data": {"v": [[1, 2, 3]]}},
            "edge_data: found 'v' of columns",
        ),
    ],
)
def test_bad_frames(content: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SoftFrame(**{"time": 0.0, "positions": SQUARE, **content})


def test_values_at_nodes() -> None:
    frame = SoftFrame(
        0, [*SQUARE, [5, 5, 5]], [[0, 1, 2]], [[2, 3]], 0.5, point_data={"velocity": np.full((5, 3), 2.0)},
        edge_data={"strain": [4.0]}, face_data={"strain": [1.0], "bend": [7]},
    )  # fmt: skip
    np.testing.assert_array_equal(frame.node_values("strain"), [1, 1, 2.5, 4, np.nan])
    np.testing.assert_array_equal(frame.node_values("bend"), [7, 7, 7, np.nan, np.nan])
    np.testing.assert_allclose(frame.node_values("velocity"), 2 * np.sqrt(3))
    np.testing.assert_array_equal(frame.node_values("radius"), [0.5] * 5)
    np.testing.assert_array_equal(frame.node_values("body"), [0] * 5)
    with pytest.raises(InputError, match=r"'stress', expected one of radius, body, velocity, strain, bend"):
        frame.node_values("stress")


def test_names_of_bodies() -> None:
    frame = scene()
    assert body_names(frame, []) == ["body_0", "body_1", "body_2"]
    assert body_names(frame, ["a b", "a b"]) == ["a_b", "a_b_1", "body_2"]
    assert body_names(frame, ["", "x", "y", "more"]) == ["body_0", "x", "y"]
    assert body_names(SoftFrame(0, []), ["x"]) == []


def test_joined_data() -> None:
    both = join_data({"a": np.array([1, 2])}, {"a": np.array([3]), "b": np.ones((1, 3))}, (2, 1))
    assert both["a"].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(both["b"], [[np.nan] * 3, [np.nan] * 3, [1] * 3])
    alone = join_data({"a": np.array([1, 2])}, {}, (2, 0))
    assert alone["a"].dtype == np.int64
