"""Bad files for every reader, and what became of them: python -m tests.fuzz.harness READER COUNT [SEED].

A defect is: an error that is not impinge's own, a message of several lines, a process that ends, one that takes more
than SECONDS of computing, or one that takes much more memory than the file is large.
"""

from __future__ import annotations

import json
import random
import re
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import mutations, seeds

SECONDS, PATIENCE = 10.0, 300.0  # of computing until a file is read, and of waiting for all
MEMORY = 400 << 20  # bytes that a file of some kilobytes may take
ALL = ("mesh", "points", "spheres", "scene", "world", "soft", "resume", "solid", "recording")


@dataclass
class Tally:
    """What became of the files for one reader."""

    reader: str
    files: int = 0
    read: int = 0
    refused: int = 0
    slowest: float = 0.0  # s
    largest: int = 0  # bytes
    defects: dict[str, tuple[str, bytes, int]] = field(default_factory=dict)  # by what it is: kind, file, how often

    def note(self, why: str, kind: str, data: bytes) -> None:
        """A defect; the smallest file that shows it is kept."""
        key = re.sub(r"\d{3,}|0x[0-9a-f]+", "…", why)[:160]
        _, old, count = self.defects.get(key, (kind, data, 0))
        self.defects[key] = kind, min(old, data, key=len), count + 1


class Worker:
    """The process that reads, started again when it has ended."""

    def __init__(self, seeds_folder: Path) -> None:
        self.folder = seeds_folder
        self.process: subprocess.Popen[str] | None = None

    def start(self, warm: list[dict[str, object]]) -> None:
        """Start it, and let it load what it needs on files that are right."""
        command = [sys.executable, "-m", "tests.fuzz.worker", str(self.folder)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for task in warm:
            answer = self.ask(task, 600.0)
            assert answer["verdict"] == "read", answer

    def ask(self, task: dict[str, object], patience: float) -> dict[str, object]:
        """What becomes of a file."""
        assert self.process is not None and self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], patience)
            line = self.process.stdout.readline() if ready else ""
        except BrokenPipeError:
            ready, line = [1], ""
        if line:
            return dict(json.loads(line))
        why = "the process ended" if ready else "no answer"
        self.stop()
        return {"verdict": "defect", "why": why, "bytes": 0, "seconds": patience}

    def stop(self) -> None:
        """End it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def run(reader: str, count: int, seed: int, known: dict[str, list[tuple[str, bytes]]], folder: Path) -> Tally:
    """Many bad files for one reader, the same ones for the same seed."""
    tally, rng = Tally(reader), random.Random(f"{reader} {seed}")
    chosen = known[reader]
    work = folder / f"work-{reader}"
    work.mkdir(exist_ok=True)
    worker = Worker(folder / "seeds")

    def task(kind: str, data: bytes) -> dict[str, object]:
        place = {"place": kind} if reader == "recording" else {}
        ending = {"solid": "npz"}.get(kind, kind.rpartition(".")[2])
        path = work / f"file.{ending}"
        path.write_bytes(data)
        return {"reader": reader, "path": str(path), **place}

    try:
        for _ in range(count):
            if worker.process is None:
                worker.start([])
                for kind, data in chosen:
                    answer = worker.ask(task(kind, data), 600.0)
                    assert answer["verdict"] == "read", (kind, answer)
            kind, data = rng.choice(chosen)
            short = "json" if kind.endswith(".json") else kind
            bad = mutations.change(rng, short, data, [other for _, other in chosen])
            answer = worker.ask({**task(kind, bad), "limit": True}, PATIENCE)
            _judge(tally, answer, kind, bad)
    finally:
        worker.stop()
    return tally


def _judge(tally: Tally, answer: dict[str, object], kind: str, bad: bytes) -> None:
    seconds, taken = float(str(answer["seconds"])), int(str(answer["bytes"]))
    tally.files += 1
    tally.slowest, tally.largest = max(tally.slowest, seconds), max(tally.largest, taken)
    if answer["verdict"] == "defect":
        tally.note(str(answer["why"]), kind, bad)
    elif seconds > SECONDS:
        tally.note(f"slow: {answer['why'] or 'read'}", kind, bad)
    elif taken > MEMORY + 100 * len(bad):
        tally.note(f"large: {answer['why'] or 'read'}", kind, bad)
    else:
        tally.read += answer["verdict"] == "read"
        tally.refused += answer["verdict"] == "refused"


def main() -> int:
    """Run for one reader or all; files that show defects stay in a folder."""
    readers = ALL if sys.argv[1] == "all" else sys.argv[1].split(",")
    count, seed = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    found = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = seeds.make(folder / "seeds", readers)
        for reader in readers:
            start = time.perf_counter()
            tally = run(reader, count, seed, known, folder)
            print(
                f"{reader}: {tally.files} files, {tally.read} read, {tally.refused} refused, {len(tally.defects)} "
                f"kinds of defects; at most {tally.slowest:.1f} s, {tally.largest / 1e6:.0f} MB; "
                f"{time.perf_counter() - start:.0f} s",
                flush=True,
            )
            for number, (why, (kind, data, times)) in enumerate(tally.defects.items()):
                kept = Path(tempfile.gettempdir()) / "impinge-fuzz" / f"{reader}-{number}-{kind.replace('/', '_')}"
                kept.parent.mkdir(exist_ok=True)
                kept.write_bytes(data)
                print(f"  {times} × {why}\n    {kept}", flush=True)
            found += len(tally.defects)
    return int(found > 0)


if __name__ == "__main__":
    raise SystemExit(main())
