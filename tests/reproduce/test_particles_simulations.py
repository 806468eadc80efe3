"""Whole simulations of the paper's cases: equal ends, lists made as asked, verdicts for every figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impinge
from impinge.reproduce.particles import demo, measure, simulations, verdicts
from impinge.reproduce.particles.simulations import CASES, demand_equal, fingerprint, run_case, simulate
from impinge.reproduce.particles.systems import System, discs, equal_spheres


def silent(text: str) -> None:
    pass


def fast_spheres() -> System:
    """Equal spheres that collide within a few steps."""
    system = equal_spheres(4)
    speeds = 30 * system.speeds
    return System(system.centres, system.radii, speeds, system.box, system.step, system.cell_size)


@pytest.mark.parametrize(("case", "system"), [("3.1", discs(80)), ("3.2", fast_spheres())])
def test_all_searches_end_in_the_same_state(case: str, system: System) -> None:
    rows, end = run_case(system, CASES[case], 120, silent)
    assert len({row["state"] for row in rows}) == 1
    assert {(row["way"], row["search"]) for row in rows} == {
        *(("paper", name) for name in ("verlet", "cells", "sweep")),
        *(("world", name) for name in ("verlet", "cells", "sweep", "auto")),
    }
    assert end.contacts > 0
    assert np.abs(end.centres - system.centres).max() > 0


def test_the_paper_s_way_of_making_lists() -> None:
    system = discs(80)
    verlet, _ = simulate(system, CASES["3.1"], "paper", "verlet", 250)
    assert verlet["rebuilds"] == 3  # at the steps 0, 100 and 200
    assert verlet["tests"] == 3 * 80 * 79 // 2
    cells, _ = simulate(system, CASES["3.1"], "paper", "cells", 30)
    sweep, _ = simulate(system, CASES["3.1"], "paper", "sweep", 30)
    assert cells["rebuilds"] == sweep["rebuilds"] == 30
    ours, _ = simulate(system, CASES["3.1"], "world", "auto", 250)
    assert ours["rebuilds"] == 1  # nothing has moved far


def test_it_is_the_world_s_motion() -> None:
    """One free sphere and one that bounces off a wall, by hand."""
    system = System(np.array([[0.3, 0.5], [0.8, 0.1]]), np.full(2, 0.1), np.array([[1.0, 0.0], [0.0, -1.0]]),
                    np.ones(2), 5e-4, 0.3)  # fmt: skip
    soft = simulations.Case(impinge.Material(density=1000, stiffness=1e5), 0.0, 0, ("cells",))
    _, end = simulate(system, soft, "paper", "cells", 400)
    assert end.centres[0] == pytest.approx([0.5, 0.5])
    assert end.velocities[1] == pytest.approx([0.0, 1.0], abs=1e-3)


def test_another_state_is_told() -> None:
    row, end = simulate(discs(80), CASES["3.1"], "world", "auto", 5)
    demand_equal([row, dict(row)])
    end.velocities[3, 1] = np.nextafter(end.velocities[3, 1], 9)
    with pytest.raises(RuntimeError, match=r"80 particles: sweep \(paper\) ended in another state than auto \(world\)"):
        demand_equal([row, row | {"way": "paper", "search": "sweep", "state": fingerprint(end)}])


def test_floating_discs() -> None:
    system = demo.floating_discs()
    assert len(system) == 300
    assert not system.speeds.any()
    assert len(impinge.pairs(system.centres, system.radii)) == 0
    assert (system.centres - system.radii[:, None] >= [0, system.box[1] / 2]).all()
    assert (system.centres + system.radii[:, None] <= system.box).all()
    found = demo.potential_contacts(system.centres, system.radii)
    apart = np.abs(np.diff(system.centres[found], axis=1)[:, 0])
    assert (apart <= system.radii[found].sum(axis=1)[:, None]).all()
    assert np.mean(found[:, 1] - found[:, 0]) < 30  # numbered in order


def test_discs_fall_without_loss() -> None:
    fallen = demo.let_fall(demo.floating_discs(30), "auto", 0.12, 1)
    assert (fallen.system.centres - fallen.end.centres)[:, 1].mean() > 0.005
    assert fallen.facts["drift"] < 1e-3
    assert fallen.facts["speed"] > 0.1


def test_fit_of_power() -> None:
    rows = [{"search": "x", "bodies": n, "seconds": (0.2 * n) ** 1.15} for n in (10, 100, 1000)]
    assert measure.fit_power(rows, "x") == pytest.approx((0.2, 1.15))
    flat = [{"search": "x", "bodies": n, "seconds": t} for n, t in ((10, 1.1), (100, 1.1000001))]
    assert np.isfinite(measure.fit_power(flat, "x")).all()


def made_up_rows() -> dict[str, list[dict[str, Any]]]:
    """Rows as the paper would have measured them."""
    sizes = {"3.1": (1950, 3900, 7800), "3.2": (512, 12167, 59319), "3.3": (1000, 4451, 65480)}
    powers = {"verlet": 1.8, "cells": 1.15, "sweep": 1.36, "auto": 1.0}
    rows: dict[str, list[dict[str, Any]]] = {}
    for case, numbers in sizes.items():
        names = [("paper", name) for name in CASES[case].searches]
        names += [("world", name) for name in (*CASES[case].searches, "auto")]
        rows[case] = [
            {"way": way, "search": name, "bodies": n, "seconds": (1e-4 * n) ** powers[name], "steps": 10,
             "contacts": 5, "listed": 20 * n, "ratio": ratio}
            for ratio, n in zip((1, 2, 5), numbers, strict=True) for way, name in names
        ]  # fmt: skip
    return rows


def made_up_results() -> dict[str, Any]:
    fall = {"bodies": 300, "until": 2.0, "steps": 9, "speed": 1.0, "contacts": 3, "drift": 1e-4, "dt": 1e-6}
    matrix = {"at rest": {"pairs": 200, "apart": 10.0}, "after 2 s": {"pairs": 70, "apart": 90.0}}
    whole = {"cases": made_up_rows(), "demo": fall, "matrix": matrix, "packing": fall, "shares": {1: 0.1166, 5: 0.1166}}
    alone = {case: [row for row in rows if row["way"] == "paper"] for case, rows in made_up_rows().items()}
    rise = {"cells": 1.0, "sweep": 0.2, "levels": 0.1}
    fracture = [
        {"search": search, "bodies": 1000, "ratio": ratio, "seconds": 1e-3 * (0.5 + ratio * slope)}
        for search, slope in rise.items() for ratio in (1, 2, 5, 10, 20) if search != "cells" or ratio < 20
    ]  # fmt: skip
    return {"quick": False, "simulations": whole, "cases": alone, "fracture": fracture}


def test_verdicts() -> None:
    results = made_up_results()
    found = verdicts.statements(results)
    assert {one.place for one in found} == {f"Fig. {k}" for k in range(8, 15)}
    assert [one.verdict for one in found if one.place in ("Fig. 8", "Fig. 9", "Fig. 10", "Fig. 13")] == [
        "reproduced"
    ] * 4
    twelve = [one.verdict for one in found if one.place == "Fig. 12"]
    assert twelve[:3] == ["reproduced"] * 3  # the paper's own exponents
    assert twelve[4:] == ["reproduced"] * 3  # of the searches alone
    fourteen = {one.here.split(":")[0]: one.verdict for one in found if one.place == "Fig. 14"}
    assert fourteen["search alone, ns per particle and step"] == "reproduced"
    assert fourteen["searches alone, per particle from R/r = 1 to 5"] == "reproduced"


def test_verdicts_on_other_numbers() -> None:
    results = made_up_results()
    for row in results["simulations"]["cases"]["3.2"]:
        if row["search"] == "verlet":
            row["seconds"] = 1e-6 * row["bodies"]
    results["simulations"]["demo"]["contacts"] = 0
    results["simulations"]["shares"] = {1: 0.1166, 5: 0.1}
    found = {one.place: one for one in reversed(verdicts.statements(results))}
    assert found["Fig. 12"].verdict.startswith("differs: -0.80; 20 pairs per particle")
    assert found["Fig. 8"].kind == found["Fig. 13"].kind == "differs"
    results["quick"] = True
    found = {one.place: one for one in verdicts.statements(results)}
    assert found["Fig. 8"].verdict == "quick sizes say too little"
    assert found["Fig. 13"].kind == "differs"  # whatever the sizes


@pytest.mark.verify
def test_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from impinge.reproduce.particles import simulation_report

    monkeypatch.setattr(demo, "_QUICK", (0.002, 0.0002))
    monkeypatch.setattr(simulations, "_SHORT", 0.0)
    monkeypatch.setattr(simulations, "_QUICK_STEPS", 2)
    results = simulation_report.run(tmp_path, True, silent)
    text = simulation_report.text(results)
    assert "**Same bits:**" in text
    assert "nan" not in text
    names = ["fig8-start", "fig8-end", "fig10-start", "fig10-end", "fig11", "fig12", "fig13-1", "fig13-2", "fig14"]
    for name in [*names, "matrix"]:
        assert (tmp_path / f"particles-{name}.png").stat().st_size > 10_000
        assert f"(particles-{name}.png)" in text
