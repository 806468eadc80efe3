"""The machine: processor, threads, memory, the compiler's cache, and settings of the environment that matter."""

from __future__ import annotations

import getpass
import os
import re
import stat
import tempfile
from pathlib import Path
from typing import NamedTuple

from impinge import _jit, compiler
from impinge.run.versions import processor_name

__all__ = ["Cache", "Memory", "cache", "cores", "memory", "private", "processor", "settings"]

_VECTORS = (
    "sse4.2", "avx", "avx2", "fma", "avx512f", "avx512vl", "avx512dq", "neon", "sve", "sve2", "vsx",
)  # fmt: skip
_SETTINGS = re.compile(r"NUMBA_|OMP_|(OPENBLAS|MKL|BLIS|VECLIB)_NUM_THREADS$|XDG_CACHE_HOME$|PYTHONDONTWRITEBYTECODE$")
_GROUPS = Path("/sys/fs/cgroup")


def private(text: object) -> str:
    """Without the home folder and the name of the user."""
    shown = str(text)
    try:
        home = str(Path.home())
    except RuntimeError:  # there is none
        home = ""
    if len(home) > 1:
        shown = re.sub(rf"{re.escape(home)}(?=[/\\]|$|[:;,\s])", "~", shown)
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):
        return shown
    return re.sub(rf"(?<=[/\\]){re.escape(user)}(?=[/\\]|$|[:;,\s])", "<user>", shown)


def settings() -> dict[str, str]:
    """Variables of the environment that change what the compiler and linear algebra do."""
    return {name: private(value) for name, value in sorted(os.environ.items()) if _SETTINGS.match(name)}


def processor() -> tuple[str, str, list[str]]:
    """Name, the compiler's name, and what vectors of numbers it can handle."""
    name, features = compiler.host_processor()
    return processor_name(), name, [key for key in _VECTORS if key in features]


def cores() -> dict[str, float]:
    """How many there are, how many this process may use, and for how much of the time."""
    count = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else count
    share = float(usable)
    for folder in _own_groups("cpu.max"):
        quota, period = (_read_words(folder / "cpu.max") + ["max", "max"])[:2]
        if quota.isdigit() and period.isdigit():
            share = min(share, int(quota) / int(period))
    return {"all": count, "usable": usable, "share": round(share, 2), "threads": _jit.thread_count()}


class Memory(NamedTuple):
    """Bytes; None where the system does not tell."""

    total: int | None
    free: int | None
    limited: bool  # by a control group, as in a container


def memory() -> Memory:
    """What this process may use, and how much of that is free."""
    total, free = _system_memory()
    limited = False
    for folder in [*_own_groups("memory.max"), *_own_groups("memory/memory.limit_in_bytes")]:
        new = (folder / "memory.max").exists()
        most, used = ("memory.max", "memory.current") if new else (
            "memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes",
        )  # fmt: skip
        limit, now = ((_read_words(folder / name) or [""])[0] for name in (most, used))
        if limit.isdigit() and (total is None or int(limit) < total):
            total, limited = int(limit), True
        if limit.isdigit() and now.isdigit():
            left = max(int(limit) - int(now), 0)
            free = left if free is None else min(free, left)
    return Memory(total, free, limited)


def _system_memory() -> tuple[int | None, int | None]:
    try:
        text = Path("/proc/meminfo").read_text(encoding="utf-8")
        found = {name: int(size) * 1024 for name, size in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)}
        return found.get("MemTotal"), found.get("MemAvailable")
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), None
    except (AttributeError, OSError, ValueError):
        return None, None


def _own_groups(name: str) -> list[Path]:
    """Folders of the control groups of this process that have a file of that name: its own and all around it."""
    place = [line.split(":", 2)[2] for line in _read_lines(Path("/proc/self/cgroup")) if line.startswith("0::")]
    own = _GROUPS / place[0].lstrip("/") if place else _GROUPS
    around = [folder for folder in (own, *own.parents) if folder == _GROUPS or _GROUPS in folder.parents]
    return [folder for folder in around if (folder / name).exists()]


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _read_words(path: Path) -> list[str]:
    return " ".join(_read_lines(path)).split()


class Cache(NamedTuple):
    """The folder of compiled kernels."""

    folder: Path
    writable: bool
    kernels: int  # compiled for this state of the sources
    size: int  # bytes, of these
    older: int  # folders of other states of the sources beside it
    older_size: int  # bytes, of these


def cache() -> Cache:
    """Look at the folder of compiled kernels."""
    folder = _jit.cache_folder()
    sizes = _sizes(folder)
    kernels = sum(path.suffix == ".nbc" for path in sizes)
    beside = [path for path in _children(folder.parent) if re.fullmatch("[0-9a-f]{16}", path.name) and path != folder]
    older_size = sum(sum(_sizes(path).values()) for path in beside)
    return Cache(folder, _is_writable(folder), kernels, sum(sizes.values()), len(beside), older_size)


def _sizes(folder: Path) -> dict[Path, int]:
    """Bytes of all files below a folder; those that other processes just take away are left out."""
    sizes = {}
    for path in folder.rglob("*"):
        try:
            about = path.stat()
        except OSError:
            continue
        if stat.S_ISREG(about.st_mode):
            sizes[path] = about.st_size
    return sizes


def _children(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []


def _is_writable(folder: Path) -> bool:
    """A file can be made there, or in the nearest folder above it that exists, so that it can be made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
