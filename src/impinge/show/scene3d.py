"""What frames show as objects of k3d, for web pages and notebooks.

k3d's time is the number of the frame: it takes times that are nearer than a millisecond for the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.errors import InputError, install
from impinge.output.arrays import with_z
from impinge.output.framing import near_edges
from impinge.output.planes import near_part
from impinge.run.scenery import Scenery
from impinge.show.recording import Frame
from impinge.show.shown import Movers, Points, Scalar, Shown, Skin

if TYPE_CHECKING:
    from k3d.plot import Plot

__all__ = ["colour_map", "options_of", "plot_of", "plot_of_shown", "require_k3d"]

_PLAIN = 0x9AA5B1  # what has no colour of its own
_OBSTACLE, _EDGES = 0xB9C2CC, 0x8A94A0
_SEEN_THROUGH, _OF_WALL = 0.35, 0.2
_DULL = {"roughness": 0.85}  # what shines is white instead of telling its value
_FOV = 30.0  # degrees
_AZIMUTH, _ELEVATION = math.radians(-60.0), math.radians(20.0)  # as in pictures
_ASPECT = 1.6  # of the view, wide to high, at most
_ROOM = 1.12  # around what is seen

Plane = tuple[ArrayLike, ArrayLike, ArrayLike]


def plot_of(
    frames: Iterable[Frame],
    scalar: str = "speed",
    *,
    box: ArrayLike | None = None,
    flat: bool = False,
    periodic: ArrayLike = False,
    planes: Sequence[Plane] = (),
    colours: Sequence[str | None] = (),
) -> Plot:
    """A k3d plot of frames; needs k3d. Its time is the number of the frame.

    Parameters
    ----------
    frames : iterable of Frame
        At least one; taken one after the other.
    scalar : str
        What colours show: "speed", "radius" or any other data of the frames.
    box : (2, 3) float64, m, optional
        Corners of a box whose edges are drawn where they are near what is shown.
    flat : bool
        Whether the scene is in two dimensions: discs, seen from above.
    periodic : bool, or three
        Whether things leave the box and come back on the other side, along all axes or each; then nothing moves
        smoothly between two frames.
    planes : sequence of (point, normal, velocity), m and m/s, optional
        Endless walls, and where they are at the time 0, drawn as far as the scene goes; in three dimensions only.
    colours : sequence of str or None, optional
        Of obstacles, "#rrggbb"; those that have one are opaque.
    """
    shown = Shown.of(frames, [scalar])
    return plot_of_shown(shown, scalar, box=box, flat=flat, periodic=periodic, planes=planes, colours=colours)


def plot_of_shown(
    shown: Shown,
    scalar: str,
    *,
    box: ArrayLike | None = None,
    flat: bool = False,
    periodic: ArrayLike = False,
    planes: Sequence[Plane] = (),
    colours: Sequence[str | None] = (),
    with_others: bool = False,
) -> Plot:
    """The same of what was collected; `with_others` puts all other scalars into the objects' custom data, too."""
    if not shown.times:
        raise InputError("frames: found none, expected at least one")
    k3d = require_k3d()
    around = shown.corners * ([1, 1, 0] if flat else 1)
    edges = np.empty((0, 2, 3)) if box is None else near_edges(np.asarray(box, np.float64), shown.corners, periodic)
    walls = [] if flat else [wall for plane in planes for wall in _wall(shown, *plane)]
    plot = k3d.plot(
        menu_visibility=False, grid_visible=False, camera_auto_fit=False, camera_fov=_FOV, colorbar_object_id=0,
        time_interpolation=not np.any(periodic), camera_mode="orbit", camera_up_axis="y" if flat else "z",
        axes_helper=0.8, camera_no_rotate=flat, name="impinge", lighting=2.0,
    )  # fmt: skip
    places = np.concatenate([around, edges.reshape(-1, 3), *(wall.vertices for wall in walls)])
    plot.camera = _camera(np.array([places.min(axis=0), places.max(axis=0)]), flat)
    chosen = shown.scalars.get(scalar)
    objects = [_edges(edges)] if len(edges) else []
    if shown.points is not None:
        objects.append(_points(shown.points, chosen, flat, with_others))
    if shown.bodies is not None:
        objects += _bodies(shown.bodies, chosen, with_others)
    if shown.skin is not None:
        objects.append(_skin(shown.skin, chosen, with_others))
    if shown.obstacles is not None:
        objects += _obstacles(shown.obstacles, colours)
    for each in objects + walls:
        plot += each
    return plot


