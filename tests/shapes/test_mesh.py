"""Mesh: what it accepts, what it refuses, what it measures."""

import copy
import pickle
import time
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import impinge
from impinge import Mesh
from impinge.errors import InputError, MeshError
from impinge.shapes import box, cylinder, octasphere, torus

from . import naive

CORNERS = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
SIDES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]


def tetrahedron():
    return np.array(CORNERS), np.array(SIDES)


def with_value(value, row, column=0):
    vertices, faces = tetrahedron()
    vertices[row, column] = value
    return vertices, faces


def with_index(index):
    vertices, faces = tetrahedron()
    faces[2, 1] = index
    return vertices, faces


BAD = {
    "nan": (*with_value(np.nan, 2), r"^vertices: row 2 is not finite \(nan"),
    "infinite": (*with_value(-np.inf, 3, 1), r"^vertices: row 3 is not finite \(0.0, -inf"),
    "index too high": (
        *with_index(4),
        r"^faces: row 2 is \(1, 4, 3\), expected indices from 0 to 3 into vertices",
    ),
    "index negative": (*with_index(-1), r"^faces: row 2 is \(1, -1, 3\)"),
    "float faces": (CORNERS, np.array(SIDES, float), r"^faces: found float64, expected integers"),
    "flat vertices": (
        np.zeros(12),
        SIDES,
        r"^vertices: found shape \(12,\), expected numbers of shape \(n, 3\)",
    ),
    "two columns": (np.zeros((4, 2)), SIDES, r"^vertices: found shape \(4, 2\)"),
    "quads": (CORNERS, [[0, 1, 2, 3]], r"^faces: found shape \(1, 4\), expected integers of shape \(m, 3\)"),
    "one face": (CORNERS, [0, 1, 2], r"^faces: found shape \(3,\).*faces\[None\]"),
    "three dimensions": (np.zeros((2, 2, 3)), SIDES, r"^vertices: found shape \(2, 2, 3\)"),
    "no vertices": ([], SIDES, r"^vertices: found no rows"),
    "no faces": (CORNERS, [], r"^faces: found no rows"),
    "no faces, shaped": (CORNERS, np.empty((0, 3), int), r"^faces: found no rows"),
    "a string": ("bunny", SIDES, r"^vertices: found text"),
    "strings": (CORNERS, [["a", "b", "c"]], r"^faces: found text"),
    "objects": (np.array(CORNERS, object), SIDES, r"^vertices: found objects"),
    "None": (None, SIDES, r"^vertices: found objects"),
    "ragged": ([[0, 0, 0], [1, 0]], SIDES, r"^vertices: found something that is not an array"),
    "booleans": (CORNERS, np.ones((4, 3), bool), r"^faces: found booleans"),
    "complex": (np.array(CORNERS, complex), SIDES, r"^vertices: found complex"),
    "huge index": (CORNERS, np.full((1, 3), 2**63, np.uint64), r"^faces: row 0 is \(9223372036854775808"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case):
    vertices, faces, message = BAD[case]
    with pytest.raises(InputError, match=message) as caught:
        Mesh(vertices, faces)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="^body: " + message[1:]):
        Mesh.of((vertices, faces), name="body")


def read_only(array):
    array.flags.writeable = False
    return array


