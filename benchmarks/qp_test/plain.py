"""Part "plain": K alone factorised and solved for one right side, by impinge and by sparse solvers of others."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from scipy.linalg import solveh_banded

from benchmarks import command
from benchmarks.qp_test import ours
from benchmarks.qp_test.problems import Floats, Program, cable
from benchmarks.qp_test.race import Entry, race
from benchmarks.qp_test.sizes import Sizes
from benchmarks.report import progress

_Row = dict[str, Any]
_CG_TOL = 1e-8  # relative residual
_WIDEST = 64  # of bands


class Plain:
    """One sparse solver; `prepare` makes its own types before the clock starts."""

    name: str
    package = "scipy"

    def version(self) -> str:
        return importlib.metadata.version(self.package)

    def suits(self, program: Program) -> bool:
        return True

    def prepare(self, program: Program) -> Callable[[], Floats]:
        raise NotImplementedError


class Splu(Plain):
    name = "SciPy splu"

    def prepare(self, program: Program) -> Callable[[], Floats]:
        K = sp.csc_matrix(program.K)
        options = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
        return lambda: spl.splu(K, **options).solve(program.b)


class Banded(Plain):
    name = "SciPy solveh_banded"

    def suits(self, program: Program) -> bool:
        return program.kind == "cable"

    def prepare(self, program: Program) -> Callable[[], Floats]:
        lower = sp.coo_matrix(sp.tril(program.K))
        width = int((lower.row - lower.col).max()) + 1
        if width > _WIDEST:
            raise RuntimeError(f"{width} bands")

        def solve() -> Floats:
            bands = np.zeros((width, len(program.b)))
            bands[lower.row - lower.col, lower.col] = lower.data
            found: Floats = solveh_banded(bands, program.b, lower=True, check_finite=False)
            return found

        return solve


class JacobiCG(Plain):
    name = f"SciPy CG, Jacobi, {_CG_TOL:.0e}"

    def prepare(self, program: Program) -> Callable[[], Floats]:
        K = sp.csr_matrix(program.K)

        def solve() -> Floats:
            inverse = sp.diags_array(1 / K.diagonal())
            found: Floats = spl.cg(K, program.b, rtol=_CG_TOL, maxiter=20_000, M=inverse)[0]
            return found

        return solve


class Qdldl(Plain):
    name = package = "qdldl"

    def __init__(self) -> None:
        import qdldl

        self._qdldl = qdldl

    def prepare(self, program: Program) -> Callable[[], Floats]:
        upper = sp.csc_matrix(sp.triu(program.K))
        return lambda: self._qdldl.Solver(upper, upper=True).solve(program.b)


class Cholespy(Plain):
    name = package = "cholespy"

    def __init__(self) -> None:
        import cholespy

        self._cholespy = cholespy

    def prepare(self, program: Program) -> Callable[[], Floats]:
        K = sp.csc_matrix(program.K)

        def solve() -> Floats:
            kind = self._cholespy.MatrixType.CSC
            solver = self._cholespy.CholeskySolverD(K.shape[0], K.indptr, K.indices, K.data, kind)
            found = np.zeros_like(program.b)
            solver.solve(program.b, found)
            return found

        return solve


class Cholmod(Plain):
    name, package = "CHOLMOD", "scikit-sparse"

    def __init__(self) -> None:
        from sksparse import cholmod

        self._cholmod = cholmod

    def prepare(self, program: Program) -> Callable[[], Floats]:
        K = sp.csc_matrix(program.K)
        return lambda: self._cholmod.cholesky(K)(program.b)


class Pardiso(Plain):
    name, package = "Pardiso", "pypardiso"

    def __init__(self) -> None:
        import pypardiso

        self._pypardiso = pypardiso

    def prepare(self, program: Program) -> Callable[[], Floats]:
        upper = sp.csr_matrix(sp.triu(program.K))
        definite = 2
        solver = self._pypardiso.PyPardisoSolver(mtype=definite)

        def solve() -> Floats:
            solver.free_memory(everything=True)
            solver.factorize(upper)
            found: Floats = solver.solve(upper, program.b)
            return found

        return solve


CLASSES: dict[str, type[Plain]] = {
    "splu": Splu, "banded": Banded, "jacobi-cg": JacobiCG, "qdldl": Qdldl, "cholespy": Cholespy, "cholmod": Cholmod,
    "pardiso": Pardiso,
}  # fmt: skip


def residual(program: Program, x: Floats) -> float:
    """The largest |Kx − b|, in the largest |b|."""
    return float(np.abs(program.K @ x - program.b).max() / np.abs(program.b).max())


def _trial(solver: Plain) -> None:
    program = cable(20)
    if residual(program, solver.prepare(program)()) > _CG_TOL * 10:
        raise RuntimeError("a cable of 20 nodes is solved wrongly")


def load() -> tuple[list[Plain], dict[str, str]]:
    """Solvers that are there, and for each other one the reason."""
    return command.load(CLASSES, CLASSES, _trial)


def _different(programs: Iterable[Callable[[], Program]]) -> Iterable[Program]:
    """One problem of each K."""
    seen = set()
    for make in programs:
        progress("plain: making a problem")
        program = make()
        if program.body not in seen:
            seen.add(program.body)
            yield program


def measure_plain(solvers: list[Plain], sizes: Sizes) -> list[_Row]:
    """One row per K and method."""
    rows: list[_Row] = []
    for program in _different(sizes.programs):
        entries = [Entry(ours.NAME, partial(ours.solve_plain, program), is_ours=True)]
        entries += [Entry(solver.name, solver.prepare(program)) for solver in solvers if solver.suits(program)]
        race(f"plain: {program.body}", entries, sizes.rounds, sizes.method_seconds)
        for entry in entries:
            left = None if entry.failure else residual(program, entry.result)
            about = {"body": program.body, "kind": program.kind, "unknowns": len(program.b), "entries": program.K.nnz}
            rows.append(about | entry.row() | {"residual": left})
    return rows
