"""Worlds for tests, and what must not change about them."""

from __future__ import annotations

import numpy as np

from impinge import Material, Motion, World, shapes

ROUGH = Material(2500, stiffness=1e4, restitution=0.7, friction=0.5, rolling=0.05)
R = 0.01


def lattice(n: int, d: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.arange(n)] * d, indexing="ij"), -1).reshape(-1, d)
    return (grid + 0.5) * 2.1 * R + rng.uniform(-1, 1, (n**d, d)) * 0.02 * R + R


def busy_world(**options) -> World:
    """Spheres of two sizes that fall on a turning box in a box: all kinds of contacts, with memories."""
    rng = np.random.default_rng(1)
    world = World(**options)
    centres = lattice(5, 3) + [0, 0, 0.03]
    world.add_spheres(centres, R * rng.uniform(0.5, 1.0, len(centres)), ROUGH, rng.normal(size=centres.shape) * 0.5)
    world.add_box([0, 0, 0], [0.13, 0.13, 0.4])
    block = shapes.box()
    mesh = shapes.Mesh(block.vertices * 0.02 + [0.06, 0.06, 0.0], block.faces)
    world.add_obstacle(mesh, motion=Motion(rotation=((0, 0, 5.0), (0.06, 0.06, 0.0))))
    return world


def bits(world: World) -> bytes:
    s = world.spheres
    return b"".join(a.tobytes() for a in (s.ids, s.centres, s.velocities, s.spins, np.array(world.energy())))