VARIANTS = {
    "lists": lambda v, f: (v.tolist(), f.tolist()),
    "float32": lambda v, f: (v.astype(np.float32), f),
    "integers": lambda v, f: (v.astype(np.int16), f.astype(np.uint8)),
    "uint64": lambda v, f: (v, f.astype(np.uint64)),
    "big-endian": lambda v, f: (v.astype(">f8"), f.astype(">i4")),
    "Fortran": lambda v, f: (np.asfortranarray(v), np.asfortranarray(f)),
    "strided": lambda v, f: (np.repeat(v, 2, axis=0)[::2], np.repeat(f, 2, axis=1)[:, ::2]),
    "backwards": lambda v, f: (v[::-1].copy()[::-1], f[::-1].copy()[::-1]),
    "read-only": lambda v, f: (read_only(v), read_only(f.astype(np.int32))),
    "int32": lambda v, f: (v, f.astype(np.int32)),
    "memoryview": lambda v, f: (memoryview(v), memoryview(f)),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_any_real_array_works_and_is_not_shared(variant):
    wanted = tetrahedron()
    given = VARIANTS[variant](*tetrahedron())
    mesh = Mesh(*given)
    for array, want, dtype in zip((mesh.vertices, mesh.faces), wanted, (np.float64, np.int32), strict=True):
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert not array.flags.writeable
        assert np.array_equal(array, want)
    for array in given:
        if isinstance(array, np.ndarray) and array.flags.writeable:
            array[...] = 0
    assert np.array_equal(mesh.vertices, wanted[0])
    assert np.array_equal(mesh.faces, wanted[1])
    assert mesh.is_closed


def test_read_only_view_of_a_writeable_array_is_copied():
    vertices, faces = tetrahedron()
    view = vertices.view()
    view.flags.writeable = False
    mesh = Mesh(view, faces)
    vertices[:] = 7
    assert np.array_equal(mesh.vertices, CORNERS)


def test_arrays_that_cannot_change_are_shared():
    mesh = octasphere(2)
    again = Mesh(mesh.vertices, mesh.faces)
    assert np.shares_memory(again.vertices, mesh.vertices)
    assert np.shares_memory(again.faces, mesh.faces)


def test_nothing_can_be_assigned():
    mesh = box()
    for name in ("vertices", "faces", "area", "is_closed", "colour"):
        with pytest.raises(AttributeError):
            setattr(mesh, name, None)
    for array in (mesh.vertices, mesh.faces, mesh.bounds, mesh.merged_faces):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_pickle_and_copy():
    mesh = torus()
    for again in (pickle.loads(pickle.dumps(mesh)), copy.deepcopy(mesh)):
        assert np.array_equal(again.vertices, mesh.vertices)
        assert np.array_equal(again.faces, mesh.faces)
        assert not again.vertices.flags.writeable
        assert again.volume == mesh.volume
    assert repr(mesh) == "Mesh(2048 vertices, 4096 faces)"


# Other libraries' meshes


def padded(faces, corners=3):
    return np.column_stack([np.full(len(faces), corners), faces]).ravel()


def test_accepts_what_others_call_a_mesh():
    vertices, faces = tetrahedron()
    trimesh = pytest.importorskip("trimesh")
    accepted = [
        trimesh.Trimesh(vertices, faces, process=False),
        SimpleNamespace(points=vertices, faces=padded(faces)),
        SimpleNamespace(points=vertices, faces=padded(faces).reshape(-1, 4)),
        SimpleNamespace(points=vertices.astype(np.float32), faces=faces),
        SimpleNamespace(vertices=vertices, triangles=faces),
        (vertices, faces),
        [vertices.tolist(), faces.tolist()],
    ]
    for anything in accepted:
        mesh = Mesh.of(anything)
        assert np.array_equal(mesh.triangles, vertices[faces])
    assert Mesh.of(mesh) is mesh


@pytest.mark.parametrize(
    ("anything", "message"),
    [
        ("bunny.ply", r"^body: found str, expected an impinge.Mesh.*read_mesh"),
        (None, r"^body: found NoneType"),
        (np.zeros((3, 3)), r"^body: found ndarray"),
        ((1, 2, 3), r"^body: found tuple of 3"),
        (SimpleNamespace(points=np.zeros((4, 3)), faces=np.array([4, 0, 1, 2, 3])), r"^body: .*triangulate"),
        (
            SimpleNamespace(points=np.zeros((4, 3)), faces=np.array([4, 0, 1, 2, 3, 3, 0, 1])),
            r"^body: .*triangul",
        ),
        (
            SimpleNamespace(vertices=np.zeros((4, 3)), faces=[[0, 1, 9]]),
            r"^body: faces: row 0 is \(0, 1, 9\)",
        ),
    ],
)
def test_refuses_what_is_no_mesh(anything, message):
    with pytest.raises(InputError, match=message):
        Mesh.of(anything, name="body")


# Measures


def test_box_measures():
    mesh = box((1.0, 2.0, 4.0), lower=(10.0, 20.0, 30.0), divisions=4)
    assert mesh.area == pytest.approx(28)
    assert mesh.volume == pytest.approx(8)
    assert np.allclose(mesh.centroid, [10.5, 21, 32])
    assert np.allclose(mesh.inertia, np.diag([4 + 16, 1 + 16, 1 + 4]) * 8 / 12, atol=1e-12)
    assert np.array_equal(mesh.bounds, [[10, 20, 30], [11, 22, 34]])


@pytest.mark.parametrize("scale", [1e-60, 1e-3, 1.0, 1e60])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_measures_against_the_quadratic_rule(scale, offset):
    rng = np.random.default_rng(5)
    base = torus(1.0, 0.4, 9, 7)
    base = Mesh(base.vertices + rng.uniform(-0.05, 0.05, base.vertices.shape), base.faces)
    mesh = Mesh((base.vertices + offset) * scale, base.faces)
    volume, first, second = naive.moments(base.triangles)
    centroid = first / volume
    second = second - volume * np.outer(centroid, centroid)
    inertia = np.trace(second) * np.eye(3) - second
    near = 1e-9 if offset else 1e-13
    assert mesh.volume == pytest.approx(volume * scale**3, rel=near)
    assert np.allclose(mesh.centroid, (centroid + offset) * scale, rtol=1e-13, atol=near * scale)
    assert np.allclose(mesh.inertia / scale**3 / scale**2, inertia, rtol=0, atol=near)
    sides = base.triangles[:, 1:] - base.triangles[:, :1]
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1).sum() / 2
    assert mesh.area == pytest.approx(area * scale**2, rel=near)


