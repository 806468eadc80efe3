"""Solvers of quadratic programs by others.

Each is imported when its class is called. Matrices come in its own types, made before the clock starts; what is timed
is set-up and solve, as K is another one in every step of time.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from benchmarks import command
from benchmarks.qp_test.accuracy import Answer, measure
from benchmarks.qp_test.problems import Floats, Program, cable

_FAR = 1e20  # as good as no bound, for those that have no infinity
_ACCEPTED = 1e-5  # of the trial


class Peer:
    """One solver; its subclasses say how it is called."""

    name: ClassVar[str]
    package: ClassVar[str]
    asked: ClassVar[str]  # tolerances, in its own words
    most_unknowns: ClassVar[float] = np.inf  # more take ten seconds and up, as seen once

    def __init__(self, limit: float) -> None:
        self._limit = limit  # s, where the solver can be told

    def version(self) -> str:
        return importlib.metadata.version(self.package)

    def prepare(self, program: Program) -> Any:
        """The problem in the solver's own types."""
        raise NotImplementedError

    def solve(self, prepared: Any) -> Any:
        """Set up and solve: what is timed."""
        raise NotImplementedError

    def answer(self, program: Program, solved: Any) -> Answer:
        """What it found, in our terms."""
        raise NotImplementedError


def _stacked(program: Program) -> tuple[Any, Floats, Floats]:
    """J above E, between bounds."""
    A = sp.csc_matrix(sp.vstack([program.J, program.E]))
    return A, np.concatenate([np.full(len(program.c), -np.inf), program.e]), np.concatenate([program.c, program.e])


def _split(program: Program, x: Any, multipliers: Any, note: str) -> Answer:
    """Multipliers of J, then of E."""
    found, m = np.array(multipliers, float), len(program.c)
    return Answer(np.array(x, float), found[:m], found[m:], note)


class Piqp(Peer):
    name, package, asked = "PIQP", "piqp", "eps_abs 1e-8, eps_rel 1e-9"

    def __init__(self, limit: float) -> None:
        import piqp

        super().__init__(limit)
        self._piqp = piqp

    def prepare(self, program: Program) -> Any:
        has_fixed = len(program.e) > 0
        E, e = (sp.csc_matrix(program.E), program.e) if has_fixed else (None, None)
        below = np.full(len(program.c), -np.inf)
        return sp.csc_matrix(program.K), -program.b, E, e, sp.csc_matrix(program.J), below, program.c

    def solve(self, prepared: Any) -> Any:
        solver = self._piqp.SparseSolver()
        solver.settings.verbose = False
        solver.settings.eps_abs, solver.settings.eps_rel = 1e-8, 1e-9
        solver.setup(*prepared)
        return solver.solve(), solver.result

    def answer(self, program: Program, solved: Any) -> Answer:
        status, result = solved
        mu = np.array(result.z_u) - np.array(result.z_l)
        nu = np.array(result.y).reshape(-1)[: len(program.e)]
        return Answer(np.array(result.x), mu, nu, f"{_word(status)}, {result.info.iter} iterations")


class Cvxopt(Peer):
    name, package, asked = "CVXOPT", "cvxopt", "abstol 1e-11, reltol 1e-11, feastol 1e-9"

    def __init__(self, limit: float) -> None:
        import cvxopt
        import cvxopt.solvers

        super().__init__(limit)
        self._cvxopt = cvxopt
        cvxopt.solvers.options.update(show_progress=False, abstol=1e-11, reltol=1e-11, feastol=1e-9)

    def _sparse(self, matrix: Any) -> Any:
        entries = sp.coo_matrix(matrix)
        values, rows, columns = (part.tolist() for part in (entries.data, entries.row, entries.col))
        return self._cvxopt.spmatrix(values, rows, columns, entries.shape)

    def prepare(self, program: Program) -> Any:
        matrix = self._cvxopt.matrix
        arguments = [self._sparse(program.K), matrix(-program.b), self._sparse(program.J), matrix(program.c)]
        return [*arguments, self._sparse(program.E), matrix(program.e)] if len(program.e) else arguments

    def solve(self, prepared: Any) -> Any:
        return self._cvxopt.solvers.qp(*prepared)

    def answer(self, program: Program, solved: Any) -> Answer:
        x, mu, nu = (np.array(solved[key]).ravel() for key in "xzy")
        return Answer(x, mu, nu, f"{solved['status']}, {solved['iterations']} iterations")


