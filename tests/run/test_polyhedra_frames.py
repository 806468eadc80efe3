"""Frames and pictures of worlds with rigid bodies of any shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from impinge import Material, Mesh, World, shapes
from impinge.output import Collection
from impinge.output.vtk import read_polydata
from impinge.run.chains import force_chains
from impinge.run.frames import Frames, draw, lists
from impinge.run.scene import models, read_scene

from .scenes import write

ROCK = Material(2500, stiffness=1e5, restitution=0.5, friction=0.5)
SPONGE = Material(500, stiffness=1e4)
L = shapes.prism([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)])
ARRAYS = {"id": "i4", "shape": "i4", "material": "i4", "velocity": "f4", "spin": "f4"}


def scene(folder: Path, **tables: Any) -> models.Particles:
    """That all outputs are written, and which kinds of things there are: of rigid bodies some, if nothing is said."""
    text = '[run]\nuntil = 1\n[output]\nframes = 0.1\nformats = ["vtp", "xyz"]\nchains = true\n'
    model = read_scene(write(folder, text + "[materials.m]\ndensity = 1\nstiffness = 1\n")).model
    assert isinstance(model, models.Particles)
    return model.model_copy(update={"polyhedra": [None]} | tables)


def world(spheres: bool = True) -> World:
    """Two cubes on each other on a floor, two shapes of L that fly, and a sphere on the upper cube."""
    result = World(dt=1e-5)
    result.add_plane([0, 0, 0], [0, 0, 1], ROCK)
    result.add_polyhedra(shapes.box(0.1), [[0, 0, 0.049]], material=ROCK)
    turns = Rotation.random(2, rng=np.random.default_rng(0))
    small = Mesh(0.02 * L.vertices, L.faces)
    result.add_polyhedra(
        small,
        [[0.3, 0, 0.2], [0, 0.4, 0.3]],
        turns,
        material=SPONGE,
        velocities=[[1, 2, 3], [0, 0, 0]],
        spins=[0, 4, 0],
    )
    result.add_polyhedra(shapes.box(0.1), [[0, 0, 0.148]], material=SPONGE)
    if spheres:
        result.add_spheres([[0.01, 0.02, 0.217], [0.01, 0.02, 0.256]], 0.02, ROCK)
    return result


def written(folder: Path, some: World, model: models.Particles, written: int = 0, time: float = 0.0) -> Frames:
    (folder / "frames").mkdir(exist_ok=True)
    return Frames(folder, model, {}, written, time)


def lines_of(path: Path) -> tuple[NDArray[np.float64], dict[str, NDArray[Any]]]:
    found = read_polydata(path)
    return found["Points"]["Points"][found["Lines"]["connectivity"].reshape(-1, 2)], found["CellData"]


def test_all_bodies_are_one_mesh(tmp_path: Path) -> None:
    some = world()
    some.step(30)
    frames = written(tmp_path, some, scene(tmp_path))
    frames.write(some)
    found, bodies = read_polydata(tmp_path / "frames" / "polyhedra_000000.vtp"), some.polyhedra
    parts = [bodies.mesh(number) for number in range(len(bodies))]
    triangles = found["Points"]["Points"][found["Polys"]["connectivity"].reshape(-1, 3)]
    np.testing.assert_allclose(triangles, np.concatenate([part.triangles for part in parts]), rtol=0, atol=1e-15)
    rows = np.repeat(np.arange(4), [len(part.faces) for part in parts])
    np.testing.assert_array_equal(found["CellData"]["id"], rows)
    np.testing.assert_array_equal(found["CellData"]["shape"], np.array([0, 1, 1, 0])[rows])
    np.testing.assert_array_equal(found["CellData"]["material"], np.array([0, 1, 1, 1])[rows])
    np.testing.assert_allclose(found["CellData"]["velocity"], bodies.velocities[rows], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found["CellData"]["spin"], bodies.spins[rows], rtol=1e-6, atol=1e-12)
    assert {name: array.dtype.str[1:] for name, array in found["CellData"].items()} == ARRAYS
    assert Collection.read(tmp_path / "polyhedra.pvd").entries == [(some.time, 0, "frames/polyhedra_000000.vtp")]


def test_vtk_reads_it(tmp_path: Path) -> None:
    vtk = pytest.importorskip("vtk", reason="vtk is not installed")
    some = world(spheres=False)
    written(tmp_path, some, scene(tmp_path)).write(some)
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(tmp_path / "frames" / "polyhedra_000000.vtp"))
    mass = vtk.vtkMassProperties()
    mass.SetInputConnection(reader.GetOutputPort())
    volume = sum(some.polyhedra.mesh(number).volume for number in range(4))
    assert mass.GetVolume() == pytest.approx(volume)
    data = reader.GetOutput().GetCellData()
    assert [data.GetArrayName(k) for k in range(data.GetNumberOfArrays())] == list(ARRAYS)


def test_many_bodies_in_the_order_of_their_numbers() -> None:
    some = World(gravity=[0, 0, 0])
    for turn in range(3):  # shapes take turns
        for mesh in (shapes.box(0.1), shapes.octasphere(2)):
            some.add_polyhedra(mesh, [[4 * k, 4 * turn, 0] for k in range(5)], material=ROCK, overlap=True)
    vertices, faces, rows = some.polyhedra.surface()
    assert (np.diff(rows) >= 0).all()
    parts = [some.polyhedra.mesh(number) for number in range(30)]
    np.testing.assert_allclose(vertices[faces], np.concatenate([part.triangles for part in parts]), atol=1e-14)


RAIN = models.Source(material="m", lower=[0, 0, 0], upper=[1, 1, 1], rate=1.0, radii=0.1)
RINGS = models.Source(
    material="m", lower=[0, 0, 0], upper=[1, 1, 1], rate=1.0, torus=models.Torus(radius=0.1, tube=0.02)
)  # fmt: skip


@pytest.mark.parametrize(
    ("tables", "wanted"),
    [
        ({"polyhedra": []}, ["spheres.pvd"]),
        ({"polyhedra": [], "spheres": [None]}, ["spheres.pvd"]),
        ({"polyhedra": [], "sources": [RAIN]}, ["spheres.pvd"]),
        ({}, ["polyhedra.pvd"]),
        ({"polyhedra": [], "sources": [RINGS]}, ["polyhedra.pvd"]),
        ({"spheres": [None]}, ["spheres.pvd", "polyhedra.pvd"]),
        ({"sources": [RINGS, RAIN]}, ["spheres.pvd", "polyhedra.pvd"]),
    ],
)
def test_what_is_never_there_is_not_written(tmp_path: Path, tables: dict[str, Any], wanted: list[str]) -> None:
    """What sources let come may be there later."""
    model = scene(tmp_path, **tables)
    assert lists(model) == wanted
    written(tmp_path, World(dt=1e-3), model).write(World(dt=1e-3))
    assert {path.name for path in tmp_path.glob("*.pvd")} == {*wanted, "chains.pvd"}


def test_files_of_a_run_that_goes_on(tmp_path: Path) -> None:
    model, some = scene(tmp_path, spheres=[None]), world()
    frames = written(tmp_path, some, model)
    for _ in range(3):
        frames.write(some)
        some.step(10)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.suffix in (".vtp", ".pvd", ".xyz")}
    assert len(before) == 3 * 4 + 3
    other = world()
    other.step(10)
    frames = written(tmp_path, other, model, written=1, time=0.5 * other.time)
    assert len(Collection.read(tmp_path / "polyhedra.pvd").entries) == 1
    for _ in range(2):
        frames.write(other)
        other.step(10)
    assert {path: path.read_bytes() for path in before} == before


def test_force_chains(tmp_path: Path) -> None:
    some = world()
    some.step(1)
    written(tmp_path, some, scene(tmp_path)).write(some)
    lines, data = lines_of(tmp_path / "frames" / "chains_000000.vtp")
    assert list(data) == ["force", "normal_force", "wall"]
    spheres, bodies, contacts, points = some.spheres, some.polyhedra, some.contacts(), some.body_contacts()
    assert contacts.ids.tolist() == [[0, 1], [0, -1]]
    pairs = points.ids[:, 1] >= 0
    assert 0 < pairs.sum() < len(pairs)
    assert len(lines) == 2 + 1 + len(pairs) + pairs.sum()
    # From sphere to sphere; from the lower sphere to the upper cube, and on to its middle.
    np.testing.assert_allclose(lines[0], spheres.centres, atol=1e-15)
    np.testing.assert_allclose(
        lines[1:3, [0, 1]], [[spheres.centres[0], lines[2, 0]], [lines[1, 1], bodies.centres[3]]]
    )
    np.testing.assert_allclose(lines[1, 1], contacts.points[1], atol=2 * contacts.depths[1])
    assert data["force"][1] == data["force"][2] > 0
    # Of points between bodies, and with walls.
    middle, last = slice(3, 3 + len(pairs)), slice(3 + len(pairs), None)
    np.testing.assert_array_equal(lines[middle], np.stack([bodies.centres[points.ids[:, 0]], points.points], axis=1))
    np.testing.assert_array_equal(
        lines[last], np.stack([points.points[pairs], bodies.centres[points.ids[pairs, 1]]], axis=1)
    )
    np.testing.assert_array_equal(data["wall"][middle], points.walls)
    np.testing.assert_array_equal(data["force"][last], data["force"][middle][pairs])
    assert (data["normal_force"] <= data["force"] * (1 + 1e-12)).all()
    weight = data["normal_force"][middle][points.walls == 0].sum()
    assert weight == pytest.approx(some.pushes()["wall 1"].force[2] * -1)


def test_force_chains_of_spheres_alone() -> None:
    some = World(dim=2)
    some.add_plane([0, 0], [0, 1])
    some.add_spheres([[0, 0.099], [0.199, 0.1]], 0.1, ROCK)
    starts, ends, data = force_chains(some)
    np.testing.assert_allclose(starts, [[0, 0.099], [0, 0.099]])
    np.testing.assert_allclose(ends, [[0.199, 0.1], [0, 0]], atol=1e-12)
    assert data["wall"].tolist() == [-1, 0]


@pytest.mark.parametrize("spheres", [False, True])
def test_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spheres: bool) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from matplotlib import image

    monkeypatch.setattr("impinge.output.figure.SIZE", (300, 240))
    some = world(spheres)
    some.add_obstacle(shapes.box(1.0))
    block = models.Obstacle(block=models.Block(lower=[-0.5] * 3, upper=[0.5] * 3))
    draw(tmp_path / "a.png", scene(tmp_path, obstacles=[block]), some)
    pixels = image.imread(tmp_path / "a.png")[:, :300, :3]
    yellow = (pixels[:, :, 0] > 2 * pixels[:, :, 2]) & (pixels[:, :, 1] > 2 * pixels[:, :, 2])
    assert yellow.any()  # the body that flies
