"""The benchmark of quadratic programs runs, and a wrong answer cannot pass for a right one."""

import dataclasses
import json
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.qp_test import accuracy, cold, ours, peers, plain, problems, report, sequences, sizes, warm
from benchmarks.qp_test.race import Entry, race
from benchmarks.qp_test.sequences import Sequence

from benchmarks import command
from benchmarks import qp as benchmark

SHARED = Path(__file__).resolve().parents[3] / "shared" / "peers" / "qp"
PROGRAMS = (
    partial(problems.cable, 40), partial(problems.cable, 40, with_strain=True), partial(problems.cloth, 8, 12),
    partial(problems.self_contact, 7, 10),
)  # fmt: skip
SEQUENCES = Sequence("suspended", 16, 3), Sequence("sphere", 8, 3)
TINY = sizes.Sizes(PROGRAMS, rounds=2, method_seconds=0.2, limit=5.0, sequences=SEQUENCES)


class _Peer(peers.Peer):
    """Does what impinge does, after a pause, and shifts x."""

    package = "numpy"
    asked = "nothing"

    def __init__(self, name, shift, pause=0.05):
        super().__init__(1.0)
        self.name, self._shift, self._pause = name, shift, pause

    def prepare(self, program):
        return program

    def solve(self, prepared):
        time.sleep(self._pause)
        return ours.solve(prepared)

    def answer(self, program, solved):
        found = ours.answer(solved)
        return found._replace(x=found.x * (1 + self._shift))


class _Failing(_Peer):
    def solve(self, prepared):
        raise ValueError("constraints are inconsistent")


def _run(folder, monkeypatch, rivals, words=()):
    monkeypatch.setattr(sizes, "QUICK", TINY)
    monkeypatch.setattr(peers, "load", lambda names, limit: (rivals, {}))
    options = benchmark._arguments(["--quick", *words])
    results, verdicts = benchmark._measure(options, [0])
    text = benchmark._text(results, verdicts)
    name = command.of_parts("qp", options.parts, benchmark._PARTS)
    command.save(name, results, text, folder, "benchmarks.qp_test.plots")
    assert (folder / f"{name}.png").stat().st_size > 0
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8")), text, verdicts


@pytest.mark.verify
def test_quick_run_without_peers(tmp_path, monkeypatch):
    results, text, verdicts = _run(tmp_path, monkeypatch, [])
    assert [row["program"] for row in results["cold"]] == [
        "cable 40", "cable 40 held, strain", "cloth 8², 12 rows", "self-contact 7², 10 rows"
    ]  # fmt: skip
    assert results["wrong"] == 0
    assert [verdict.met for verdict in verdicts[:5]] == [None, None, None, None, True]
    assert [verdict.required for verdict in verdicts[5:]] == [3.0, 2.0]
    assert {row["body"] for row in results["plain"]} == {"cable 40", "cloth 8²", "self-contact 7²"}
    banded = [row["body"] for row in results["plain"] if row["method"] == plain.Banded.name]
    assert banded == ["cable 40"]
    assert all(row["residual"] < 1e-6 for row in results["plain"])
    assert "## K alone" in text
    assert [(row["sequence"], row["steps"]) for row in results["warm"]] == [
        ("cable over cylinder", 3), ("cloth on sphere", 3)
    ]  # fmt: skip
    for row in results["warm"]:
        assert row["error"] <= 1e-6
        assert len(row["all_s"]["warm"]) == len(row["all_counts"]["active"]) == 3
        assert min(row["warm"], row["cold"], row["plain"]) > 0
        assert (row["factor_only"] is None) == (row["plain_method"] != "impinge's factor")
    assert "## Consecutive steps" in text


@pytest.mark.verify
def test_accurate_and_other_peers(tmp_path, monkeypatch):
    rivals = [_Peer("good", 0.0), _Peer("rough", 1e-3, pause=0.0), _Failing("failing", 0.0)]
    results, text, verdicts = _run(tmp_path, monkeypatch, rivals, ["--parts", "cold"])
    assert {path.suffix for path in tmp_path.glob("qp_cold.*")} == {".json", ".md", ".png"}
    accepted = {(row["method"], row["is_accepted"]) for row in results["cold"]}
    assert accepted == {("impinge", True), ("good", True), ("rough", False), ("failing", False)}
    assert all("good 5" in verdict.remark for verdict in verdicts[:-1])  # 50 ms, not those of the rough one
    assert all(verdict.met for verdict in verdicts)
    assert "- failing: cable 40; cable 40 held, strain" in text
    assert "(ValueError: constraints are inconsistent)" in text
    assert " ms !" in text or " µs !" in text


