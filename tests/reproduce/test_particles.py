"""The experiments on neighbour searches: systems as in the paper, and a report from small sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import impinge
from impinge.reproduce.particles import demo, measure, simulations
from impinge.reproduce.particles.systems import System, discs, equal_spheres, fractured_spheres

from ..command import invoke


def share(system: System) -> float:
    d = len(system.box)
    return float((np.pi * system.radii**2).sum() if d == 2 else (4 / 3 * np.pi * system.radii**3).sum()) / float(
        system.box.prod()
    )


def test_discs() -> None:
    system = discs(244)
    assert share(system) == pytest.approx(0.674)
    assert 0.5e-3 <= system.radii.min() < system.radii.max() <= 1.5e-3
    assert len(impinge.pairs(system.centres, 0.97 * system.radii)) == 0  # hardly any overlap


def test_equal_spheres() -> None:
    system = equal_spheres(8)
    assert len(system) == 512
    assert len(impinge.pairs(system.centres, system.radii)) == 0


@pytest.mark.parametrize(("parts", "count"), [(1, 1000), (2, 4451), (3, 14676)])
def test_fracture(parts: int, count: int) -> None:
    system = fractured_spheres(parts)
    assert len(system) == count
    assert share(system) == pytest.approx(0.1166, abs=1e-3)
    assert len(impinge.pairs(system.centres, system.radii * (1 - 1e-12))) == 0


def test_particles_stay_in_the_box() -> None:
    system = discs(100)
    flight = system.flight(every=1e4)
    for _ in range(200):
        centres = next(flight)
    assert (centres >= system.radii[:, None]).all()
    assert (centres <= system.box - system.radii[:, None]).all()
    assert np.abs(centres - system.centres).max() > 5e-3


def test_fit() -> None:
    rows = [{"search": "x", "bodies": n, "seconds": 3e-9 * n**1.5} for n in (10, 100, 1000)]
    assert measure.fit_exponent(rows, "x") == pytest.approx(1.5)
    assert np.isnan(measure.fit_exponent(rows, "y"))


def test_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(measure, "_SECONDS", 0.0)  # two steps of each
    monkeypatch.setattr(demo, "_QUICK", (0.002, 0.0002))
    monkeypatch.setattr(simulations, "_SHORT", 0.0)
    monkeypatch.setattr(simulations, "_QUICK_STEPS", 2)
    result = invoke("reproduce", "particles", "--quick", "-o", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    text = (tmp_path / "out" / "particles.md").read_text(encoding="utf-8")
    assert "VL ∝ n^1.8" in text
    assert "nan" not in text
    for name in ("growth", "fracture", "parameters", "matrix"):
        assert (tmp_path / "out" / f"particles-{name}.png").stat().st_size > 10_000
        assert f"particles-{name}.png" in text
