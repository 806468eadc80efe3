"""What a quadratic program is: checked, and with unknowns that equalities fix taken out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from impinge import _check
from impinge.errors import InputError
from impinge.response.qp import _banded, _points, _rows
from impinge.response.qp.solution import Residuals

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Kinds = NDArray[np.int8]
_CANCELLED = 1e-6  # of the size that unknowns have by themselves: less is what cancellation leaves
_NOTHING = np.empty(0, np.int64)
_SMALLEST, _LARGEST = 1e-100, 1e100  # of the largest entries of K, and of rows: products of three have to be numbers
_LARGEST_ASYMMETRY = 1e-9  # of √(K_ii K_jj); more is not rounding
_MOST_ENTRIES = int(np.iinfo(np.int32).max)


class Measured(NamedTuple):
    """What is known about a point with multipliers."""

    residuals: Residuals
    objective: float
    aim: float  # the largest residual with next to no allowance for rounding, which is not always to be had


@dataclass
class Program:
    """Minimise ½ xᵀKx − bᵀx such that the rows' values J x − c are ≤ 0, or = 0 where they are free.

    indptr, indices, values : columns of K, both triangles
    rows : (indptr, indices, values) of the equalities, then of the inequalities
    free : (rows,) int8, 1 for equalities, 0 for inequalities
    """

    indptr: Ints
    indices: Ints
    values: Floats
    right: Floats
    rows: tuple[Ints, Ints, Floats]
    bounds: Floats
    free: Kinds
    roots: Floats = field(init=False)  # √K_jj
    size: float = field(init=False)  # √K_jj |x_j| below this is what cancellation leaves
    _last: tuple[Floats, Floats, Measured] | None = field(init=False, default=None)  # what was measured last

    def __post_init__(self) -> None:
        self.indptr, self.indices = _check.frozen(self.indptr), _check.frozen(self.indices)
        self.values, self.right = _check.frozen(self.values), _check.frozen(self.right)
        self.bounds = _check.frozen(self.bounds)
        self.rows = _check.frozen(self.rows[0]), _check.frozen(self.rows[1]), _check.frozen(self.rows[2])
        self.roots = np.empty(len(self.right))
        self.size = _CANCELLED * _rows.take_roots(self.indptr, self.indices, self.values, self.right, self.roots)

    @cached_property
    def bandwidth(self) -> int:
        """Largest distance of unknowns that K or a row couples."""
        return int(_banded.bandwidth(self.indptr, self.indices, *self.rows[:2]))

    @cached_property
    def band(self) -> Floats:
        """K as a band (`_banded.room`)."""
        band = _banded.room(len(self.right), self.bandwidth)
        _banded.assemble(self.indptr, self.indices, self.values, band)
        return band

    def times(self, x: Floats) -> Floats:
        """K x."""
        out = np.empty(len(x))
        _rows.times_symmetric(self.indptr, self.indices, self.values, x, out)
        return out

    def row_values(self, x: Floats) -> Floats:
        """J x − c."""
        out = np.empty(len(self.bounds))
        _rows.values_of_rows(*self.rows, self.bounds, x, out)
        return out

    def row_scale(self, x: Floats, row: int) -> float:
        """What the value of a row is compared with."""
        indptr, indices, values = self.rows
        sizes = np.empty(len(x))
        _rows.sizes_of_unknowns(self.roots, self.size, x, sizes)
        return max(_rows.scales_of_row(indices, values, self.bounds[row], x, sizes, indptr[row], indptr[row + 1]))

    def from_rows(self, y: Floats) -> Floats:
        """Jᵀ y."""
        out = np.zeros(len(self.right))
        _rows.add_rows(*self.rows, y, 1.0, out)
        return out

    @property
    def arrays(self) -> tuple[Ints, Ints, Floats, Floats, Ints, Ints, Floats, Floats, Floats, float]:
        """What the kernels of `_points` begin with."""
        return self.indptr, self.indices, self.values, self.right, *self.rows, self.bounds, self.roots, self.size

    def measure(self, x: Floats, multipliers: Floats) -> Measured:
        """How good a point with multipliers is; the same arrays, unchanged, are not measured twice."""
        if self._last is None or self._last[0] is not x or self._last[1] is not multipliers:
            *residuals, objective, aim = _points.measure(self.arrays, self.free, x, multipliers)
            self._last = x, multipliers, Measured(Residuals(*residuals), objective, aim)
        return self._last[2]


def is_finite(array: Floats) -> bool:
    """Whether all numbers are finite."""
    return bool(_rows.largest(_check.frozen(np.ascontiguousarray(array))) < np.inf)


def _number_of_unknowns(K: Any) -> int:
    shape = getattr(K, "shape", None) if sp.issparse(K) else np.shape(K)
    if shape is None or len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise InputError(f"K: found shape {shape}, expected a square matrix of at least one row")
    return int(shape[0])


class _Entries(NamedTuple):
    """A sparse matrix, by columns or by rows."""

    indptr: Ints
    indices: Ints
    values: Floats


_NO_ROWS = _Entries(np.zeros(1, np.int32), np.empty(0, np.int32), np.empty(0))


def _canonical(name: str, value: Any, shape: tuple[int | None, int], kind: str) -> _Entries:
    """A sparse matrix of finite float64 with sorted indices of int32, summed up; a copy only if it has to."""
    wanted = f"a real matrix of shape ({'any' if shape[0] is None else shape[0]}, {shape[1]})"
    if not sp.issparse(value):
        try:
            value = np.atleast_2d(np.asarray(value))
        except ValueError as error:
            raise InputError(f"{name}: found something that is not a matrix ({error}), expected {wanted}") from None
        if value.size == 0 and shape[0] is None:
            value = np.zeros((0, shape[1]))
        if value.ndim != 2 or value.dtype.kind not in "fiub":
            raise InputError(f"{name}: found {value.dtype} of shape {value.shape}, expected {wanted}")
    if value.dtype.kind not in "fiub":
        raise InputError(f"{name}: found entries of type {value.dtype}, expected {wanted}")
    if value.shape[1] != shape[1] or shape[0] not in (None, value.shape[0]):
        raise InputError(f"{name}: found shape {value.shape}, expected {wanted}")
    matrix = value
    if not sp.issparse(value) or value.format != kind or value.dtype != np.float64:
        matrix = (sp.csc_array if kind == "csc" else sp.csr_array)(value, dtype=np.float64)
    indptr, indices, values = matrix.indptr, matrix.indices, matrix.data
    if len(indices) > indptr[-1]:  # SciPy allows for arrays with room to spare
        indices, values = indices[: indptr[-1]], values[: indptr[-1]]
    if len(indices) > _MOST_ENTRIES:
        raise InputError(f"{name}: found {len(indices)} entries, expected at most {_MOST_ENTRIES}")
    indptr, indices = indptr.astype(np.int32, copy=False), indices.astype(np.int32, copy=False)
    if not matrix.has_canonical_format:
        indices, values = indices.copy(), values.copy()
        if not _rows.sort_rows(_check.frozen(indptr), indices, values):
            matrix = matrix.copy()
            matrix.sum_duplicates()
            indptr, indices, values = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data
    if not is_finite(values):
        e = int(np.flatnonzero(~np.isfinite(values))[0])
        at = int(np.searchsorted(indptr, e, side="right")) - 1
        row, column = (indices[e], at) if kind == "csc" else (at, indices[e])
        raise InputError(f"{name}: entry ({row}, {column}) is {values[e]}, expected finite numbers")
    return _Entries(_check.frozen(indptr), _check.frozen(indices), _check.frozen(values))


def _vector(name: str, value: Any, length: int, *, infinite: bool = False) -> Floats:
    array = _check.numbers(name, value, f"{length} numbers").astype(np.float64, copy=False)
    if array.shape != (length,):
        raise InputError(f"{name}: found shape {array.shape}, expected ({length},)")
    if is_finite(array):
        return array
    bad = ~np.isfinite(array) & (array != np.inf) if infinite else ~np.isfinite(array)
    if bad.any():
        k = int(np.flatnonzero(bad)[0])
        raise InputError(f"{name}: entry {k} is {array[k]}, expected a finite number{' or inf' * infinite}")
    return array


class Infeasible(Exception):
    """The multipliers prove that nothing satisfies all rows."""

    def __init__(self, multipliers: Floats) -> None:
        super().__init__()
        self.multipliers = multipliers


def read_program(K: Any, b: Any, J: Any, c: Any, E: Any, e: Any) -> Program:
    """Check the arguments of `solve_qp`."""
    n = _number_of_unknowns(K)
    matrix = _canonical("K", K, (n, n), "csc")
    if not _rows.is_symmetric(*matrix, n, _LARGEST_ASYMMETRY):
        matrix = _symmetric(matrix, n)
    for names, rows, bounds in ((("J", "c"), J, c), (("E", "e"), E, e)):
        if (rows is None) != (bounds is None):
            given, missing = names if bounds is None else names[::-1]
            raise InputError(f"{missing}: expected together with {given}, found None")
    equalities, inequalities = (
        _NO_ROWS if rows is None else _canonical(name, rows, (None, n), "csr") for name, rows in (("E", E), ("J", J))
    )
    count = len(equalities.indptr) - 1
    all_rows = count + len(inequalities.indptr) - 1
    bounds = np.empty(all_rows)
    bounds[:count] = 0 if e is None else _vector("e", e, count)
    bounds[count:] = 0 if c is None else _vector("c", c, all_rows - count, infinite=True)
    free = np.zeros(all_rows, np.int8)
    free[:count] = 1
    indptr, indices, values = _stacked(equalities, inequalities)
    if not is_finite(bounds):  # rows that say nothing
        endless = np.isinf(bounds)
        values = values.copy()
        values[np.repeat(endless, np.diff(indptr))] = 0.0
        bounds[endless] = 0.0
    right = _vector("b", b, n)
    program = Program(*matrix, right, (indptr, indices, values), bounds, free)
    _check_range(program)
    return program


def _check_range(program: Program) -> None:
    """Raise an error for numbers whose products, or those of their reciprocals, would be none."""
    wanted = f"{_SMALLEST:g} to {_LARGEST:g}, in other units"
    largest = _rows.largest(program.values)
    if 0 < largest < _SMALLEST or largest > _LARGEST:
        raise InputError(f"K: found entries of at most {largest:g}, expected {wanted}")
    count, (indptr, _, values) = int(program.free.sum()), program.rows
    sizes = np.abs(values)
    if ((sizes > _LARGEST) | ((sizes > 0) & (sizes < _SMALLEST))).any():
        most = np.zeros(len(program.bounds))
        np.maximum.at(most, np.repeat(np.arange(len(most)), np.diff(indptr)), sizes)
        wrong = np.flatnonzero((most > _LARGEST) | ((most > 0) & (most < _SMALLEST)))
        if len(wrong):
            where = f"E: row {wrong[0]}" if wrong[0] < count else f"J: row {wrong[0] - count}"
            raise InputError(f"{where} has entries of at most {most[wrong[0]]:g}, expected {wanted}")
    for name, vector in (("b", program.right), ("e", program.bounds[:count]), ("c", program.bounds[count:])):
        if _rows.largest(vector) > _LARGEST:
            worst = int(np.abs(vector).argmax())
            found = f"{name}: entry {worst} is {vector[worst]:g}"
            raise InputError(f"{found}, expected at most {_LARGEST:g}, in other units")


def _symmetric(matrix: _Entries, n: int) -> _Entries:
    """A matrix without what rounding has left of asymmetry in it; an error if that is more."""
    worst, i, j, same = _rows.asymmetry(*matrix, n)
    whole = sp.csc_array((matrix.values, matrix.indices, matrix.indptr), shape=(n, n))
    if worst > _LARGEST_ASYMMETRY:
        found = f"entries ({i}, {j}) and ({j}, {i}) are {whole[i, j]:g} and {whole[j, i]:g}"
        raise InputError(f"K: {found}, expected a symmetric matrix")
    return matrix if same else _canonical("K", (whole + whole.T) * 0.5, (n, n), "csc")


def _stacked(equalities: _Entries, inequalities: _Entries) -> _Entries:
    """Rows of one matrix above those of another."""
    if len(equalities.indptr) == 1:
        return inequalities
    return _Entries(
        np.concatenate([equalities.indptr, inequalities.indptr[1:] + equalities.indptr[-1]]),
        np.concatenate([equalities.indices, inequalities.indices]),
        np.concatenate([equalities.values, inequalities.values]),
    )


class Fixed:
    """Unknowns that single equalities fix: x_j = e / E_j."""

    def __init__(self, program: Program) -> None:
        indptr, indices, values = program.rows
        self.rows, self.unknowns = _NOTHING, _NOTHING
        self.x = np.zeros(len(program.right))
        if not len(program.free) or not program.free[0]:  # equalities come first
            return
        single = np.flatnonzero((np.diff(indptr) == 1) & (program.free == 1))
        single = single[values[indptr[single]] != 0]
        unknowns, first = np.unique(indices[indptr[single]], return_index=True)
        self.rows, self.unknowns = single[first], unknowns
        self.factors = values[indptr[self.rows]]
        self.x[unknowns] = program.bounds[self.rows] / self.factors
        self._mask = np.zeros(len(program.right), np.bool_)
        self._mask[unknowns] = True

    def reduce(self, program: Program) -> Program:
        """The program of what is left; its rows keep their numbers, those that only fix an unknown become 0 = 0."""
        if not len(self.unknowns):
            return program
        values, right = np.empty_like(program.values), program.right.copy()
        _rows.fix(program.indptr, program.indices, program.values, self._mask, self.x, right, values)
        factors, bounds = np.empty_like(program.rows[2]), program.bounds.copy()
        _rows.fix_rows(*program.rows, self._mask, self.x, bounds, factors)
        bounds[self.rows] = 0.0
        rows = *program.rows[:2], factors
        result = Program(program.indptr, program.indices, values, right, rows, bounds, program.free)
        result.size = max(program.size, _CANCELLED * _rows.energy_size(program.roots, self.x))
        return result

    def complete(self, multipliers: Floats, rest: Floats) -> None:
        """Multipliers of the rows that fix, such that Jᵀμ has the rest, too."""
        if len(self.rows):
            multipliers[self.rows] = rest[self.unknowns] / self.factors
