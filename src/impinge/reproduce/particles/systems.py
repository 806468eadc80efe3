"""The three systems of [Muth2007b] 3, and how their particles fly.

The paper's forces are left out: particles fly through each other and bounce off the walls. What a search costs
depends on where they are and how far they move in a step, and that is as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge.broad import NeighborSearch, pairs

__all__ = ["FRACTURES", "System", "discs", "equal_spheres", "fractured_spheres"]

_Points = NDArray[np.float64]
GRAVITY = 9.81  # m/s²
FRACTURES = {2: (507, 493), 3: (474, 526), 4: (502, 498), 5: (480, 520)}  # R/r: whole and broken ones of 1000


@dataclass(frozen=True)
class System:
    """Particles in a box with walls at 0 and `box`."""

    centres: _Points  # (n, d), m
    radii: _Points  # (n,), m
    speeds: _Points  # (n, d), m/s
    box: _Points  # (d,), m
    step: float  # s
    cell_size: float  # of the paper's linked cells, m
    falls: bool = False

    def __len__(self) -> int:
        return len(self.radii)

    def flight(self, every: float = 1.0) -> Iterator[_Points]:
        """Centres after each time step, or after each `every` steps."""
        centres, speeds, step = self.centres.copy(), self.speeds.copy(), self.step * every
        low, high = self.radii[:, None], self.box - self.radii[:, None]
        while True:
            yield centres
            if self.falls:
                speeds[:, -1] -= GRAVITY * step
            centres = centres + speeds * step
            outside = (centres < low) | (centres > high)
            speeds = np.where(outside, -speeds, speeds)
            centres = np.where(outside, np.clip(centres, low, high), centres)


def discs(count: int, seed: int = 1) -> System:
    """Case 3.1: discs with radii of 0.5 to 1.5 mm that fill 67 % of a square, falling."""
    rng = np.random.default_rng(seed)
    radii = rng.uniform(0.5e-3, 1.5e-3, count)
    side = float(np.sqrt(np.pi * (radii**2).sum() / 0.674))
    along = int(np.ceil(np.sqrt(count)))
    sites = np.stack(np.divmod(np.arange(count), along), axis=1)  # numbered row by row, as in Fig. 8
    centres = _push_apart((sites + rng.uniform(0.2, 0.8, (count, 2))) * (side / along), radii, side)
    speeds = rng.normal(size=(count, 2)) * 0.1 - [0.0, np.sqrt(GRAVITY * side)]  # after half of the fall
    return System(centres, radii, speeds, np.full(2, side), 1e-7, 7e-3, falls=True)


def _push_apart(centres: _Points, radii: _Points, side: float) -> _Points:
    """Discs moved until they hardly overlap: half of each overlap in every round."""
    search = NeighborSearch()
    for _ in range(200):
        i, j = search.update(centres, radii).touching().T
        if len(i) == 0:
            break
        way = centres[i] - centres[j]
        distance = np.maximum(np.linalg.norm(way, axis=1), 1e-12)
        push = way * (0.5 * (radii[i] + radii[j] - distance) / distance)[:, None]
        np.add.at(centres, i, push)
        np.add.at(centres, j, -push)
        centres = np.clip(centres, radii[:, None], side - radii[:, None])
    return centres


def _jittered(along: int, pitch: float, noise: float, rng: np.random.Generator) -> _Points:
    sites = np.stack(np.meshgrid(*[np.arange(along)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    return (sites + 0.5) * pitch + rng.uniform(-noise, noise, sites.shape)


def equal_spheres(along: int, seed: int = 2) -> System:
    """Case 3.2: along³ spheres of 0.5 mm on a lattice of 1.25 mm, shifted by up to 0.1 mm, flying at 0.1 m/s."""
    rng = np.random.default_rng(seed)
    centres = _jittered(along, 1.25e-3, 0.1e-3, rng)
    speeds = rng.normal(size=centres.shape)
    speeds *= 0.1 / np.linalg.norm(speeds, axis=1)[:, None]
    return System(centres, np.full(along**3, 5e-4), speeds, np.full(3, along * 1.25e-3), 1e-5, 2e-3)


def fractured_spheres(parts: int, most: int = 1_000_000, seed: int = 3) -> System:
    """Case 3.3: of 1000 spheres of 10 mm in a box of 0.33 m some are broken into parts³ pieces of 10 mm / parts each.

    As many as in the paper up to 5 parts, half of them up to 10, and as few as give `most` pieces beyond.
    """
    rng = np.random.default_rng(seed)
    large, side = 0.01, 0.33
    whole, broken = FRACTURES.get(parts, (500, 500))
    if parts == 1:
        whole, broken = 1000, 0
    elif parts > 5:
        broken = max(1, min(broken, most // parts**3))
        whole = 1000 - broken
    centres = _insert(whole, large, side, rng)
    radii = np.full(whole, large)
    if broken:
        small = large / parts
        centres = np.concatenate([centres, _fill(broken * parts**3, small, centres, large, side, rng)])
        radii = np.concatenate([radii, np.full(broken * parts**3, small)])
    speeds = rng.normal(size=centres.shape)
    return System(centres, radii, speeds, np.full(3, side), 4e-7, 0.033)


def _insert(count: int, radius: float, side: float, rng: np.random.Generator) -> _Points:
    """Spheres put into a cube one after the other, where there is room."""
    found = np.empty((0, 3))
    while len(found) < count:
        new = rng.uniform(radius, side - radius, 3)
        if (((found - new) ** 2).sum(axis=1) >= 4 * radius**2).all():
            found = np.concatenate([found, new[None]])
    return found


def _fill(count: int, radius: float, others: _Points, large: float, side: float, rng: np.random.Generator) -> _Points:
    """Small spheres on the free places of a jittered lattice."""
    free_volume = side**3 - len(others) * 4 / 3 * np.pi * large**3
    along = int(side / max((free_volume / count) ** (1 / 3), 2 * radius))
    while True:
        pitch = side / along
        if pitch < 2 * radius:
            raise RuntimeError(f"no room for {count} small spheres")
        places = _jittered(along, pitch, 0.5 * pitch - radius, rng)
        # A place is taken if a large sphere touches what stands there.
        both = np.concatenate([others, places])
        near = pairs(both, np.concatenate([np.full(len(others), large), np.full(len(places), radius)]))
        taken = near[(near[:, 0] < len(others)) & (near[:, 1] >= len(others)), 1] - len(others)
        free = np.setdiff1d(np.arange(len(places)), taken)
        if len(free) >= count:
            return places[np.sort(rng.choice(free, count, replace=False))]
        along += 1
