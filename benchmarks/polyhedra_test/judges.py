"""How deep bodies are in each other and in walls: one judge for all engines, who knows positions only."""

from __future__ import annotations

from typing import Any

import numpy as np

import impinge
from benchmarks.polyhedra_test.kinds import SIZE, Floats
from benchmarks.polyhedra_test.ours import spread
from benchmarks.polyhedra_test.scenes import Bodies


def depths(bodies: Bodies, positions: Floats, rotations: Floats) -> tuple[Floats, Floats]:
    """Of all pairs that overlap, and of all bodies with each wall that they are in, m; of the true surfaces."""
    solids = [impinge.Solid(kind.mesh) for kind in bodies.kinds]
    views = [solids[kind].at(turn, place) for kind, turn, place in zip(bodies.of, rotations, positions, strict=True)]
    found = impinge.collisions(views)
    pairs = np.array([detail.depths.max(initial=0.0) for detail in found.details])
    x, y = bodies.box
    ways = [(np.eye(3)[0], 0.0), (np.eye(3)[1], 0.0), (np.eye(3)[2], 0.0), (-np.eye(3)[0], x), (-np.eye(3)[1], y)]
    walls = [
        -(bodies.kinds[kind].mesh.vertices @ (turn.T @ normal) + place @ normal + gap).min()
        for kind, turn, place in zip(bodies.of, rotations, positions, strict=True)
        for normal, gap in ways
    ]
    return pairs, np.array([depth for depth in walls if depth > 0])


def judge(bodies: Bodies, positions: Floats, rotations: Floats) -> dict[str, Any]:
    """Depths over the size of bodies, how many bodies are out of the box, and how high the pile is."""
    pairs, walls = depths(bodies, positions, rotations)
    x, y = bodies.box
    out = (positions < 0).any(axis=1) | (positions[:, 0] > x) | (positions[:, 1] > y)
    return {
        "overlaps": len(pairs),
        "in_walls": len(walls),
        "depths": {name: value / SIZE for name, value in spread(np.concatenate([pairs, walls])).items()},
        "outside": int(out.sum()),
        "height": float(positions[:, 2].mean()),
    }
