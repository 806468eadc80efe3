"""Elastic parts of all kinds, tied together, and their energy by the formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

from impinge.bodies.soft.cable import cable_parts
from impinge.bodies.soft.cloth import cloth_parts
from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.parts import Membranes, Parts, Springs, join

from .soft_bodies import CABLE, CLOTH, Floats, sheet


def everything(seed: int = 0) -> tuple[Parts, Floats]:
    """Open and closed cables and a crumpled cloth, tied together by springs and a membrane; and their positions."""
    rng = np.random.default_rng(seed)
    x, faces = sheet(4, 3)
    x = x + rng.normal(size=x.shape) * 0.05
    ring, rope = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    bodies = [
        cloth_parts(x, faces, **CLOTH, warp=[1, 2, 0]),
        cable_parts(ring, closed=True, **CABLE),
        cable_parts(rope, **CABLE),
    ]
    parts = join(bodies)
    ties = Springs(np.array([[0, 20], [13, 3], [3, 0]], np.int32), np.array([9.0, 4.0, 1.0]), np.array([1.0, 0.5, 2.0]))
    patch = Membranes(np.array([[20, 2, 14]], np.int32), rng.normal(size=(1, 3, 2)), np.array([[5.0, 6.0, 7.0]]))
    return join_ties(parts, ties, patch), np.concatenate([x, ring, rope])


def join_ties(parts: Parts, ties: Springs, patch: Membranes) -> Parts:
    springs = Springs(*(np.concatenate(pair) for pair in zip(parts.springs, ties, strict=True)))
    membranes = Membranes(*(np.concatenate(pair) for pair in zip(parts.membranes, patch, strict=True)))
    return parts._replace(springs=springs, membranes=membranes)


PARTS, REST = everything()


ELEMENTS = Elements(PARTS)


def naive_energies(parts: Parts, x: Any) -> list[Any]:
    """The formulas, one element after the other; x may be complex."""

    def length(d: Any) -> Any:
        return np.sqrt((d * d).sum())

    stretch = bend = membrane = hinge = 0.0
    for (i, j), k, rest in zip(*parts.springs, strict=True):
        stretch += 0.5 * k * (length(x[j] - x[i]) - rest) ** 2
    for nodes, w, k in zip(*parts.bends, strict=True):
        bend += 0.5 * k * ((w @ x[nodes]) ** 2).sum()
    for nodes, w, k in zip(*parts.hinges, strict=True):
        hinge += 0.5 * k * ((w @ x[nodes]) ** 2).sum()
    for nodes, rest, (ku, kv, ks) in zip(*parts.membranes, strict=True):
        flat = (rest[1:] - rest[0]).T
        u, v = ((x[nodes[1:]] - x[nodes[0]]).T @ np.linalg.inv(flat)).T
        energy = 0.5 * (ku * (length(u) - 1) ** 2 + kv * (length(v) - 1) ** 2 + ks * (u * v).sum() ** 2)
        membrane += 0.5 * abs(np.linalg.det(flat)) * energy
    return [stretch, bend, membrane, hinge]


def deformed(x: Floats, seed: int, size: float) -> Floats:
    return x + np.random.default_rng(seed).normal(size=x.shape) * size
