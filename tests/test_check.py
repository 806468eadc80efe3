"""The validator: what it accepts, and what it says about the rest."""

from __future__ import annotations

import numpy as np
import pytest

from impinge import _check
from impinge.errors import ImpingeError, InputError

NAN, INF = np.nan, np.inf
GOOD = np.arange(12.0).reshape(4, 3)


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


GOOD_VECTORS = {
    "float64": GOOD,
    "float32": GOOD.astype(np.float32),
    "float16": GOOD.astype(np.float16),
    "longdouble": GOOD.astype(np.longdouble),
    "int64": GOOD.astype(np.int64),
    "uint8": GOOD.astype(np.uint8),
    "big-endian": GOOD.astype(">f8"),
    "Fortran": np.asfortranarray(GOOD),
    "strided": np.repeat(GOOD, 2, axis=0)[::2],
    "columns of more": np.column_stack([GOOD, GOOD])[:, :3],
    "reversed": GOOD[::-1][::-1],
    "read-only": frozen(GOOD),
    "list": GOOD.tolist(),
    "tuple": tuple(map(tuple, GOOD.tolist())),
    "list of arrays": list(GOOD),
    "memory view": memoryview(GOOD),
}


@pytest.mark.parametrize("value", GOOD_VECTORS.values(), ids=GOOD_VECTORS)
def test_vectors_accepts(value):
    before = np.array(value)
    result = _check.vectors("points", value)
    assert result.dtype == np.float64
    assert result.flags.c_contiguous
    assert not result.flags.writeable
    np.testing.assert_array_equal(result, GOOD)
    np.testing.assert_array_equal(np.array(value), before)


def test_vectors_does_not_copy_without_need():
    assert np.shares_memory(_check.vectors("points", GOOD), GOOD)
    assert GOOD.flags.writeable


@pytest.mark.parametrize("value", [[], np.empty((0, 3)), np.empty(0), np.empty((0, 3), np.float32), [[]]])
def test_vectors_accepts_none(value):
    result = _check.vectors("points", value)
    assert result.shape == (0, 3)
    assert result.dtype == np.float64


def test_vectors_of_huge_numbers():
    """Their sum overflows, but they are finite."""
    assert len(_check.vectors("points", np.full((5, 3), 1e308))) == 5
    assert len(_check.vectors("points", np.full((5, 3), 5e-324))) == 5


BAD_VECTORS = {
    "nan": ([[0, 1, 2], [0, NAN, 1]], r"points: row 1 is not finite \(0.0, nan, 1.0\)"),
    "inf": ([[0, 1, 2], [0, 0, 1], [INF, 0, 0]], r"points: row 2 is not finite \(inf, 0.0, 0.0\)"),
    "-inf": ([[-INF, INF, 2]], r"points: row 0 is not finite \(-inf, inf, 2.0\)"),
    "two rows": ([[NAN, 0, 0], [0, 0, 0], [0, 0, NAN]], "points: row 0 is not finite .*2 such rows"),
    "float32 nan": (np.full((2, 3), NAN, np.float32), "points: row 0 is not finite"),
    "too long for a double": (np.full((1, 3), np.finfo(np.longdouble).max), "points: row 0 is not finite"),
    "one point": ([1.0, 2.0, 3.0], r"points: found shape \(3,\), expected .*\(n, 3\); pass points\[None\]"),
    "two columns": (np.zeros((5, 2)), r"points: found shape \(5, 2\), expected numbers of shape \(n, 3\)"),
    "transposed": (np.zeros((3, 5)), r"points: found shape \(3, 5\), expected numbers of shape \(n, 3\)"),
    "three axes": (np.zeros((2, 3, 3)), r"points: found shape \(2, 3, 3\)"),
    "number": (1.0, r"points: found shape \(\), expected"),
    "none": (None, "points: found objects"),
    "text": ([["1", "2", "3"]], r"points: found text of shape \(1, 3\)"),
    "word": ("points", r"points: found text of shape \(\)"),
    "bytes": (np.zeros((1, 3), "S2"), "points: found bytes"),
    "booleans": (np.zeros((1, 3), bool), "points: found booleans"),
    "complex": (np.zeros((1, 3), complex), "points: found complex numbers"),
    "dates": (np.zeros((1, 3), "M8[s]"), "points: found datetime64"),
    "objects": (np.array([[1, 2, None]], object), "points: found objects"),
    "dictionary": ({"x": 1}, "points: found objects"),
    "ragged": ([[1, 2, 3], [4, 5]], "points: found something that is not an array"),
    "records": (np.zeros(3, [("x", float)]), "points: found"),
}


@pytest.mark.parametrize(("value", "message"), BAD_VECTORS.values(), ids=BAD_VECTORS)
def test_vectors_refuses(value, message):
    with pytest.raises(InputError, match=f"^{message}") as caught:
        _check.vectors("points", value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, ImpingeError)
    assert "\n" not in str(caught.value)


FACES = np.array([[0, 1, 2], [2, 1, 3]])
GOOD_TRIPLES = {
    "int64": FACES,
    "int32": FACES.astype(np.int32),
    "uint8": FACES.astype(np.uint8),
    "uint64": FACES.astype(np.uint64),
    "big-endian": FACES.astype(">i4"),
    "Fortran": np.asfortranarray(FACES),
    "strided": np.repeat(FACES, 2, axis=0)[::2],
    "read-only": frozen(FACES),
    "list": FACES.tolist(),
}


