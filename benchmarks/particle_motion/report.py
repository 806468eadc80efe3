"""Tables of the particle benchmark, and its required figures with what was reached."""

from __future__ import annotations

from typing import Any

from benchmarks.report import Verdict, grouped, table, threads_text

_Row = dict[str, Any]
_NONE = "–"
_OURS = "impinge"
_REFERENCE = "lammps"
_RIVALS = ("lammps", "liggghts")  # the required figures are about the faster of these
_DIGITS = 1e-6  # relative difference of kinetic energies that is allowed without friction
_ROUGHLY = 0.1  # with friction, where the codes' laws differ in details


def find(rows: list[_Row], code: str, threads: int) -> _Row | None:
    """The row of a code that has run."""
    here = (row for row in rows if (row["code"], row["threads"]) == (code, threads) and not row["skipped"])
    return next(here, None)


def compare_kinetic(rows: list[_Row]) -> None:
    """Add to all rows of all cases how far their kinetic energy is from LAMMPS's, or from the first one's."""
    for case in grouped(rows, "case"):
        ran = [row for row in case if not row.get("skipped")]
        reference = next((row for row in ran if row["code"] == _REFERENCE), ran[0] if ran else None)
        for row in ran:
            assert reference is not None
            row["differs"] = abs(row["kinetic"] / reference["kinetic"] - 1)
            row["wrong"] = row["differs"] > (_ROUGHLY if row.get("dense") else _DIGITS)


def _difference(row: _Row) -> str:
    text = "0" if row["differs"] == 0 else f"{row['differs']:.1e}"
    return f"MISMATCH {text}" if row["wrong"] else text


# Speed


def _rival(rows: list[_Row], threads: int) -> _Row | None:
    found = [row for code in _RIVALS if (row := find(rows, code, threads)) is not None]
    return max(found, key=lambda row: row["rate"], default=None)


def speed_verdicts(rows: list[_Row]) -> list[Verdict]:
    found = []
    for case in grouped(rows, "case"):
        required, aim = (1.0, 1.5) if case[0]["dense"] else (1.2, 2.0)
        for threads in sorted({row["threads"] for row in case}):
            ours, rival = find(case, _OURS, threads), _rival(case, threads)
            name = f"times the rate of the faster of LAMMPS and LIGGGHTS, {case[0]['case']}, {threads_text(threads)}"
            if ours is None or rival is None:
                found.append(Verdict(name, "at least", required, None, aim))
                continue
            remark = f"{rival['code']} {rival['rate'] / 1e6:.1f}, ours {ours['rate'] / 1e6:.1f} million a second"
            found.append(Verdict(name, "at least", required, ours["rate"] / rival["rate"], aim, remark))
    wrong = [f"{row['code']}, {row['case']}" for row in rows if row.get("wrong")]
    name = "kinetic energies that differ"
    return [*found, Verdict(name, "at most", 0, float(len(wrong)), remark="; ".join(wrong))]


def growth_verdicts(rows: list[_Row]) -> list[Verdict]:
    found = []
    few, many = grouped(rows, "case")
    for threads in sorted({row["threads"] for row in rows}):
        one, other = find(few, _OURS, threads), find(many, _OURS, threads)
        reached = None if one is None or other is None else other["rate"] / one["rate"]
        name = f"rate of {many[0]['n']:,} equal spheres over that of {few[0]['n']:,}, {threads_text(threads)}"
        found.append(Verdict(name, "at least", 0.8, reached))
    return found


def _rates(case: list[_Row], codes: list[str], counts: list[int]) -> list[str]:
    cells = []
    for code in codes:
        for threads in counts:
            row = find(case, code, threads)
            cells.append(_NONE if row is None else f"{row['rate'] / 1e6:.1f}")
    return cells


def _details(row: _Row) -> list[str]:
    about = [row["case"], row["code"], row["setting"], str(row["threads"])]
    if row["skipped"]:
        return [*about, _NONE, _NONE, _NONE, f"skipped: {row['skipped']}"]
    rounds = " ".join(f"{row['n'] * row['steps'] / seconds / 1e6:.1f}" for seconds in row["all_s"])
    rebuilds = _NONE if row["rebuilds"] is None else f"{row['rebuilds']} in {row['steps']:,}"
    return [*about, rounds, rebuilds, f"{row['kinetic']:.9g}", _difference(row)]


def speed_text(rows: list[_Row]) -> str:
    codes = list(dict.fromkeys(row["code"] for row in rows))
    counts = sorted({row["threads"] for row in rows})
    head = ["case", *(f"{code}, {threads}" for code in codes for threads in counts)]
    summary = table(head, [[case[0]["case"], *_rates(case, codes, counts)] for case in grouped(rows, "case")])
    details = [_details(row) for row in rows]
    head = ["case", "code", "setting", "threads", "each round", "new lists in steps", "kinetic energy, J", "differs"]
    return "\n\n".join([summary, _SPEED_NOTES, table(head, details, left=3)])


_SPEED_NOTES = (
    "Million particle-steps per second of the time loop, new lists included; the best of alternating runs, each from "
    "the same start. Peers run with the fastest setting found by short runs before (skin: list distance in smallest "
    "radii; LAMMPS with ranks or with OpenMP), impinge with its defaults. differs: relative difference of the kinetic "
    "energy at the end from that of LAMMPS; with friction the laws differ in details."
)


# Energy


def energy_text(rows: list[_Row]) -> str:
    body = [[row["case"], row["code"], f"{row['steps']:,}", f"{row['kinetic']:.15g}", _difference(row)] for row in rows]
    return table(["case", "code", "steps", "kinetic energy, J", "differs"], body, left=2)


def energy_verdicts(rows: list[_Row]) -> list[Verdict]:
    found = []
    for case in grouped(rows, "case"):
        codes = {row["code"]: row for row in case}
        reached = codes[_OURS]["differs"] if _OURS in codes and _REFERENCE in codes else None
        name = f"relative difference of kinetic energy from LAMMPS, {case[0]['case']}, {case[0]['steps']:,} steps"
        found.append(Verdict(name, "at most", _DIGITS, reached))
    return found


def drift_text(rows: list[_Row]) -> str:
    body = [[row["case"], row["code"], f"{row['steps']:,}", f"{row['drift']:.2e}"] for row in rows]
    return table(["case", "code", "steps", "change of total energy"], body, left=2)


def drift_verdicts(rows: list[_Row]) -> list[Verdict]:
    found = []
    for case in grouped(rows, "case"):
        codes = {row["code"]: row["drift"] for row in case}
        # Two codes with one integrator differ by rounding.
        allowed = max(case[0]["allowed"], 1.01 * codes.get(_REFERENCE, 0.0))
        name = f"relative change of total energy, {case[0]['case']}, {case[0]['steps']:,} steps"
        remark = f"LAMMPS {codes[_REFERENCE]:.2e}" if _REFERENCE in codes else ""
        found.append(Verdict(name, "at most", allowed, codes.get(_OURS), remark=remark))
    return found
