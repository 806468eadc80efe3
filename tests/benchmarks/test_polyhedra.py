"""The benchmark of rigid bodies runs, its shapes and judge are right, and its clocks change nothing."""

import json
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.polyhedra_test import engine, judges, kinds, ours, peers, race, report, scenes
from scipy.spatial import ConvexHull

import impinge
from benchmarks import command
from benchmarks import polyhedra as benchmark

TINY = scenes.Sizes(
    part=3,
    faces=100,
    duration=2e-3,
    copies=((1, 1), (2, 1)),
    fall_steps=2,
    pile_steps=2,
    face_counts=(100, 400),
    face_bodies=3,
    steps=2,
    rounds=2,
    race=(3,),
    race_seconds=5.0,
)


# Shapes


@pytest.mark.parametrize("name", kinds.ALL)
def test_shapes_have_the_same_volume_and_frame(name):
    for faces in (400, 3200):
        kind = kinds.make(name, faces)
        mesh = kind.mesh
        assert mesh.is_closed
        assert mesh.is_manifold
        assert len(mesh.faces) == pytest.approx(faces, rel=0.35)
        assert mesh.volume == pytest.approx(4 / 3 * np.pi * kinds.RADIUS**3, rel=1e-6)
        assert np.abs(mesh.centroid).max() < 1e-12
        assert np.abs(mesh.inertia - np.diag(np.diag(mesh.inertia))).max() < 1e-9 * mesh.inertia.max()


@pytest.mark.parametrize("name", kinds.ALL)
def test_convex_parts_fill_the_shape(name):
    kind = kinds.make(name, 3000)
    volume = sum(ConvexHull(part).volume for part in kind.parts)
    assert volume == pytest.approx(kind.mesh.volume, rel=1e-6 if name in kinds.PRISMS else 0.08)
    solid = impinge.Solid(kind.mesh)
    for part in kind.parts:
        corners = solid.distance(part)
        assert corners.max() < 1e-9 if name in kinds.PRISMS else corners.max() < 0.04 * kinds.RADIUS
        assert solid.contains(part.mean(axis=0)[None]).all() or name not in kinds.PRISMS


def test_finer_meshes_have_the_same_surface():
    coarse, fine = (kinds.make("U", faces).mesh for faces in (28, 3000))
    assert len(coarse.faces) == 28
    assert fine.area == pytest.approx(coarse.area, rel=1e-12)
    assert np.abs(impinge.Solid(coarse).distance(fine.vertices)).max() < 1e-12
    assert len(fine.vertices) == fine.distinct_vertices


# Scenes


def test_bodies_start_apart_in_their_box():
    bodies = scenes.thrown(40, 200)
    pairs, walls = judges.depths(bodies, bodies.positions, bodies.rotations)
    assert len(pairs) == len(walls) == 0
    assert set(bodies.of.tolist()) == set(range(4))
    twice = scenes.side_by_side(bodies, 2, 1)
    assert len(twice) == 80
    assert twice.box == (2 * bodies.box[0], bodies.box[1])
    assert (twice.positions[40:] - bodies.positions == [bodies.box[0], 0, 0]).all()


def test_the_judge_knows_depths():
    bodies = scenes.thrown(2, 500, ("U",))
    turns = np.tile(np.eye(3), (2, 1, 1))
    low, high = bodies.kinds[0].mesh.bounds
    wide = high[0] - low[0]
    shift = np.array([1.0, 1.0, 1.0])
    apart = np.array([-low, [wide + 1e-3, 0, 0] - low]) + shift
    found = judges.judge(bodies, apart, turns)
    assert (found["overlaps"], found["in_walls"]) == (0, 4)  # both are beyond two walls
    assert found["outside"] == 2
    deep = apart - [[0, 0, 0], [3e-3, 0, 0]]
    pairs, _ = judges.depths(bodies, deep, turns)
    assert pairs == pytest.approx([2e-3], rel=1e-6)
    floor = np.array([-low, -low + 2 * wide]) - [0, 0, 4e-3]
    _, walls = judges.depths(bodies, floor[:, :] + [1e-3, 1e-3, 0], turns)
    assert walls.min() == pytest.approx(4e-3, rel=1e-6)


# Clocks


