"""Speed and errors of continuous collision detection, next to ipctk.

    python -m benchmarks.ccd [--quick] [--threads 1,2] [--parts cloth,queries,truth,growth] [--peers ipctk | none]
                             [--out benchmarks/results]

Prints tables and every required figure with what was reached; writes ccd.json, ccd.md and ccd.png to the output
folder, and ends with status 1 if a contact or a candidate was missed. What the methods have in common: one process, the
same input, the same threads, alternating calls, the best time of each. --quick takes about a minute; the full run about
ten.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

if not __package__:  # run as a file
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import command, measure

_PARTS = ("cloth", "queries", "truth", "growth")
_PEERS = ("ipctk",)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = command.parser("ccd", __doc__, _PARTS, _PEERS)
    command.add_numbers_of_threads(parser)
    return parser.parse_args(arguments)


def _measure(options: argparse.Namespace, cpus: list[int]) -> tuple[dict[str, Any], list[Any]]:
    """All results, as the JSON file holds them, and the verdicts."""
    from benchmarks.ccd_test import cloth, growth, ours, peers, queries, report, scenes, truth
    from benchmarks.report import progress

    sizes, threads = scenes.QUICK if options.quick else scenes.FULL, options.threads
    session = measure.Session(cpus)
    progress("warming up, which compiles the first time")
    ours.warm_up(threads)
    progress("loading the peer")
    peer, absent = peers.load(options.peers)
    measure.forget_garbage()
    results = session.begin(options.quick, threads, [peer] if peer else [], absent, vars(sizes))
    verdicts: list[Any] = []
    if "cloth" in options.parts:
        results["cloth"] = cloth.measure(peer, sizes, threads)
        verdicts += report.cloth_verdicts(results["cloth"])
    if "queries" in options.parts:
        results["queries"] = queries.measure(peer, sizes, threads)
        verdicts += report.queries_verdicts(results["queries"])
    if "truth" in options.parts:
        results["truth"] = truth.measure(peer, sizes)
        verdicts += report.truth_verdicts(results["truth"])
    if "growth" in options.parts:
        results["growth"] = growth.measure(peer, sizes, max(threads))
    results["missed"] = report.count_missed(results)
    session.end(results, verdicts)
    return results, verdicts


def _text(results: dict[str, Any], verdicts: list[Any]) -> str:
    from benchmarks.ccd_test import report
    from benchmarks.report import page, sections

    parts = (
        ("cloth", "Cloth", report.cloth_text),
        ("queries", "Single queries", report.queries_text),
        ("truth", "Ground truth", report.truth_text),
        ("growth", "Growth", report.growth_text),
    )
    return page("Continuous collision detection", sections(results, parts), results, verdicts)


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    cpus = measure.limit_threads(max(options.threads))
    results, verdicts = _measure(options, cpus)
    text = _text(results, verdicts)
    print(text)
    command.save(
        command.of_parts("ccd", options.parts, _PARTS), results, text, options.out, "benchmarks.ccd_test.plots"
    )
    return int(results["missed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
