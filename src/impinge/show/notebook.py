"""Worlds, meshes and runs in 3D in notebooks, by k3d."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from impinge.errors import ImpingeError, InputError
from impinge.inside.solid import Solid
from impinge.output.arrays import evenly
from impinge.output.softframe import SoftFrame
from impinge.run.frames import obstacle_meshes
from impinge.run.scenery import Scenery
from impinge.run.soft import SoftWorld
from impinge.run.world import World
from impinge.shapes.mesh import Mesh
from impinge.show.recording import Bodies, Frame, Recording, Spheres
from impinge.show.scene3d import options_of, plot_of
from impinge.show.shown import scalars_of

if TYPE_CHECKING:
    from k3d.plot import Plot

__all__ = ["bundle", "plot"]

_MOST_SPHERES, _MOST_BODIES, _MOST_FACES = 100_000, 300, 400_000  # that are shown without being asked for
_FRAMES = 60  # of a recording
_HEIGHT = 420  # pixels


def plot(thing: Any, colour: str | None = None) -> Plot:
    """A 3D view to turn, for notebooks; needs k3d (the extra ``report``).

    Parameters
    ----------
    thing : World, SoftWorld, Mesh, Solid, Recording or Frame
        Or whatever Mesh.of takes. Of a Recording sixty frames at most, with a slider.
    colour : str, optional
        What colours show: "speed", "radius", "strain" or any other data that files of frames have. By default the
        speed, if anything moves.

    Returns
    -------
    k3d.plot.Plot
        A widget that shows itself as the last value of a cell; ``plot(world).display()`` does in the midst of one.

    Examples
    --------
    >>> import impinge
    >>> view = impinge.plot(impinge.shapes.torus())  # doctest: +SKIP
    """
    frames, options = _frames_of(thing)
    view = plot_of(frames, _scalar_of(frames, colour), **options)
    view.height = _HEIGHT
    view.colorbar_object_id = -1  # of the first thing that has colours
    view.menu_visibility = len(frames) > 1  # where the slider is
    return view


def _scalar_of(frames: list[Frame], colour: str | None) -> str:
    """The name of what colours show; "" for nothing."""
    parts = [part for frame in frames for part in (frame.spheres, frame.bodies, frame.soft) if part is not None]
    known = [scalars_of(part) for part in parts]
    if colour is None:
        return "speed" if any(some["speed"][1].any() for some in known if "speed" in some) else ""
    names = dict.fromkeys(name for some in known for name in some)
    if colour not in names:
        raise InputError(f"colour: found {colour!r}, expected one of {', '.join(names) or 'none, as there is no data'}")
    return colour


def bundle(thing: Any) -> dict[str, Any] | None:
    """What a notebook shows of a world or a mesh without being asked: its facts and a view.

    None, and so the facts alone, if k3d is missing, if there is too much or nothing, or it cannot be built yet.
    """
    try:
        from ipywidgets import HTML, VBox

        if _is_large(thing):
            return None
        shown = VBox([HTML(thing._repr_html_()), plot(thing)])._repr_mimebundle_()
    except (ImportError, ImpingeError):
        return None
    return {**shown, "text/plain": repr(thing), "text/html": thing._repr_html_()}


def _is_large(thing: Any) -> bool:
    if isinstance(thing, World):
        dynamics = thing._dynamics
        faces = sum(len(obstacle.mesh.faces) for obstacle in dynamics.obstacles)
        faces += int(
            np.array([len(form.mesh.faces) for form in dynamics.rigid.shapes], int)[dynamics.rigid.forms].sum()
        )
        many = len(dynamics.particles) > _MOST_SPHERES or len(dynamics.rigid) > _MOST_BODIES
        return many or faces > _MOST_FACES
    return isinstance(thing, Mesh) and len(thing.faces) > _MOST_FACES


def _frames_of(thing: Any) -> tuple[list[Frame], dict[str, Any]]:
    """Frames, and how a plot of them is made."""
    if isinstance(thing, World):
        return [_frame_of(thing)], {"flat": thing.dim == 2, "box": _box_of(thing)}
    if isinstance(thing, SoftWorld):
        return [_soft_frame(thing.frame())], {}
    if isinstance(thing, SoftFrame):
        return [_soft_frame(thing)], {}
    if isinstance(thing, Frame):
        return [thing], {}
    if isinstance(thing, Recording):
        frames = [thing[int(number)] for number in evenly(len(thing), _FRAMES)]
        return frames, options_of(Scenery(thing.scene.model))
    mesh = thing.mesh if isinstance(thing, Solid) else Mesh.of(thing, "thing")
    return [Frame(0.0, None, _as_body(mesh), None, [])], {}


def _frame_of(world: World) -> Frame:
    """What files of a frame would say of a world as it is now."""
    spheres, bodies = world.spheres, world.polyhedra
    centres = np.zeros((len(spheres), 3))
    centres[:, : world.dim] = spheres.centres
    data = {"id": spheres.ids, "velocity": spheres.velocities, "spin": spheres.spins, "material": spheres.materials}
    solid = None
    if len(bodies):
        vertices, faces, ids = bodies.surface()
        known = {"id": bodies.ids, "shape": bodies.shapes, "material": bodies.materials,
                 "velocity": bodies.velocities, "spin": bodies.spins}  # fmt: skip
        solid = Bodies(vertices, faces.astype(np.int64), np.searchsorted(bodies.ids, ids), known)
    shown = Spheres(centres, spheres.radii, data) if len(spheres) else None
    obstacles = obstacle_meshes(world)
    if shown is None and solid is None and not obstacles:
        raise InputError("world: found nothing in it, expected something to show")
    return Frame(world.time, shown, solid, None, obstacles)


def _soft_frame(frame: SoftFrame) -> Frame:
    return Frame(frame.time, None, None, frame if len(frame.positions) else None, list(frame.obstacles))


def _as_body(mesh: Mesh) -> Bodies:
    """A mesh by itself, without the vertices that no face uses."""
    used, faces = np.unique(mesh.faces, return_inverse=True)
    rows = faces.reshape(-1, 3)
    return Bodies(mesh.vertices[used], rows, np.zeros(len(rows), np.int64), {})


def _box_of(world: World) -> Any:
    """Corners of its box, (2, 3), m, if it has one."""
    space = world._dynamics.space
    if not np.isfinite(space.lengths[: world.dim]).all():
        return None
    lengths = np.where(np.isfinite(space.lengths), space.lengths, 0.0)
    return np.array([space.low, space.low + lengths])
