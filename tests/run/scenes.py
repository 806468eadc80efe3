"""Scenes for the tests of scenes, runs and the command line."""

from __future__ import annotations

from pathlib import Path

from ..command import invoke, refusal

# Everything that a run may have: friction, walls, a drum that turns, rain, a sink, measures, all outputs.
FULL = """
[world]
gravity = [0, 0, -9.81]
search = "cells"
[run]
until = 0.06
[output]
frames = 0.02
formats = ["vtp", "xyz"]
chains = true
series = 0.005
checkpoint = 0.013
[materials.glass]
density = 2500
stiffness = 1000
restitution = 0.8
friction = 0.4
[materials.steel]
density = 7800
stiffness = 2e3
restitution = 0.9
[[contacts]]
materials = ["glass", "steel"]
stiffness = 1500
restitution = 0.7
friction = 0.2
[[spheres]]
name = "large"
material = "glass"
radii = 0.012
random = { lower = [0.03, 0.03, 0.05], upper = [0.17, 0.17, 0.15], count = 12, seed = 3 }
velocity = [0, 0, -1.5]
random_velocity = { largest = 0.5, seed = 4 }
[[spheres]]
name = "small"
material = "steel"
lattice = { lower = [0.02, 0.02, 0.16], upper = [0.18, 0.18, 0.2], spacing = 0.03 }
radii = 0.006
velocity = [0, 0, -1]
spin = [0, 1, 0]
[[boxes]]
lower = [0, 0, 0]
upper = [0.2, 0.2, 0.3]
[[obstacles]]
name = "paddle"
material = "steel"
plate = { size = [0.1, 0.1] }
translate = [0.1, 0.1, 0.048]
rotation = { axis = [0, 0, 1], rate = 20, centre = [0.1, 0.1, 0.048] }
[[sources]]
material = "steel"
lower = [0.02, 0.02, 0.22]
upper = [0.18, 0.18, 0.29]
distribution = { kind = "uniform", low = 0.005, high = 0.007 }
rate = 400
velocity = [0, 0, -2]
[[sinks]]
name = "corner"
lower = [0, 0, 0]
upper = [0.08, 0.08, 0.08]
[[measures]]
name = "mixing"
kind = "mixing"
groups = ["large", "small"]
cell = 0.07
[[measures]]
name = "low"
kind = "beyond"
point = [0, 0, 0.1]
normal = [0, 0, -1]
"""

# Few discs, few steps.
SMALL = """
[world]
dim = 2
[run]
until = 0.02
[output]
frames = 0.005
series = 0.001
[materials.glass]
density = 20
stiffness = 1e4
restitution = 0.8
friction = 0.5
[[spheres]]
material = "glass"
radii = 0.01
centres = [[0.03, 0.02], [0.05, 0.021], [0.04, 0.04]]
velocity = [0, -1]
[[boxes]]
lower = [0, 0]
upper = [0.1, 0.1]
"""

# Spheres, and rigid bodies of two shapes.
RING = "torus = { radius = 0.03, tube = 0.01, segments = 16, rings = 8 }"
BODIES = f"""
kind = "polyhedra"
[run]
until = 0.02
[output]
frames = 0.01
series = 0.005
checkpoint = 0.004
[materials.rock]
density = 2500
stiffness = 1e4
restitution = 0.5
friction = 0.5
[[spheres]]
material = "rock"
radii = 0.01
random = {{ lower = [0, 0, 0], upper = [0.2, 0.2, 0.2], count = 40 }}
[[polyhedra]]
name = "ring"
material = "rock"
{RING}
positions = [[0.1, 0.1, 0.1], [0.05, 0.05, 0.05]]
rotations = [[1, 0, 0, 1], [2, 0, 0, 0]]
rotate = {{ axis = [1, 0, 0], angle = 90 }}
[[polyhedra]]
name = "L"
material = "rock"
prism = {{ outline = [[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [0, 2]], height = 1 }}
scale = 0.01
resolution = 0.008
random = {{ lower = [0, 0, 0], upper = [0.2, 0.2, 0.2], count = 12, gap = 0.002 }}
velocity = [0, 0, -1]
random_velocity = {{ largest = 0.5 }}
spin = [0, 5, 0]
[[obstacles]]
name = "shelf"
material = "rock"
plate = {{ size = [0.1, 0.1] }}
translate = [0.1, 0.1, 0.15]
[[planes]]
point = [0.1, 0.1, 0.002]
normal = [0.1, 0, 1]
[[boxes]]
lower = [0, 0, 0]
upper = [0.2, 0.2, 0.2]
"""


def write(folder: Path, text: str, name: str = "scene.toml") -> Path:
    """A scene file in a folder."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a run, but the summary and the timings, which tell real time: no two runs have the same."""
    own = {"summary.json", "timings.csv"}
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in own)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def refused(*arguments):
    """The one line on stderr."""
    return refusal(invoke("run", *arguments))
