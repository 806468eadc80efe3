"""Sliding over floors of many triangles, closing presses, and other things that a review has found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import impinge
from impinge import SoftWorld, shapes
from impinge.bodies.soft import step
from impinge.errors import InfeasibleStep

from ..bodies.soft_bodies import grid

ROPE = {"radius": 0.005, "stretch": 1000, "bend": 1e-3, "mass_per_length": 0.1, "damping": 0.01}
COTTON = {"stretch": 300, "shear": 100, "bend": 1e-3, "density": 0.5, "thickness": 0.01, "damping": 0.01}


def sliding(body: str, height: float, velocity: tuple[float, float, float], friction: float) -> SoftWorld:
    """A cable or a cloth above a floor of cells of 5 cm."""
    world = SoftWorld(friction=friction)
    if body == "cable":
        points = np.linspace([-0.05, 0.013, height], [0.05, 0.017, height], 6)
        world.add_cable(points, velocity=velocity, **ROPE)
    else:
        vertices, faces = grid(4)
        world.add_cloth((vertices * 0.1 + [0, 0, height], faces), velocity=velocity, **COTTON)
    vertices, faces = grid(41)
    world.add_obstacle((vertices * 2.0, faces))
    return world


@pytest.mark.verify
@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("height", [0.0051, 0.01])
@pytest.mark.parametrize("body", ["cable", "cloth"])
def test_a_flat_floor_is_flat_whatever_its_triangles_are(body: str, height: float, friction: float) -> None:
    """1 cm per step, as far as it is thick: what is lost is what friction takes, and the way stays straight."""
    for angle in 0.01 + 2 * np.pi * np.arange(0, 36, 5) / 36:
        ahead = np.array([np.cos(angle), np.sin(angle), 0.0])
        world = sliding(body, height, tuple(ahead), friction)
        world.step(20)
        mean = world.velocities.mean(axis=0)
        expected = 1.0 - friction * 9.81 * world.time
        assert mean[:2] == pytest.approx(expected * ahead[:2], abs=0.02 * (1.0 - expected) + 2e-3)
        assert world.scaled_steps == 0


@pytest.mark.parametrize("speed", [1.0, 3.0])
def test_steps_may_be_longer_than_cells_are_wide(speed: float) -> None:
    world = sliding("cable", 0.006, (0.6 * speed, 0.8 * speed, 0.0), 0.0)
    world.step(20)
    assert np.linalg.norm(world.velocities.mean(axis=0)[:2]) == pytest.approx(speed, rel=5e-3)
    assert world.positions[:, 2].max() < 0.0055


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_a_press_that_closes_is_told_to_do_so(friction: float) -> None:
    world = SoftWorld(gravity=(0, 0, 0), friction=friction)
    world.add_cable(np.linspace([-0.1, 0, 0], [0.1, 0, 0], 11), radius=0.002, stretch=1000, mass_per_length=0.1)
    for lower, speed in ((-0.15, 0.5), (0.05, -0.5)):
        motion = impinge.Motion(velocity=(0, 0, speed))
        world.add_obstacle(shapes.box((0.5, 0.5, 0.1), lower=(-0.25, -0.25, lower)), motion)
    with pytest.raises(InfeasibleStep, match=r"in the way: vertex .* of body 0 and face .* of obstacle"):
        world.step(40)
    assert 0.09 < world.time < 0.1


@pytest.mark.filterwarnings("ignore:friction did not settle")  # no wonder
def test_rows_that_join_in_the_last_pass_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step, "_PASSES", 1)
    world = SoftWorld(dt=0.015, friction=0.4)
    vertices, faces = grid(8, 0.2)
    world.add_cloth((vertices * 0.3, faces), stretch=40, shear=300, bend=2e-4, density=0.2, thickness=0.005)
    world.add_obstacle(shapes.octasphere(2).transformed(scale=0.05))
    for _ in range(25):
        world.step()
        assert len(world.last.held.forces) == len(world.last.held.targets)


def test_a_body_may_be_added_after_steps_of_bdf2() -> None:
    world = SoftWorld(integrator="bdf2")
    points = np.linspace([0, 0, 0], [0.5, 0, 0], 11)
    world.add_cable(points, **ROPE)
    world.step(2)
    world.add_cable(points + [0, 0, 1], **ROPE)
    world.step(3)
    assert world.positions.shape == (22, 3)


def test_words_of_numpy_are_words(tmp_path: Path) -> None:
    world = SoftWorld(integrator=np.str_("bdf2"))
    world.add_cable(np.linspace([0, 0, 0], [0.5, 0, 0], 3), **ROPE)
    world.step()
    world.save(tmp_path / "world.h5")
    assert SoftWorld.load(tmp_path / "world.h5").integrator == "bdf2"
