"""Runs what a command needs on something small first, so that no time it tells is the compiler's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from impinge import shapes

__all__ = ["load_checks", "load_method", "load_motions", "load_pairs", "load_settling"]


def load_checks() -> None:
    """Compile, or load from the cache, what tells whether a mesh is closed."""
    bool(shapes.box().is_closed)


def load_method(method: str, accuracy: float) -> None:
    """Compile, or load from the cache, what building and classifying by one method needs."""
    from impinge.inside.solid import Solid

    with _meanwhile("load_settling", wanted=method in ("auto", "octree") and not _settling_is_cached()):
        solid = Solid(shapes.torus(), method, accuracy=accuracy)  # enough triangles for several levels
        solid.classify(np.random.default_rng(0).uniform(-1.2, 1.2, (500, 3)))
    solid.classify(solid.mesh.vertices)


def load_settling() -> None:
    """Compile, or load, the exact kernels of the octree, which are half of all it has; no tree needs to be built."""
    from impinge.inside._octree_grow import Tree
    from impinge.inside.octree import Octree

    mesh = shapes.box()
    three, words = np.zeros(3), np.zeros(4)
    tree = Tree(
        three, three, three, three, 1.0, 1, np.ones(3, np.int64), np.zeros(1, np.int32), words,
        words.view(np.float32), words.view(np.int32), mesh.vertices, mesh.faces,
    )  # fmt: skip
    Octree(mesh, tree).settle(np.empty((0, 3)), np.empty(0))


def _settling_is_cached() -> bool:
    from impinge.compiler import is_cached
    from impinge.inside._octree_settle import settle_points

    return is_cached(settle_points)


@contextmanager
def _meanwhile(function: str, wanted: bool) -> Iterator[None]:
    """Run a function of this module in a Python of its own beside the block, if wanted; the compiler uses one core."""
    if not wanted:
        yield
        return
    command = [sys.executable, "-c", f"from impinge import loading; loading.{function}()"]
    # Should it fail, what it compiles is compiled here later; an error would show there.
    worker = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
        worker.wait()
    finally:
        worker.kill()
        worker.wait()


def load_pairs(method: str) -> None:
    """Compile, or load from the cache, what finds pairs of spheres by one method."""
    from impinge.broad.once import pairs

    for places in (np.arange(20.0), np.arange(1000.0)):  # few and many
        pairs(np.stack([places, places], axis=1), 1.0, method=method, gap=1.0)


def load_motions() -> None:
    """Compile, or load from the cache, what finds contacts of moving meshes and intersections.

    Two rings that pass through each other, and a cable in the plane.
    """
    from impinge import ccd

    ring = shapes.torus(segments=8, rings=5)
    mesh = ring + shapes.Mesh(ring.vertices + [1.5, 0, 0], ring.faces)
    cable, start, end = [[0, 1], [1, 2]], [[0, 0], [1, 0], [2, 1]], [[0.0, 0.0], [1.0, 0.0], [0.5, -1.0]]
    edges = np.concatenate([ccd.edges_of(mesh.faces), cable])
    for gap in (0.0, 0.1):
        ccd.contacts(mesh.vertices, -mesh.vertices, edges, mesh.faces, gap=gap)
        ccd.first_contact(start, end, cable, gap=gap)
    ccd.is_free(mesh.vertices, -mesh.vertices, edges, mesh.faces, bodies=np.arange(len(mesh.vertices)))
    ccd.self_intersections(mesh.vertices, edges, mesh.faces)