class Clarabel(Peer):
    name, package, asked = "Clarabel", "clarabel", "gaps 1e-10, feasibility 1e-9"

    def __init__(self, limit: float) -> None:
        import clarabel

        super().__init__(limit)
        self._clarabel = clarabel

    def prepare(self, program: Program) -> Any:
        cones = [self._clarabel.ZeroConeT(len(program.e))] if len(program.e) else []
        cones += [self._clarabel.NonnegativeConeT(len(program.c))] if len(program.c) else []
        A = sp.csc_matrix(sp.vstack([program.E, program.J]))
        right = np.concatenate([program.e, program.c])
        return sp.csc_matrix(sp.triu(program.K)), -program.b, A, right, cones

    def solve(self, prepared: Any) -> Any:
        settings = self._clarabel.DefaultSettings()
        settings.verbose, settings.max_threads, settings.time_limit = False, 1, self._limit
        settings.tol_gap_abs = settings.tol_gap_rel = 1e-10
        settings.tol_feas = 1e-9
        return self._clarabel.DefaultSolver(*prepared, settings).solve()

    def answer(self, program: Program, solved: Any) -> Answer:
        z, fixed = np.array(solved.z), len(program.e)
        note = f"{_word(solved.status)}, {solved.iterations} iterations"
        return Answer(np.array(solved.x), z[fixed:], z[:fixed], note)


class Qpalm(Peer):
    name, package, asked = "QPALM", "qpalm", "eps_abs 1e-7, eps_rel 1e-9"

    def __init__(self, limit: float) -> None:
        import qpalm

        super().__init__(limit)
        self._qpalm = qpalm

    def prepare(self, program: Program) -> Any:
        A, below, above = _stacked(program)
        data = self._qpalm.Data(A.shape[1], A.shape[0])
        data.Q, data.q, data.A = sp.csc_matrix(program.K), -program.b, A
        data.bmin, data.bmax = np.maximum(below, -_FAR), np.minimum(above, _FAR)
        return data

    def solve(self, prepared: Any) -> Any:
        settings = self._qpalm.Settings()
        settings.eps_abs, settings.eps_rel, settings.verbose, settings.time_limit = 1e-7, 1e-9, False, self._limit
        solver = self._qpalm.Solver(prepared, settings)
        solver.solve()
        return solver

    def answer(self, program: Program, solved: Any) -> Answer:
        note = f"{solved.info.status}, {solved.info.iter} iterations"
        return _split(program, solved.solution.x, solved.solution.y, note)


class Proxqp(Peer):
    name, package, asked, most_unknowns = "ProxQP", "proxsuite", "eps_abs 1e-8, eps_rel 1e-9", 6_000

    def __init__(self, limit: float) -> None:
        import proxsuite

        super().__init__(limit)
        self._sparse = proxsuite.proxqp.sparse

    def prepare(self, program: Program) -> Any:
        E, J = sp.csc_matrix(program.E), sp.csc_matrix(program.J)
        return sp.csc_matrix(program.K), -program.b, E, program.e, J, np.full(len(program.c), -_FAR), program.c

    def solve(self, prepared: Any) -> Any:
        K, _, E, _, J, *_ = prepared
        solver = self._sparse.QP(K.shape[0], E.shape[0], J.shape[0])
        solver.settings.eps_abs, solver.settings.eps_rel = 1e-8, 1e-9
        solver.settings.max_iter, solver.settings.verbose = 200, False
        solver.init(*prepared)
        solver.solve()
        return solver.results

    def answer(self, program: Program, solved: Any) -> Answer:
        note = f"{_word(solved.info.status)}, {solved.info.iter} iterations"
        return Answer(np.array(solved.x), np.array(solved.z), np.array(solved.y), note)


class Osqp(Peer):
    name, package, asked = "OSQP", "osqp", "eps_abs 1e-7, eps_rel 1e-8, polishing"

    def __init__(self, limit: float) -> None:
        import osqp

        super().__init__(limit)
        self._osqp = osqp

    def prepare(self, program: Program) -> Any:
        A, below, above = _stacked(program)
        return {"P": sp.csc_matrix(sp.triu(program.K)), "q": -program.b, "A": A, "l": below, "u": above}

    def solve(self, prepared: Any) -> Any:
        solver = self._osqp.OSQP()
        solver.setup(
            **prepared, verbose=False, eps_abs=1e-7, eps_rel=1e-8, max_iter=50_000, polishing=True,
            time_limit=self._limit,
        )  # fmt: skip
        return solver.solve(raise_error=False)

    def answer(self, program: Program, solved: Any) -> Answer:
        return _split(program, solved.x, solved.y, f"{solved.info.status}, {solved.info.iter} iterations")