def test_clocks_change_nothing():
    bodies = scenes.thrown(3, 100)
    plain, timed = (ours.world_of(bodies, 1) for _ in range(2))
    plain.step(8)
    ours.timed_steps(timed, 4)
    phases = ours.timed_steps(timed, 4)
    assert "make" not in vars(timed._dynamics.rigid.lists)
    assert (plain.polyhedra.positions == timed.polyhedra.positions).all()
    assert phases["contacts"] > 0
    assert phases["motion"] > 0
    now = ours.bodies_in(timed, bodies)
    flown = now.positions - bodies.positions - 8 * timed.dt * bodies.velocities
    assert np.abs(flown).max() < scenes.GRAVITY * (8 * timed.dt) ** 2  # the same order


# The whole


def test_a_run_writes_its_results(tmp_path, monkeypatch):
    monkeypatch.setattr(scenes, "QUICK", TINY)
    options = benchmark._arguments(["--quick", "--threads", "1", "--peers", "none"])
    results, verdicts = benchmark._measure(options, [0])
    text = benchmark._text(results, verdicts)
    command.save("polyhedra", results, text, tmp_path, "benchmarks.polyhedra_test.plots")
    kept = json.loads((tmp_path / "polyhedra.json").read_text(encoding="utf-8"))
    assert [row["bodies"] for row in kept["bodies"]] == [3, 6]
    assert kept["faces"][0]["faces"] < kept["faces"][1]["faces"]
    assert [row["engine"] for row in kept["race"]] == [ours.NAME]
    assert kept["race"][0]["simulated"] == pytest.approx(TINY.duration, rel=0.05)
    assert len(verdicts) == 2
    assert all(verdict.reached is not None for verdict in verdicts)
    assert (tmp_path / "polyhedra.png").stat().st_size > 0
    for title, _ in report.PARTS.values():
        assert f"## {title}" in text


class _Broken:
    name = "broken"

    def version(self):
        return "0"

    def settings(self):
        return [peers.PeerSetting("defaults", 1e-3)]

    def build(self, bodies, setting, threads):
        raise ValueError("no such thing")


def test_a_failing_engine_is_a_row_without_figures():
    rows = race.measure([_Broken()], TINY, 1)
    assert rows[0]["failure"] == "ValueError: no such thing"
    assert "no such thing" in report.race_text(rows)


def test_exponents_decide():
    def rows(power):
        return [{"bodies": n, "step_s": 1e-3 * n**power, "listing_s": 1e-3 * n} for n in (100, 1000)]

    for power, met in ((1.1, True), (1.2, False)):
        assert report.verdicts({"bodies": rows(power)})[0].met is met
    assert report.verdicts({"bodies": rows(1.1)[:1]})[0].met is None


def test_absent_peers_say_how_to_get_them(monkeypatch):
    def missing():
        raise ModuleNotFoundError("No module named 'mujoco'")

    monkeypatch.setitem(peers.CLASSES, "mujoco", missing)
    ready, absent = peers.load(["mujoco"])
    assert ready == []
    assert absent["mujoco"].endswith("pip install mujoco")


@pytest.mark.parametrize("name", ["mujoco", "pybullet"])
def test_peers_move_bodies_as_they_should(name):
    """Free flight, with the spin of a body that is turned about its own axis."""
    pytest.importorskip(name)
    (peer,), absent = peers.load([name])
    assert not absent
    bodies = scenes.thrown(4, 200)
    spins = 10.0 * bodies.rotations[:, :, 2]  # about the last principal axis: steady
    bodies = replace(bodies, spins=spins, positions=bodies.positions + np.outer(np.arange(4), [0, 0, 1.0]) + [0, 0, 1])
    setting = peer.settings()[1]
    done = engine.run(peer, bodies, setting, 1, 0.05, 10.0)
    fallen = bodies.positions + 0.05 * bodies.velocities - [0, 0, 0.5 * scenes.GRAVITY * 0.05**2]
    assert np.abs(done.pose.positions - fallen).max() < 1e-3
    between = bodies.rotations.swapaxes(1, 2) @ done.pose.rotations
    assert np.degrees(np.arctan2(between[:, 1, 0], between[:, 0, 0])) == pytest.approx(np.full(4, 28.6479), abs=0.2)
