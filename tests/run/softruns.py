"""Cables and cloths thrown at each other and at moving obstacles, and linked rings: runs drawn at random, and judged.

    python -m tests.run.softruns 200
    python -m tests.run.softruns 1 17 42

judges so many, or those of the numbers that follow, and says how each went.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.motion import Motion
from impinge.errors import ImpingeError, InputError
from impinge.run.soft import SoftWorld
from impinge.shapes import Mesh, box, cylinder, icosphere

from ..bodies.soft_bodies import sheet
from .softjudge import Judge

Floats = NDArray[np.float64]

SEED = 20261207
KINDS = ("thrown", "obstacle", "linked", "driven")
_TRIES = 50  # draws until nothing touches at the start


@dataclass
class Verdict:
    """How a run went."""

    number: int
    kind: str
    about: str
    steps: int
    scaled: int
    touched: int  # steps in which forces of contact act
    failures: list[str]
    seconds: float

    def __str__(self) -> str:
        how = "; ".join(self.failures[:3]) or "free"
        return (
            f"{self.number:4d} {self.kind} {self.about}: {self.steps} steps, {self.scaled} scaled, "
            f"{self.touched} with contact, {self.seconds:.2f} s: {how}"
        )


def judge(number: int, seed: int = SEED) -> Verdict:
    """One run."""
    start, draw = time.perf_counter(), Draw(number, seed)
    world = draw.world()
    judged, touched = Judge(world), 0
    try:
        for _ in range(draw.steps):
            world.step()
            judged.look()
            touched += len(world.contacts().forces) > 0
    except ImpingeError as error:
        judged.failures.append(f"stopped by {type(error).__name__}: {error}")
    seconds = time.perf_counter() - start
    return Verdict(number, draw.kind, draw.about(), world.steps, world.scaled_steps, touched, judged.failures, seconds)


class Draw:
    """The numbers of a run, and its world.

    Bodies lie in layers above each other, not flat, and fly towards their middle; then all is turned at random. A layer
    may be an obstacle. Speeds are given in thicknesses per step, stiffness in N.
    """

    def __init__(self, number: int, seed: int = SEED) -> None:
        self.rng = rng = np.random.default_rng([seed, number])
        self.kind = KINDS[number % len(KINDS)]
        self.size = 10 ** rng.uniform(-1.5, 0.5)
        self.thickness = self.size * 10 ** rng.uniform(-2.7, -1.3)
        self.dt = 10 ** rng.uniform(-3.5, -1.7)
        self.travel = 10 ** rng.uniform(-0.5, 2)  # thicknesses per step, towards each other
        self.stiffness = 10 ** rng.uniform(0, 6)  # N
        self.mass = 10 ** rng.uniform(-2.5, 0)  # kg, of each body
        self.integrator = str(rng.choice(["implicit-euler", "bdf2", "explicit"], p=[0.5, 0.35, 0.15]))
        self.damping = float(rng.choice([0.0, 0.1, 2.0])) * self.dt
        self.steps = int(rng.integers(20, 41))
        if self.integrator == "explicit":  # a cable of the finest segments, and a cloth of the same force, are stable
            self.damping = 0.0
            self.travel = min(self.travel, 0.05 * self.size / self.thickness)
            self.dt = min(self.dt, 0.02 * np.sqrt(self.mass * self.size / self.stiffness))
        self.turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        self.turn *= np.linalg.det(self.turn)

    def about(self) -> str:
        """The numbers in words."""
        return (
            f"{self.integrator} size {self.size:.2g} thickness {self.thickness:.2g} dt {self.dt:.2g} "
            f"travel {self.travel:.2g} stiffness {self.stiffness:.2g} mass {self.mass:.2g} damping {self.damping:.2g}"
        )

    def world(self) -> SoftWorld:
        """The world at its start, in which nothing touches."""
        for _ in range(_TRIES):
            world = SoftWorld(self.rng.choice([0.0, 9.81]) * self.turn[2], self.dt, self.integrator, threads=1)
            if self.kind == "linked":
                self._add_chain(world)
            else:
                self._add_layers(world)
            try:
                world.check()
            except InputError:
                continue
            return world
        raise AssertionError(f"{self.about()}: no start in which nothing touches")

    # Bodies

    def _add_layers(self, world: SoftWorld) -> None:
        """Some bodies above each other, and perhaps an obstacle below them or between them."""
        count = int(self.rng.integers(1, 4)) if self.kind == "obstacle" else int(self.rng.integers(2, 7))
        speed = self.travel * self.thickness / self.dt
        obstacle = int(self.rng.integers(0, count + 1)) if self.kind == "obstacle" else -1
        last, height, aside = count - 1 + (obstacle >= 0), 0.0, min(0.3 * speed, 0.03 * self.size / self.dt)
        for layer in range(last + 1):
            velocity = self.turn @ np.array([*(aside * self.rng.normal(size=2)), speed * (1 - 2 * layer / last)])
            if layer == obstacle:
                height = self._add_obstacle(world, velocity, height)
            else:
                height = self._add_body(world, velocity, height)
            height += self.thickness * (self.rng.uniform(1.1, 3) + self.travel * self.rng.uniform(0, 4))
        if self.kind == "driven":  # nodes of one body go on by themselves, whatever is there: all others are free
            nodes = self.rng.choice(world.bodies).nodes
            some = self.rng.choice(np.arange(nodes.start, nodes.stop), int(self.rng.integers(1, 3)), replace=False)
            world.fix(some, 0.5 * speed * self.rng.normal(size=3))

    def _add_body(self, world: SoftWorld, velocity: Floats, height: float) -> float:
        """Above a height; returns how high it reaches."""
        is_cloth = self.rng.random() < 0.4
        x, faces = self._sheet() if is_cloth else (self._curve(), None)
        x[:, :2] += 0.1 * self.size * self.rng.normal(size=2)
        x[:, 2] += height - x[:, 2].min()
        top, placed = float(x[:, 2].max()), x @ self.turn.T
        common: Any = {"damping": self.damping, "velocity": velocity}
        if faces is None:
            self._add_cable(world, placed, velocity, closed=bool(self.rng.random() < 0.3 and len(x) > 4))
        else:
            per_width, area = self.stiffness / self.size, 0.36 * self.size**2
            world.add_cloth(
                (placed, faces), thickness=self.thickness, stretch=per_width, shear=0.3 * per_width,
                bend=float(self.rng.choice([0.0, 0.1])) * per_width * self.thickness**2, density=self.mass / area,
                drag=float(self.rng.choice([0.0, 0.1])) * self.mass / area / self.dt, **common,
            )  # fmt: skip
        return top

    def _add_cable(self, world: SoftWorld, x: Floats, velocity: Floats, *, closed: bool) -> None:
        bend = float(self.rng.choice([0.0, 0.1])) * (self.integrator != "explicit")
        drag = float(self.rng.choice([0.0, 0.1])) * self.mass / self.size / self.dt
        world.add_cable(
            x, radius=0.5 * self.thickness, stretch=self.stiffness, bend=bend * self.stiffness * self.thickness**2,
            mass_per_length=self.mass / self.size, damping=self.damping, drag=drag, closed=closed, velocity=velocity,
        )  # fmt: skip

    def _sheet(self) -> tuple[Floats, Any]:
        """A wavy one."""
        nodes = self.rng.integers(3, 10, 2)
        x, faces = sheet(*nodes, 0.6 * self.size, 0.6 * self.size, "alternating")
        phase, waves = self.rng.uniform(0, 6, 2), self.rng.uniform(0, 6 / self.size, 2)
        x = x - [0.3 * self.size, 0.3 * self.size, 0.0]
        x[:, 2] = 0.05 * self.size * self.rng.random() * np.sin(x[:, :2] * waves + phase).sum(axis=1)
        return x, faces

    def _curve(self) -> Floats:
        """A line, an arc or nearly a ring, slanted a bit."""
        nodes, angle = int(self.rng.integers(4, 26)), self.rng.choice([0.01, self.rng.uniform(1, 5)])
        turn, slant = self.rng.uniform(0, 2 * np.pi), self.rng.normal(size=2)
        t = np.linspace(0, angle, nodes)
        x = np.column_stack([np.sin(t), 1 - np.cos(t), np.zeros(nodes)]) / angle * self.size
        x -= x.mean(axis=0)
        x[:, 2] = 0.1 * x[:, :2] @ slant
        cosine, sine = np.cos(turn), np.sin(turn)
        return x @ np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]])

    def _add_chain(self, world: SoftWorld) -> None:
        """Rings, each through the next, that fly apart or into each other."""
        speed, radius = self.travel * self.thickness / self.dt, 0.3 * self.size
        for link in range(int(self.rng.integers(2, 6))):
            nodes = int(self.rng.integers(6, 21))
            angle = np.linspace(0, 2 * np.pi, nodes, endpoint=False)[:, None] + self.rng.uniform(0, 6)
            first = np.array([1.0, 0, 0])
            second = np.array([[0, 1.0, 0], [0, 0, 1.0]][link % 2]) + 0.2 * self.rng.normal(size=3)
            x = np.array([1.3 * radius * link, 0, 0]) + radius * (np.cos(angle) * first + np.sin(angle) * second)
            velocity = self.turn @ (0.5 * speed * self.rng.normal(size=3))
            self._add_cable(world, x @ self.turn.T, velocity, closed=True)

    # Obstacles

    def _add_obstacle(self, world: SoftWorld, velocity: Floats, height: float) -> float:
        """Above a height; it moves and turns."""
        shape = self.rng.integers(0, 4)
        size = 0.3 * self.size * self.rng.uniform(0.5, 1)
        flat = Mesh(size * np.array([[-2, -2, 0], [2, -2, 0], [2, 2, 0], [-2, 2, 0]]), [[0, 1, 2], [0, 2, 3]])
        made = [icosphere(1, size), box([size, 2 * size, 1.5 * size]), cylinder(size, 2 * size, 10), flat][shape]
        tilt = np.linalg.qr(self.rng.normal(size=(3, 3)))[0]
        x = made.vertices @ (tilt * np.linalg.det(tilt)).T
        x = x - [*x[:, :2].mean(axis=0), x[:, 2].min() - height]
        mesh = Mesh(x @ self.turn.T, made.faces)
        spin = float(self.rng.choice([0.0, 0.3])) * self.travel * self.thickness / self.dt / size
        rotation = (tuple(spin * self.turn[0]), tuple(mesh.vertices.mean(axis=0)))
        world.add_obstacle(mesh, Motion(tuple(velocity), rotation), float(self.rng.choice([0.0, self.thickness])))
        return float(x[:, 2].max())


def judge_some(numbers: Iterable[int], tell: Callable[[Verdict], None]) -> list[Verdict]:
    """Runs of these numbers."""
    verdicts = []
    for number in numbers:
        verdicts.append(judge(number))
        tell(verdicts[-1])
    return verdicts


def share_scaled(verdicts: list[Verdict]) -> float:
    """How many of all steps were scaled down, as a share."""
    return sum(verdict.scaled for verdict in verdicts) / sum(verdict.steps for verdict in verdicts)


if __name__ == "__main__":
    first, *more = map(int, sys.argv[1:])
    verdicts = judge_some(more or range(first), print)
    bad = sum(bool(verdict.failures) for verdict in verdicts)
    print(f"{bad} of {len(verdicts)} fail; {100 * share_scaled(verdicts):.2f} % of the steps are scaled down")
