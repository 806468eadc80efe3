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
    parser.add_argument("--threads", type=int, default=min(2, len(measure.cores())), help="of every method")
    options = parser.parse_args(arguments)
    command.check_threads(parser, [options.threads])
    return options


def _measure(options: argparse.Namespace, cpus: list[int]) -> dict[str, Any]:
    """All results, as the JSON file holds them."""
    from benchmarks.inside_test import cases, grid, growth, ours, peers, speed, winding
    from benchmarks.inside_test.report import grid_verdicts, growth_verdicts, speed_verdicts
    from benchmarks.inside_test.winding_report import winding_verdicts
    from benchmarks.report import progress

    sizes = cases.QUICK if options.quick else cases.FULL
    load_before = measure.load_average()
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
    results: dict[str, Any] = {
        "about": measure.machine(options.threads, cpus) | {"load_before": load_before},
        "quick": options.quick,
        "sizes": vars(sizes),
        "peers": {peer.name: peer.version() for peer in [*others, *winders]},
        "absent": absent | also_absent,
    }
    others_busy = measure.Others(cpus)
    verdicts = []
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
    results["about"] |= {"load_after": measure.load_average(), "others_cpus": others_busy.mean()}
    results["verdicts"] = [verdict.as_dict() for verdict in verdicts]
    results["text"] = _text(results, verdicts)
    return results


def _text(results: dict[str, Any], verdicts: list[Any]) -> str:
    from benchmarks.inside_test import report
    from benchmarks.inside_test.winding_report import winding_text
    from benchmarks.report import machine_text, verdicts_text

    blocks = ["# Inside test", machine_text(results["about"], results["peers"], results["absent"])]
    for part, title, write in (
        ("speed", "Speed", report.speed_text),
        ("growth", "Growth of the octree", report.growth_text),
        ("grid", "Regular grids", report.grid_text),
        ("winding", "Winding numbers", winding_text),
    ):
        if part in results:
            blocks += [f"## {title}", write(results[part])]
    return "\n\n".join(blocks + verdicts_text(verdicts, results["quick"], results["about"])) + "\n"


def _draw(results: dict[str, Any], folder: Path) -> list[Path]:
    from benchmarks.inside_test import plots

    return plots.draw(results, folder)


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    cpus = measure.limit_threads(options.threads)
    results = _measure(options, cpus)
    text = results.pop("text")
    print(text)
    command.save(command.of_parts("inside", options.parts, _PARTS), results, text, options.out, _draw)
    return 0


if __name__ == "__main__":
    sys.exit(main())
