"""The public side: shapes, errors, examples, lazy import."""

import doctest
import subprocess
import sys

import numpy as np
import pytest

from impinge import exact
from impinge.errors import InputError
from impinge.exact import predicates


def test_examples():
    assert doctest.testmod(predicates).failed == 0


@pytest.mark.parametrize("shape", [(3,), (1, 3), (5, 3)])
def test_single_rows_serve_all(shape):
    rng = np.random.default_rng(0)
    a, b, c = rng.random((3, 5, 3))
    d = np.broadcast_to(rng.random(shape), (5, 3))
    single = d[0] if shape == (3,) else d[: shape[0]]
    full = exact.orient3d(a, b, c, d)
    assert full.dtype == np.int8
    assert (exact.orient3d(a, b, c, single) == full).all()
    inside = exact.segment_triangle(a, single, a, b, c)
    assert inside.dtype == np.bool_
    assert inside.all()


def test_one_row_and_none():
    assert exact.orient2d([0, 0], [1, 0], [0, 1]).tolist() == [1]
    assert exact.point_in_triangle([0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]).tolist() == [True]
    empty = np.empty((0, 3))
    assert exact.orient3d(empty, empty, empty, [0, 0, 0]).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0, 0], [1, 0], [0, np.nan]), "c: row 0 is not finite"),
        (([0, 0], [1, 0, 0], [0, 1]), r"b: found shape \(3,\)"),
        ((np.zeros((2, 2)), np.zeros((3, 2)), [0, 1]), "a, b, c: found a 2, b 3, c 1 rows"),
        ((["x", "y"], [1, 0], [0, 1]), "a: found text"),
    ],
)
def test_errors(arguments, words):
    with pytest.raises(InputError, match=words):
        exact.orient2d(*arguments)


def test_inputs_stay_untouched():
    a = np.zeros((4, 3), order="F")
    before = a.copy()
    exact.orient3d(a, [1, 0, 0], [0, 1, 0], [0, 0, 1])
    assert (a == before).all()


def test_import_is_lazy():
    code = "import sys, impinge; assert 'numba' not in sys.modules; impinge.exact.orient2d"
    subprocess.run([sys.executable, "-c", code], check=True)
