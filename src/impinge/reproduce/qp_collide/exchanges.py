"""How often the active set is changed, and which rows come and go, over stiffness (6 and 7.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from impinge.reproduce.qp_collide.programs import Program, programs_along
from impinge.reproduce.qp_collide.scenes import DEMOS
from impinge.reproduce.statements import Progress
from impinge.response.qp import solve_qp
from impinge.response.qp_paper import PaperSolution, algorithm_1, perturbed

__all__ = ["WAYS", "Exchanges", "measure_exchanges"]


# Rows and their solver: one row for each node; or all rows, which need the perturbation, L relative to J K⁻¹ Jᵀ.
WAYS = {"one row each": None, "all rows, L = 10⁻³": 1e-3, "all rows, L = 10⁻⁶": 1e-6}
_STIFFNESS, _QUICK_STIFFNESS = (1e2, 1e3, 1e4, 1e5, 1e6, 1e7), (1e3, 1e5, 1e7)  # N/m
_DT, _STEPS = 0.01, 100
_EVERY, _QUICK_EVERY = 5, 20  # steps between programs


@dataclass(frozen=True)
class Exchanges:
    """One program by Algorithm 1 without safeguard, and by `impinge.solve_qp`."""

    demo: str
    stiffness: float  # N/m
    way: str
    unknowns: int
    rows: int
    status: str
    iterations: int
    toggling: int  # rows that came back after they had gone
    ours: int  # iterations of solve_qp
    apart: float  # largest difference of the two x, of the largest entry
    violation: float  # m: how far rows are violated at the end of the step, at most


def measure_exchanges(quick: bool, progress: Progress) -> list[Exchanges]:
    """Programs of both demos over stiffness."""
    found = []
    every = _QUICK_EVERY if quick else _EVERY
    for name, demo in DEMOS.items():
        for stiffness in _QUICK_STIFFNESS if quick else _STIFFNESS:
            progress(f"active sets, {name}, {stiffness:.0e} N/m")
            for one_each in (True, False):
                programs = programs_along(demo, _DT, every, _STEPS, one_each=one_each, stiffness=stiffness)
                for number, program in enumerate(programs):
                    for way, size in WAYS.items():
                        # A small perturbation takes long: every second program will do.
                        if (size is None) is one_each and not (size == 1e-6 and number % 2):
                            found.append(_exchange(name, stiffness, way, size, program))
    return found


def _exchange(name: str, stiffness: float, way: str, size: float | None, program: Program) -> Exchanges:
    solution: PaperSolution
    if size is None:
        solution = algorithm_1(*program, safeguard=False)
    else:
        solution = perturbed(*program, size=size, safeguard=False)
    ours = solve_qp(*program)
    return Exchanges(
        name, stiffness, way, len(program.b), len(program.c), solution.status, solution.iterations,
        int((solution.toggles > 0).sum()), ours.iterations,
        float(np.abs(solution.x - ours.x).max() / np.abs(ours.x).max()),
        _DT * float((program.J @ solution.x - program.c).max(initial=0.0)),
    )  # fmt: skip
