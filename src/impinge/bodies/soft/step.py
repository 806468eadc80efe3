"""One time step of soft bodies: dynamics and all contacts together, certified free of collisions before it is taken.

Positions at the end of the step minimise the potential subject to rows that keep pairs apart. Rows are found by
following the trajectory; what comes too near along it joins them, and the minimum is sought again with them, until
nothing new is found and nothing touches on the way: that is the certificate. Where rows at nearest points do not
suffice, all corners of a pair are kept apart along its normal, which proves that the pair is free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.soft import _constraints, _neighbours
from impinge.bodies.soft.constraints import Friction, Held, all_rows
from impinge.bodies.soft.friction import SETTLED, Passes
from impinge.bodies.soft.minimum import PRODUCT, TOLERANCE, Minimum
from impinge.bodies.soft.neighbours import Neighbours
from impinge.bodies.soft.parts import Floats
from impinge.bodies.soft.surface import Surface
from impinge.bodies.soft.task import KEEP_AWAY, RECOVER, SQUEEZE, Task
from impinge.errors import ConvergenceError
from impinge.response.contact_rows import Pairs, distinct, find_ends, measure, spread
from impinge.response.qp.program import Infeasible
from impinge.sparse.cholesky import Structure

__all__ = ["Blocked", "Known", "Result", "Step"]

# What may be left of the equations of motion, and of slacks times forces, before pairs are looked for.
_LOOSE = 1e-1, 1e-2
_PASSES = 40
_DRIVEN = 1e-6  # of the distance that is asked for: what nodes that are driven together may lack
_CREEP = 1e-4  # of the distance that pairs keep: slip in a step below which friction is not fully there
_BLAME = 1e-6  # of the largest force in the proof that rows contradict each other: others are rounding
_STRONG = 0.1  # of the largest force: of rows that may be to blame
_MARGIN = 0.3  # of the distance that pairs keep: what may be farther away at first than it should, and is held
_BESIDE = 0.1  # of this margin: what is held, too, once something else has been found
_CLOSE = 0.5  # of a limit of strain from which on it is watched
_SLACK = 1e-9  # of a length: what does not count as too much
_DEAR = 100.0  # of what it would cost to stay, or to go along with obstacles: no step costs more

Longs = NDArray[np.int64]
_NO_PAIRS: Longs = np.empty(0, np.int64)


@dataclass(repr=False)
class Result:
    """Where a step ended."""

    task: Task
    positions: Floats  # (all vertices, 3) m
    held: Held
    user_forces: Floats  # N, of user's rows
    bar_forces: Floats  # N
    friction: Friction  # as it acts
    friction_error: float  # the most that nodes feel of what friction lacks, by the largest force of friction
    rest: Floats  # (n, 3) N, ∇Φ of fixed coordinates: what drives them, without contacts
    passes: int
    newton: int
    residual: float
    contact: float  # when something first touches on the way, from 0 to 1; inf is certain: nothing does

    def __repr__(self) -> str:
        pairs = f"{int((self.held.forces > 0.0).sum()):,} of {len(self.held.forces):,} pairs push"
        found = f"{self.newton:,} Newton steps in {self.passes:,} passes, {pairs}, residual {self.residual:.2g}"
        if self.friction_error > SETTLED:
            found += f", friction off by {self.friction_error:.1%}"
        return f"<impinge.Result of a step: {found}>"

    def strain_slack(self) -> float:
        """By how much more than allowed an edge is strained."""
        bars = self.task.bars
        return float((bars.signs * (bars.limits - bars.lengths_at(self.positions)) / bars.rest).max(initial=0.0))

    @property
    def is_free(self) -> bool:
        """Certified: nothing touches on the way."""
        return self.contact == np.inf


class Blocked(Exception):
    """Pairs that cannot, or could not, all be kept apart; and which of the user's rows are in their way."""

    def __init__(self, pairs: Pairs, user: NDArray[np.bool_]) -> None:
        super().__init__()
        self.pairs, self.user = pairs, user


@dataclass
class Known:
    """What is known from the last step: forces of pairs, of user's rows, and of bars."""

    pairs: Pairs
    pair_forces: Floats
    user: Floats
    bars: Floats


