"""Whole meshes before the exact judge."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.ccd import judge
from impinge.ccd.judge import exact_is_free, first_time
from impinge.errors import InputError

SQUARE = [[0, 1, 2], [0, 2, 3]]


def sheet(height):
    return np.array([[0, 0, height], [1, 0, height], [1, 1, height], [0, 1, height]], float)


def test_sheets_that_pass_through_each_other():
    faces = [*SQUARE, [4, 5, 6], [4, 6, 7]]
    x0 = np.concatenate([sheet(0), sheet(1) + [0.3, 0.2, 0]])
    x1 = np.concatenate([sheet(0), sheet(-1) + [0.3, 0.2, 0]])
    up = np.concatenate([sheet(0), sheet(0.5) + [0.3, 0.2, 0]])
    assert not exact_is_free(x0, x1, None, faces)
    assert not exact_is_free(x1, x0, None, faces)
    assert exact_is_free(x0, up, None, faces)
    assert exact_is_free(x0, up, None, faces, gap=np.nextafter(0.5, 0))
    assert not exact_is_free(x0, up, None, faces, gap=0.5)
    assert not exact_is_free(x0, x1, [[0, 1], [1, 2], [4, 5]], None)  # edges alone
    assert exact_is_free(x0, x1, [[0, 1], [2, 3]], None)


def test_neighbours_do_not_count():
    bent, folded = sheet(0), sheet(0)
    bent[3] = 0.5, 0.5, 0.5
    folded[3] = folded[1]
    assert exact_is_free(sheet(0), bent, None, SQUARE)
    assert not exact_is_free(bent, folded, None, SQUARE)  # the two vertices that are not shared meet
    assert not exact_is_free(sheet(0), sheet(0), [[0, 2], [1, 3]], None)  # the two diagonals


def test_in_the_plane():
    line = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [1, 1]], float)
    links = [[0, 1], [1, 2], [2, 3], [3, 4]]
    down = line + [[0, 0], [0, 0], [0, 0], [0, 0], [0, -2]]
    assert exact_is_free(line, line, links, None)
    assert not exact_is_free(line, down, links, None)
    assert exact_is_free(line, line, links, None, gap=np.nextafter(1, 0))
    assert not exact_is_free(line, line, links, None, gap=1.0)


@pytest.mark.parametrize("height", [-1.0, 1.0])
def test_contact_at_one_end_of_the_step(height):
    segment = [[-1.0, 0.0], [1.0, 0.0]]
    touching, apart = np.array([[0.0, 0.0], *segment]), np.array([[0.0, height], *segment])
    assert not exact_is_free(touching, apart, [[1, 2]], None)
    assert not exact_is_free(apart, touching, [[1, 2]], None)
    assert not exact_is_free(apart, -apart, [[1, 2]], None)
    assert exact_is_free(apart, 2 * apart, [[1, 2]], None)


@pytest.mark.parametrize("at", [0.0, 1.0, -1.0, 1e300])
@pytest.mark.parametrize("side", [-1, 1])
def test_gap_is_not_lost_to_rounding(at, side):
    """Gaps that are just wide enough, or just not, and that vanish in the last digits of the coordinates."""
    x = np.array([[np.nextafter(at, side * np.inf), 0.0], [at, -1.0], [at, 1.0]])
    gap = abs(x[0, 0] - at)
    assert not exact_is_free(x, x, [[1, 2]], None, gap=gap)
    assert exact_is_free(x, x, [[1, 2]], None, gap=np.nextafter(gap, 0))
    assert not exact_is_free(x, x, [[1, 2]], None, gap=1.7e308)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.125]), st.sampled_from([1, 7, 1 << 22]))
def test_meshes_against_all_pairs(seed, gap, at_once):
    rng = np.random.default_rng(seed)
    x0 = rng.integers(-8, 9, (7, 3)) / 4
    x1 = x0 + rng.integers(-1, 2, (7, 3)) / 4
    faces = [[0, 1, 2], [3, 4, 5]]
    links = [[0, 1], [0, 2], [1, 2], [3, 4], [3, 5], [4, 5]]
    wanted = not any(
        first_time("vertex_triangle", x0[[v, *face]], x1[[v, *face]], gap)
        for v in range(7)
        for face in faces
        if v not in face
    ) and not any(
        first_time("edge_edge", x0[[*a, *b]], x1[[*a, *b]], gap) for a, b in combinations(links, 2) if not {*a} & {*b}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge, "_PAIRS_AT_ONCE", at_once)
        assert exact_is_free(x0, x1, None, faces, gap=gap) == wanted
        assert exact_is_free(x0, x1, links, faces, gap=gap) == wanted


def test_empty_meshes_are_free():
    assert exact_is_free(np.empty((0, 3)), np.empty((0, 3)), [], [])
    assert exact_is_free(sheet(0), sheet(1), None, [])


@pytest.mark.parametrize(
    ("arguments", "gap", "message"),
    [
        ((np.zeros((4, 3)), np.zeros((3, 3)), None, SQUARE), 0.0, "x1"),
        ((np.zeros((4, 3)), np.full((4, 3), np.nan), None, SQUARE), 0.0, "x1"),
        ((np.zeros((3, 3)), np.zeros((3, 3)), None, SQUARE), 0.0, "faces"),
        ((np.zeros((4, 2)), np.zeros((4, 2)), None, SQUARE), 0.0, "faces"),
        ((np.zeros((4, 3)), np.zeros((4, 3)), [[0, -1]], SQUARE), 0.0, "edges"),
        ((np.zeros((4, 3)), np.zeros((4, 3)), [[0.0, 1.0]], SQUARE), 0.0, "edges"),
        ((np.zeros((4, 3)), np.zeros((4, 3)), None, SQUARE), -1.0, "gap"),
    ],
)
def test_bad_meshes(arguments, gap, message):
    with pytest.raises(InputError, match=message):
        exact_is_free(*arguments, gap=gap)
