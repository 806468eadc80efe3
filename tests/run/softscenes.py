"""Scenes of cables and cloth for the tests of scenes, runs and the command line."""

from __future__ import annotations

# Everything that a run may have: both kinds of bodies, obstacles that move, driven nodes, all outputs.
SOFT_FULL = """
[world]
dt = 0.01
integrator = "bdf2"
[run]
until = 0.12
[output]
frames = 0.04
formats = ["vtp", "obj", "ply", "glb"]
series = 0.02
checkpoint = 0.03
[[bodies]]
kind = "cloth"
name = "scarf"
sheet = { size = [0.5, 0.5], nodes = [6, 6] }
translate = [0, 0, 0.232]
thickness = 0.02
stretch = [20, 15]
shear = 5
bend = 1e-4
density = 0.2
damping = 1e-3
drag = 0.1
velocity = [0, 0, -0.5]
[[bodies]]
kind = "cable"
circle = { radius = 0.1, nodes = 10 }
translate = [0, 0, 0.26]
radius = 0.01
stretch = 50
bend = 1e-3
mass_per_length = 0.1
damping = 1e-3
velocity = [0, 0, -1]
[[bodies]]
kind = "cable"
name = "rope"
line = { start = [-0.4, 0.3, 0.02], end = [0.4, 0.3, 0.02], nodes = 9 }
radius = 0.01
stretch = 50
mass_per_length = 0.1
[[obstacles]]
sphere = { radius = 0.2, level = 1 }
velocity = [0.1, 0, 0]
rotation = { axis = [0, 0, 1], rate = 5 }
[[obstacles]]
plate = { size = [2, 2] }
thickness = 0.002
[[fixed]]
body = "rope"
nodes = [0]
velocity = [0.2, 0, 0.1]
[[fixed]]
body = "rope"
within = { lower = [0.39, 0, 0], upper = [1, 1, 1] }
"""

# One cable that swings, few steps.
SOFT_SMALL = """
[run]
until = 0.05
[output]
frames = 0.02
series = 0.01
[[bodies]]
kind = "cable"
line = { start = [0, 0, 0], end = [1, 0, 0], nodes = 5 }
radius = 0.01
stretch = 100
mass_per_length = 0.1
[[fixed]]
body = "body 1"
nodes = [0]
"""
