"""Quadratic programs of one step of time: cables over a cylinder, cloth on a ball, two cloths on each other.

    minimise  ½ xᵀKx − bᵀx   subject to   Jx ≤ c, Ex = e

x are changes of velocity. K = M − h² ∂f/∂x − h ∂f/∂v and b = h (f + h ∂f/∂x v) of springs and dashpots, divided by the
mean mass of a node. Many rows depend on others: those of edges are means of those of their ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_GRAVITY = np.array([0.0, 0.0, -9.81])  # m/s²
_DAMPING = 1e-3  # s, dashpots over springs


@dataclass(frozen=True)
class Program:
    """One problem."""

    kind: str  # "cable", "cloth" or "self-contact"
    body: str  # all problems of a body have the same K
    name: str
    K: Any  # csc
    b: Floats
    J: Any  # csr
    c: Floats
    E: Any  # csr, each row of one entry, 1
    e: Floats

    @property
    def size(self) -> str:
        return f"{len(self.b):,} unknowns, {len(self.c):,} rows, {len(self.e):,} fixed"


# Springs


@dataclass(frozen=True)
class _Springs:
    ends: Ints  # (s, 2)
    stiffness: Floats  # N/m
    rest: Floats  # m


def _bars(matrices: Floats, ends: Ints, nodes: int) -> Any:
    """Sum of 3×3 matrices between the ends of springs: +B on the diagonal blocks, −B beside."""
    i, j = ends.T
    blocks = np.concatenate([matrices, matrices, -matrices, -matrices])
    first, second = np.concatenate([i, j, i, j]), np.concatenate([i, j, j, i])
    axes = np.arange(3)
    rows = np.broadcast_to(3 * first[:, None, None] + axes[:, None], blocks.shape)
    columns = np.broadcast_to(3 * second[:, None, None] + axes, blocks.shape)
    return sp.csc_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(3 * nodes, 3 * nodes))


def _dynamics(x: Floats, v: Floats, mass: float, springs: _Springs, step: float) -> tuple[Any, Floats]:
    """K and b, both over the mass of a node; what springs under pressure would take from K sideways is left out."""
    i, j = springs.ends.T
    length = np.linalg.norm(x[i] - x[j], axis=1)
    along = (x[i] - x[j]) / length[:, None]
    damping = _DAMPING * springs.stiffness
    pull = springs.stiffness * (length - springs.rest) + damping * ((v[i] - v[j]) * along).sum(axis=1)
    force = np.full(x.shape, mass * _GRAVITY)
    np.add.at(force, i, -pull[:, None] * along)
    np.add.at(force, j, pull[:, None] * along)
    dyads = along[:, :, None] * along[:, None, :]
    sideways = np.maximum(1 - springs.rest / length, 0)[:, None, None]
    elastic = _bars(springs.stiffness[:, None, None] * (dyads + sideways * (np.eye(3) - dyads)), springs.ends, len(x))
    viscous = _bars(damping[:, None, None] * dyads, springs.ends, len(x))
    K = sp.csc_matrix((mass * sp.eye_array(x.size) + step**2 * elastic + step * viscous) / mass)
    K.sort_indices()
    return K, step * (force.ravel() - step * (elastic @ v.ravel())) / mass


# Rows


def _rows(nodes: Ints, weights: Floats, normals: Floats, count: int) -> Any:
    """Rows Σ w_k n·x_k: nodes and weights (m, k), normals (m, 3)."""
    values = weights[:, :, None] * normals[:, None, :]
    columns = 3 * nodes[:, :, None] + np.arange(3)
    rows = np.broadcast_to(np.arange(len(nodes))[:, None, None], values.shape)
    found = sp.csr_matrix((values.ravel(), (rows.ravel(), columns.ravel())), shape=(len(nodes), 3 * count))
    found.eliminate_zeros()
    return found


def _vertex_rows(nodes: Ints, normals: Floats, gaps: Floats, v: Floats, step: float) -> tuple[Any, Floats]:
    """Nodes stay off a plane: −n·x ≤ gap/h + n·v."""
    J = _rows(nodes[:, None], np.full((len(nodes), 1), -1.0), normals, len(v))
    return J, gaps / step + (v[nodes] * normals).sum(axis=1)


def _edge_rows(rng: np.random.Generator, J: Any, c: Floats, pairs: Ints) -> tuple[Any, Floats]:
    """Below the vertex rows: means of pairs of them, with random weights."""
    weights = rng.uniform(0.2, 0.8, len(pairs))
    means = sp.csr_matrix(
        (
            np.concatenate([weights, 1 - weights]),
            (np.tile(np.arange(len(pairs)), 2), pairs.T.ravel()),
        ),
        shape=(len(pairs), len(c)),
    )
    return sp.csr_matrix(sp.vstack([J, means @ J])), np.concatenate([c, means @ c])


def _hold(nodes: Ints, v: Floats) -> tuple[Any, Floats]:
    """Nodes come to rest."""
    columns = (3 * nodes[:, None] + np.arange(3)).ravel()
    rows = np.arange(len(columns))
    return sp.csr_matrix((np.ones(len(columns)), (rows, columns)), shape=(len(columns), v.size)), -v[nodes].ravel()


def _mean_directions(x: Floats, facets: Ints) -> Floats:
    """Unit normals of facets of a round body about the origin: through the mean of their nodes; one per node."""
    _, members = np.unique(facets, return_inverse=True)
    means = np.stack([np.bincount(members, x[:, axis]) for axis in range(3)], axis=1)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return means[members]


# Bodies


def cable(nodes: int, *, with_strain: bool = False) -> Program:
    """2 m and 1 kg of stiff cable (10⁶ N/m) that falls on a cylinder of 0.3 m, step 10 ms.

    with_strain : its ends are held, and no link gets longer by more than 1 %.
    """
    rng = np.random.default_rng(0)
    step, radius, link = 0.01, 0.3, 2.0 / (nodes - 1)
    place = np.linspace(-1.0, 1.0, nodes)
    quarter = np.pi * radius / 2
    is_on = np.abs(place) < quarter
    angle = np.pi / 2 - place / radius
    over = np.column_stack([radius * np.cos(angle), 0 * place, radius * np.sin(angle)])
    beside = np.column_stack([np.sign(place) * radius, 0 * place, -(np.abs(place) - quarter)])
    x = np.where(is_on[:, None], over, beside)
    x[:, 1] += 1e-3 * np.sin(20 * place)
    waves = np.column_stack([np.sin(9 * place), np.cos(7 * place), np.sin(5 * place)])
    v = np.array([0, 0, -1.0]) + 0.3 * waves + 0.02 * rng.normal(size=(nodes, 3))

    number = np.arange(nodes)
    links, braces = (np.column_stack([number[:-k], number[k:]]) for k in (1, 2))
    springs = _Springs(
        np.concatenate([links, braces]),
        np.concatenate([np.full(nodes - 1, 1e6), np.full(nodes - 2, 1e4)]),
        np.concatenate([np.full(nodes - 1, link), np.full(nodes - 2, 2 * link)]),
    )
    K, b = _dynamics(x, v, 1.0 / nodes, springs, step)

    on = np.flatnonzero(is_on)
    facets = np.arange(len(on)) // 8
    normals = _mean_directions(x[on] * [1, 0, 1], facets)
    J, c = _vertex_rows(on, normals, 8e-3 * np.abs(rng.normal(size=len(on))), v, step)
    first = rng.permutation(len(on) - 1)
    first = first[facets[first] == facets[first + 1]][: int(0.3 * len(on))]
    J, c = _edge_rows(rng, J, c, np.column_stack([first, first + 1]))
    if with_strain:
        J, c = _limit_stretch(J, c, x, v, links, 1.01 * link, step)
    E, e = _hold(number[[0, -1]] if with_strain else number[:0], v)
    body = f"cable {nodes:,}"
    return Program("cable", body, f"{body} held, strain" if with_strain else body, K, b, J, c, E, e)


def _limit_stretch(
    J: Any, c: Floats, x: Floats, v: Floats, links: Ints, longest: float, step: float
) -> tuple[Any, Floats]:
    i, j = links.T
    length = np.linalg.norm(x[i] - x[j], axis=1)
    along = (x[i] - x[j]) / length[:, None]
    rows = _rows(links, np.tile([1.0, -1.0], (len(links), 1)), along, len(x))
    bounds = (longest - length) / step - ((v[i] - v[j]) * along).sum(axis=1)
    return sp.csr_matrix(sp.vstack([J, rows])), np.concatenate([c, bounds])


def _square(side: int) -> tuple[Floats, Floats, Ints]:
    """Lattice of 1 m² about the origin: the two coordinates, (side, side) each, and the numbers of the nodes."""
    places = np.linspace(-0.5, 0.5, side)
    across, along = np.meshgrid(places, places, indexing="ij")
    return across, along, np.arange(side * side).reshape(side, side)


def _woven(number: Ints, flat: Floats, spacing: float) -> _Springs:
    """Springs along both directions and both diagonals, and weak ones that skip a node against bending."""
    pairs = [
        (number[1:], number[:-1]), (number[:, 1:], number[:, :-1]), (number[1:, 1:], number[:-1, :-1]),
        (number[1:, :-1], number[:-1, 1:]), (number[2:], number[:-2]), (number[:, 2:], number[:, :-2]),
    ]  # fmt: skip
    ends = np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b in pairs])
    rest = np.linalg.norm(flat[ends[:, 0]] - flat[ends[:, 1]], axis=1)
    return _Springs(ends, np.where(rest > 1.9 * spacing, 250.0, 5000.0), rest)


def cloth(side: int, rows: int) -> Program:
    """1 m² and 0.2 kg of cloth that falls on a ball of 0.4 m, step 5 ms; three rows of four are of nodes."""
    rng = np.random.default_rng(0)
    step, radius = 0.005, 0.4
    across, along, number = _square(side)
    off_sq = (across**2 + along**2).ravel()
    rim = np.sqrt(radius**2 - 0.09)  # where the cap ends, and a cone begins
    height = np.where(
        off_sq < 0.09, np.sqrt(np.maximum(radius**2 - off_sq, 0)), rim - 0.3 / rim * (np.sqrt(off_sq) - 0.3)
    )
    x = np.column_stack([across.ravel(), along.ravel(), height])
    v = np.array([0, 0, -2.0]) + 0.2 * np.sin(11 * x[:, [1, 2, 0]]) + 0.05 * rng.normal(size=x.shape)
    K, b = _dynamics(x, v, 0.2 / len(x), _woven(number, x[:, :2], 1 / (side - 1)), step)

    touching = np.argsort(off_sq, kind="stable")[: max(4, int(rows / 1.3))]
    facets = (number // side // 3 * side + number % side // 3).ravel()
    normals = _mean_directions(x[touching], facets[touching])
    J, c = _vertex_rows(touching, normals, 8e-3 * np.abs(rng.normal(size=len(touching))), v, step)
    pairs = _neighbours(touching, facets, side)
    order = list(range(len(pairs)))
    rng.shuffle(order)
    J, c = _edge_rows(rng, J, c, pairs[order[: max(0, rows - len(touching))]])
    E, e = _hold(np.zeros(0, np.int64), v)
    return Program("cloth", f"cloth {side}²", f"cloth {side}², {rows:,} rows", K, b, J, c, E, e)


def _neighbours(touching: Ints, facets: Ints, side: int) -> Ints:
    """Places in `touching` of neighbours on one facet: each node with the next along both directions."""
    place = np.full(len(facets) + side, -1)
    place[touching] = np.arange(len(touching))
    ends = touching[:, None] + [1, side]
    is_pair = (place[ends] >= 0) & (facets[np.minimum(ends, len(facets) - 1)] == facets[touching][:, None])
    first = np.broadcast_to(np.arange(len(touching))[:, None], ends.shape)
    return np.column_stack([first[is_pair], place[ends][is_pair]])


def self_contact(side: int, rows: int) -> Program:
    """Two cloths of 1 m², the upper falls on the lower, whose border is held; rows of a vertex and a triangle each."""
    rng = np.random.default_rng(0)
    step = 0.005
    across, along, number = _square(side)
    count = side * side
    wavy = 0.02 * np.sin(6 * across) * np.cos(5 * along)
    lower = np.column_stack([across.ravel(), along.ravel(), wavy.ravel()])
    x = np.concatenate([lower, lower + [0.3 / side, 0.2 / side, 2e-3]])
    v = 0.05 * rng.normal(size=x.shape)
    v[count:, 2] -= 1.0
    one = _woven(number, lower[:, :2], 1 / (side - 1))
    both = _Springs(np.concatenate([one.ends, one.ends + count]), np.tile(one.stiffness, 2), np.tile(one.rest, 2))
    K, b = _dynamics(x, v, 0.2 / count, both, step)

    cells = rng.choice((side - 1) ** 2, min(rows, (side - 1) ** 2), replace=False)
    corner = number[cells // (side - 1), cells % (side - 1)]
    nodes = np.column_stack([corner, corner + side, corner + 1, corner + count])
    weights = np.array([0.5, 0.3, 0.2, -1.0])
    normals = np.cross(x[nodes[:, 1]] - x[nodes[:, 0]], x[nodes[:, 2]] - x[nodes[:, 0]])
    normals *= (np.sign(normals[:, 2]) / np.linalg.norm(normals, axis=1))[:, None]
    gaps = -np.einsum("k,nka,na->n", weights, x[nodes], normals) - 1e-3
    c = gaps / step - np.einsum("k,nka,na->n", weights, v[nodes], normals)
    J = _rows(nodes, np.tile(weights, (len(nodes), 1)), normals, len(x))
    border = np.unique(np.concatenate([number[0], number[-1], number[:, 0], number[:, -1]]))
    E, e = _hold(border, v)
    body = f"self-contact {side}²"
    return Program("self-contact", body, f"{body}, {rows:,} rows", K, b, J, c, E, e)


FULL = (
    partial(cable, 100), partial(cable, 1_000), partial(cable, 1_000, with_strain=True), partial(cable, 10_000),
    partial(cloth, 30, 10), partial(cloth, 30, 200), partial(cloth, 100, 10), partial(cloth, 100, 1_000),
    partial(cloth, 100, 3_000), partial(self_contact, 30, 500), partial(self_contact, 70, 2_000),
)  # fmt: skip
QUICK = (
    partial(cable, 100), partial(cable, 1_000), partial(cable, 1_000, with_strain=True),
    partial(cloth, 30, 10), partial(cloth, 30, 200), partial(self_contact, 30, 500),
)  # fmt: skip
