"""Speed and accuracy of soft bodies, next to MuJoCo.

    python -m benchmarks.soft [--quick] [--threads 1] [--parts sphere,collapse,pulley,suspended,growth]
                              [--peers mujoco | none] [--out benchmarks/results]

Whole simulations: a cloth falls onto a sphere, another one onto the floor and itself, a stiff cable slides off a
pulley, another one, fixed at both ends, falls onto a cylinder. Prints tables and every required figure with what was
reached; writes soft.json, soft.md and soft.png to the output folder, and ends with status 1 if anything of ours passed
through anything. Every engine has several time steps, so that speeds can be read at equal accuracy. What the engines
have in common: one process, the same masses, shapes, stiffnesses and threads, and judges that know positions only.
--quick takes about a minute; the full run about ten, and growth up to half an hour more.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

if not __package__:  # run as a file
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import command, measure

_SCENES = ("sphere", "collapse", "pulley", "suspended")
_PARTS = (*_SCENES, "growth")
_PEERS = ("mujoco",)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = command.parser("soft", __doc__, _PARTS, _PEERS)
    command.add_threads(parser, len(measure.cores()))
    return parser.parse_args(arguments)


def _load(names: list[str], threads: int) -> tuple[Any, Any, dict[str, str]]:
    """Ours and the peer, where they run, and the reasons of those that do not."""
    from benchmarks.soft_test import ours, peers

    mine, absent = command.load([ours.NAME], {ours.NAME: ours.Impinge}, lambda engine: ours.warm_up(engine, threads))
    peer, no_peer = peers.load(names)
    return (mine[0] if mine else None), peer, absent | no_peer


def _measure(options: argparse.Namespace, cpus: list[int]) -> tuple[dict[str, Any], list[Any]]:
    """All results, as the JSON file holds them, and the verdicts."""
    from benchmarks.report import progress
    from benchmarks.soft_test import growth, report, scenes, speed

    sizes, threads = scenes.QUICK if options.quick else scenes.FULL, options.threads
    session = measure.Session(cpus)
    progress("warming up, which compiles the first time")
    mine, peer, absent = _load(options.peers, threads)
    for name, reason in absent.items():
        progress(f"skipped: {name}: {reason}")
    engines = [engine for engine in (mine, peer) if engine]
    results = session.begin(options.quick, threads, [peer] if peer else [], absent, vars(sizes))
    verdicts: list[Any] = []
    chosen = [part for part in _SCENES if part in options.parts]
    if chosen:
        results["scenes"] = [speed.measure(sizes.scene(part), engines, peer, threads, sizes) for part in chosen]
        verdicts += report.speed_verdicts(results["scenes"])
    if "growth" in options.parts:
        results["growth"] = growth.measure(engines, threads, sizes)
        verdicts += report.growth_verdicts(results["growth"])
    results["passes_through"] = report.passes_through(results.get("scenes", []))
    session.end(results, verdicts)
    return results, verdicts


def _text(results: dict[str, Any], verdicts: list[Any]) -> str:
    from benchmarks.report import page, sections
    from benchmarks.soft_test import report

    blocks = []
    for scene in results.get("scenes", []):
        blocks += [f"## {scene['scene'].capitalize()}", report.scene_text(scene)]
    if results.get("scenes"):
        blocks.append(report.SPEED_NOTES)
    blocks += sections(results, [("growth", "Growth", report.growth_text)])
    return page("Soft bodies", blocks, results, verdicts)


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    cpus = measure.limit_threads(options.threads)
    results, verdicts = _measure(options, cpus)
    text = _text(results, verdicts)
    print(text)
    command.save(
        command.of_parts("soft", options.parts, _PARTS), results, text, options.out, "benchmarks.soft_test.plots"
    )
    return int(results["passes_through"] > 0)


if __name__ == "__main__":
    sys.exit(main())
