"""Scenes to start from, written by ``impinge new``."""

from __future__ import annotations

__all__ = ["template_text"]


def template_text(name: str) -> str:
    """A commented scene: "hopper", "drum", "column" or "box2d" of spheres; "rocks"; "cable" or "cloth"."""
    return _TEMPLATES[name].lstrip("\n")


_OUTPUT = """
[output]
frames = {frames}        # s between frames; open spheres.pvd in ParaView ("Point Gaussian" shows the spheres)
formats = ["vtp"]     # add "xyz" for OVITO
chains = {chains}       # contact forces as lines (force chains)
series = {series}       # s between rows of series.csv: energies, contacts, forces on walls
checkpoint = {checkpoint}    # s between checkpoints; a run that was stopped goes on with --resume
picture = false       # a picture of the end (needs matplotlib)
"""

_SOFT_OUTPUT = """
[output]
frames = {frames}        # s between frames
formats = ["vtp", "glb"]   # soft.pvd for ParaView, and one animation for Blender and browsers; also "obj", "ply"
series = {series}       # s between rows of series.csv: energies, largest and smallest strain, contacts
checkpoint = {checkpoint}    # s between checkpoints; a run that was stopped goes on with --resume
picture = false       # a picture of the end (needs matplotlib)
"""

_HOPPER = """
# Flow of beads through the orifice of a funnel. All numbers in SI units: m, kg, s, N, Pa.

[world]
gravity = [0, 0, -9.81]   # m/s²
dt = "auto"               # a fiftieth of the shortest contact

[run]
until = 0.3               # s; may be raised later, then go on with --resume
OUTPUT
[materials.glass]
density = 2500            # kg/m³
stiffness = 1e3           # N/m; softer than glass, so that time steps are longer
restitution = 0.7
friction = 0.4

[[spheres]]
name = "beads"
material = "glass"
radii = 0.003             # m
random = { lower = [-0.035, -0.035, 0.04], upper = [0.035, 0.035, 0.12], fraction = 0.25, seed = 1 }

[[obstacles]]
name = "funnel"
material = "glass"
cone = { orifice = 0.018, radius = 0.052, height = 0.034, rim = 0.09 }

[[planes]]
name = "floor"
point = [0, 0, -0.08]
normal = [0, 0, 1]
material = "glass"

[[measures]]              # columns of series.csv: spheres and mass below the orifice
name = "discharged"
kind = "beyond"
point = [0, 0, 0]
normal = [0, 0, -1]
"""

_DRUM = """
# Two sizes of beads in a drum that turns. All numbers in SI units: m, kg, s, N, Pa.

[run]
until = 0.5               # s; several turns show more: raise it, then go on with --resume
OUTPUT
[materials.glass]
density = 2500            # kg/m³
stiffness = 50            # N/m; softer than glass, so that time steps are longer
restitution = 0.6
friction = 0.5

[[spheres]]
name = "large"
material = "glass"
radii = 0.004             # m
random = { lower = [-0.03, -0.007, -0.03], upper = [0.03, 0.007, 0.0], fraction = 0.15, seed = 2 }

[[spheres]]
name = "small"
material = "glass"
radii = 0.002
random = { lower = [-0.03, -0.007, -0.03], upper = [0.03, 0.007, 0.0], fraction = 0.15, seed = 1 }

[[obstacles]]
name = "drum"
material = "glass"
cylinder = { radius = 0.045, length = 0.016, axis = "y", segments = 48 }
rotation = { axis = [0, 1, 0], rate = 2.0 }   # rad/s

[[measures]]              # 0: mixed at random, 1: apart
name = "segregation"
kind = "segregation"
groups = ["small", "large"]
cell = 0.016              # m; should hold ten spheres or more
"""

_COLUMN = """
# A column of beads that collapses onto a floor. All numbers in SI units: m, kg, s, N, Pa.

[run]
until = 0.4               # s
OUTPUT
[materials.sand]
density = 2600            # kg/m³
young = 1e6               # Pa; the law of Hertz and Mindlin, softer than sand so that time steps are longer
poisson = 0.25
restitution = 0.5
friction = 0.5
rolling = 0.05

[[spheres]]
name = "column"
material = "sand"
distribution = { kind = "uniform", low = 0.0025, high = 0.0035 }   # radii, m
random = { lower = [0, 0, 0], upper = [0.04, 0.04, 0.1], fraction = 0.5, seed = 1 }

[[planes]]
name = "floor"
point = [0, 0, 0]
normal = [0, 0, 1]
material = "sand"
"""

_BOX2D = """
# Discs in two dimensions, pressed by two walls under load. SI units: m, kg, s, N; densities per area, kg/m².

[world]
dim = 2
gravity = [0, 0]

[run]
until = 0.3               # s
OUTPUT
[materials.steel]
density = 50              # kg/m²
stiffness = 2e4           # N/m
restitution = 0.5
friction = 0.3

[[spheres]]
name = "discs"
material = "steel"
distribution = { kind = "uniform", low = 0.004, high = 0.006 }     # radii, m
random = { lower = [0, 0], upper = [0.2, 0.2], fraction = 0.6, seed = 1 }

[[planes]]
name = "left"
point = [0, 0]
normal = [1, 0]

[[planes]]
name = "bottom"
point = [0, 0]
normal = [0, 1]

[[planes]]
name = "right"
point = [0.2, 0]
normal = [-1, 0]
load = 20                 # N

[[planes]]
name = "top"
point = [0, 0.2]
normal = [0, -1]
load = 40                 # N
"""

