"""Tables of the benchmark of quadratic programs, and its required figures with what was reached."""

from __future__ import annotations

from typing import Any

from benchmarks.qp_test.cold import ACCURATE
from benchmarks.qp_test.ours import NAME
from benchmarks.report import Verdict, seconds, table, the

_Row = dict[str, Any]
_NONE = "–"
_TIMES_FASTER = {"cable": 1.0, "cloth": 3.0, "self-contact": 3.0}  # than the fastest peer
_TIMES_PLAIN = {"cable": 3.0, "cloth": 2.0}  # that a warm solve may take of K alone
_TOL = 1e-9  # that we are asked for


def _unique(rows: list[_Row], key: str) -> list[Any]:
    return list(dict.fromkeys(row[key] for row in rows))


def fastest_peer(rows: list[_Row], program: str) -> _Row | None:
    """Of those whose answer is accepted."""
    others = [
        row for row in rows
        if row["program"] == program and row["method"] != NAME and row["is_accepted"] and row["seconds"] is not None
    ]  # fmt: skip
    return min(others, key=lambda row: row["seconds"], default=None)


# Required figures


def cold_verdicts(rows: list[_Row]) -> list[Verdict]:
    found = []
    for program in _unique(rows, "program"):
        mine, rival = the(rows, program=program, method=NAME), fastest_peer(rows, program)
        assert mine is not None
        name, required = f"times faster than the fastest peer, {program}", _TIMES_FASTER[mine["kind"]]
        if rival is None or mine["seconds"] is None:
            found.append(Verdict(name, "at least", required, None, remark=mine["failure"] or "no peer"))
            continue
        remark = f"{rival['method']} {seconds(rival['seconds'])}, ours {seconds(mine['seconds'])}"
        found.append(Verdict(name, "at least", required, rival["seconds"] / mine["seconds"], remark=remark))
    errors = [row["error"] for row in rows if row["method"] == NAME]
    worst = None if None in errors else max(errors)
    found.append(Verdict("largest KKT error of ours", "at most", _TOL, worst))
    return found


def warm_verdicts(rows: list[_Row]) -> list[Verdict]:
    found = []
    for row in rows:
        name = f"times as long as K alone, warm, {row['sequence']}"
        remark = f"{seconds(row['warm'])}, {row['plain_method']} {seconds(row['plain'])}"
        ratio = row["warm"] / row["plain"]
        found.append(Verdict(name, "at most", _TIMES_PLAIN[row["kind"]], ratio, remark=remark))
    return found


# Tables


def _time(row: _Row | None) -> str:
    if row is None or row["seconds"] is None:
        return _NONE
    return seconds(row["seconds"])


def _cold_cell(row: _Row | None) -> str:
    return _time(row) + ("" if row is None or row["seconds"] is None or row["is_accepted"] else " !")


def _times_text(rows: list[_Row]) -> str:
    programs, methods = _unique(rows, "program"), _unique(rows, "method")
    body = []
    for program in programs:
        here = [row for row in rows if row["program"] == program]
        first = here[0]
        size = f"{first['unknowns']:,} / {first['rows']:,} / {first['fixed']:,}"
        body.append([program, size, *(_cold_cell(the(here, method=method)) for method in methods)])
    text = table(["problem", "unknowns / rows / fixed", *methods], body, left=2)
    return f"{text}\n\n–: left out, see below. !: not accepted, as its error is above {ACCURATE:g} and above ours."


def _errors_text(rows: list[_Row]) -> str:
    programs, methods = _unique(rows, "program"), _unique(rows, "method")
    body = []
    for method in methods:
        cells = [the(rows, program=program, method=method) for program in programs]
        asked = next(row["asked"] for row in rows if row["method"] == method)
        body.append(
            [
                method,
                asked,
                *(_NONE if row is None or row["seconds"] is None else f"{row['error']:.0e}" for row in cells),
            ]
        )
    note = (
        "The largest of stationarity |Kx − b + Jᵀμ + Eᵀν|, violation of a row, and μ times slack of a row, each "
        "relative to its terms, the same measure for all. asked: the tolerances they were given, in their own terms."
    )
    return table(["method", "asked", *programs], body, left=2) + f"\n\n{note}"


def _left_out_text(rows: list[_Row]) -> str:
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["seconds"] is None:
            reasons.setdefault((row["method"], row["note"]), []).append(row["program"])
    lines = [f"- {method}: {'; '.join(programs)} ({note})" for (method, note), programs in reasons.items()]
    return "\n".join(["Left out:", *lines]) if lines else "Nothing was left out."


def cold_text(rows: list[_Row]) -> str:
    about = "One thread; set-up and solve, each K a new one; best of several alternating rounds."
    return "\n\n".join(
        [about, _times_text(rows), "### Errors", _errors_text(rows), "### Left out", _left_out_text(rows)]
    )


def plain_text(rows: list[_Row]) -> str:
    bodies, methods = _unique(rows, "body"), _unique(rows, "method")
    body = []
    for name in bodies:
        here = [row for row in rows if row["body"] == name]
        size = f"{here[0]['unknowns']:,} / {here[0]['entries']:,}"
        body.append([name, size, *(_time(the(here, method=method)) for method in methods)])
    worst = {
        method: max(
            (row["residual"] for row in rows if row["method"] == method and row["residual"] is not None), default=0
        )
        for method in methods
    }
    note = "Largest |Kx − b| in the largest |b|: " + ", ".join(f"{name} {value:.0e}" for name, value in worst.items())
    about = "K alone: analysed, factorised and solved for one right side."
    return "\n\n".join([about, table(["matrix", "unknowns / entries", *methods], body, left=2), f"{note}."])


def _warm_cells(row: _Row) -> list[str]:
    numbers = (f"{row[key]:.0f}" for key in ("rows", "active", "iterations", "cold_iterations"))
    ratios = (f"{row[key] / row['plain']:.1f}" for key in ("warm", "cold"))
    factor_only = _NONE if row["factor_only"] is None else seconds(row["factor_only"])
    times = (seconds(row[key]) for key in ("warm", "cold", "plain"))
    return [
        row["sequence"], row["plain_method"], f"{row['unknowns']:,}", *numbers, *times, factor_only, *ratios,
        f"{row['error']:.0e}",
    ]  # fmt: skip


def warm_text(rows: list[_Row]) -> str:
    steps = " or ".join(str(count) for count in _unique(rows, "steps"))
    about = (
        f"{steps} consecutive steps of scenes, from the first contact on (of the cloth that collapses: with itself). "
        "Each is solved from its matrices with the solution of the step before, multipliers going along with their "
        "pairs, and without; and K alone is analysed, factorised and solved by whatever is fastest. Means of all "
        "steps, each step's time the best of several."
    )
    head = [
        "scene", "K alone by", "unknowns", "rows", "active", "iterations", "cold", "warm", "cold", "K alone",
        "K analysed before", "warm / K", "cold / K", "error",
    ]  # fmt: skip
    return "\n\n".join([about, table(head, [_warm_cells(row) for row in rows], left=2)])


def count_wrong(cold: list[_Row], warm: list[_Row]) -> int:
    """Problems and sequences that we do not solve as well as asked for."""
    wrong = sum(row["method"] == NAME and (row["error"] is None or row["error"] > ACCURATE) for row in cold)
    return wrong + sum(not row["error"] <= ACCURATE for row in warm)
