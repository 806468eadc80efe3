"""How time is measured: threads, repeats that alternate, and facts of the machine.

Imports nothing but the standard library, because threads have to be limited before the first library that
makes some is loaded.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.metadata
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "IGL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)
# Threads of some libraries go on spinning for milliseconds after their work; this keeps them off the next.
_PAUSE = 0.02
_Item = TypeVar("_Item")


# Threads and the machine


def cores() -> list[int]:
    """CPUs this process may use, those that share no core first."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    if allowed is None:
        return list(range(os.cpu_count() or 1))
    seen: set[str] = set()
    first: list[int] = []
    second: list[int] = []
    for cpu in allowed:
        path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        core = path.read_text().strip() if path.exists() else str(cpu)
        (second if core in seen else first).append(cpu)
        seen.add(core)
    return first + second


def limit_threads(count: int) -> list[int]:
    """Let this process use `count` threads and CPUs; returns the CPUs. To be called before other imports."""
    loaded = {"numpy", "numba", "scipy"} & set(sys.modules)
    if loaded:
        raise RuntimeError(f"limit_threads: {', '.join(sorted(loaded))} loaded already, with their own threads")
    for name in _THREAD_VARIABLES:
        os.environ[name] = str(count)
    cpus = cores()[:count]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)
    return cpus


def _first_line(path: str, key: str) -> str | None:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), None)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git(*words: str) -> str | None:
    folder = Path(__file__).parent
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def load_average() -> list[float] | None:
    """Mean number of busy processes over 1, 5 and 15 minutes."""
    return [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else None


def free_memory_gb() -> float | None:
    """Memory that programs can still get, where the system tells."""
    from impinge.doctor.machine import memory

    free = memory().free
    return None if free is None else free / 1e9


def machine(threads: int | str, cpus: list[int]) -> dict[str, Any]:
    """What the figures depend on."""
    import impinge
    from impinge.doctor.machine import memory
    from impinge.run.versions import processor_name

    total, changed = memory().total, _git("status", "--porcelain", "--", "../src")
    return {
        "cpu": processor_name(),
        "cpus": os.cpu_count(),
        "used_cpus": cpus,
        "memory_gb": None if total is None else round(total / 1e9, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in ("numpy", "scipy", "numba", "llvmlite")},
        "impinge": impinge.__version__,
        "commit": _git("rev-parse", "--short", "HEAD"),
        "commit_changed": None if changed is None else bool(changed),
        "threads": threads,
        "date": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


class Others:
    """How many of these CPUs other processes keep busy, from now on (Linux)."""

    def __init__(self, cpus: list[int]) -> None:
        self._names = {f"cpu{cpu}" for cpu in cpus}
        self._start = self._now()

    def _now(self) -> tuple[float, float, float] | None:
        """Wall time, time the CPUs were busy, and time of this process and its children, s."""
        try:
            rows = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
        except OSError:
            return None
        # user, nice, system, idle, iowait, irq, softirq, steal
        ticks = sum(sum(map(int, r[1:4])) + sum(map(int, r[6:9])) for r in rows if r and r[0] in self._names)
        return time.perf_counter(), ticks / os.sysconf("SC_CLK_TCK"), sum(os.times()[:4])

    def mean(self) -> float | None:
        now = self._now()
        if now is None or self._start is None:
            return None
        wall, busy, own = (b - a for a, b in zip(self._start, now, strict=True))
        return max(0.0, (busy - own) / wall)


class Session:
    """A run of a benchmark, from before it warms up until all is measured: what its results say of it."""

    def __init__(self, cpus: list[int]) -> None:
        self._cpus, self._load = cpus, load_average()
        self._others = Others(cpus)

    def begin(
        self,
        quick: bool,
        threads: int | Sequence[int],
        peers: Iterable[Any],
        absent: dict[str, str],
        sizes: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Results without figures, when all is ready to be measured."""
        counts = threads if isinstance(threads, int) else " and ".join(map(str, threads))
        self._others = Others(self._cpus)
        return {
            "about": machine(counts, self._cpus) | {"load_before": self._load},
            "quick": quick,
            **({} if sizes is None else {"sizes": sizes}),
            "peers": {peer.name: peer.version() for peer in peers},
            "absent": absent,
        }

    def end(self, results: dict[str, Any], verdicts: Iterable[Any]) -> None:
        """Complete them."""
        results["about"] |= {"load_after": load_average(), "others_cpus": self._others.mean()}
        results["verdicts"] = [verdict.as_dict() for verdict in verdicts]


def peak_memory(function: Callable[[], Any]) -> tuple[int | None, Any]:
    """Bytes that the process grew by at most while the function ran (Linux; else None), and its result."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)  # gives back what is free, which would hide growth
        Path("/proc/self/clear_refs").write_text("5")  # sets the peak to the present size
        before = _first_line("/proc/self/status", "VmRSS")
    except (OSError, AttributeError):
        return None, function()
    result = function()
    after = _first_line("/proc/self/status", "VmHWM")
    if before is None or after is None:
        return None, result
    return 1024 * (int(after.split()[0]) - int(before.split()[0])), result


# Time


@dataclass(frozen=True)
class Timing:
    """One measurement."""

    seconds: float
    cpu_seconds: float  # of all threads


def best_of(most: int, function: Callable[..., Any], *arguments: Any) -> tuple[Timing, Any]:
    """Best time of `most` calls, fewer if they take more than a second in all, and the last result."""
    timings: list[Timing] = []
    result = None
    while not timings or (len(timings) < most and sum(t.seconds for t in timings) < 1):
        result = None  # so that there is only one at a time
        timing, result = timed(function, *arguments)
        timings.append(timing)
    return best(timings), result


def forget_garbage() -> None:
    """Keep all objects of now out of later garbage collections, which would take longer than timed calls."""
    gc.collect()
    gc.freeze()


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Timing, Any]:
    """Wall and processor time of one call, and its result."""
    gc.collect()
    time.sleep(_PAUSE)
    gc.disable()
    try:
        cpu, wall = time.process_time(), time.perf_counter()
        result = function(*arguments)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    finally:
        gc.enable()
    return Timing(wall, cpu), result


def alternating(items: Sequence[_Item], rounds: int) -> Iterator[tuple[int, _Item]]:
    """Every item once per round, each round beginning with another one, so that none has a fixed place."""
    for number in range(rounds):
        start = number % len(items) if items else 0
        for item in [*items[start:], *items[:start]]:
            yield number, item


def best(timings: Iterable[Timing]) -> Timing:
    return min(timings, key=lambda timing: timing.seconds)
