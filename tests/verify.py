"""The long checks: the generators of the tests at full count. Writes docs/verification.md.

Run by ``make verify`` (``python -m tests.verify``), before an issue is called done; about an hour. With names of checks
(``python -m tests.verify "bodies that overlap"``) only those are made anew, and the report keeps the others.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import impinge
from impinge import Mesh, Solid, _check
from impinge.broad.methods import METHODS
from impinge.inside.direct import Direct
from impinge.inside.grid import classify_grid, grid_points

from .broad import systems
from .ccd import judged
from .exact import cases
from .fuzz import harness as fuzz
from .fuzz import seeds as fuzz_seeds
from .inside import overlaps, scenes
from .response import qp_judged, qp_peers, qp_problems
from .run import flows, softruns

SEED = 20261115
REPORT = Path(__file__).resolve().parents[1] / "docs" / "verification.md"
PAIRS = 4e9  # point-triangle pairs that the direct sum is asked for, per mesh


@dataclass
class Row:
    """One line of the report."""

    check: str
    cases: int
    failures: int
    seconds: float
    note: str = ""


def verify_exact(count: int) -> list[Row]:
    """Predicates against rational arithmetic."""
    result = cases.run(count, SEED)
    kinds = f"{len(result['kinds'])} kinds, seed {SEED}"
    return [
        Row("exact predicates against rational numbers", result["cases"], result["wrong"], result["seconds"], kinds)
    ]


def _count_wrong(mesh: Mesh, seed: int) -> tuple[int, int, int]:
    """Points asked, wrong answers against ray-exact, wrong answers of a part of them against direct."""
    octree, rays, direct = Solid(mesh, "octree"), Solid(mesh, "ray-exact"), Direct(mesh)
    size = 20_000
    kinds = [points for _, points in scenes.points(mesh, size, seed)]
    kinds += [mesh.vertices, *(scenes.grid(mesh, n) for n in (10, 20, 40, 80))]
    budget = max(int(PAIRS / len(mesh.faces) / len(kinds)), 20)
    asked = wrong = wrong_direct = 0
    for points in kinds:
        found = octree.classify(points)
        asked += len(points)
        wrong += int((found != rays.classify(points)).sum())
        part = np.linspace(0, len(points) - 1, min(budget, len(points))).astype(int)
        wrong_direct += int((found[part] != direct.classify(_check.vectors("points", points[part]))).sum())
    wrong += int((octree.classify(mesh.vertices[np.unique(mesh.faces)]) != 0).sum())
    return asked, wrong, wrong_direct


def verify_inside() -> list[Row]:
    """The octree against two independent methods on all meshes of the issue."""
    rows = []
    meshes = dict(scenes.LARGE)
    meshes |= {path.name: (lambda path=path: scenes.load(path)) for path in scenes.files()}
    for name, make in meshes.items():
        start = time.perf_counter()
        mesh = make()
        if not mesh.is_closed:
            rows.append(Row(f"inside: {name}", 0, 0, time.perf_counter() - start, f"skipped, {mesh.problems()}"))
            continue
        asked, wrong, wrong_direct = _count_wrong(mesh, SEED)
        seconds = time.perf_counter() - start
        note = f"{len(mesh.faces):,} triangles; against ray-exact {wrong}, against direct {wrong_direct}"
        rows.append(Row(f"inside: {name}", asked, wrong + wrong_direct, seconds, note))
        print(rows[-1], flush=True)
    return rows


def verify_grids() -> list[Row]:
    """Grids scanned by triangle against the octree, point by point."""
    start, asked, wrong = time.perf_counter(), 0, 0
    for make in (*scenes.LARGE.values(), *(lambda path=path: scenes.load(path) for path in scenes.files())):
        mesh = make()
        if not mesh.is_closed:
            continue
        solid = Solid(mesh)
        for n in (33, 100):
            axes = solid.grid_axes(n)
            wrong += int((classify_grid(mesh, axes).ravel() != solid.classify(grid_points(*axes))).sum())
            asked += n**3
    return [
        Row("grids against their points", asked, wrong, time.perf_counter() - start, "all closed meshes, 33³ and 100³")
    ]


def verify_pairs(count: int) -> list[Row]:
    """Every search against all pairs, on large systems."""
    rows = []
    for name, make in systems.SYSTEMS.items():
        start, wrong, cases = time.perf_counter(), 0, 0
        for dimension in (2, 3):
            rng = np.random.default_rng(SEED)
            centres, radii = make(rng, count, dimension)
            wanted = impinge.pairs(centres, radii, method="brute")
            for method in METHODS:
                found = impinge.pairs(centres, radii, method=method)
                wrong += int(found.shape != wanted.shape or not (found == wanted).all())
                cases += 1
        note = f"{len(centres):,} bodies, {len(wanted):,} pairs in 3D"
        rows.append(Row(f"pairs: {name}", cases, wrong, time.perf_counter() - start, note))
        print(rows[-1], flush=True)
    return rows


def verify_searches(steps: int) -> list[Row]:
    """Searches over time: after each step the pairs that touch, against all pairs."""
    rows = []
    for method in ("auto", *METHODS):
        start, wrong, cases = time.perf_counter(), 0, 0
        for dimension in (2, 3):
            for periodic in (False, True):
                space = {"box": [1.0] * dimension, "periodic": periodic}
                search = impinge.NeighborSearch(method, **space)
                for centres, radii in systems.walk(70, dimension, steps // 4, SEED):
                    found = search.update(centres, radii).touching()
                    wanted = impinge.pairs(centres, radii, method="brute", **space)
                    wrong += int(found.shape != wanted.shape or not (found == wanted).all())
                    cases += 1
        note = f"70 bodies, {search.statistics.rebuilds:,} rebuilds in the last quarter"
        rows.append(Row(f"search over time: {method}", cases, wrong, time.perf_counter() - start, note))
        print(rows[-1], flush=True)
    return rows


def verify_collide(count: int) -> list[Row]:
    """Whether bodies overlap, against exact tests of each face with each, and of all vertices."""
    start, wrong, overlapping = time.perf_counter(), 0, 0
    for seed in range(count):
        a, b = overlaps.random_pair(seed)
        wanted, found = overlaps.overlap(overlaps.placed(a), overlaps.placed(b)), impinge.collide(a, b)
        meeting = overlaps.meeting_faces(overlaps.placed(a), overlaps.placed(b))
        wrong += int(found.overlap != wanted or not np.array_equal(found.faces, meeting))
        overlapping += int(wanted)
    note = f"{overlapping:,} overlap; half of the poses on a lattice, where faces, edges and corners touch"
    return [Row("collide against all pairs of faces and all vertices", count, wrong, time.perf_counter() - start, note)]


def verify_contact_times(count: int) -> list[Row]:
    """Times of first contact against the exact judge."""
    start, rows = time.perf_counter(), []
    for kind, tally in judged.judge_all(count, SEED).items():
        note = (
            f"{tally.contacts:,} contacts; {tally.missed} missed, {tally.late} late, {tally.early} early by more than "
            f"{judged.EARLY:g}; {tally.alarms:,} false alarms, {tally.needless} of them far from touching"
        )
        rows.append(Row(f"times of contact: {kind}", tally.cases, tally.failures, time.perf_counter() - start, note))
        print(rows[-1], flush=True)
        start = time.perf_counter()
    return rows


def verify_qp(count: int) -> list[Row]:
    """Quadratic programs: every answer judged, tiny ones next to exact solutions, objectives next to other solvers."""
    chosen = qp_problems.some(count, SEED)
    start, rows = time.perf_counter(), []
    tallies = qp_judged.judge_some(chosen)
    seconds, start = (time.perf_counter() - start) / len(tallies), time.perf_counter()
    for is_feasible, tally in tallies.items():
        name = "with a solution" if is_feasible else "without one"
        note = f"largest residual {tally.worst:.1e}" if is_feasible else f"{tally.infeasible:,} proofs, all checked"
        rows.append(Row(f"quadratic programs {name}", tally.cases, len(tally.failures), seconds, note))
        print(rows[-1], *tally.failures, sep="\n", flush=True)
    tally = qp_judged.Tally()
    for number in range(count // 4):
        qp_judged.judge_exactly(qp_problems.lattice(number, SEED), tally)
    seconds, note = time.perf_counter() - start, f"{tally.infeasible:,} of them without a solution"
    rows.append(Row("quadratic programs of whole numbers, exactly", tally.cases, len(tally.failures), seconds, note))
    print(rows[-1], *tally.failures, sep="\n", flush=True)
    return rows + verify_objectives(chosen)


def verify_objectives(chosen: list[tuple[str, int, int]]) -> list[Row]:
    """Objectives of quadratic programs next to those of other solvers; nothing where these are not installed."""
    start, rows = time.perf_counter(), []
    comparisons = qp_peers.compare(chosen)
    seconds = (time.perf_counter() - start) / max(1, len(comparisons))
    for found in comparisons:
        note = f"{found.version}; {found.unsolved:,} more that it does not solve to {qp_peers.ACCURATE:g}"
        rows.append(Row(f"objectives next to {found.name}", found.compared, len(found.failures), seconds, note))
        print(rows[-1], *found.failures, sep="\n", flush=True)
    absent = qp_peers.installed()[1]
    if absent:
        rows.append(Row(f"objectives next to {', '.join(absent)}", 0, 0, 0.0, "skipped, not installed"))
    return rows


def verify_soft(count: int) -> list[Row]:
    """Cables and cloth at random: what is judged is that nothing ever passes through anything."""
    start, rows = time.perf_counter(), []
    verdicts = softruns.judge_some(range(count), lambda verdict: print(verdict, flush=True))
    for kind in softruns.KINDS:
        of_kind = [verdict for verdict in verdicts if verdict.kind == kind]
        steps, scaled = sum(verdict.steps for verdict in of_kind), sum(verdict.scaled for verdict in of_kind)
        note = (
            f"{steps:,} steps, {sum(verdict.touched for verdict in of_kind):,} with contact, all judged exactly; "
            f"{scaled} scaled down"
        )
        failures, seconds = sum(bool(v.failures) for v in of_kind), sum(v.seconds for v in of_kind)
        rows.append(Row(f"cables and cloth: {kind}", len(of_kind), failures, seconds, note))
    share, seconds = softruns.share_scaled(verdicts), time.perf_counter() - start
    note = f"{100 * share:.2f} % of {sum(v.steps for v in verdicts):,}; at most 1 %"
    rows.append(Row("cables and cloth: steps scaled down", 1, int(share >= 0.01), seconds, note))
    return rows


def verify_hostile_files(count: int) -> list[Row]:
    """Bad files for every reader, in a process with limits: nothing but impinge's own errors, in little memory."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        known = fuzz_seeds.make(Path(name) / "seeds", fuzz.ALL)
        for reader in fuzz.ALL:
            start = time.perf_counter()
            (tally,) = fuzz.run([reader], count, SEED, known, Path(name))
            note = f"{tally.read:,} read, {tally.refused:,} refused; at most {tally.slowest:.1f} s to read one, "
            note += f"{tally.largest / 1e6:.0f} MB"
            failures = sum(times for _, _, times in tally.defects.values())
            rows.append(Row(f"hostile files: {reader}", tally.files, failures, time.perf_counter() - start, note))
            print(rows[-1], *tally.defects, sep="\n", flush=True)
    return rows


