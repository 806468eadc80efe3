"""Speed and growth of the inside test, next to other libraries.

    python -m benchmarks.inside [--quick] [--threads 2] [--peers open3d,libigl,trimesh,cgal | none]
                                [--parts speed,growth,curves,grid] [--out benchmarks/results]

Prints tables and every required figure with what was reached; writes inside.json, inside.md and the plots to
the output folder. The full run takes about a quarter of an hour on two quiet cores; --quick about a minute,
with sizes too small for the required figures. What the methods have in common: one process, the same input,
the same threads, alternating rounds, the best time of each.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

if not __package__:  # run as a file
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import measure

_PARTS = ("speed", "growth", "curves", "grid")
_PEERS = ("open3d", "libigl", "trimesh", "cgal")


def _words(allowed: tuple[str, ...]) -> Any:
    def parse(text: str) -> list[str]:
        words = [word for word in text.lower().split(",") if word and word != "none"]
        unknown = [word for word in words if word not in allowed]
        if unknown:
            raise argparse.ArgumentTypeError(f"found {', '.join(unknown)}, expected some of {', '.join(allowed)}")
        return words

    return parse


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    assert __doc__
    parser = argparse.ArgumentParser("benchmarks.inside", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, about a minute")
    parser.add_argument("--threads", type=int, default=min(2, len(measure.cores())), help="of every method")
    parser.add_argument(
        "--peers", type=_words(_PEERS), default=list(_PEERS), help=f"none, or some of {','.join(_PEERS)}"
    )
    parser.add_argument("--parts", type=_words(_PARTS), default=list(_PARTS), help=f"some of {','.join(_PARTS)}")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder for the results")
    options = parser.parse_args(arguments)
    if not 1 <= options.threads <= len(measure.cores()):
        parser.error(f"--threads: found {options.threads}, expected 1 to {len(measure.cores())}")
    return options


def _measure(options: argparse.Namespace, cpus: list[int]) -> dict[str, Any]:
    """All results, as the JSON file holds them."""
    from benchmarks import cases, grid, growth, ours, peers, speed
    from benchmarks.report import grid_verdicts, growth_verdicts, progress, speed_verdicts

    sizes = cases.QUICK if options.quick else cases.FULL
    load_before = measure.load_average()
    methods = [ours.Impinge(method, options.threads) for method in ours.METHODS]
    progress("warming up, which compiles the first time")
    used = methods if "curves" in options.parts else [methods[0], methods[-1]]
    ours.warm_up(used)  # before the peers, whose own libraries of threads Numba might pick up
    if "grid" in options.parts:
        grid.warm_up(methods[0])
    progress("loading the peers")
    others, absent = peers.load(options.peers, options.threads)
    measure.forget_garbage()
    results: dict[str, Any] = {
        "about": measure.machine(options.threads, cpus) | {"load_before": load_before},
        "quick": options.quick,
        "sizes": vars(sizes),
        "peers": {peer.name: peer.version() for peer in others},
        "absent": absent,
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
    results["about"] |= {"load_after": measure.load_average(), "others_cpus": others_busy.mean()}
    results["verdicts"] = [verdict.as_dict() for verdict in verdicts]
    results["text"] = _text(results, [str(verdict) for verdict in verdicts])
    return results


def _text(results: dict[str, Any], verdicts: list[str]) -> str:
    from benchmarks import report

    blocks = ["# Inside test", report.machine_text(results["about"], results["peers"], results["absent"])]
    for part, title, write in (
        ("speed", "Speed", report.speed_text),
        ("growth", "Growth of the octree", report.growth_text),
        ("grid", "Regular grids", report.grid_text),
    ):
        if part in results:
            blocks += [f"## {title}", write(results[part])]
    if verdicts:
        remark = " (small sizes: an indication only)" if results["quick"] else ""
        remark += " (BUSY MACHINE: met or missed means nothing)" if report.is_busy(results["about"]) else ""
        blocks += [f"## Required figures{remark}", "\n".join(f"- {verdict}" for verdict in verdicts)]
    return "\n\n".join(blocks) + "\n"


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    cpus = measure.limit_threads(options.threads)
    results = _measure(options, cpus)
    text = results.pop("text")
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "inside.md").write_text(text, encoding="utf-8")
    (options.out / "inside.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(text)
    written = [options.out / "inside.json", options.out / "inside.md"]
    try:
        from benchmarks import plots
    except ImportError as error:
        print(f"no plots: {error}")
    else:
        written += plots.draw(results, options.out)
    print("written: " + ", ".join(map(str, written)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
