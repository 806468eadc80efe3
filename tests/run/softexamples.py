"""Scenes of cables and cloth in examples/: small versions of them, and what each is there to show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.run.scene import softmodels
from impinge.run.soft import SoftWorld
from impinge.shapes import read_mesh

from . import examples
from .softjudge import Judge, linking_number
from .softknots import determinant

Floats = NDArray[np.float64]


@dataclass
class Seen:
    """An example that has been run and judged, with what was looked at on the way."""

    scene: softmodels.Soft
    world: SoftWorld
    judge: Judge
    start: Floats
    largest_strain: dict[str, float] = field(default_factory=dict)  # of edges, by the names of bodies
    lowest: float = np.inf  # height of any node
    growth: float = -np.inf  # of energy in a step, J, less the work of what is driven and of recovery

    def __post_init__(self) -> None:
        self._energy = own_energy(self.world)

    def of(self, name: str) -> Floats:
        """Where the nodes of a body are."""
        return self.world.positions[self.world.bodies[self.scene.body_names.index(name)].nodes]

    def look(self) -> None:
        self.judge.look()
        self.lowest = min(self.lowest, float(self.world.positions[:, 2].min()))
        before, self._energy = self._energy, own_energy(self.world)
        self.growth = max(self.growth, self._energy - before)
        strains = self.world.strains()
        for name, body in zip(self.scene.body_names, self.world.bodies, strict=True):
            self.largest_strain[name] = max(self.largest_strain.get(name, 0.0), float(strains[body.edges].max()))


def own_energy(world: SoftWorld) -> float:
    """Energy, less what has been done to the world since its start, J."""
    energy = world.energy()
    return sum(energy.values()) - 2 * (energy["driven"] + energy["recovery"])


def run(name: str, changes: Mapping[str, Any] = MappingProxyType({}), threads: int | None = 1) -> Seen:
    """Run an example to its end, and judge all of its steps."""
    scene = examples.scene(name, changes, softmodels.Soft)
    assert isinstance(scene.model, softmodels.Soft)
    world = scene.build(threads)
    assert isinstance(world, SoftWorld)
    seen = Seen(scene.model, world, Judge(world), world.positions)
    while world.time < scene.model.run.until * (1 - 1e-12):
        world.step()
        seen.look()
    return seen


# What they show


def check_pulley(seen: Seen) -> None:
    """The cable has slid off, and falls; it was stiff."""
    x = seen.of("cable")
    assert x[:, 2].max() < 0.05
    assert x[:, 2].min() < -0.6
    assert seen.largest_strain["cable"] < 0.005


def check_cylinder(seen: Seen) -> None:
    """The cable hangs over the cylinder: on both sides of it, and below its top."""
    cable = seen.scene.bodies[0]
    assert isinstance(cable, softmodels.Cable)
    x, centre = seen.of("cable"), np.array([0.04, 0, 0.1])
    longest = np.linalg.norm(np.diff(seen.start, axis=0), axis=1).max()
    assert cable.stretch / longest > 1e5  # N/m, of each segment
    assert (np.linalg.norm((x - centre)[:, [0, 2]], axis=1) > 0.1).all()
    top = x[np.abs(x[:, 0] - centre[0]) < 0.03]
    assert (top[:, 2] > 0.2).all()
    for side in (x[: len(x) // 3], x[-len(x) // 3 :]):
        assert side[:, 2].min() < 0.05
    assert seen.largest_strain["cable"] < 0.01


def check_sphere(seen: Seen) -> None:
    """The cloth hangs around the ball, and has come to rest."""
    x = seen.of("cloth")
    assert (np.linalg.norm(x, axis=1) > 0.3).all()
    assert x[:, 2].max() < 0.32
    assert x[:, 2].min() < 0.0
    assert np.abs(seen.world.velocities).max() < 1.0
    assert seen.world.energy()["kinetic"] < 0.05 * 0.2 * 9.81 * 0.3


def layers(x: Floats, faces: Any) -> NDArray[np.int64]:
    """How many faces are above each of many points of the floor that have any above them."""
    lower, upper, spacing = x[:, :2].min(axis=0), x[:, :2].max(axis=0), 0.004
    places = np.meshgrid(*(np.arange(a + 0.37 * spacing, b, spacing) for a, b in zip(lower, upper, strict=True)))
    count = np.zeros(places[0].shape, np.int64)
    for corners in x[faces][:, :, :2]:
        sides = [
            (q[0] - p[0]) * (places[1] - p[1]) - (q[1] - p[1]) * (places[0] - p[0])
            for p, q in zip(corners, np.roll(corners, -1, axis=0), strict=True)
        ]
        count += np.all(np.array(sides) > 0, axis=0) | np.all(np.array(sides) < 0, axis=0)
    return count[count > 0]


def check_fold(seen: Seen) -> None:
    """Three layers or more above half of what the ribbon covers."""
    cloth = seen.world.surface.faces
    found = layers(seen.of("ribbon"), cloth[cloth.max(axis=1) < len(seen.world.positions)])
    assert (found >= 3).mean() > 0.5
    assert seen.lowest > 0


def check_knot(seen: Seen) -> None:
    """The knot is still one, and tight: the rope is straight but for a small part."""
    x = seen.of("rope")
    assert determinant(seen.start) == determinant(x) == 3
    assert determinant(np.linspace(x[0], x[-1], 9)) == 1  # of a rope without a knot
    thickness, length = 2 * 5e-3, np.linalg.norm(np.diff(x, axis=0), axis=1).sum()
    apart = np.linalg.norm(x[-1] - x[0])
    along = (x[-1] - x[0]) / apart
    place = (x - x[0]) @ along
    aside = np.linalg.norm(x - x[0] - place[:, None] * along, axis=1) > 0.5 * thickness
    assert 2 * thickness < np.ptp(place[aside]) < 8 * thickness
    assert 0.8 * length < apart < 0.95 * length
    assert len(seen.world.contacts()) > 3


def check_drag(seen: Seen) -> None:
    """All of the cloth has passed under the cylinder: it was before it and above it, and is behind it and below."""
    x, until = seen.of("cloth"), seen.scene.run.until
    centre = -0.04 - 0.2 * until
    assert seen.start[:, 2].max() > 0.4
    assert (x[:, 0] > centre).all()
    assert (x[:, 2] < 0.007).all()
    assert seen.lowest > 0


def check_catch(seen: Seen) -> None:
    """The shackle hangs in the rope, which was never stretched by more than its limit, but up to it."""
    assert 0.0999 < seen.largest_strain["rope"] < 0.1001
    shackle, rope = seen.of("shackle"), seen.of("rope")
    speed = seen.world.velocities[seen.world.bodies[1].nodes].mean(axis=0)
    assert np.abs(speed).max() < 0.5
    assert -0.6 < shackle[:, 2].mean() < -0.3
    assert rope[:, 2].min() > shackle[:, 2].min()
    closed = np.concatenate([rope, [rope[-1] + [0, 0, 5], rope[0] + [0, 0, 5]]])  # around all that moves
    assert round(abs(linking_number(closed, shackle))) == 1


def check_hanging(seen: Seen) -> None:
    """It hangs at rest by its corners, and its form is that of the mesh which another example has as an obstacle."""
    x, form = seen.of("cloth"), read_mesh(examples.FOLDER / "demo-cloth.ply").vertices
    assert np.ptp(x[:, :2], axis=0) == pytest.approx(np.ptp(form[:, :2], axis=0), abs=5e-3)
    assert x[:, 2].max() == pytest.approx(form[:, 2].max(), abs=5e-3)
    assert x[:, 2].min() == pytest.approx(form[:, 2].min(), abs=5e-3)
    assert np.abs(seen.world.velocities[:, 2]).max() < 0.1
    if len(x) == len(form):
        np.testing.assert_allclose(x, form, atol=1e-4)


CHECKS: dict[str, Callable[[Seen], None]] = {
    "demo-cloth": check_hanging,
    "cable-catch": check_catch,
    "cable-cylinder": check_cylinder,
    "cable-knot": check_knot,
    "cable-pulley": check_pulley,
    "cloth-drag": check_drag,
    "cloth-fold": check_fold,
    "cloth-sphere": check_sphere,
}
