"""Quadratic programs of consecutive steps of the example scenes, for the part "warm".

A scene runs in a `SoftWorld`. The program of a step is that of its first linearisation, about where all would be
without elasticity and contacts, with the rows of all pairs that the step has kept apart in the end. Only this module
looks behind the interface of `SoftWorld`, at what its last step had to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.qp_test.problems import Ints, Program
from benchmarks.soft_test import scenes
from benchmarks.soft_test.ours import Impinge, ImpingeSimulation
from impinge.bodies.soft.constraints import Friction, all_rows
from impinge.bodies.soft.step import Result

_PATIENCE = 200  # steps within which there has to be contact


class Step(NamedTuple):
    """The program of a step, and a number of each row that stays with its pair of features from step to step."""

    program: Program
    keys: Ints


@dataclass(frozen=True)
class Sequence:
    """Which steps of which scene."""

    scene: str  # a key of `scenes.SCENES`
    size: int  # nodes along a side, or segments
    steps: int  # after the first, which there is no guess for
    on_itself: bool = False  # whether it begins when the body touches itself, or with any contact

    @property
    def kind(self) -> str:
        return "cloth" if self.scene in scenes.CLOTHS else "cable"


def record(sequence: Sequence) -> list[Step]:
    """The programs of a sequence, from the first contact on."""
    scene = scenes.SCENES[sequence.scene](sequence.size)
    found: list[Step] = []
    for number, result in enumerate(_results(scene)):
        if found or _has_begun(result, sequence.on_itself):
            found.append(_program(result, sequence.kind, scene.name))
        if len(found) == sequence.steps + 1:
            return found
        if not found and number == _PATIENCE:
            break
    raise RuntimeError(f"{scene.name}: no contact in {_PATIENCE} steps")


def _results(scene: scenes.Scene) -> Iterator[Result]:
    """What each step of the world has done."""
    engine = Impinge()
    simulation: ImpingeSimulation = engine.build(scene, engine.main_setting(), threads=1)
    while True:
        simulation.step()
        result = simulation._world.last
        assert result is not None
        yield result


def _has_begun(result: Result, on_itself: bool) -> bool:
    held = result.held
    is_own = (held.pairs.corners < len(result.task.fixed)).all(axis=1)
    return bool((held.forces > 0).any() and (is_own | (not on_itself))[held.forces > 0].any())


def _program(result: Result, kind: str, name: str) -> Step:
    """Least potential energy to second order, of displacements from the guess of the end that the step began with."""
    task, held, free = result.task, result.held, ~result.task.fixed.ravel()
    rows = all_rows(held, task.linear, task.bars, Friction(np.empty(0), 1.0), task.start, task.end, task.fixed)
    assert len(rows.kind) == len(held.forces)  # no rows of users, and no limits of strain
    x, potential = task.end[: len(task.fixed)], task.potential
    gradient, _ = potential.forces(x)
    elements = potential.elements
    K = sp.csc_array((potential.hessian(x, keep=0.0), elements.indices, elements.indptr))[free][:, free]
    A = sp.csr_array((rows.values, rows.indices, rows.indptr), shape=(len(rows.kind), len(free)))
    distances, used = rows.base + A @ (x.ravel() - rows.origin), rows.kind >= 0
    J, E = sp.csr_matrix(-A[used][:, free]), sp.csr_matrix((0, int(free.sum())))
    right, bounds = -gradient.ravel()[free], distances[used]
    program = Program(kind, name, name, sp.csc_matrix(K), right, J, bounds, E, np.empty(0))
    return Step(program, held.pairs.keys[used])
