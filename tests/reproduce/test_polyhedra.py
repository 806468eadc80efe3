"""The experiments on polyhedra: bodies as in the paper, verdicts on made-up times, and a report from small sizes."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from impinge.inside import Multipole
from impinge.reproduce.polyhedra import accuracy, bodies, measure, method_verdicts, operations, verdicts
from impinge.reproduce.polyhedra.series import Diagonal, Run, Series, along, exponent
from impinge.reproduce.polyhedra.tables import PAPER_TABLE_2, ratios, table_2, times
from impinge.reproduce.statements import Report, Statement
from impinge.shapes import octasphere

from ..command import invoke

SIZES = [8 * 4**level for level in range(8)]
GRIDS = [1000, 8000, 64000, 512000]
Time = Callable[[int, int], float]


def made_up(
    ray: Time | None = None, well: Time | None = None, pre: Time | None = None, setup: Time | None = None
) -> Series:
    """Times as the paper describes them, unless given: of the answers; and of setting up the pre-chosen tree."""
    query = {
        "ray": ray or (lambda n, m: 1e-9 * n * m),
        "well-chosen": well or (lambda n, m: 2e-6 * (n * m) ** 0.5),
        "pre-chosen": pre or (lambda n, m: 2e-6 * m),
        "octree": lambda n, m: 1e-8 * m,
    }
    prepare: dict[str, Time] = {
        "pre-chosen": setup or (lambda n, m: 1e-4 + 3e-5 * n),
        "well-chosen": lambda n, m: 1e-6 * n,
    }
    return Series(
        [
            Run(method, n, m, prepare.get(method, lambda n, m: 1e-9)(n, m), time(n, m), m, 0, 3)
            for method, time in query.items()
            for n in SIZES
            for m in GRIDS
        ]
    )


def said(lines: list[Statement], part: str) -> Statement:
    return next(line for line in lines if part in line.paper)


def test_bodies() -> None:
    assert [len(mesh.faces) for mesh in bodies.spheres(quick=False)] == SIZES
    points = bodies.grid_points(octasphere(1, 2.0), 4)
    assert points.shape == (64, 3)
    assert np.unique(points[:, 1]) == pytest.approx([-2, -2 / 3, 2 / 3, 2])


def test_exponent() -> None:
    assert exponent([1, 10, 100], [5, 500, 50_000]) == pytest.approx(2)
    assert exponent([1, 10, 100], [1, 1, 10], last=2) == pytest.approx(1)
    assert math.isnan(exponent([1], [1]))
    assert math.isnan(exponent([1, 2], [0, 1]))
    assert [along(m) for m in GRIDS] == ["10³", "20³", "40³", "80³"]


def test_answers_that_differ_are_told() -> None:
    series = made_up()
    assert verdicts.on_answers([series]).verdict == "reproduced"
    wrong = dataclasses.replace(series.runs[0], differing=2)
    line = verdicts.on_answers([Series([*series.runs[1:], wrong])])
    assert "2 other than" in line.here
    assert line.verdict.startswith("differs")


def test_ray_linear_or_not() -> None:
    assert {line.verdict for line in verdicts.on_ray(made_up(), "9")} == {"reproduced"}
    lines = verdicts.on_ray(made_up(ray=lambda n, m: 1e-9 * n**1.5 * m), "9")
    assert said(lines, "in the triangles").verdict.startswith("differs")
    assert said(lines, "in the points").verdict == "reproduced"


def test_who_wins() -> None:
    """Ray crossing is made to win on the five and on the three coarsest spheres, as in the paper, then on others."""
    limits = {m: SIZES[4] if m == GRIDS[0] else SIZES[2] for m in GRIDS}

    def as_there(n: int, m: int) -> float:
        return (1e-5 if n <= limits[m] else 1e3) * m / 1e3

    series = made_up(ray=as_there, pre=lambda n, m: 1e-4 * m, setup=lambda n, m: 0.0)
    assert verdicts.wins_of_ray(series, "pre-chosen", GRIDS[0]) == SIZES[:5]
    assert verdicts.wins_of_ray(series, "pre-chosen", GRIDS[-1]) == SIZES[:3]
    lines = verdicts.on_comparison(series)
    assert [line.verdict for line in lines[:2]] == ["reproduced", "reproduced"]
    always = made_up(ray=lambda n, m: 1e-12)
    assert all(line.verdict.startswith("differs: 8 meshes, more") for line in verdicts.on_comparison(always)[:2])
    assert verdicts.on_comparison(always)[2].verdict.startswith("differs")
    never = made_up(ray=lambda n, m: 1e6)
    assert all(line.verdict.startswith("differs: 0 meshes, fewer") for line in verdicts.on_comparison(never)[:2])


def test_growth_of_the_multipole_method() -> None:
    lines = verdicts.on_well_chosen(made_up())
    assert said(lines, "with the triangles, while").verdict == "reproduced"
    assert said(lines, "with the points").verdict == "reproduced"
    linear = verdicts.on_well_chosen(made_up(well=lambda n, m: 1e-6 * n))
    assert said(linear, "with the triangles, while").verdict.startswith("differs")
    linear = verdicts.on_well_chosen(made_up(well=lambda n, m: 1e-4 * m))
    assert said(linear, "with the points").verdict.startswith("differs")


def test_better_if_points_are_known() -> None:
    assert said(verdicts.on_well_chosen(made_up(pre=lambda n, m: 1e6)), "is known").verdict == "reproduced"
    line = said(verdicts.on_well_chosen(made_up(pre=lambda n, m: 0.0, setup=lambda n, m: 1e-9)), "is known")
    assert "faster in 0 of 32" in line.here
    assert line.verdict.startswith("differs")


def test_lines_touch() -> None:
    assert said(verdicts.on_pre_chosen(made_up()), "almost touch").verdict == "reproduced"
    apart = verdicts.on_pre_chosen(made_up(setup=lambda n, m: 0.0))
    assert said(apart, "almost touch").verdict.startswith("differs")
    assert said(apart, "finer mesh").verdict.startswith("differs")
    falling = made_up(pre=lambda n, m: 1.0 / n if n > 100 else 1.0, setup=lambda n, m: 0.0)
    assert said(verdicts.on_pre_chosen(falling), "finer mesh").verdict == "reproduced"


def test_table_2() -> None:
    lines = verdicts.on_table_2(made_up(pre=lambda n, m: m * (2.0 if n == 32768 else 1.0)), PAPER_TABLE_2)
    assert [line.verdict for line in lines] == ["reproduced", "reproduced"]
    lines = verdicts.on_table_2(made_up(pre=lambda n, m: n * m**0.7), PAPER_TABLE_2)
    assert all(line.verdict.startswith("differs") for line in lines)
    assert "| 80³ | 83 | 1.02 | " in table_2(made_up())


def test_growth_in_both() -> None:
    runs = [Run(method, n, n, 0.0, n**power, n, 0, 0) for method, power in
            (("well-chosen", 1.0), ("pre-chosen", 1.05), ("ray", 2.0)) for n in SIZES]  # fmt: skip
    lines = verdicts.on_growth(made_up(), Diagonal(runs))
    assert [line.verdict for line in lines] == ["reproduced"] * 3
    slow = Diagonal([dataclasses.replace(run, query=run.query**0.75) for run in runs])
    assert [line.verdict[:7] for line in verdicts.on_growth(made_up(), slow)[1:]] == ["differs", "differs"]


def test_foam_and_conclusions() -> None:
    lines = verdicts.on_foam(made_up(ray=lambda n, m: 1e-6 * m if m == GRIDS[0] else 1e4, setup=lambda n, m: 1.0 * n))
    assert said(lines, "10³ points").verdict == "reproduced"
    assert said(lines, "dominated").verdict == "reproduced"
    assert said(verdicts.on_foam(made_up(ray=lambda n, m: 1e-12)), "80³").verdict.startswith("differs")
    mixed = made_up(ray=lambda n, m: 1e3 if n >= 128 else 1e-12, well=lambda n, m: 1.0)
    most, ours = verdicts.on_conclusions({"sphere": mixed})
    assert (most.here, most.verdict) == ("in 24 of 32 cases", "reproduced")
    assert "slower in 8 of 32 cases" in ours.here  # where ray crossing takes nothing
    assert verdicts.on_conclusions({"sphere": made_up(ray=lambda n, m: 1e-12)})[0].verdict.startswith("differs")


def test_depth_and_operations() -> None:
    def depth(level: int, best: dict[int, int]) -> operations.Depth:
        return operations.Depth(8, level, 0.0, {m: 1.0 + abs(level - at) for m, at in best.items()})

    rising = [depth(level, {1000: 2, 8000: 3}) for level in (1, 2, 3, 4)]
    line = method_verdicts.on_depth(rising)
    assert (line.here, line.verdict) == ("least total time at depth 2 (10³), 3 (20³)", "reproduced")
    assert method_verdicts.on_depth([depth(level, {1000: 3, 8000: 3}) for level in (2, 3)]).verdict.startswith(
        "differs"
    )

    def counts(over_n: float) -> operations.Counts:
        def count(n: int, m: int) -> operations.Count:
            powers = {name: (one.in_triangles, one.in_points) for name, one in operations.OPERATIONS.items()}
            numbers = {name: round(100 * n ** (a * over_n) * m**b) for name, (a, b) in powers.items()}
            return operations.Count("pre-chosen", n, m, numbers)

        return operations.Counts([count(n, 8000) for n in SIZES], [count(8192, m) for m in GRIDS])

    assert [line.verdict for line in method_verdicts.on_operations(counts(1.0))] == ["reproduced"] * 2
    assert method_verdicts.on_operations(counts(1.4))[0].verdict == "differs: p2m, m2m, m2l, l2l grow faster"


@pytest.mark.parametrize("near", [1.5, 2.0, 3.0])
def test_bounds(near: float) -> None:
    """The error of the series by differences of the kernel itself, and (26) as the paper prints it, for p = 3."""
    order, step, worst = 3, 1e-5, 0.0
    x = np.array([0.0, 0.0, 1.0])

    def rest(y: np.ndarray) -> float:
        length = np.linalg.norm(y)
        series = sum(np.polynomial.Legendre.basis(n)(y[2] / length) / length ** (n + 1) for n in range(order + 1))
        return float(1 / np.linalg.norm(x - y) - series)

    for angle in np.linspace(0, np.pi, 31):
        y = near * np.array([np.sin(angle), 0.0, np.cos(angle)])
        slope = [(rest(y + step * e) - rest(y - step * e)) / (2 * step) for e in np.eye(3)]
        worst = max(worst, float(np.linalg.norm(slope)))
    assert accuracy.gradient_error(order, near) == pytest.approx(worst, rel=1e-4)
    bound = (1 + np.pi) / (near - 1) * (order + 1 + near / (near - 1)) / near ** (order + 2)
    assert accuracy.bound_26(order, near, 1.0) == pytest.approx(bound)
    assert accuracy.bound_27(order, near, 2.0, 4 * np.pi) == pytest.approx(bound / 4)


def test_accuracy_verdicts() -> None:
    errors = [accuracy.Error(p, 2.0, 0.1 * 3.0**-p, 0.0, 2.0**-p, 0, 0.2, 1.0) for p in (1, 2, 4)]
    assert [line.verdict for line in method_verdicts.on_accuracy(errors)] == ["reproduced"] * 3
    assert accuracy.fall_per_order(errors, 2.0) == pytest.approx((3.0, 2.0))
    bad = [dataclasses.replace(error, largest=9.0, wrong=1, gradient=2.0) for error in errors]
    assert all(line.verdict.startswith("differs") for line in method_verdicts.on_accuracy(bad))


def test_only_some_points_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """And wrong answers among them are found."""
    mesh, grids = octasphere(2), [10]
    runs = {run.method: run for run in measure.measure_mesh(mesh, grids, 0.0, lambda text: None)}
    assert runs["ray"].timed == 200
    assert not runs["well-chosen"].scaled
    assert {run.differing for run in runs.values()} == {0}
    assert "~" in times(Series(list(runs.values())))

    class Liar:
        def classify(self, points: Any) -> Any:
            return np.full(len(points), 1, np.int8)

    monkeypatch.setitem(measure.METHODS, "ray", lambda mesh: Liar())
    liar = {run.method: run for run in measure.measure_mesh(mesh, grids, 100.0, lambda text: None)}["ray"]
    outside = int((Multipole(mesh).winding(bodies.grid_points(mesh, 10)) < 0.5).sum())
    assert liar.differing == outside > 0


def test_ratios_show_the_winner() -> None:
    text = ratios(made_up(ray=lambda n, m: 10.0, well=lambda n, m: 1.0, pre=lambda n, m: 100.0, setup=lambda n, m: 0.0))
    assert "| 8 | **10** / 0.1 |" in text


@pytest.mark.verify
def test_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(measure, "_QUICK", measure._Sizes((4, 8, 16), 0.01))
    monkeypatch.setattr(measure, "_TRIES", 1)
    monkeypatch.setattr(measure, "spheres", lambda quick: (octasphere(level) for level in (1, 2, 3, 5)))
    monkeypatch.setattr(measure, "foams", lambda quick: (octasphere(level) for level in (3, 4)))
    for module in (measure, operations):
        monkeypatch.setattr(module, "octasphere", lambda level: octasphere(max(level - 2, 0)))
    monkeypatch.setattr(bodies, "FOAMS", (6000,))
    result = invoke("reproduce", "polyhedra", "--quick", "-o", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    text = (tmp_path / "out" / "polyhedra.md").read_text(encoding="utf-8")
    assert "nan" not in text
    assert "quick sizes say too little" in text
    pictures = set(re.findall(r"polyhedra-\w+\.png", text))
    wanted = [*(f"fig{number}" for number in range(7, 16)), "table1", "depth", "growth", "accuracy"]
    assert pictures == {f"polyhedra-{name}.png" for name in wanted}
    for name in pictures:
        assert (tmp_path / "out" / name).stat().st_size > 10_000


def test_paper_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    from impinge.reproduce import experiments

    def load(name: str) -> SimpleNamespace:
        def run(out: Path, quick: bool, told: Callable[[str], None]) -> Report:
            asked.append((name, out, quick))
            (out / f"{name.rpartition('.')[2]}.md").write_text("# A paper", encoding="utf-8")
            return Report(out / f"{name.rpartition('.')[2]}.md", [])

        return SimpleNamespace(reproduce=run)

    monkeypatch.setattr(experiments, "import_module", load)
    for paper in ("particles", "polyhedra"):
        assert invoke("reproduce", paper, "-o", str(tmp_path)).exit_code == 0
        page = (tmp_path / f"{paper}.html").read_text(encoding="utf-8")
        assert f"<code>impinge reproduce {paper}</code>" in page
        assert "A paper" in page
    assert asked == [(f"impinge.reproduce.{name}", tmp_path, False) for name in ("particles", "polyhedra")]
    assert invoke("reproduce", "nothing").exit_code == 2
