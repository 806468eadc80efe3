"""What must not be at the start: bodies so far in each other that nothing sensible follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.bodies._obstacles import SHIFT
from impinge.bodies.dynamics import Dynamics
from impinge.bodies.rigid import _layout
from impinge.broad.once import box_pairs
from impinge.errors import SubjectError
from impinge.facts import counted
from impinge.inside.solid import Solid
from impinge.run.sheets import depths_of_sheets
from impinge.shapes.mesh import Mesh

__all__ = ["Known", "check_bodies", "check_spheres"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_DEEP, _THIN = 0.1, 0.25  # of the radius of the smaller body, and of how thick it is: deeper, it is there by mistake
_MUCH = 0.25  # of a body inside of another: however near its surface is, as of thin ones, or of two at one place
_WAY_OUT = "With overlap=True they may be"


class Known(NamedTuple):
    """How much was there already: where all of a pair was, it is motion that has brought them together."""

    spheres: int = 0  # numbers of spheres that have been given
    bodies: int = 0  # likewise
    planes: int = 0
    obstacles: int = 0

    @classmethod
    def all_of(cls, dynamics: Dynamics) -> Known:
        rigid = dynamics.rigid
        return cls(dynamics.particles.next_id, rigid.next_id, len(dynamics.planes), len(dynamics.obstacles))

    def has_walls(self, numbers: Ints, planes: int) -> NDArray[np.bool_]:
        """Whether walls were there; numbers : of planes, of which there are so many now, and then of obstacles."""
        return (numbers < self.planes) | ((numbers >= planes) & (numbers < planes + self.obstacles))


def check_spheres(dynamics: Dynamics, walls: list[str], known: Known) -> None:
    """Refuse spheres that are deep in something; walls : names of planes and obstacles."""
    contacts, p, rigid = dynamics.contacts(), dynamics.particles, dynamics.rigid
    radii = np.zeros(p.next_id)
    radii[p.ids] = p.x[:, 3]
    one, other = contacts.ids.T
    limit = np.minimum(radii[one], np.where(other >= 0, radii[other], np.inf))
    of_bodies = contacts.bodies >= 0
    limit[of_bodies] = np.minimum(limit[of_bodies], _radii(dynamics)[rigid.rows_of(contacts.bodies[of_bodies])])
    old = (contacts.ids < known.spheres).all(axis=1) & (contacts.bodies < known.bodies)
    old &= known.has_walls(contacts.walls, len(dynamics.planes))
    bad = np.flatnonzero((contacts.depths > limit) & ~old)
    if len(bad):
        first = bad[0]
        wall = contacts.walls[first]
        body = contacts.bodies[first]
        what = f"sphere {other[first]}" if wall < 0 and body < 0 else f"polyhedron {body}" if wall < 0 else walls[wall]
        raise SubjectError(
            f"centres: sphere {one[first]} and {what} overlap by {contacts.depths[first]:.4g} m, expected at most "
            f"{limit[first]:.4g} m, the smaller radius; {counted(len(bad), 'such pair')} in all",
            ("sphere", int(one[first])),
        )
    held = _spheres_inside(dynamics) if len(p) and len(rigid) else np.empty((0, 2), np.int64)
    held = held[~(held < [known.spheres, known.bodies]).all(axis=1)]
    if len(held):
        sphere, body = held[np.lexsort(held.T[::-1])][0].tolist()
        raise SubjectError(
            f"centres: sphere {sphere} has its centre inside of polyhedron {body}, expected spheres outside of bodies; "
            f"{counted(len(held), 'such pair')} in all",
            ("sphere", sphere),
        )


def _radii(dynamics: Dynamics) -> Floats:
    """Of the balls of the volumes of rigid bodies."""
    return np.array([shape.radius for shape in dynamics.rigid.shapes])[dynamics.rigid.forms]


def _spheres_inside(dynamics: Dynamics) -> Ints:
    """(n, 2): numbers of spheres whose centres are in rigid bodies, and of these."""
    p, rigid = dynamics.particles, dynamics.rigid
    frames, bounds = rigid.frames(), np.array([shape.bounds for shape in rigid.shapes])[rigid.forms]
    turns, shifts = frames[:, :9].reshape(-1, 3, 3), frames[:, SHIFT : SHIFT + 3]
    middles = (turns @ bounds.mean(axis=1)[:, :, None])[:, :, 0] + shifts
    halves = (np.abs(turns) @ (0.5 * np.ptp(bounds, axis=1))[:, :, None])[:, :, 0]
    centres = p.x[:, :3]
    both = box_pairs(np.concatenate([centres, middles - halves]), np.concatenate([centres, middles + halves]))
    near: Ints = both[(both[:, 0] < len(p)) & (both[:, 1] >= len(p))] - np.array([0, len(p)])
    found = [np.empty((0, 2), np.int64)]
    for number, shape in enumerate(rigid.shapes):
        pairs = near[rigid.forms[near[:, 1]] == number]
        if len(pairs):
            spheres, bodies = pairs.T
            places = np.einsum("nji,nj->ni", turns[bodies], centres[spheres] - shifts[bodies])
            inside = Solid(shape.obstacle.mesh).contains(places)
            found.append(np.column_stack([p.ids[spheres], rigid.ids[bodies]])[inside])
    return np.concatenate(found)


def check_bodies(dynamics: Dynamics, walls: list[str], allowed: set[int], known: Known) -> None:
    """Refuse rigid bodies that are deep in something, but for those that are allowed to."""
    if not len(dynamics.rigid):
        return
    contacts, ids = dynamics.body_contacts(), dynamics.rigid.ids
    across = dynamics.rigid.lists.pairs
    across = across[across[:, _layout.KIND_OF] == _layout.SHEET]
    across = across[~_are_allowed(dynamics, across, allowed) & ~_are_known(dynamics, across, known)]
    pairs = np.concatenate([contacts.pairs, across])
    depths = np.concatenate([contacts.rows[:, _layout.DEPTH], depths_of_sheets(dynamics, across)])
    solid = pairs[:, _layout.KIND_OF] == _layout.SOLID
    one, other = pairs[:, _layout.BODY], pairs[:, _layout.OTHER]
    most = np.array([min(_DEEP * shape.radius, _THIN * shape.thickness) for shape in dynamics.rigid.shapes])
    most = most[dynamics.rigid.forms]
    limit = np.minimum(most[one], np.where(solid, most[np.where(solid, other, 0)], np.inf))
    free = _are_allowed(dynamics, pairs, allowed) | _are_known(dynamics, pairs, known)
    bad = np.flatnonzero((depths > limit) & ~free)
    if len(bad):
        first = bad[np.argmax(depths[bad])]
        count = len(np.unique(pairs[bad], axis=0))
        raise SubjectError(
            f"positions: polyhedron {ids[one[first]]} and {_other_name(dynamics, walls, pairs[first])} are "
            f"{depths[first]:.4g} m deep in each other, expected at most {limit[first]:.4g} m, for "
            f"how large and thick they are; {counted(count, 'such pair')} in all. {_WAY_OUT}",
            ("polyhedron", int(ids[one[first]])),
        )
    much, shares = _shares_inside(dynamics, allowed, known)
    if len(much):
        worst, count = int(np.argmax(shares)), len(np.unique(np.sort(much, axis=1), axis=0))
        number = int(ids[much[worst, _layout.BODY]])
        raise SubjectError(
            f"positions: {shares[worst]:.0%} of polyhedron {number} are inside of "
            f"{_other_name(dynamics, walls, much[worst])}, expected at most {_MUCH:.0%}; "
            f"{counted(count, 'such pair')} in all. {_WAY_OUT}",
            ("polyhedron", number),
        )


def _are_allowed(dynamics: Dynamics, pairs: Ints, allowed: set[int]) -> NDArray[np.bool_]:
    """Pairs that have a body that is allowed to be in others."""
    some = np.flatnonzero(np.isin(dynamics.rigid.ids, list(allowed)))
    solid = pairs[:, _layout.KIND_OF] == _layout.SOLID
    free: NDArray[np.bool_] = np.isin(pairs[:, _layout.BODY], some) | (solid & np.isin(pairs[:, _layout.OTHER], some))
    return free


def _are_known(dynamics: Dynamics, pairs: Ints, known: Known) -> NDArray[np.bool_]:
    """Pairs of which both were there already."""
    kinds, others = pairs[:, _layout.KIND_OF], pairs[:, _layout.OTHER]
    planes, bodies = len(dynamics.planes), int(dynamics.rigid.rows_of(np.array(known.bodies)))
    walls = np.where(kinds == _layout.PLANE, others, others - len(dynamics.rigid) + planes)
    there = np.where(kinds == _layout.SOLID, others < bodies, known.has_walls(walls, planes))
    return there & (pairs[:, _layout.BODY] < bodies)


def _other_name(dynamics: Dynamics, walls: list[str], pair: Ints) -> str:
    kind, number = pair[_layout.KIND_OF], int(pair[_layout.OTHER])
    if kind == _layout.SOLID:
        return f"polyhedron {dynamics.rigid.ids[number]}"
    return walls[number if kind == _layout.PLANE else number - len(dynamics.rigid) + len(dynamics.planes)]


def _shares_inside(dynamics: Dynamics, allowed: set[int], known: Known) -> tuple[Ints, Floats]:
    """Pairs, as of contacts, of bodies and what a large share of them is in, and this share."""
    rigid = dynamics.rigid
    pairs = rigid.lists.pairs
    kinds = pairs[:, _layout.KIND_OF]
    free = _are_allowed(dynamics, pairs, allowed) | _are_known(dynamics, pairs, known)
    pairs = pairs[((kinds == _layout.SOLID) | (kinds == _layout.BLOCK)) & ~free]
    back = pairs[pairs[:, _layout.KIND_OF] == _layout.SOLID]
    ways = np.concatenate([pairs, back[:, [_layout.OTHER, _layout.KIND_OF, _layout.BODY]]])
    shares = np.zeros(len(ways))
    for rows, probes, mesh in _alike(dynamics, ways):
        low, high = mesh.bounds
        inside = ((probes[..., :3] >= low) & (probes[..., :3] <= high)).all(axis=2)
        weights = probes[..., 3] / probes[..., 3].sum(axis=1, keepdims=True)
        turned = mesh.volume < 0  # an obstacle that is solid all around
        near = np.flatnonzero(((weights * inside).sum(axis=1) > _MUCH) | turned)
        if len(near):
            solid = Solid(mesh.flipped() if turned else mesh)
            held = (solid.contains(probes[near, :, :3].reshape(-1, 3)) ^ turned).reshape(len(near), -1)
            shares[rows[near]] = (weights[near] * held).sum(axis=1)
    bad = shares > _MUCH
    return ways[bad], shares[bad]


def _alike(dynamics: Dynamics, ways: Ints) -> Iterator[tuple[Ints, Floats, Mesh]]:
    """Of pairs of the same two shapes: rows, probes (n, k, 4) of the first in the frame of the other, mesh of this."""
    rigid = dynamics.rigid
    frames = rigid.frames(dynamics.obstacle_frames())
    turns, shifts = frames[:, :9].reshape(-1, 3, 3), frames[:, SHIFT : SHIFT + 3]
    meshes = [shape.obstacle.mesh for shape in rigid.shapes] + [obstacle.mesh for obstacle in dynamics.obstacles]
    a, b = ways[:, _layout.BODY], ways[:, _layout.OTHER]
    forms = np.concatenate([rigid.forms, len(rigid.shapes) + np.arange(len(dynamics.obstacles))])
    for form, other in np.unique(np.column_stack([forms[a], forms[b]]), axis=0).tolist():
        rows = np.flatnonzero((forms[a] == form) & (forms[b] == other))
        probes = rigid.shapes[form].probes
        places = probes[:, :3] @ turns[a[rows]].swapaxes(1, 2) + (shifts[a[rows]] - shifts[b[rows]])[:, None]
        seen = np.empty((len(rows), len(probes), 4))
        seen[..., :3], seen[..., 3] = places @ turns[b[rows]], probes[:, 3]
        yield rows, seen, meshes[other]
