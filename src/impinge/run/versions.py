"""What a run was made with: programs and machine."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["processor_name", "versions"]

_PACKAGES = "numpy", "numba", "scipy"


def versions() -> dict[str, str]:
    """Names and versions of this package, of Python and of what does the work; system, processor and its cores."""
    found = {"impinge": sys.modules[__name__.partition(".")[0]].__version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not found"
    return {**found, "system": platform.platform(), "processor": processor_name(), "cores": str(os.cpu_count())}


def processor_name() -> str:
    """Its name, as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
