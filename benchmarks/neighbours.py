"""Speed and growth of the search for near pairs, next to other libraries.

    python -m benchmarks.neighbours [--quick] [--threads 1,2] [--parts speed,boxes,growth]
                                    [--peers vesin,scipy,scipy-own,warp,… | none] [--out benchmarks/results]

Prints tables and every required figure with what was reached; writes neighbours.json, neighbours.md and the plots to
the output folder, and ends with status 1 if a result differs from ours. What the competitors have in common: one
process, the same input, the same threads where there is a setting, alternating calls, the best time of each. --quick
takes about a minute, with sizes too small for the required figures; the full run about half an hour, most of it
for peers that are far behind.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

if not __package__:  # run as a file
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import command, measure

_PARTS = ("speed", "boxes", "growth")
_PEERS = (
    "vesin",
    "scipy",
    "scipy-own",
    "warp",
    "warp-bvh",
    "mdanalysis",
    "matscipy",
    "freud",
    "scipy-split",
    "vesin-split",
    "rtree",
)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = command.parser("neighbours", __doc__, _PARTS, _PEERS)
    command.add_numbers_of_threads(parser)
    return parser.parse_args(arguments)


def _load(names: list[str]) -> tuple[list[Any], list[Any], dict[str, str]]:
    """Peers for spheres, peers for boxes, and the absent with the reason."""
    from benchmarks.neighbour_search import boxes, peers

    spheres, absent = peers.load(name for name in names if name in peers.PEERS)
    others, also_absent = boxes.load(names)
    return spheres, others, absent | also_absent


def _measure(options: argparse.Namespace, cpus: list[int]) -> tuple[dict[str, Any], list[Any]]:
    """All results, as the JSON file holds them, and the verdicts."""
    from benchmarks.neighbour_search import boxes, competitors, growth, report, sizes, speed
    from benchmarks.report import progress

    chosen = sizes.QUICK if options.quick else sizes.FULL
    threads = options.threads
    session = measure.Session(cpus)
    progress("warming up, which compiles the first time")
    _warm_up(threads)  # before the peers, whose own libraries of threads Numba might pick up
    progress("loading the peers")
    spheres, box_peers, absent = _load(options.peers)
    measure.forget_garbage()
    results = session.begin(options.quick, threads, [*spheres, *box_peers], absent, vars(chosen))
    verdicts: list[Any] = []
    if "speed" in options.parts:
        results["speed"] = speed.measure(competitors.Impinge(), spheres, chosen, threads)
        verdicts += report.speed_verdicts(results["speed"])
    if "boxes" in options.parts:
        results["boxes"] = boxes.measure(box_peers, chosen, threads)
    if "growth" in options.parts:
        results["growth"] = growth.measure_growth(chosen, threads)
        results["spread"] = growth.measure_spread(chosen, threads)
        verdicts += report.growth_verdicts(results["growth"], chosen.fit_from)
        verdicts += report.spread_verdicts(results["spread"])
    compared = results.get("speed", []) + results.get("boxes", [])
    if compared:
        verdicts.append(report.count_verdict(compared))
    session.end(results, verdicts)
    return results, verdicts


def _warm_up(threads: list[int]) -> None:
    """Compile, or load from the cache, what the searches need."""
    from benchmarks.neighbour_search import boxes, competitors, growth, systems

    for system in (systems.equal(8_000), systems.power_law(5_000), systems.equal(2_500, dimensions=2)):
        for method in growth.METHODS:
            for count in threads:
                competitors.Impinge(method).find(system, count)
    for count in threads:
        boxes.ImpingeBoxes().find(systems.rods(2_000), count)


def _text(results: dict[str, Any], verdicts: list[Any]) -> str:
    from benchmarks.neighbour_search import report
    from benchmarks.report import page, sections

    parts = (
        ("speed", "Spheres: all pairs with a gap of at most the smallest radius", report.speed_text),
        ("boxes", "Boxes around rods, 20 times as long as thick, in any direction", report.boxes_text),
        ("growth", "Growth", report.growth_text),
        ("spread", "Radii over a ratio of 100 and equal ones, at equal numbers of partners", report.spread_text),
    )
    return page("Near pairs", sections(results, parts), results, verdicts)


def _in_red(text: str) -> str:
    """Lines with wrong results in red, on a terminal."""
    if not sys.stdout.isatty():
        return text
    return "\n".join(f"\033[31m{line}\033[0m" if "MISMATCH" in line else line for line in text.split("\n"))


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    cpus = measure.limit_threads(max(options.threads))
    results, verdicts = _measure(options, cpus)
    text = _text(results, verdicts)
    print(_in_red(text))
    command.save(
        command.of_parts("neighbours", options.parts, _PARTS),
        results,
        text,
        options.out,
        "benchmarks.neighbour_search.plots",
    )
    return int("MISMATCH" in text)


if __name__ == "__main__":
    sys.exit(main())
