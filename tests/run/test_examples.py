"""Every scene of examples/, in a small version: what happens is what should, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from impinge.run.columns import names, values
from impinge.run.scene import read_scene
from impinge.run.scene.build import Built
from impinge.shapes import read_mesh

from . import examples

SCENES = {path.stem: read_scene(path).model for path in examples.FOLDER.glob("*.toml")}
FILES = sorted(name for name, model in SCENES.items() if model.kind != "soft")
POLYHEDRA = sorted(name for name in FILES if SCENES[name].has_polyhedra)
FRACTURES = {"paper-fracture": 2, "paper-fracture-3": 3, "paper-fracture-4": 4, "paper-fracture-5": 5}


class Watched:
    """An example that has been run, in a small version or all of it: rows of its series at the start and at the end."""

    def __init__(self, name: str, small: bool = True) -> None:
        scene = examples.scene(name, examples.SMALL[name].changes if small else {})
        self.model = scene.model
        built: Built = scene.build_with_groups(threads=1 if small else None)
        self.world, self.groups = built.world, built.groups
        self.first, self.centres, self.bodies = self._row(), self.world.spheres.centres, self.world.polyhedra
        if small:
            self.world.step(examples.SMALL[name].steps)
        else:
            self.world.run(self.model.run.until)
        self.last = self._row()

    def _row(self) -> dict[str, float]:
        row = values(self.model, self.world, self.groups)
        return dict(zip(names(self.model, self.world), row, strict=True))


def check_energy(seen: Watched, tolerance: float) -> None:
    """Total energy stays, but for a part of what moves or has been turned into heat."""
    before, after = seen.first["total [J]"], seen.last["total [J]"]
    turned = max(seen.last["kinetic [J]"], seen.last["dissipated [J]"], seen.last["work [J]"])
    assert abs(after - before) < tolerance * turned


def check_undamped(seen: Watched) -> None:
    check_energy(seen, 1e-5 if seen.model.world.dt != "auto" else 1e-4)  # the paper's steps are shorter
    assert seen.last["dissipated [J]"] == 0
    assert seen.last["contacts"] > 0
    assert seen.last["elastic [J]"] > 0


def check_fracture(seen: Watched) -> None:
    """The paper's numbers of pieces, which have the volume of 1000 spheres."""
    check_undamped(seen)
    radii = seen.world.spheres.radii
    assert math.fsum(radii**3) == pytest.approx(1000 * 0.01**3, rel=1e-12)
    assert 4 / 3 * math.pi * math.fsum(radii**3) / 0.33**3 == pytest.approx(0.1166, abs=1e-4)


def check_hopper(seen: Watched) -> None:
    """Beads flow, only through the orifice, and lose energy."""
    check_energy(seen, 0.01)
    assert seen.first["discharged spheres"] == 0
    assert seen.last["discharged spheres"] > 100
    cone = seen.model.obstacles[0].cone
    assert cone is not None
    x, y, z = seen.world.spheres.centres.T
    within = cone.orifice + (cone.radius - cone.orifice) * np.clip(z / cone.height, 0, 1)
    assert (np.hypot(x, y) < within)[z > 0].all()
    assert seen.last["funnel force z [N]"] < 0


def check_drum(seen: Watched) -> None:
    """The drum takes the beads along: it does work, and they resist."""
    check_energy(seen, 0.02)
    assert seen.last["work [J]"] > 0
    assert (np.linalg.norm(seen.world.spheres.centres[:, [0, 2]], axis=1) < 0.072).all()
    assert abs(seen.last["segregation"]) < 0.2  # they begin mixed


def check_column(seen: Watched) -> None:
    """It gets lower and wider, and nothing goes through the floor."""
    check_energy(seen, 0.01)
    now = seen.world.spheres.centres
    assert now[:, 2].mean() < seen.centres[:, 2].mean() - 0.002
    assert seen.last["spread spheres"] > 30
    assert now[:, 2].min() > 0.0015


def check_biaxial(seen: Watched) -> None:
    """Walls under load close in until the discs carry the load; the top comes down as told."""
    check_energy(seen, 0.02)
    left, right, _, top = seen.world.walls
    assert left.point[0] > 0
    assert right.point[0] < 0.25
    assert top.point[1] == pytest.approx(0.35 - 0.03 * seen.world.time, rel=1e-9)
    assert seen.last["top force y [N]"] > 1
    assert seen.last["left force x [N]"] < -1
    assert seen.last["coordination"] > 2


def weight_of(seen: Watched) -> float:
    """Of all polyhedra, N."""
    return 9.81 * math.fsum(seen.bodies.masses)


def check_torus_hole(seen: Watched) -> None:
    """The ball has hit the ring, and is below the table; the ring lies where it lay."""
    check_energy(seen, 0.01)
    assert seen.last["dissipated [J]"] > 0.01
    assert seen.world.spheres.centres[0, 2] < 0.08
    assert np.linalg.norm(seen.world.polyhedra.centres[0] - seen.bodies.centres[0]) < 0.02
    assert seen.world.polyhedra.rotations[0, 2, 2] > 0.9


def check_hook_ring(seen: Watched) -> None:
    """The ring is as far below the hook as it hangs, and goes up with it."""
    check_energy(seen, 0.05)
    x, y, z = seen.world.polyhedra.centres[0]
    assert -0.04 < x < 0.04
    assert abs(y) < 0.02
    assert 0.1 * seen.world.time - 0.03 < z < 0.1 * seen.world.time
    assert seen.last["hook force z [N]"] < -0.3 * weight_of(seen)


