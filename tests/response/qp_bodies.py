"""Small cables and cloths that fall on something: one step of time as (K, b, J, c, E, e), for `qp_problems`.

Unknowns are changes of velocity, and everything is divided by the mass of a node: K = 1 + h(h + d) BᵀB k, and so on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

Rng = np.random.Generator
Floats = np.ndarray
Arrays = tuple[Any, Floats, Any, Floats, Any, Floats]

_STEP = 0.01  # s
_DAMPING = 1e-3  # s: dashpots beside springs, over their stiffness
_FALL = np.array([0.0, 0.0, -9.81])


def cable(rng: Rng, nodes: int, stiffness: float) -> Arrays:
    """Over a cylinder of 0.3 m along y, with its ends held and stretch limited at times."""
    angle = np.linspace(0.3, np.pi - 0.3, nodes)
    x = 0.3 * np.column_stack([np.cos(angle), 0.01 * np.sin(9 * angle), np.sin(angle)])
    chain = np.column_stack([np.arange(nodes - 1), np.arange(1, nodes)])
    skipping = np.column_stack([np.arange(nodes - 2), np.arange(2, nodes)])
    v = np.array([0.0, 0.0, -1.0]) + 0.3 * rng.normal(size=x.shape)
    K, b = _dynamics(rng, x, v, np.concatenate([chain, skipping]), stiffness)
    facets = np.arange(nodes) // 4
    J, c = _rows_on(rng, _facet_normals(x * [1, 0, 1], facets), facets, v, chain)
    if rng.integers(2):
        J, c = _add_strain(J, c, x, v, chain, 0.02)
    held = np.array([0, nodes - 1]) if rng.integers(2) else np.zeros(0, int)
    E, e = _hold(held, v)
    return K, b, J, c, E, e


def cloth(rng: Rng, side: int, stiffness: float) -> Arrays:
    """On a ball of 0.4 m, with a corner held at times."""
    places = np.linspace(-0.2, 0.2, side)
    across = np.stack(np.meshgrid(places, places, indexing="ij"), axis=-1).reshape(-1, 2)
    x = np.column_stack([across, np.sqrt(0.16 - (across**2).sum(axis=1))])
    node = np.arange(side * side).reshape(side, side)
    pairs = (node[1:], node[:-1]), (node[:, 1:], node[:, :-1]), (node[1:, 1:], node[:-1, :-1])
    springs = np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b in pairs])
    v = np.array([0.0, 0.0, -2.0]) + 0.2 * rng.normal(size=x.shape)
    K, b = _dynamics(rng, x, v, springs, stiffness)
    facets = (node // side // 2 * side + node % side // 2).ravel()
    J, c = _rows_on(rng, _facet_normals(x, facets), facets, v, springs)
    E, e = _hold(np.zeros(int(rng.integers(2)), int), v)
    return K, b, J, c, E, e


def _facet_normals(x: Floats, facets: Floats) -> Floats:
    """Of the plane under each node, which nodes of a facet share."""
    means = np.array([x[facets == facet].mean(axis=0) for facet in facets])
    return means / np.linalg.norm(means, axis=1, keepdims=True)


def _differences(springs: Floats, nodes: int) -> Any:
    rows, ones = np.arange(len(springs)), np.ones(len(springs))
    places = np.r_[rows, rows], springs.T.ravel()
    return sp.csr_matrix((np.r_[ones, -ones], places), shape=(len(springs), nodes))


def _dynamics(rng: Rng, x: Floats, v: Floats, springs: Floats, stiffness: float) -> tuple[Any, Floats]:
    """K and b of an implicit step; springs are stretched or pressed by up to 2 %."""
    apart = _differences(springs, len(x))
    along = apart @ x
    length = np.linalg.norm(along, axis=1)
    rest = length * rng.uniform(0.98, 1.02, len(springs))
    unit = along / length[:, None]
    dyads = unit[:, :, None] * unit[:, None, :]
    sideways = np.maximum(1 - rest / length, 0)[:, None, None] * (np.eye(3) - dyads)
    ends = sp.kron(apart, sp.eye_array(3)).tocsr()
    elastic = ends.T @ sp.block_diag(list(stiffness * (dyads + sideways))) @ ends
    damping = _DAMPING * stiffness * ends.T @ sp.block_diag(list(dyads)) @ ends
    pull = stiffness * ((length - rest) + _DAMPING * ((apart @ v) * unit).sum(axis=1))
    force = np.tile(_FALL, len(x)) - ends.T @ (pull[:, None] * unit).ravel()
    K = sp.csc_matrix(sp.eye_array(x.size) + _STEP**2 * elastic + _STEP * damping)
    return (K + K.T) / 2, _STEP * (force - _STEP * (elastic @ v.ravel()))


def _rows_on(rng: Rng, normals: Floats, facets: Floats, v: Floats, edges: Floats) -> tuple[Any, Floats]:
    """A row per node, (v + Δv)·n ≥ −gap/h, and rows of edges within a facet, which depend on those of their ends."""
    nodes = len(v)
    vertex = sp.csr_matrix(sp.block_diag([-normal[None] for normal in normals]))
    c = rng.exponential(0.008, nodes) / _STEP + (v * normals).sum(axis=1)
    within = edges[facets[edges[:, 0]] == facets[edges[:, 1]]]
    chosen = within[rng.uniform(size=len(within)) < 0.4]
    share = rng.uniform(0.2, 0.8, len(chosen))
    rows = np.arange(len(chosen))
    weights = sp.csr_matrix((np.r_[share, 1 - share], (np.r_[rows, rows], chosen.T.ravel())), (len(chosen), nodes))
    return sp.vstack([vertex, weights @ vertex], format="csr"), np.concatenate([c, weights @ c])


def _add_strain(J: Any, c: Floats, x: Floats, v: Floats, edges: Floats, most: float) -> tuple[Any, Floats]:
    """Edges that get no longer than (1 + most) times what they are."""
    apart = _differences(edges, len(x))
    along = apart @ x
    length = np.linalg.norm(along, axis=1)
    unit = along / length[:, None]
    rows = sp.block_diag([direction[None] for direction in unit]) @ sp.kron(apart, sp.eye_array(3))
    return sp.vstack([J, rows], format="csr"), np.r_[c, most * length / _STEP - ((apart @ v) * unit).sum(axis=1)]


def _hold(nodes: Floats, v: Floats) -> tuple[Any, Floats]:
    """Nodes that come to rest."""
    columns = (3 * nodes[:, None] + np.arange(3)).ravel()
    E = sp.csr_matrix((np.ones(len(columns)), (np.arange(len(columns)), columns)), shape=(len(columns), v.size))
    return E, -v[nodes].ravel()
