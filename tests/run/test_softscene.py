"""Scene files of cables and cloth: what they make, and one line that helps for everything that can be wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from impinge import shapes
from impinge.run.loop import run_scene
from impinge.run.scene import meshes, read_scene, softmodels
from impinge.run.scene.models import Lathe, Shaped
from impinge.run.scene.softshapes import sheet
from impinge.run.soft import SoftWorld
from impinge.run.templates import template_text

from ..bodies import soft_bodies
from .scenes import SMALL, refused, write
from .softscenes import SOFT_FULL, SOFT_SMALL
from .softworlds import bits, busy_world

LINE = "line = { start = [0, 0, 0], end = [1, 0, 0], nodes = 5 }"
CABLE = SOFT_SMALL[SOFT_SMALL.index("[[bodies]]") : SOFT_SMALL.index("[[fixed]]")]
OTHER = CABLE.replace("0, 0, 0", "0, 1, 0").replace("1, 0, 0", "1, 1, 0")

# (name, what to replace in SOFT_SMALL, by what, the message after "scene.toml:LINE: "). The line is that of "# here".
BAD = [
    ("unknown kind of body", 'kind = "cable"', 'kind = "rope"  # here',
     "bodies[0].kind: found 'rope', expected one of 'cable', 'cloth'"),
    ("no kind of body", 'kind = "cable"\n', "", "bodies[0].kind: missing, expected one of 'cable', 'cloth'"),
    ("kind that is no text", 'kind = "cable"', "kind = 3  # here",
     "bodies[0].kind: found 3, expected one of 'cable', 'cloth'"),
    ("unknown key", "radius = 0.01", "radus = 0.01  # here", "bodies[0].radus: unknown key, did you mean radius?"),
    ("key of cloth", "radius = 0.01", "radius = 0.01\nsheet = 3  # here", None),
    ("unknown inline key", LINE, LINE.replace("nodes", "knots") + "  # here",
     "bodies[0].line.knots: unknown key, did you mean nodes?"),
    ("missing key", "radius = 0.01\n", "", "bodies[0].radius: missing, expected a number above 0"),
    ("wrong number", "radius = 0.01", "radius = 0  # here", "bodies[0].radius: found 0, expected a number above 0"),
    ("text for number", "stretch = 100", 'stretch = "stiff"  # here',
     "bodies[0].stretch: found 'stiff', expected a number above 0"),
    ("one node", "nodes = 5", "nodes = 1", "bodies[0].line.nodes: found 1, expected a whole number of at least 2"),
    ("single brackets", CABLE, '[bodies]  # here\nkind = "cable"\n', "bodies: found {'kind': 'cable'}, expected tables "
     "in double brackets"),
    ("other kind", "[run]", 'kind = "gas"  # here\n[run]',
     "kind: found 'gas', expected one of 'particles', 'polyhedra', 'soft'"),
    ("two geometries", LINE, LINE + "\npoints = [[0, 0, 0], [1, 0, 0]]  # here",
     "bodies[0].points, line: found points and line, expected one of points, line, circle, helix, file"),
    ("no geometry", LINE + "\n", "", "bodies[0]: points, line, circle, helix, file: found none of them, expected one "
     "of points, line, circle, helix, file"),
    ("a closed line", LINE, LINE + "\nclosed = true  # here",
     "bodies[0].closed: found True, expected it only with points or file"),
    ("segment without length", LINE, "points = [[0, 0, 0], [0, 0, 0]]  # here",
     "bodies[0].points: rows 0 and 1 are 0 m apart, expected segments with a length"),
    ("points of two numbers", LINE, "points = [[0, 0], [1, 0]]  # here",
     "bodies[0].points: found [[0, 0], [1, 0]], expected a list of at least two points of 3 numbers"),
    ("no file of points", LINE, 'file = "none.csv"  # here', "bodies[0].file: none.csv: no such file"),
    ("bad file of points", LINE, 'file = "bad.csv"  # here', None),
    ("file of another ending", LINE, 'file = "bad.txt"  # here',
     "bodies[0].file: bad.txt: found points with the ending '.txt', expected one of .npy, .npz, .csv, .xyz, .ply"),
    ("spheres too", "[[fixed]]", '[[spheres]]  # here\nmaterial = "m"\n[[fixed]]',
     "spheres[0]: found it in a scene of cables and cloth, expected a scene of spheres and polyhedra or one of "
     "cables and cloth, not of both"),
    ("a floor of spheres", "[[fixed]]", '[[planes]]  # here\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n[[fixed]]',
     "planes[0]: found it in a scene of cables and cloth, expected a scene of spheres and polyhedra or one of "
     "cables and cloth, not of both; a floor is [[obstacles]] with plate = { size = [2, 2] }"),
    ("rotation", "[[fixed]]", "[[obstacles]]\nplate = { size = [2, 2] }\nrotation = 3  # here\n[[fixed]]",
     "obstacles[0].rotation: found 3, expected a table of axis, rate, centre"),
    ("materials too", "[[fixed]]", "[materials.m]  # here\ndensity = 1\n[[fixed]]",
     "materials: found it in a scene of cables and cloth, expected a scene of spheres and polyhedra or one of "
     "cables and cloth, not of both"),
    ("a scene of spheres", "[run]", 'kind = "particles"\n[run]',
     "bodies[0]: found it in a scene of spheres and polyhedra, expected a scene of spheres and polyhedra or one of "
     "cables and cloth, not of both"),
    ("dt", "[run]", "[world]\ndt = 0  # here\n[run]", "world.dt: found 0, expected a number above 0"),
    ("integrator", "[run]", '[world]\nintegrator = "verlet"  # here\n[run]',
     "world.integrator: found 'verlet', expected one of 'implicit-euler', 'bdf2', 'explicit'"),
    ("key of spheres", "[run]", "[world]\nsearch = 0.1  # here\n[run]",
     "world.search: unknown key, expected one of gravity, dt, integrator, friction, wind, response, "
     "penalty"),
    ("response", "[run]", '[world]\nresponse = "springs"  # here\n[run]',
     "world.response: found 'springs', expected one of 'qp', 'penalty', 'impulse'"),
    ("penalty", "[run]", "[world]\npenalty = 10  # here\n[run]",
     "world.penalty: found 10.0 with response 'qp', expected response 'penalty'"),
    ("friction", "[run]", "[world]\nfriction = -0.1  # here\n[run]",
     "world.friction: found -0.1, expected a number of at least 0"),
    ("no limit of strain", "radius = 0.01", "radius = 0.01\nstrain_limits = {}  # here",
     "bodies[0].strain_limits: upper, lower, rate: found none of them, expected one at least"),
    ("limit of strain", "radius = 0.01", "radius = 0.01\nstrain_limits = { upper = -0.1 }  # here",
     "bodies[0].strain_limits.upper: found -0.1, expected a number of at least 0"),
    ("limit of compression", "radius = 0.01", "radius = 0.01\nstrain_limits = { lower = 1 }  # here",
     "bodies[0].strain_limits.lower: found 1, expected a number of at least 0 and below 1"),
    ("fixed until the start", "nodes = [0]", "nodes = [0]\nuntil = 0  # here",
     "fixed[0].until: found 0, expected a number above 0"),
    ("velocity without direction", "nodes = [0]", "nodes = [0]\nvelocity = 2  # here",
     "fixed[0].velocity: found 2.0, expected 3 numbers, or one with a direction"),
    ("velocity with a direction", "nodes = [0]", "nodes = [0]\nvelocity = [1, 0, 0]  # here\ndirection = [1, 0, 0]",
     "fixed[0].velocity: found [1.0, 0.0, 0.0], expected a number with a direction"),
    ("no direction", "nodes = [0]", "nodes = [0]\ndirection = [0, 0, 0]  # here",
     "fixed[0].direction: found [0. 0. 0.], expected one that is not 0"),
    ("format of spheres", "frames = 0.02", 'frames = 0.02\nformats = ["xyz"]  # here',
     "output.formats: found ['xyz'], expected a list of \"vtp\" (ParaView), \"obj\", \"ply\" and \"glb\" "
     "(one animation)"),
    ("unknown body", 'body = "body 1"', 'body = "rope"  # here', "fixed[0].body: found 'rope', expected one of "
     "'body 1'"),
    ("unknown node", "nodes = [0]", "nodes = [0, 5]  # here",
     "fixed[0].nodes: found 5, expected numbers from -5 to 4, as 'body 1' has 5 nodes"),
    ("unknown node from the end", "nodes = [0]", "nodes = [-6]  # here",
     "fixed[0].nodes: found -6, expected numbers from -5 to 4, as 'body 1' has 5 nodes"),
    ("nodes twice", "nodes = [0]", "nodes = [0]  # here\nwithin = { lower = [0, 0, 0], upper = [1, 1, 1] }",
     "fixed[0].nodes, within: found both, expected one of them or none"),
    ("nobody within", "nodes = [0]", "within = { lower = [0, 0, 1], upper = [1, 1, 2] }  # here",
     "fixed[0].within: found no node of 'body 1' there, expected at least one"),
    ("name twice", "[[fixed]]", CABLE + 'name = "body 1"  # here\n[[fixed]]',
     "bodies[1].name: found 'body 1' twice, expected another name"),
    ("touching at the start", "[[fixed]]", OTHER.replace("[[bodies]]", "[[bodies]]  # here")
     + "[[obstacles]]\nblock = { lower = [0.4, 0.9, -1], upper = [0.6, 1.1, 1] }\n[[fixed]]", None),
    ("unknown shape", "[[fixed]]", "[[obstacles]]\nball = 3  # here\n[[fixed]]", None),
    ("no shape", "[[fixed]]", "[[obstacles]]  # here\nthickness = 1\n[[fixed]]",
     "obstacles[0]: file, cone, wedge, cylinder, sphere, lathe, block, torus, prism, plate: found none of them, "
     "expected one of file, cone, wedge, cylinder, sphere, lathe, block, torus, prism, plate"),
    ("no mesh", "[[fixed]]", '[[obstacles]]\nfile = "none.stl"  # here\n[[fixed]]',
     "obstacles[0].file: none.stl: no such file"),
    ("profile", "[[fixed]]", "[[obstacles]]\nlathe = { profile = [[1, 0], [0, 1], [1, 2]] }  # here\n[[fixed]]",
     "obstacles[0].lathe.profile: found [[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]], expected distances above 0, or 0 at an "
     "end"),
    ("thickness", "[[fixed]]", "[[obstacles]]\nplate = { size = [1, 1] }\nthickness = -1  # here\n[[fixed]]",
     "obstacles[0].thickness: found -1, expected a number of at least 0"),
    ("axis", "[[fixed]]", "[[obstacles]]\nplate = { size = [1, 1] }\n"
     "rotation = { axis = [0, 0, 0], rate = 1 }  # here\n[[fixed]]",
     "obstacles[0].rotation.axis: found [0.0, 0.0, 0.0], expected a vector of any length above 0"),
]  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    return tmp_path


@pytest.mark.parametrize(("old", "new", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_scenes(here: Path, old: str, new: str, message: str | None) -> None:
    assert SOFT_SMALL.count(old) == 1
    text = SOFT_SMALL.replace(old, new)
    write(here, text)
    said = refused("scene.toml", "--out", "out")
    marked = [number for number, line in enumerate(text.split("\n"), 1) if "# here" in line]
    assert said.startswith(f"scene.toml:{marked[0]}: " if marked else "scene.toml:")
    if message is not None:
        assert re.sub(r"^scene.toml:\d+: ", "", said) == message
    assert not (here / "out").exists()


def test_bodies_in_a_scene_of_spheres(here: Path) -> None:
    write(here, 'kind = "particles"\n' + SMALL + CABLE)
    assert "bodies[0]: found it in a scene of spheres" in refused("scene.toml")
    write(here, SMALL + CABLE)
    assert "materials: found it in a scene of cables and cloth" in refused("scene.toml")


def test_a_scene_that_says_soft_needs_bodies(here: Path) -> None:
    write(here, 'kind = "soft"\n[run]\nuntil = 1\n')
    assert refused("scene.toml") == "scene.toml:1: bodies: missing, expected tables in double brackets"


def test_a_list_of_no_bodies(here: Path) -> None:
    write(here, "bodies = []\n[run]\nuntil = 1\n")
    assert refused("scene.toml") == "scene.toml:1: bodies: found [], expected tables in double brackets"


def test_bodies_that_touch_are_named(here: Path) -> None:
    other = CABLE.replace("0, 0, 0", "0.5, 0.5, 0").replace("1, 0, 0", "0.5, -0.5, 0")
    write(here, SOFT_SMALL + other)
    said = refused("scene.toml")
    assert re.fullmatch(r"scene.toml:7: bodies\[0\]: start: .* of 'body 1' and .* of 'body 2' touch; \d+ such .*", said)


# Worlds


def built(folder: Path, text: str) -> SoftWorld:
    world = read_scene(write(folder, text)).build()
    assert isinstance(world, SoftWorld)
    return world


def test_a_scene_makes_its_world(tmp_path: Path) -> None:
    """The same as by calls from Python, but for the integrator and two stiffnesses."""
    text = SOFT_FULL.replace('"bdf2"', '"implicit-euler"').replace("[20, 15]", "20")
    text = text.replace("mass_per_length = 0.1\n[[obstacles]]", "mass_per_length = 0.1\nbend = 1e-3\ndamping = 1e-3\n"
                        "[[obstacles]]")  # fmt: skip
    one, other = built(tmp_path, text), busy_world(functions=False)
    assert [body.nodes for body in one.bodies] == [body.nodes for body in other.bodies]
    assert [body.name for body in one.bodies] == ["scarf", "body 2", "rope"]
    np.testing.assert_allclose(one.positions, other.positions, atol=1e-15)
    for world in (one, other):
        world.step(5)
    np.testing.assert_allclose(one.positions, other.positions, atol=1e-6)


def test_building_twice_gives_the_same_bits(tmp_path: Path) -> None:
    one, other = (built(tmp_path, SOFT_FULL) for _ in range(2))
    one.step(3)
    other.step(3)
    assert bits(one) == bits(other)


def cable(folder: Path, geometry: str) -> SoftWorld:
    return built(folder, SOFT_SMALL.replace(LINE, geometry))


def test_geometries_of_cables(tmp_path: Path) -> None:
    np.testing.assert_allclose(cable(tmp_path, LINE).positions[:, 0], [0, 0.25, 0.5, 0.75, 1])
    points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.5]]
    np.testing.assert_array_equal(cable(tmp_path, f"points = {points}").positions, points)
    closed = cable(tmp_path, f"points = {points}\nclosed = true")
    np.testing.assert_array_equal(closed.frame().cables[0], [0, 1, 2, 0])
    np.save(tmp_path / "p.npy", np.array(points))
    np.testing.assert_array_equal(cable(tmp_path, 'file = "p.npy"').positions, points)
    ring = cable(tmp_path, "circle = { radius = 2, nodes = 8 }")
    assert ring.frame().cables[0].tolist() == [*range(8), 0]
    np.testing.assert_allclose(np.linalg.norm(ring.positions, axis=1), 2)
    winding = cable(tmp_path, "helix = { radius = 0.5, height = 3, turns = 2.5, nodes = 51 }").positions
    np.testing.assert_allclose(np.hypot(*winding[:, :2].T), 0.5)
    np.testing.assert_allclose(winding[:, 2], np.linspace(0, 3, 51))
    np.testing.assert_allclose(winding[[0, 20, 50]], [[0.5, 0, 0], [0.5, 0, 1.2], [-0.5, 0, 3]], atol=1e-12)


def test_places(tmp_path: Path) -> None:
    more = "\nscale = 2\nrotate = { axis = [0, 0, 3], angle = 90 }\ntranslate = [10, 0, 1]"
    np.testing.assert_allclose(cable(tmp_path, LINE + more).positions[[0, -1]], [[10, 0, 1], [10, 2, 1]], atol=1e-12)


CLOTH = """
[run]
until = 0.1
[[bodies]]
kind = "cloth"
GEOMETRY
thickness = 0.01
stretch = [100, 1]
shear = 0
density = 0.1
"""


def test_a_sheet_is_turned_with_its_warp(tmp_path: Path) -> None:
    """Energies of stretch do not depend on how a sheet is put into space, unless it is told so."""
    geometry = "sheet = { size = [1, 2], nodes = [3, 5] }"
    turn = "\nrotate = { axis = [0, 1, 0], angle = -90 }"
    flat, upright = (built(tmp_path, CLOTH.replace("GEOMETRY", geometry + more)) for more in ("", turn))
    np.testing.assert_allclose(np.ptp(upright.positions, axis=0), [0, 2, 1], atol=1e-12)
    across = built(tmp_path, CLOTH.replace("GEOMETRY", geometry + turn + "\nwarp = [0, 1, 0]"))
    for world, wanted in ((flat, 100), (upright, 100), (across, 1)):
        world.check()
        along = flat.positions[:, [0]] * (
            upright.positions[-1] - upright.positions[4] if world is not flat else [1, 0, 0]
        )
        assert world.elements.energy(world.positions + 0.1 * along) == pytest.approx(0.5 * wanted * 0.01 * 2)


def test_a_cloth_from_a_file(tmp_path: Path) -> None:
    vertices, faces = soft_bodies.sheet(4, 4)
    shapes.Mesh(vertices, faces).save(tmp_path / "cloth.ply")
    world = built(tmp_path, CLOTH.replace("GEOMETRY", 'file = "cloth.ply"\ntranslate = [0, 0, 1]'))
    np.testing.assert_allclose(world.positions, vertices + [0, 0, 1])


@pytest.mark.parametrize("ending", ["stl", "ply"])
def test_meshes_whose_faces_share_no_vertices(tmp_path: Path, ending: str) -> None:
    """They are put together: a cloth does not fall apart, and an obstacle has each edge once."""
    vertices, faces = soft_bodies.sheet(4, 4)
    loose = shapes.Mesh(vertices[faces].reshape(-1, 3), np.arange(faces.size).reshape(-1, 3))
    loose.save(tmp_path / f"cloth.{ending}")
    text = CLOTH.replace("GEOMETRY", f'file = "cloth.{ending}"\nrotate = {{ axis = [1, 2, 3], angle = 77 }}')
    cone = "[[obstacles]]\ncone = { orifice = 1, radius = 2, height = 1, segments = 8 }\ntranslate = [0, 0, 9]\n"
    world = built(tmp_path, text + cone)
    assert len(world.positions) == 16
    assert len(world.frame().faces) == 18
    assert len(world._obstacles[0].mesh.vertices) == 16


@pytest.mark.parametrize("nodes", [(2, 2), (3, 5), (6, 4)])
def test_sheets(nodes: tuple[int, int]) -> None:
    mesh = sheet(softmodels.Sheet(size=[1.0, 2.0], nodes=list(nodes)))
    vertices, faces = soft_bodies.sheet(*nodes, 1.0, 2.0, "alternating")
    np.testing.assert_allclose(mesh.vertices, vertices - [0.5, 1, 0], atol=1e-15)
    np.testing.assert_array_equal(mesh.faces, faces)
    assert mesh.area == pytest.approx(2)
    assert (
        np.cross(*(mesh.vertices[mesh.faces[:, k]] - mesh.vertices[mesh.faces[:, 0]] for k in (1, 2)))[:, 2] > 0
    ).all()


def test_fixed_nodes(tmp_path: Path) -> None:
    two = CABLE.replace("0, 0, 0", "0, 0, 1").replace("1, 0, 0", "1, 0, 1")
    text = SOFT_SMALL.replace("nodes = [0]", "nodes = [0, -1]").replace("[[fixed]]", two + "[[fixed]]")
    text += '[[fixed]]\nbody = "body 2"\nvelocity = [1, 0, 0]\n'
    text = text.replace('body = "body 1"', 'body = "body 1"\nvelocity = [0, 0, 1]')
    world = built(tmp_path, text)
    start = world.positions
    world.step(2)
    moved = world.positions - start
    np.testing.assert_allclose(moved[[0, 4]], [[0, 0, 0.02]] * 2)
    assert (moved[1:4, 2] < 0.01).all()
    np.testing.assert_allclose(moved[5:], [[0.02, 0, 0]] * 5)


def test_nodes_fixed_along_a_direction(tmp_path: Path) -> None:
    more = "velocity = 2\ndirection = [3, 0, 0]\n"
    world = built(tmp_path, SOFT_SMALL.replace("nodes = [0]\n", "nodes = [0]\n" + more))
    world.step(1)
    assert world.velocities[0, 0] == pytest.approx(2)
    assert world.velocities[0, 2] == pytest.approx(-0.0981)


def test_nodes_fixed_for_a_time(tmp_path: Path) -> None:
    world = built(tmp_path, SOFT_SMALL.replace("nodes = [0]\n", "nodes = [0]\nuntil = 0.02\n"))
    start = world.positions[0]
    world.step(2)
    np.testing.assert_array_equal(world.positions[0], start)
    world.step(1)
    assert world.positions[0, 2] < start[2] - 1e-4


def test_limits_of_strain_are_those_of_their_body(tmp_path: Path) -> None:
    """Two chains that swing, one of them with limits."""
    two = CABLE.replace("0, 0, 0", "0, 1, 0").replace("1, 0, 0", "1, 1, 0")
    limits = "strain_limits = { upper = 0.01, lower = 0.02 }\n"
    text = SOFT_SMALL.replace("[[fixed]]", two + limits + "[[fixed]]").replace("stretch = 100", "stretch = 1")
    text += '[[fixed]]\nbody = "body 2"\nnodes = [0]\n'
    world = built(tmp_path, text)
    world.step(30)
    free, limited = (world.strains()[body.edges] for body in world.bodies)
    assert free.max() > 0.05
    assert limited.max() == pytest.approx(0.01, rel=1e-3)
    slow = built(tmp_path, text.replace("upper = 0.01, lower = 0.02", "rate = 0.1"))
    slow.step(30)
    assert np.abs(slow.strains()[slow.bodies[1].edges]).max() < 0.1 * 0.3 * 1.001
    assert np.abs(slow.strains()[slow.bodies[0].edges]).max() > 0.05


def test_friction_and_wind(tmp_path: Path) -> None:
    world = built(tmp_path, SOFT_SMALL.replace("[run]", "[world]\nfriction = 0.3\nwind = [1, 2, 3]\n[run]"))
    assert world.friction == 0.3
    np.testing.assert_array_equal(world.wind, [1, 2, 3])


@pytest.mark.parametrize("keys", ['response = "impulse"', 'response = "penalty"\npenalty = 50'])
def test_classical_responses(tmp_path: Path, keys: str) -> None:
    world = built(tmp_path, SOFT_SMALL.replace("[run]", f"[world]\n{keys}\n[run]"))
    assert world.response == keys.split('"')[1]
    assert world.penalty == (50.0 if "50" in keys else None)
    scene = read_scene(tmp_path / "scene.toml")
    assert run_scene(scene, tmp_path / "out").time == pytest.approx(0.05)


def test_obstacles(tmp_path: Path) -> None:
    text = (
        SOFT_SMALL
        + """
