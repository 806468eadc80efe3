"""What every inside test must do: one abstract class, run by each method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from impinge import Mesh, _check, _jit, shapes

from .. import naive

Points = NDArray[np.float64]

METHODS = ["octree", "ray", "ray-exact", "direct", "multipole"]
BAD_POINTS = [
    ([[0, 0, 0], [np.nan, 0, 0]], "points: row 1 is not finite"),
    ([[0, 0, -np.inf]], "points: row 0 is not finite"),
    (np.zeros((2, 2)), r"points: found shape \(2, 2\)"),
    (np.zeros(3), r"points: found shape \(3,\).*single row"),
    (np.zeros((2, 3, 1)), "points: found shape"),
    ("points", "points: found text"),
    ([["a", "b", "c"]], "points: found text"),
    (np.array([[object()] * 3]), "points: found objects"),
    (np.zeros((2, 3), complex), "points: found complex"),
    (np.zeros((2, 3), bool), "points: found booleans"),
    (None, "points: found objects"),
    ([[1, 2, 3], [4, 5]], "points: found something that is not an array"),
]
_TETRAHEDRON = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def _l_shape() -> Mesh:
    """An L of three unit squares, one high: concave, with flat faces of several triangles."""
    outline = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], float)
    vertices = np.vstack([np.c_[outline, np.zeros(6)], np.c_[outline, np.ones(6)]])
    top = [[0, 1, 3], [1, 2, 3], [0, 3, 5], [3, 4, 5]]
    sides = [[i, (i + 1) % 6, (i + 1) % 6 + 6] for i in range(6)] + [[i, (i + 1) % 6 + 6, i + 6] for i in range(6)]
    faces = [[a, c, b] for a, b, c in top] + [[a + 6, b + 6, c + 6] for a, b, c in top] + sides
    return Mesh(vertices, faces)


def _with_flat_faces() -> Mesh:
    """A cube with one edge slit open and closed again by a face without area."""
    cube = shapes.box(2.0)
    vertices = np.vstack([cube.vertices, [[0, 0, 0]]])
    a, b, _ = cube.faces[0]
    vertices[8] = vertices[a] / 2 + vertices[b] / 2
    faces = np.vstack([cube.faces, [[a, 8, b]], [[a, b, 8]]])
    return Mesh(vertices, faces)


def shell(factor: float, by: tuple[float, float, float] = (0.0, 0.0, 0.0), inverted: bool = False) -> Mesh:
    ball = shapes.octasphere(1)
    moved = Mesh(ball.vertices * factor + np.array(by), ball.faces)
    return moved.flipped() if inverted else moved


SHAPES: dict[str, Callable[[], Mesh]] = {
    "cube": lambda: shapes.box(2.0),
    "octahedron": lambda: shapes.octasphere(0),
    "tetrahedron": lambda: _TETRAHEDRON,
    "L": _l_shape,
    "flat faces": _with_flat_faces,
}
# Winding numbers at points on the axis x = 0.1, y = 0.2, from the centre outwards
SHELLS: dict[str, tuple[Callable[[], Mesh], list[tuple[float, int]]]] = {
    "nested": (lambda: shell(1.0) + shell(0.5), [(0.0, 2), (0.55, 1), (1.5, 0)]),
    "hollow": (lambda: shell(1.0) + shell(0.5, inverted=True), [(0.0, 0), (0.55, 1), (1.5, 0)]),
    "inverted": (lambda: shell(1.0, inverted=True), [(0.0, -1), (1.5, 0)]),
    "overlapping": (lambda: shell(1.0) + shell(1.0, (0, 0, 1)), [(-0.5, 1), (0.5, 2), (1.4, 1), (2.5, 0)]),
}


@cache
def lattice(name: str) -> tuple[Mesh, Points, NDArray[np.int8], NDArray[np.float64]]:
    """A mesh, the quarter-integer lattice in and around it, and the rational answer."""
    mesh = SHAPES[name]()
    low, high = mesh.bounds
    # Odd multiples only every other time: 1/4 steps in x, 1/2 in y and z keep it short
    axes = [np.arange(low[k] - 0.5, high[k] + 0.75, 0.25 if k == 0 else 0.5) for k in range(3)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    numbers = naive.windings(mesh, points)
    sign = np.array([0 if w is None else (1 if w >= 1 else -1) for w in numbers], np.int8)
    return mesh, points, sign, np.array([np.nan if w is None else w for w in numbers], float)


class InsideMethodContract(ABC):
    """Subclass it as Test…, with `prepare`; `counts_parity` if only odd and even are told apart."""

    counts_parity = False

    @staticmethod
    @abstractmethod
    def prepare(mesh: Mesh) -> Any:
        """The method under test for a mesh."""

    def classify(self, mesh: Mesh, points: Any) -> NDArray[np.int8]:
        found: NDArray[np.int8] = self.prepare(mesh).classify(_check.vectors("points", points))
        assert found.dtype == np.int8
        return found

    def sign_of(self, winding: int) -> int:
        return 1 if (winding % 2 == 1 if self.counts_parity else winding >= 1) else -1

    @pytest.mark.parametrize("name", SHAPES)
    def test_lattice_points(self, name: str) -> None:
        """Points in faces, on edges, at vertices, in the planes and lines of faces and edges."""
        mesh, points, wanted, numbers = lattice(name)
        np.testing.assert_array_equal(self.classify(mesh, points), wanted)
        off = wanted != 0
        found = self.prepare(mesh).winding(_check.vectors("points", points))
        np.testing.assert_array_equal(found[off], numbers[off])
        assert ((found[~off] > 0) & (found[~off] < 1)).all()

    @pytest.mark.parametrize("factor", [1e-150, 1e150, 2.0**-1070, 2.0**1020])
    @pytest.mark.parametrize("name", ["cube", "L"])
    def test_any_scale(self, name: str, factor: float) -> None:
        mesh, points, wanted, _ = lattice(name)
        if abs(factor) < 1e-300:  # quarters would be rounded
            mesh, points = Mesh(mesh.vertices * 4, mesh.faces), points * 4
        if factor not in (1e-150, 1e150):
            np.testing.assert_array_equal(
                self.classify(Mesh(mesh.vertices * factor, mesh.faces), points * factor), wanted
            )
            return
        # Decimal factors round, so on-surface points may leave it: compare vertices and clear points only
        found = self.classify(Mesh(mesh.vertices * factor, mesh.faces), points * factor)
        clear = (np.abs(points[:, None] - mesh.vertices[None]).min(axis=(1, 2)) > 0.2) & (wanted != 0)
        np.testing.assert_array_equal(found[clear], wanted[clear])
        np.testing.assert_array_equal(
            self.classify(Mesh(mesh.vertices * factor, mesh.faces), mesh.vertices * factor), 0
        )

    @pytest.mark.parametrize("name", SHELLS)
    def test_shells(self, name: str) -> None:
        make, places = SHELLS[name]
        points = np.array([[0.1, 0.2, z] for z, _ in places])
        mesh = make()
        np.testing.assert_array_equal(self.classify(mesh, points), [self.sign_of(w) for _, w in places])
        if not self.counts_parity:
            found = self.prepare(mesh).winding(_check.vectors("points", points))
            np.testing.assert_array_equal(found, [w for _, w in places])

    def test_points_sharing_coordinates_with_vertices(self) -> None:
        """Straight above, below and beside vertices, where rays along the axes meet edges and vertices."""
        mesh = shapes.octasphere(1)
        rng = np.random.default_rng(5)
        points = np.stack([rng.choice(mesh.vertices[:, k], 150) for k in range(3)], axis=1)
        points[::3, 2] *= 0.5
        np.testing.assert_array_equal(self.classify(mesh, points), naive.classify(mesh, points))

    def test_far_away(self) -> None:
        points = np.array([[1e300, 0, 0], [0, -1.7e308, 0], [1e17, 1e17, 1e17], [1.7e308] * 3, [1e-320, 0, 0]])
        np.testing.assert_array_equal(self.classify(shapes.box(2.0), points), [-1, -1, -1, -1, 1])

    def test_within_an_ulp_of_the_surface(self) -> None:
        mesh = shapes.octasphere(2)
        corners = mesh.vertices[mesh.faces[:30]]
        points = np.einsum("k,nkd->nd", [0.3, 0.3, 0.4], corners)
        points = np.vstack([points, np.nextafter(points, 0), np.nextafter(points, 2 * points), corners[:, 0]])
        np.testing.assert_array_equal(self.classify(mesh, points), naive.classify(mesh, points))

    def test_threads_order_and_chunks_do_not_matter(self) -> None:
        mesh = shapes.octasphere(3)
        rng = np.random.default_rng(2)
        points = np.vstack([rng.uniform(-1.1, 1.1, (700, 3)), mesh.vertices[:99]])
        method = self.prepare(mesh)
        with _jit.threads(1):
            sign, number = method.classify(points), method.winding(points)
        order = rng.permutation(len(points))
        shuffled = np.ascontiguousarray(points[order])
        np.testing.assert_array_equal(method.classify(shuffled), sign[order])
        np.testing.assert_array_equal(method.winding(shuffled), number[order])
        parts = [np.ascontiguousarray(part) for part in np.array_split(points, [1, 2, 129, 400])]
        np.testing.assert_array_equal(np.concatenate([method.winding(part) for part in parts]), number)

    def test_no_points(self) -> None:
        method = self.prepare(shapes.box())
        assert method.classify(np.empty((0, 3))).shape == (0,)
        assert method.winding(np.empty((0, 3))).shape == (0,)

    def test_says_its_name_and_size(self) -> None:
        method = self.prepare(shapes.octasphere(2))
        assert isinstance(method.name, str)
        assert method.nbytes > 0

    # The same test in several classes is what this is about.
    @settings(suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])
    @given(
        st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=4, max_size=4, unique=True),
        st.lists(st.tuples(*[st.integers(-4, 4)] * 3), min_size=1, max_size=20),
    )
    def test_lattice_tetrahedra(self, corners: list[tuple[int, ...]], queries: list[tuple[int, ...]]) -> None:
        """Any tetrahedron of small integers, of either orientation or flat, and integer points."""
        mesh = Mesh(corners, _TETRAHEDRON.faces)
        points = np.array(queries, float)
        wanted = [0 if w is None else self.sign_of(w) for w in naive.windings(mesh, points)]
        np.testing.assert_array_equal(self.classify(mesh, points), wanted)
