"""Bodies thrown into a box: where they start, and how much is measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import impinge
from benchmarks.polyhedra_test.kinds import ALL, PRISMS, Floats, Kind, make

GRAVITY = 9.81  # m/s²
DENSITY = 2500.0  # kg/m³
STIFFNESS = 5e5  # N/m
FRICTION, RESTITUTION = 0.5, 0.5
_CELL = 0.15  # m, from body to body at the start; the longest are 0.2 m
_MARGIN = 0.11  # m, from walls
_LAYERS = 5
_SPEED, _SPIN = 1.5, 5.0  # m/s downwards, 1/s


@dataclass(frozen=True)
class Bodies:
    """Bodies of some kinds, and where they are."""

    kinds: tuple[Kind, ...]
    of: NDArray[np.int64]  # (n,) kind of each
    positions: Floats  # (n, 3) of their centres of mass, m
    rotations: Floats  # (n, 3, 3)
    velocities: Floats  # (n, 3) m/s
    spins: Floats  # (n, 3) 1/s
    box: tuple[float, float]  # m, sides of the floor

    def __len__(self) -> int:
        return len(self.of)

    @cached_property
    def masses(self) -> Floats:
        return DENSITY * np.array([kind.mesh.volume for kind in self.kinds])[self.of]


def thrown(count: int, faces: int, names: tuple[str, ...] = ALL, seed: int = 1) -> Bodies:
    """All above the floor in columns, on their way down, turned at random so that none touches another."""
    wide = max(1, math.ceil(math.sqrt(count / _LAYERS)))
    deep = max(1, math.ceil(count / _LAYERS / wide))
    number = np.arange(count)
    columns = wide * deep
    grid = np.column_stack([number % wide, number % columns // wide, number // columns])
    rng = np.random.default_rng(seed)
    of, places = rng.permutation(number % len(names)), np.asarray(_MARGIN + _CELL * grid, np.float64)
    return Bodies(
        kinds=tuple(make(name, faces) for name in names),
        of=of,
        positions=places,
        rotations=_apart(tuple(make(name, 200) for name in names), of, places, rng),
        velocities=np.tile([0.0, 0.0, -_SPEED], (count, 1)),
        spins=rng.normal(0.0, _SPIN, (count, 3)),
        box=(2 * _MARGIN + _CELL * (wide - 1), 2 * _MARGIN + _CELL * (deep - 1)),
    )


def _apart(kinds: tuple[Kind, ...], of: NDArray[np.int64], places: Floats, rng: np.random.Generator) -> Floats:
    """Rotations at random, drawn again for a body of every pair that overlaps."""
    solids = [impinge.Solid(kind.mesh) for kind in kinds]
    turns = Rotation.random(len(of), rng=rng).as_matrix()
    for _ in range(100):
        views = [solids[kind].at(turn, place) for kind, turn, place in zip(of, turns, places, strict=True)]
        again = np.unique(impinge.collisions(views).pairs[:, 1])
        if len(again) == 0:
            return turns
        turns[again] = Rotation.random(len(again), rng=rng).as_matrix()
    raise RuntimeError("no rotations were found that keep bodies apart")


def side_by_side(bodies: Bodies, across: int, along: int) -> Bodies:
    """Copies of a pile next to each other, without walls between them."""
    x, y = bodies.box
    shifts = [[x * i, y * j, 0.0] for i in range(across) for j in range(along)]

    def copies(rows: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([rows] * len(shifts))

    return Bodies(
        kinds=bodies.kinds,
        of=copies(bodies.of),
        positions=np.concatenate([bodies.positions + shift for shift in shifts]),
        rotations=copies(bodies.rotations),
        velocities=copies(bodies.velocities),
        spins=copies(bodies.spins),
        box=(x * across, y * along),
    )


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    part: int  # bodies that are thrown until they lie in a pile
    faces: int  # of each
    duration: float  # s, until the pile is there
    copies: tuple[tuple[int, int], ...]  # of it, side by side: growth with bodies; the last are the large pile
    fall_steps: int  # of as many bodies, with time by phase, before many touch
    pile_steps: int  # and in the pile
    face_counts: tuple[int, ...]  # growth with faces
    face_bodies: int  # how many bodies these are
    steps: int  # of one measurement of growth
    rounds: int
    race: tuple[int, ...]  # bodies in piles of all engines
    race_seconds: float  # runs end after this


FULL = Sizes(
    part=125,
    faces=2000,
    duration=0.22,
    copies=((1, 1), (2, 1), (2, 2), (4, 2)),
    fall_steps=100,
    pile_steps=100,
    face_counts=(200, 800, 3200, 12_800, 50_000),
    face_bodies=40,
    steps=20,
    rounds=3,
    race=(100,),
    race_seconds=150.0,
)
QUICK = Sizes(
    part=10,
    faces=500,
    duration=0.15,
    copies=((1, 1), (2, 1), (2, 2)),
    fall_steps=20,
    pile_steps=20,
    face_counts=(200, 800, 3200),
    face_bodies=10,
    steps=10,
    rounds=2,
    race=(10,),
    race_seconds=5.0,
)
__all__ = ["ALL", "DENSITY", "FULL", "GRAVITY", "PRISMS", "QUICK", "Bodies", "Sizes", "side_by_side", "thrown"]
