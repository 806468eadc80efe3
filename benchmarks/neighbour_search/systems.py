"""The systems of the neighbour benchmark: spheres by kind, number and seed, the same for every competitor.

Lengths in radii of the smallest sphere, and its radius is the gap too. Rows stand in the order of a lattice, larger
spheres first, as a simulation keeps them that sorts its particles now and then; "shuffled" says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

_Points = NDArray[np.float64]

PITCH = 2.5  # of the lattice of equal spheres: the paper's 3.2, 1.25 mm for a radius of 0.5 mm
JITTER = 0.8 * (0.5 * PITCH - 1)  # along each axis; no overlap
GAP = 1.0


@dataclass(frozen=True)
class System:
    """Spheres whose pairs at most `gap` apart are wanted."""

    label: str
    family: str  # "equal", "two sizes", "fracture", "power law", "2D" or "shuffled"
    centres: _Points  # (n, 2) or (n, 3)
    radii: _Points  # (n,)
    gap: float = GAP

    def __len__(self) -> int:
        return len(self.radii)

    @cached_property
    def ratio(self) -> float:
        """Largest radius over smallest."""
        return float(self.radii.max() / self.radii.min())

    @cached_property
    def cutoff(self) -> float:
        """Largest distance of centres at which a pair may be near."""
        return float(2 * self.radii.max() + self.gap)

    @cached_property
    def is_split(self) -> bool:
        """Whether there are two sizes and no more."""
        return len(np.unique(self.radii)) == 2

    @cached_property
    def solid(self) -> _Points:
        """Centres in space, also of discs: (n, 3)."""
        missing = 3 - self.centres.shape[1]
        return np.pad(self.centres, ((0, 0), (0, missing))) if missing else self.centres


def _sites(counts: list[int]) -> NDArray[np.int64]:
    """Places of a lattice in order: (n, d)."""
    return np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, len(counts))


def equal(count: int, dimensions: int = 3, seed: int = 1) -> System:
    """About `count` equal spheres: a full lattice with as many along every axis."""
    along = round(count ** (1 / dimensions))
    sites = _sites([along] * dimensions)
    noise = np.random.default_rng(seed).uniform(-JITTER, JITTER, sites.shape)
    label = f"equal{' in 2D' if dimensions == 2 else ''}, {len(sites):,}"
    return System(label, "equal" if dimensions == 3 else "2D", (sites + 0.5) * PITCH + noise, np.ones(len(sites)))


def shuffled(system: System, seed: int = 5) -> System:
    """The same spheres in any order."""
    order = np.random.default_rng(seed).permutation(len(system))
    return System(f"{system.label}, shuffled", "shuffled", system.centres[order], system.radii[order])


def _insert(count: int, radius: float, length: float, rng: np.random.Generator) -> _Points:
    """Centres of spheres put into a cube one after the other where there is room: (count, 3)."""
    found = np.empty((count, 3))
    tries = placed = 0
    while placed < count:
        tries += 1
        if tries > 1000 * count + 1000:
            raise RuntimeError(f"no room for {count} spheres of radius {radius:g} in a cube of {length:g}")
        new = rng.uniform(radius, length - radius, 3)
        offsets = found[:placed] - new
        if not (np.einsum("ij,ij->i", offsets, offsets) < 4 * radius * radius).any():
            found[placed] = new
            placed += 1
    return found


def _fill(count: int, large: _Points, radius: float, length: float, rng: np.random.Generator) -> _Points:
    """Centres of spheres of radius 1 on a jittered lattice, none where the large ones are: (count, 3)."""
    from scipy.spatial import cKDTree

    pitch = ((length**3 - 4 / 3 * np.pi * radius**3 * len(large)) / count) ** (1 / 3)
    while pitch >= 2:
        along = int(length / pitch)
        sites = _sites([along] * 3)
        centres = (sites + 0.5) * (length / along) + rng.uniform(-1, 1, sites.shape) * (0.5 * length / along - 1)
        blocked = np.zeros(len(sites), bool)
        for rows in cKDTree(centres).query_ball_point(large, radius + 1):
            blocked[rows] = True
        free = np.flatnonzero(~blocked)
        if len(free) >= count:
            return centres[np.sort(rng.choice(free, count, replace=False))]
        pitch *= 0.99
    raise RuntimeError(f"no room for {count} small spheres")


def two_sizes(ratio: float, large: int, small: int, fraction: float, seed: int = 3) -> System:
    """Spheres of two sizes that fill a fraction of a cube and do not overlap."""
    rng = np.random.default_rng(seed)
    length = (4 / 3 * np.pi * (large * ratio**3 + small) / fraction) ** (1 / 3)
    centres = _insert(large, ratio, length, rng)
    centres = np.concatenate([centres, _fill(small, centres, ratio, length, rng)])
    radii = np.repeat([float(ratio), 1.0], [large, small])
    return System(f"ratio {ratio:g}, {large + small:,}, {large:,} large", "two sizes", centres, radii)


def halves(ratio: float, count: int) -> System:
    """Two sizes, half of the volume each as nearly as whole numbers allow, 30 % of the space."""
    large = max(1, round(count / (ratio**3 + 1)))
    return two_sizes(ratio, large, count - large, 0.30)


def few_large(ratio: float, count: int, large: int) -> System:
    """Two sizes, `large` spheres of the larger one, 15 % of the space."""
    return two_sizes(ratio, large, count - large, 0.15)


def fracture(parts: int) -> System:
    """The paper's 3.3: of 1000 spheres 520 broken into `parts`³ each, 12 % of the space; 65,480 for 5 parts."""
    made = two_sizes(parts, 480, 520 * parts**3, 0.12)
    return System(f"fracture, R/{parts}, {len(made):,}", "fracture", made.centres, made.radii)