def verify_hopper() -> list[Row]:
    """Beverloo's law: W^(2/5) is a line over the orifice D, and 0 at one to two diameters of beads."""
    start = time.perf_counter()
    rates = np.array([flows.discharge_rate(orifice) for orifice in flows.ORIFICES])
    line = flows.line_through(np.array(flows.ORIFICES), rates**0.4)
    note = f"R² = {line.r_sq:.4f}, no flow at D = {line.zero:.2f} d; W from {rates[0]:.2f} to {rates[-1]:.2f} kg/s"
    failed = not (line.r_sq > 0.99 and 1 <= line.zero <= 2)
    row = Row("hopper flow: W^(2/5) over D", len(rates), int(failed), time.perf_counter() - start, note)
    print(row, flush=True)
    return [row]


def verify_drum() -> list[Row]:
    """Two sizes of beads in a drum segregate."""
    start = time.perf_counter()
    rows = flows.segregation_in_drum()
    first, last = (float(part[:, 1].mean()) for part in (rows[rows[:, 0] < 0.5], rows[rows[:, 0] > rows[-1, 0] - 1]))
    failed = not (first < flows.MIXED and last > flows.SEGREGATED)
    note = f"index from {first:.3f} (below {flows.MIXED}) to {last:.3f} (above {flows.SEGREGATED})"
    row = Row("drum: segregation by size", 1, int(failed), time.perf_counter() - start, note)
    print(row, flush=True)
    return [row]


