"""Speed and growth of the inside test, next to other libraries.

    python -m benchmarks.inside [--quick] [--threads 2] [--peers open3d,libigl,trimesh,cgal,fmm3d-1,fmm3d-3 | none]
                                [--parts speed,growth,curves,grid,winding] [--out benchmarks/results]

Prints tables and every required figure with what was reached; writes inside.json, inside.md and the plots to
the output folder. The full run takes about half an hour on two quiet cores; --quick about two minutes, with
sizes too small for the required figures. What the methods have in common: one process, the same input, the same
threads, alternating rounds, the best time of each.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

if not __package__:  # run as a file
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import command, measure

_PARTS = ("speed", "growth", "curves", "grid", "winding")
_PEERS = ("open3d", "libigl", "trimesh", "cgal", "fmm3d-1", "fmm3d-3")


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = command.parser("inside", __doc__, _PARTS, _PEERS)
    command.add_threads(parser, 2)
    return parser.parse_args(arguments)


def _measure(options: argparse.Namespace, cpus: list[int]) -> tuple[dict[str, Any], list[Any]]:
    """All results, as the JSON file holds them, and the verdicts."""
    from benchmarks.inside_test import cases, grid, growth, ours, peers, speed, winding
    from benchmarks.inside_test.report import grid_verdicts, growth_verdicts, speed_verdicts
    from benchmarks.inside_test.winding_report import winding_verdicts
    from benchmarks.report import progress

    sizes = cases.QUICK if options.quick else cases.FULL
    session = measure.Session(cpus)
    methods = [ours.Impinge(method, options.threads) for method in ours.METHODS]
    progress("warming up, which compiles the first time")
    used = methods if "curves" in options.parts else [methods[0], methods[-1]]
    ours.warm_up(used)  # before the peers, whose own libraries of threads Numba might pick up
    if "grid" in options.parts:
        grid.warm_up(methods[0])
    if "winding" in options.parts:
        winding.warm_up(options.threads)
    progress("loading the peers")
    others, absent = peers.load(options.peers, peers.INSIDE, options.threads)
    winders, also_absent = peers.load(options.peers, peers.WINDING, options.threads)
    measure.forget_garbage()
    results = session.begin(options.quick, options.threads, [*others, *winders], absent | also_absent, vars(sizes))
    verdicts: list[Any] = []
    if "speed" in options.parts:
        results["speed"] = speed.measure(methods[0], others, sizes, options.threads)
        verdicts += speed_verdicts(results["speed"])
    if "growth" in options.parts:
        results["growth"] = growth.measure_growth(methods[0], sizes)
        verdicts += growth_verdicts(results["growth"], sizes.fit_from)
    if "curves" in options.parts:
        results["curves"] = growth.measure_curves([*methods, *others], sizes)
    if "grid" in options.parts:
        results["grid"] = grid.measure(methods[0], sizes)
        verdicts += grid_verdicts(results["grid"])
    if "winding" in options.parts:
        results["winding"] = winding.measure(winders, sizes, options.threads)
        verdicts += winding_verdicts(results["winding"])
    session.end(results, verdicts)
    return results, verdicts


def _text(results: dict[str, Any], verdicts: list[Any]) -> str:
    from benchmarks.inside_test import report
    from benchmarks.inside_test.winding_report import winding_text
    from benchmarks.report import page, sections

    parts = (
        ("speed", "Speed", report.speed_text),
        ("growth", "Growth of the octree", report.growth_text),
        ("grid", "Regular grids", report.grid_text),
        ("winding", "Winding numbers", winding_text),
    )
    return page("Inside test", sections(results, parts), results, verdicts)


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    cpus = measure.limit_threads(options.threads)
    results, verdicts = _measure(options, cpus)
    text = _text(results, verdicts)
    print(text)
    name = command.of_parts("inside", options.parts, _PARTS)
    command.save(name, results, text, options.out, "benchmarks.inside_test.plots")
    return 0


if __name__ == "__main__":
    sys.exit(main())
