"""What a world says when asked, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

import impinge
from impinge import Material, Motion, World, shapes
from impinge.errors import InputError, RunError, RunWarning
from tests.run.worlds import ROUGH, R, lattice


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
