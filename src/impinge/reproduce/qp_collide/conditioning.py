"""Condition numbers of the paper's systems, with and without the perturbation (7.1, 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from impinge.reproduce.qp_collide.programs import Program, programs_along
from impinge.reproduce.qp_collide.scenes import DEMOS
from impinge.reproduce.statements import Progress
from impinge.response.qp import solve_qp
from impinge.response.qp_paper import condition_number, kkt_matrix, schur_diagonal

__all__ = ["PAPER_L", "Conditioning", "figure_1", "measure_conditioning"]


PAPER_L = 1e-3  # "around 10⁻³" of whatever unit; 1/kg here
_DT, _STEPS, _EVERY, _QUICK_EVERY, _NODES = 0.01, 100, 5, 20, 60
_MASS = 2.5e-3  # kg, of the nodes of Figure 1
_RANK = 1e-10  # singular values relative to the largest that count as 0


@dataclass(frozen=True)
class Conditioning:
    """Condition numbers of one system of rows."""

    source: str
    rows: int
    rank: int
    K: float
    penalty: float  # K + dt² k JᵀJ, springs in the place of rows, with k = m/dt²
    plain: float  # (8)
    perturbed: float  # (23) with −L, L = 10⁻³
    printed: float  # (23) as printed, with +L
    relative: float  # (23) with −L, L = 10⁻³ diag(J K⁻¹ Jᵀ)
    misplaced: int  # eigenvalues of (23) as printed that have the wrong sign


def measure_conditioning(quick: bool, progress: Progress) -> list[Conditioning]:
    """Figure 1; and of steps of both demos the rows that Algorithm 1 begins with, and those that it ends with."""
    found = [_of("Figure 1", *figure_1(), _MASS)]
    for name, demo in DEMOS.items():
        progress(f"condition numbers, {name}")
        mass = float(demo.place(_NODES).masses.mean())
        for program in programs_along(
            demo, _DT, _QUICK_EVERY if quick else _EVERY, _STEPS, one_each=False, nodes=_NODES
        ):
            first, last = _violated(program), solve_qp(*program).active
            found += [
                _of(f"{name}, {which}", program.K, program.J[rows], mass)
                for which, rows in (("first", first), ("last", last))
                if len(rows)
            ]
    return found


def figure_1() -> tuple[Any, Any]:
    """K and J of [Raghupathi2006] Figure 1, (22): a segment of a cable with both ends on triangles, and on their side.

    2.5 g per node, 10⁵ N/m, steps of 10 ms, the normal along z.
    """
    spring = _DT * _DT * 1e5 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    K = _MASS * np.eye(6) + np.kron(spring, np.diag([1.0, 0.0, 0.0]))
    share = 0.3
    J = np.zeros((3, 6))
    J[0, 2], J[1, 5], J[2, 2], J[2, 5] = -1.0, -1.0, -share, share - 1.0
    return sp.csc_array(K), sp.csr_array(J)


def _violated(program: Program) -> Any:
    """Rows that the solution without rows violates: with which Algorithm 1 begins."""
    x = spsolve(sp.csc_matrix(program.K), program.b)
    scale = np.abs(program.J) @ np.abs(x) + np.abs(program.c)
    return np.flatnonzero(program.J @ x - program.c > 1e-9 * scale)


def _of(source: str, K: Any, J: Any, mass: float) -> Conditioning:
    count = J.shape[0]
    values = np.linalg.svd(J.toarray(), compute_uv=False)
    L = np.full(count, PAPER_L)
    printed = kkt_matrix(K, J, -L)
    positive = int((np.linalg.eigvalsh(printed.toarray()) > 0).sum())
    return Conditioning(
        source, count, int((values > _RANK * values[0]).sum()), condition_number(K),
        condition_number(K + mass * J.T @ J), condition_number(kkt_matrix(K, J)),
        condition_number(kkt_matrix(K, J, L)), condition_number(printed),
        condition_number(kkt_matrix(K, J, PAPER_L * schur_diagonal(K, J))), positive - K.shape[0],
    )  # fmt: skip
