"""The benchmark of soft bodies runs, its scenes and judges are right, and a wrong run cannot pass for a right one."""

import json
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.soft_test import engine, judges, ours, peers, report, scenes, speed

import impinge
from benchmarks import command
from benchmarks import soft as benchmark
from impinge import ccd

TINY = scenes.Sizes(
    side=6,
    segments=8,
    duration=0.1,
    rounds=2,
    setting_seconds=1.0,
    run_seconds=5.0,
    growth=(4, 6),
    growth_most=4,
    growth_seconds=5.0,
)
ALL = list(scenes.SCENES)


# Scenes


@pytest.mark.parametrize("part", ALL)
@pytest.mark.parametrize("sizes", [scenes.FULL, scenes.QUICK, TINY], ids=["full", "quick", "tiny"])
def test_scenes_start_free(part, sizes):
    scene = sizes.scene(part)
    body = scene.body
    faces = body.faces if isinstance(body, scenes.Cloth) else None
    assert ccd.self_intersections(body.x, body.edges, faces).total == 0
    for obstacle in scene.obstacles:
        assert judges.clearance(body, obstacle, body.x[None]) > body.gap
    assert judges.nearest_parts(body, body.x, 2 * body.gap) == 2 * body.gap
    assert body.masses.sum() == pytest.approx(0.2 if faces is not None else 0.2 * body.lengths.sum(), rel=2e-2)


def test_cables_are_stiff():
    for part in ("pulley", "suspended"):
        body = scenes.FULL.scene(part).body
        assert len(body.edges) == 60
        assert (body.stretch / body.lengths > 1e5).all()  # N/m


def test_meshes_are_around_their_obstacles():
    centre = np.array([1.0, 2.0, 3.0])
    for obstacle in (scenes.Sphere(tuple(centre), 0.3), scenes.Cylinder(tuple(centre), 0.1, 0.4)):
        mesh = obstacle.mesh()
        assert mesh.is_closed
        assert mesh.volume > 0
        corners = mesh.triangles - centre
        if isinstance(obstacle, scenes.Cylinder):
            assert np.abs(corners[:, :, 1]).min() >= 0.5 * obstacle.length
            corners = corners[np.ptp(corners[:, :, 1], axis=1) > 0]  # without the ends
            corners[:, :, 1] = 0.0
        assert judges._origin_to(corners).min() == pytest.approx(obstacle.radius, rel=1e-12)
        assert np.linalg.norm(corners, axis=2).max() < 1.004 * obstacle.radius


# Judges


def _sampled(first, second):
    """Distance of two triangles or segments by many points of each: at least the true one."""
    steps = np.linspace(0, 1, 41)
    clouds = []
    for corners in (first, second):
        if len(corners) == 1:
            clouds.append(corners)
        elif len(corners) == 2:
            clouds.append(corners[0] + steps[:, None] * (corners[1] - corners[0]))
        else:
            u, v = (grid.ravel() for grid in np.meshgrid(steps, steps))
            u, v = u[u + v <= 1], v[u + v <= 1]
            clouds.append(corners[0] + np.outer(u, corners[1] - corners[0]) + np.outer(v, corners[2] - corners[0]))
    return np.linalg.norm(clouds[0][:, None] - clouds[1][None], axis=2).min()


def test_distances_against_samples():
    rng = np.random.default_rng(1)
    origin = np.zeros((1, 3))
    for corners in (2, 3):
        some = rng.uniform(-1, 1, (100, corners, 3))
        some[0] = some[0, 0]  # a point
        some[1, 1:] = [[0.5, 0, 0], [0.25, 0, 0]][: corners - 1]  # through the origin, or no area
        found = judges._origin_to(some)
        sampled = np.array([_sampled(origin, row) for row in some])
        assert (found <= sampled + 1e-12).all()
        assert (found >= sampled - 0.05).all()
    x = rng.uniform(-1, 1, (400, 3))
    x[4:8] = [[0, 0, 0], [1, 0, 0], [0.5, 0.25, 0], [2, 0.25, 0]]  # parallel
    edges = np.arange(400, dtype=np.int32).reshape(-1, 2)
    pairs = np.arange(200, dtype=np.int32).reshape(-1, 2)
    found = judges._between_segments(x, edges, pairs)
    sampled = np.array([_sampled(x[edges[i]], x[edges[j]]) for i, j in pairs])
    assert (found <= sampled + 1e-12).all()
    assert (found >= sampled - 0.05).all()
    assert found[1] == pytest.approx(0.25)


