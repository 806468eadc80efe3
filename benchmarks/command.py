"""What the commands have in common: options, peers that may be absent, and the files they write."""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.report import reason

RESULTS = Path(__file__).parent / "results"


def words(allowed: Iterable[str]) -> Callable[[str], list[str]]:
    """Parser of a list of names, or "none"."""
    known = tuple(allowed)

    def parse(text: str) -> list[str]:
        found = [word for word in text.lower().split(",") if word and word != "none"]
        unknown = [word for word in found if word not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"found {', '.join(unknown)}, expected some of {', '.join(known)}")
        return found

    return parse


def parser(name: str, about: str | None, parts: tuple[str, ...], peers: tuple[str, ...]) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    made = argparse.ArgumentParser(f"benchmarks.{name}", description=(about or "").partition("\n")[0])
    made.add_argument("--quick", action="store_true", help="small sizes, about a minute")
    made.add_argument("--peers", type=words(peers), default=list(peers), help=f"none, or some of {','.join(peers)}")
    made.add_argument("--parts", type=words(parts), default=list(parts), help=f"some of {','.join(parts)}")
    made.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    return made


def _threads(text: str) -> int:
    """Parser of a number of threads that this machine has."""
    most = len(measure.cores())
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"found {text}, expected numbers as in 1,2")
    if not 1 <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"found {text}, expected 1 to {most}")
    return int(text)


def add_threads(made: argparse.ArgumentParser, default: int) -> None:
    """An option for the number of threads."""
    made.add_argument("--threads", type=_threads, default=min(default, len(measure.cores())), help="number of them")


def add_numbers_of_threads(made: argparse.ArgumentParser) -> None:
    """An option for several of them, one after the other: 1 and 2 by default."""
    both = [count for count in (1, 2) if count <= len(measure.cores())]
    made.add_argument(
        "--threads", type=lambda text: sorted({_threads(word) for word in text.split(",")}), default=both,
        help="numbers of them, as in 1,2",
    )  # fmt: skip


def load(
    names: Iterable[str], classes: dict[str, Any], trial: Callable[[Any], None]
) -> tuple[list[Any], dict[str, str]]:
    """Peers made by `classes[name]()` that pass the trial, and for each other one the reason."""
    ready: list[Any] = []
    absent: dict[str, str] = {}
    for name in names:
        try:
            peer = classes[name]()
            trial(peer)
        except Exception as error:  # whatever is wrong with it, the others can still be measured
            absent[name] = reason(error)
        else:
            ready.append(peer)
    return ready, absent


def of_parts(name: str, parts: list[str], all_parts: tuple[str, ...]) -> str:
    """Name of the files: a run of some parts does not replace the results of all."""
    return "_".join([name, *(part for part in all_parts if part in parts)] if set(parts) != set(all_parts) else [name])


def save(name: str, results: dict[str, Any], text: str, out: Path, plots: str) -> None:
    """Write the report, the JSON file and what `draw` of a module makes of it."""
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.md").write_text(text, encoding="utf-8")
    (out / f"{name}.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    written = [out / f"{name}.json", out / f"{name}.md"]
    try:
        written += importlib.import_module(plots).draw(results, out / f"{name}.png")
    except ImportError as error:
        print(f"no plots: {error}")
    print("written: " + ", ".join(map(str, written)))