def test_measures_beyond_the_range_of_doubles():
    huge = box().transformed(scale=1e200)
    assert huge.area == huge.volume == np.inf
    assert np.allclose(huge.centroid / 1e200, 0, atol=1e-15)
    assert np.all(np.isinf(np.diag(huge.inertia)))
    assert Mesh([[-1.7e308, 0, 0], [1.7e308, 0, 0], [0, 1, 0]], [[0, 1, 2]]).volume == 0
    tiny = box().transformed(scale=1e-200)
    assert tiny.area == tiny.volume == 0
    assert np.allclose(tiny.centroid, 0, atol=1e-210)
    assert not tiny.problems()


def test_sphere_measures_converge():
    errors = [1 - octasphere(level).inertia[0, 0] / (8 / 15 * np.pi) for level in (4, 5)]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)


def test_flipped_mesh_has_the_negative_volume():
    mesh = cylinder(segments=9)
    assert mesh.flipped().volume == -mesh.volume
    assert np.allclose(mesh.flipped().centroid, mesh.centroid, atol=1e-15)
    assert np.allclose(mesh.flipped().inertia, -mesh.inertia, atol=1e-15)


def test_flat_mesh_has_no_centroid():
    flat = Mesh([[0, 0, 0.1], [1, 0.3, 0.1], [0.7, 1, 0.1]], [[0, 1, 2], [0, 2, 1]])
    assert flat.volume == 0
    assert flat.area == pytest.approx(0.79)
    for name in ("centroid", "inertia"):
        with pytest.raises(MeshError, match=f"^{name}: the mesh encloses no volume"):
            getattr(flat, name)
    point = Mesh([[1, 2, 3]], [[0, 0, 0]])
    assert (point.area, point.volume) == (0, 0)
    with pytest.raises(MeshError, match="no volume"):
        point.centroid  # noqa: B018


def test_bounds_ignore_unused_vertices_and_the_sign_of_zero():
    mesh = Mesh([[9, 9, 9], [-0.0, 0, 0], [1, 0, 0], [0, 1, -0.0]], [[1, 2, 3]])
    assert np.array_equal(mesh.bounds, [[0, 0, 0], [1, 1, 0]])
    assert not np.signbit(mesh.bounds).any()


# Kind of surface