def test_a_face_inside_an_obstacle_is_seen_though_no_node_is():
    x = np.array([[-1.0, -1.0, 0.2], [1.0, -1.0, 0.2], [0.0, 1.0, 0.2]])
    cloth = scenes._cotton(x, np.array([[0, 1, 2]], np.int32))
    assert judges.clearance(cloth, scenes.Sphere((0.0, 0.0, 0.0), 0.3), x[None]) == pytest.approx(-0.1)
    assert judges.clearance(cloth, scenes.Floor(0.5), x[None]) == pytest.approx(-0.3)
    cable = scenes._rope(np.array([[-1.0, 0.1, 0.08], [1.0, -0.1, 0.08]]))
    assert judges.clearance(cable, scenes.Cylinder((0.0, 0.0, 0.0), 0.1, 1.0), cable.x[None]) == pytest.approx(-0.02)


def _run(states, dt=0.01):
    return engine.Run(dt, np.array(states), np.full(len(states) - 1, 1e-3), "", "")


def _two_layers(height):
    """Two triangles above each other, the upper one turned a bit."""
    lower = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    upper = np.array([[0.1, 0.2, height], [0.7, 0.1, height], [0.2, 0.6, height]])
    return np.concatenate([lower, upper])


def test_what_passes_through_is_counted():
    scene = scenes.cloth_on_sphere(4)
    cloth = replace(scene.body, x=_two_layers(0.5), faces=np.array([[0, 1, 2], [3, 4, 5]], np.int32))
    scene = replace(scene, body=cloth, obstacles=(scenes.Floor(-1.0),))
    found = judges.judge(scene, _run([_two_layers(z) for z in (0.5, 0.001, -0.3, -0.4)]))
    assert (found.crossings, found.tangled) == (1, 0)
    assert found.nearest == pytest.approx(0.001)
    assert speed.why_unsound(_run([cloth.x, cloth.x]), found) == "passes through itself"
    tilted = _two_layers(0.5)
    tilted[3, 2] = -0.1
    found = judges.judge(scene, _run([cloth.x, tilted]))
    assert (found.tangled, found.nearest) == (1, 0.0)
    assert found.strain > 0.05
    assert speed.why_unsound(_run([cloth.x, tilted]), found) == "passes through itself"


def test_strains_and_departure():
    cable = scenes._rope(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]))
    longer = cable.x * [1.1, 1.0, 1.0]
    assert judges.edge_strains(cable, longer[None])[0] == pytest.approx([0.1, 0.1])
    coarse = _run([cable.x + [0.0, 0.0, t] for t in (0.0, 0.5, 1.0)], dt=0.5)
    fine = _run([cable.x + [0.0, 0.0, t] for t in np.linspace(0, 1, 11)], dt=0.1)
    assert judges.departure(coarse, fine) == pytest.approx(0, abs=1e-12)
    assert judges.departure(_run(fine.states + [0.0, 3e-3, 4e-3], dt=0.1), coarse) == pytest.approx(5e-3)


# The whole


class _Falling:
    """Nodes fall freely and stop where the obstacle begins, or do not."""

    def __init__(self, scene, dt, stops):
        self._x, self._v, self._dt, self._stops, self._scene = scene.body.x.copy(), 0.0, dt, stops, scene

    def step(self):
        self._v -= scenes.GRAVITY * self._dt
        moved = self._x + [0.0, 0.0, self._v * self._dt]
        free = judges.clearance(self._scene.body, self._scene.obstacles[0], moved[None]) > 0
        self._x = moved if free or not self._stops else self._x

    def positions(self):
        return self._x.copy()

    def trouble(self):
        return ""


