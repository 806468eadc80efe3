"""What fillings and sources share: radii to draw from, the corners of a box, spheres as a result."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from impinge import _check
from impinge.errors import InputError
from impinge.untrusted import check_room

__all__ = ["BYTES", "DISTRIBUTIONS", "MOST", "Filling", "Sizes", "read_corners", "read_sizes", "volume"]

MOST = 2**30  # spheres: their rows are numbers of 32 bits
BYTES = 500  # of a sphere, with its part of the lists
_CHUNK = 4096  # radii drawn at first, to see how many are needed
_EXPONENT = 100.0  # of a power law, at most
_DEVIATION = 100.0  # of logarithms of radii: far more than what goes from atoms to planets

DISTRIBUTIONS = {
    "uniform": '("uniform", low, high)',
    "lognormal": '("lognormal", mean, sigma, low, high)',
    "power": '("power", low, high, exponent)',
    "choice": '("choice", radii, weights)',
}
_WANTED = "a number, one number per sphere, or one of " + ", ".join(DISTRIBUTIONS.values())
_Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


class Filling(NamedTuple):
    """Spheres; unpack it into ``world.add_spheres(*filling, material)``."""

    centres: NDArray[np.float64]  # (n, d), m
    radii: NDArray[np.float64]  # (n,), m


def read_corners(
    lower: ArrayLike, upper: ArrayLike, dimension: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Check two corners of a box, of so many numbers each, or of 2 or 3."""
    if dimension is None:
        shape = _check.numbers("lower", lower, "2 or 3 numbers").shape
        if shape not in ((2,), (3,)):
            raise InputError(f"lower: found shape {shape}, expected 2 or 3 numbers")
        dimension = shape[0]
    low, high = _check.vector("lower", lower, dimension), _check.vector("upper", upper, dimension)
    for axis in np.flatnonzero(~(low < high)).tolist():
        found = f"{high[axis]:g} along {'xyz'[axis]}"
        raise InputError(f"upper: found {found}, expected more than lower, {low[axis]:g}")
    return low, high