class Step:
    """The search for the end of one step."""

    def __init__(self, surface: Surface, neighbours: Neighbours, structure: Structure, task: Task) -> None:
        self._surface, self._neighbours, self._structure, self._task = surface, neighbours, structure, task
        self._start, self._end, self._n = task.start, task.end.copy(), len(task.fixed)
        self._user, self._bar_forces = np.zeros(len(task.linear.bounds)), np.zeros(len(task.bars.rest))
        self._bars, self._friction = np.empty(0, np.int64), Friction(np.empty(0), _CREEP * surface.gap)
        self._acting, self._friction_passes = self._friction, Passes()  # acting: in the last minimum
        self._newton = self._passes = 0
        self._has_started_over = self._is_alone = False
        self._may_turn = True
        self._most = self._find_most()
        self._held = Held.nothing()
        self._user_slacks, self._bar_slacks = np.zeros_like(self._user), np.zeros_like(self._bar_forces)

    def run(self, known: Known) -> Result:
        """Find the end, from what is known from the last step."""
        if len(known.user) == len(self._user):
            self._user = known.user.copy()
        if len(known.bars) == len(self._bar_forces):
            self._bar_forces = known.bars.copy()
        self._neighbours.cover(self._start, self._end)
        self._look_around()
        self._hold_known(known)
        if self._task.friction:
            self._friction = self._friction._replace(forces=self._task.friction * self._held.forces)
        self._hold_first()
        self._take_bars(_CLOSE)
        contact = np.nan
        while self._passes < _PASSES:
            self._passes += 1
            minimum = self._minimise()
            if self._add_violated(_neighbours.LATE) or not self._friction_is_settled():
                continue
            times = self._surface.times(self._start, self._end, self._pairs, 0.0)
            contact = float(times.min(initial=np.inf))
            if contact == np.inf or not self._spread(np.flatnonzero(times < np.inf)):
                break
        if len(minimum.point.y) != len(self._known()[0]):  # rows have joined in the last pass
            minimum, contact = self._minimise(), np.nan
        friction_error = self._friction_lacks()[2] if self._task.friction else 0.0
        self._keep(minimum, minimum.forces())
        if np.isnan(contact):
            contact = float(self._surface.times(self._start, self._end, self._pairs, 0.0).min(initial=np.inf))
        task = self._task
        rest = np.where(task.fixed, task.potential.forces(self._end[: self._n])[0], 0.0)
        return Result(
            task, self._end, self._held, self._user, self._bar_forces, self._acting, friction_error, rest, self._passes,
            self._newton, minimum.residual, contact,
        )  # fmt: skip

    # Rows

    def _look_around(self) -> None:
        """Measure all pairs that may come near, and set what is asked of them."""
        task, neighbours = self._task, self._neighbours
        self._pairs, wanted, self._list = neighbours.pairs, neighbours.distances, neighbours.made
        self._gaps, self._keys = measure(self._start, self._pairs), neighbours.keys
        self._least = np.minimum(self._gaps.gaps, wanted)
        if task.demand == RECOVER:
            self._targets = np.minimum(wanted, self._gaps.gaps + task.recovery)
        elif task.demand == KEEP_AWAY:
            self._targets = self._least
        else:
            self._targets = np.minimum(0.1 * wanted, 0.5 * self._least)
        self._is_held, self._is_spread = np.zeros(len(wanted), np.bool_), np.zeros(len(wanted), np.bool_)
        self._turns = np.zeros(len(wanted), np.int8)
        # m, by how much pairs may be farther away than they should and still be held: not as far as at rest
        self._margins = np.minimum(_MARGIN * self._surface.gap, 0.5 * neighbours.spares)

    def _hold_known(self, known: Known) -> None:
        """Hold pairs of the last step."""
        keys, first = np.unique(known.pairs.keys, return_index=True)
        here, found = self._places(keys)
        is_true = self._are_true(here)
        self._hold(here[is_true], known.pair_forces[first[found]][is_true])

    def _places(self, keys: Longs) -> tuple[Longs, NDArray[np.bool_]]:
        """Where pairs are in the list, and which of them are in it at all."""
        if not len(self._keys):
            return np.empty(0, np.int64), np.zeros(len(keys), np.bool_)
        here = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        found = self._keys[here] == keys
        return here[found], found

    def _hold(self, which: Longs, forces: Floats | None = None) -> None:
        """Keep pairs apart."""
        if not len(which):
            return
        self._is_held[which] = True
        some, gaps = self._pairs.take(which), self._gaps.take(which)
        first = distinct(some, gaps)
        forces = np.zeros(len(first)) if forces is None else forces[first]
        self._held.add(some.take(first), gaps.take(first), self._targets[which[first]], forces)

    def _look(self, share: float = 1.0, reach: float = 0.0) -> tuple[Longs, Longs]:
        """Pairs to be held that are not, and pairs that have to be held once more, as they have turned.

        Both end too near, or touch on the way. The former do so along their normals of the start, too, which not all do
        that look so: what slides over an edge does not. The latter are satisfied, or held, along these normals.

        share : of its distance, which a pair may come down to, but not from below
        reach : of its margin, by which a pair may be farther away, in both ways, and still be held
        """
        pairs, distances, least = self._pairs, self._neighbours.distances, self._least
        limits = least + reach * self._margins if reach else least
        ends, real = find_ends(self._start, self._end, pairs, self._gaps, limits)
        found = np.empty(len(ends), np.int8)
        marks = self._margins, reach, share, self._is_held, self._turns
        _neighbours.sort_ends(len(found), ends, real, least, distances, *marks, found)
        if not found.any():  # as most of the times
            return _NO_PAIRS, _NO_PAIRS
        new, unsure, turned = (
            np.flatnonzero(found == kind) for kind in (_neighbours.NEW, _neighbours.UNSURE, _neighbours.TURNED)
        )
        is_true = self._are_true(new)
        beside, new = new[~is_true], new[is_true]
        if len(beside):
            unsure = np.sort(np.concatenate([unsure, beside]))
            lacking = real[beside] < _neighbours.LATE * np.minimum(least[beside], distances[beside])
            turned = np.concatenate([turned, beside[lacking & (self._turns[beside] < _neighbours.TURNS)]])
        touching = unsure[self._touch(unsure)]
        if len(touching):
            new = np.sort(np.concatenate([new, touching]))
        return new, turned[~self._touch(turned)] if self._may_turn else turned[:0]

    def _are_true(self, which: Longs) -> NDArray[np.bool_]:
        """Whether pairs are nearest to each other at the start, with all that is around them."""
        return self._surface.features.find_true(self._start, self._pairs.take(which), self._gaps.take(which))

    def _touch(self, which: Longs) -> NDArray[np.bool_]:
        """Whether pairs touch on the way."""
        if not len(which):
            return np.zeros(0, np.bool_)
        touch: NDArray[np.bool_] = self._surface.times(self._start, self._end, self._pairs.take(which), 0.0) < np.inf
        return touch

    def _hold_turned(self, which: Longs) -> None:
        """Keep pairs apart along their normals of the end."""
        if len(which):
            pairs = self._pairs.take(which)
            gaps = measure(self._end, pairs)
            gaps = gaps._replace(gaps=gaps.at(self._start, pairs))
            self._turns[which] += 1
            self._held.add(pairs, gaps, self._targets[which], np.zeros(len(which)), is_turned=True)

    def _hold_first(self) -> None:
        """Hold what ends too near if nothing is held: pairs with nearest points inside of both, to begin with.

        Those at corners and at borders would be in the way of what slides over the edges of a smooth surface.
        """
        new, _ = self._look(reach=1.0)
        # Not by what else is in the list: what a step does must not depend on which list it uses.
        self._is_alone = not len(new) and not (self._gaps.gaps[~self._is_held] <= self._surface.gap).any()
        self._hold(new[(self._gaps.weights[new] != 0.0).all(axis=1) & self._are_true(new)])

    def _take_bars(self, share: float) -> bool:
        """Take limits of lengths that are reached to a share of the way from rest; whether there are new ones."""
        bars = self._task.bars
        if not len(bars.rest):
            return False
        length = bars.lengths_at(self._end)
        limit = bars.rest + share * (bars.lengths - bars.rest)
        beyond = (bars.signs * (length - limit) < -_SLACK * bars.rest) | (self._bar_forces > 0.0)
        beyond[self._bars] = False
        new = np.flatnonzero(beyond)
        self._bars = np.concatenate([self._bars, new])
        return len(new) > 0

    def _add_violated(self, share: float = 1.0) -> bool:
        """Hold what ends too near or too long; whether there is anything new."""
        self._neighbours.cover(self._start, self._end)
        if self._neighbours.made != self._list:  # the step went further than expected
            marks = self._is_held, self._is_spread, self._turns
            marked = np.flatnonzero(marks[0] | marks[1] | (marks[2] > 0))
            keys = self._keys[marked]
            self._look_around()
            here, is_here = self._places(keys)
            for new, old in zip((self._is_held, self._is_spread, self._turns), marks, strict=True):
                new[here] = old[marked[is_here]]
        new, turned = self._look(share)
        if len(new) and share == 1.0:  # those beside them would be next
            new, _ = self._look(reach=_BESIDE)
        self._hold(new)
        self._hold_turned(turned)
        found = len(new) + len(turned) > 0
        self._is_alone = self._is_alone and not found
        return self._take_bars(1.0) or found

    def _spread(self, which: Longs) -> bool:
        """Keep all corners of pairs apart; whether there are pairs for which that is new."""
        which = which[~self._is_spread[which]]
        if not len(which):
            return False
        self._is_spread[which] = self._is_held[which] = True
        pairs, gaps = spread(self._pairs.take(which), self._gaps.take(which))
        targets = np.minimum(0.1 * self._surface.distances(pairs), 0.5 * gaps.gaps)
        self._held.add(pairs, gaps, targets, np.zeros(len(targets)))
        return True

    # Minimum

    def _minimise(self) -> Minimum:
        """The minimum with all rows that are held, first loosely, to see what else comes near."""
        minimum = self._begin()
        try:
            # Where nothing else is around there is nothing to look for.
            for _ in range(_PASSES if not self._is_alone or len(self._task.bars.rest) else 0):
                minimum.run(*_LOOSE)
                self._keep(minimum, minimum.point.y)
                if not self._add_violated():
                    break
                self._newton += minimum.steps
                minimum = self._begin()
            minimum.run(TOLERANCE, PRODUCT)
        except Infeasible as found:
            blame = np.abs(found.multipliers)
            raise self._blocked(blame > _BLAME * blame.max()) from None
        except ConvergenceError:
            if self._let_go_of_turned() or self._start_over():
                return self._minimise()
            if minimum.is_feasible:
                raise
            raise self._blocked(minimum.point.y > _STRONG * minimum.point.y.max(initial=0.0)) from None
        self._newton += minimum.steps
        self._keep(minimum, minimum.point.y)
        return minimum

    def _find_most(self) -> float:
        """Potential, J, above which rows must be wrong: pairs turn on the way, and what they ask for then may be.

        Not where the last is asked for that there is, or where rows of users and limits of lengths may move what stays.
        """
        task = self._task
        if task.demand == SQUEEZE or len(task.linear.bounds) or len(task.bars.rest):
            return np.inf
        free, stay = ~task.fixed, task.end[: self._n].copy()
        stay[free] = task.start[: self._n][free]
        far = float(np.abs(task.end[self._n :] - task.start[self._n :]).max(initial=0.0))
        way = max(far, task.recovery)
        along = 1.5 * float(task.potential.field.inertia.sum()) * way * way  # may be infinite
        return _DEAR * (task.potential.value(stay) + along)

    def _let_go_of_turned(self) -> bool:
        """Ask pairs that have turned for nothing more than not to touch; whether anything was asked for.

        All others are satisfied where everything stays as it is; normals of the end may contradict each other.
        """
        self._may_turn = False
        stays = np.flatnonzero(~self._held.is_turned)
        if len(stays) == len(self._held.targets):
            return False
        known = self._friction.forces
        self._friction = self._friction._replace(forces=known[stays[stays < len(known)]])
        self._friction_passes.forget()
        self._held = self._held.take(stays)
        return True

    def _start_over(self) -> bool:
        """Begin again from where everything was at the start, with no forces; once."""
        if self._has_started_over:
            return False
        self._has_started_over = True
        free = ~self._task.fixed
        self._end[: self._n][free] = self._start[: self._n][free]
        for known in (self._held.forces, self._held.slacks, self._user, self._user_slacks):
            known[:] = 0.0
        self._bar_forces[:] = self._bar_slacks[:] = 0.0
        return True

    def _blocked(self, rows: NDArray[np.bool_]) -> Blocked:
        """The error that some rows are in each other's way."""
        first = len(self._held.targets)
        return Blocked(self._held.pairs.take(np.flatnonzero(rows[:first])), rows[first : first + len(self._user)])

    def _begin(self) -> Minimum:
        task, held = self._task, self._held
        self._acting = self._friction
        rows = all_rows(
            held, task.linear, task.bars.take(self._bars), self._friction, self._start, self._end, task.fixed
        )
        tolerated = np.append(held.targets, np.full(len(self._user), self._surface.gap)) * _DRIVEN
        equal = np.append(np.zeros(len(held.targets), np.bool_), task.linear.is_equality)
        lacks = np.where(equal, np.abs(rows.base), -rows.base)
        driven = (rows.kind[: len(lacks)] < 0) & (lacks > tolerated)
        if driven.any():  # no free node has a part in these
            raise self._blocked(driven)
        must_prove = task.demand == SQUEEZE  # else less is asked for next, whatever the reason
        return Minimum(
            task.potential, rows, self._end[: self._n], *self._known(), self._structure, most=self._most,
            must_prove=must_prove,
        )  # fmt: skip

    def _known(self) -> tuple[Floats, Floats]:
        """Forces and slacks of all rows; 0 if they are not known."""
        forces = self._held.forces, self._user, self._bar_forces[self._bars]
        slacks = self._held.slacks, self._user_slacks, self._bar_slacks[self._bars]
        return np.concatenate(forces), np.concatenate(slacks)

    def _keep(self, minimum: Minimum, forces: Floats) -> None:
        """Keep the end, the forces and the slacks of a minimum."""
        held, first = self._held, len(self._held.targets)
        stop, slacks = first + len(self._user), minimum.point.z
        held.forces, self._user, self._bar_forces[self._bars] = forces[:first], forces[first:stop], forces[stop:]
        held.slacks, self._user_slacks, self._bar_slacks[self._bars] = slacks[:first], slacks[first:stop], slacks[stop:]
        self._end[: self._n] = minimum.x

    def _friction_is_settled(self) -> bool:
        """Set the forces of friction to those that the contacts ask for; whether nodes felt the same already."""
        if self._task.friction == 0.0:
            return True
        lacks, felt, error = self._friction_lacks()
        forces = self._task.friction * self._held.forces - lacks
        self._friction = self._friction._replace(forces=self._friction_passes.follow(forces, lacks, felt, error))
        return error <= SETTLED

    def _friction_lacks(self) -> tuple[Floats, Floats, float]:
        """What forces of friction lack, N, what nodes feel of that, and the most of it, by the largest of these forces.

        Not the most of one contact: what rows that depend on each other push with is not unique.
        """
        held, acting = self._held, self._acting.forces
        wanted = self._task.friction * held.forces
        lacks = wanted - np.append(acting, np.zeros(len(wanted) - len(acting)))
        slips = held.slips(self._end - self._start)
        far = np.maximum(np.linalg.norm(slips, axis=1), self._acting.creep)
        felt, nothing = np.zeros((self._n, 3)), np.zeros(len(far))
        pushes = (lacks / far)[:, None] * slips
        _constraints.add_pushes(held.pairs.corners, held.gaps.weights, nothing, held.gaps.normals, pushes, felt)
        most, largest = float(np.abs(felt).max(initial=0.0)), max(wanted.max(initial=0.0), acting.max(initial=0.0))
        return lacks, felt, most / largest if most else 0.0
