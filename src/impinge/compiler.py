"""What the compiler does: when it compiles, what it has in its cache, and for which processor it compiles."""

from __future__ import annotations

import glob
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba.core.config
from llvmlite import binding
from numba.core import event

__all__ = ["compiling", "host_processor", "is_cached", "is_off"]

_config: Any = numba.core.config  # made at run time, so that type checkers do not know its fields


class _Listener(event.Listener):
    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell

    def on_start(self, event: Any) -> None:
        self.tell()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` whenever a kernel is about to be compiled inside the block; an error that it raises stops that.

    Kernels that are loaded from the cache are not compiled.
    """
    with event.install_listener("numba:compile", _Listener(tell)):
        yield


def is_off() -> bool:
    """Kernels run as plain Python, as NUMBA_DISABLE_JIT says."""
    return bool(_config.DISABLE_JIT)


def is_cached(function: Any) -> bool:
    """Some version of a kernel has been compiled before, by this Python, and can be loaded."""
    if is_off():
        return True
    kernel = getattr(function, "kernel", function)  # of those that threads share
    folder, code = kernel.stats.cache_path, kernel.py_func.__code__  # None: nothing is kept
    name = glob.escape(f"{Path(code.co_filename).stem}.{code.co_qualname}")
    return folder is not None and any(
        Path(folder).glob(f"{name}-*.py{sys.version_info.major}{sys.version_info.minor}*.nbi")
    )


def host_processor() -> tuple[str, list[str]]:
    """Name of the processor and what it can do, as the compiler sees it."""
    features = binding.get_host_cpu_features()
    return binding.get_host_cpu_name(), sorted(name for name, has in features.items() if has)
