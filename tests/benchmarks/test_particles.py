"""The particle benchmark runs, its codes get the same numbers, and a wrong result cannot pass for a right one."""

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.particle_motion import cases, energy, packing, report, simulator, speed, tuning
from benchmarks.particle_motion.contact import Contact
from benchmarks.particle_motion.sizes import QUICK

import impinge

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.verify
@pytest.mark.parametrize("mode", [[], ["--compare"]], ids=["speed", "compare"])
def test_particles_quick_without_peers(tmp_path, mode):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.particles", "--quick", "--peers", "none", "--threads", "1", *mode]
        + ["--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    assert done.returncode == 0, done.stderr
    name = "particles_energy" if mode else "particles"
    results = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    rows = results["energy" if mode else "speed"]
    assert {row["code"] for row in rows} == {"impinge"}
    if not mode:
        assert [row["dense"] for row in rows] == [False, False, False, True]
        assert not any(row["skipped"] for row in rows)
        assert (tmp_path / "particles.png").exists()
    assert (tmp_path / f"{name}.md").read_text(encoding="utf-8") in done.stdout


@pytest.mark.parametrize(
    ("case", "fraction"),
    [(cases.equal(1_000, 1), 0.268), (cases.fracture(2, 1), 0.12), (cases.halves(10, 5_000, 1), 0.3)],
    ids=["equal", "fracture", "halves"],
)
def test_cases_start_inside_without_contact(case, fraction):
    assert len(impinge.pairs(case.start.centres, case.radii)) == 0
    gaps = np.minimum(case.start.centres, case.box - case.start.centres) - case.radii[:, None]
    assert gaps.min() >= -1e-15
    assert 4 / 3 * np.pi * (case.radii**3).sum() / case.box.prod() == pytest.approx(fraction, rel=1e-3)


def test_total_energy():
    """Two spheres that overlap by a tenth of a radius each, one of them also with a wall."""
    case = cases.equal(8, 1)
    r = case.smallest
    centres = np.array([[0.9 * r, 2 * r, 2 * r], [2.8 * r, 2 * r, 2 * r]])
    state = cases.State(centres, np.array([[3.0, 0, 0], [0, 4.0, 0]]), np.zeros((2, 3)))
    two = replace(case, start=state, radii=case.radii[:2], gravity=2.0)
    mass = float(two.masses[0])
    expected = 12.5 * mass + 2 * 2.0 * mass * 2 * r + 0.5 * case.contact.stiffness * 2 * (0.1 * r) ** 2
    assert energy.total_energy(two, state) == pytest.approx(expected, rel=1e-12)


def test_dense_start_is_full_and_apart():
    case = cases.dense(500, 1)
    assert 4 / 3 * np.pi * (case.radii**3).sum() / case.box.prod() == pytest.approx(0.58)
    centres, r = packing.separated(case), case.smallest
    i, j = impinge.pairs(centres, r).T
    assert (np.linalg.norm(centres[i] - centres[j], axis=1) > 1.6 * r).all()
    assert (centres >= r).all()
    assert (centres <= case.box - r).all()


def test_damping_gives_the_restitution():
    """From m x'' = −k x − c x' until x = 0 again: v leaves with e times what it came with."""
    contact, mass = Contact(2e4, restitution=0.7), 3e-3
    rate = contact.damping(mass) / (2 * mass)
    period = math.pi / math.sqrt(contact.stiffness / mass - rate**2)
    assert math.exp(-rate * period) == pytest.approx(0.7)
    assert contact.rates(mass)[0] == pytest.approx(math.sqrt(2) * contact.rates(mass)[1])


def test_data_file_keeps_every_bit(tmp_path):
    case = cases.fracture(2, 1)
    lines = simulator.data_file(case, tmp_path).read_text().splitlines()
    first = lines.index("Atoms") + 2
    table = np.array([line.split() for line in lines[first : first + len(case)]], float)
    assert np.array_equal(table[:, 4:7], case.start.centres)
    assert np.array_equal(table[:, 2], 2 * case.radii)


class _Code:
    """Takes (skin − 0.3)² s longer than a second, and fails for the largest."""

    name = "lammps"

    def first(self, case):
        return simulator.Setting(skin=0.1)

    def choices(self, case, threads):
        return [("skin", (0.1, 0.2, 0.3, 0.5))]

    def run(self, order, folder):
        if order.setting.skin == 0.5:
            raise RuntimeError("no room")
        return simulator.Outcome(order.steps, 1 + (order.setting.skin - 0.3) ** 2, 1.0, 0, None)


class _Liar(_Code):
    name = "liar"

    def choices(self, case, threads):
        return []

    def run(self, order, folder):
        return simulator.Outcome(order.steps, 1.0, 1.0 + 2e-6, None, None)


class _Broken(_Liar):
    name = "broken"

    def run(self, order, folder):
        raise ValueError("no such thing")


def test_tuning_finds_the_fastest(tmp_path):
    case = cases.equal(125, 10)
    assert tuning.tune(_Code(), case, 1, simulator.Setting(skin=0.1), 10.0, tmp_path).skin == 0.3


def test_wrong_energy_misses_a_required_figure():
    rows = speed.measure_case(cases.equal(125, 10), [_Code(), _Liar(), _Broken()], [1], QUICK)
    report.compare_kinetic(rows)
    text = report.speed_text(rows)
    assert "MISMATCH 2.0e-06" in text
    assert "skipped: ValueError: no such thing" in text
    verdict = report.speed_verdicts(rows)[-1]
    assert verdict.met is False
    assert verdict.remark == "liar, equal, 125"
