"""The benchmark of continuous collision detection runs, and a wrong result cannot pass for a right one."""

import json
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.ccd_test import alarms, cloth, ours, peers, report, scenes, truth
from benchmarks.ccd_test.race import Entry, race

from benchmarks import ccd as benchmark
from benchmarks import command
from impinge import ccd
from tests.ccd import naive

TINY = scenes.Sizes(
    side=24,
    rounds=2,
    method_seconds=0.1,
    broad_phases=("LBVH",),
    asked=3_000,
    judged=40,
    queries=500,
    peer_queries=50,
    family_queries=1,
    retimed=5,
    truth_stride=150,
    growth=(10, 20),
    growth_seconds=5.0,
)


class _Found:
    """Candidates as ipctk gives them."""

    def __init__(self, pairs):
        self.fv_candidates = [SimpleNamespace(vertex_id=i, face_id=j) for i, j in pairs["vertex_triangle"]]
        self.ee_candidates = [SimpleNamespace(edge0_id=j, edge1_id=i) for i, j in pairs["edge_edge"]]

    def __len__(self):
        return len(self.fv_candidates) + len(self.ee_candidates)


class _OnCloth:
    """Does what impinge does, after a pause; the earliest contact is a bit early."""

    def __init__(self, scene):
        self._scene = scene

    def find_candidates(self, broad_phase):
        time.sleep(0.05)
        return _Found(ours.pairs_of(ours.find_candidates(self._scene, 1)))

    def find_earliest(self, found, narrow_phase):
        return self.first_contact("", narrow_phase)

    def first_contact(self, broad_phase, narrow_phase):
        time.sleep(0.05)
        return min(1.0, 0.9 * ours.first_contact(self._scene, 1))


class _Peer:
    """Stands for ipctk; reports what comes nearer than a gap, as it stops early."""

    name = "ipctk"

    def __init__(self, gap):
        self._gap = gap

    def version(self):
        return "0"

    def use(self, threads):
        pass

    def on(self, scene):
        return _OnCloth(scene)

    def ask(self, kind, queries, narrow_phase):
        points = np.array(queries)
        return np.isfinite(ours.times_of(kind, points[:, :4], points[:, 4:], 1, self._gap))

    def ask_timed(self, kind, query, narrow_phase):
        return bool(self.ask(kind, [query], narrow_phase)[0]), 0.02


def _run(folder, monkeypatch, peer, parts=()):
    monkeypatch.setattr(scenes, "QUICK", TINY)
    monkeypatch.setattr(peers, "load", lambda names: (peer, {}))
    words = ["--quick", "--threads", "1"] + (["--parts", ",".join(parts)] if parts else [])
    options = benchmark._arguments(words)
    results, verdicts = benchmark._measure(options, [0])
    text = benchmark._text(results, verdicts)
    name = command.of_parts("ccd", options.parts, benchmark._PARTS)
    command.save(name, results, text, folder, "benchmarks.ccd_test.plots")
    assert (folder / f"{name}.png").stat().st_size > 0
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8")), text, verdicts


@pytest.mark.verify
def test_quick_run_without_peer(tmp_path, monkeypatch):
    results, text, verdicts = _run(tmp_path, monkeypatch, None)
    assert {row["method"] for row in results["cloth"]["candidates"]} == {"impinge"}
    assert [row["earliest"] < 1 for row in results["cloth"]["whole"]] == [False, True]
    assert {(row["motion"], row["side"]) for row in results["growth"]} == {
        ("approach", 10), ("approach", 20), ("impact", 10), ("impact", 20)
    }  # fmt: skip
    met = {verdict.name: verdict.met for verdict in verdicts}
    assert all(value is None for name, value in met.items() if "ipctk" in name)
    assert [value for name, value in met.items() if "that we miss" in name] == [
        True,
        True if naive.DATA.exists() else None,
    ]
    assert results["queries"]["slowest"]["queries"] >= 2 * 3 * 20
    assert results["missed"] == 0
    assert "## Growth" in text


def test_quick_run_with_a_peer(tmp_path, monkeypatch):
    results, text, verdicts = _run(tmp_path, monkeypatch, _Peer(0.005), ["cloth", "truth"])
    assert {path.suffix for path in tmp_path.glob("ccd_cloth_truth.*")} == {".json", ".md", ".png"}
    found = {verdict.name: verdict for verdict in verdicts}
    assert all(verdict.met for name, verdict in found.items() if "times faster" in name or "lack" in name)
    excess = next(
        verdict for name, verdict in found.items() if name.startswith("false alarms more than ipctk additive")
    )
    assert excess.met
    assert excess.reached < 0  # the peer's gap makes it report what does not touch
    for row in results["cloth"]["candidates"]:
        assert (row["more"], row["lacks"]) == (0, 0)
    earliest = {row["method"]: row["earliest"] for row in results["cloth"]["narrow"] if row["motion"] == "impact"}
    assert earliest[peers.ADDITIVE] == pytest.approx(0.9 * earliest["impinge"])
    if naive.DATA.exists():
        assert {row["method"] for row in results["truth"]["rows"]} == {
            "impinge",
            peers.ADDITIVE,
            peers.STRICT,
            peers.TIGHT,
        }
    assert "no ipctk" not in text


