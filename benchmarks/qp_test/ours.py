"""What impinge does, in the steps that are timed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import impinge
from benchmarks.qp_test.accuracy import Answer
from benchmarks.qp_test.problems import Floats, Program, cable, cloth, self_contact
from impinge.sparse.cholesky import Cholesky, Structure

NAME = "impinge"


def solve(program: Program, warm: impinge.QPSolution | None = None) -> impinge.QPSolution:
    """From the matrices to the answer, with the checks of the input."""
    E, e = (program.E, program.e) if len(program.e) else (None, None)
    return impinge.solve_qp(program.K, program.b, program.J, program.c, E=E, e=e, warm=warm)


def answer(found: impinge.QPSolution) -> Answer:
    return Answer(found.x, found.multipliers, found.equality_multipliers, f"{found.iterations} iterations")


def solve_plain(program: Program) -> Floats:
    """K alone: no rows."""
    return impinge.solve_qp(program.K, program.b).x


def prepare_factor(program: Program) -> tuple[Callable[[], Floats], Callable[[], Floats]]:
    """K alone by our factor without the checks of `solve_qp`: analysed, factorised and solved; and with it analysed."""
    K = program.K
    pattern = K.indptr.astype(np.int32), K.indices.astype(np.int32)
    known = Cholesky(Structure(*pattern))

    def solve_with(factor: Cholesky) -> Floats:
        if factor.factorise(K.data) >= 0:
            raise RuntimeError("K is not positive definite")
        return factor.solve(program.b)

    return lambda: solve_with(Cholesky(Structure(*pattern))), lambda: solve_with(known)


def warm_up() -> None:
    for program in (cable(30), cable(30, with_strain=True), cloth(10, 20), self_contact(10, 20)):
        solve(program, solve(program))
        solve_plain(program)