class _Engine:
    """Stands for impinge or for MuJoCo."""

    def __init__(self, name, stops=True):
        self.name, self._stops = name, stops

    def version(self):
        return "0"

    def settings(self, scene):
        return [ours.ImpingeSetting("implicit-euler", dt) for dt in (5e-3, 1e-2)]

    def main_setting(self):
        return ours.ImpingeSetting("implicit-euler", 1e-2)

    def reference(self):
        return ours.ImpingeSetting("implicit-euler", 1e-3)

    def build(self, scene, setting, threads):
        return _Falling(scene, setting.dt, self._stops)


def _measure(folder, monkeypatch, mine, peer, parts=()):
    monkeypatch.setattr(scenes, "QUICK", TINY)
    monkeypatch.setattr(benchmark, "_load", lambda names, threads: (mine, peer, {} if mine else {"impinge": "none"}))
    words = ["--quick", "--threads", "1"] + (["--parts", ",".join(parts)] if parts else [])
    options = benchmark._arguments(words)
    results, verdicts = benchmark._measure(options, [0])
    text = benchmark._text(results, verdicts)
    command.save("soft", results, text, folder, "benchmarks.soft_test.plots")
    return json.loads((folder / "soft.json").read_text(encoding="utf-8")), text, verdicts


def test_quick_run(tmp_path, monkeypatch):
    results, text, verdicts = _measure(tmp_path, monkeypatch, _Engine("impinge"), _Engine("MuJoCo"))
    assert [scene["scene"] for scene in results["scenes"]] == [make(4).name for make in scenes.SCENES.values()]
    for scene in results["scenes"]:
        assert [(row["engine"], row["dt"]) for row in scene["rows"]] == [
            (name, dt) for name in ("impinge", "MuJoCo") for dt in (5e-3, 1e-2)
        ]
        assert all(row["unsound"] == "" and row["strain"] == pytest.approx(0, abs=1e-9) for row in scene["rows"])
        assert all((row["departure"] is None) == ("cloth" in text_of(scene)) for row in scene["rows"])
    assert {(row["side"], row["engine"]) for row in results["growth"]} == {
        (4, "impinge"), (6, "impinge"), (4, "MuJoCo")
    }  # fmt: skip
    assert (tmp_path / "soft.png").stat().st_size > 0
    met = {verdict.name: verdict.met for verdict in verdicts}
    assert [value for name, value in met.items() if name.startswith("times")] == [False] * 4  # about as fast
    assert met["steps and states of impinge in which something passes through"]
    assert "## Growth" in text


def text_of(scene):
    return "cloth" if scene["nodes"] == TINY.side**2 else "cable"


def test_a_run_into_the_obstacle_does_not_count(tmp_path, monkeypatch):
    results, text, verdicts = _measure(
        tmp_path, monkeypatch, _Engine("impinge", stops=False), _Engine("MuJoCo"), ["sphere", "pulley"]
    )
    assert results["passes_through"] > 0
    found = {verdict.name: verdict for verdict in verdicts}
    assert found["times the simulated seconds per second of MuJoCo, cloth on sphere"].met is None
    assert found["steps and states of impinge in which something passes through"].met is False
    assert "inside the obstacle" in text


def test_rivals_are_at_least_as_accurate():
    def row(engine, dt, rate, strain, unsound="", is_main=False):
        return {"engine": engine, "dt": dt, "rate": rate, "strain": strain, "unsound": unsound, "is_main": is_main}

    fine, fair, coarse = (row("MuJoCo", dt, 1e3 * dt, 3 * dt) for dt in (1e-3, 2e-3, 5e-3))
    through = row("MuJoCo", 1e-2, 10.0, 1e-6, unsound="passes through itself")
    others = [through, coarse, fair, fine]
    for strain, expected in ((1e-6, fine), (5e-3, fine), (6e-3, fair), (1.0, coarse)):
        mine = row("impinge", 1e-2, 30.0, strain, is_main=True)
        assert report.main_run([*others, mine]) is mine
        assert report.rivals([*others, mine], mine) == (expected, coarse)
    assert report.rivals([through], mine) == (None, None)
    assert report.main_run([row("impinge", 1e-2, 30.0, 0.0, "inside the obstacle", True)]) is None


