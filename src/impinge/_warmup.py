"""Runs every public path once on something small, so that all kernels are compiled and cached.

A path that is missing is an error here, not a step left out: ``tests/test_warmup.py`` relies on it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from impinge import broad, exact, shapes
from impinge.bodies.filling import fill_lattice, fill_random
from impinge.bodies.motion import Motion
from impinge.bodies.soft.cable import cable_parts
from impinge.bodies.soft.cloth import cloth_parts
from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.parts import join
from impinge.broad.methods import BOX_METHODS
from impinge.broad.methods import METHODS as PAIR_METHODS
from impinge.errors import InfeasibleError
from impinge.inside.collide import collide
from impinge.inside.multipole import MODES, Multipole
from impinge.inside.solid import METHODS, Solid
from impinge.loading import load_motions
from impinge.output.camera import Camera
from impinge.output.render import render
from impinge.output.surface import Surface, render_surface
from impinge.response.materials import Material
from impinge.response.qp import solve_qp
from impinge.run.soft import SoftWorld
from impinge.run.world import World


def _points(mesh: shapes.Mesh) -> NDArray[np.float64]:
    """Points anywhere, exactly on the surface, and as near to it as rounding lets them be."""
    anywhere = np.random.default_rng(0).uniform(-1.2, 1.2, (500, 3))
    return np.concatenate([anywhere, mesh.vertices, mesh.vertices[mesh.faces].mean(axis=1)])


def _decide() -> None:
    p, q, a, b, c = np.random.default_rng(0).normal(size=(5, 10, 3))
    exact.orient2d(a[:, :2], b[:, :2], c[:, :2])
    exact.orient3d(p, a, b, c)
    exact.point_in_triangle(p, a, b, c)
    exact.segment_triangle(p, q, a, b, c)


def _survey_mesh(mesh: shapes.Mesh) -> None:
    for name in ("area", "volume", "centroid", "inertia", "bounds", "is_closed", "is_manifold"):
        getattr(mesh, name)
    mesh.problems()
    mesh.components()


def _use_meshes() -> None:
    sphere = shapes.octasphere(3)
    _survey_mesh(sphere)
    corners = sphere.vertices[sphere.faces].reshape(-1, 3)
    _survey_mesh(shapes.Mesh(corners, np.arange(len(corners)).reshape(-1, 3)))  # equal vertices are merged
    shapes.Mesh(np.outer([0, 1, 2], [1, 1, 1]), [[0, 1, 2]]).problems()  # a face without area
    (sphere + shapes.box()).split()
    shapes.icosphere(1)
    shapes.cylinder()
    shapes.torus()
    shapes.foam(5000)


def _classify(method: str) -> None:
    for mesh in (shapes.octasphere(4), shapes.box(divisions=2)):  # enough triangles for several levels
        solid = Solid(mesh, method)
        solid.classify(_points(mesh))
        solid.winding(_points(mesh))
    if method == "octree":
        Solid(shapes.box(), method).grid((4, 5, 6))


def _use_multipole() -> None:
    """In both precisions, one after the other: processes that save two versions of a kernel at once can mix them."""
    sphere = shapes.octasphere(4)
    for accuracy in (1e-3, 1e-10):  # the finer of an order that has no matrices
        for mode in MODES:
            Multipole(sphere, accuracy=accuracy, mode=mode).winding(_points(sphere))


def _find_nearest() -> None:
    solid = Solid(shapes.octasphere(4), "direct")
    solid.closest(_points(solid.mesh))
    solid.grid((4, 5, 6), values="distance")


def _find_pairs() -> None:
    rng = np.random.default_rng(0)
    centres, radii = rng.random((300, 3)), 10 ** rng.uniform(-3, -1.5, 300)
    half = np.repeat(radii[:, None], 3, axis=1)
    for box, periodic in ((None, False), ([1.0] * 3, True)):
        for method in PAIR_METHODS:
            broad.pairs(centres[:, :2], radii, method=method, gap=0.01, box=box and box[:2], periodic=periodic)
            search = broad.NeighborSearch(method, 0.001, box=box, periodic=periodic)
            for _ in range(3):
                near = search.update(centres, radii)
                near.touching()
                near.starts.sum()
                centres = centres + rng.normal(size=centres.shape) * 0.01
        for method in BOX_METHODS:
            boxes = broad.BoxSearch(method, 0.0, box=box, periodic=periodic)
            for _ in range(3):
                boxes.update(centres - half, centres + half)
                centres = centres + rng.normal(size=centres.shape) * 0.01


def _move_spheres() -> None:
    for friction in (0.0, 0.5):
        material = Material(2500, stiffness=1e5, restitution=0.9, friction=friction)
        world = World(box=[1.0] * 3, periodic=[True, False, False])
        world.add_spheres(*fill_lattice([0.1, 0, 0], [0.9, 0.4, 0.4], 0.05), material, [0.0, 0.0, -1.0])
        world.add_plane([0, 0, 0], [0, 0, 1])
        world.add_obstacle(shapes.box(), motion=Motion(rotation=((0, 0, 1.0), (0, 0, 0))))
        world.step(300)  # enough for new lists
        world.energy()
    empty = World(dt=1.0)
    empty.add_plane([0, 0, 0], [0, 0, 1])
    empty.step(1)


def _move_polyhedra() -> None:
    rock = Material(2500, stiffness=1e5, restitution=0.9, friction=0.5)
    for spheres in (True, False):  # without them many steps are made in one call
        world = World()
        world.add_polyhedra(shapes.box(), [[0, 0, 0.51], [0.1, 0.2, 1.52]], material=rock, velocities=[0, 0, -1.0])
        if spheres:
            world.add_spheres([[0.1, 0.1, 2.12]], 0.1, rock, [0.0, 0.0, -1.0])
        world.add_plane([0, 0, 0], [0, 0, 1])
        below = shapes.box().transformed(translation=[0, 0, -0.5])
        world.add_obstacle(below, motion=Motion((0.0, 0.0, 1.0)))
        world.step(100)
        world.energy()


def _fill() -> None:
    for d in (2, 3):
        fill_random([0.0] * d, [1.0] * d, ("uniform", 0.02, 0.06), fraction=0.2)
        fill_random([0.0] * d, [1.0] * d, 0.1, fraction=0.5 if d == 3 else 0.7)


def _draw() -> None:
    rng = np.random.default_rng(0)
    corners = np.array([[0.0] * 3, [1.0] * 3])
    render(rng.random((20, 4)), rng.random((20, 3)), [shapes.box()], corners[None], (-60.0, 20.0), (40, 30))
    surface = Surface(*rng.random((3, 20, 3, 3)))
    camera = Camera.showing(np.empty((0, 4)), [corners], (-60.0, 20.0), (40, 30))
    render_surface(surface, camera, corners)


def _ask_everything() -> None:
    """All questions to all methods; what they need is compiled by the steps before."""
    sphere = shapes.octasphere(3)
    for method in METHODS[1:]:  # the first, auto, is one of the others
        solid = Solid(sphere, method)
        for name in ("classify", "contains", "winding", "distance", "closest"):
            getattr(solid, name)(_points(sphere))
        solid.grid((4, 5, 6))
        solid.grid((4, 5, 6), values="distance")
        solid.describe()
        solid.at(translation=[1.0, 0, 0]).closest(_points(sphere))
        collide(solid, solid.at(translation=[1.5, 0, 0]))
        solid.classify([])
        pickle.loads(pickle.dumps(solid)).classify(_points(sphere))
        with tempfile.TemporaryDirectory() as folder:
            solid.save(Path(folder) / "solid.npz")
            Solid.load(Path(folder) / "solid.npz").classify(_points(sphere))
    Solid(shapes.Mesh(sphere.vertices, sphere.faces[1:]), "direct").winding(_points(sphere))


def _bend_bodies() -> None:
    """Everything that elastic parts can be asked."""
    sheet = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    cloth = cloth_parts(sheet, [[0, 1, 2], [0, 2, 3]], stretch=1.0, shear=1.0, bend=1.0, density=1.0)
    elements = Elements(join([cloth, cable_parts(sheet, stretch=1.0, bend=1.0, mass_per_length=1.0)]))
    x = np.concatenate([sheet, sheet])
    elements.energy(x)
    elements.gradient(x)
    elements.hessian(x)
    elements.strains(x)


def _solve_programs() -> None:
    """A banded program, one of a net with many rows and one with few, and one that has no solution."""
    rng = np.random.default_rng(0)
    for side in (4, 12, 26):
        net = sp.kron(sp.eye_array(side), _chain(side)) + sp.kron(_chain(side), sp.eye_array(side))
        for K in (_chain(60), net, rng.random((3, 3)) + 3 * np.eye(3)):
            n = K.shape[0]
            symmetric = K if sp.issparse(K) else K + K.T
            for count in (3, -(-n // 4), n):
                rows = sp.eye_array(n, format="csr")[:count]
                found = solve_qp(symmetric, rng.normal(size=n), rows, -np.ones(count), E=rows[:1], e=[0.5 - 2])
                solve_qp(symmetric, rng.normal(size=n), rows, -np.ones(count), E=rows[:1], e=[-1.5], warm=found)
    with contextlib.suppress(InfeasibleError):
        solve_qp(np.eye(9), np.ones(9), np.outer([1.0, -1.0], np.ones(9)), [-1.0, -1.0])
    with contextlib.suppress(InfeasibleError):
        solve_qp(np.eye(2), np.ones(2), np.zeros((1, 2)), [-1.0])
    unsorted = sp.csr_array((np.ones(2), np.array([1, 0], np.int32), np.array([0, 2], np.int32)), shape=(1, 2))
    solve_qp([[2.0, 1e-15], [0.0, 2.0]], np.ones(2), unsorted, [1.0])  # symmetric but for rounding


def _chain(n: int) -> Any:
    """A sparse matrix of unknowns that are coupled with the next one."""
    return sp.diags_array([-np.ones(n - 1), 4 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1], format="csc")


def _move_soft_bodies() -> None:
    """A cable and a cloth fall onto a ball and each other."""
    line = np.column_stack([np.linspace(-1, 1, 12), np.zeros(12), np.full(12, 1.2)])
    flat = shapes.box((2.0, 2.0, 0.1), divisions=4)
    top = np.flatnonzero((flat.vertices[flat.faces][:, :, 2] > flat.vertices[:, 2].max() - 1e-9).all(axis=1))
    used, faces = np.unique(flat.faces[top], return_inverse=True)
    cloth = flat.vertices[used] * [1, 1, 0] + [0, 0, 1.02], faces.reshape(-1, 3)
    ways = [("implicit-euler", response) for response in ("qp", "penalty", "impulse")] + [("explicit", "qp")]
    for integrator, response in ways:
        world = SoftWorld(integrator=integrator, dt=0.05 if integrator != "explicit" else 0.001, response=response)
        world.add_cable(
            line, radius=0.02, stretch=1e3, bend=0.1, mass_per_length=1.0, damping=0.01, velocity=(0, 0, -4)
        )
        world.add_cloth(cloth, stretch=100, shear=10, bend=0.01, density=1.0, thickness=0.02)
        world.add_obstacle(shapes.octasphere(2))
        world.fix([0])
        if response == "qp":
            world.limit_strain(upper=0.01)
            world.add_constraint(np.eye(1, 3 * len(world.positions), 5), 10.0)
            world.friction = 0.3
        world.step(4)
        world.energy()
    rope = SoftWorld(dt=0.05)  # alone it has a loop of its own
    rope.add_cable(line, radius=0.02, stretch=1e3, bend=0.1, mass_per_length=1.0)
    rope.fix([0])
    rope.step()
    sheet = SoftWorld(dt=0.05)  # so fast that only pairs of one step are listed, and so stiff that paths bend
    sheet.add_cloth(cloth, stretch=1e6, shear=1e5, density=1.0, thickness=0.02, velocity=(50, 50, 0))
    sheet.fix([0])
    sheet.step()


def steps() -> list[tuple[str, Callable[[], None]]]:
    """What is compiled, in words, and the function that does it; long ones first, and the last after all others."""
    return [
        ("inside by octree", lambda: _classify("octree")),
        ("inside by multipole", _use_multipole),
        ("nearest point", _find_nearest),
        ("pairs", _find_pairs),
        ("moving spheres", _move_spheres),
        ("moving polyhedra", _move_polyhedra),
        ("soft bodies", _move_soft_bodies),
        ("quadratic programs", _solve_programs),
        ("moving meshes", load_motions),
        ("elastic parts", _bend_bodies),
        ("filling", _fill),
        ("inside by direct", lambda: _classify("direct")),
        ("inside by ray", lambda: _classify("ray")),
        ("inside by ray-exact", lambda: _classify("ray-exact")),
        ("exact predicates", _decide),
        ("meshes", _use_meshes),
        ("pictures", _draw),
        ("all together", _ask_everything),
    ]


def run(workers: int, started: Callable[[str], None], finished: Callable[[str], None]) -> None:
    """Run all steps, several at a time in processes of their own; the callbacks get their names."""
    listed = steps()
    waiting: SimpleQueue[int] = SimpleQueue()
    for number in range(len(listed) - 1):
        waiting.put(number)

    def take_steps(_: int) -> None:
        with _Worker() as worker:
            while True:
                try:
                    number = waiting.get_nowait()
                except Empty:
                    return
                started(listed[number][0])
                worker.do(number)
                finished(listed[number][0])

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(take_steps, range(workers)))
    name, last = listed[-1]
    started(name)
    last()
    finished(name)


def serve() -> None:
    """Run the steps whose numbers come on stdin, and answer each with a line: what a worker does."""
    listed = steps()
    for line in sys.stdin:
        listed[int(line)][1]()
        print("done", flush=True)


class _Worker:
    """Another Python that runs steps."""

    def __enter__(self) -> _Worker:
        # One thread: what is compiled does not depend on it, and the cores are busy anyway.
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from impinge import _warmup; _warmup.serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "NUMBA_NUM_THREADS": "1"},
        )
        return self

    def do(self, number: int) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(number, file=self._process.stdin, flush=True)
        if self._process.stdout.readline() != "done\n":
            raise RuntimeError("a step of the warm-up failed; what happened stands above")

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
