"""Generated bodies: counts, measures, and no problems."""

import numpy as np
import pytest

from impinge.errors import InputError
from impinge.shapes import box, cylinder, foam, icosphere, octasphere, prism, torus


def genus(mesh):
    """Of a closed, connected, manifold mesh: V − E + F = 2 − 2 g, and E = 3/2 F."""
    characteristic = len(mesh.vertices) - len(mesh.faces) // 2
    assert len(mesh.faces) % 2 == characteristic % 2 == 0
    return 1 - characteristic // 2


CROSS = [(1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1), (-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1)]
BODIES = {
    "octahedron": (octasphere(0), 8, 0),
    "octasphere": (octasphere(4, 2.5), 8 * 4**4, 0),
    "icosahedron": (icosphere(0), 20, 0),
    "icosphere": (icosphere(3, 0.1), 20 * 4**3, 0),
    "box": (box(), 12, 0),
    "divided box": (box((1, 2, 3), divisions=5), 12 * 25, 0),
    "cylinder": (cylinder(2, 3, 17), 4 * 17, 0),
    "prism": (cylinder(segments=3), 12, 0),
    "square": (prism([[-1, -1], [-1, 1], [1, 1], [1, -1]], 3.0), 12, 0),
    "cross": (prism(CROSS), 44, 0),
    "torus": (torus(2, 0.5, 12, 9), 2 * 12 * 9, 1),
    "least torus": (torus(segments=3, rings=3), 18, 1),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_are_clean_outward_and_centred(name):
    mesh, faces, tunnels = BODIES[name]
    assert len(mesh.faces) == faces
    assert mesh.is_closed
    assert mesh.is_manifold
    assert str(mesh.problems()) == "no problems found"
    assert mesh.volume > 0
    assert mesh.components().max() == 0
    assert genus(mesh) == tunnels
    assert np.allclose(mesh.centroid, 0, atol=1e-12)


def test_measures():
    assert octasphere(0, 3).volume == pytest.approx(36)
    assert np.allclose(np.linalg.norm(octasphere(5, 2).vertices, axis=1), 2, rtol=1e-15)
    assert np.allclose(np.linalg.norm(icosphere(4, 2).vertices, axis=1), 2, rtol=1e-15)
    assert octasphere(6).volume == pytest.approx(4 / 3 * np.pi, rel=1e-3)
    assert box(3).volume == pytest.approx(27)
    assert np.array_equal(box((1, 2, 3), lower=(4, 5, 6), divisions=3).bounds, [[4, 5, 6], [5, 7, 9]])
    assert cylinder(2, 3, 17).volume == pytest.approx(17 / 2 * 4 * 3 * np.sin(2 * np.pi / 17))
    assert prism(CROSS, 0.5).volume == prism(CROSS[::-1], 0.5).volume == 10
    angles = np.arange(14) * np.pi / 7
    star = np.column_stack([np.cos(angles), np.sin(angles)]) * np.where(np.arange(14) % 2, 0.3, 1)[:, None]
    assert prism(star).volume == pytest.approx(14 / 2 * 0.3 * np.sin(np.pi / 7))
    assert torus(2, 0.5, 200, 100).volume == pytest.approx(2 * np.pi**2 * 2 * 0.25, rel=2e-3)


def test_octasphere_is_the_papers_series():
    for level in range(8):
        mesh = octasphere(level)
        assert len(mesh.faces) == 8 * 4**level
        assert len(mesh.vertices) == 4 * 4**level + 2
    assert mesh.is_closed


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: octasphere(-1), r"^level: found -1, expected an integer from 0 to 12"),
        (lambda: octasphere(1.5), r"^level: found 1.5"),
        (lambda: icosphere(2, radius=0), r"^radius: found 0, expected a number above 0"),
        (lambda: box((1, 2)), r"^size: found \(1, 2\), expected 3 finite numbers"),
        (lambda: box((1, 0, 1)), r"^size: found .*expected numbers above 0"),
        (lambda: box(np.nan), r"^size: found nan"),
        (lambda: box("big"), r"^size: found 'big'"),
        (lambda: box(lower=(0, 0, np.inf)), r"^lower: "),
        (lambda: box(divisions=0), r"^divisions: found 0"),
        (lambda: cylinder(segments=2), r"^segments: found 2"),
        (lambda: cylinder(height=-1), r"^height: found -1"),
        (lambda: torus(minor=1.0), r"^minor: found 1.0, expected a number below major \(1.0\)"),
        (lambda: torus(rings=2), r"^rings: found 2"),
        (lambda: foam(100), r"^faces: found 100, expected an integer from 5000 to"),
        (lambda: foam(1e5), r"^faces: found 100000.0"),
        (lambda: foam(30_000, seed=-1), r"^seed: found -1"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("faces", [5_000, 10_000, 25_000, 28_952, 120_868, 494_124])
def test_foam(faces):
    mesh = foam(faces)
    assert abs(len(mesh.faces) - faces) <= 0.03 * faces
    assert str(mesh.problems()) == "no problems found"
    assert mesh.is_closed
    assert mesh.is_manifold
    assert mesh.components().max() == 0
    assert mesh.distinct_vertices == len(mesh.vertices)
    assert np.array_equal(mesh.bounds, [[0, 0, 0], [1, 1, 1]])
    # Struts, not walls or dust.
    assert 0.05 < mesh.volume < 0.5
    assert genus(mesh) > (100 if faces >= 25_000 else 3)
    sides = np.linalg.norm(mesh.triangles - np.roll(mesh.triangles, 1, axis=1), axis=2)
    cross = np.cross(mesh.triangles[:, 1] - mesh.triangles[:, 0], mesh.triangles[:, 2] - mesh.triangles[:, 0])
    # 1 for an equilateral triangle: no slivers.
    assert (2 * np.sqrt(3) * np.linalg.norm(cross, axis=1) / (sides**2).sum(axis=1)).min() > 0.15


def test_foam_follows_the_seed():
    first, again, other = foam(25_000, seed=3), foam(25_000, seed=3), foam(25_000, seed=4)
    assert np.array_equal(first.vertices, again.vertices)
    assert np.array_equal(first.faces, again.faces)
    assert len(other.vertices) != len(first.vertices) or not np.array_equal(other.vertices, first.vertices)
    assert genus(other) > 100


@pytest.mark.parametrize(
    "outline",
    [
        [[0, 0], [1, 0]],
        [[0, 0], [1, 0], [2, 0]],
        [[0, 0], [2, 2], [2, 0], [0, 2]],
        [[0, 0], [1, 0], [1, 0], [0, 1]],
        [[0, 0], [1, 0], [float("nan"), 1]],
        [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
    ],
)
def test_outlines_that_are_none(outline):
    with pytest.raises(InputError, match=r"^outline: "):
        prism(outline)