def test_without_impinge_or_peer(tmp_path, monkeypatch):
    results, text, verdicts = _measure(tmp_path, monkeypatch, None, None, ["sphere", "growth"])
    assert results["scenes"][0]["rows"] == []
    assert all(verdict.met is None for verdict in verdicts)
    assert "absent: impinge" in text


def test_a_failing_engine_is_a_row_without_figures():
    class Failing(_Engine):
        def build(self, scene, setting, threads):
            raise ValueError("no such thing")

    found = speed.measure(TINY.scene("pulley"), [Failing("impinge")], None, 1, TINY)
    assert {row["failure"] for row in found["rows"]} == {"ValueError: no such thing"}
    assert report.speed_verdicts([found])[0].met is None
    assert "no such thing" in report.scene_text(found)


def test_runs_end_early():
    class Stuck(_Falling):
        def step(self):
            if self._v < -0.2:
                raise RuntimeError("stuck\nreally")
            super().step()

    class Engine(_Engine):
        def build(self, scene, setting, threads):
            return Stuck(scene, setting.dt, True)

    scene, setting = TINY.scene("pulley"), ours.ImpingeSetting("implicit-euler", 1e-2)
    done = engine.run(Engine("impinge"), scene, setting, 1, 5.0)
    assert done.ended == "RuntimeError: stuck"
    assert len(done.states) == len(done.seconds) + 1 == 4
    assert engine.run(_Engine("impinge"), scene, setting, 1, 0.0).ended == "0 s are over"


@pytest.mark.skipif(not hasattr(impinge, "SoftWorld"), reason="no soft bodies yet")
def test_ours_takes_all_scenes():
    ours.warm_up(ours.Impinge(), 1)


# MuJoCo has the material of the scenes


def _hanging(points, **changes):
    body = replace(scenes._rope(points), **changes)
    return scenes.Scene("hanging", body, (scenes.Sphere((5.0, 0.0, 0.0), 0.1),), (0,), 1.0)


def test_mujoco_stretches_a_cable_as_much_as_a_spring():
    pytest.importorskip("mujoco")
    z = -0.02 * np.arange(61.0)
    scene = _hanging(np.column_stack([0 * z, 0 * z, z]))
    done = engine.run(peers.Mujoco(), scene, peers.MujocoSetting(peers.ROWS, "Newton", 1e-3), 1, 60.0)
    load = scenes.GRAVITY * np.cumsum(scene.body.masses[::-1])[::-1][1:]
    strain = judges.edge_strains(scene.body, done.states[-1:])[0]
    assert strain[:-1] == pytest.approx(load[:-1] / scene.body.stretch, rel=1e-3)  # the last node is lighter


def test_mujoco_stretches_a_cloth_as_much_as_its_threads():
    pytest.importorskip("mujoco")
    uv, faces = scenes._sheet(9)
    x = np.column_stack([uv[:, 0], np.zeros(len(uv)), uv[:, 1]])
    top = tuple(np.flatnonzero(x[:, 2] > 0.49).tolist())
    scene = scenes.Scene("hanging", scenes._cotton(x, faces), (scenes.Sphere((5.0, 0.0, 0.0), 0.1),), top, 2.0)
    for contact in (peers.ROWS, peers.IPC):
        done = engine.run(peers.Mujoco(), scene, peers.MujocoSetting(contact, "CG", 5e-3), 1, 60.0)
        sag = (x - done.states[-1])[:, 2].max()
        assert sag == pytest.approx(0.5 * 0.2 * scenes.GRAVITY / 1000.0, rel=0.02)  # ρ g L²/(2 E t)
