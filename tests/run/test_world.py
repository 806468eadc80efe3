"""Worlds: what they hold, and that nothing but the physics decides their bits."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import impinge
from impinge import Material, Rain, World
from impinge.errors import InputError
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

    @pytest.mark.parametrize("damped", [False, True])
    def test_a_file_that_is_read_and_written_again_is_the_same(self, tmp_path, damped):
        """Also before anything has been asked of the world."""
        world = World(threads=1)
        material = Material(2500, stiffness=1e4, restitution=0.5 if damped else None)
        world.add_spheres(*impinge.fill_random([0, 0, 0], [0.1, 0.1, 0.2], R, count=40, seed=1), material)
        world.add_box([0, 0, 0], [0.1, 0.1, 0.3])
        world.run(until=0.15)
        world.save(tmp_path / "a.h5")
        again = World.load(tmp_path / "a.h5", threads=1)
        again.save(tmp_path / "b.h5")
        twice = World.load(tmp_path / "b.h5", threads=1)
        assert twice.energy() == world.energy()
        for some in (world, again, twice):
            some.step(50)
        assert bits(world) == bits(again) == bits(twice)
        assert len(world.contacts().depths) > 4

    def test_spheres_can_be_removed(self):
        world = World(threads=1)
        ids = world.add_spheres(lattice(3, 3), R, ROUGH)
        world.remove(ids[::2])
        assert (world.spheres.ids == ids[1::2]).all()
        assert (world.add_spheres([[1.0, 1, 1]], R, ROUGH) == [27]).all()
        world.step(10)
        with pytest.raises(InputError, match="ids: found 0"):
            world.remove([0])


def test_an_empty_world_moves_its_walls():
    world = World(dt=0.01)
    wall = world.add_plane([0, 0, 0], [0, 0, 1], velocity=[0, 0, 1])
    world.step(100)
    assert world.time == pytest.approx(1.0)
    assert wall.point == pytest.approx([0, 0, 1])
    assert world.energy().total == 0
    assert len(world.contacts().depths) == 0
    assert len(world.spheres) == 0
