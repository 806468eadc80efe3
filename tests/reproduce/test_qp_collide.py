"""The experiments on programs of contact: demos, programs, verdicts on made-up numbers, and a small report."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from impinge import ccd, solve_qp
from impinge.reproduce.qp_collide import conditioning, exchanges, iterative, programs, responses, scenes, verdicts
from impinge.reproduce.qp_collide.conditioning import Conditioning
from impinge.reproduce.qp_collide.exchanges import Exchanges
from impinge.reproduce.qp_collide.iterative import Count
from impinge.reproduce.qp_collide.responses import RESPONSES, History, Measured
from impinge.reproduce.qp_collide.scenes import DEMOS
from impinge.response.qp_paper import algorithm_1

from ..command import invoke


def said(lines: list[Any], part: str) -> str:
    """The verdict on a statement."""
    return str(next(line.verdict for line in lines if part in line.paper))


# Demos and programs


@pytest.mark.parametrize("name", DEMOS)
def test_demos_begin_at_rest_and_apart(name: str) -> None:
    scene = DEMOS[name].scene(0.01)
    world, cable = scene.world, scene.cable
    lengths = np.linalg.norm(np.diff(cable.points, axis=0), axis=1)
    np.testing.assert_allclose(lengths, cable.spacing, rtol=0.02)
    assert not world.velocities.any()
    assert ccd.self_intersections(world.vertices(), world.surface.edges, world.surface.faces).total == 0
    assert cable.masses.sum() == pytest.approx(cable.mass_per_length * lengths.sum())
    assert DEMOS[name].stiffness >= 1e5  # as in the paper


@pytest.mark.parametrize("name", DEMOS)
def test_a_program_is_that_of_the_next_step(name: str) -> None:
    """Without rows its solution is nearly the step of implicit Euler; with all of them nothing comes too near."""
    scene = DEMOS[name].scene(0.0005)
    world = scene.world
    world.step(3)
    v, free = world.velocities, np.setdiff1d(np.arange(60), scene.cable.held)
    program = programs.program_of(scene)
    found = solve_qp(*program)
    world.step()
    change = (world.velocities - v)[free].ravel()
    assert np.abs(found.x - change).max() < 0.02 * np.abs(change).max()


def test_one_row_each() -> None:
    scene = DEMOS["pulley"].scene(0.01)
    scene.world.step(10)
    all_rows, each = programs.program_of(scene), programs.program_of(scene, one_each=True)
    assert 0 < len(each.c) < len(all_rows.c)
    assert np.linalg.matrix_rank(each.J.toarray()) == len(each.c)
    assert np.linalg.matrix_rank(all_rows.J.toarray()) < len(all_rows.c)
    nodes = [set(row.indices // 3) for row in each.J]
    assert all(len(one) == 1 for one in nodes)
    assert len({tuple(one) for one in nodes}) == len(nodes)
    solution = algorithm_1(*each, safeguard=False)
    assert solution.status == "solved"
    np.testing.assert_allclose(solution.x, solve_qp(*each).x, atol=1e-7)


def test_rows_ask_for_the_distance_at_the_end() -> None:
    """A row that is held: its pair is just its distance apart after the step, or as far as it was if that is less."""
    scene = DEMOS["cylinder"].scene(0.01)
    scene.world.step(34)
    program = programs.program_of(scene, one_each=True)
    found = solve_qp(*program)
    assert len(found.active) > 0
    x, v = scene.world.positions[1:-1], scene.world.velocities[1:-1]
    end = x + 0.01 * (v + found.x.reshape(-1, 3))
    touched = [int(program.J[[row]].indices[0]) // 3 for row in found.active]
    away = np.linalg.norm(end[touched][:, [0, 2]], axis=1) - 0.2
    assert (away < scenes.RADIUS * 1.01).all()
    assert (away > 0.8 * scenes.RADIUS).all()  # facets of the cylinder are inside of it


def test_figure_1() -> None:
    K, J = conditioning.figure_1()
    assert np.linalg.matrix_rank(J.toarray()) == 2
    assert (np.linalg.eigvalsh(K.toarray()) > 0).all()
    np.testing.assert_allclose(0.3 * J.toarray()[0] + 0.7 * J.toarray()[1], J.toarray()[2])
    found = conditioning._of("Figure 1", K, J, 2.5e-3)
    assert (found.rows, found.rank, found.misplaced) == (3, 2, 1)
    assert found.plain > 1e15
    assert found.perturbed < 1e5
    np.testing.assert_allclose(found.penalty, found.K, rtol=0.5)


def test_iterations_of_a_system_that_is_known() -> None:
    """K = 1: CG on (20) needs as many iterations as J Jᵀ has different eigenvalues."""
    J = sp.csr_array(np.diag([1.0, 1.0, 2.0, 2.0, 3.0, 3.0])[:, :6])
    program = programs.Program(sp.csc_array(np.eye(6)), np.ones(6), J, np.zeros(6))
    counts = {form: iterative._count("pulley", 2, form, program, np.arange(6)) for form in iterative.FORMS}
    assert all(one.status == "solved" for one in counts.values())
    assert counts["(20), CG"].iterations == 3
    assert counts["(20), CG"].limit == 6
    assert counts["(8), CG"].limit == 12
    assert 1 <= counts["(24), MINRES"].iterations <= 12


def test_a_history() -> None:
    demo = DEMOS["cylinder"]._replace(duration=0.05, pictured=(0.0, 0.03))
    history, frames = responses.run_demo("cylinder", "penalty", 0.01, demo)
    assert history.times == pytest.approx([0.01, 0.02, 0.03, 0.04, 0.05])
    assert [frame.time for frame in frames] == pytest.approx([0.0, 0.03])
    assert history.held_moved == 0.0
    assert history.gain < 0
    assert len(history.strain) == len(history.passed) == len(history.depth) == 5


# Verdicts, on numbers as the paper would have them, then on others


def made_up(response: str, dt: float, **numbers: Any) -> list[History]:
    lists = {"energy": 0.0, "strain": 1e-3, "passed": 0, "crossing": 0, "overlap": 0.0, "depth": 0.0} | numbers
    steps = [[value if name == "strain" else 0, value] for name, value in lists.items()]
    return [History(demo, response, dt, [dt, 2 * dt], *map(list, steps)) for demo in DEMOS]


def test_verdicts_on_responses() -> None:
    runs = {
        "qp": made_up("qp", 0.01, energy=-1.0),
        "penalty": made_up("penalty", 0.01, energy=-1.0, passed=7, strain=2e-3),
        "impulse": made_up("impulse", 0.01, energy=5.0, strain=0.5),
    }

    def verdict_lines() -> list[Any]:
        return verdicts.on_responses(Measured([one for name in RESPONSES for one in runs[name]], []))

    assert {line.verdict for line in verdict_lines()} == {"reproduced"}
    runs["penalty"] = made_up("penalty", 0.01)
    assert said(verdict_lines(), "do not guarantee") == "differs: nothing passed in these runs"
    runs["impulse"] = made_up("impulse", 0.01, energy=-1.0)
    assert said(verdict_lines(), "amounts of strain").startswith("differs")
    assert said(verdict_lines(), "energy").startswith("differs")
    runs["qp"][0].passed[-1] = 1
    runs["qp"][1].held_moved = 1e-9
    assert said(verdict_lines(), "all the collisions") == "differs: something passed"
    assert said(verdict_lines(), "fixed") == "differs: they moved"


def test_verdicts_on_conditioning() -> None:
    single = Conditioning("Figure 1", 3, 2, 10.0, 10.0, 1e18, 1e4, 1e4, 10.0, 1)
    first = dataclasses.replace(single, source="pulley, first", misplaced=0)
    last = dataclasses.replace(first, source="pulley, last", rank=3, plain=40.0)
    figure = dataclasses.replace(single, misplaced=0)
    assert {line.verdict for line in verdicts.on_conditioning([figure, first, last])} == {"reproduced"}
    well = dataclasses.replace(first, rank=3, plain=10.0)
    lines = verdicts.on_conditioning([single, first, well, well, dataclasses.replace(last, plain=10.0)])
    assert said(lines, "common") == "differs: in less than half of the steps"
    assert said(lines, "sign of L").startswith("differs")
    assert said(lines, "somewhat degrade").startswith("differs")


def solve(way: str, stiffness: float, status: str = "solved", iterations: int = 3, toggling: int = 0) -> Exchanges:
    return Exchanges("pulley", stiffness, way, 180, 20, status, iterations, toggling, 5, 1e-9, 1e-9)


def test_verdicts_on_active_sets() -> None:
    each, rows = list(exchanges.WAYS)[:2]
    fine = [solve(way, stiffness) for way in (each, rows) for stiffness in (1e3, 1e6)]
    assert {line.verdict for line in verdicts.on_exchanges(fine)} == {"reproduced"}
    assert verdicts.on_toggling(fine).verdict.startswith("differs: rows toggle because")
    loops = [*fine, solve(rows, 1e6, "cycled", 900, 40)]
    assert [line.verdict for line in verdicts.on_exchanges(loops)] == ["reproduced", "differs: it does not always"]
    assert verdicts.on_toggling(loops).verdict == "reproduced"
    late = [*fine, solve(each, 1e6, iterations=201)]
    assert verdicts.on_exchanges(late)[0].verdict == "differs: it does not always"


def test_verdicts_on_iterations() -> None:
    def counts(plain: int, schur: int) -> list[Count]:
        return [
            Count("pulley", 60, 180, 10, form, "solved", number)
            for form, number in (("(8), CG", plain), ("(20), CG", schur))
        ]

    assert [line.verdict for line in verdicts.on_iterations(counts(190, 10))] == ["reproduced"] * 3
    lines = verdicts.on_iterations(counts(191, 200))
    assert all(line.verdict.startswith("differs") for line in lines)


def test_numbers_in_words() -> None:
    assert [verdicts.power(x) for x in (0.0, 0.01234, 12.34, 8001.0, 123456.0, 2e18, np.inf)] == [
        "0", "0.0123", "12.3", "8,001", "1e5", "2e18", "∞",
    ]  # fmt: skip


# The report


def test_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    # Both on the pulley, where there is contact from the start on.
    small = {name: DEMOS["pulley"]._replace(duration=0.01, pictured=(0.0, 0.01)) for name in DEMOS}
    for name, demo in small.items():
        monkeypatch.setitem(DEMOS, name, demo)
    monkeypatch.setattr(responses, "_QUICK_STEPS", (0.005,))
    for module in (conditioning, exchanges, iterative):
        monkeypatch.setattr(module, "_STEPS", 3)
        monkeypatch.setattr(module, "_QUICK_EVERY", 2)
    monkeypatch.setattr(exchanges, "_QUICK_STIFFNESS", (1e3, 1e5))
    monkeypatch.setattr(iterative, "_QUICK_NODES", (60,))
    result = invoke("reproduce", "qp-collide", "--quick", "-o", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    text = (tmp_path / "out" / "qp-collide.md").read_text(encoding="utf-8")
    assert "responds to all the collisions" in text
    assert "nan" not in text
    pictures = [f"{demo}-qp-{k}" for demo in small for k in range(2)]
    pictures += [f"{demo}-{response}-1" for demo in small for response in ("penalty", "impulse")]
    for name in [*pictures, *small, "conditioning", "exchanges", "iterations"]:
        assert (tmp_path / "out" / f"qp-collide-{name}.png").stat().st_size > 10_000
        assert f"(qp-collide-{name}.png)" in text
    numbers = json.loads((tmp_path / "out" / "qp-collide.json").read_text(encoding="utf-8"))
    assert {one["response"] for one in numbers["responses"]} == set(RESPONSES)
