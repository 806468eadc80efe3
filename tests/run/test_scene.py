"""Scene files: what they make, and one line that helps for everything that can be wrong with them."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from pydantic import BaseModel

from impinge import shapes
from impinge.errors import InputError, RunWarning
from impinge.run.scene import read_scene
from impinge.run.scene.toml import Document
from impinge.run.templates import template_text

from .scenes import FULL, SMALL, refused, write

CENTRES = "centres = [[0.03, 0.02], [0.05, 0.021], [0.04, 0.04]]"

# (name, what to replace in SMALL, by what, the message after "scene.toml:LINE: "). The line is that of "# here".
BAD = [
    ("unknown key", "density = 20", "densty = 20  # here",
     "materials.glass.densty: unknown key, did you mean density?"),
    ("unknown table", "[world]", "[word]  # here\n[world]", "word: unknown key, did you mean world?"),
    ("unknown tables", "[[boxes]]", "[[box]]  # here", "box: unknown key, did you mean boxes?"),
    ("nothing like it", "dim = 2", "dim = 2\nxyzzy = 1  # here",
     "world.xyzzy: unknown key, expected one of dim, gravity, dt, integrator, search, skin, box, periodic"),
    ("unknown inline key", CENTRES,
     "lattice = { lower = [0, 0], uper = [1, 1] }  # here",
     "spheres[0].lattice.uper: unknown key, did you mean upper?"),
    ("text for number", "density = 20", 'density = "heavy"  # here',
     "materials.glass.density: found 'heavy', expected a number above 0"),
    ("truth for number", "density = 20", "density = true  # here",
     "materials.glass.density: found true, expected a number above 0"),
    ("number for truth", "frames = 0.005", "frames = 0.005\nchains = 1  # here",
     "output.chains: found 1, expected true or false"),
    ("number for vector", "velocity = [0, -1]", "velocity = 3  # here",
     "spheres[0].velocity: found 3, expected 2 or 3 numbers, as many as the world has dimensions"),
    ("too many axes", "velocity = [0, -1]", "velocity = [0, -1, 0]  # here",
     "spheres[0].velocity: found [0.0, -1.0, 0.0], expected 2 finite numbers"),
    ("table for number", "until = 0.02", "until = { s = 1 }  # here",
     "run.until: found {'s': 1}, expected a number above 0"),
    ("single brackets", "[[boxes]]", "[boxes]  # here",
     "boxes: found {'lower': [0, 0], 'upper': [0.1, 0.1]}, expected tables in double brackets"),
    ("zero density", "density = 20", "density = 0  # here",
     "materials.glass.density: found 0, expected a number above 0"),
    ("negative density", "density = 20", "density = -20  # here",
     "materials.glass.density: found -20, expected a number above 0"),
    ("not a number", "density = 20", "density = nan  # here",
     "materials.glass.density: found nan, expected a number above 0"),
    ("restitution above 1", "restitution = 0.8", "restitution = 1.5  # here",
     "materials.glass.restitution: found 1.5, expected more than 0 and at most 1"),
    ("restitution in percent", "restitution = 0.8", "restitution = 80  # here",
     "materials.glass.restitution: found 80, expected more than 0 and at most 1"),
    ("negative friction", "friction = 0.5", "friction = -0.5  # here",
     "materials.glass.friction: found -0.5, expected a number of at least 0"),
    ("no law", "stiffness = 1e4\n", "", "materials.glass: stiffness, young: found neither, expected one of them, as it "
     "chooses the law"),
    ("two laws", "stiffness = 1e4", "stiffness = 1e4  # here\nyoung = 1e6",
     "materials.glass.stiffness, young: found both, expected one of them, as it chooses the law"),
    ("two dampings", "friction = 0.5", "damping = 0.5  # here",
     "materials.glass.damping, restitution: found both, expected one of them"),
    ("no density", "density = 20\n", "", "materials.glass.density: missing, expected a number above 0"),
    ("no run", "[run]\nuntil = 0.02\n", "", "run: missing, expected a table of until, threads"),
    ("negative end", "until = 0.02", "until = -1  # here", "run.until: found -1, expected a number above 0"),
    ("zero frames", "frames = 0.005", "frames = 0  # here", "output.frames: found 0, expected a number above 0"),
    ("unknown format", "frames = 0.005", 'frames = 0.005\nformats = ["vtk"]  # here',
     "output.formats: found ['vtk'], expected a list of \"vtp\" (ParaView) and \"xyz\" (OVITO)"),
    ("dimension", "dim = 2", "dim = 4  # here", "world.dim: found 4, expected one of 2, 3"),
    ("dt", "dim = 2", "dim = 2\ndt = 0  # here", "world.dt: found 0, expected a number above 0 or 'auto'"),
    ("dt in words", "dim = 2", 'dim = 2\ndt = "small"  # here',
     "world.dt: found 'small', expected a number above 0 or 'auto'"),
    ("search", "dim = 2", 'dim = 2\nsearch = "fast"  # here',
     "world.search: found 'fast', expected one of 'auto', 'brute', 'verlet', 'cells', 'sweep', 'levels'"),
    ("periodic without a box", "dim = 2", "dim = 2\nperiodic = true",
     "world: box: found None, expected 2 lengths, or a lower and an upper corner of 2 numbers, since an axis "
     "is periodic"),
    ("box upside down", "dim = 2", "dim = 2\nbox = [[0, 0], [1, -1]]  # here",
     "world.box: found [[0.0, 0.0], [1.0, -1.0]], expected finite numbers and lengths above 0"),
    ("other kind", "[world]", 'kind = "gas"  # here\n[world]',
     "kind: found 'gas', expected one of 'particles', 'polyhedra', 'soft'"),
    ("unknown material", 'material = "glass"', 'material = "gold"  # here',
     "spheres[0].material: found 'gold', expected one of 'glass'"),
    ("unknown pair", "[[boxes]]", '[[contacts]]\nmaterials = ["glass", "gold"]  # here\nstiffness = 1\n[[boxes]]',
     "contacts[0].materials: found 'gold', expected one of 'glass'"),
    ("two sources of places", "radii = 0.01", 'radii = 0.01\nfile = "x.csv"',
     "spheres[0].centres, file: found centres and file, expected one of centres, file, random, lattice"),
    ("no places", CENTRES + "\n", "",
     "spheres[0]: centres, file, random, lattice: found none of them, expected one of centres, file, random, lattice"),
    ("no radii", "radii = 0.01\n", "", "spheres[0]: radii: missing, expected it with centres"),
    ("zero radius", "radii = 0.01", "radii = [0.01, 0, 0.01]  # here",
     "spheres[0].radii: row 1 is 0, expected more, as a sphere needs a mass"),
    ("too few radii", "radii = 0.01", "radii = [0.01]  # here",
     "spheres[0].radii: found shape (1,), expected one number or 3, one for each row of centres"),
    ("overlap", "[0.05, 0.021]", "[0.0301, 0.02]", None),
    ("radius in another unit", "radii = 0.01\n" + CENTRES,
     "radii = 10  # here\nrandom = { lower = [0, 0], upper = [0.1, 0.1], fraction = 0.3 }",
     "spheres[0].radii: found 10, expected at most 0.05, half of the box along x"),
    ("distribution in another unit", "radii = 0.01\n" + CENTRES,
     'distribution = { kind = "uniform", low = 9, high = 11 }  # here\n'
     "random = { lower = [0, 0], upper = [0.1, 0.1], fraction = 0.3 }",
     "spheres[0].distribution: found 9, expected at most 0.05, half of the box along x"),
    ("spheres outside", "dim = 2", "dim = 2\nbox = [0.06, 0.02]",
     "spheres[0].centres: sphere 1 is at (0.05, 0.021) m, expected a place in the box; 2 such spheres"),
    ("no file of spheres", CENTRES, 'file = "none.csv"  # here',
     "spheres[0].file: FOLDER/none.csv: no such file"),
    ("bad file of spheres", CENTRES, 'file = "bad.csv"  # here',
     "spheres[0].file: FOLDER/bad.csv: found columns a, b, expected x, y, (z) and radius"),
    ("region too full", CENTRES,
     "random = { lower = [0, 0], upper = [0.1, 0.1], fraction = 0.95 }  # here", None),
    ("fraction and count", CENTRES,
     "random = { lower = [0, 0], upper = [0.1, 0.1], fraction = 0.1, count = 3 }  # here",
     "spheres[0].random.fraction, count: found both, expected one of them"),
    ("region upside down", CENTRES,
     "lattice = { lower = [0, 1], upper = [1, 0] }  # here",
     "spheres[0].lattice.upper: found 0 along y, expected more than lower, 1"),
    ("distribution", "radii = 0.01", 'distribution = { kind = "uniform", low = 1 }  # here', None),
    ("normal of no length", "[[boxes]]", "[[planes]]\npoint = [0, 0]\nnormal = [0, 0]  # here\n[[boxes]]",
     "planes[0].normal: found [0.0, 0.0], expected a vector of any length above 0"),
    ("velocity and load", "[[boxes]]",
     "[[planes]]\npoint = [0, 0]\nnormal = [0, 1]\nvelocity = [0, 1]  # here\nload = 1\n[[boxes]]",
     "planes[0].velocity, load: found both, expected one of them or none"),
    ("wall upside down", "upper = [0.1, 0.1]", "upper = [0.1, -0.1]  # here",
     "boxes[0].upper: found -0.1 along y, expected more than lower, 0"),
    ("name with a comma", "[[boxes]]", '[[planes]]\nname = "a,b"  # here\npoint = [0, 0]\nnormal = [0, 1]\n[[boxes]]',
     "planes[0].name: found 'a,b', expected letters, digits, spaces and . _ + -"),
    ("name twice", "[[boxes]]",
     '[[planes]]\nname = "a"\npoint = [0, 0]\nnormal = [0, 1]\n[[planes]]\nname = "a"  # here\npoint = [0, 0]\n'
     "normal = [0, 1]\n[[boxes]]", "planes[1].name: found 'a', expected a text that no other wall has"),
    ("obstacle in two dimensions", "[[boxes]]", "[[obstacles]]  # here\nplate = { size = [1, 1] }\n[[boxes]]",
     "obstacles[0]: mesh: found an obstacle in a world of dim 2, expected planes there"),
    ("no mesh", "[[boxes]]", '[[obstacles]]\nfile = "none.stl"  # here\n[[boxes]]',
     "obstacles[0].file: FOLDER/none.stl: no such file"),
    ("broken mesh", "[[boxes]]", '[[obstacles]]\nfile = "bad.ply"  # here\n[[boxes]]', None),
    ("two shapes", "[[boxes]]",
     "[[obstacles]]\nblock = { lower = [0, 0, 0], upper = [1, 1, 1] }  # here\nplate = { size = [1, 1] }\n[[boxes]]",
     "obstacles[0].block, plate: found block and plate, expected one of file, cone, wedge, cylinder, "
     "sphere, lathe, block, torus, prism, plate"),
    ("colour", "[[boxes]]", '[[obstacles]]\nplate = { size = [1, 1] }\ncolour = "red"  # here\n[[boxes]]',
     "obstacles[0].colour: found 'red', expected a text such as \"#c4553b\""),
    ("orifice", "[[boxes]]", "[[obstacles]]\ncone = { orifice = 2, radius = 1, height = 1 }  # here\n[[boxes]]",
     "obstacles[0].cone.orifice: found 2, expected less than the radius, 1"),
    ("unknown group", "[[boxes]]",
     '[[measures]]\nname = "m"\nkind = "mixing"\ngroups = ["spheres 1", "b"]  # here\ncell = 1\n[[boxes]]',
     "measures[0].groups: found 'b', expected two of 'spheres 1'"),
    ("measure without cell", "[[boxes]]",
     '[[measures]]\nname = "m"\nkind = "mixing"\ngroups = ["spheres 1", "spheres 1"]\n[[boxes]]',
     "measures[0]: cell: missing, expected groups and cell with kind 'mixing'"),
    ("sink upside down", "[[boxes]]", "[[sinks]]\nlower = [0, 0]\nupper = [0, 1]  # here\n[[boxes]]",
     "sinks[0].upper: found 0 along x, expected more than lower, 0"),
    ("rate", "[[boxes]]",
     '[[sources]]\nmaterial = "glass"\nlower = [0, 0]\nupper = [1, 1]\nradii = 0.1\nrate = 0  # here\n[[boxes]]',
     "sources[0].rate: found 0, expected a number above 0"),
    ("not TOML", "until = 0.02", "until = = 3  # here", "found 'until = = 3  # here', expected TOML (Invalid value)"),
    ("key twice", "until = 0.02", "until = 0.02\nuntil = 0.03  # here",
     "found 'until = 0.03  # here', expected TOML: until once; it stands twice"),
    ("table twice", "[[boxes]]", "[run]  # here\n[[boxes]]",
     "found '[run]  # here', expected TOML: run once; of tables in double brackets, [[spheres]] say, there may be "
     "several"),
    ("open string", "until = 0.02", 'until = "  # here', None),
]  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    (tmp_path / "bad.ply").write_text("ply\nformat ascii 1.0\nelement vertex 3\nend_header\n0 0\n")
    return tmp_path


@pytest.mark.parametrize(("old", "new", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_scenes(here, old, new, message):
    assert SMALL.count(old) == 1
    text = SMALL.replace(old, new)
    write(here, text)
    said = refused("scene.toml", "--out", "out")
    marked = [number for number, line in enumerate(text.split("\n"), 1) if "# here" in line]
    if marked:
        assert said.startswith(f"scene.toml:{marked[0]}: ")
    else:
        assert said.startswith("scene.toml:")
    if message is not None:
        assert re.sub(r"^scene.toml:\d+: ", "", said) == message.replace("FOLDER/", "")
    assert not (here / "out").exists()


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("until = 0,02", "a decimal point, no comma"),
        ("until = 1.000,5", "a decimal point, no comma"),
        ("until = 0.02 s", "a number alone; units are fixed, mostly SI"),
        ("until = 2500 kg/m3", "a number alone; units are fixed, mostly SI"),
        ("until = 45°", "a number alone; units are fixed, mostly SI"),
        ("until = 1/50", "a number, no formula"),
        ("until = .02", "digits on both sides of the decimal point"),
        ("until = 2.", "digits on both sides of the decimal point"),
        ("until = ０.０２", "plain (ASCII) digits, letters and signs"),
        ("until ＝ 0.02", "plain (ASCII) digits, letters and signs"),
        ("until = −1", "plain (ASCII) digits, letters and signs"),
        ("until = “1”", "straight quotes, \" or '"),
        ("until: 1", "= between key and value"),
        ("until = True", "true, in lower case"),
        ("until = no  # 3 m", "false, in lower case"),
        ("until = long", "texts in quotes"),
        ("until = { a = 1,", "all of { … } on one line"),
        ("until = 'a # b' '3 m'", None),
        (r'until = "C:\Users"', "paths with / instead of \\"),
        (r'until = "C:\parts"', "paths with / instead of \\"),
    ],
)
def test_lines_that_are_no_toml(line, hint):
    with pytest.raises(InputError) as caught:
        Document(Path("scene.toml"), f"[run]\n{line}\nafter = 1\n")
    wanted = f": {hint}" if hint else " (Expected newline or end of document after a statement)"
    assert str(caught.value) == f"scene.toml:2: found {line!r}, expected TOML{wanted}"


def test_long_lines_that_are_no_toml_are_told_quickly():
    with pytest.raises(InputError, match=r"found 'a = \{{55}…', expected TOML"):
        Document(Path("scene.toml"), "a = " + "{" * 1_000_000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "scene.toml:1: run: missing, expected a table of until, threads"),
        ("# nothing", "scene.toml:1: run: missing, expected a table of until, threads"),
        ("\x00", "scene.toml:1: found '\\x00', expected TOML (Invalid statement)"),
        ("[run]\nuntil = 1\n",
         "scene.toml: found no [[spheres]], [[polyhedra]] or [[sources]], expected something that moves, or a time "
         "step (world.dt) without"),
    ],
)  # fmt: skip
def test_scenes_with_nothing_in_them(here, text, message):
    write(here, text)
    assert refused("scene.toml") == message


def test_files_that_are_none(here):
    assert refused("none.toml") == "none.toml: no such file"
    (here / "folder.toml").mkdir()
    assert refused("folder.toml") == "folder.toml: is a folder, not a file"
    (here / "bytes.toml").write_bytes(b"\xff\xfe\x80")
    assert refused("bytes.toml") == "bytes.toml: found bytes that are no text (UTF-8), expected TOML"


def test_materials_that_do_not_go_together(here):
    write(here, SMALL.replace("[[boxes]]", "[materials.soft]\ndensity = 1\nyoung = 1e5\n[[boxes]]\nmaterial = 'soft'"))
    said = "materials.soft: found a stiffness in 'glass' and young in 'soft', expected the same of both, "
    said += "or a law for this pair: World.set_contact, in a scene [[contacts]]"
    assert re.sub(r"^scene.toml:\d+: ", "", refused("scene.toml")) == said


def test_obstacles_drawn_in_millimetres(here):
    shapes.save(shapes.box((100.0, 100, 100)), here / "part.ply")
    text = """[run]
