"""A source that lets rigid bodies fall into a simulation at a rate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.bodies.rain import Shower
from impinge.bodies.rigid.apart import MILLIMETRES, Crowd, Form, Inside
from impinge.bodies.rigid.shape import check_solid
from impinge.errors import InputError
from impinge.inside.solid import Solid
from impinge.inside.view import checked_rotation
from impinge.shapes.mesh import Mesh

__all__ = ["Coming", "PolyhedraRain"]

Floats = NDArray[np.float64]
_TRIES = 64  # poses for a body in a step


class Coming(NamedTuple):
    """A body that appears."""

    shape: int  # among those of the source
    turn: Floats  # (3, 3)
    place: Floats  # (3,), m: of the origin of its mesh


class PolyhedraRain(Shower):
    """Rigid bodies that appear at random places of a box, turned at random, one after the other, at a rate.

    The n-th body (n = 1, 2, …) is due at n / rate, and shapes take turns. In every step 64 random poses are tried for
    the next one that is due; if none is free, which is decided exactly, it and those after it wait for the next step:
    a crowded source delivers less than its rate, and catches up when there is room.

    Parameters
    ----------
    lower, upper : (3,) float64, m
        Corners of the box; bodies are wholly in it when they appear. Without `rotation` no side of it may be shorter
        than bodies are across.
    shapes : Mesh or Solid, or anything `Mesh.of` takes; or a list of them
        Closed, with outward normals.
    rate : float, 1/s
        Bodies per second.
    rotation : (3, 3) float64 or scipy.spatial.transform.Rotation, optional
        Of all bodies, instead of random ones.
    resolution : float, m, optional
        As for `World.add_polyhedra`.
    velocity : (3,) float64, m/s, optional
        That bodies start with; at rest by default.
    seed : int
    count : int, optional
        Number of bodies after which the source is empty.

    Attributes
    ----------
    settings : dict
        The arguments, from which an equal source can be made: ``PolyhedraRain(**rain.settings)``.

    Examples
    --------
    >>> import impinge
    >>> ring = impinge.shapes.torus(0.1, 0.03, 24, 12)
    >>> rock = impinge.Material(density=2500, stiffness=1e5, restitution=0.5)
    >>> world = impinge.World()
    >>> world.add_source(impinge.PolyhedraRain((0, 0, 1), (1, 1, 2), ring, rate=100), rock)
    >>> world.run(until=0.05)
    >>> len(world.polyhedra) >= 4
    True
    """

    def __init__(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        shapes: Any,
        rate: float,
        *,
        rotation: Any = None,
        resolution: float | None = None,
        velocity: ArrayLike | None = None,
        seed: int = 0,
        count: int | None = None,
    ) -> None:
        super().__init__(lower, upper, rate, velocity, seed, count)
        if len(self.lower) != 3:
            raise InputError(f"lower: found {len(self.lower)} numbers, expected 3")
        some = shapes if isinstance(shapes, list) else [shapes]
        if not some:
            raise InputError("shapes: found none, expected at least one")
        self.meshes: list[Mesh] = []
        self.resolution = None if resolution is None else _check.positive("resolution", resolution)
        self._turn = None if rotation is None else checked_rotation(rotation)
        for number, shape in enumerate(some):
            name = f"shapes[{number}]" if isinstance(shapes, list) else "shapes"
            mesh = shape.mesh if isinstance(shape, Solid) else Mesh.of(shape)
            check_solid(mesh, name)
            self._check_room(name, Form(mesh))
            self.meshes.append(mesh)
        self.settings |= {"shapes": list(self.meshes), "rotation": self._turn, "resolution": self.resolution}

    def _check_room(self, name: str, form: Form) -> None:
        """An error if a body may never find a place."""
        sides = self.upper - self.lower
        if self._turn is None:
            size = np.full(3, 2 * form.radius)
        else:
            size = np.ptp(form.corners @ self._turn.T, axis=0)
        if (size > sides).any():
            axis = int(np.argmax(size - sides))
            raise InputError(
                f"{name}: found a body {size[axis]:.4g} m across, expected at most {sides[axis]:.4g} m, the side of "
                f"the box along {'xyz'[axis]}; {MILLIMETRES}"
            )

    def due(self, time: float, dt: float, crowd: Crowd, forms: list[Form], inside: Inside | None) -> list[Coming]:
        """Bodies to be inserted in the step that ends at `time`, which join the crowd; inside : of points, where."""
        found: list[Coming] = []
        while self.has_due(time, dt):
            shape = self._inserted % len(self.meshes)
            box = self.lower, self.upper
            pose = crowd.take_somewhere(forms[shape], *box, self._rng, _TRIES, self._turn, inside)
            if pose is None:
                break
            found.append(Coming(shape, *pose))
            self._inserted += 1
        return found