@pytest.mark.parametrize("value", GOOD_TRIPLES.values(), ids=GOOD_TRIPLES)
def test_indices_accepts(value):
    result = _check.indices("faces", value, 3, 4, "vertices")
    assert result.dtype == np.int32
    assert result.flags.c_contiguous
    np.testing.assert_array_equal(result, FACES)


def test_indices_accepts_none():
    assert _check.indices("faces", [], 3, 4, "vertices").shape == (0, 3)


BAD_TRIPLES = {
    "floats": (FACES.astype(float), r"faces: found float64, expected integers of shape \(m, 3\)"),
    "quads": (np.zeros((2, 4), int), r"faces: found shape \(2, 4\)"),
    "one face": ([0, 1, 2], r"faces: found shape \(3,\), .*pass faces\[None\]"),
    "too high": (
        [[0, 1, 2], [1, 2, 4]],
        r"faces: row 1 is \(1, 2, 4\), expected indices from 0 to 3 into vert",
    ),
    "negative": ([[0, 1, 2], [1, -1, 0]], r"faces: row 1 is \(1, -1, 0\), expected indices from 0 to 3"),
    "huge": (np.array([[0, 1, 2**63]], np.uint64), r"faces: row 0 is \(0, 1, 9223372036854775808\)"),
    "text": ([["a", "b", "c"]], "faces: found text"),
    "objects": (np.array([[0, 1, None]], object), "faces: found objects"),
    "booleans": (np.zeros((1, 3), bool), "faces: found booleans"),
    "ragged": ([[0, 1, 2], [3]], "faces: found something that is not an array"),
}


@pytest.mark.parametrize(("value", "message"), BAD_TRIPLES.values(), ids=BAD_TRIPLES)
def test_indices_refuses(value, message):
    with pytest.raises(InputError, match=f"^{message}"):
        _check.indices("faces", value, 3, 4, "vertices")


@pytest.mark.parametrize(
    ("check", "good", "result"),
    [
        (lambda v: _check.vector("up", v).tolist(), [0, 0, 1], [0.0, 0.0, 1.0]),
        (lambda v: _check.vector("up", v).tolist(), np.float32([1, 2, 3]), [1.0, 2.0, 3.0]),
        (lambda v: _check.positive("radius", v), 2, 2.0),
        (lambda v: _check.positive("radius", v), np.float32(0.5), 0.5),
        (lambda v: _check.integer("level", v, 0, 9), np.int8(9), 9),
        (lambda v: _check.integer("level", v, 0), 10**12, 10**12),
        (lambda v: _check.choice("method", v, ["ray", "octree"]), "ray", "ray"),
        (lambda v: _check.truth("closed", v), np.True_, True),
    ],
)
def test_scalars_accept(check, good, result):
    assert check(good) == result


@pytest.mark.parametrize(
    ("check", "bad", "message"),
    [
        (lambda v: _check.vector("up", v), [0, 1], r"up: found \[0, 1\], expected 3 finite numbers"),
        (lambda v: _check.vector("up", v), [0, 1, NAN], "up: found"),
        (lambda v: _check.vector("up", v), "abc", "up: found"),
        (lambda v: _check.positive("radius", v), 0, "radius: found 0, expected a number above 0"),
        (lambda v: _check.positive("radius", v), -1.0, "radius: found -1.0"),
        (lambda v: _check.positive("radius", v), NAN, "radius: found nan"),
        (lambda v: _check.positive("radius", v), INF, "radius: found inf"),
        (lambda v: _check.positive("radius", v), "wide", "radius: found 'wide'"),
        (lambda v: _check.positive("radius", v), None, "radius: found None"),
        (lambda v: _check.integer("level", v, 0, 9), 10, "level: found 10, expected an integer from 0 to 9"),
        (lambda v: _check.integer("level", v, 0), -1, "level: found -1, expected an integer of at least 0"),
        (lambda v: _check.integer("level", v, 0), 1.0, "level: found 1.0"),
        (lambda v: _check.integer("level", v, 0), "1", "level: found '1'"),
        (
            lambda v: _check.choice("method", v, ["ray", "octree"]),
            "sun",
            "method: found 'sun', .*ray, octree",
        ),
        (lambda v: _check.choice("method", v, ["ray"]), None, "method: found None, expected one of ray"),
        (lambda v: _check.choice("method", v, ["ray"]), ["ray"], r"method: found \['ray'\]"),
        (lambda v: _check.truth("closed", v), "no", "closed: found 'no', expected True or False"),
        (lambda v: _check.truth("closed", v), 1, "closed: found 1, expected"),
    ],
)
def test_scalars_refuse(check, bad, message):
    with pytest.raises(InputError, match=f"^{message}"):
        check(bad)


def test_masked_arrays():
    masked = np.ma.masked_array(np.zeros((2, 3)), mask=[[0, 0, 0], [1, 0, 0]])
    with pytest.raises(InputError, match="points: found a masked array"):
        _check.vectors("points", masked)
    assert _check.vectors("points", np.ma.masked_array(np.ones((2, 3)))).sum() == 6
