"""Speed and accuracy of quadratic programs, next to other solvers.

    python -m benchmarks.qp [--quick] [--parts cold,plain,warm] [--peers piqp,cvxopt,… | none] [--out FOLDER]

Prints tables and every required figure with what was reached; writes qp.json, qp.md and qp.png to the output folder,
and ends with status 1 if we solve a problem less well than asked for. What all have in common: one process, one thread,
the same matrices, alternating calls, the best time of each. --quick takes about three minutes; the full run half an
hour.

Parts: "cold", problems from their matrices to the answer; "plain", K alone factorised and solved; "warm", programs of
consecutive steps of scenes, each solved from the solution of the one before, measured by K alone.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

if not __package__:  # run as a file
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import command, measure

_PARTS = ("cold", "plain", "warm")
_PEERS = ("piqp", "cvxopt", "clarabel", "qpalm", "proxqp", "osqp", "quadprog", "daqp", "highs")


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    return command.parser("qp", __doc__, _PARTS, _PEERS).parse_args(arguments)


def _measure(options: argparse.Namespace, cpus: list[int]) -> tuple[dict[str, Any], list[Any]]:
    """All results, as the JSON file holds them, and the verdicts."""
    from benchmarks.qp_test import cold, ours, peers, plain, report, sizes, warm
    from benchmarks.report import progress

    size = sizes.QUICK if options.quick else sizes.FULL
    session = measure.Session(cpus)
    progress("warming up, which compiles the first time")
    ours.warm_up()
    progress("loading the peers")
    rivals, absent = peers.load(options.peers, size.limit)
    factors, absent_factors = plain.load() if {"plain", "warm"} & set(options.parts) else ([], {})
    measure.forget_garbage()
    others = [*rivals, *(factor for factor in factors if factor.package != "scipy")]
    described = {name: value for name, value in vars(size).items() if name not in ("programs", "sequences")}
    results = session.begin(options.quick, 1, others, absent | absent_factors, described)
    verdicts: list[Any] = []
    if "cold" in options.parts:
        results["cold"] = cold.measure_cold(rivals, size)
        verdicts += report.cold_verdicts(results["cold"])
    if "plain" in options.parts:
        results["plain"] = plain.measure_plain(factors, size)
    if "warm" in options.parts:
        results["warm"] = warm.measure_warm(factors, size)
        verdicts += report.warm_verdicts(results["warm"])
    results["wrong"] = report.count_wrong(results.get("cold", []), results.get("warm", []))
    session.end(results, verdicts)
    return results, verdicts


def _text(results: dict[str, Any], verdicts: list[Any]) -> str:
    from benchmarks.qp_test import report
    from benchmarks.report import page, sections

    parts = (
        ("cold", "From the matrices to the answer", report.cold_text),
        ("plain", "K alone", report.plain_text),
        ("warm", "Consecutive steps", report.warm_text),
    )
    return page("Quadratic programs", sections(results, parts), results, verdicts)


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    cpus = measure.limit_threads(1)
    results, verdicts = _measure(options, cpus)
    text = _text(results, verdicts)
    print(text)
    command.save(command.of_parts("qp", options.parts, _PARTS), results, text, options.out, "benchmarks.qp_test.plots")
    return int(results["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