def options_of(scenery: Scenery) -> dict[str, Any]:
    """How a plot shows a scene."""
    known = [(plane.point_at(0.0), plane) for plane in scenery.planes]
    return {
        "box": None if scenery.box is None else with_z(scenery.box),
        "flat": scenery.dimension == 2,
        "periodic": np.resize(scenery.periodic, 3),
        "planes": [(point, plane.normal, plane.velocity or [0.0] * 3) for point, plane in known if point is not None],
        "colours": scenery.colours,
    }


def require_k3d() -> Any:
    """The package k3d, or an error that says how to get it."""
    try:
        import k3d
    except ImportError:
        raise InputError(f"report: needs k3d; {install('report')}") from None
    return k3d


def colour_map() -> NDArray[np.float32]:
    """(n, 4): from 0 to 1, and red, green and blue; that of pictures."""
    from k3d.colormaps import matplotlib_color_maps

    return np.array(matplotlib_color_maps.Viridis, np.float32).reshape(-1, 4)


def _series(arrays: Sequence[Any]) -> Any:
    """What k3d takes for something that changes over time, or does not."""
    return arrays[0] if len(arrays) == 1 else {str(number): array for number, array in enumerate(arrays)}


def _custom(values: dict[str, Any], with_others: bool) -> dict[str, Any]:
    """All scalars of an object, for a page to choose from."""
    series = {name: {str(number): column for number, column in enumerate(columns)} for name, columns in values.items()}
    return {"scalars": series} if with_others else {}


def _coloured(values: dict[str, Any], scalar: Scalar | None) -> dict[str, Any]:
    """Arguments that colour points or corners."""
    if scalar is None or scalar.name not in values:
        return {"color": _PLAIN}
    return {
        "attribute": _series(values[scalar.name]),
        "color_map": colour_map().ravel(),
        "color_range": [scalar.low, scalar.high],
        "color": 0xFFFFFF,
    }


def _points(points: Points, scalar: Scalar | None, flat: bool, with_others: bool) -> Any:
    return require_k3d().points(
        _series(points.centres), point_sizes=_series([2 * radii for radii in points.radii]),
        shader="flat" if flat else "3d", name="discs" if flat else "spheres",
        custom_data=_custom(points.values, with_others), **_coloured(points.values, scalar), **_DULL,
    )  # fmt: skip


def _skin(skin: Skin, scalar: Scalar | None, with_others: bool) -> Any:
    return require_k3d().mesh(
        _series(skin.vertices), skin.faces, side="double", flat_shading=False, name="cables and cloth",
        custom_data=_custom(skin.values, with_others), **_coloured(skin.values, scalar), **_DULL,
    )  # fmt: skip


def _bodies(bodies: Movers, scalar: Scalar | None, with_others: bool) -> list[Any]:
    colours = [np.full(len(bodies.shapes), _PLAIN)]
    if scalar is not None and scalar.name in bodies.values:
        colours = [_packed(column, scalar) for column in bodies.values[scalar.name]]
    found = []
    for body, mesh in enumerate(_meshes(bodies)):
        mesh.name = f"body {bodies.numbers[body]}"
        mesh.color = _series([int(column[body]) for column in colours])
        if with_others:
            each = {name: np.array([column[body] for column in columns]) for name, columns in bodies.values.items()}
            mesh.custom_data = {"of_frames": each}
        found.append(mesh)
    return found


