"""Tables of the neighbour benchmark, and its required figures with what was reached."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.report import Verdict, exponent, grouped, seconds, table, threads_text

_Row = dict[str, Any]
_BETWEEN = "–"


def ours_at(rows: list[_Row], threads: int) -> _Row:
    """Our row of one system, at default settings."""
    return next(row for row in rows if row["method"] == "impinge" and row["threads"] == threads)


def fastest(rows: list[_Row], group: str, threads: int) -> _Row | None:
    """The fastest of a group in one system: with so many threads, or without such a setting."""
    here = [row for row in rows if row["group"] == group and row["threads"] in (threads, None) and not row["skipped"]]
    return min(here, key=lambda row: row["seconds"], default=None)


def thread_counts(rows: list[_Row]) -> list[int]:
    return sorted({row["threads"] for row in rows if row["threads"] is not None})


def is_wrong(row: _Row) -> bool:
    return str(row.get("differs", "")).startswith("MISMATCH")


# Required figures


def _faster(rows: list[_Row], group: str, threads: int, title: str, required: float) -> Verdict:
    mine, other = ours_at(rows, threads), fastest(rows, group, threads)
    name = f"times faster than {title}, {mine['system']}, {threads_text(threads)}"
    if other is None:
        return Verdict(name, "at least", required, None, remark="no peer")
    remark = f"{other['method']} {seconds(other['seconds'])}, ours {seconds(mine['seconds'])}"
    return Verdict(name, "at least", required, other["seconds"] / mine["seconds"], remark=remark)


def speed_verdicts(rows: list[_Row]) -> list[Verdict]:
    found = []
    systems, counts = grouped(rows, "system"), thread_counts(rows)
    for family, group, title, required in (
        ("equal", "general", "the fastest peer", 3.0),
        ("two sizes", "general", "the fastest general peer", 3.0),
        ("two sizes", "split", "the fastest with size classes by hand", 1.5),
    ):
        here = [system for system in systems if system[0]["family"] == family]
        found += [_faster(system, group, count, title, required) for system in here for count in counts]
    return found


def count_verdict(rows: list[_Row]) -> Verdict:
    wrong = [row for row in rows if is_wrong(row)]
    remark = "; ".join(f"{row['method']}, {row['system']}: {row['differs']}" for row in wrong)
    compared = sum(1 for row in rows if not row["skipped"]) - len(grouped(rows, "system"))
    return Verdict(f"results that differ from ours, of {compared}", "at most", 0, float(len(wrong)), remark=remark)


def _curves(rows: list[_Row]) -> list[list[_Row]]:
    keys = dict.fromkeys((row["family"], row["kind"], row["threads"]) for row in rows)
    return [[row for row in rows if (row["family"], row["kind"], row["threads"]) == key] for key in keys]


def _exponent(rows: list[_Row]) -> float | None:
    if len(rows) < 2:
        return None
    return exponent(np.array([row["n"] for row in rows], float), np.array([row["seconds"] for row in rows]))


def growth_verdicts(rows: list[_Row], fit_from: int) -> list[Verdict]:
    """Of all but cells for a power law: one lattice as coarse as the largest sphere cannot be fast there."""
    found = []
    for curve in _curves(rows):
        family, kind = curve[0]["family"], curve[0]["kind"]
        fitted = [row for row in curve if row["n"] >= fit_from]
        if (family, kind) == ("power law", "cells") or not fitted:
            continue
        name = f"exponent of time over spheres, {family}, {kind}, {threads_text(curve[0]['threads'])}"
        span = f"{fitted[0]['n']:,} to {fitted[-1]['n']:,}"
        whole = _exponent(curve)
        remark = "" if whole is None else f"from {curve[0]['n']:,} on {whole:.3g}"
        found.append(Verdict(f"{name}, {span}", "below", 1.1, _exponent(fitted), remark=remark))
    return found


def spread_verdicts(rows: list[_Row]) -> list[Verdict]:
    title = "seconds per sphere over those of equal spheres"
    return [
        Verdict(f"{title}, {row['system']}, {threads_text(row['threads'])}", "at most", 1.5, row["ratio"])
        for row in rows
    ]


# Tables


def _against(row: _Row, system: list[_Row], counts: list[int]) -> list[str]:
    """Its time over ours, for each number of threads it stands for."""
    return [
        f"{row['seconds'] / ours_at(system, count)['seconds']:.3g}" if row["threads"] in (count, None) else _BETWEEN
        for count in counts
    ]


def _check(row: _Row) -> str:
    differs = row["differs"] or "equal"
    return f"🔴 {differs}" if is_wrong(row) else differs


def _system_text(system: list[_Row], counts: list[int]) -> str:
    first = system[0]
    body = []
    for row in system:
        threads = "as it is" if row["threads"] is None else str(row["threads"])
        if row["skipped"]:
            body.append([row["method"], *[_BETWEEN] * (len(counts) + 4), row["skipped"]])
        else:
            runs = str(len(row["all_s"]))
            cores = f"{row['cores_used']:.1f}"
            against = _against(row, system, counts)
            body.append([row["method"], threads, seconds(row["seconds"]), *against, cores, runs, _check(row)])
    head = ["method", "threads", "time", *(f"÷ ours, {threads_text(count)}" for count in counts)]
    title = f"### {first['system']}; {first['true_pairs']:,} pairs, {first['true_pairs'] / first['n']:.2g} each"
    return f"{title}\n\n" + table([*head, "cores", "calls", "pairs"], body)


_SPEED_NOTES = (
    "Best of several alternating calls; the input comes in the type each method takes (prepare_s in the JSON file "
    "is what making it took), and all deliver the row numbers of the pairs. As it is: no setting for threads, "
    "compared with ours at every number of them. Where no size classes are named, a peer gets one call for all "
    "sizes: the largest cutoff and a filter, or what it has for radii. cores: processor time over wall time. calls: "
    "fewer for those far behind. pairs: whether they are those of impinge; by rounding: in single precision, and as "
    "many as the shifted coordinates can explain."
)


def _summary(systems: list[list[_Row]], counts: list[int]) -> str:
    body = []
    for system in systems:
        first = system[0]
        cells = [first["system"], f"{first['ratio']:.3g}", f"{first['true_pairs'] / first['n']:.2g}"]
        for count in counts:
            mine = ours_at(system, count)["seconds"]
            cells.append(seconds(mine))
            for group in ("general", "split"):
                other = fastest(system, group, count)
                cells.append(_BETWEEN if other is None else f"{other['seconds'] / mine:.3g} ({other['method']})")
        body.append(cells)
    head = ["system", "ratio", "pairs each"]
    for count in counts:
        head += [f"ours, {threads_text(count)}", "fastest peer ÷ ours", "by hand ÷ ours"]
    return table(head, body)


def speed_text(rows: list[_Row]) -> str:
    systems, counts = grouped(rows, "system"), thread_counts(rows)
    details = [_system_text(system, counts) for system in systems]
    return "\n\n".join([_summary(systems, counts), *details, _SPEED_NOTES])


def boxes_text(rows: list[_Row]) -> str:
    counts = thread_counts(rows)
    return "\n\n".join(_system_text(system, counts) for system in grouped(rows, "system"))


def growth_text(rows: list[_Row]) -> str:
    curves = _curves(rows)
    sizes = sorted({row["n"] for row in rows})
    body = []
    for n in sizes:
        found = [next((row for row in curve if row["n"] == n), None) for curve in curves]
        body.append([f"{n:,}", *(_BETWEEN if row is None else f"{row['seconds'] / n * 1e9:.0f}" for row in found)])
    heads = [f"{c[0]['family']}, {c[0]['kind']}, {c[0]['threads']}" for c in curves]
    note = "Nanoseconds per sphere; family, method and threads above. –: no such number, or it would take too long."
    return table(["spheres", *heads], body) + f"\n\n{note}"


def spread_text(rows: list[_Row]) -> str:
    body = [
        [
            row["system"],
            str(row["threads"]),
            f"{row['pairs_per_sphere']:.3g}",
            f"{row['seconds_per_sphere'] * 1e9:.0f}",
            f"{row['pairs_per_equal']:.3g}",
            f"{row['gap_equal']:.3g}",
            f"{row['seconds_per_equal'] * 1e9:.0f}",
            f"{row['ratio']:.3g}",
        ]
        for row in rows
    ]
    head = "system, threads, pairs each, ns each, equal: pairs each, equal: gap, equal: ns each, ratio"
    return table(head.split(", "), body)