def power_law(count: int, ratio: float = 100.0, exponent: float = 3.5, fraction: float = 0.5, seed: int = 4) -> System:
    """Radii from 1 to `ratio` with a number density ∝ r^−exponent, anywhere, also in each other.

    `fraction` is the sum of the volumes over the volume of the cube, for the mean volume of the distribution, so that
    the number of partners does not depend on the few largest.
    """
    rng = np.random.default_rng(seed)
    k = exponent - 1
    radii = (1 - rng.uniform(size=count) * (1 - ratio**-k)) ** (-1 / k)
    mean_cube = k / (1 - ratio**-k) * (ratio ** (3 - k) - 1) / (3 - k)
    along = int(np.ceil(count ** (1 / 3)))
    pitch = (count * 4 / 3 * np.pi * mean_cube / fraction) ** (1 / 3) / along
    chosen = np.sort(rng.choice(along**3, count, replace=False))
    centres = (_sites([along] * 3)[chosen] + rng.uniform(size=(count, 3))) * pitch
    return System(f"power law to {ratio:g}, {count:,}", "power law", centres, radii)


def rods(count: int, aspect: float = 20.0, fraction: float = 0.05, seed: int = 6) -> tuple[_Points, _Points]:
    """Lower and upper corners of the boxes around rods with round ends and any orientation: (count, 3) each.

    Diameter 2, length 2 · aspect; anywhere, also in each other.
    """
    rng = np.random.default_rng(seed)
    straight = 2 * aspect - 2
    length = (count * np.pi * (straight + 4 / 3) / fraction) ** (1 / 3)
    axes = rng.normal(size=(count, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    half = 1 + 0.5 * straight * np.abs(axes)
    along = int(np.ceil(count ** (1 / 3)))
    chosen = np.sort(rng.choice(along**3, count, replace=False))
    centres = (_sites([along] * 3)[chosen] + rng.uniform(size=(count, 3))) * (length / along)
    return centres - half, centres + half
