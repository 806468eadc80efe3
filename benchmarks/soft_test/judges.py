"""What a run is worth, from its stored positions alone, the same for every engine.

Obstacles are judged by their true, smooth shapes, and what passes through what by the exact and conservative decisions
of `impinge.ccd` on the motion between two stored states.
"""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.soft_test.engine import Run
from benchmarks.soft_test.scenes import Body, Cloth, Cylinder, Floats, Floor, Ints, Obstacle, Scene
from impinge import ccd

_TINY = 1e-300  # in place of a length of 0


@dataclass(frozen=True)
class Judgement:
    """All judgements of a run; lengths in m."""

    clearance: float  # least distance of the middle surface or line from an obstacle; below 0 it is inside
    nearest: float  # least distance of two parts of the body without a common node, up to its thickness
    crossings: int  # steps in which parts of the body pass through each other, or touch
    tangled: int  # states in which parts of the body intersect
    strain: float  # largest elongation of an edge
    usual_strain: float  # which one edge in a thousand, and one state, has
    shortening: float  # largest, of an edge
    centre: list[float]  # of mass, at the end

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def judge(scene: Scene, run: Run) -> Judgement:
    body, states = scene.body, run.states
    strains = edge_strains(body, states)
    faces = body.faces if isinstance(body, Cloth) else None
    crossings = sum(not ccd.is_free(x0, x1, body.edges, faces) for x0, x1 in itertools.pairwise(states))
    tangled = sum(ccd.self_intersections(x, body.edges, faces).total > 0 for x in states)
    return Judgement(
        clearance=min(clearance(body, obstacle, states) for obstacle in scene.obstacles),
        nearest=0.0 if tangled else min(nearest_parts(body, x, 2 * body.gap) for x in states),
        crossings=crossings,
        tangled=tangled,
        strain=float(strains.max()),
        usual_strain=float(np.quantile(strains, 0.999)),
        shortening=-float(strains.min()),
        centre=(body.masses @ states[-1] / body.masses.sum()).tolist(),
    )


def edge_strains(body: Body, states: Floats) -> Floats:
    """How much longer than at the start every edge is in every state, as a share: (k, m)."""
    lengths = np.linalg.norm(states[:, body.edges[:, 1]] - states[:, body.edges[:, 0]], axis=2)
    return lengths / np.linalg.norm(body.x[body.edges[:, 1]] - body.x[body.edges[:, 0]], axis=1) - 1


def departure(run: Run, reference: Run) -> float:
    """Root mean square distance of nodes from where they are in another run, over all states, m."""
    times = run.dt * np.arange(len(run.states))
    times = times[times <= reference.simulated * (1 + 1e-9)]
    place = times / reference.dt
    before = np.minimum(place.astype(int), len(reference.states) - 2)
    share = (place - before)[:, None, None]
    there = (1 - share) * reference.states[before] + share * reference.states[before + 1]
    return float(np.sqrt(((run.states[: len(times)] - there) ** 2).sum(axis=2).mean()))


# Distances


def clearance(body: Body, obstacle: Obstacle, states: Floats) -> float:
    """Least distance of the middle of a body from the surface of an obstacle, m; below 0 inside."""
    if isinstance(obstacle, Floor):
        return float(states[:, :, 2].min()) - obstacle.height
    from_centre = states - np.array(obstacle.centre)
    if isinstance(obstacle, Cylinder):
        from_centre[:, :, 1] = 0.0  # seen along the axis
    corners = body.faces if isinstance(body, Cloth) else body.edges
    return min(float(_origin_to(x[corners]).min()) for x in from_centre) - obstacle.radius


def nearest_parts(body: Body, x: Floats, far: float) -> float:
    """Least distance of a node and a face, or two edges, without a common node, m; `far` if it is larger."""
    faces = body.faces if isinstance(body, Cloth) else np.empty((0, 3), np.int32)
    near = ccd.touching(x, body.edges, faces, gap=far)
    corners = x[faces[near.vertex_faces[:, 1]]] - x[near.vertex_faces[:, 0]][:, None]
    to_faces = _origin_to(corners).min(initial=far)
    return float(_between_segments(x, body.edges, near.edge_edges).min(initial=to_faces))


def _origin_to(corners: Floats) -> Floats:
    """Distances of the origin from segments (n, 2, 3) or triangles (n, 3, 3)."""
    if corners.shape[1] == 2:
        return _origin_to_segments(corners[:, 0], corners[:, 1])
    a, b, c = (corners[:, corner] for corner in range(3))
    sides = np.minimum(np.minimum(_origin_to_segments(a, b), _origin_to_segments(b, c)), _origin_to_segments(c, a))
    normal = np.cross(b - a, c - a)
    size_sq = (normal * normal).sum(axis=1)
    # The foot of the perpendicular is inside if it is on the inner side of all three sides.
    inside = size_sq > 0
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(p, q) * normal).sum(axis=1) >= 0
    height = np.abs((a * normal).sum(axis=1)) / np.sqrt(np.maximum(size_sq, _TINY))
    return np.where(inside, np.minimum(height, sides), sides)


def _origin_to_segments(a: Floats, b: Floats) -> Floats:
    along = b - a
    share = -(a * along).sum(axis=1) / np.maximum((along * along).sum(axis=1), _TINY)
    return np.linalg.norm(a + np.clip(share, 0, 1)[:, None] * along, axis=1)


def _between_segments(x: Floats, edges: Ints, pairs: Ints) -> Floats:
    """Distances of pairs of edges: between inner points, or of an end from the other edge."""
    a, b = (x[edges[pairs[:, 0], end]] for end in (0, 1))
    c, d = (x[edges[pairs[:, 1], end]] for end in (0, 1))
    ends = np.min(
        [
            _origin_to_segments(c - a, d - a),
            _origin_to_segments(c - b, d - b),
            _origin_to_segments(a - c, b - c),
            _origin_to_segments(a - d, b - d),
        ],
        axis=0,
    )
    u, v, w = b - a, d - c, c - a
    normal = np.cross(u, v)
    size_sq = (normal * normal).sum(axis=1)
    first, second = ((np.cross(w, along) * normal).sum(axis=1) for along in (v, u))
    inner = (size_sq > 0) & (first >= 0) & (first <= size_sq) & (second >= 0) & (second <= size_sq)
    height = np.abs((w * normal).sum(axis=1)) / np.sqrt(np.maximum(size_sq, _TINY))
    return np.where(inner, np.minimum(height, ends), ends)
