"""Part "cold": quadratic programs from their matrices to the answer, without anything known before."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.qp_test import ours
from benchmarks.qp_test.accuracy import Answer, measure
from benchmarks.qp_test.peers import Peer
from benchmarks.qp_test.problems import Program
from benchmarks.qp_test.race import Entry, race
from benchmarks.qp_test.sizes import Sizes
from benchmarks.report import progress

_Row = dict[str, Any]
ACCURATE = 1e-6  # error up to which an answer counts, and beyond only if it is no larger than ours
_GROWTH = 2  # exponent of the unknowns in guesses of how long the next one will take


class Patience:
    """Who would take too long on the next problem, by the last one of its kind."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._last: dict[tuple[str, str], tuple[int, float]] = {}

    def refuses(self, peer: Peer, program: Program) -> str:
        """The reason, or nothing."""
        unknowns = len(program.b)
        if unknowns > peer.most_unknowns:
            return f"too slow beyond {peer.most_unknowns:,.0f} unknowns"
        before, seconds = self._last.get((peer.name, program.kind), (unknowns, 0.0))
        guess = seconds * (unknowns / before) ** _GROWTH
        return f"would take about {guess:.0f} s" if guess > self._limit else ""

    def remember(self, method: str, program: Program, seconds: float) -> None:
        self._last[method, program.kind] = len(program.b), seconds


def _judged(program: Program, row: _Row, answer: Answer | None) -> _Row:
    if answer is None:
        return row | {"errors": None, "error": None, "note": row["failure"]}
    errors = measure(program, answer)
    return row | {"errors": vars(errors), "error": errors.largest, "note": answer.note}


def _measure_one(program: Program, peers: list[Peer], sizes: Sizes, patience: Patience) -> list[_Row]:
    """Rows of one problem: ours first, those left out last."""
    entries, readers = [Entry(ours.NAME, partial(ours.solve, program), is_ours=True)], {ours.NAME: ours.answer}
    asked, left_out = {ours.NAME: "tol 1e-9"}, []
    about = {
        "program": program.name, "body": program.body, "kind": program.kind, "unknowns": len(program.b),
        "rows": len(program.c), "fixed": len(program.e),
    }  # fmt: skip
    for peer in peers:
        reason = patience.refuses(peer, program)
        if reason:
            row = {"method": peer.name, "seconds": None, "failure": reason}
            left_out.append(about | {"asked": peer.asked} | _judged(program, row, None))
            continue
        entries.append(Entry(peer.name, partial(peer.solve, peer.prepare(program))))
        readers[peer.name] = partial(peer.answer, program)
        asked[peer.name] = peer.asked
    race(f"cold: {program.name}", entries, sizes.rounds, sizes.method_seconds)
    rows = []
    for entry in entries:
        row = entry.row()
        if row["seconds"] is not None:
            patience.remember(entry.method, program, row["seconds"])
        found = None if entry.failure else readers[entry.method](entry.result)
        rows.append(about | {"asked": asked[entry.method]} | _judged(program, row, found))
    return rows + left_out


def measure_cold(peers: list[Peer], sizes: Sizes) -> list[_Row]:
    """One row per problem and method; `is_accepted` tells whether its answer is as good as asked for."""
    patience = Patience(sizes.limit)
    rows: list[_Row] = []
    for make in sizes.programs:
        progress("cold: making a problem")
        found = _measure_one(make(), peers, sizes, patience)
        worst = max(ACCURATE, found[0]["error"] or 0.0)
        rows += [row | {"is_accepted": row["error"] is not None and row["error"] <= worst} for row in found]
    return rows
