"""What impinge does, in the steps that are timed."""

from __future__ import annotations

import impinge
from benchmarks.qp_test.accuracy import Answer
from benchmarks.qp_test.problems import Floats, Program, cable, cloth, self_contact

NAME = "impinge"


def solve(program: Program) -> impinge.QPSolution:
    """From the matrices to the answer, with the checks of the input."""
    E, e = (program.E, program.e) if len(program.e) else (None, None)
    return impinge.solve_qp(program.K, program.b, program.J, program.c, E=E, e=e)


def answer(found: impinge.QPSolution) -> Answer:
    return Answer(found.x, found.multipliers, found.equality_multipliers, f"{found.iterations} iterations")


def solve_plain(program: Program) -> Floats:
    """K alone: no rows."""
    return impinge.solve_qp(program.K, program.b).x


def warm_up() -> None:
    for program in (cable(30), cable(30, with_strain=True), cloth(10, 20), self_contact(10, 20)):
        solve(program)
        solve_plain(program)