[[obstacles]]
sphere = { radius = 0.5, level = 2 }
translate = [0, 0, -1]
velocity = [0, 0, -1]
thickness = 0.1
[[obstacles]]
cylinder = { radius = 0.1, length = 1, axis = "y" }
translate = [0, 0, -3]
[[obstacles]]
lathe = { profile = [[0.2, 0], [0.1, 0.1], [0.2, 0.2]], segments = 12 }
translate = [0, 0, -4]
"""
    )
    world = built(tmp_path, text)
    ball, drum, pulley = (obstacle.mesh for obstacle in world._obstacles)
    assert len(ball.faces) == 20 * 16
    np.testing.assert_allclose(np.linalg.norm(ball.vertices - [0, 0, -1], axis=1), 0.5)
    np.testing.assert_allclose(drum.bounds[:, 1], [-0.5, 0.5])
    np.testing.assert_allclose(pulley.bounds[:, 2], [-4, -3.8])
    assert world._obstacles[0].skin.radius == 0.05
    world.step(1)
    np.testing.assert_allclose(world.frame().obstacles[0].vertices, ball.vertices - [0, 0, 0.01])


@pytest.mark.parametrize(
    ("profile", "faces", "volume"),
    [
        ([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [0.0, 2.0]], 4 * 100, 2 * np.pi),  # a cylinder
        ([[0.0, -1.0], [1.0, 0.0], [0.0, 1.0]], 2 * 100, 2 * np.pi / 3),  # two cones
        ([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0]], 2 * 100, 2 * np.pi / 3),  # from above
        ([[1.0, 0.0], [1.0, 2.0], [0.5, 2.0], [0.5, 0.0], [1.0, 0.0]], 8 * 100, 1.5 * np.pi),  # a tube
        ([[1.0, 0.0], [0.5, 0.0], [0.5, 2.0], [1.0, 2.0], [1.0, 0.0]], 8 * 100, 1.5 * np.pi),  # around the other way
    ],
)
def test_bodies_of_revolution_are_closed(profile: Any, faces: int, volume: float) -> None:
    mesh = meshes.mesh_of("lathe", Shaped(lathe=Lathe(profile=profile, segments=100)))
    assert len(mesh.faces) == faces
    assert mesh.is_closed
    assert str(mesh.problems()) == "no problems found"
    assert mesh.volume == pytest.approx(volume, rel=1e-2)


def test_every_key_is_described() -> None:
    found = [kind for kind in vars(softmodels).values() if isinstance(kind, type) and issubclass(kind, BaseModel)]
    assert len(found) > 15
    for model in found:
        assert model.__doc__
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name}"
            if model is not softmodels.StrainLimits and name in (
                "lower", "upper", "radius", "height", "velocity", "until", "density", "stretch", "damping",
            ):  # fmt: skip
                assert field.json_schema_extra["unit"], f"{model.__name__}.{name}"  # type: ignore[index, call-overload]


def test_the_template_of_a_cable_lies_down_in_coils(tmp_path: Path) -> None:
    """A coarse version: most of the rope is on the floor, and above itself."""
    world = built(tmp_path, template_text("cable").replace("nodes = 111", "nodes = 56"))
    while world.time < 1.499:
        world.step()
    assert world.scaled_steps == 0
    height = world.positions[:, 2]
    assert height.min() > 0
    assert 0.006 < np.median(height) < 0.018  # its radius, and that of two layers
    assert np.linalg.norm(world.positions[:, :2], axis=1).max() < 0.15  # the floor's half
    found = world.contacts()
    assert (found.bodies == 0).all(axis=1).any()


def test_the_template_of_a_cloth_hangs_around_its_table(tmp_path: Path) -> None:
    """A coarse version: all of the table is covered, and corners hang below it."""
    world = built(tmp_path, template_text("cloth").replace("[27, 27]", "[14, 14]"))
    while world.time < 0.999:
        world.step()
    assert world.scaled_steps == 0
    x = world.positions
    inner = np.hypot(x[:, 0], x[:, 1]) < 0.2  # folds reach in from the rim, at 0.3
    np.testing.assert_allclose(x[inner, 2], 0.02 + 0.004, atol=0.004)
    assert (x[[0, 13, -14, -1], 2] < -0.1).all()
    assert np.abs(x[:, :2].mean(axis=0)).max() < 0.02