class Quadprog(Peer):
    name, package, asked, most_unknowns = "quadprog", "quadprog", "none, dense", 1_000

    def __init__(self, limit: float) -> None:
        import quadprog

        super().__init__(limit)
        self._quadprog = quadprog

    def prepare(self, program: Program) -> Any:
        rows = np.ascontiguousarray(sp.vstack([program.E, -program.J]).toarray().T)
        return program.K.toarray(), program.b, rows, np.concatenate([program.e, -program.c]), len(program.e)

    def solve(self, prepared: Any) -> Any:
        return self._quadprog.solve_qp(*prepared)

    def answer(self, program: Program, solved: Any) -> Answer:
        x, _, _, iterations, multipliers, _ = solved
        mu = multipliers[len(program.e) :]
        # Those of equalities have lost their sign; each row of E is of one entry, 1.
        nu = program.E @ (program.b - program.K @ x - program.J.T @ mu)
        return Answer(x, mu, nu, f"{iterations[0]} iterations")


class Daqp(Peer):
    name, package, asked, most_unknowns = "DAQP", "daqp", "its own, dense", 1_000

    def __init__(self, limit: float) -> None:
        import daqp

        super().__init__(limit)
        self._daqp = daqp

    def prepare(self, program: Program) -> Any:
        A, below, above = _stacked(program)
        equality = 5
        sense = np.concatenate([np.zeros(len(program.c)), np.full(len(program.e), equality)]).astype(np.int32)
        return program.K.toarray(), -program.b, A.toarray(), above, np.maximum(below, -1e30), sense

    def solve(self, prepared: Any) -> Any:
        return self._daqp.solve(*prepared)

    def answer(self, program: Program, solved: Any) -> Answer:
        x, _, flag, info = solved
        return _split(program, x, info["lam"], f"flag {flag}, {info['iterations']} iterations")


class Highs(Peer):
    name, package, asked, most_unknowns = "HiGHS", "highspy", "its own", 1_000

    def __init__(self, limit: float) -> None:
        import highspy

        super().__init__(limit)
        self._highspy = highspy

    def prepare(self, program: Program) -> Any:
        highspy = self._highspy
        A, below, above = _stacked(program)
        lower = sp.csc_matrix(sp.tril(program.K))
        n, far = len(program.b), highspy.kHighsInf
        model = highspy.HighsModel()
        model.lp_.num_col_, model.lp_.num_row_ = n, A.shape[0]
        model.lp_.col_cost_, model.lp_.col_lower_, model.lp_.col_upper_ = -program.b, np.full(n, -far), np.full(n, far)
        model.lp_.row_lower_, model.lp_.row_upper_ = np.maximum(below, -far), np.minimum(above, far)
        model.lp_.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.lp_.a_matrix_.start_, model.lp_.a_matrix_.index_, model.lp_.a_matrix_.value_ = A.indptr, A.indices, A.data
        model.hessian_.dim_, model.hessian_.format_ = n, highspy.HessianFormat.kTriangular
        model.hessian_.start_, model.hessian_.index_, model.hessian_.value_ = lower.indptr, lower.indices, lower.data
        return model

    def solve(self, prepared: Any) -> Any:
        solver = self._highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("time_limit", self._limit)
        solver.setOptionValue("threads", 1)
        solver.passModel(prepared)
        solver.run()
        return solver.getModelStatus(), solver.getSolution()

    def answer(self, program: Program, solved: Any) -> Answer:
        status, solution = solved
        return _split(program, solution.col_value, -np.array(solution.row_dual), _word(status))


def _word(status: Any) -> str:
    return str(status).rpartition(".")[2]


CLASSES: dict[str, type[Peer]] = {
    made.name.lower(): made
    for made in (Piqp, Cvxopt, Clarabel, Qpalm, Proxqp, Osqp, Quadprog, Daqp, Highs)
}  # fmt: skip


def _trial(peer: Peer) -> None:
    """Fails where this version lacks something or answers otherwise than we read it, and warms up."""
    for program in (cable(20), cable(20, with_strain=True)):
        errors = measure(program, peer.answer(program, peer.solve(peer.prepare(program))))
        if errors.largest > _ACCEPTED:
            raise RuntimeError(f"a cable of 20 nodes is solved wrongly: {errors}")


def load(
    names: Iterable[str], limit: float, classes: Mapping[str, Callable[[float], Peer]] = CLASSES
) -> tuple[list[Peer], dict[str, str]]:
    """Peers that are wanted and there, and for each other one the reason."""
    return command.load(names, {name: partial(made, limit) for name, made in classes.items()}, _trial)
