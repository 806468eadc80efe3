"""The benchmarks run, their systems are what they say, and a wrong result cannot pass for a right one."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.inside_test import cases, winding
from benchmarks.inside_test import peers as inside_peers
from benchmarks.inside_test.winding_report import winding_text, winding_verdicts
from benchmarks.neighbour_search import peers, report, systems
from benchmarks.neighbour_search.competitors import Answer, Forecast, Impinge, judge
from benchmarks.neighbour_search.growth import matched
from benchmarks.neighbour_search.race import enter, race
from benchmarks.report import exponent

import impinge
from benchmarks import command, inside

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.verify
def test_neighbours_quick_without_peers(tmp_path):
    # In a process of its own, because it limits the threads before libraries are loaded.
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.neighbours", "--quick", "--peers", "none", "--threads", "1"]
        + ["--parts", "speed,growth", "--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "neighbours_speed_growth.json").read_text(encoding="utf-8"))
    assert {row["family"] for row in results["speed"]} == {
        "equal", "shuffled", "two sizes", "fracture", "power law", "2D"
    }  # fmt: skip
    assert {row["kind"] for row in results["growth"]} == {"cells", "levels", "auto"}
    for row in results["spread"]:
        assert row["pairs_per_equal"] == pytest.approx(row["pairs_per_sphere"], rel=0.05)
    assert [verdict["met"] for verdict in results["verdicts"] if "differ" in verdict["name"]] == [True]
    text = (tmp_path / "neighbours_speed_growth.md").read_text(encoding="utf-8")
    assert text in done.stdout
    assert {"neighbours.png", "neighbours_summary.png"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--peers", "nobody"], "found nobody"),
        (["--threads", "0"], "found 0, expected 1 to"),
        (["--threads", "x"], "found x, expected numbers"),
    ],
)
def test_wrong_usage(words, message):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.neighbours", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("system", "sizes"),
    [
        (systems.equal(1_000), {1.0: 1_000}),
        (systems.equal(900, dimensions=2), {1.0: 900}),
        (systems.halves(5, 12_600), {5.0: 100, 1.0: 12_500}),
        (systems.few_large(20, 5_000, 3), {20.0: 3, 1.0: 4_997}),
        (systems.fracture(2), {2.0: 480, 1.0: 4_160}),
    ],
    ids=lambda value: value.label if isinstance(value, systems.System) else "",
)
def test_systems_without_overlap(system, sizes):
    radii, counts = np.unique(system.radii, return_counts=True)
    assert dict(zip(radii.tolist(), counts.tolist(), strict=True)) == sizes
    assert len(impinge.pairs(system.centres, system.radii)) == 0
    assert len(impinge.pairs(system.centres, system.radii, gap=system.gap)) > 0


def test_systems_are_the_same_every_time():
    for make in (systems.equal, systems.power_law, lambda n: systems.halves(5, n)):
        one, other = make(2_000), make(2_000)
        assert np.array_equal(one.centres, other.centres)
        assert np.array_equal(one.radii, other.radii)


def test_power_law():
    radii = systems.power_law(100_000).radii
    assert radii.min() >= 1
    assert radii.max() <= 100
    # Of a number density ∝ r^-3.5 from 1 to 100, the share above r is nearly r^-2.5.
    for r in (1.5, 3.0, 6.0):
        assert np.mean(radii > r) == pytest.approx(r**-2.5, rel=0.1)


def test_rods_are_in_their_boxes():
    lower, upper = systems.rods(1_000)
    extents = upper - lower
    assert (extents >= 2).all()
    assert np.linalg.norm(extents - 2, axis=1) == pytest.approx(np.full(1_000, 38.0))  # straight part of 2 · 20 − 2


def test_peers_of_scipy_agree_with_impinge():
    ready, absent = peers.load(["scipy", "scipy-own", "scipy-split"])
    assert not absent
    for system in (systems.halves(5, 3_000), systems.power_law(2_000), systems.equal(900, dimensions=2)):
        truth = Answer.of(Impinge().find(system, 1), len(system))
        for peer in ready:
            if peer.group == "general" or system.is_split:
                assert Answer.of(peer.find(peer.prepare(system), 1), len(system)) == truth, peer.name


def test_forecast_counts_candidates():
    system = systems.halves(5, 5_000)
    forecast = Forecast(system)
    everything = len(impinge.pairs(system.centres, 0.0, gap=system.cutoff))
    assert forecast.largest_cutoff == pytest.approx(everything, rel=0.2)
    assert len(impinge.pairs(system.centres, system.radii, gap=1.0)) < forecast.own_cutoff < everything


def test_judge():
    truth = Answer(100, 7)

    def count(change):
        return 100 + round(change * 1e6)

    assert judge(Answer(100, 7), truth, False, 10.0, count) == ""
    assert judge(Answer(100, 8), truth, False, 10.0, count) == "MISMATCH +0"  # as many, but others
    assert judge(Answer(102, 8), truth, False, 10.0, count) == "MISMATCH +2"
    assert judge(Answer(102, 8), truth, True, 10.0, count) == "+2 by rounding"
    assert judge(Answer(110, 8), truth, True, 10.0, count) == "MISMATCH +10"


class _Liar(Impinge):
    name, group, has_threads = "liar", "general", False

    def __init__(self):
        super().__init__()
        self.name = "liar"

    def find(self, prepared, threads):
        i, j = super().find(prepared, threads)
        return i[1:], j[1:]


class _Broken(_Liar):
    def find(self, prepared, threads):
        raise ValueError("no such thing")


def test_wrong_result_misses_a_required_figure():
    from benchmarks.neighbour_search import sizes, speed

    rows = speed._measure(systems.equal(1_000), Impinge(), [_Liar(), _Broken()], sizes.QUICK, [1])
    ours, liar, broken = rows
    assert ours["differs"] == ""
    assert liar["differs"] == "MISMATCH -1"
    assert broken["skipped"] == "failed: ValueError: no such thing"
    assert "🔴 MISMATCH -1" in report.speed_text(rows)
    verdict = report.count_verdict(rows)
    assert verdict.met is False
    assert verdict.reached == 1


def test_far_behind_sits_out():
    class Slow(_Liar):
        calls = 0

        def find(self, prepared, threads):
            import time

            self.calls += 1
            time.sleep(0.2)
            return super().find(prepared, threads)

    system = systems.equal(125)
    slow = Slow()
    entries = enter(Impinge(), [1], system, 125) + enter(slow, [1], system, 125)
    race("test", entries, 4, 100.0)
    assert slow.calls == 1
    assert len(entries[0].timings) == 12


def test_matched_gap():
    system = matched(systems.equal(8_000), 1.0)
    assert len(impinge.pairs(system.centres, system.radii, gap=system.gap)) / 8_000 == pytest.approx(1.0, rel=0.03)


def test_exponent():
    n = np.array([1e3, 1e4, 1e5])
    assert exponent(n, 3 * n**1.5) == pytest.approx(1.5)


TINY = replace(
    cases.QUICK, points=2_000, sphere_level=3, foam_faces=5_000, rounds=2, method_seconds=10.0, direct_points=100
)


@pytest.mark.verify
def test_winding_without_peers(tmp_path, monkeypatch):
    monkeypatch.setattr(cases, "QUICK", TINY)
    options = inside._arguments(["--quick", "--peers", "none", "--threads", "1", "--parts", "winding"])
    results, verdicts = inside._measure(options, [0])
    text = inside._text(results, verdicts)
    name = command.of_parts("inside", options.parts, inside._PARTS)
    command.save(name, results, text, tmp_path, "benchmarks.inside_test.plots")

    rows = json.loads((tmp_path / "inside_winding.json").read_text(encoding="utf-8"))["winding"]
    assert [row["family"] for row in rows[::2]] == ["sphere", "sphere with holes", "foam", "foam with holes"]
    assert {row["method"] for row in rows} == {"impinge matched", "impinge default"}
    for row in rows:
        assert row["truth"] == ("reference" if "holes" in row["family"] else "octree")
        assert row["rms_error"] <= row["largest_error"] < 0.05
        assert 0 < row["build_s"] < row["total_s"]
        assert row["direct_error"] is None if row["truth"] == "octree" else row["direct_error"] <= 1e-6
    met = [verdict["met"] for verdict in results["verdicts"]]
    assert met == 12 * [None] + 7 * [True]  # what is compared with libigl, and what needs no peer
    assert "| impinge matched | p = 3, d = 2," in text
    assert (tmp_path / "inside_winding.png").stat().st_size > 0


def test_with_holes():
    case = cases.sphere(3)
    broken = cases.with_holes(case)
    assert len(broken.faces) == 512 - 26
    assert {tuple(face) for face in broken.faces} < {tuple(face) for face in case.faces}
    assert np.array_equal(broken.faces, cases.with_holes(case).faces)
    assert not impinge.Mesh(broken.vertices, broken.faces).is_closed


def test_errors_of_winding_numbers():
    errors = winding.Errors.of(np.array([0.0, 1.3, 0.4, 0.6]), np.array([0.0, 1.0, 1.0, 1.0]))
    assert (errors.largest, errors.wrong) == (pytest.approx(0.6), 1)
    assert errors.rms == pytest.approx(np.sqrt((0.09 + 0.36 + 0.16) / 4))
    assert errors.within(errors)
    assert not errors.within(replace(errors, rms=0.1))
    assert not errors.within(replace(errors, largest=0.5))


class _Winder:
    """The truth with errors of a given size, under the name of a peer."""

    def __init__(self, name, error, seconds=0.0):
        self.name, self._error, self._seconds = name, error, seconds

    def build(self, vertices, faces):
        return impinge.Solid((vertices, faces), method="direct")

    def winding(self, built, points):
        import time

        time.sleep(self._seconds)
        signs = np.where(np.arange(len(points)) % 2, 1, -1)
        return built.winding(points) + self._error * signs

    def settings(self, built):
        return f"error {self._error}"


@pytest.mark.parametrize(
    ("error", "seconds", "steps", "is_matched"),
    [
        (0.1, 0.5, winding.LADDER[:1], True),
        (0.002, 0.0, winding.LADDER[1:-1], True),
        (1e-9, 0.0, winding.LADDER[-1:], False),
    ],
)
def test_parameters_are_matched_to_libigl(error, seconds, steps, is_matched):
    rows = winding.measure_case(cases.sphere(3), [_Winder("libigl", error, seconds)], TINY, 1)
    ours, _, libigl = rows
    assert ours["settings"].rpartition(",")[0] in [f"p = {step['order']}, d = {step['near']:g}" for step in steps]
    assert (libigl["largest_error"], libigl["rms_error"]) == (pytest.approx(error), pytest.approx(error))
    query, total, error_ratio, *_ = winding_verdicts(rows)
    assert error_ratio.met is is_matched
    assert query.reached == pytest.approx(libigl["query_s"] / ours["query_s"])
    assert total.reached == pytest.approx(libigl["total_s"] / ours["total_s"])
    if seconds:
        assert query.met
        assert total.met


def test_wrong_sides_are_counted_and_slow_methods_sit_out():
    slow = _Winder("slow", 0.6, 0.1)
    rows = winding.measure_case(cases.sphere(3), [slow], replace(TINY, method_seconds=0.05, rounds=3), 1)
    assert rows[-1]["wrong"] > TINY.points / 3
    assert f"{rows[-1]['wrong']:,} |" in winding_text(rows)
    assert [len(row["all_queries_s"]) for row in rows] == [3, 3, 1]


def test_libigl_is_measured_as_often_as_impinge():
    sizes = replace(TINY, method_seconds=0.05, rounds=3)
    rows = winding.measure_case(cases.sphere(3), [_Winder("libigl", 0.1, 0.1)], sizes, 1)
    assert [len(row["all_queries_s"]) for row in rows] == [3, 3, 3]


def test_peers_of_the_inside_test_that_are_absent():
    def missing(threads):
        raise ImportError("not here")

    ready, absent = inside_peers.load(["libigl", "nobody"], {"libigl": missing}, 1)
    assert not ready
    assert absent == {"libigl": "ImportError: not here"}
