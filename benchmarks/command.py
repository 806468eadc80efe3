"""What the commands have in common: options, peers that may be absent, and the files they write."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks import measure

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


def check_threads(made: argparse.ArgumentParser, counts: Iterable[int]) -> None:
    most = len(measure.cores())
    for count in counts:
        if not 1 <= count <= most:
            made.error(f"--threads: found {count}, expected 1 to {most}")


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
            absent[name] = f"{type(error).__name__}: {error}".splitlines()[0]
        else:
            ready.append(peer)
    return ready, absent


def of_parts(name: str, parts: list[str], all_parts: tuple[str, ...]) -> str:
    """Name of the files: a run of some parts does not replace the results of all."""
    return "_".join([name, *(part for part in all_parts if part in parts)] if set(parts) != set(all_parts) else [name])


def save(
    name: str, results: dict[str, Any], text: str, out: Path, draw: Callable[[dict[str, Any], Path], list[Path]]
) -> None:
    """Write the report, the JSON file and the plots."""
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.md").write_text(text, encoding="utf-8")
    (out / f"{name}.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    written = [out / f"{name}.json", out / f"{name}.md"]
    try:
        written += draw(results, out)
    except ImportError as error:
        print(f"no plots: {error}")
    print("written: " + ", ".join(map(str, written)))
