"""Solid: choices, errors, files, distances and grids."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import impinge
from impinge import Mesh, Solid, shapes
from impinge.errors import InputError, MeshError, MeshWarning

from . import scenes
from .contract import BAD_POINTS, METHODS


@pytest.fixture(scope="module")
def ball() -> Mesh:
    return shapes.octasphere(3)


@pytest.fixture(scope="module")
def cloud() -> scenes.Points:
    return np.random.default_rng(0).uniform(-1.2, 1.2, (400, 3))


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_all_methods_agree(ball: Mesh, cloud: scenes.Points, method: str) -> None:
    points = np.vstack([cloud, ball.vertices[:50]])
    solid = Solid(ball, method=method)
    reference = Solid(ball, method="direct")
    np.testing.assert_array_equal(solid.classify(points), reference.classify(points))
    np.testing.assert_array_equal(solid.contains(points), reference.classify(points) >= 0)
    tolerance = solid.accuracy if method == "multipole" else 1e-12
    np.testing.assert_allclose(solid.winding(points), reference.winding(points), atol=tolerance)
    assert (impinge.contains(ball, points, method=method) == solid.contains(points)).all()


def test_auto_and_description(ball: Mesh) -> None:
    solid = Solid(ball)
    assert solid.method == "octree"
    text = solid.describe()
    for word in ("octree", "closed", "MB", "bytes per triangle", "build"):
        assert word in text
    assert "512" in repr(solid)
    assert solid.build_seconds > 0
    assert solid.nbytes > ball.vertices.nbytes


def test_overlaps_are_inside_and_parity_differs() -> None:
    mesh = scenes.overlapping(2)
    point = [[0.5, 0.2, 0.05]]
    for method in ("octree", "ray-exact", "direct"):
        assert Solid(mesh, method=method).winding(point) == 3
        assert Solid(mesh, method=method).classify(point) == 1
    pair = shapes.octasphere(2) + scenes.moved(shapes.octasphere(2), 1.0, (0.1, 0, 0))
    assert Solid(pair, method="octree").contains([[0, 0, 0]])[0]
    assert not Solid(pair, method="ray").contains([[0, 0, 0]])[0]


@pytest.mark.parametrize("method", ["auto", "octree", "ray-exact", "direct"])
def test_inverted_mesh_warns_and_is_outside(ball: Mesh, method: str) -> None:
    with pytest.warns(MeshWarning, match="flipped"):
        solid = Solid(ball.flipped(), method=method)
    assert solid.winding([[0, 0, 0]]) == -1
    assert solid.classify([[0, 0, 0]]) == -1
    assert not solid.contains([[0, 0, 0]])[0]


def test_open_mesh(ball: Mesh, cloud: scenes.Points) -> None:
    mesh = Mesh(ball.vertices, ball.faces[:-1])
    with pytest.warns(MeshWarning, match=r"3 open edges.*multipole"):
        solid = Solid(mesh)
    assert solid.method == "multipole"
    for word in ("not closed", "to 0.001", "order"):
        assert word in solid.describe()
    deep = np.abs(np.linalg.norm(cloud, axis=1) - 1) > 0.3
    np.testing.assert_array_equal(solid.contains(cloud[deep]), Solid(ball).contains(cloud[deep]))
    for method in ("octree", "ray", "ray-exact"):
        with pytest.raises(MeshError, match=r"3 open edges.*first"):
            Solid(mesh, method=method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("points", "message"), BAD_POINTS, ids=[m for _, m in BAD_POINTS])
def test_bad_points(ball: Mesh, method: str, points: object, message: str) -> None:
    solid = Solid(ball, method=method)
    for question in (solid.classify, solid.contains, solid.winding, solid.distance, solid.closest):
        with pytest.raises(InputError, match=message):
            question(points)


@pytest.mark.parametrize("method", METHODS)
def test_no_points(ball: Mesh, method: str) -> None:
    solid = Solid(ball, method=method)
    for empty in (np.empty((0, 3)), [], np.empty((0, 3), np.float32)):
        assert solid.classify(empty).shape == (0,)
        assert solid.contains(empty).dtype == bool
        assert solid.winding(empty).dtype == np.float64
        assert solid.distance(empty).shape == (0,)
        assert solid.closest(empty).points.shape == (0, 3)


def test_arrays_of_all_kinds(ball: Mesh, cloud: scenes.Points) -> None:
    cloud = np.round(cloud * 64) / 64  # exact in all types
    solid = Solid(ball)
    wanted = solid.classify(cloud)
    frozen = cloud.copy()
    frozen.flags.writeable = False
    wide = np.zeros((2 * len(cloud), 6))
    wide[::2, ::2] = cloud
    for same in (
        cloud.astype(np.float32), cloud.astype(np.float16), np.asfortranarray(cloud), frozen, wide[::2, ::2],
        cloud.tolist(), cloud.astype(">f8"), cloud.astype(np.longdouble),
    ):  # fmt: skip
        np.testing.assert_array_equal(solid.classify(same), wanted)
    integers = np.array([[0, 0, 0], [2, 0, 0], [1, 0, 0]])
    for kind in (np.int8, np.uint16, np.int64):
        np.testing.assert_array_equal(solid.classify(integers.astype(kind)), [1, -1, 0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "fast"}, "method: found 'fast', expected one of auto, octree"),
        ({"method": None}, "method: found None"),
        ({"threads": 0}, "threads"),
        ({"threads": 1.5}, "threads"),
        ({"threads": 10_000}, "threads"),
    ],
)
def test_bad_arguments(ball: Mesh, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Solid(ball, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("mesh", [None, 3, "ball.stl", (np.zeros((3, 3)),), ([[0, 0, 0]], [[0, 0, 1]])])
def test_bad_mesh(mesh: object) -> None:
    with pytest.raises(InputError, match=r"mesh|faces|vertices"):
        Solid(mesh)


def test_distance_has_the_sign_of_classify(ball: Mesh, cloud: scenes.Points) -> None:
    solid = Solid(ball)
    points = np.vstack([cloud, ball.vertices[:20], ball.vertices[ball.faces[:20]].mean(axis=1)])
    distances, classes = solid.distance(points), solid.classify(points)
    np.testing.assert_array_equal(np.sign(distances), -classes)
    nearest, faces, lengths = solid.closest(points)
    np.testing.assert_array_equal(np.abs(distances)[classes != 0], lengths[classes != 0])
    np.testing.assert_allclose(np.linalg.norm(points - nearest, axis=1), lengths, atol=1e-15)
    assert faces.dtype == np.int64


@pytest.mark.parametrize("method", METHODS)
def test_grid(ball: Mesh, method: str) -> None:
    solid = Solid(ball, method=method)
    for shape, bounds in ((7, None), ((5, 6, 4), [[-1.5, -1, 0], [1.5, 1, 0.5]])):
        axes = solid.grid_axes(shape, bounds)
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        inside = solid.grid(shape, bounds)
        assert inside.dtype == bool
        np.testing.assert_array_equal(inside.reshape(-1), solid.contains(points.reshape(-1, 3)))
        distances = solid.grid(shape, bounds, values="distance")
        np.testing.assert_allclose(
            distances.reshape(-1), solid.distance(points.reshape(-1, 3)), rtol=1e-15, atol=1e-300
        )
    assert solid.grid((2, 0, 2)).shape == (2, 0, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((2, 3),), "shape"),
        ((-1,), "shape"),
        ((2.5,), "shape"),
        ((3, [[0, 0, 0]]), "bounds"),
        ((3, [[0, 0, 0], [-1, 1, 1]]), "bounds"),
        ((3, [[0, 0, 0], [np.nan, 1, 1]]), "bounds"),
        ((3, None, "both"), "values"),
        ((10**30,), "shape: found .* grid points"),
        ((10**6,), "shape: found .* grid points"),
    ],
)
def test_bad_grids(ball: Mesh, arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Solid(ball).grid(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
def test_save_and_load(ball: Mesh, cloud: scenes.Points, tmp_path: Path, method: str) -> None:
    solid = Solid(ball, method=method)
    path = tmp_path / "ball.solid.npz"
    solid.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["ball.solid.npz"]
    loaded = Solid.load(path)
    assert loaded.method == method
    points = np.vstack([cloud, ball.vertices])
    np.testing.assert_array_equal(loaded.classify(points), solid.classify(points))
    np.testing.assert_array_equal(loaded.winding(points), solid.winding(points))
    np.testing.assert_array_equal(loaded.mesh.faces, ball.faces)


def test_bad_solid_files(ball: Mesh, tmp_path: Path) -> None:
    path = tmp_path / "ball.npz"
    with pytest.raises(InputError, match="does not exist"):
        Solid.load(path)
    with pytest.raises(InputError, match="folder"):
        Solid(ball).save(tmp_path / "nowhere" / "ball.npz")
    path.write_bytes(b"no archive at all")
    with pytest.raises(InputError, match="not a readable solid"):
        Solid.load(path)
    np.savez(path, vertices=ball.vertices)
    with pytest.raises(InputError, match=r"expected 'impinge solid"):
        Solid.load(path)
    Solid(ball).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="not a readable solid"):
        Solid.load(path)
    damaged = bytearray(whole)
    middle = len(whole) // 2
    damaged[middle : middle + 64] = bytes(b ^ 255 for b in damaged[middle : middle + 64])
    path.write_bytes(bytes(damaged))
    with pytest.raises(InputError, match="not a readable solid"):
        Solid.load(path)


def test_pickle(ball: Mesh, cloud: scenes.Points) -> None:
    solid = Solid(ball)
    copy = pickle.loads(pickle.dumps(solid))
    np.testing.assert_array_equal(copy.classify(cloud), solid.classify(cloud))


def test_thread_count_is_restored_and_does_not_matter(ball: Mesh, cloud: scenes.Points) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, two = Solid(ball, threads=1), Solid(ball, threads=2)
    np.testing.assert_array_equal(one.classify(cloud), two.classify(cloud))
    np.testing.assert_array_equal(one.distance(cloud), two.distance(cloud))


def test_grid_over_the_whole_range() -> None:
    """Bounds whose distance is no double any more."""
    box = shapes.box()
    huge = Mesh(np.sign(box.vertices) * 1.7e308, box.faces)
    for solid in (Solid(huge), Solid(box)):
        inside = solid.grid(3, bounds=[[-1.7e308] * 3, [1.7e308] * 3])
        assert inside[1, 1, 1]
        assert inside.all() == (solid.mesh is huge)
    assert Solid(box).grid(3, bounds=[[-1e308] * 3, [1e308] * 3], values="distance")[1, 1, 1] == -0.5


def test_inverted_beyond_doubles() -> None:
    """The volume is zero or infinite, and still the mesh is known to be inverted."""
    box = shapes.box()
    for factor in (1e-108, 1e150):
        with pytest.warns(MeshWarning, match="flipped"):
            Solid(Mesh(box.vertices * factor, box.faces).flipped())


def test_changed_solid_files(ball: Mesh, tmp_path: Path) -> None:
    """A well-formed archive whose arrays were changed is refused: the kernels would trust them."""
    path = tmp_path / "ball.npz"
    Solid(ball).save(path)
    for name in ("codes", "words", "vertices"):
        with np.load(path) as archive:
            arrays = dict(archive)
        arrays[name] = arrays[name][: len(arrays[name]) // 2]
        np.savez(tmp_path / "changed.npz", **arrays)
        with pytest.raises(InputError, match="damaged"):
            Solid.load(tmp_path / "changed.npz")
