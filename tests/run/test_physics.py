"""What is known about collisions, friction and conservation, against what a world does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from impinge.response import Material
from impinge.run import World

K, RHO, R = 1e5, 2500.0, 0.01
MASS = RHO * 4 / 3 * math.pi * R**3
FREE = (0.0, 0.0, 0.0)


def two_spheres(material: Material, gap: float, speed: float, dt: float | str, ratio: float = 1.0, **options) -> World:
    """Two spheres that meet head on, the second one with `ratio` times the mass, seen from their centre of mass."""
    world = World(gravity=FREE, dt=dt, threads=1, **options)
    other = R * ratio ** (1 / 3)
    share = ratio / (1 + ratio)
    world.add_spheres(
        [[0, 0, 0], [R + other + gap, 0, 0]],
        [R, other],
        material,
        velocities=[[speed * share, 0, 0], [-speed * (1 - share), 0, 0]],
    )
    return world


def approach(world: World) -> float:
    """Speed at which two spheres part."""
    velocities = world.spheres.velocities[:, 0]
    return float(velocities[1] - velocities[0])


def contact_time(ratio: float = 1.0) -> float:
    return math.pi * math.sqrt(MASS * ratio / (1 + ratio) / K)


class TestOrder:
    @pytest.mark.parametrize("integrator", ["velocity", "position", "position-central"])
    def test_within_an_undamped_contact_it_is_two(self, integrator):
        """δ(t) = δ₀ cos ωt + v₀/ω sin ωt, until two thirds of the contact."""
        omega, depth, speed = math.pi / contact_time(), 1e-4, 0.1
        until = 0.3 * contact_time()
        errors = []
        for steps in (50, 100, 200, 400):
            world = two_spheres(Material(RHO, stiffness=K), -depth, speed, until / steps, integrator=integrator)
            world.step(steps)
            x = world.spheres.centres[:, 0]
            exact = depth * math.cos(omega * until) + speed / omega * math.sin(omega * until)
            errors.append(abs(2 * R - (x[1] - x[0]) - exact))
        orders = np.log2(np.array(errors[:-1]) / errors[1:])
        assert orders == pytest.approx(2.0, abs=0.05)

    @pytest.mark.parametrize(("integrator", "order"), [("velocity", 2), ("position", 1), ("position-central", 2)])
    def test_within_a_damped_contact(self, integrator, order):
        """[FACTS 3.1]: the paper's backward velocity costs an order, the central one does not."""
        damping = 0.2 * math.sqrt(K * MASS / 2)
        material = Material(RHO, stiffness=K, damping=damping)
        m = MASS / 2
        beta = damping / (2 * m)
        omega = math.sqrt(K / m - beta**2)
        depth, speed, until = 1e-4, 0.1, 0.3 * contact_time()
        a, b = depth, (speed + beta * depth) / omega
        exact = math.exp(-beta * until) * (a * math.cos(omega * until) + b * math.sin(omega * until))
        errors = []
        for steps in (100, 200, 400):
            world = two_spheres(material, -depth, speed, until / steps, integrator=integrator)
            world.step(steps)
            x = world.spheres.centres[:, 0]
            errors.append(abs(2 * R - (x[1] - x[0]) - exact))
        orders = np.log2(np.array(errors[:-1]) / errors[1:])
        assert orders == pytest.approx(order, abs=0.1)

    @pytest.mark.parametrize(("restitution", "factor"), [(1.0, 100.0), (0.6, 8.0)])
    def test_over_whole_collisions(self, restitution, factor):
        """The largest error over 32 phases of the first touch within a step, for dt and dt/16."""
        material = Material(RHO, stiffness=K, restitution=restitution)
        envelope = []
        for steps in (50, 800):
            dt = contact_time() / steps
            errors = []
            for phase in range(32):
                world = two_spheres(material, (phase + 0.5) / 32 * 0.5 * dt, 0.5, dt)
                world.step(int(steps * 1.3) + 3)
                errors.append(abs(approach(world) - restitution * 0.5))
            envelope.append(max(errors))
        assert envelope[0] > factor * envelope[1]