@dataclass(frozen=True)
class Sizes:
    """Where radii come from: `given` one by one, or drawn."""

    low: float  # m, no radius is smaller
    high: float  # m, no radius is larger
    draw: _Draw
    given: NDArray[np.float64] | None = None  # (n,)

    def take(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        """`count` radii."""
        return self.draw(rng, count)

    def fill(self, rng: np.random.Generator, room: float, dimension: int) -> NDArray[np.float64]:
        """As many radii as come nearest to a total volume (area in two dimensions)."""
        if room <= 0:
            return np.empty(0)
        parts = [self.draw(rng, _CHUNK)]
        mean = float(volume(parts[0], dimension).mean())
        if mean == 0 or room / mean > MOST:
            raise InputError(f"fraction: found {room / mean if mean else math.inf:.3g} spheres in it, too many")
        check_room("fraction", room / mean, "spheres", BYTES)
        total = mean * _CHUNK
        while total < room:
            parts.append(self.draw(rng, int((room - total) / mean) + _CHUNK))
            total += float(volume(parts[-1], dimension).sum())
        radii = np.concatenate(parts)
        totals = np.concatenate([[0.0], np.cumsum(volume(radii, dimension))])
        return radii[: int(np.argmin(np.abs(totals - room)))]


def volume(radii: NDArray[np.float64], dimension: int) -> NDArray[np.float64]:
    """Of spheres, or the area of discs."""
    return (4 / 3 * math.pi * radii) * radii * radii if dimension == 3 else math.pi * radii * radii


def read_sizes(radii: Any) -> Sizes:
    """Check what a user gave as radii."""
    if isinstance(radii, tuple | list) and len(radii) and isinstance(radii[0], str):
        return _distribution(radii[0], list(radii[1:]))
    array = _check.numbers("radii", radii, _WANTED).astype(np.float64)
    if array.ndim > 1:
        raise InputError(f"radii: found shape {array.shape}, expected {_WANTED}")
    bad = np.flatnonzero(~((array.ravel() > 0) & (array.ravel() < math.inf)))
    if len(bad):
        where = f"row {bad[0]} is" if array.ndim else "found"
        raise InputError(f"radii: {where} {array.ravel()[bad[0]]}, expected a number above 0")
    if array.ndim:
        return Sizes(
            float(array.min(initial=math.inf)), float(array.max(initial=0.0)), lambda rng, count: array[:count], array
        )
    return Sizes(float(array), float(array), lambda rng, count: np.full(count, array))


def _distribution(name: str, values: list[Any]) -> Sizes:
    if name not in DISTRIBUTIONS:
        raise InputError(f"radii: found the distribution {name!r}, expected {_WANTED}")
    if len(values) != DISTRIBUTIONS[name].count(","):
        raise InputError(f"radii: found {(name, *values)}, expected {DISTRIBUTIONS[name]}")
    if name == "choice":
        return _choice(*values)
    if name == "lognormal":
        mean, sigma = _positive("mean", values[0]), _positive("sigma", values[1])
        low, high = _limits(*values[2:])
        return Sizes(low, high, _lognormal(mean, sigma, low, high))
    low, high = _limits(*values[:2])
    if name == "uniform":
        return Sizes(low, high, lambda rng, count: low + (high - low) * rng.random(count))
    return Sizes(low, high, _power(low, high, values[2]))


def _positive(name: str, value: Any) -> float:
    return _check.positive(f"radii ({name})", value)


def _limits(low: Any, high: Any) -> tuple[float, float]:
    low, high = _positive("low", low), _positive("high", high)
    if low > high:
        raise InputError(f"radii (high): found {high:g}, expected at least {low:g}, as low is")
    return low, high


def _lognormal(mean: float, sigma: float, low: float, high: float) -> _Draw:
    """The logarithm of r is normal with deviation sigma; `mean` is the mean of r before it is cut off."""
    if sigma > _DEVIATION:
        raise InputError(f"radii (sigma): found {sigma:g}, expected at most {_DEVIATION:g}")
    middle = math.log(mean) - sigma**2 / 2
    first, last = ndtr((math.log(low) - middle) / sigma), ndtr((math.log(high) - middle) / sigma)
    if low < high and not last > first:
        raise InputError(f"radii (low, high): found {low:g} to {high:g}, far from all radii about the mean {mean:g}")

    def draw(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            radii = np.exp(middle + sigma * ndtri(first + (last - first) * rng.random(count)))
        return np.clip(radii, low, high)

    return draw


def _power(low: float, high: float, exponent: Any) -> _Draw:
    """The number of spheres per radius goes with r^exponent."""
    (k,) = _check.vector("radii (exponent)", [exponent], 1) + 1
    if abs(k) > _EXPONENT:
        raise InputError(f"radii (exponent): found {exponent!r}, expected at most {_EXPONENT:g} in size")

    def draw(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        u = rng.random(count)
        if abs(k) < 1e-9:
            radii = low * (high / low) ** u
        elif k > 0:
            radii = high * (u + (1 - u) * (low / high) ** k) ** (1 / k)
        else:
            radii = low * ((1 - u) + u * (high / low) ** k) ** (1 / k)
        return np.clip(radii, low, high)

    return draw


def _choice(radii: Any, weights: Any) -> Sizes:
    values = read_sizes(radii).given
    if values is None or len(values) == 0:
        raise InputError(f"radii: found {radii!r} to choose from, expected a list of numbers above 0")
    shares = _check.sizes("radii (weights)", weights, len(values), "the radii to choose from")
    if not 0 < shares.sum() < math.inf:
        raise InputError(f"radii (weights): found {weights!r}, expected a sum above 0")
    ends = np.cumsum(shares) / shares.sum()
    last = int(np.flatnonzero(shares)[-1])

    def draw(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        chosen = np.minimum(np.searchsorted(ends, rng.random(count), side="right"), last)
        return values[chosen]

    return Sizes(float(values[shares > 0].min()), float(values[shares > 0].max()), draw)