until = 0.1
[materials.m]
density = 1000
stiffness = 1e3
[[spheres]]
material = "m"
centres = [[0.1, 0, 0.2]]
radii = 0.01
[[obstacles]]
file = "part.ply"
"""
    write(here, text)
    said = r"scene.toml:11: obstacles\[0\].file: found a mesh 100 m wide, 5,000 times .* millimetres: scale = 1e-3"
    with pytest.warns(RunWarning, match=said):
        read_scene("scene.toml").build()
    write(here, text + "scale = 1e-3\n")
    read_scene("scene.toml").build()


def test_materials_with_the_same_numbers_are_two(here):
    twin = SMALL[SMALL.index("[materials") : SMALL.index("[[spheres")].replace("glass", "twin")
    pair = '[[contacts]]\nmaterials = ["glass", "twin"]\nstiffness = 1\n'
    write(here, SMALL + twin + pair)
    world = read_scene(here / "scene.toml").build()
    assert len(world._materials) == 2
    write(here, SMALL + twin + pair + pair)
    assert "['glass', 'twin'] twice" in refused("scene.toml")


# Lines


def test_lines():
    text = """a = 1
# comment

[world]
gravity = [0,
  0, # [x]
  -9.81]
b.c = 3
t = \"\"\"
[x]
k = 1
\"\"\"
[[spheres]]
n = 1
[spheres.random]
lower = { x = { y = 1 } }
[materials.glass]
d = 1
[[spheres]]
n = 2
[materials."lead ore"]  # comment
d = 2
"""
    document = Document("x.toml", text)
    lines = text.split("\n")
    for key, start in {
        ("a",): "a = 1", ("world",): "[world]", ("world", "gravity"): "gravity", ("world", "b", "c"): "b.c",
        ("world", "t"): "t =", ("spheres", 0): "[[spheres]]", ("spheres", 0, "n"): "n = 1",
        ("spheres", 0, "random"): "[spheres.random]", ("spheres", 0, "random", "lower", "x", "y"): "lower",
        ("materials", "glass", "d"): "d = 1", ("spheres", 1, "n"): "n = 2",
        ("materials", "lead ore"): '[materials."lead', ("materials", "lead ore", "d"): "d = 2",
    }.items():  # fmt: skip
        assert lines[document.line(key) - 1].startswith(start)
        assert document.has(key)
    assert document.line(("spheres", 1)) > document.line(("spheres", 0))
    assert document.line(("world", "none")) == document.line(("world",))
    assert document.line(("none",)) == 1


def test_long_lists_are_read_quickly():
    rows = ",\n".join(f"[{i}.0, 0.0]" for i in range(20_000))
    document = Document("x.toml", f"centres = [\n{rows}\n]\nafter = 1\n")
    assert document.line(("after",)) == 20_003


# Worlds


def test_a_scene_makes_its_world(here):
    world = read_scene(write(here, FULL)).build()
    assert [wall.name for wall in world.walls] == [*(f"wall {i}" for i in range(1, 7)), "paddle"]
    spheres = world.spheres
    large, small = spheres.radii == 0.012, spheres.radii == 0.006
    assert large.sum() == 12
    assert small.sum() == 25
    assert (np.abs(spheres.velocities[large] - [0, 0, -1.5]) <= 0.5).all()
    assert len(np.unique(spheres.velocities[large])) == 36
    assert (spheres.velocities[small] == [0, 0, -1]).all()
    assert (spheres.spins[small] == [0, 1, 0]).all()
    assert [material.density for material in world.materials] == [2500, 7800]
    assert len(world.sinks) == 1


def test_defaults(here):
    scene = read_scene(write(here, SMALL))
    assert (scene.model.world.search, scene.model.world.dt, scene.model.output.formats) == ("auto", "auto", ["vtp"])
    assert len(scene.build().walls) == 4


def test_files_beside_the_scene(here):
    (here / "sub").mkdir()
    (here / "sub" / "spheres.csv").write_text("x,y,z,radius\n0,0,1,0.1\n1,0,1,0.2\n")
    shapes.octasphere(1).save(here / "sub" / "ball.ply")
    path = write(here / "sub", """