class TestCollisions:
    @pytest.mark.parametrize("ratio", [1.0, 10.0, 1000.0])
    @pytest.mark.parametrize("restitution", [0.3, 0.6, 0.9])
    @pytest.mark.parametrize("law", [{"stiffness": K}, {"young": 1e7}])
    def test_restitution(self, ratio, restitution, law):
        material = Material(RHO, restitution=restitution, **law)
        auto = two_spheres(material, 1e-5, 0.5, "auto", ratio)
        tight = 0.02
        for dt in ("auto", auto.dt / 20):
            world = two_spheres(material, 1e-5, 0.5, dt, ratio)
            while world.spheres.velocities[0, 0] > 0 or len(world.contacts().depths):
                world.step(200)
            assert approach(world) / 0.5 == pytest.approx(restitution, abs=tight)
            tight = 1e-3

    def test_duration_by_hertz(self):
        material = Material(RHO, young=1e7, poisson=0.25)
        modulus, speed = 1e7 / (2 * (1 - 0.25**2)), 0.3
        expected = 2.9432 * (15 * MASS / 2 / (16 * modulus * math.sqrt(R / 2))) ** 0.4 * speed**-0.2
        world = two_spheres(material, 0.0, speed, expected / 2000)
        world.step(1)
        assert len(world.contacts().depths) == 1
        while len(world.contacts().depths):
            world.step(1)
        assert world.time == pytest.approx(expected, rel=2e-3)

    def test_plastic_rebound(self):
        """E = √(k₁/k₂), and what is lost is dissipated."""
        material = Material(RHO, stiffness=K, unloading=4 * K)
        world = two_spheres(material, 1e-6, 0.5, contact_time() / 2000)
        before = world.energy()
        world.step(4000)
        after = world.energy()
        assert approach(world) / 0.5 == pytest.approx(0.5, rel=1e-3)
        assert after.dissipated == pytest.approx(0.75 * before.kinetic, rel=2e-3)
        assert after.total == pytest.approx(before.total, rel=2e-3)

    def test_cohesion_holds_spheres_together(self):
        """Pulled apart by less than 2π w R they stay in contact, by more they do not."""
        for share, holds in ((0.9, True), (1.1, False)):
            pull = 2 * math.pi * 0.05 * R * share
            world = World(gravity=(0, 0, -pull / MASS), threads=1)
            material = Material(RHO, stiffness=K, restitution=0.05, cohesion=0.05)
            world.add_plane([0, 0, R], [0, 0, -1])
            world.add_spheres([[0, 0, 1e-9]], R, material)
            world.run(until=0.05)
            assert (world.spheres.centres[0, 2] > -1e-4) == holds


class TestFriction:
    def test_sliding_becomes_rolling(self):
        """[FACTS]: 2/7 of the speed is lost until the sphere rolls."""
        material = Material(RHO, stiffness=K, restitution=0.5, friction=0.3)
        world = World(threads=1)
        world.add_plane([0, 0, 0], [0, 0, 1])
        sag = MASS * 9.81 / K
        world.add_spheres([[0, 0, R - sag]], R, material, velocities=[0.5, 0, 0])
        before = world.energy().total
        world.run(until=0.3)
        spheres = world.spheres
        assert spheres.velocities[0, 0] == pytest.approx(0.5 * 5 / 7, rel=2e-3)
        assert spheres.spins[0, 1] * R == pytest.approx(0.5 * 5 / 7, rel=2e-3)
        assert world.energy().total == pytest.approx(before, rel=1e-3)

    @pytest.mark.parametrize("law", [{"stiffness": K}, {"young": 5e7}])
    def test_rolling_down_a_slope(self, law):
        """5/7 g sin α while friction suffices, g (sin α − µ cos α) while it slides: tan α against 7/2 µ."""
        for share, slides in ((0.8, False), (1.2, True)):
            mu = 0.2
            alpha = math.atan(3.5 * mu * share)
            world = World(gravity=(9.81 * math.sin(alpha), 0, -9.81 * math.cos(alpha)), threads=1)
            world.add_plane([0, 0, 0], [0, 0, 1])
            material = Material(RHO, restitution=0.5, friction=mu, **law)
            world.add_spheres([[0, 0, R * (1 - 1e-4)]], R, material)
            world.run(until=0.15)
            start, t0 = world.spheres.velocities[0, 0], world.time
            world.run(until=0.45)
            found = (world.spheres.velocities[0, 0] - start) / (world.time - t0)
            g = 9.81
            expected = g * (math.sin(alpha) - mu * math.cos(alpha)) if slides else 5 / 7 * g * math.sin(alpha)
            assert found == pytest.approx(expected, rel=2e-3)

    def test_rolling_resistance_stops_a_rolling_sphere(self):
        material = Material(RHO, stiffness=K, restitution=0.3, friction=0.5, rolling=0.05)
        world = World(threads=1)
        world.add_plane([0, 0, 0], [0, 0, 1])
        world.add_spheres([[0, 0, R - MASS * 9.81 / K]], R, material, velocities=[0.1, 0, 0], spins=[0, 0.1 / R, 0])
        before = world.energy().total
        world.run(until=1.0)
        assert abs(world.spheres.velocities[0, 0]) < 1e-4
        assert world.energy().total == pytest.approx(before, rel=1e-3)


