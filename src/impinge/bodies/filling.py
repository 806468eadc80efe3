"""Boxes filled with spheres (discs in two dimensions): at random, or on a lattice. `Rain` adds them over time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.bodies.insertion import Region, insert, push_apart
from impinge.bodies.rain import Rain
from impinge.bodies.sizes import BYTES, MOST, Filling, Sizes, read_corners, read_sizes, volume
from impinge.broad.space import read_length, read_space
from impinge.errors import InputError
from impinge.untrusted import check_room

__all__ = ["Filling", "Rain", "fill_lattice", "fill_random"]

_DENSEST = {2: math.pi / math.sqrt(12), 3: math.pi / math.sqrt(18)}  # fractions of equal spheres
_INSERTED = {2: 0.50, 3: 0.32}  # fractions up to which equal spheres are only inserted, not pushed
_START = {2: 0.40, 3: 0.28}  # fractions at which spheres are inserted that will be pushed
_ALIKE = 1.5  # largest radius over smallest, up to which spheres fill like equal ones
_FEW = 20  # spheres that are always tried to be inserted first, as fractions say little about them
_SHRINKS = 6  # times that spheres are inserted smaller, if there is no place even for such

Inside = Callable[[NDArray[np.float64]], ArrayLike]


def fill_random(
    lower: ArrayLike,
    upper: ArrayLike,
    radii: Any,
    *,
    fraction: float | None = None,
    count: int | None = None,
    seed: int = 0,
    gap: float = 0.0,
    avoid: tuple[ArrayLike, ArrayLike] | None = None,
    periodic: bool | ArrayLike = False,
    inside: Inside | None = None,
) -> Filling:
    """Spheres at random in a box, none of which touch.

    Largest first, places are tried at random and taken if they are free (random sequential insertion). Fractions that
    this does not reach (equal spheres: 0.32, discs: 0.50) are reached by inserting smaller spheres that grow and push
    each other apart: up to about 0.60 of the volume for equal spheres, 0.80 of the area for equal discs.

    Parameters
    ----------
    lower, upper : (d,) float64, m
        Corners of the box, d = 2 or 3. Spheres are wholly between them along axes that are not periodic.
    radii : float, (n,) float64, or a distribution, m
        One for all; one for each sphere, so that there are n; or drawn: ``("uniform", low, high)``;
        ``("lognormal", mean, sigma, low, high)``, ln r normal with deviation sigma, `mean` that of r before it is cut
        off; ``("power", low, high, exponent)``, numbers that go with r^exponent; ``("choice", radii, weights)``.
    fraction : float
        Share of the box's volume (area in two dimensions) to fill, within half a sphere. What `avoid` fills does not
        count, and what is not `inside` is volume too.
    count : int
        Instead of a fraction.
    seed : int
        Equal seeds give equal spheres, whatever the number of threads.
    gap : float, m
        Spheres are more than that apart from each other, not from the sides of the box.
    avoid : (centres (m, d), radii (m,)), m, optional
        Spheres that are there already. They may overlap each other and lie anywhere.
    periodic : bool or d of them
        Along such axes, spheres meet those at the other side. The box must be longer than twice the distance of the
        two largest spheres that touch.
    inside : function of (k, d) float64 points giving (k,) bool, optional
        Only where it is True there are **centres**; spheres reach out by up to a radius. For spheres wholly inside a
        solid pass e.g. ``lambda p: solid.distance(p) < -radius``. It is called with many points at a time, all in the
        box.

    Returns
    -------
    Filling
        centres (n, d) and radii (n,), in the order in which the radii were given or drawn.

    Examples
    --------
    >>> from impinge.bodies.filling import fill_random
    >>> centres, radii = fill_random((0, 0, 0), (1, 1, 1), 0.05, fraction=0.3)
    >>> len(centres)
    573
    """
    low, high = read_corners(lower, upper)
    d = len(low)
    sizes = read_sizes(radii)
    rng = np.random.Generator(np.random.PCG64(_check.integer("seed", seed, 0)))
    r = _draw_radii(sizes, fraction, count, rng, low, high)
    region = _read_region(low, high, periodic, gap, avoid, inside)
    _check_room(region, r)
    if len(r) == 0 and fraction:  # perhaps a radius in another unit
        smallest = np.array([sizes.low])
        _check_room(region, smallest)
        share = 0.5 * float(volume(smallest, d)[0]) / region.volume
        raise InputError(f"fraction: found {fraction:g}, expected more than {share:.3g}, that of half a sphere")
    share = float(volume(r, d).sum()) / region.volume
    if share > _DENSEST[d]:
        raise InputError(f"radii: found {share:.3g} of the box filled by them, expected at most {_DENSEST[d]:.2f}")
    if len(r) == 0:
        return Filling(np.empty((0, d)), r)
    alike = len(r) > _FEW and r.max() <= _ALIKE * r.min()
    placed, centres = 0, np.empty((0, 3))
    if not alike or share <= _INSERTED[d]:
        centres, placed = insert(region, r, rng)
    if placed < len(r):
        centres = _fill_densely(region, r, rng, share)
    return Filling(np.ascontiguousarray(centres[:, :d]), r)


def _fill_densely(
    region: Region, radii: NDArray[np.float64], rng: np.random.Generator, share: float
) -> NDArray[np.float64]:
    """Centres (n, 3) of spheres that were inserted smaller and pushed apart."""
    factor = min(_START[region.dimension] / share, 1.0) ** (1 / region.dimension)
    for turn in range(_SHRINKS):
        centres, placed = insert(region, factor * 0.8**turn * radii, rng)
        if placed == len(radii):
            break
    else:
        raise InputError(
            f"fraction, count: found {len(radii)} spheres, of which only {placed} have a place even if they are "
            f"{factor * 0.8**turn:.2f} times as large; make them fewer, or the box or the part inside larger"
        )
    centres, fits = push_apart(region, centres, radii)
    if fits < 1:
        raise InputError(
            f"fraction, count: found {len(radii)} spheres, {share:.3f} of the box, but reached only "
            f"{share * fits**region.dimension:.3f} without overlap; ask for less, or fill loosely and compress"
        )
    return centres


def _draw_radii(
    sizes: Sizes,
    fraction: float | None,
    count: int | None,
    rng: np.random.Generator,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> NDArray[np.float64]:
    if sizes.given is not None:
        if fraction is not None or count is not None:
            raise InputError(
                f"fraction, count: found one of them with {len(sizes.given)} radii, expected neither, as the radii "
                "tell the number of spheres"
            )
        return sizes.given
    if (fraction is None) == (count is None):
        found = "neither" if fraction is None else "both"
        raise InputError(f"fraction, count: found {found}, expected one of them")
    if fraction is None:
        number = _check.integer("count", count, 0, MOST)
        check_room("count", number, "spheres", BYTES)
        return sizes.take(rng, number)
    share = _check.not_negative("fraction", fraction)
    if share > _DENSEST[len(low)]:
        limit = f"at most {_DENSEST[len(low)]:.2f}, the densest packing"
        raise InputError(f"fraction: found {fraction!r}, expected {limit}; about 0.6 (0.8 of an area) can be reached")
    return sizes.fill(rng, share * float(np.prod(high - low)), len(low))


def _read_region(
    low: NDArray[np.float64], high: NDArray[np.float64], periodic: bool | ArrayLike, gap: float,
    avoid: tuple[ArrayLike, ArrayLike] | None, inside: Inside | None,
) -> Region:  # fmt: skip
    d = len(low)
    space = read_space(np.stack([low, high]), periodic, d)
    walls = np.stack([np.full(3, -np.inf), np.full(3, np.inf)])
    walled = space.period[:d] == 0
    walls[0, :d][walled], walls[1, :d][walled] = low[walled], high[walled]
    lengths = np.where(np.isfinite(space.lengths), space.lengths, 0.0)
    fixed = np.empty((0, 4))
    if avoid is not None:
        if not isinstance(avoid, tuple) or len(avoid) != 2:
            raise InputError(f"avoid: found {type(avoid).__name__}, expected a pair (centres, radii)")
        centres = _check.vectors("avoid centres", avoid[0], d)
        fixed = np.column_stack([space.wrap(centres), _check.sizes("avoid radii", avoid[1], len(centres), "them")])
        reach = fixed[:, 3:] + read_length("gap", gap)
        near = (fixed[:, :3] + reach >= walls[0]) & (fixed[:, :3] - reach <= walls[1])
        fixed = fixed[near.all(axis=1) & (fixed[:, 3] >= 0)]
    wanted = None if inside is None else _checked(inside)
    return Region(d, space.low, lengths, space.period, walls, read_length("gap", gap), fixed, wanted)


def _checked(inside: Inside) -> Callable[[NDArray[np.float64]], NDArray[np.bool_]]:
    if not callable(inside):
        raise InputError(f"inside: found {type(inside).__name__}, expected a function of points")

    def ask(points: NDArray[np.float64]) -> NDArray[np.bool_]:
        answer = np.asarray(inside(points))
        if answer.shape != (len(points),) or answer.dtype != np.bool_:
            found = f"{answer.dtype} of shape {answer.shape}"
            raise InputError(f"inside: found {found} for {len(points)} points, expected as many booleans")
        return answer

    return ask


def _check_room(region: Region, radii: NDArray[np.float64]) -> None:
    """Every sphere must fit, and meet every other one only once."""
    if len(radii) == 0:
        return
    largest = float(radii.max())
    both = np.sort(np.concatenate([radii, region.fixed[:, 3]]))[-2:]
    for axis in range(region.dimension):
        length = float(region.lengths[axis])
        if 2 * largest > length:
            raise InputError(
                f"radii: found {largest:g}, expected at most {length / 2:g}, half of the box along {'xyz'[axis]}"
            )
        if region.period[axis] > 0 and len(both) == 2 and not 2 * (both.sum() + region.gap) < length:
            raise InputError(
                f"upper: found a periodic box {length:g} long along {'xyz'[axis]}, expected more than "
                f"{2 * (both.sum() + region.gap):g}, twice the distance at which the two largest spheres meet"
            )


def fill_lattice(
    lower: ArrayLike,
    upper: ArrayLike,
    radii: Any,
    *,
    kind: str = "cubic",
    spacing: float | None = None,
    jitter: float = 0.0,
    count: int | None = None,
    seed: int = 0,
) -> Filling:
    """Spheres on a regular lattice, from the lower corner up.

    Parameters
    ----------
    lower, upper : (d,) float64, m
        Corners of the box, d = 2 or 3. Centres are at least half a spacing away from its sides.
    radii : float, (n,) float64, or a distribution, m
        As for `fill_random`; n of them take the first n places.
    kind : {"cubic", "hexagonal"}
        Simple cubic (square), or hexagonal close packing with layers along the last axis (triangular). Neighbours are
        a spacing apart.
    spacing : float, m, optional
        Twice the largest radius by default, so that the largest touch; rounding may make them overlap in the last bit.
    jitter : float, 0 to 1
        Every sphere is moved at random by up to this part of half of what the spacing leaves free, spacing / 2 − r, so
        that none overlap.
    count : int, optional
        Take the first places only.
    seed : int

    Returns
    -------
    Filling
        Along x first, then y, then z.

    Examples
    --------
    >>> from impinge.bodies.filling import fill_lattice
    >>> fill_lattice((0, 0), (1, 1), 0.25).centres.tolist()
    [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]]
    """
    low, high = read_corners(lower, upper)
    sizes = read_sizes(radii)
    _check.choice("kind", kind, ["cubic", "hexagonal"])
    rng = np.random.Generator(np.random.PCG64(_check.integer("seed", seed, 0)))
    if sizes.given is not None:
        if count is not None:
            raise InputError(f"count: found {count} with {len(sizes.given)} radii, expected None, as these tell it")
        count = len(sizes.given)
    if count is not None and _check.integer("count", count, 0, MOST) == 0:
        return Filling(np.empty((0, len(low))), np.empty(0))
    step = 2 * sizes.high if spacing is None else _check.positive("spacing", spacing)
    if step < 2 * sizes.high:
        raise InputError(f"spacing: found {step:g}, expected at least {2 * sizes.high:g}, twice the largest radius")
    part = _check.not_negative("jitter", jitter)
    if part > 1:
        raise InputError(f"jitter: found {jitter!r}, expected 0 to 1")
    places = _lattice(low, high, step, kind, count)
    if len(places) == 0 or (count is not None and len(places) < count):
        wanted = "1" if count is None else str(count)
        raise InputError(f"spacing: found {step:g}, which gives {len(places)} places in the box, expected {wanted}")
    r = sizes.take(rng, len(places))
    if part > 0:
        places = places + _moves(rng, part * (step / 2 - r), len(low))
    return Filling(np.clip(places, low + r[:, None], high - r[:, None]), r)


def _lattice(
    low: NDArray[np.float64], high: NDArray[np.float64], step: float, kind: str, count: int | None
) -> NDArray[np.float64]:
    """(n, d) places, at most `count`."""
    d = len(low)
    rises = np.ones(d)
    if kind == "hexagonal":
        rises[1:] = [math.sqrt(3) / 2, math.sqrt(2 / 3)][: d - 1]
    # Rounding must not cost a row: a box of ten spacings holds ten.
    numbers = np.floor((high - low - step) / (step * rises) + 1e-9) + 1
    if (numbers < 1).any():
        return np.empty((0, d))
    if count is not None:  # not more layers than needed, for boxes of any height
        full = float(np.prod(np.maximum(numbers[:-1] - 1, 1)))
        numbers[-1] = min(numbers[-1], math.ceil(count / full))
    places = math.prod(numbers.tolist())
    if not places <= MOST:
        raise InputError(f"spacing: found {step:g}, which gives {places:.3g} places in the box, too many")
    check_room("spacing", places, "places", BYTES)
    axes = np.meshgrid(*[np.arange(n) for n in numbers[::-1]], indexing="ij")
    index = np.stack([axis.ravel() for axis in axes[::-1]], axis=1)
    places = low + step / 2 + step * rises * index
    if kind == "hexagonal":
        odd = index % 2
        places[:, 0] += step / 2 * (odd[:, 1] if d == 2 else (odd[:, 1] + odd[:, 2]) % 2)
        if d == 3:
            places[:, 1] += step / math.sqrt(12) * odd[:, 2]
        places = places[(places <= high - step / 2 + 1e-9 * step).all(axis=1)]
    return places[:count]


def _moves(rng: np.random.Generator, most: NDArray[np.float64], dimension: int) -> NDArray[np.float64]:
    """(n, d) vectors, uniform in balls of the radii `most` (n,)."""
    vectors = rng.normal(size=(len(most), dimension))
    vectors /= np.maximum(np.sqrt((vectors**2).sum(axis=1)), 1e-300)[:, None]
    # A little less than all: touching spheres stay apart whatever the rounding.
    lengths = most * (1 - 1e-9) * rng.random(len(most)) ** (1 / dimension)
    vectors *= lengths[:, None]
    return vectors