def test_equal_vertices_are_merged():
    sphere = octasphere(3)
    soup = Mesh(sphere.triangles.reshape(-1, 3), np.arange(3 * len(sphere.faces)).reshape(-1, 3))
    assert soup.is_closed
    assert soup.is_manifold
    assert soup.distinct_vertices == len(sphere.vertices)
    assert np.array_equal(soup.vertices[soup.merged_faces], soup.triangles)
    assert np.array_equal(soup.merged_faces, naive.merged(soup.vertices, soup.faces))
    assert sphere.merged_faces is sphere.faces
    assert sphere.distinct_vertices == len(sphere.vertices)


def test_minus_zero_is_zero_and_near_is_not_equal():
    vertices, faces = tetrahedron()
    soup = vertices[faces].reshape(-1, 3)
    numbers = np.arange(12).reshape(4, 3)
    soup[:6] *= np.where(soup[:6] == 0, -1.0, 1.0)
    assert np.signbit(soup).any()
    assert Mesh(soup, numbers).is_closed
    soup[0, 0] = np.nextafter(0, 1)
    assert not Mesh(soup, numbers).is_closed


def test_huge_valence_is_not_slow():
    round_table = cylinder(segments=100_000)
    double = Mesh.concatenate([round_table, round_table, round_table.flipped()])
    box().problems()
    start = time.perf_counter()
    assert round_table.is_closed
    assert round_table.is_manifold
    assert not round_table.problems()
    assert double.is_closed
    assert not double.is_manifold
    kinds = {p.kind: p.count for p in double.problems()}
    assert kinds == {"non-manifold edges": 600_000, "duplicate faces": 800_000}
    # All faces at one edge: the book with 100,000 pages.
    pages = np.stack([np.zeros(100_000), np.ones(100_000), np.arange(2, 100_002)], axis=-1).astype(int)
    book = Mesh(np.random.default_rng(0).random((100_002, 3)), pages)
    assert [p.count for p in book.problems()] == [200_000, 1]
    assert book.components().max() == 0
    assert time.perf_counter() - start < 20


def test_components_and_split():
    parts = [box(), octasphere(1), torus(segments=5, rings=4)]
    mesh = Mesh.concatenate(part.transformed(translation=(5 * i, 0, 0)) for i, part in enumerate(parts))
    rng = np.random.default_rng(2)
    mixed = Mesh(mesh.vertices, mesh.faces[rng.permutation(len(mesh.faces))])
    labels = mixed.components()
    assert labels.dtype == np.int32
    assert labels[0] == 0
    assert np.array_equal(labels, naive.components(mixed.vertices, mixed.faces))
    volumes = sorted(part.volume for part in mixed.split())
    assert volumes == pytest.approx(sorted(part.volume for part in parts))
    assert all(part.is_closed and not part.problems() for part in mixed.split())
    # A shared vertex does not connect.
    touching = box() + box().transformed(translation=(1, 1, 1))
    assert touching.components().max() == 1
    assert touching.is_closed
    assert not touching.is_manifold


def test_transformed():
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    mesh = box((1, 2, 3)).transformed(rotation=turn, translation=(1, 2, 3), scale=2)
    assert np.allclose(mesh.bounds, [[-1, 1, 0], [3, 3, 6]])
    for same in (Rotation.from_matrix(turn), turn.astype(np.float32)):
        assert np.allclose(box((1, 2, 3)).transformed(same).vertices, box((1, 2, 3)).vertices @ turn.T)
    for bad in (-np.eye(3), 2 * np.eye(3), np.eye(2), np.diag([1, 1, np.nan])):
        with pytest.raises(InputError, match=r"^rotation: "):
            box().transformed(rotation=bad)
    with pytest.raises(InputError, match=r"^translation: "):
        box().transformed(translation=(1, 2))
    with pytest.raises(InputError, match=r"^scale: "):
        box().transformed(scale=0)
    with pytest.raises(InputError, match=r"^meshes\[1\]: found int"):
        Mesh.concatenate([box(), 3])
    with pytest.raises(InputError, match=r"^meshes: found none"):
        Mesh.concatenate([])


def test_names_at_the_top():
    assert impinge.Mesh is Mesh
    assert impinge.shapes.box is box
