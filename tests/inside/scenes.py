"""Meshes and points for the inside tests; the fast run and `make verify` take different sizes of the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import impinge
from impinge import Mesh, shapes

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "meshes"
Points = NDArray[np.float64]


def moved(mesh: Mesh, factor: float = 1.0, by: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Mesh:
    return Mesh(mesh.vertices * factor + np.array(by), mesh.faces)


def nested(level: int) -> Mesh:
    """A ball with a hollow that holds another ball, and a shell inside that turns the number to 2."""
    outer, inner = shapes.octasphere(level), shapes.octasphere(level)
    return outer + moved(inner, 0.7).flipped() + moved(inner, 0.5) + moved(inner, 0.25, (0.1, 0.0, 0.0))


def overlapping(level: int) -> Mesh:
    ball = shapes.octasphere(level)
    return ball + moved(ball, 0.9, (0.7, 0.13, 0.07)) + moved(ball, 1.0, (0.0, 0.5, 0.0))


def uneven() -> Mesh:
    """90 % of the triangles in 0.1 % of the volume, and one body a thousand times longer than the rest."""
    spike = Mesh(
        [[0, 0, 0], [1000, 0.3, 0.2], [0, 0.01, 0], [0, 0, 0.01]],
        [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    )
    return shapes.octasphere(3) + moved(shapes.octasphere(5), 0.05, (0.3, 0.2, 0.1)) + spike


def lattice_blob() -> Mesh:
    """A sphere rounded to a coarse integer lattice: coplanar, collinear and zero-area faces everywhere."""
    ball = shapes.octasphere(3)
    return Mesh(np.round(ball.vertices * 4), ball.faces)


SMALL: dict[str, Callable[[], Mesh]] = {
    "octahedron": lambda: shapes.octasphere(0),
    "sphere-2": lambda: shapes.octasphere(2),
    "sphere-4": lambda: shapes.octasphere(4),
    "box": lambda: shapes.box(),
    "box-divided": lambda: shapes.box(divisions=6),
    "torus": lambda: shapes.torus(1.0, 0.3, 24, 16),
    "nested": lambda: nested(2),
    "overlapping": lambda: overlapping(2),
    "inverted": lambda: shapes.octasphere(2).flipped(),
    "uneven": uneven,
    "needles": lambda: shapes.cylinder(0.01, 10.0, 300),
    "fan": lambda: shapes.cylinder(1.0, 0.001, 500),
    "copies": lambda: Mesh.concatenate([shapes.octasphere(1)] * 20),
    "lattice-blob": lattice_blob,
    "tiny": lambda: moved(shapes.octasphere(2), 1e-150),
    "huge": lambda: moved(shapes.octasphere(2), 1e150),
    "denormal": lambda: moved(lattice_blob(), 5e-324),
    "largest": lambda: moved(shapes.octasphere(1), 1.7e308),
    "far-away": lambda: moved(shapes.octasphere(3), 1e-6, (1e6, -1e6, 1e6)),
    "few-ulps": lambda: moved(shapes.octasphere(2), 1e-9, (1e6, 1e6, 1e6)),
    "axes-apart": lambda: Mesh(
        shapes.octasphere(3).vertices * np.array([1e200, 1.0, 1e-200]), shapes.octasphere(3).faces
    ),
    "foam": lambda: shapes.foam(6000),
}

SLOW = ("copies", "denormal", "tiny", "huge", "largest", "axes-apart")  # mostly decided in long arithmetic

LARGE: dict[str, Callable[[], Mesh]] = {
    **{f"sphere-{level}": (lambda level=level: shapes.octasphere(level)) for level in range(8)},
    **{f"foam-{faces}": (lambda faces=faces: shapes.foam(faces)) for faces in (28952, 120868, 494124)},
    "torus": lambda: shapes.torus(1.0, 0.3, 200, 100),
    "nested": lambda: nested(5),
    "overlapping": lambda: overlapping(5),
}


def files() -> list[Path]:
    """Real meshes, where the collection is at hand."""
    return sorted(path for path in DATA.glob("*") if path.suffix in (".off", ".obj")) if DATA.is_dir() else []


def _on_faces(mesh: Mesh, count: int, rng: np.random.Generator) -> Points:
    corners = mesh.vertices[mesh.faces[rng.integers(0, len(mesh.faces), count)]]
    weights = rng.dirichlet([1.0, 1.0, 1.0], count)
    return np.einsum("nk,nkd->nd", weights, corners)


def _size(mesh: Mesh) -> float:
    low, high = mesh.bounds
    return float((high / 2 - low / 2).max()) * 2


def points(mesh: Mesh, count: int, seed: int) -> Iterator[tuple[str, Points]]:
    """Kinds of points, easy and adversarial, about `count` of each."""
    rng = np.random.default_rng(seed)
    low, high = mesh.bounds
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    with np.errstate(over="ignore", invalid="ignore"):
        cube = np.clip(middle + half.max() * 1.05 * rng.uniform(-1, 1, (count, 3)), -1.7e308, 1.7e308)
    yield "random", cube
    yield "random in the bounds", middle + half * rng.uniform(-1, 1, (count, 3))
    surface = _on_faces(mesh, count, rng)
    size = _size(mesh)
    with np.errstate(over="ignore"):
        for share in (1e-3, 1e-9):
            shifted = surface + share * size * rng.uniform(-1, 1, (count, 3))
            yield f"within {share:g} of the surface", np.clip(shifted, -1.7e308, 1.7e308)
    yield (
        "within an ulp",
        np.nextafter(surface, rng.choice([-np.inf, np.inf], (count, 3))).clip(-1.7e308, 1.7e308),
    )
    yield "nearly on faces", surface
    chosen = mesh.faces[rng.integers(0, len(mesh.faces), count)]
    corners = mesh.vertices[chosen]
    yield "vertices", corners[:, 0]
    yield "edge midpoints", corners[:, 0] / 2 + corners[:, 1] / 2
    yield "face centroids", corners[:, 0] / 3 + corners[:, 1] / 3 + corners[:, 2] / 3
    one = corners[:, 0].copy()
    axis = rng.integers(0, 3, count)
    one[np.arange(count), axis] = cube[np.arange(count), axis]
    yield "two coordinates of a vertex", one
    mixed = np.stack([rng.choice(mesh.vertices[:, k], count) for k in range(3)], axis=1)
    yield "coordinates of three vertices", mixed
    # a + 2 (b - a) - (c - a)/2 and the like are on the plane of a face, or an ulp from it
    with np.errstate(over="ignore", invalid="ignore"):
        plane = corners[:, 0] + 2 * (corners[:, 1] - corners[:, 0]) - (corners[:, 2] - corners[:, 0]) / 2
    yield "planes of faces", np.clip(np.nan_to_num(plane), -1.7e308, 1.7e308)


def grid(mesh: Mesh, n: int) -> Points:
    """A regular grid of n³ points in the bounding cube, as in the first paper."""
    low, high = mesh.bounds
    middle, half = low / 2 + high / 2, (high / 2 - low / 2).max()
    axes = [np.linspace(middle[k] - half, middle[k] + half, n) for k in range(3)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def load(path: Path) -> Mesh:
    return impinge.read_mesh(path)
