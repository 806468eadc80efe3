"""Iterations of conjugate gradients on the paper's forms of the equations (5.1, 5.2 and 7.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import minres

from impinge.reproduce.qp_collide.programs import Program, programs_along
from impinge.reproduce.qp_collide.scenes import DEMOS
from impinge.reproduce.statements import Progress
from impinge.response import qp_paper_equations as equations
from impinge.response.qp import solve_qp
from impinge.response.qp_paper import kkt_operator, schur_diagonal

__all__ = ["FORMS", "Count", "measure_iterations"]


FORMS = {
    "(8), CG": "the paper's choice: products (18) and (19), conjugate gradients",
    "(8), MINRES": "the same products, a method for indefinite matrices",
    "(8), projected CG": "among the x that satisfy the rows",
    "(24), MINRES": "perturbed, L = 10⁻³ diag(J K⁻¹ Jᵀ)",
    "(20), CG": "on J K⁻¹ Jᵀ, with K factorised",
}
_TOLERANCE = 1e-8  # of the right side
_NODES, _QUICK_NODES = (60, 120, 240, 480), (60, 120)
_DT, _STEPS, _EVERY, _QUICK_EVERY = 0.01, 100, 10, 30


@dataclass(frozen=True)
class Count:
    """Iterations for the rows that are held at the solution of one step."""

    demo: str
    nodes: int
    unknowns: int
    rows: int
    form: str
    status: str  # "solved", or how it failed
    iterations: int

    @property
    def limit(self) -> int:
        """The paper's: the rows for (20), all unknowns and the rows otherwise."""
        return self.rows if self.form.startswith("(20)") else self.unknowns + self.rows


def measure_iterations(quick: bool, progress: Progress) -> list[Count]:
    """Both demos over the number of nodes, with one row for each node that is near."""
    found = []
    for name, demo in DEMOS.items():
        for nodes in _QUICK_NODES if quick else _NODES:
            progress(f"conjugate gradients, {name}, {nodes} nodes")
            every = _QUICK_EVERY if quick else _EVERY
            for program in programs_along(demo, _DT, every, _STEPS, one_each=True, nodes=nodes):
                active = solve_qp(*program).active
                if len(active):
                    found += [_count(name, nodes, form, program, np.asarray(active)) for form in FORMS]
    return found


def _count(name: str, nodes: int, form: str, program: Program, active: equations.Ints) -> Count:
    status, iterations = "solved", 0
    try:
        iterations = _iterations(form, equations.Problem(*program), active)
    except equations.Fails as failure:
        status = str(failure)
    return Count(name, nodes, len(program.b), len(active), form, status, iterations)


def _iterations(form: str, problem: equations.Problem, active: equations.Ints) -> int:
    if form == "(20), CG":
        return equations.SchurCG(problem, False, _TOLERANCE)(active).iterations
    if form == "(8), projected CG":
        return equations.ProjectedCG(problem, False, _TOLERANCE)(active).iterations
    if form == "(24), MINRES":
        return _perturbed(problem, active)
    return equations.MatrixFree(problem, form.split()[-1].lower(), False, _TOLERANCE)(active).iterations


def _perturbed(problem: equations.Problem, active: equations.Ints) -> int:
    """MINRES on (24), until what is left is small beside the right side."""
    rows = problem.J[active]
    operator = kkt_operator(problem.K, rows, 1e-3 * schur_diagonal(problem.K, rows))
    right, count = np.concatenate([problem.b, -problem.c[active]]), 0

    def tick(x: equations.Floats) -> None:
        nonlocal count
        count += 1
        if np.abs(right - operator.matvec(x)).max() <= _TOLERANCE * np.abs(right).max():
            raise StopIteration

    try:
        minres(operator, right, rtol=1e-15, maxiter=30 * len(right), callback=tick)
    except StopIteration:
        return count
    raise equations.Fails(equations.STOPPED)
