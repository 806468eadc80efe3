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
    parser.add_argument("--threads", type=int, default=len(measure.cores()), help="number of them")
    options = parser.parse_args(arguments)
    command.check_threads(parser, [options.threads])
    return options


def _measure(options: argparse.Namespace, cpus: list[int]) -> tuple[dict[str, Any], list[Any]]:
    """All results, as the JSON file holds them, and the verdicts."""
    from benchmarks.polyhedra_test import growth, ours, peers, pile, race, report, scenes
    from benchmarks.report import progress

    sizes, threads = scenes.QUICK if options.quick else scenes.FULL, options.threads
    load_before = measure.load_average()
    progress("warming up, which compiles the first time")
    ours.warm_up(threads)
    rivals, absent = peers.load(options.peers if "race" in options.parts else [])
    for name, reason in absent.items():
        progress(f"skipped: {name}: {reason}")
    results: dict[str, Any] = {
        "about": measure.machine(threads, cpus) | {"load_before": load_before},
        "quick": options.quick,
        "sizes": vars(sizes),
        "peers": {peer.name: peer.version() for peer in rivals},
        "absent": absent,
    }
    others_busy = measure.Others(cpus)
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
    results["about"] |= {"load_after": measure.load_average(), "others_cpus": others_busy.mean()}
    verdicts = report.verdicts(results)
    results["verdicts"] = [verdict.as_dict() for verdict in verdicts]
    return results, verdicts


def _text(results: dict[str, Any], verdicts: list[Any]) -> str:
    from benchmarks.polyhedra_test import report
    from benchmarks.report import machine_text, verdicts_text

    blocks = ["# Rigid bodies that are not convex"]
    blocks.append(machine_text(results["about"], results["peers"], results["absent"]))
    for name, (title, text) in report.PARTS.items():
        if name in results:
            blocks += [f"## {title}", text(results[name])]
    return "\n\n".join(blocks + verdicts_text(verdicts, results["quick"], results["about"])) + "\n"


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    cpus = measure.limit_threads(options.threads)
    results, verdicts = _measure(options, cpus)
    text = _text(results, verdicts)
    print(text)
    name = command.of_parts("polyhedra", options.parts, _PARTS)

    def draw(results: dict[str, Any], folder: Path) -> list[Path]:
        from benchmarks.polyhedra_test import plots

        return plots.draw(results, folder / f"{name}.png")

    command.save(name, results, text, options.out, draw)
    return 0


if __name__ == "__main__":
    sys.exit(main())