class TestConservation:
    def cloud(self, material: Material, **options) -> World:
        rng = np.random.default_rng(3)
        n = 6
        world = World(gravity=FREE, threads=1, **options)
        grid = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1).reshape(-1, 3)
        centres = (grid + 0.5) * 2.05 * R + rng.uniform(-1, 1, (n**3, 3)) * 0.02 * R
        velocities, spins = rng.normal(size=(n**3, 3)), rng.normal(size=(n**3, 3)) * 50
        world.add_spheres(centres, R * rng.uniform(0.6, 1.0, n**3), material, velocities, spins)
        return world

    def test_linear_momentum_in_a_periodic_box(self):
        material = Material(RHO, stiffness=K, restitution=0.7, friction=0.5)
        world = self.cloud(material, box=[6 * 2.05 * R] * 3, periodic=True)

        def momentum():
            s = world.spheres
            return (s.masses[:, None] * s.velocities).sum(axis=0)

        before = momentum()
        scale = (world.spheres.masses[:, None] * np.abs(world.spheres.velocities)).sum()
        world.step(2000)
        assert len(world.contacts().depths) > 10
        assert np.abs(momentum() - before).max() < 1e-13 * scale

    def test_angular_momentum_in_free_space(self):
        world = self.cloud(Material(RHO, stiffness=K, restitution=0.7, friction=0.5))

        def angular():
            s = world.spheres
            spin = 0.4 * s.masses[:, None] * s.radii[:, None] ** 2 * s.spins
            return (np.cross(s.centres, s.masses[:, None] * s.velocities) + spin).sum(axis=0)

        before = angular()
        s = world.spheres
        scale = (s.masses * np.linalg.norm(s.centres, axis=1) * np.linalg.norm(s.velocities, axis=1)).sum()
        world.step(2000)
        assert world.energy().dissipated > 0
        assert np.abs(angular() - before).max() < 1e-12 * scale

    @pytest.mark.parametrize(
        "law",
        [
            {"stiffness": K},
            {"stiffness": K, "restitution": 0.5, "friction": 0.4, "rolling": 0.1},
            {"stiffness": K, "unloading": 3 * K, "friction": 0.4},
            {"young": 5e6, "restitution": 0.8, "friction": 0.3},
        ],
    )
    def test_energy_is_accounted_for(self, law):
        world = self.cloud(Material(RHO, **law))
        world.add_box([0, 0, 0], [12.3 * R] * 3)
        before = world.energy()
        world.step(2000)
        after = world.energy()
        assert after.total == pytest.approx(before.total, rel=2e-3)
        assert (after.dissipated > 0.01 * before.total) == (len(law) > 1)

    def test_work_of_a_moving_wall(self):
        world = World(gravity=FREE, threads=1)
        world.add_plane([0, 0, 0], [1, 0, 0], velocity=[0.5, 0, 0])
        world.add_spheres([[1.5 * R, 0, 0]], R, Material(RHO, stiffness=K))
        world.run(until=0.1)
        assert world.spheres.velocities[0, 0] == pytest.approx(1.0, rel=1e-3)
        energy = world.energy()
        assert energy.work == pytest.approx(0.5 * MASS, rel=2e-3)
        assert energy.total == pytest.approx(0.0, abs=1e-3 * energy.work)


def test_a_wall_under_load_finds_its_balance():
    """A plate pressed on three spheres sinks in until they carry the load."""
    world = World(gravity=FREE, threads=1)
    material = Material(RHO, stiffness=K, restitution=0.2)
    world.add_plane([0, 0, 0], [0, 0, 1])
    world.add_spheres([[0, 0, R], [0.05, 0, R], [0, 0.05, R]], R, material)
    top = world.add_plane([0, 0, 2 * R], [0, 0, -1], load=3.0, name="top")
    world.run(until=0.2)
    assert top.push.force[2] == pytest.approx(3.0, rel=1e-3)
    assert top.point[2] == pytest.approx(2 * R - 2 * 1.0 / K, rel=1e-6)
