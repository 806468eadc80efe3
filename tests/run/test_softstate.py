"""Files of soft worlds: going on from one is going on as if nothing had happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from impinge.errors import InputError
from impinge.output import checkpoint
from impinge.run import softstate
from impinge.run.soft import INTEGRATORS, SoftWorld
from impinge.run.softstate import remembered
from impinge.run.world import World

from ..bodies.soft_bodies import sheet
from .softworlds import CABLE, CLOTH, FLOOR, bits, busy_world, ring, sway, swing

MOTIONS = {"fix 0": sway, "obstacle 1": swing}


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_going_on_from_a_file_gives_the_same_bits(integrator: str, tmp_path: Path) -> None:
    world, path = busy_world(integrator), tmp_path / "world.h5"
    per_part = 4 if integrator != "explicit" else 30
    touched = 0
    for _ in range(3):
        world.save(path)
        again = SoftWorld.load(path, motions=MOTIONS)
        assert bits(again) == bits(world)
        assert [(body.name, body.nodes) for body in again.bodies] == [(b.name, b.nodes) for b in world.bodies]
        for _ in range(per_part):
            world.step()
            again.step()
            assert bits(again) == bits(world)
        again.save(tmp_path / "again.h5")
        world.save(path)
        assert (tmp_path / "again.h5").read_bytes() == path.read_bytes()
        touched += len(world.contacts())
    assert touched > 20


def lift(t: float) -> float:
    return 0.1 * np.cos(20 * t)


def gust(t: float) -> Any:
    return np.array([np.sin(10 * t), 0.0, 0.2])


def guided_world(integrator: str = "implicit-euler") -> SoftWorld:
    """All that can be asked of a motion: friction, wind, directions, limits, rows, obstacles that follow positions."""
    world = SoftWorld(dt=0.01, integrator=integrator, friction=0.3, wind=gust, threads=1)
    cloth = world.add_cloth(flat_cloth(), drag=0.2, **CLOTH)
    rope = world.add_cable(ring(10, 0.1, 0.27), closed=True, drag=0.1, **CABLE)
    world.add_obstacle(FLOOR, motion=[FLOOR.vertices + [0, 0, 0.21 + 0.001 * k] for k in range(6)])
    world.fix(cloth.nodes.start, lift, direction=(0, 1, 2))
    world.fix([cloth.nodes.start + 5], 0.1, (1, 0, 0))
    world.limit_strain(upper=0.1, bodies=[cloth, rope])
    world.limit_strain(upper=0.0005, lower=0.05, bodies=cloth)
    world.limit_strain_rate(0.5, [rope])
    rows = sp.csr_array((np.ones(2), ([0, 1], [3 * rope.nodes.start, 3 * rope.nodes.start + 5])), shape=(2, 3 * 46))
    world.add_constraint(rows, lambda t: np.array([0.05 * lift(t), np.inf]), equal=False)
    world.add_constraint(rows.toarray()[1:], [0.3], of="positions")
    return world


def flat_cloth() -> Any:
    vertices, faces = sheet(6, 6, 0.5, 0.5, "alternating")
    return vertices - [0.25, 0.25, -0.24], faces


GUIDES = {"wind": gust, "fix 0": lift, "constraint 0": lambda t: np.array([0.05 * lift(t), np.inf])}


@pytest.mark.parametrize("integrator", ["implicit-euler", "bdf2"])
def test_going_on_with_all_that_guides_a_motion(integrator: str, tmp_path: Path) -> None:
    world, path = guided_world(integrator), tmp_path / "world.h5"
    for _ in range(3):
        world.save(path)
        again = SoftWorld.load(path, motions=GUIDES, threads=2)
        for _ in range(4):
            world.step()
            again.step()
            assert bits(again) == bits(world)
            assert again.energy() == world.energy()
            assert again.strain_slack == world.strain_slack
        for mine, other in zip(again.contacts(), world.contacts(), strict=True):
            np.testing.assert_array_equal(mine, other)
    assert len(world.contacts()) > 5
    assert np.abs(world.contacts().friction).max() > 0.0
    assert world.last is not None
    assert (world.last.bar_forces > 0.0).any()
    assert (world.last.user_forces != 0.0).any()
    assert world.energy()["driven"] != 0.0


def test_functions_of_all_kinds_have_names(tmp_path: Path) -> None:
    guided_world().save(tmp_path / "world.h5")
    for missing in GUIDES:
        given = {name: function for name, function in GUIDES.items() if name != missing}
        with pytest.raises(InputError, match=f"motions: found none for '{missing}'"):
            SoftWorld.load(tmp_path / "world.h5", motions=given)


def test_chains_of_files(tmp_path: Path) -> None:
    """Saved and loaded after every step."""
    whole, parts = busy_world("bdf2"), busy_world("bdf2")
    for _ in range(6):
        whole.step()
        parts.step()
        parts.save(tmp_path / "world.h5")
        parts = SoftWorld.load(tmp_path / "world.h5", motions=MOTIONS, threads=2)
    assert bits(parts) == bits(whole)


def test_saving_changes_nothing(tmp_path: Path) -> None:
    one, other = busy_world(), busy_world()
    for _ in range(4):
        one.save(tmp_path / "world.h5")
        one.step()
        other.step()
    assert bits(one) == bits(other)


def test_what_is_added_later(tmp_path: Path) -> None:
    """Also between steps, and after loading."""
    world = busy_world()
    world.step(2)
    world.add_cable(ring(6, 0.05, 0.6), closed=True, **CABLE)
    world.save(tmp_path / "world.h5")
    again = SoftWorld.load(tmp_path / "world.h5", motions=MOTIONS)
    for each in (world, again):
        each.fix(each.bodies[-1].nodes)
        each.step(2)
    again.save(tmp_path / "world.h5")
    third = SoftWorld.load(tmp_path / "world.h5", motions=MOTIONS)
    for each in (world, third):
        each.step(2)
    assert bits(world) == bits(third)


def test_settings_that_were_changed(tmp_path: Path) -> None:
    world = busy_world(functions=False)
    world.gravity, world.dt = np.array([0.0, 1.0, -2.0]), 0.003
    world.save(tmp_path / "world.h5")
    again = SoftWorld.load(tmp_path / "world.h5")
    for each in (world, again):
        each.step(2)
    assert bits(again) == bits(world)


def test_arrays_that_users_change_after_a_call(tmp_path: Path) -> None:
    points, nodes = ring(8, 0.1, 0.5), np.array([0, 3])
    world = SoftWorld()
    world.add_cable(points, closed=True, **CABLE)
    world.fix(nodes)
    points += 1.0
    nodes += 1
    world.save(tmp_path / "world.h5")
    again = SoftWorld.load(tmp_path / "world.h5")
    for each in (world, again):
        each.step(2)
    assert bits(again) == bits(world)


@pytest.mark.parametrize("nodes", [0, -1, [], [0, 2], slice(1, None, 2), np.arange(8) > 5, ..., range(3)])
def test_nodes_in_any_form(nodes: Any, tmp_path: Path) -> None:
    world = SoftWorld()
    world.add_cable(ring(8, 0.1, 0.5), closed=True, **CABLE)
    world.fix(nodes, (0, 0, 1))
    world.save(tmp_path / "world.h5")
    again = SoftWorld.load(tmp_path / "world.h5")
    for each in (world, again):
        each.step(2)
    assert bits(again) == bits(world)


def test_a_world_that_was_refused_stays_refused(tmp_path: Path) -> None:
    """A start that is not free of contact is looked at again, before and after a file."""
    world = SoftWorld()
    world.add_cable(ring(8, 0.1, 0.5), closed=True, **CABLE)
    world.add_cable(np.array([[0, 0, 0.5], [0.2, 0, 0.5]]), **CABLE)
    for _ in range(2):
        with pytest.raises(InputError, match=r"start: .* touch"):
            world.step()
    world.save(tmp_path / "world.h5")
    with pytest.raises(InputError, match=r"start: .* touch"):
        SoftWorld.load(tmp_path / "world.h5").step()


def test_calls_that_fail_are_not_remembered(tmp_path: Path) -> None:
    world = SoftWorld()
    world.add_cable(ring(8, 0.1, 0.5), closed=True, **CABLE)
    with pytest.raises(InputError):
        world.add_cable(ring(8, 0.1, 0.5), **CABLE | {"radius": -1})
    with pytest.raises(InputError):
        world.fix(99)
    world.save(tmp_path / "world.h5")
    assert len(SoftWorld.load(tmp_path / "world.h5").bodies) == 1


# Functions, and what is no file of ours


def test_functions_of_nothing_are_refused(tmp_path: Path) -> None:
    busy_world().save(tmp_path / "world.h5")
    with pytest.raises(InputError, match=r"^motions: found 'fix 7', expected names of what moves .* \['fix 0', .*\]$"):
        SoftWorld.load(tmp_path / "world.h5", motions=MOTIONS | {"fix 7": MOTIONS["fix 0"]})


@pytest.mark.parametrize("missing", ["fix 0", "obstacle 1"])
def test_functions_are_asked_for(missing: str, tmp_path: Path) -> None:
    busy_world().save(tmp_path / "world.h5")
    motions = {name: motion for name, motion in MOTIONS.items() if name != missing}
    with pytest.raises(InputError, match=f"^motions: found none for '{missing}', expected the function of time by"):
        SoftWorld.load(tmp_path / "world.h5", motions=motions)


def test_files_of_other_worlds(tmp_path: Path) -> None:
    World().save(tmp_path / "other.h5")
    with pytest.raises(InputError, match=r"other.h5: found a checkpoint of kind 'world', expected 'soft_world'"):
        SoftWorld.load(tmp_path / "other.h5")
    with pytest.raises(InputError, match="which does not exist, expected a checkpoint of impinge"):
        SoftWorld.load(tmp_path / "none.h5")
    busy_world(functions=False).save(tmp_path / "soft.h5")
    with pytest.raises(InputError, match=r"soft.h5: found a checkpoint of kind 'soft_world', expected 'world'"):
        World.load(tmp_path / "soft.h5")
    (tmp_path / "soft.h5").write_bytes((tmp_path / "soft.h5").read_bytes()[:-1])
    with pytest.raises(InputError, match="damaged"):
        SoftWorld.load(tmp_path / "soft.h5")


# Any method, any argument


class _Wider(SoftWorld):
    """A world with a method that takes arguments of all kinds."""

    def __init__(self, gravity: Any = (0, 0, 0), wind: Any = (0, 0, 0), threads: int | None = None) -> None:
        super().__init__(gravity, threads=threads)
        self.wind: Any = wind if callable(wind) else np.asarray(wind, float)
        self.taken: dict[str, Any] = {}

    @remembered
    def take(self, first: Any, *, named: Any = None, other: Any = 3) -> str:
        self.taken = {"first": first, "named": named, "other": other}
        return "done"


def test_a_method_that_is_added(tmp_path: Path) -> None:
    world = _Wider(wind=(1, 2, 3))
    one = world.add_cable(ring(8, 0.1, 0.5), closed=True, **CABLE)
    rows = sp.csc_array(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, -3.0]]))
    assert world.take(rows, named=[one, one], other=(1, 2)) == "done"
    softstate.save(tmp_path / "world.h5", world)
    again = softstate.load(_Wider, tmp_path / "world.h5", None, {})
    np.testing.assert_array_equal(again.wind, [1, 2, 3])
    np.testing.assert_array_equal(again.taken["first"].toarray(), rows.toarray())
    assert again.taken["named"] == [again.bodies[0]] * 2
    np.testing.assert_array_equal(again.taken["other"], [1, 2])
    world.take("text", named=one, other=lambda t: t)
    world.wind = sway
    world.save(tmp_path / "world.h5")
    again = softstate.load(_Wider, tmp_path / "world.h5", None, {"take 1": abs, "wind": sway})
    assert again.wind is sway
    assert again.taken == {"first": "text", "named": again.bodies[0], "other": abs}


def test_what_no_file_holds(tmp_path: Path) -> None:
    world = _Wider()
    world.take(object())
    with pytest.raises(InputError, match="calls/0/arguments/first: found an array of object"):
        world.save(tmp_path / "world.h5")
    assert not (tmp_path / "world.h5").exists()


# Attributes that follow from others, or are of no use to the next step.
DERIVED = {
    "_blame", "_drivers", "_edges", "_neighbours", "_obstacles", "_past", "_span", "_structure", "_threads",
    "elements", "last", "surface",
}  # fmt: skip


def test_all_that_a_world_has_is_kept(tmp_path: Path) -> None:
    """If this fails for an attribute that is new: add it to softstate._STATE, or to DERIVED here."""
    world = busy_world("bdf2", functions=False)
    world.step(3)
    world.save(tmp_path / "world.h5")
    again = SoftWorld.load(tmp_path / "world.h5", threads=1)
    assert set(vars(again)) | DERIVED == set(vars(world)) | DERIVED
    for name in set(vars(world)) - DERIVED:
        np.testing.assert_equal(getattr(again, name), getattr(world, name), name)
    for one, other in zip(again._obstacles, world._obstacles, strict=True):
        np.testing.assert_array_equal(one.at(0.3), other.at(0.3))


def test_files_are_plain_data(tmp_path: Path) -> None:
    busy_world(functions=False).save(tmp_path / "world.h5")
    content = checkpoint.load(tmp_path / "world.h5", "soft_world", 1)
    assert [call["method"] for call in content["calls"]] == ["add_cloth", *2 * ["add_cable"], *2 * ["fix"],
                                                            *2 * ["add_obstacle"]]  # fmt: skip