def test_a_wrong_answer_of_ours_is_told(tmp_path, monkeypatch):
    right = ours.answer
    monkeypatch.setattr(ours, "answer", lambda found: right(found)._replace(x=1.01 * found.x))
    results, _, verdicts = _run(tmp_path, monkeypatch, [], ["--parts", "cold"])
    assert results["wrong"] == 4
    assert verdicts[-1].met is False


def test_errors_of_answers():
    program = problems.cable(40, with_strain=True)
    right = ours.answer(ours.solve(program))
    assert accuracy.measure(program, right).largest <= 1e-9
    held = int(np.argmax(right.mu))
    slack = int(np.argmin(program.J @ right.x - program.c))
    unit = np.eye(len(program.c))
    for wrong, name in (
        (right._replace(x=right.x * (1 + 1e-5 * (np.arange(len(right.x)) % 2))), "stationarity"),
        (right._replace(nu=right.nu + 1e-3 * np.abs(program.b).max()), "stationarity"),
        (right._replace(x=right.x - 1e-4 * program.J.T @ unit[held]), "stationarity"),
        (right._replace(x=right.x + 1e-4 * program.J.T @ unit[held]), "violation"),
        (right._replace(mu=right.mu + 1e-3 * right.mu.max() * unit[slack]), "complementarity"),
        (right._replace(mu=right.mu - 1e-3 * right.mu.max() * unit[slack]), "complementarity"),
        (right._replace(x=right.x * np.nan), "largest"),
    ):
        assert not getattr(accuracy.measure(program, wrong), name) <= 1e-6


def test_who_is_too_slow_is_left_out():
    small, large = problems.cable(40), problems.cable(400)
    patience = cold.Patience(limit=1.0)
    peer = _Peer("slow", 0.0)
    assert patience.refuses(peer, large) == ""
    patience.remember("slow", small, 0.02)
    assert patience.refuses(peer, large) == "would take about 2 s"
    assert patience.refuses(_Peer("other", 0.0), large) == ""
    assert patience.refuses(peer, problems.cloth(12, 10)) == ""  # another kind
    peer.most_unknowns = 500
    assert patience.refuses(peer, large) == "too slow beyond 500 unknowns"
    assert patience.refuses(peer, small) == ""


def test_race(clock):
    entries = [
        Entry("ours", lambda: clock.wait(0.03), is_ours=True),
        Entry("other", lambda: clock.wait(0.03)),
        Entry("fails", lambda: 1 / 0),
    ]
    race("test", entries, rounds=3, seconds=0.04)
    assert [len(entry.timings) for entry in entries] == [4, 2, 0]
    assert len(entries[0].row()["all_s"]) == 4
    assert entries[2].row() == {"method": "fails", "seconds": None, "failure": "ZeroDivisionError: division by zero"}


@pytest.mark.skipif(not SHARED.exists(), reason="the generators to compare with are not here")
@pytest.mark.parametrize(
    ("mine", "name", "arguments"),
    [
        (partial(problems.cable, 100), "cable", {"n": 100}),
        (partial(problems.cable, 1000), "cable", {"n": 1000}),
        (partial(problems.cable, 300, with_strain=True), "cable", {"n": 300, "fixed_ends": True, "strain": True}),
        (partial(problems.cloth, 30, 10), "cloth", {"N": 30, "m": 10}),
        (partial(problems.cloth, 30, 200), "cloth", {"N": 30, "m": 200}),
        (partial(problems.self_contact, 30, 500), "fold", {"N": 30, "m": 500}),
    ],
)
def test_problems_are_those_of_the_comparison(monkeypatch, mine, name, arguments):
    monkeypatch.syspath_prepend(str(SHARED))
    monkeypatch.delitem(sys.modules, "problems", raising=False)
    import problems as theirs

    wanted, found = getattr(theirs, name)(**arguments), mine()
    for key in ("K", "b", "J", "c", "E", "e"):
        one, other = wanted[key], getattr(found, key)
        assert one.shape == other.shape
        if one.shape[0]:
            assert abs(one - other).max() <= 1e-14 * abs(one).max()


