"""Worlds: what they hold, what they refuse, and that nothing but the physics decides their bits."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import impinge
from impinge import Material, Motion, Rain, World, shapes
from impinge.errors import InputError, RunError, RunWarning
from tests.run.worlds import ROUGH, R, bits, busy_world, lattice


class TestBits:
    """Neither threads, nor searches, nor lists, nor how a run is cut change a bit."""

    STEPS = 400

    @pytest.fixture(scope="class")
    @classmethod
    def expected(cls):
        world = busy_world(threads=1)
        world.step(cls.STEPS)
        assert world.energy().dissipated > 0
        assert world.statistics.rebuilds > 2
        return bits(world)

    @pytest.mark.parametrize("search", ["brute", "verlet", "cells", "sweep", "levels"])
    def test_searches(self, search, expected):
        world = busy_world(threads=1, search=search)
        world.step(self.STEPS)
        assert bits(world) == expected

    @pytest.mark.parametrize("skin", [0.0, 1e-4, 5e-3])
    def test_skins(self, skin, expected):
        world = busy_world(threads=1, skin=skin)
        world.step(self.STEPS)
        assert bits(world) == expected

    @pytest.mark.parametrize("threads", [1, 2, 4])
    def test_threads(self, threads, expected, tmp_path):
        """In a Python of its own, as the number of cores limits that of threads."""
        code = (
            "from tests.run.worlds import *\n"
            f"world = busy_world(threads={threads}); world.step({self.STEPS})\n"
            f"open({str(tmp_path / 'bits')!r}, 'wb').write(bits(world))"
        )
        env = {**os.environ, "NUMBA_NUM_THREADS": "4"}
        subprocess.run([sys.executable, "-c", code], check=True, env=env)
        assert (tmp_path / "bits").read_bytes() == expected

    def test_cuts_and_looks(self, expected):
        world = busy_world(threads=1)
        for count in (1, 2, 0, 7, 90, 300):
            world.step(count)
            world.energy(), world.contacts(), world.spheres, world.pushes()
        assert bits(world) == expected

    @pytest.mark.parametrize("cut", [0, 1, 137, 399])
    def test_files(self, cut, expected, tmp_path):
        world = busy_world(threads=1)
        world.step(cut)
        world.save(tmp_path / "world.h5")
        again = World.load(tmp_path / "world.h5", threads=1)
        assert bits(again) == bits(world)
        again.step(self.STEPS - cut)
        assert bits(again) == expected
        again.save(tmp_path / "again.h5")
        world.step(self.STEPS - cut)
        world.save(tmp_path / "world.h5")
        assert (tmp_path / "again.h5").read_bytes() == (tmp_path / "world.h5").read_bytes()

    @pytest.mark.parametrize("integrator", ["position", "position-central"])
    def test_other_integrators(self, integrator):
        worlds = [busy_world(threads=t, integrator=integrator, search=s) for t, s in ((1, "cells"), (2, "sweep"))]
        for world in worlds:
            world.step(150)
        assert bits(worlds[0]) == bits(worlds[1])

    def test_order_of_adding_does_not_change_single_spheres(self):
        """Action and reaction are equal to the last bit: two spheres mirror each other."""
        world = World(gravity=(0, 0, 0), threads=1)
        world.add_spheres([[-R, 1e-3, 0], [R, -1e-3, 0]], 1.01 * R, ROUGH, [[0.3, 0.1, 0], [-0.3, -0.1, 0]])
        world.step(500)
        s = world.spheres
        assert (s.velocities[0] == -s.velocities[1]).all()
        assert s.spins[0] == pytest.approx(s.spins[1], rel=1e-12)


class TestChanges:
    """Worlds may change while they run: laws, spheres and walls that come later."""

    SMOOTH = Material(2500, stiffness=1e3, restitution=0.5)
    ROUGH = Material(2500, stiffness=1e3, restitution=0.5, friction=0.3)

    def heap(self, material: Material) -> World:
        world = World(threads=1)
        world.add_box([0, 0, 0], [0.1, 0.1, 0.1])
        centres, radii = impinge.fill_random([0, 0, 0], [0.1, 0.1, 0.08], 0.0047, count=1000, seed=1)
        world.add_spheres(centres, radii, material)
        world.step(300)
        return world

    @pytest.mark.parametrize("how", ["spheres", "law"])
    def test_friction_that_comes_later(self, how):
        world = self.heap(self.SMOOTH)
        before = world.energy().total
        if how == "law":
            world.set_contact(self.SMOOTH, self.SMOOTH, self.ROUGH)
        else:
            ids = world.add_spheres([[0.05, 0.05, 0.094]], 0.005, self.ROUGH)
            world.remove(ids)
        world.step(300)
        assert world.energy().total == pytest.approx(before, rel=1e-2)

    def test_a_shorter_time_step_after_a_file(self, tmp_path):
        """Adding a lighter sphere changes dt: what is there is brought to one time first, by the laws it has."""
        ends = []
        for via_file in (False, True):
            world = World(threads=1)
            world.add_plane([0, 0, 0], [0, 0, 1])
            world.add_spheres([[0, 0, 0.0098]], 0.01, self.ROUGH)
            world.step(100)
            if via_file:
                world.save(tmp_path / "world.h5")
                world = World.load(tmp_path / "world.h5", threads=1)
            world.add_spheres([[0.1, 0, 0.00495]], 0.005, Material(2500, stiffness=1e3, restitution=0.5, poisson=0.2))
            world.step(50)
            ends.append(bits(world))
        assert ends[0] == ends[1]

    def test_damping_that_comes_later_sees_velocities(self):
        ends = []
        for cuts in ([501], [1] * 501):
            world = World(threads=1)
            free, lossy = Material(2500, stiffness=1e3), Material(2500, stiffness=1e3, restitution=0.3)
            world.add_plane([0, 0, 0], [0, 0, 1])
            world.add_spheres([[0, 0, 0.0101], [0.1, 0, 0.05]], 0.01, free)
            for count in cuts:
                world.step(count)
                if len(cuts) > 1:
                    world.energy()
            world.set_contact(free, free, lossy)
            world.step(200)
            ends.append(bits(world))
        assert ends[0] == ends[1]

    def test_plastic_contacts_from_the_start_keep_their_energy(self):
        world = World(gravity=(0, 0, 0), threads=1)
        world.add_spheres([[0, 0, 0], [0.019, 0, 0]], 0.01, Material(2500, stiffness=1e3, unloading=3e3))
        before = world.energy().total
        for _ in range(20):
            world.step(5)
            assert world.energy().total == pytest.approx(before, rel=0.04)  # losses are booked half a step late
        assert len(world.contacts().depths) == 0
        assert world.energy().total == pytest.approx(before, rel=2e-3)

    def test_torque_of_rolling_resistance(self):
        world = World(threads=1)
        material = Material(2500, stiffness=1e3, restitution=0.6, rolling=0.5)
        floor = world.add_plane([0, 0, 0], [0, 0, 1])
        world.add_spheres([[0, 0, 0.00999]], 0.01, material, spins=[0, 30, 0])
        inertia = 0.4 * world.spheres.masses[0] * 0.01**2
        world.run(until=0.02)
        before, torque = world.spheres.spins[0, 1], floor.push.torque[1]
        world.step(1)
        found = inertia * (world.spheres.spins[0, 1] - before) / world.dt
        assert found < 0
        assert torque == pytest.approx(-found, rel=1e-2)

    def test_a_plane_under_load_without_spheres(self):
        """Constant acceleration, to the last digit that the scheme has, however the run is cut."""
        places = []
        for cuts in ([100], [1] * 100):
            world = World(dt=1e-4)
            wall = world.add_plane([0, 0, 1], [0, 0, -1], load=10.0, mass=1.0)
            for count in cuts:
                world.step(count)
            places.append(wall.point[2])
        assert places[0] == places[1] == pytest.approx(1 - 0.5 * 10 * 0.01**2, abs=1e-12)

    def test_names_of_walls_are_never_given_twice(self):
        world = World()
        world.add_plane([0, 0, 0], [0, 0, 1], name="wall 2")
        assert world.add_plane([1, 0, 0], [-1, 0, 0]).name == "wall 3"

    def test_a_plane_behind_a_sphere_that_comes_later(self):
        world = World(threads=1)
        world.add_spheres([[0, 0, 0]], R, ROUGH)
        world.step(5)
        world.add_plane([0, 0, 0.5], [0, 0, 1])
        with pytest.raises(InputError, match="overlap"):
            world.step(1)


class TestFlow:
    def world(self) -> World:
        world = World(threads=1)
        world.add_source(Rain([0, 0, 0.2], [0.2, 0.2, 0.3], ("uniform", 0.5 * R, R), rate=2000, seed=3), ROUGH)
        world.add_plane([0, 0, 0], [0.2, 0, 1])
        world.add_sink([0.2, -1, -1], [2, 1, 1])
        return world

    def test_rain_comes_at_its_rate_and_goes(self):
        world = self.world()
        world.run(until=0.1)
        assert len(world.spheres) == pytest.approx(200, abs=2)
        world.run(until=0.6)
        sink = world.sinks[0]
        assert sink.count > 50
        assert len(world.spheres) + sink.count == pytest.approx(1200, abs=2)
        assert sink.mass > 0

    def test_it_goes_on_from_a_file(self, tmp_path):
        whole, cut = self.world(), self.world()
        whole.step(6000)
        cut.step(4321)
        cut.save(tmp_path / "world.h5")
        again = World.load(tmp_path / "world.h5", threads=1)
        again.step(6000 - 4321)
        assert bits(again) == bits(whole)
        assert (again.sinks[0].count, again.sinks[0].mass) == (whole.sinks[0].count, whole.sinks[0].mass)

    def test_spheres_can_be_removed(self):
        world = World(threads=1)
        ids = world.add_spheres(lattice(3, 3), R, ROUGH)
        world.remove(ids[::2])
        assert (world.spheres.ids == ids[1::2]).all()
        assert (world.add_spheres([[1.0, 1, 1]], R, ROUGH) == [27]).all()
        world.step(10)
        with pytest.raises(InputError, match="ids: found 0"):
            world.remove([0])


class TestWhatItSays:
    def test_time_step(self):
        world = World()
        world.add_spheres([[0, 0, 0]], R, Material(2500, stiffness=1e5))
        mass = 2500 * 4 / 3 * math.pi * R**3
        assert world.dt == pytest.approx(math.pi * math.sqrt(mass / 2 / 1e5) / 50)
        assert "1/50 of the shortest contact" in world.why_dt

    def test_too_long_a_time_step_warns_once_with_the_number(self):
        world = World(dt=1e-3)
        world.add_spheres([[0, 0, 0]], R, Material(2500, stiffness=1e5))
        with pytest.warns(RunWarning, match=r"dt: 0.001 s is 0.72 steps .* expected at most 1.438e-05 s"):
            world.step(1)
        world.step(1)

    def test_spheres_that_are_too_soft_for_their_weight(self):
        world = World()
        world.add_spheres([[0, 0, 0]], R, Material(2500, young=70, poisson=0.2))
        with pytest.warns(RunWarning, match=r"stiffness: found spheres so soft .* young in Pa"):
            world.step(1)
        world.step(1)
        weightless = World(gravity=(0, 0, 0))
        weightless.add_spheres([[0, 0, 0]], R, Material(2500, young=70, poisson=0.2))
        weightless.step(1)

    def test_contacts_and_pushes(self):
        world = World(gravity=(0, 0, 0), threads=1)
        world.add_spheres([[0, 0, 0.9 * R], [0, 0, 2.8 * R]], R, Material(2500, stiffness=1e5))
        floor = world.add_plane([0.1, 0, 0], [0, 0, 2], name="floor")
        contacts = world.contacts()
        assert contacts.ids.tolist() == [[0, 1], [0, -1]]
        assert contacts.walls.tolist() == [-1, 0]
        assert contacts.depths == pytest.approx([0.1 * R, 0.1 * R])
        assert contacts.forces[:, 2] == pytest.approx([-100 * 1, 100 * 1])
        assert contacts.points[1] == pytest.approx([0, 0, 0])
        assert floor.push.force == pytest.approx([0, 0, -100])
        assert floor.push.torque == pytest.approx([0, -0.1 * 100, 0])
        assert world.energy().elastic == pytest.approx(2 * 0.5 * 1e5 * (0.1 * R) ** 2)
        assert world.coordination() == 1.0

    def test_stress_of_a_compressed_lattice(self):
        """Cubic lattice with spacing a, overlap δ: σ = k δ / a² along every axis."""
        n, a = 6, 1.98 * R
        world = World(gravity=(0, 0, 0), box=[n * a] * 3, periodic=True, threads=1)
        grid = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1).reshape(-1, 3) * a
        world.add_spheres(grid, R, Material(2500, stiffness=1e5))
        assert world.stress((n * a) ** 3) == pytest.approx(np.eye(3) * 1e5 * 0.02 * R / a**2, rel=1e-9)
        assert world.coordination() == 6.0

    def test_discs(self):
        world = World(dim=2, threads=1)
        ids = world.add_spheres(lattice(4, 2), R, ROUGH, spins=1.0)
        world.add_box([0, 0], [0.1, 0.2])
        before = world.energy().total
        world.step(2000)
        s = world.spheres
        assert len(ids) == 16
        assert s.centres.shape == (16, 2)
        assert s.spins.shape == (16,)
        assert s.masses[0] == pytest.approx(2500 * math.pi * R**2)
        assert world.energy().total == pytest.approx(before, rel=1e-3)
        assert world.contacts().points.shape[1] == 2

    def test_rolling_over_triangles_is_rolling_over_a_plane(self):
        rng = np.random.default_rng(0)
        n = 12
        x, y = np.meshgrid(np.linspace(-0.05, 0.25, n), np.linspace(-0.05, 0.05, n), indexing="ij")
        inner = (np.abs(np.arange(n) - (n - 1) / 2) < n / 2 - 1)[:, None] & (
            np.abs(np.arange(n) - (n - 1) / 2) < n / 2 - 1
        )
        x, y = x + inner * rng.uniform(-5e-3, 5e-3, x.shape), y + inner * rng.uniform(-2e-3, 2e-3, y.shape)
        vertices = np.stack([x, y, np.zeros_like(x)], -1).reshape(-1, 3)
        faces = []
        for i in range(n - 1):
            for j in range(n - 1):
                a, b, c, d = i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1
                faces += [[a, b, c], [a, c, d]] if rng.random() < 0.5 else [[a, b, d], [b, c, d]]
        ends = []
        for mesh in (False, True):
            world = World(threads=1)
            world.add_spheres([[0, 0, R]], R, ROUGH, velocities=[0.5, 0.02, 0], spins=[3.0, 1.0, 7.0])
            if mesh:
                world.add_obstacle(impinge.Mesh(vertices, faces))
            else:
                world.add_plane([0, 0, 0], [0, 0, 1])
            world.run(until=0.3)
            s = world.spheres
            ends.append(np.concatenate([s.centres[0], s.velocities[0], s.spins[0] * R]))
        assert ends[0][0] > 0.05
        assert np.abs(ends[1] - ends[0]).max() < 1e-9

    def test_motion_by_a_function(self, tmp_path):
        def lift(t):
            return (0.0, 0.0, 0.1 * t), np.eye(3)

        plate = shapes.Mesh([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], [[0, 1, 2], [0, 2, 3]])
        worlds = []
        for motion in (lift, Motion(velocity=(0, 0, 0.1))):
            world = World(threads=1)
            world.add_spheres([[0, 0, R]], R, ROUGH)
            world.add_obstacle(plate, motion=motion, name="plate")
            world.run(until=0.2)
            worlds.append(world)
        assert worlds[0].spheres.centres[0, 2] == pytest.approx(worlds[1].spheres.centres[0, 2], abs=1e-9)
        lifted = worlds[0].spheres.masses[0] * 9.81 * 0.1 * 0.2
        assert worlds[0].energy().work == pytest.approx(worlds[1].energy().work, rel=1e-6)
        assert lifted < worlds[0].energy().work < 1.1 * lifted
        worlds[0].save(tmp_path / "world.h5")
        with pytest.raises(InputError, match="motions: found none for 'plate'"):
            World.load(tmp_path / "world.h5")
        World.load(tmp_path / "world.h5", motions={"plate": lift}).step(10)

    def test_a_pair_of_materials_can_have_its_own_law(self):
        soft, hard = Material(2500, stiffness=1e4), Material(2500, stiffness=1e6)
        world = World(gravity=(0, 0, 0), dt=1e-6)
        world.add_spheres([[0, 0, 0]], R, soft)
        world.add_spheres([[0, 0, 1.9 * R]], R, hard)
        assert world.contacts().forces[0, 2] == pytest.approx(-2 / (1e-4 + 1e-6) * 0.1 * R)
        world.set_contact(hard, soft, Material(1, stiffness=5e4))
        assert world.contacts().forces[0, 2] == pytest.approx(-5e4 * 0.1 * R)

    def test_energy_is_kept_when_another_kind_of_contact_comes_in(self):
        """Contacts then remember more than their springs; what springs hold is neither lost nor made."""
        world = World(gravity=(0, 0, 0), dt=1e-5)
        rough = Material(2500, stiffness=1e5, friction=10.0)
        world.add_spheres([[0, 0, 0], [0, 0, 1.9 * R]], R, rough, [[0, 0, 0], [1.0, 0, 0]])
        world.step(20)
        total = world.energy().total
        held = world.energy().elastic - 0.5 * 1e5 * world.contacts().depths[0] ** 2
        assert held > 0.005 * total
        added = world.add_spheres([[1, 0, 0]], R, Material(2500, stiffness=1e5, friction=0.5, rolling=0.1))
        world.remove(added)
        world.step(1)
        assert world.energy().total == pytest.approx(total, abs=0.02 * held)

    def test_run_calls_back_at_the_interval(self):
        world = World(dt=1e-4)
        world.add_spheres([[0, 0, 0]], R, Material(2500, stiffness=10.0))
        times = []
        world.run(until=0.01, every=0.0025, callback=lambda w: times.append(w.time))
        assert times == pytest.approx([0.0025, 0.005, 0.0075, 0.01])


class TestRefusals:
    def test_spheres_that_lose_their_numbers(self):
        world = World(dt=1.0, gravity=(0, 0, 0))
        world.add_spheres([[0, 0, 0], [0, 0, 1.9 * R]], R, Material(2500, stiffness=1e250), [0, 0, 1.0])
        with (
            pytest.warns(RunWarning),
            pytest.raises(RunError, match=r"sphere 0 has no position.*last at \(0, 0, .*time step"),
        ):
            world.step(100)

    def test_spins_that_are_no_numbers(self):
        world = World(dt=1e-4)
        world.add_spheres([[0, 0, 1]], R, ROUGH, spins=[0, 1e200, 0])
        with pytest.raises(RunError, match="sphere 0 has no position or spin any more"):
            world.step(100)

    def test_a_motion_that_fails(self):
        world = World(dt=2.0**-15)
        world.add_spheres([[0, 0, 1]], R, ROUGH)
        world.add_obstacle(shapes.box(), motion=lambda t: ((0, 0, 2.0**-10 / (t - 2.0**-10)), np.eye(3)))
        with pytest.raises(ZeroDivisionError) as caught:
            world.step(100)
        assert "in the motion of an obstacle" in caught.value.__notes__[0]

    def test_spheres_that_leave_the_box(self):
        world = World(box=[[-1, -1, -1], [1, 1, 1]])
        world.add_spheres([[0, 0, 0]], R, Material(2500, stiffness=1e5))
        with pytest.raises(RunError, match="sphere 0 has left the box at step"):
            world.run(until=2.0)

    @pytest.mark.parametrize(
        ("centres", "message"),
        [
            ([[0, 0, 0.5], [0, 0, 0.5 + 0.9 * R]], "sphere 0 and sphere 1 overlap"),
            ([[0, 0, -0.01]], "and wall 1 overlap"),
            ([[0, 0, 0.5], [0, 0, 0.5]], "sphere 0 and sphere 1 overlap by 0.02 m"),
        ],
    )
    def test_overlaps(self, centres, message):
        world = World()
        world.add_spheres(centres, R, ROUGH)
        world.add_plane([0, 0, 0], [0, 0, 1])
        with pytest.raises(InputError, match=message):
            world.step()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"dim": 4}, "dim: found 4, expected an integer from 2 to 3"),
            ({"dt": 0}, "dt: found 0"),
            ({"dt": "fast"}, "dt: found 'fast', expected one of auto"),
            ({"gravity": [0, 0]}, "gravity: found"),
            ({"gravity": [0, 0, math.nan]}, "gravity: found"),
            ({"search": "magic"}, "found 'magic'"),
            ({"integrator": "euler"}, "integrator: found 'euler'"),
            ({"periodic": True}, "box: found None"),
            ({"threads": 0}, "threads: found 0"),
            ({"skin": -1.0}, "skin: found -1.0"),
        ],
    )
    def test_settings(self, options, message):
        with pytest.raises(InputError, match=message):
            World(**options)

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda w: w.add_spheres([[0, 0]], R, ROUGH), "centres: found shape"),
            (lambda w: w.add_spheres([[0, 0, math.inf]], R, ROUGH), "centres: row 0 is not finite"),
            (lambda w: w.add_spheres([[0, 0, 0]], 0.0, ROUGH), "radii: row 0 is 0"),
            (lambda w: w.add_spheres([[0, 0, 0]], -1.0, ROUGH), "radii: row 0 is -1"),
            (lambda w: w.add_spheres([[0, 0, 0]], R, "glass"), "material: found 'glass'"),
            (lambda w: w.add_spheres([[0, 0, 0]], R, ROUGH, velocities=[1, 2]), "velocities: found shape"),
            (lambda w: w.add_spheres([[0, 0, 0]], R, ROUGH, velocities=[1, 2, math.nan]), "velocities: row 0"),
            (lambda w: w.add_spheres([[0, 0, 0]], 1e-120, ROUGH), "radii: row 0 is 1e-120, of mass 0"),
            (lambda w: w.remove(0.5), "ids: found float64"),
            (lambda w: w.run(until=1, callback=5), "callback: found 5"),
            (lambda w: w.add_plane([0, 0, 0], [0, 0, 0]), "normal: found"),
            (lambda w: w.add_plane([0, 0, 0], [0, 0, 1], load=1.0), "mass: found None in a world without bodies"),
            (lambda w: w.add_plane([0, 0, 0], [0, 0, 1], mass=1.0), "mass: found it without load"),
            (lambda w: w.add_plane([0, 0, 0], [0, 0, 1], load=1.0, velocity=[0, 0, 1]), "velocity, load: found both"),
            (lambda w: w.add_plane([0, 0, 0], [0, 0, 1], name=""), "name: found ''"),
            (lambda w: w.add_box([0, 0, 0], [1, 0, 1]), "upper: found"),
            (lambda w: w.add_obstacle("nothing"), "mesh"),
            (lambda w: w.add_obstacle(shapes.box(), motion=3), "motion: found 3"),
            (lambda w: w.add_source("rain", ROUGH), "rain: found 'rain'"),
            (lambda w: w.add_sink([0, 0, 0], [0, 0, 0]), "upper: found"),
            (lambda w: w.step(-1), "count: found -1"),
            (lambda w: w.step(1), "dt: found 'auto' in a world without bodies"),
            (lambda w: w.run(until=-1), "until: found -1"),
            (lambda w: w.stress(0.0), "volume: found 0.0"),
        ],
    )
    def test_arguments(self, call, message):
        with pytest.raises(InputError, match=message):
            call(World())

    def test_boxes(self):
        world = World(box=[0.015, 0.1, 0.1], periodic=True)
        with pytest.raises(InputError, match=r"normal: found .* expected none along x"):
            world.add_plane([0, 0, 0], [1, 0, 1])
        world.add_spheres([[0, 0, 0], [0, 0.05, 0]], 0.005, ROUGH)
        with pytest.raises(InputError, match="the pair would be seen twice"):
            world.step()
        world = World(box=[[0, 0, 0.15], [0.1, 0.1, 0.3]])
        world.add_spheres([[0.05, 0.05, 0.1]], 0.005, ROUGH)
        with pytest.raises(InputError, match=r"sphere 0 is at \(0.05, 0.05, 0.1\) m, expected a place in the box"):
            world.check()

    def test_no_obstacles_in_two_dimensions(self):
        with pytest.raises(InputError, match="dim 2"):
            World(dim=2).add_obstacle(shapes.box())

    def test_files(self, tmp_path):
        with pytest.raises(InputError, match=r"path: found .*none.h5', which does not exist"):
            World.load(tmp_path / "none.h5")
        for path in ("", tmp_path, None):
            with pytest.raises(InputError, match="path: found"):
                World().save(path)
            with pytest.raises(InputError, match="path: found"):
                World.load(path)
        (tmp_path / "text").write_text("text")
        with pytest.raises(InputError, match="expected a checkpoint"):
            World.load(tmp_path / "text")


def test_an_empty_world_moves_its_walls():
    world = World(dt=0.01)
    wall = world.add_plane([0, 0, 0], [0, 0, 1], velocity=[0, 0, 1])
    world.step(100)
    assert world.time == pytest.approx(1.0)
    assert wall.point == pytest.approx([0, 0, 1])
    assert world.energy().total == 0
    assert len(world.contacts().depths) == 0
    assert len(world.spheres) == 0
