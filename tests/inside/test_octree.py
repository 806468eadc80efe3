"""The octree against the direct sum, on all scenes, and its own adversaries: meshes laid on its cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge import Mesh, _check, _jit, shapes
from impinge.errors import MeshError
from impinge.inside import _octree_build, _octree_grow, _octree_settle
from impinge.inside.direct import Direct
from impinge.inside.octree import Octree

from . import scenes


def classify(octree: Octree, points: scenes.Points) -> np.ndarray:
    return octree.classify(_check.vectors("points", points))


def assert_like_direct(mesh: Mesh, points: scenes.Points, octree: Octree | None = None) -> None:
    octree = octree or Octree(mesh)
    checked = _check.vectors("points", points)
    wrong = np.flatnonzero(octree.classify(checked) != Direct(mesh).classify(checked))
    assert len(wrong) == 0, f"{len(wrong)} wrong, first {points[wrong[0]]!r}"


@pytest.mark.parametrize("name", scenes.SMALL)
def test_agrees_with_the_direct_sum(name: str) -> None:
    mesh = scenes.SMALL[name]()
    octree, direct = Octree(mesh), Direct(mesh)
    count = 40 if name in scenes.SLOW else 150
    for kind, points in scenes.points(mesh, count, seed=3):
        checked = _check.vectors("points", points)
        found, wanted = octree.classify(checked), direct.classify(checked)
        assert (found == wanted).all(), kind
        # On the surface, next to an edge or on axes of very different size, the direct sum loses digits.
        compare = found != 0 if kind != "vertices" or name == "axes-apart" else slice(None)
        np.testing.assert_allclose(
            octree.winding(checked)[compare], direct.winding(checked)[compare], rtol=0, atol=1e-12, err_msg=kind
        )
        assert np.isfinite(octree.winding(checked)).all()


@pytest.mark.parametrize("path", scenes.files(), ids=lambda path: path.name)
def test_real_meshes(path: object) -> None:
    mesh = scenes.load(path)  # type: ignore[arg-type]
    if not mesh.is_closed:
        pytest.skip("not closed")
    octree = Octree(mesh)
    for _, points in scenes.points(mesh, 60, seed=5):
        assert_like_direct(mesh, points, octree)


@pytest.mark.skipif(not scenes.files(), reason="the collection of real meshes is not at hand")
def test_some_real_meshes_are_closed() -> None:
    assert sum(scenes.load(path).is_closed for path in scenes.files()) >= 2


@pytest.mark.parametrize("name", ["box-divided", "sphere-4", "lattice-blob", "nested", "uneven"])
def test_points_of_the_tree_itself(name: str) -> None:
    """Corners, side centres and centres of cells at all levels, and the reference points."""
    mesh = scenes.SMALL[name]()
    octree = Octree(mesh)
    tree = octree._tree
    rng = np.random.default_rng(1)
    for level in range(tree.depth + 1):
        step = 4.0 ** (tree.depth - level) / tree.inv
        cells = rng.integers(0, tree.shape * 4**level + 1, (200, 3)) + rng.choice([0.0, 0.5], (200, 3))
        points = (tree.origin + cells * step) / tree.scale
        assert_like_direct(mesh, points, octree)
        assert_like_direct(mesh, np.nextafter(points, rng.choice([-np.inf, np.inf], (200, 3))), octree)
    leaves = tree.codes[(tree.codes & 3) == _octree_build.LEAF] >> 2
    references = tree.words.reshape(-1, 4)[rng.choice(leaves, 300), :3]
    assert_like_direct(mesh, references, octree)


def _fixed_root(origin: float, size: float, cells: int) -> _octree_grow._Root:
    return _octree_grow._Root(np.ones(3), np.full(3, origin), size, np.full(3, cells), 6)


@pytest.mark.parametrize("divisions", [1, 4, 7])
@pytest.mark.parametrize("low", [-1.0, -0.5, -0.75])
def test_mesh_on_the_sides_of_cells(monkeypatch: pytest.MonkeyPatch, divisions: int, low: float) -> None:
    """Boxes whose faces lie in the sides of cells: no place on a common side is off the surface at first."""
    monkeypatch.setattr(_octree_grow, "place_root", lambda mesh: _fixed_root(-2.0, 0.5, 8))
    monkeypatch.setattr(_octree_grow, "LEAF_MOST", 4)
    mesh = shapes.box(size=(1, 1, 1), lower=(low, low, low), divisions=divisions)
    mesh = mesh + shapes.box(size=(0.5, 1.5, 0.5), lower=(-0.5, -1.0, 0.0), divisions=divisions)
    axis = np.arange(-1.25, 1.3, 0.125)
    assert_like_direct(mesh, np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3))


@pytest.mark.parametrize("corner", range(4))
def test_mesh_through_the_references(monkeypatch: pytest.MonkeyPatch, corner: int) -> None:
    """Tetrahedra with a vertex, an edge or a face exactly at the points where windings are taken."""
    monkeypatch.setattr(_octree_grow, "place_root", lambda mesh: _fixed_root(-2.0, 0.5, 8))
    monkeypatch.setattr(_octree_grow, "LEAF_MOST", 4)
    places = _octree_build._PLACES
    bodies = [shapes.octasphere(2)]
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    for cell in ([0, 0, 0], [1, 2, 0], [-2, 1, 1]):
        for u, v, w in places:
            point = 0.5 * (np.array(cell) + np.array([w, u, v]))
            spread = np.array([[0, 0, 0], [0.25, 0, 0], [0, 0.25, 0], [0, 0, 0.25]])
            # Dyadic steps keep the point a vertex, or the exact middle of an edge or of a face's height.
            shift = [spread[0], spread[1] / 2, (spread[1] + spread[2]) / 2, (spread[2] / 4 + spread[3] / 4)][corner]
            bodies.append(Mesh(point + spread - shift, faces))
    mesh = Mesh.concatenate(bodies)
    octree = Octree(mesh)
    for _, points in scenes.points(mesh, 150, seed=9):
        assert_like_direct(mesh, points, octree)


def test_winding_on_the_surface() -> None:
    """1/2 in a face, dihedral angle/2π on an edge, solid angle/4π at a vertex, and on flat edges 1/2."""
    box = Octree(shapes.box(size=(2, 4, 8), lower=(0, 0, 0), divisions=2))
    cases = {(1, 1, 0): 0.5, (2, 2, 4): 0.5, (0.5, 0.5, 8): 0.5, (0, 0, 1): 0.25, (2, 4, 4): 0.25, (0, 4, 8): 0.125}
    found = box.winding(_check.vectors("points", np.array(list(cases), float)))
    np.testing.assert_allclose(found, list(cases.values()), rtol=0, atol=1e-15)
    tetrahedron = Octree(
        Mesh([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
    )
    dihedral, corner = np.arccos(1 / 3), 3 * np.arccos(1 / 3) - np.pi
    found = tetrahedron.winding(_check.vectors("points", [[1, 0, 0], [1, 1, 1], [0, 0, 1]]))
    np.testing.assert_allclose(found, np.array([dihedral * 2, corner, dihedral * 2]) / (4 * np.pi), rtol=0, atol=1e-15)


def test_slowest_labelling_agrees() -> None:
    """The fallback of the labelling (all triangles, from outside) knows every winding number."""
    mesh = scenes.nested(2)
    points = np.random.default_rng(4).uniform(-1.1, 1.1, (300, 3))
    wanted = Octree(mesh).winding(_check.vectors("points", points))
    found = np.empty(len(points), np.int32)
    _octree_settle.settle_cells(len(points), mesh.vertices, mesh.faces, points, found)
    np.testing.assert_array_equal(found, wanted)


@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=12), st.integers(0, 2**30))
def test_lattice_polyhedra(cubes: list[tuple[int, int, int]], seed: int) -> None:
    """Unions and multiple covers of unit cubes, sheared; every query on the half-integer lattice."""
    rng = np.random.default_rng(seed)
    shear = np.eye(3) + np.triu(rng.integers(-2, 3, (3, 3)), 1)
    cube = shapes.box(size=(1, 1, 1), lower=(0, 0, 0))
    mesh = Mesh(
        np.vstack([cube.vertices + c for c in cubes]), np.vstack([cube.faces + 8 * i for i in range(len(cubes))])
    )
    axis = np.arange(-2.5, 4, 0.5)
    points = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    covers = [((points > c) & (points < np.add(c, 1))).all(axis=1) for c in cubes]
    touches = [((points >= c) & (points <= np.add(c, 1))).all(axis=1) for c in cubes]
    inside, touch = np.sum(covers, axis=0), np.sum(touches, axis=0)
    wanted = np.where(touch > inside, 0, np.where(inside > 0, 1, -1))
    sheared = Mesh(mesh.vertices @ shear.T, mesh.faces)
    np.testing.assert_array_equal(classify(Octree(sheared), points @ shear.T), wanted)


def test_threads_order_and_chunks_do_not_matter() -> None:
    mesh = shapes.foam(6000)
    rng = np.random.default_rng(8)
    points = np.vstack([points for _, points in scenes.points(mesh, 700, seed=2)])
    with _jit.threads(1):
        one = Octree(mesh)
        wanted = classify(one, points)
    with _jit.threads(2):
        two = Octree(mesh)
        for field, first, second in zip(one._tree._fields, one._tree, two._tree, strict=True):
            np.testing.assert_array_equal(np.asarray(first), np.asarray(second), err_msg=field)
        order = rng.permutation(len(points))
        np.testing.assert_array_equal(classify(two, points[order]), wanted[order])
        parts = np.array_split(points, [1, 2, 255, 256, 257, 5000])
        np.testing.assert_array_equal(np.concatenate([classify(two, part) for part in parts]), wanted)


@pytest.mark.parametrize("name", ["uneven", "needles", "fan", "copies", "foam", "torus"])
def test_memory_is_bounded(name: str) -> None:
    mesh = scenes.SMALL[name]()
    assert Octree(mesh).nbytes < 1000 * len(mesh.faces) + 10_000


def test_small_crowded_part_is_found() -> None:
    """A part of one millionth of the size gets its own small cells, not one long list."""
    mesh = shapes.octasphere(2) + scenes.moved(shapes.octasphere(5), 1e-6, (0.3, 0.2, 0.1))
    tree = Octree(mesh)._tree
    units = tree.codes[(tree.codes & 3) == _octree_build.LEAF] >> 2
    assert tree.ints.reshape(-1, 8)[units + 1, 1].max() <= 16  # blocks of 8 triangles


def test_too_large_a_tree_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes would not hold the places of its leaves any more."""
    monkeypatch.setattr(_octree_grow, "UNITS_MOST", 100)
    with pytest.raises(MeshError, match="its octree needs"):
        Octree(shapes.octasphere(3))