[run]
until = 1
[materials.m]
density = 1000
stiffness = 1e4
[[spheres]]
material = "m"
file = "spheres.csv"
[[obstacles]]
file = "ball.ply"
scale = 2
rotate = { axis = [0, 0, 2], angle = 90 }
translate = [10, 0, 0]
velocity = [1, 0, 0]
""")  # fmt: skip
    world = read_scene(path).build()
    assert world.spheres.radii.tolist() == [0.1, 0.2]
    np.testing.assert_allclose(world._dynamics.obstacles[0].mesh.bounds, [[8, -2, -2], [12, 2, 2]])
    assert world._dynamics.obstacles[0].motion.velocity == (1, 0, 0)
    path.write_text(path.read_text().replace('file = "spheres.csv"', 'file = "spheres.csv"\nradii = 0.3'))
    assert read_scene(path).build().spheres.radii.tolist() == [0.3, 0.3]


def mesh_of(here, table):
    text = f"[run]\nuntil = 1\n[world]\ndt = 1\n[[obstacles]]\n{table}\n"
    return read_scene(write(here, text)).build()._dynamics.obstacles[0].mesh


def test_funnels(here):
    mesh = mesh_of(here, "cone = { orifice = 1, radius = 3, height = 2, rim = 1, segments = 1000 }")
    wanted = math.pi * (1 + 3) * math.hypot(2, 2) + 2 * math.pi * 3 * 1
    assert mesh.area == pytest.approx(wanted, rel=1e-4)
    assert mesh.bounds[0, 2] == 0
    assert mesh.bounds[1].tolist() == pytest.approx([3, 3, 3])
    pointed = mesh_of(here, "cone = { orifice = 0, radius = 3, height = 4, segments = 1000 }")
    assert pointed.area == pytest.approx(math.pi * 3 * 5, rel=1e-4)


def test_hoppers(here):
    open_ended = mesh_of(here, "wedge = { orifice = 1, width = 4, height = 4, length = 10, rim = 2, ends = false }")
    assert open_ended.area == pytest.approx(2 * 10 * 5 + 2 * 10 * 2)
    closed = mesh_of(here, "wedge = { orifice = 1, width = 4, height = 4, length = 10, rim = 2 }")
    assert closed.area - open_ended.area == pytest.approx(2 * (4 * (1 + 4) + 8 * 2))
    assert closed.bounds.tolist() == [[-4, -5, 0], [4, 5, 6]]


@pytest.mark.parametrize(("axis", "index"), [("x", 0), ("y", 1), ("z", 2)])
def test_drums(here, axis, index):
    mesh = mesh_of(here, f'cylinder = {{ radius = 1, length = 6, axis = "{axis}", segments = 48 }}')
    assert mesh.is_closed
    assert mesh.volume == pytest.approx(48 / 2 * math.sin(2 * math.pi / 48) * 6)
    assert mesh.bounds[1, index] == 3
    pipe = mesh_of(here, f'cylinder = {{ radius = 1, length = 6, axis = "{axis}", ends = false }}')
    assert pipe.area == pytest.approx(2 * math.pi * 6, rel=1e-3)


def test_blocks_and_plates(here):
    assert mesh_of(here, "block = { lower = [0, 0, 1], upper = [1, 2, 4] }").volume == pytest.approx(6)
    plate = mesh_of(here, "plate = { size = [2, 4] }")
    assert plate.bounds.tolist() == [[-1, -2, 0], [1, 2, 0]]
    with pytest.raises(InputError, match=r"scene.toml:\d+: obstacles\[0\].block.upper: found"):
        mesh_of(here, "block = { lower = [0, 0, 1], upper = [1, 2, 0] }")


def test_random_places_keep_away_from_spheres_that_are_there(here):
    more = (
        '[[spheres]]\nmaterial = "glass"\nradii = 0.004\nrandom = { lower = [0, 0], upper = [0.1, 0.1], count = 60 }\n'
    )
    spheres = read_scene(write(here, SMALL + more)).build().spheres
    gaps = np.linalg.norm(spheres.centres[:, None] - spheres.centres, axis=-1) - spheres.radii[:, None] - spheres.radii
    assert (gaps[np.triu_indices(63, 1)][3:] > 0).all()


# Models and templates


def models_in(model, seen):
    seen.setdefault(model.__name__, model)
    for field in model.model_fields.values():
        for part in [field.annotation, *getattr(field.annotation, "__args__", ())]:
            if isinstance(part, type) and issubclass(part, BaseModel):
                models_in(part, seen)
    return seen


def test_every_key_is_described():
    from impinge.run.scene.models import Particles

    found = models_in(Particles, {})
    assert len(found) > 20
    for model in found.values():
        assert model.__doc__
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name}"
            if name in ("lower", "upper", "radius", "height", "velocity", "until", "density", "stiffness", "rate"):
                assert field.json_schema_extra["unit"], f"{model.__name__}.{name}"


@pytest.mark.parametrize("name", ["hopper", "drum", "column", "box2d"])
def test_templates_are_scenes(here, name):
    scene = read_scene(write(here, template_text(name)))
    assert scene.model.output.frames
    assert len(scene.build().spheres) > 100
