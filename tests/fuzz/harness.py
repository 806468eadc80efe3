"""Bad files for every reader, and what became of them: python -m tests.fuzz.harness READER,… COUNT [SEED].

A defect is: an error that is not impinge's own, a message of several lines, a process that ends, one that takes more
than SECONDS of computing to read a file, or one that takes much more memory than the file is large.
"""

from __future__ import annotations

import json
import random
import re
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from . import mutations, seeds

SECONDS, PATIENCE = 10.0, 300.0  # of computing until a file is read, and of waiting for all that is done with it
MEMORY = 400 << 20  # bytes that a file of some kilobytes may take
ALL = ("mesh", "points", "spheres", "solid", "scene", "world", "soft", "resume", "recording")

Seeds = dict[str, list[tuple[str, bytes]]]


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

    def __str__(self) -> str:
        return (
            f"{self.reader}: {self.files} files, {self.read} read, {self.refused} refused, {len(self.defects)} kinds "
            f"of defects; at most {self.slowest:.1f} s, {self.largest / 1e6:.0f} MB"
        )

    def note(self, answer: dict[str, object], kind: str, data: bytes) -> None:
        """What became of one file; of those that show a defect the smallest is kept."""
        seconds, taken, why = float(str(answer["seconds"])), int(str(answer["bytes"])), str(answer["why"])
        self.files += 1
        self.slowest, self.largest = max(self.slowest, seconds), max(self.largest, taken)
        if seconds > SECONDS:
            why, answer = f"slow: {why}", {"verdict": "defect"}
        elif taken > MEMORY + 100 * len(data):
            why, answer = f"large: {why}", {"verdict": "defect"}
        self.read += answer["verdict"] == "read"
        self.refused += answer["verdict"] == "refused"
        if answer["verdict"] == "defect":
            key = re.sub(r"\d{3,}|0x[0-9a-f]+", "…", why)[:160]
            _, old, count = self.defects.get(key, (kind, data, 0))
            self.defects[key] = kind, min(old, data, key=len), count + 1


class Worker:
    """The process that reads, started again when it has ended."""

    def __init__(self, readers: Iterable[str], known: Seeds, folder: Path) -> None:
        self.folder = folder
        self.warm = [(reader, kind, data) for reader in readers for kind, data in known[reader]]
        self.process: subprocess.Popen[str] | None = None
        (folder / "work").mkdir(exist_ok=True)

    def read(self, reader: str, kind: str, data: bytes) -> dict[str, object]:
        """What becomes of a file."""
        if self.process is None:
            self._start()
        return self._ask(reader, kind, data, True)

    def _start(self) -> None:
        """Start it, and let it load what it needs on files that are right."""
        command = [sys.executable, "-m", "tests.fuzz.worker", str(self.folder / "seeds")]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for reader, kind, data in self.warm:
            answer = self._ask(reader, kind, data, False)
            assert answer["verdict"] == "read", (reader, kind, answer)

    def _ask(self, reader: str, kind: str, data: bytes, limit: bool) -> dict[str, object]:
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        path = self.folder / "work" / f"file.{'npz' if kind == 'solid' else kind.rpartition('.')[2]}"
        path.write_bytes(data)
        task = {"reader": reader, "path": str(path), "limit": limit, "place": kind}
        try:
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            line = self.process.stdout.readline() if ready else ""
        except BrokenPipeError:
            ready, line = [1], ""
        if line:
            return dict(json.loads(line))
        self.stop()
        return {"verdict": "defect", "why": "the process ended" if ready else "no answer", "bytes": 0, "seconds": 0.0}

    def stop(self) -> None:
        """End it."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def run(readers: Iterable[str], count: int, seed: int, known: Seeds, folder: Path) -> list[Tally]:
    """As many bad files for each reader, the same ones for the same seed; all are read by the same process."""
    tallies, worker = [], Worker(readers, known, folder)
    try:
        for reader in readers:
            tally, rng, chosen = Tally(reader), random.Random(f"{reader} {seed}"), known[reader]
            for _ in range(count):
                kind, data = rng.choice(chosen)
                short = "json" if kind.endswith(".json") else kind
                bad = mutations.change(rng, short, data, [other for _, other in chosen])
                tally.note(worker.read(reader, kind, bad), kind, bad)
            tallies.append(tally)
    finally:
        worker.stop()
    return tallies


def main() -> int:
    """Run for some readers, or all; files that show defects stay in a folder."""
    readers = ALL if sys.argv[1] == "all" else sys.argv[1].split(",")
    count, seed = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    found = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = seeds.make(folder / "seeds", readers)
        for reader in readers:
            (tally,) = run([reader], count, seed, known, folder)
            print(tally, flush=True)
            for number, (why, (kind, data, times)) in enumerate(tally.defects.items()):
                kept = Path(tempfile.gettempdir()) / "impinge-fuzz" / f"{reader}-{number}-{kind.replace('/', '_')}"
                kept.parent.mkdir(exist_ok=True)
                kept.write_bytes(data)
                print(f"  {times} × {why}\n    {kept}", flush=True)
            found += len(tally.defects)
    return int(found > 0)


if __name__ == "__main__":
    raise SystemExit(main())
