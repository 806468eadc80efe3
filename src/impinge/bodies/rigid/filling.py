"""Boxes filled with bodies of any shape, at random places and turns, none of which overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.bodies.rigid.apart import MILLIMETRES, Crowd, Form, Inside
from impinge.bodies.rigid.shape import check_solid
from impinge.bodies.sizes import read_corners
from impinge.errors import InputError
from impinge.inside.solid import Solid
from impinge.inside.view import SolidView, checked_rotation
from impinge.shapes.mesh import Mesh

__all__ = ["Poses", "fill_polyhedra"]

Floats = NDArray[np.float64]
Counts = int | Sequence[int] | NDArray[np.int64]
_TRIES = 1024  # poses of a body
_MOST = 1_000_000  # bodies


class Poses(NamedTuple):
    """Where bodies of a shape are; unpack it into ``world.add_polyhedra(mesh, *poses, material=…)``."""

    positions: Floats  # (n, 3), m: of the origin of the mesh
    rotations: Floats  # (n, 3, 3)


@overload
def fill_polyhedra(
    shapes: list[Any], lower: ArrayLike, upper: ArrayLike, *, count: Counts | None = ...,
    fraction: float | None = ..., seed: int = ..., gap: float = ..., avoid: Any = ..., rotation: Any = ...,
    inside: Inside | None = ...,
) -> list[Poses]: ...  # fmt: skip
@overload
def fill_polyhedra(
    shapes: Any, lower: ArrayLike, upper: ArrayLike, *, count: int | None = ..., fraction: float | None = ...,
    seed: int = ..., gap: float = ..., avoid: Any = ..., rotation: Any = ..., inside: Inside | None = ...,
) -> Poses: ...  # fmt: skip
def fill_polyhedra(
    shapes: Any,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    count: Counts | None = None,
    fraction: float | None = None,
    seed: int = 0,
    gap: float = 0.0,
    avoid: Any = (),
    rotation: Any = None,
    inside: Inside | None = None,
) -> Poses | list[Poses]:
    """Bodies of any shape at random places in a box, turned at random, none of which overlap.

    Largest first, poses are tried at random and taken if they are free (random sequential insertion), which
    `impinge.collide` decides exactly. Bodies may reach into each other's hollows, and through each other's holes.

    Parameters
    ----------
    shapes : Mesh or Solid, or anything `Mesh.of` takes; or a list of them
        Closed, with outward normals.
    lower, upper : (3,) float64, m
        Corners of the box; bodies are wholly in it.
    count : int, or one for each shape
        Number of bodies; of several shapes there are as many of each, and of the first ones one more if need be.
    fraction : float
        Instead of a count: share of the box's volume to fill, within half a body.
    seed : int
        Equal seeds give equal poses, whatever the number of threads.
    gap : float, m
        Surfaces are more than that apart from each other, not from the sides of the box.
    avoid : list, optional
        What is there already: a `Solid` or ``solid.at(rotation, translation)``; a `Mesh`, which is a surface only, so
        that bodies may be on both sides of it; spheres, as a pair (centres (m, 3), radii (m,)). They may overlap each
        other and lie anywhere.
    rotation : (3, 3) float64 or scipy.spatial.transform.Rotation, optional
        Of all bodies, instead of random ones.
    inside : function of (k, 3) float64 points giving (k,) bool, optional
        All vertices of a body are where it is True.

    Returns
    -------
    Poses, or a list of them, one for each of a list of shapes
        positions (n, 3) and rotations (n, 3, 3).

    Examples
    --------
    >>> import impinge
    >>> ring = impinge.shapes.torus(0.1, 0.03, 24, 12)
    >>> poses = impinge.fill_polyhedra(ring, (0, 0, 0), (1, 1, 1), count=20, seed=1)
    >>> poses.positions.shape, poses.rotations.shape
    ((20, 3), (20, 3, 3))
    """
    several = isinstance(shapes, list)
    forms = [_read_form(f"shapes[{k}]" if several else "shapes", shape)
             for k, shape in enumerate(shapes if several else [shapes])]  # fmt: skip
    low, high = read_corners(lower, upper)
    if len(low) != 3:
        raise InputError(f"lower: found {len(low)} numbers, expected 3")
    if not forms:
        raise InputError("shapes: found none, expected at least one")
    numbers = _numbers(forms, count, fraction, float(np.prod(high - low)))
    rng = np.random.Generator(np.random.PCG64(_check.integer("seed", seed, 0)))
    if inside is not None and not callable(inside):
        raise InputError(f"inside: found {type(inside).__name__}, expected a function of points")
    turn = None if rotation is None else checked_rotation(rotation)
    crowd = Crowd(_check.not_negative("gap", gap))
    _read_avoid(crowd, avoid)
    order = sorted(range(len(forms)), key=lambda k: -forms[k].radius)
    placed: dict[int, list[tuple[Floats, Floats]]] = {}
    for shape in order:
        found: list[tuple[Floats, Floats]] = []
        for _ in range(numbers[shape]):
            pose = crowd.take_somewhere(forms[shape], low, high, rng, _TRIES, turn, inside)
            if pose is None:
                done = sum(len(poses) for poses in placed.values()) + len(found)
                raise InputError(_too_many(forms[shape], done, sum(numbers), low, high))
            found.append(pose)
        placed[shape] = found
    result = [_poses(placed[shape]) for shape in range(len(forms))]
    return result if several else result[0]


def _poses(found: list[tuple[Floats, Floats]]) -> Poses:
    places, turns = np.empty((len(found), 3)), np.empty((len(found), 3, 3))
    for row, (turn, place) in enumerate(found):
        places[row], turns[row] = place, turn
    return Poses(places, turns)


def _too_many(form: Form, done: int, total: int, low: Floats, high: Floats) -> str:
    size = float(np.sort(np.ptp(form.corners, axis=0))[0])
    sides = np.sort(high - low)
    if done == 0 and size > sides[-1]:
        found = f"found a box of {' × '.join(f'{side:g}' for side in sides)} m"
        return f"upper: {found}, expected a larger one: the shape is {size:.4g} m at least; {MILLIMETRES}"
    return (
        f"fraction, count: found {total} bodies, of which {done} have a place; no free one for the next in "
        f"{_TRIES} tries. Make them fewer, or the box larger"
    )


def _numbers(forms: list[Form], count: Any, fraction: float | None, room: float) -> list[int]:
    """How many of each shape."""
    if (count is None) == (fraction is None):
        found = "neither" if fraction is None else "both"
        raise InputError(f"fraction, count: found {found}, expected one of them")
    if fraction is not None:
        share = _check.not_negative("fraction", fraction)
        if share > 1:
            raise InputError(f"fraction: found {fraction!r}, expected 0 to 1")
        count = round(share * room / float(np.mean([form.volume for form in forms])))
        if count > _MOST:
            raise InputError(f"fraction: found {count} bodies in it, expected at most {_MOST}")
    if isinstance(count, np.ndarray) and count.ndim == 1:
        count = count.tolist()
    if isinstance(count, Sequence):
        if len(count) != len(forms):
            raise InputError(f"count: found {len(count)} numbers, expected {len(forms)}, one for each shape")
        return [_check.integer(f"count[{k}]", number, 0, _MOST) for k, number in enumerate(count)]
    whole, rest = divmod(_check.integer("count", count, 0, _MOST), len(forms))
    return [whole + (k < rest) for k in range(len(forms))]


def _read_form(name: str, shape: Any) -> Form:
    mesh = shape.mesh if isinstance(shape, Solid) else Mesh.of(shape)
    check_solid(mesh, name)
    return Form(mesh)


def _read_avoid(crowd: Crowd, avoid: Any) -> None:
    """Let what is there already join the crowd."""
    wanted = "a list of solids, views of solids, meshes, and pairs (centres, radii)"
    if isinstance(avoid, (Solid, Mesh)) or not isinstance(avoid, Iterable):
        raise InputError(f"avoid: found {type(avoid).__name__}, expected {wanted}")
    forms: dict[int, Form] = {}  # one for all views of a solid
    for k, item in enumerate(avoid):
        if isinstance(item, Mesh):
            crowd.add(Form.of_surface(item), np.eye(3), np.zeros(3), is_surface=True)
        elif isinstance(item, (Solid, SolidView)):
            view = item.at() if isinstance(item, Solid) else item
            if id(view.solid) not in forms:
                forms[id(view.solid)] = Form(view.solid.mesh, view.solid)
            crowd.add(forms[id(view.solid)], view.rotation, view.translation)
        elif isinstance(item, tuple) and len(item) == 2:
            centres = _check.vectors(f"avoid[{k}] centres", item[0])
            crowd.add_spheres(centres, _check.sizes(f"avoid[{k}] radii", item[1], len(centres), "them"))
        else:
            raise InputError(f"avoid[{k}]: found {type(item).__name__}, expected {wanted}")
