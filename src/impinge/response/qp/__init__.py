"""Quadratic programs: dynamics and all contacts solved together."""

from impinge.response.qp.solution import QPSolution, Residuals
from impinge.response.qp.solve import solve_qp

__all__ = ["QPSolution", "Residuals", "solve_qp"]