def verify_properties() -> list[Row]:
    """All tests, with the property tests at full count."""
    start = time.perf_counter()
    options = ["-p", "no:cacheprovider", "--verify", "-n", "auto", "--dist", "worksteal"]
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=REPORT.parents[1], capture_output=True, text=True)
    if done.returncode:
        print(done.stdout, done.stderr, flush=True)
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "no output"
    return [Row("all tests, properties at full count", 1, int(done.returncode != 0), time.perf_counter() - start, last)]


def _cells(row: Row) -> str:
    return f"| {row.check} | {row.cases:,} | {row.failures} | {row.seconds:.1f} | {row.note} |"


def write_report(rows: list[Row], left: list[str], before: list[str]) -> None:
    """Write what has been checked so far; left : what has not, if the run is cut short; before : lines to keep."""
    new = {row.check: _cells(row) for row in rows}
    kept = {line.split(" | ")[0].removeprefix("| "): line for line in before}
    lines = [
        "# Verification",
        "",
        f"Written by `make verify` with impinge {impinge.__version__}, Python {platform.python_version()}, "
        f"{platform.machine()}, {os.cpu_count()} cores. The same generators run at small count in `make test`.",
        "",
        "| check | cases | failures | seconds | note |",
        "|---|---:|---:|---:|---|",
        *(kept | new).values(),
        "",
        *(f"Not run: {name}." for name in left),
    ]
    REPORT.write_text("\n".join(lines), encoding="utf-8")


