"""Runs every public path once on something small, so that all kernels are compiled and cached.

A path that is missing is an error here, not a step left out: ``tests/test_warmup.py`` relies on it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from impinge import exact, shapes
from impinge.inside.solid import METHODS, Solid

_QUERIES = ("classify", "contains", "winding", "distance", "closest")


def _points(mesh: shapes.Mesh) -> NDArray[np.float64]:
    """Points anywhere, exactly on the surface, and as near to it as rounding lets them be."""
    anywhere = np.random.default_rng(0).uniform(-1.2, 1.2, (500, 3))
    return np.concatenate([anywhere, mesh.vertices, mesh.vertices[mesh.faces].mean(axis=1)])


def _survey_mesh(mesh: shapes.Mesh) -> None:
    for name in ("area", "volume", "centroid", "inertia", "bounds", "is_closed", "is_manifold"):
        getattr(mesh, name)
    mesh.problems()
    mesh.components()


def _check_meshes() -> None:
    sphere = shapes.octasphere(3)
    _survey_mesh(sphere)
    corners = sphere.vertices[sphere.faces].reshape(-1, 3)
    _survey_mesh(shapes.Mesh(corners, np.arange(len(corners)).reshape(-1, 3)))  # equal vertices are merged
    shapes.Mesh(np.outer([0, 1, 2], [1, 1, 1]), [[0, 1, 2]]).problems()  # a face without area
    (sphere + shapes.box()).split()


def _make_shapes() -> None:
    shapes.icosphere(1)
    shapes.cylinder()
    shapes.torus()
    shapes.foam(5000)


def _decide() -> None:
    p, q, a, b, c = np.random.default_rng(0).normal(size=(5, 10, 3))
    exact.orient2d(a[:, :2], b[:, :2], c[:, :2])
    exact.orient3d(p, a, b, c)
    exact.point_in_triangle(p, a, b, c)
    exact.segment_triangle(p, q, a, b, c)


def _query(solid: Solid) -> None:
    points = _points(solid.mesh)
    for name in _QUERIES:
        getattr(solid, name)(points)
    solid.grid((4, 5, 6))
    solid.grid((4, 5, 6), values="distance")
    solid.describe()


def _use_method(method: str) -> None:
    _query(Solid(shapes.octasphere(4), method))  # enough triangles for several levels of any tree
    _query(Solid(shapes.box(divisions=2), method))


def _use_open_mesh() -> None:
    sphere = shapes.octasphere(2)
    _query(Solid(shapes.Mesh(sphere.vertices, sphere.faces[1:]), "direct"))


def _save_and_load() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "solid.npz"
        Solid(shapes.octasphere(3)).save(path)
        _query(Solid.load(path))


def load_checks() -> None:
    """Compile, or load from the cache, what tells whether a mesh is closed."""
    bool(shapes.octasphere(1).is_closed)


def load_method(method: str) -> None:
    """Compile, or load from the cache, what building and classifying by one method needs."""
    solid = Solid(shapes.octasphere(4), method)
    solid.classify(_points(solid.mesh))


def steps() -> list[tuple[str, Callable[[], None]]]:
    """What is compiled, in words, and the function that does it."""
    listed: list[tuple[str, Callable[[], None]]] = [
        ("Exact predicates", _decide),
        ("Mesh checks", _check_meshes),
        ("Shapes", _make_shapes),
    ]
    for method in METHODS[1:]:  # the first, auto, is one of the others
        listed.append((f"Inside by {method}", lambda method=method: _use_method(method)))  # type: ignore[misc]
    listed += [("Open meshes", _use_open_mesh), ("Saved solids", _save_and_load)]
    return listed
