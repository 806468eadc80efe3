"""`impinge.solve_qp` on many problems, each answer judged, and counted."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

import impinge
from impinge.errors import ImpingeError, InfeasibleError

from . import qp_judge, qp_problems
from .qp_problems import Problem

TOL = 1e-9
EXCLUDED = 1e8  # a certificate has to reach so many times farther than the rows it uses
NEAR = 1e-6  # relative, of x next to the exact one, in the norm of K


def solve(problem: Problem, **options) -> impinge.QPSolution:
    return impinge.solve_qp(problem.K, problem.b, problem.J, problem.c, E=problem.E, e=problem.e, **options)


@dataclass
class Tally:
    """How many problems, how many of them infeasible, the largest residual, and what is wrong with whom."""

    cases: int = 0
    infeasible: int = 0
    worst: float = 0.0
    iterations: int = 0
    failures: list[str] = field(default_factory=list)


def wrong_certificate(problem: Problem, error: InfeasibleError) -> str:
    """What is wrong with a proof that nothing satisfies the rows; nothing if it is one."""
    y, z = error.multipliers, error.equality_multipliers
    if y.shape != problem.c.shape or z.shape != problem.e.shape:
        return f"multipliers of shapes {y.shape}, {z.shape}"
    if list(error.rows) != np.flatnonzero(y > 0).tolist() or list(error.equalities) != np.flatnonzero(z).tolist():
        return "rows that are not those with multipliers"
    reach = qp_judge.excluded(problem, y, z)
    return "" if reach >= EXCLUDED else f"excludes x only up to {reach:.1e}"


def judge(problem: Problem, tally: Tally, is_feasible: bool | None = None) -> impinge.QPSolution | None:
    """Solve a problem, and count it."""
    is_feasible = problem.is_feasible if is_feasible is None else is_feasible
    tally.cases += 1
    try:
        solution = solve(problem)
    except InfeasibleError as error:
        tally.infeasible += 1
        wrong = "found infeasible" if is_feasible else wrong_certificate(problem, error)
        tally.failures += [f"{problem.name}: {wrong}"] if wrong else []
        return None
    except ImpingeError as error:
        tally.failures.append(f"{problem.name}: {type(error).__name__}: {error}")
        return None
    tally.iterations += solution.iterations
    found = qp_judge.residuals(problem, solution.x, solution.multipliers, solution.equality_multipliers)
    if not is_feasible:
        tally.failures.append(f"{problem.name}: not found infeasible")
    elif not found.largest <= TOL:
        tally.failures.append(f"{problem.name}: {found}")
    else:
        tally.worst = max(tally.worst, found.largest)
    return solution


def judge_exactly(problem: Problem, tally: Tally) -> None:
    """The same for a tiny problem of whole numbers, next to its exact solution."""
    exact = qp_judge.exact_solution(problem)
    solution = judge(problem, tally, is_feasible=exact is not None)
    if solution is None or exact is None:
        return
    wanted = np.array([float(value) for value in exact])
    K = np.asarray(problem.K)
    off, size = solution.x - wanted, max(np.abs(wanted).max(), np.abs(np.linalg.solve(K, problem.b)).max(), 1e-300)
    if not math.sqrt(off @ K @ off) <= NEAR * size * math.sqrt(np.trace(K)):
        tally.failures.append(f"{problem.name}: x = {solution.x}, expected {wanted}")


def judge_some(problems: Iterable[tuple[str, int, int]]) -> dict[bool, Tally]:
    """Tallies of problems with a solution and without, from the arguments of `qp_problems.make`."""
    tallies = {True: Tally(), False: Tally()}
    for family, number, seed in problems:
        problem = qp_problems.make(family, number, seed)
        judge(problem, tallies[problem.is_feasible])
    return tallies
