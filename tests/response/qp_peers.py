"""Objectives of `impinge.solve_qp` next to those of other solvers, where these are installed; for `make verify`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from benchmarks.qp_test.accuracy import Answer
from benchmarks.qp_test.peers import CLASSES, Peer
from benchmarks.qp_test.problems import Program
from scipy.sparse.linalg import spsolve

from impinge.errors import ImpingeError

from . import qp_judge, qp_judged, qp_problems
from .qp_problems import Problem

PEERS = ("clarabel", "piqp", "quadprog")
# quadprog does not come back from some problems whose rows depend on each other.
INDEPENDENT = ("dense", "sparse", "all active", "equalities", "zero multipliers", "ill-conditioned")
ACCURATE = 1e-7  # scaled residuals up to which an answer is one to compare with
EQUAL = 1e-6  # in the size of the terms of the objective, besides what the peer's own residuals amount to
_LIMIT = 10.0  # s


@dataclass
class Comparison:
    """How many problems a peer solved well enough, how many not, and whose objective is another one."""

    name: str
    version: str = ""
    compared: int = 0
    unsolved: int = 0
    failures: list[str] = field(default_factory=list)


def installed() -> tuple[dict[str, Peer], list[str]]:
    """Peers by name, and the names of those that are not there."""
    found: dict[str, Peer] = {}
    for name in PEERS:
        try:
            found[name] = CLASSES[name](_LIMIT)
        except ImportError:
            continue
    return found, [name for name in PEERS if name not in found]


def _program(problem: Problem) -> Program:
    K, J, E = sp.csc_matrix(problem.K), sp.csr_matrix(problem.J), sp.csr_matrix(problem.E)
    return Program("", "", problem.name, K, problem.b, J, problem.c, E, problem.e)


def _solve(peer: Peer, problem: Problem) -> Answer | None:
    """What it finds, or nothing if that is no solution."""
    program = _program(problem)
    try:
        answer = peer.answer(program, peer.solve(peer.prepare(program)))
    except Exception:  # peers give up in ways of their own
        return None
    if peer.name == "quadprog" and len(answer.nu):  # whose multipliers of equalities are read for unit rows only
        left = problem.b - problem.K @ answer.x - problem.J.T @ answer.mu
        answer = answer._replace(nu=np.linalg.lstsq(program.E.toarray().T, left)[0])
    is_right = qp_judge.residuals(problem, answer.x, answer.mu, answer.nu).largest <= ACCURATE
    return answer if is_right else None


def compare(problems: Iterable[tuple[str, int, int]]) -> list[Comparison]:
    """One comparison for each peer that is installed, over problems that have a solution."""
    peers, _ = installed()
    found = {name: Comparison(peer.name, peer.version()) for name, peer in peers.items()}
    for family, number, seed in problems:
        problem = qp_problems.make(family, number, seed)
        if not problem.is_feasible or not len(problem.c) + len(problem.e):
            continue
        try:
            ours = qp_judged.solve(problem).x
        except ImpingeError:
            continue  # counted where answers are judged
        for name, peer in peers.items():
            if name != "quadprog" or family in INDEPENDENT:
                _count(found[name], problem, ours, _solve(peer, problem))
    return list(found.values())


def _count(comparison: Comparison, problem: Problem, ours: np.ndarray, theirs: Answer | None) -> None:
    if theirs is None:
        comparison.unsolved += 1
        return
    comparison.compared += 1
    K, b, x = problem.K, problem.b, theirs.x
    first, second = qp_judge.objective(problem, ours), qp_judge.objective(problem, x)
    free = spsolve(sp.csc_matrix(K), b)  # x without rows, in case that with them is 0
    size = max(abs(y @ (K @ y)) / 2 + np.abs(b) @ np.abs(y) for y in (ours, EQUAL * free))
    gap = abs(x @ (K @ x) - b @ x + problem.c @ theirs.mu + problem.e @ theirs.nu)
    left = K @ x - b + problem.J.T @ theirs.mu + problem.E.T @ theirs.nu  # what it leaves moves it as far as it is off
    if abs(first - second) > EQUAL * size + gap + np.abs(left) @ np.abs(ours - x):
        comparison.failures.append(f"{problem.name}: {first!r}, {comparison.name} {second!r}")