def test_truth_that_is_not_here(tmp_path, monkeypatch):
    monkeypatch.setattr(naive, "DATA", tmp_path)
    results = truth.measure(None, TINY)
    assert results["rows"] == []
    assert report.truth_text(results).startswith("Skipped")
    assert [verdict.met for verdict in report.truth_verdicts(results)] == [None]


@pytest.mark.skipif(not naive.DATA.exists(), reason="the public queries are not here")
def test_truth_that_a_method_misses(monkeypatch):
    monkeypatch.setattr(ours, "times_of", lambda kind, x0, x1, threads, gap=0.0: np.full(len(x0), np.inf))
    results = truth.measure(None, replace(TINY, truth_stride=20))
    assert report.truth_verdicts(results)[0].met is False
    assert report.count_missed({"truth": results}) > 0


def test_folded_cloth():
    scene = scenes.cloth(101, "approach")
    grid = scene.x0.reshape(101, 101, 3)
    assert np.ptp(scene.x0[:, 1]) == 1
    assert grid[-1, :, 2] - grid[0, :, 2] == pytest.approx(np.full(101, 2 * scenes.RADIUS))
    assert grid[-1, :, 0] == pytest.approx(grid[0, :, 0], abs=1e-12)
    lengths = np.linalg.norm(np.diff(grid, axis=0), axis=2)
    assert lengths.max() <= 0.01 + 1e-12  # chords of the strip
    assert lengths.min() > 0.009
    assert len(scene.faces) == 2 * 100**2
    assert len(scene.edges) == 2 * 100 * 101 + 100**2
    assert ccd.is_free(scene.x0, scene.x1, scene.edges, scene.faces)


def test_impact_passes_through():
    scene = scenes.cloth(60, "impact")
    contact = ccd.first_contact(scene.x0, scene.x1, scene.edges, scene.faces)
    assert 0.6 < contact.time < 0.8  # 2 cm of 2.5 cm, a bit earlier by noise
    again = scenes.cloth(60, "impact")
    assert np.array_equal(scene.x1, again.x1)


def test_candidates_that_we_lack_are_counted():
    scene = scenes.cloth(24, "impact")
    everything = ours.pairs_of(ours.find_candidates(scene, 1))
    less = everything | {"edge_edge": everything["edge_edge"][5:]}
    assert cloth.compare(scene, everything, everything) == {"more": 0, "missed_by_us": 0, "more_apart": 0.0, "lacks": 0}
    assert cloth.compare(scene, less, everything) == {
        "more": 5, "missed_by_us": 5, "more_apart": pytest.approx(0.0, abs=1.0), "lacks": 0
    }  # fmt: skip
    assert cloth.compare(scene, everything, less)["lacks"] == 5
    far = np.array([[0, len(scene.faces) // 2 - 1]], np.int32)
    larger = everything | {"vertex_triangle": np.concatenate([everything["vertex_triangle"], far])}
    compared = cloth.compare(scene, everything, larger)
    assert (compared["more"], compared["missed_by_us"]) == (1, 0)
    assert compared["more_apart"] > 0.1
    assert report.count_missed({"cloth": {"candidates": [cloth.compare(scene, less, everything)]}}) == 5


def test_alarms_are_judged():
    triangle = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    x0 = np.array([[[0.2, 0.2, 1], *triangle], [[0.2, 0.2, 1], *triangle]], float)
    x1 = np.array([[[0.2, 0.2, -1], *triangle], [[0.2, 0.2, 1e-9], *triangle]], float)
    found = alarms.judge("vertex_triangle", x0, x1)
    assert found.tolist() == [True, False]
    assert alarms.tally(np.array([True, True]), found) == {"reported": 2, "false_alarms": 1, "missed": 0}
    assert alarms.tally(np.array([False, False]), found) == {"reported": 0, "false_alarms": 0, "missed": 1}


def test_race(clock):
    def slow():
        clock.wait(0.02)
        return 1.0

    entries = [
        Entry("compared", 1, "task", slow),
        Entry("other", 1, "task", slow, is_compared=False),
        Entry("once", 1, "task", slow, is_once=True),
    ]
    race("test", entries, 4, 0.03)
    assert [len(entry.timings) for entry in entries] == [4, 2, 1]
    assert [entry.result for entry in entries] == [1.0, 1.0, 1.0]
    assert entries[0].row()["seconds"] == pytest.approx(0.02)


def test_wrong_usage(capsys):
    for words, message in ((["--peers", "nobody"], "found nobody"), (["--threads", "x"], "found x, expected numbers")):
        with pytest.raises(SystemExit):
            benchmark._arguments(words)
        assert message in capsys.readouterr().err
