"""Families of queries, random and constructed, for all degenerate cases: arrays (n, points, axes) at t = 0 and 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Query = tuple[np.ndarray, np.ndarray]
POINTS = {"vertex_triangle": 4, "edge_edge": 4, "point_segment": 3}
AXES = {"vertex_triangle": 3, "edge_edge": 3, "point_segment": 2}
SPLIT = {"vertex_triangle": 1, "edge_edge": 2, "point_segment": 1}  # so many points are the first body


def make(name: str, kind: str, count: int, seed: int = 0) -> Query:
    """Queries of a family."""
    rng = np.random.default_rng([seed, sorted(FAMILIES).index(name), sorted(POINTS).index(kind)])
    x0, x1 = FAMILIES[name](rng, kind, (count, POINTS[kind], AXES[kind]))
    return np.ascontiguousarray(x0, np.float64), np.ascontiguousarray(x1, np.float64)


def _random(rng, kind, shape):
    x0 = rng.uniform(0, 1, shape)
    return x0, x0 + rng.uniform(-0.25, 0.25, shape)


def _crossing(rng, kind, shape):
    return rng.normal(size=shape), rng.normal(size=shape)


def _meeting(rng, kind, shape, weights=None):
    """Bodies with a common point at a time in between."""
    count, split = shape[0], SPLIT[kind]
    x0, x1, time = rng.normal(size=shape), rng.normal(size=shape), rng.uniform(0.05, 1, (count, 1))
    first, second = _weights(rng, count, split), _weights(rng, count, shape[1] - split)
    first, second = (first, second) if weights is None else (weights(first), weights(second))
    x = (1 - time[:, None]) * x0 + time[:, None] * x1
    off = np.einsum("nk,nka->na", second, x[:, split:]) - np.einsum("nk,nka->na", first, x[:, :split])
    x1 = x1.copy()
    x1[:, :split] += (off / time)[:, None]
    return x0, x1


def _weights(rng, count, corners):
    return rng.dirichlet(np.ones(corners), count)


def _meeting_at_corners(rng, kind, shape):
    return _meeting(rng, kind, shape, lambda w: (w == w.max(axis=1, keepdims=True)).astype(float))


def _meeting_at_sides(rng, kind, shape):
    def on_side(w):
        w = np.where(w == w.min(axis=1, keepdims=True), 0.0, w) if w.shape[1] > 2 else w
        return w / w.sum(axis=1, keepdims=True)

    return _meeting(rng, kind, shape, on_side)


def _just_missing(rng, kind, shape):
    """Like meeting ones, moved apart by 1e-9 to 1e-3 sideways."""
    x0, x1 = _meeting_at_corners(rng, kind, shape)
    away = rng.normal(size=(shape[0], 1, shape[2])) * 10.0 ** rng.uniform(-9, -3, (shape[0], 1, 1))
    x0[:, : SPLIT[kind]] += away
    x1[:, : SPLIT[kind]] += away
    return x0, x1


def _lattice(rng, kind, shape):
    return rng.integers(-2, 3, shape), rng.integers(-2, 3, shape)


def _small_lattice(rng, kind, shape):
    return rng.integers(0, 2, shape), rng.integers(0, 2, shape)


def _coplanar(rng, kind, shape):
    x0, x1 = rng.integers(-4, 5, shape), rng.integers(-4, 5, shape)
    x0[..., -1] = x1[..., -1] = 0
    return x0, x1


def _parallel(rng, kind, shape):
    """Edges along x at all times, and triangles whose first side is."""
    x0, x1 = rng.integers(-3, 4, shape).astype(float), rng.integers(-3, 4, shape).astype(float)
    for x in (x0, x1):
        if kind == "edge_edge":
            x[:, 1, 1:] = x[:, 0, 1:]
        x[:, -1, 1:] = x[:, -2, 1:]
    return x0, x1


def _collinear(rng, kind, shape):
    x0, x1 = np.zeros(shape), np.zeros(shape)
    x0[..., 0], x1[..., 0] = rng.integers(-6, 7, shape[:2]), rng.integers(-6, 7, shape[:2])
    return x0, x1


def _without_area(rng, kind, shape):
    """Two corners of the last body are one."""
    x0, x1 = rng.integers(-2, 3, shape), rng.integers(-2, 3, shape)
    x0[:, -1], x1[:, -1] = x0[:, -2], x1[:, -2]
    return x0, x1


def _points_only(rng, kind, shape):
    """Both bodies are points."""
    x0, x1, split = rng.integers(-1, 2, shape), rng.integers(-1, 2, shape), SPLIT[kind]
    for x in (x0, x1):
        x[:, :split], x[:, split:] = x[:, :1], x[:, split : split + 1]
    return x0, x1


def _at_rest(rng, kind, shape):
    x0 = rng.integers(-2, 3, shape)
    return x0, x0.copy()


def _common_motion(rng, kind, shape):
    x0 = rng.integers(-2, 3, shape)
    return x0, x0 + rng.integers(-(10**6), 10**6, (shape[0], 1, shape[2]))


def _reversed(rng, kind, shape):
    """Touching at the end, or from the start on."""
    x0, x1 = _meeting(rng, kind, shape)
    swap = rng.integers(0, 2, shape[0]).astype(bool)[:, None, None]
    x1 = np.round(x1 * 2**20) / 2**20
    return np.where(swap, x1, x0), np.where(swap, x0, x1)


def _fast(rng, kind, shape):
    """Motions of up to 1e6 times the size."""
    x0, x1 = rng.normal(size=shape), rng.normal(size=shape)
    way = rng.normal(size=(shape[0], 1, shape[2])) * 10.0 ** rng.uniform(0, 6, (shape[0], 1, 1))
    x0[:, : SPLIT[kind]] -= way * rng.uniform(0, 1, (shape[0], 1, 1))
    x1[:, : SPLIT[kind]] += way * rng.uniform(0, 1, (shape[0], 1, 1))
    return x0, x1


def _all_scales(rng, kind, shape):
    """Coordinates from 1e-8 to 1e8, each on its own."""

    def scaled():
        return rng.choice([-1.0, 1.0], shape) * 10.0 ** rng.uniform(-8, 8, shape)

    return scaled(), scaled()


def _scaled(rng, kind, shape):
    """Meeting ones, from 1e-8 to 1e8 in size."""
    x0, x1 = _meeting(rng, kind, shape)
    size = 10.0 ** rng.uniform(-8, 8, (shape[0], 1, 1))
    return x0 * size, x1 * size


def _far_away(rng, kind, shape):
    x0, x1 = _meeting(rng, kind, shape)
    place = 10.0 ** rng.uniform(0, 8, (shape[0], 1, 1)) * rng.normal(size=(shape[0], 1, shape[2]))
    return x0 + place, x1 + place


def _needles(rng, kind, shape):
    x0, x1 = _meeting(rng, kind, shape)
    thin = np.where(np.arange(shape[2]) == 0, 1.0, 10.0 ** rng.uniform(-9, 0, (shape[0], 1, 1)))
    return x0 * thin, x1 * thin


def _turning(rng, kind, shape):
    """Slender and flat bodies that turn about the origin together."""
    slender, flat = 10.0 ** rng.uniform(-4, 0, shape[0]), 10.0 ** rng.uniform(-9, 0, shape[0])
    x0 = rng.normal(size=shape) * np.column_stack([np.ones(shape[0]), slender, flat])[:, None, : shape[2]]
    turn = np.linalg.qr(rng.normal(size=(shape[0], shape[2], shape[2])))[0]
    return x0, x0 @ turn


FAMILIES: dict[str, Callable[..., Query]] = {
    "random": _random, "crossing": _crossing, "meeting": _meeting, "meeting at corners": _meeting_at_corners,
    "meeting at sides": _meeting_at_sides, "just missing": _just_missing, "lattice": _lattice,
    "small lattice": _small_lattice, "coplanar": _coplanar, "parallel": _parallel, "collinear": _collinear,
    "without area": _without_area, "points only": _points_only, "at rest": _at_rest, "common motion": _common_motion,
    "reversed": _reversed, "fast": _fast, "all scales": _all_scales, "scaled": _scaled, "far away": _far_away,
    "needles": _needles, "turning": _turning,
}  # fmt: skip
WELL_CONDITIONED = ("random", "crossing", "meeting", "scaled")
# Lengths in one query up to 1e16 and 1e9 apart: rounding of the large ones is more than, or as much as, the small ones
UNEVEN = ("all scales", "turning")
