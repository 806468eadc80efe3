"""Speed and depths of rigid bodies that are not convex, next to MuJoCo and PyBullet.

    python -m benchmarks.polyhedra [--quick] [--threads 1] [--parts pile,bodies,faces,race]
                                   [--peers mujoco,pybullet | none] [--out benchmarks/results]

Bodies shaped as L, U, star and torus are thrown into a box. Part `pile`: steps per second on the way down and in the
pile, by phase. `bodies` and `faces`: seconds per step of the same pile with more bodies, or with finer triangles on
the same shapes. `race`: the same bodies in the same box by all engines, where peers have unions of convex parts; one
judge tells for all how deep the true surfaces are in each other at the end. Prints tables and every required figure
with what was reached; writes polyhedra.json, polyhedra.md and polyhedra.png to the output folder. --quick takes less
than a minute, the full run about ten.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

if not __package__:  # run as a file
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import command, measure

_PARTS = ("pile", "bodies", "faces", "race")
_PEERS = ("mujoco", "pybullet")


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = command.parser("polyhedra", __doc__, _PARTS, _PEERS)
    command.add_threads(parser, len(measure.cores()))
    return parser.parse_args(arguments)


def _measure(options: argparse.Namespace, cpus: list[int]) -> tuple[dict[str, Any], list[Any]]:
    """All results, as the JSON file holds them, and the verdicts."""
    from benchmarks.polyhedra_test import growth, ours, peers, pile, race, report, scenes
    from benchmarks.report import progress

    sizes, threads = scenes.QUICK if options.quick else scenes.FULL, options.threads
    session = measure.Session(cpus)
    progress("warming up, which compiles the first time")
    ours.warm_up(threads)
    rivals, absent = peers.load(options.peers if "race" in options.parts else [])
    for name, reason in absent.items():
        progress(f"skipped: {name}: {reason}")
    results = session.begin(options.quick, threads, rivals, absent, vars(sizes))
    if {"pile", "bodies"} & set(options.parts):
        part = pile.settled(scenes.thrown(sizes.part, sizes.faces), sizes, threads, "pile")
        if "pile" in options.parts:
            results["pile"] = pile.measure(part, sizes, threads)
        if "bodies" in options.parts:
            results["bodies"] = growth.with_bodies(part, sizes, threads)
    if "faces" in options.parts:
        results["faces"] = growth.with_faces(sizes, threads)
    if "race" in options.parts:
        results["race"] = race.measure([ours.Impinge(), *rivals], sizes, threads)
    verdicts = report.verdicts(results)
    session.end(results, verdicts)
    return results, verdicts


def _text(results: dict[str, Any], verdicts: list[Any]) -> str:
    from benchmarks.polyhedra_test import report
    from benchmarks.report import page, sections

    parts = [(name, title, text) for name, (title, text) in report.PARTS.items()]
    return page("Rigid bodies that are not convex", sections(results, parts), results, verdicts)


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    cpus = measure.limit_threads(options.threads)
    results, verdicts = _measure(options, cpus)
    text = _text(results, verdicts)
    print(text)
    name = command.of_parts("polyhedra", options.parts, _PARTS)
    command.save(name, results, text, options.out, "benchmarks.polyhedra_test.plots")
    return 0


if __name__ == "__main__":
    sys.exit(main())