@pytest.mark.parametrize("make", PROGRAMS)
def test_problems_are_sound(make):
    program = make()
    K = program.K.toarray()
    assert np.abs(K - K.T).max() <= 1e-12 * np.abs(K).max()
    np.linalg.cholesky(K)
    assert program.E.shape[0] == program.E.nnz == len(program.e)
    assert (program.E.data == 1).all()
    assert program.size.startswith(f"{len(program.b):,} unknowns")


def test_many_rows_depend_on_others():
    program = problems.cloth(12, 60)
    assert np.linalg.matrix_rank(program.J.toarray()) < 0.8 * len(program.c)


def test_residual_of_plain_solvers():
    program = problems.cable(30)
    x = plain.Splu().prepare(program)()
    assert plain.residual(program, x) < 1e-12
    assert plain.residual(program, 1.001 * x) > 1e-4
    assert plain.residual(program, sp.linalg.spsolve(program.K, program.b)) < 1e-12


def test_peers_that_are_absent():
    def missing(limit):
        raise ImportError("not here")

    classes = {"piqp": missing, "clarabel": lambda limit: _Peer("Clarabel", 0.0)}
    ready, absent = peers.load(["piqp", "clarabel"], 1.0, classes)
    assert [peer.name for peer in ready] == ["Clarabel"]
    assert absent == {"piqp": "ImportError: not here"}


def test_peers_that_we_misread():
    ready, absent = peers.load(["piqp"], 1.0, {"piqp": lambda limit: _Peer("PIQP", 1e-2)})
    assert not ready
    assert "solved wrongly" in absent["piqp"]


def test_verdicts_without_an_answer_of_ours():
    row = {
        "program": "cable 5", "kind": "cable", "method": "impinge", "seconds": None, "error": None,
        "failure": "it failed", "is_accepted": False,
    }  # fmt: skip
    verdicts = report.cold_verdicts([row])
    assert [verdict.met for verdict in verdicts] == [None, None]
    assert report.count_wrong([row], []) == 1
    assert report.count_wrong([], [{"error": 1e-10}, {"error": np.nan}, {"error": 1e-3}]) == 2


def test_recorded_steps():
    steps = sequences.record(Sequence("suspended", 16, 4))
    assert len(steps) == 5
    for program, keys in steps:
        assert len(program.b) == 3 * (17 - 2)
        assert program.J.shape == (len(keys), len(program.b))
        K = program.K.toarray()
        assert np.abs(K - K.T).max() <= 1e-12 * np.abs(K).max()
        np.linalg.cholesky(K)
        assert len(ours.solve(program).active)


def test_recording_waits_for_the_cloth_to_touch_itself():
    side = 10
    steps = sequences.record(Sequence("collapse", side, 0, on_itself=True))
    program = steps[0].program
    pulls = ours.solve(program).active
    nodes = [len(np.unique(program.J[row].indices // 3)) for row in range(len(program.c))]
    assert max(nodes) > 1  # the floor is touched by vertices
    assert len(pulls)


def test_multipliers_go_along_with_their_pairs():
    program = problems.cable(40)
    found = ours.solve(program)
    before = dataclasses.replace(found, multipliers=np.array([1.0, 2.0, 4.0, 8.0]))
    made = warm.guess(before, np.array([70, 30, 70, 50]), np.array([50, 60, 70, 80, 70]))
    assert made.multipliers.tolist() == [8.0, 0.0, 5.0, 0.0, 0.0]
    assert made.active.tolist() == [0, 2]
    assert made.x is found.x
    none = np.empty(0, np.int64)
    assert warm.guess(dataclasses.replace(found, multipliers=np.empty(0)), none, np.array([1])).multipliers == [0.0]


def test_wrong_usage(capsys):
    with pytest.raises(SystemExit):
        benchmark._arguments(["--peers", "nobody"])
    assert "found nobody" in capsys.readouterr().err