def _packed(values: NDArray[np.float32], scalar: Scalar) -> NDArray[np.int64]:
    """Colours as k3d takes them, 0xRRGGBB."""
    table = colour_map()
    part = (values - scalar.low) / (scalar.high - scalar.low)
    red, green, blue = (np.round(255 * np.interp(part, table[:, 0], table[:, k])).astype(np.int64) for k in (1, 2, 3))
    return np.asarray((red << 16) | (green << 8) | blue)


def _meshes(movers: Movers) -> list[Any]:
    """One for each, moved by its matrix."""
    found = []
    for number, (vertices, faces) in enumerate(movers.shapes):
        mesh = require_k3d().mesh(vertices, faces, flat_shading=True, side="double", color=_PLAIN, **_DULL)
        mesh.model_matrix = _series([np.ascontiguousarray(poses[number]) for poses in movers.poses])
        found.append(mesh)
    return found


def _obstacles(obstacles: Movers, colours: Sequence[str | None]) -> list[Any]:
    found = _meshes(obstacles)
    for number, mesh in enumerate(found):
        colour = colours[number] if number < len(colours) else None
        mesh.color, mesh.opacity = (_OBSTACLE, _SEEN_THROUGH) if colour is None else (int(colour[1:], 16), 1.0)
        mesh.name = f"obstacle {number}"
    return found


def _edges(edges: NDArray[np.float64]) -> Any:
    """Of a box."""
    return require_k3d().lines(
        edges.reshape(-1, 3).astype(np.float32), np.arange(2 * len(edges), dtype=np.uint32).reshape(-1, 2),
        indices_type="segment", shader="simple", color=_EDGES, name="box",
    )  # fmt: skip


def _wall(shown: Shown, point: ArrayLike, normal: ArrayLike, velocity: ArrayLike) -> list[Any]:
    """The part of a plane that is shown; from behind nobody sees it, so it hides nothing.

    Only what a plane moves along its normal is seen, as it has no end.
    """
    towards = np.asarray(normal, np.float64) / np.linalg.norm(np.asarray(normal, np.float64))
    moves = np.outer(shown.times, towards * (towards @ np.asarray(velocity, np.float64)))
    number, part = 0, None
    for number in dict.fromkeys([0, len(moves) - 1]):
        part = part or near_part(shown.corners, point + moves[number], normal)
        if part is not None:
            break
    if part is None:
        return []
    rim, faces = part
    mesh = require_k3d().mesh(
        rim.astype(np.float32), faces.astype(np.uint32), color=_OBSTACLE, opacity=_OF_WALL, side="front", name="plane"
    )
    if moves.any():
        poses = np.tile(np.eye(4, dtype=np.float32), (len(moves), 1, 1))
        poses[:, :3, 3] = moves - moves[number]
        mesh.model_matrix = _series(list(poses))
    return [mesh]


def _camera(corners: NDArray[np.float64], flat: bool) -> list[float]:
    """Where the eye is, where it looks and what is up: so that all corners of a box are in the picture."""
    middle = corners.mean(axis=0)
    if flat:
        towards, up = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])
    else:
        a, e = _AZIMUTH, _ELEVATION
        towards = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
        up = np.array([0.0, 0.0, 1.0])
    right = np.cross(up, towards)
    right /= np.linalg.norm(right)
    upwards = np.cross(towards, right)
    half = 0.5 * (corners[1] - corners[0])
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    x, y, z = ((signs * half) @ axis for axis in (right, upwards, towards))
    tangent = math.tan(math.radians(_FOV / 2))
    distance = float(np.max(z + _ROOM * np.maximum(np.abs(y), np.abs(x) / _ASPECT) / tangent)) or 1.0
    return [*(middle + distance * towards).tolist(), *middle.tolist(), *up.tolist()]