_ROCKS = """
# Rocks and rings, none of them convex, and pebbles fall onto a floor. All numbers in SI units: m, kg, s, N, Pa.

kind = "polyhedra"        # spheres may be there, too

[run]
until = 0.2               # s; may be raised later, then go on with --resume
OUTPUT
[materials.rock]
density = 2500            # kg/m³
stiffness = 2e4           # N/m; softer than rock, so that time steps are longer
restitution = 0.4
friction = 0.5

[[polyhedra]]             # one shape each; also file, block, cylinder, sphere, lathe
name = "L"
material = "rock"
prism = { outline = [[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [0, 2]], height = 1 }
scale = 0.02              # m for each unit of the outline
random = { lower = [-0.08, -0.08, 0.01], upper = [0.08, 0.08, 0.16], count = 8, seed = 1 }

[[polyhedra]]             # at given places; a quaternion w, x, y, z turns each
name = "rings"
material = "rock"
torus = { radius = 0.025, tube = 0.01, segments = 24, rings = 20 }
positions = [[0, 0, 0.2], [0.05, 0, 0.25]]
rotations = [[1, 0, 0, 0], [1, 1, 0, 0]]
velocity = [0, 0, -1]     # m/s

[[spheres]]
name = "pebbles"
material = "rock"
radii = 0.008             # m
random = { lower = [-0.08, -0.08, 0.01], upper = [0.08, 0.08, 0.16], count = 20, seed = 2 }

[[boxes]]
lower = [-0.1, -0.1, 0]
upper = [0.1, 0.1, 0.5]
material = "rock"
"""

_CABLE = """
# A rope is let down onto a floor, where it lies down in coils. All numbers in SI units: m, kg, s, N.

[world]
gravity = [0, 0, -9.81]   # m/s²
dt = 0.005                # s; shorter steps are taken where something would pass through something
integrator = "implicit-euler"   # calms what comes to rest; "bdf2" where swinging matters
friction = 0.3            # of all contacts

[run]
until = 1.5               # s; may be raised later, then go on with --resume
OUTPUT
[[bodies]]
kind = "cable"
name = "rope"
helix = { radius = 0.03, height = 0.8, turns = 3, nodes = 111 }   # or a line, a circle, points or a file
translate = [0, 0, 0.01]  # bodies must not touch anything at the start
radius = 0.006            # m
stretch = 500             # N: what would double its length
bend = 5e-5               # N m²; coils get larger with it
mass_per_length = 0.1     # kg/m
damping = 0.005           # s in which strain relaxes
drag = 0.1                # N s/m², in air

[[fixed]]                 # its upper end is let down
body = "rope"
nodes = [-1]              # the last one
velocity = [0, 0, -0.5]   # m/s

[[obstacles]]             # the floor
plate = { size = [0.3, 0.3] }
"""

_CLOTH = """
# A tablecloth falls onto a round table and hangs down in folds. All numbers in SI units: m, kg, s, N.

[world]
gravity = [0, 0, -9.81]   # m/s²
dt = 0.01                 # s; shorter steps are taken where something would pass through something
integrator = "implicit-euler"   # calms what comes to rest; "bdf2" where swinging matters
friction = 0              # of all contacts; steps with friction take several times as long

[run]
until = 1.0               # s; may be raised later, then go on with --resume
OUTPUT
[[bodies]]
kind = "cloth"
name = "tablecloth"
sheet = { size = [1, 1], nodes = [27, 27] }   # or a mesh from a file
translate = [0, 0, 0.03]  # bodies must not touch anything at the start
thickness = 0.008         # m; what layers keep between their middles
stretch = 300             # N/m, or two numbers, along warp and weft
shear = 50                # N/m
bend = 1e-4               # N m; less makes smaller folds, which need more nodes
density = 0.2             # kg/m²
damping = 0.005           # s in which strain relaxes
drag = 0.3                # N s/m³, in air

[[obstacles]]             # the table
cylinder = { radius = 0.3, length = 0.04, segments = 48 }

[[fixed]]                 # two corners are let go later
body = "tablecloth"
nodes = [0, -1]
until = 0.2               # s
"""


def _with_output(text: str, frames: float, series: float, checkpoint: float, chains: bool = False) -> str:
    words = {"frames": frames, "series": series, "checkpoint": checkpoint, "chains": str(chains).lower()}
    output = _SOFT_OUTPUT if "[[bodies]]" in text else _OUTPUT
    return text.replace("OUTPUT", output.format(**words).rstrip("\n") + "\n", 1)


_TEMPLATES = {
    "hopper": _with_output(_HOPPER, 0.02, 0.002, 0.1),
    "drum": _with_output(_DRUM, 0.05, 0.01, 0.2),
    "column": _with_output(_COLUMN, 0.02, 0.002, 0.1),
    "box2d": _with_output(_BOX2D, 0.025, 0.005, 0.1, chains=True),
    "rocks": _with_output(_ROCKS, 0.01, 0.005, 0.1),
    "cable": _with_output(_CABLE, 0.02, 0.005, 0.5),
    "cloth": _with_output(_CLOTH, 0.02, 0.01, 0.2),
}