def main() -> int:
    warnings.simplefilter("ignore", impinge.errors.MeshWarning)
    checks: dict[str, Callable[[], list[Row]]] = {
        "inside": verify_inside,
        "grids": verify_grids,
        "exact predicates": lambda: verify_exact(1_000_000),
        "bodies that overlap": lambda: verify_collide(10_000),
        "times of contact": lambda: verify_contact_times(1_000_000),
        "pairs": lambda: verify_pairs(20_000),
        "searches over time": lambda: verify_searches(10_000),
        "quadratic programs": lambda: verify_qp(10_000),
        "cables and cloth": lambda: verify_soft(200),
        "hostile files": lambda: verify_hostile_files(5_000),
        "hopper": verify_hopper,
        "drum": verify_drum,
        "all tests": verify_properties,
    }
    names, before = sys.argv[1:] or list(checks), []
    if unknown := set(names) - set(checks):
        raise SystemExit(f"no checks: {', '.join(sorted(unknown))}; there are {', '.join(checks)}")
    if sys.argv[1:]:
        before = [line for line in REPORT.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][1:]
    rows: list[Row] = []
    for number, name in enumerate(names, 1):
        rows += checks[name]()
        write_report(rows, names[number:], before)
    failures = sum(row.failures for row in rows)
    print(f"{len(rows)} checks, {failures} failures; see {REPORT.relative_to(REPORT.parents[1])}")
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
