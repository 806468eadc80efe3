"""The only place with compiler flags, threads and the compiler's cache.

Every compiled function of impinge is decorated with one of:

``exact``
    small pure functions of numbers, whose signs decide something;
``kernel``
    loops over arrays, run by one thread;
``parallel``
    loops over arrays with ``prange``, which release the GIL.

All write ``fastmath=False`` out, because the flag leaks from a caller into its callees and would make the
error-free transformations of ``exact/`` wrong. ``inline="always"`` is banned for the same reason.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import prange
from numba.core import cgutils, types
from numba.extending import intrinsic

from impinge.errors import InputError

__all__ = ["cache_folder", "exact", "kernel", "parallel", "prange", "prefetch", "threads"]

_config: Any = numba.config  # made at run time, so that type checkers do not know its fields
_Function = TypeVar("_Function", bound=Callable[..., Any])
_FLAGS: dict[str, Any] = {"cache": True, "fastmath": False, "error_model": "numpy"}


def _user_cache() -> Path:
    """Where this system keeps caches of a user's programs."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def cache_folder() -> Path:
    """Folder of the compiled kernels, named after a hash of the sources.

    Numba notices a change of the file that holds a kernel, but not of the helpers it calls in other files,
    and would go on running the old code; a folder per state of the sources cannot be stale.
    """
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for path in sorted(package.rglob("_*.py")):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR")
    return (Path(base) if base else _user_cache() / "impinge") / digest.hexdigest()[:16]


_CACHE = str(cache_folder())


def _compiled(**flags: Any) -> Callable[[_Function], _Function]:
    def decorate(function: _Function) -> _Function:
        # The folder is fixed when the function is decorated; other users of Numba keep their own.
        before = _config.CACHE_DIR
        _config.CACHE_DIR = _CACHE
        try:
            compiled: _Function = numba.njit(**_FLAGS, **flags)(function)
        finally:
            _config.CACHE_DIR = before
        return compiled

    return decorate


exact = _compiled()
kernel = _compiled(nogil=True)
parallel = _compiled(nogil=True, parallel=True)


# Numba's fallback layer of threads aborts the process when two Python threads start parallel loops at once.
_one_at_a_time = threading.RLock()


@contextmanager
def _safe_layer() -> Iterator[None]:
    try:
        safe = numba.threading_layer() != "workqueue"
    except ValueError:  # not started yet, so not known
        safe = False
    with nullcontext() if safe else _one_at_a_time:
        yield


@contextmanager
def threads(count: int | None) -> Iterator[int]:
    """Run the compiled loops inside the block with `count` threads (None: as many as Numba has)."""
    most = _config.NUMBA_NUM_THREADS
    if count is not None and not 1 <= count <= most:
        raise InputError(f"threads: found {count}, expected 1 to {most} (the cores of this machine)")
    before = numba.get_num_threads()
    numba.set_num_threads(before if count is None else count)
    try:
        with _safe_layer():
            yield numba.get_num_threads()
    finally:
        numba.set_num_threads(before)


def _prefetch(typing: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        struct = context.make_array(kind)(context, builder, arguments[0])
        address = cgutils.get_item_pointer(context, builder, kind, struct, [arguments[1]], wraparound=False)
        address = builder.bitcast(address, ir.IntType(8).as_pointer())
        int32 = ir.IntType(32)
        function = ir.FunctionType(ir.VoidType(), [address.type, int32, int32, int32])
        prefetch = cgutils.get_or_insert_function(builder.module, function, "llvm.prefetch.p0")
        read, keep, data = int32(0), int32(3), int32(1)
        builder.call(prefetch, [address, read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


def _no_prefetch(array: Any, index: Any) -> None:
    """Stand-in for the prefetch where the compiler is off."""


# prefetch(array, index): fetch array[index] (index uint64) into the cache ahead of its use.
prefetch: Any = _no_prefetch if _config.DISABLE_JIT else intrinsic(_prefetch)