def check_hooks(seen: Watched) -> None:
    """Every link hangs in the one above, the first one on the bar, which carries them all."""
    check_energy(seen, 0.02)
    z = seen.world.polyhedra.positions[:, 2]
    assert seen.first["contact points"] == 0
    assert (np.abs(z[:-1] - z[1:] - 0.05) < 0.0025).all()
    assert abs(z[0] - 0.2 * seen.world.time - 0.244) < 0.002
    assert seen.last["bar force z [N]"] < -0.3 * weight_of(seen)


def check_hopper_mixed(seen: Watched) -> None:
    """Both leave through the orifice, and nothing goes through the funnel."""
    check_energy(seen, 0.02)
    bodies, spheres = seen.world.polyhedra, seen.world.spheres
    assert seen.last["discharged spheres"] > 0.2 * len(spheres)
    assert (bodies.centres[:, 2] < 0).sum() > 0.2 * len(bodies)
    x, y, z = np.concatenate([bodies.centres, spheres.centres]).T
    assert (np.hypot(x, y) < 0.05 + 0.1 * np.clip(z / 0.09, 0, 1))[z > 0].all()
    assert z.min() > -0.1


def check_rods(seen: Watched) -> None:
    """They fall, stay in the tray, and lie down."""
    check_energy(seen, 0.02)
    bodies = seen.world.polyhedra
    steep, before = (np.abs(some.rotations[:, 2, 0]).mean() for some in (bodies, seen.bodies))
    assert steep < 0.7 * before
    assert ((bodies.centres > 0) & (bodies.centres < [0.3, 0.3, 0.3])).all()
    assert bodies.centres[:, 2].mean() < 0.7 * seen.bodies.centres[:, 2].mean()


def check_conveyor(seen: Watched) -> None:
    """All come as they are due, nearly all that lie on the belt go with it, between the boards, and some have gone."""
    world = seen.world
    due = int(20 * (world.steps // 50 * 50) * world.dt + 1e-6)
    assert [source.inserted for source in world.sources] == [due, due]
    assert seen.first["polyhedra"] == 0
    assert seen.last["polyhedra"] + seen.last["end polyhedra"] == 2 * due
    assert seen.last["end polyhedra"] > 0
    bodies = world.polyhedra
    low = bodies.centres[:, 2] < 0.03
    assert low.sum() > 4
    assert 0.3 < np.median(bodies.velocities[low, 0]) < 0.55
    assert (np.abs(bodies.centres[:, 1]) < 0.12).all()
    assert (bodies.centres[:, 2] > 0).all()


def check_rocks(seen: Watched) -> None:
    """They come down and make a heap, on the floor and not deep in each other."""
    check_energy(seen, 0.02)
    bodies, before = seen.world.polyhedra, seen.bodies
    assert bodies.centres[:, 2].mean() < 0.7 * before.centres[:, 2].mean()
    assert min(bodies.mesh(k).vertices[:, 2].min() for k in range(len(bodies))) > -0.008
    assert seen.world.body_contacts().depths.max() < 0.008
    assert seen.last["contact points"] > len(bodies)
    assert seen.last["floor force z [N]"] < -0.3 * weight_of(seen)


def check_demo(seen: Watched) -> None:
    """Beads and stones leave the funnel through its orifice, and nothing goes through the shell or the floor."""
    check_energy(seen, 0.02)
    bodies, spheres = seen.world.polyhedra, seen.world.spheres
    assert seen.last["discharged spheres"] > 0.3 * len(spheres)
    assert (bodies.centres[:, 2] < 0).any()
    x, y, z = np.concatenate([bodies.centres, spheres.centres]).T
    within = 0.04 + 0.09 * np.clip(z / 0.08, 0, 1)
    assert (np.hypot(x, y) < within)[z > 0].all()
    assert seen.last["shell force z [N]"] < 0
    form = read_mesh(examples.FOLDER / "demo-cloth.ply").vertices
    held = np.hypot(x, y) < 0.05
    assert z[held].min() > form[:, 2].min()
    assert z.min() > -0.16


CHECKS = {
    "demo": check_demo,
    "conveyor": check_conveyor,
    "hook-ring": check_hook_ring,
    "hooks": check_hooks,
    "hopper-mixed": check_hopper_mixed,
    "rocks": check_rocks,
    "rods": check_rods,
    "torus-hole": check_torus_hole,
    "biaxial": check_biaxial,
    "column": check_column,
    "drum": check_drum,
    "hopper": check_hopper,
    "paper-demo-300": check_undamped,
    "paper-discs": check_undamped,
    "paper-spheres": check_undamped,
    **dict.fromkeys(FRACTURES, check_fracture),
}


@pytest.mark.parametrize("name", FILES)
def test_small_versions(name):
    """Physics; the same bits on one and two threads; and those that are known of this processor."""
    seen = Watched(name)
    CHECKS[name](seen)
    end = examples.state(seen.world)
    again = examples.start(name, threads=2).world
    again.step(examples.SMALL[name].steps)
    assert examples.state(again) == end
    known = examples.pinned().get(examples.processor(), {}).get(name)
    if known is None:
        pytest.skip(f"states.json has none of {examples.processor()}: python -m tests.run.examples writes them")
    assert end == known


@pytest.mark.verify
@pytest.mark.parametrize("name", POLYHEDRA)
def test_polyhedra_at_full_size(name):
    CHECKS[name](Watched(name, small=False))


@pytest.mark.parametrize("name", FRACTURES)
def test_numbers_of_the_fracture_series(name):
    from impinge.reproduce.particles.systems import FRACTURES as NUMBERS

    whole, pieces = (spheres.random for spheres in read_scene(examples.FOLDER / f"{name}.toml").model.spheres)
    parts = FRACTURES[name]
    assert (whole.count, pieces.count) == (NUMBERS[parts][0], NUMBERS[parts][1] * parts**3)
