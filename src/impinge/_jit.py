"""The only place with compiler flags, threads and the compiler's cache.

Every compiled function of impinge is decorated with one of:

``exact``
    small pure functions of numbers, whose signs decide something;
``kernel``
    loops over arrays, run by one thread;
``lean``
    the same, without counting references to arrays, which costs more than a hundred numbers where arrays are cut into
    slices and handed on: they may not make arrays, and only a lean kernel may call one that returns an array;
``part``
    the same as part of others: compiled into its callers, since a call with many arrays costs as much as a loop
    over twenty numbers; a call from Python would crash, as the door for it is not compiled;
``parallel(grain=n)``
    loops over ``range(first, stop)``, their first two arguments, called with the number of items instead:
    threads take pieces of at least n items as they become free;
``team``
    loops that several threads run at once, with the same arguments, and share out among themselves with
    ``fetch_add``: for many short passes one after the other, between which no thread comes back to Python.

All write ``fastmath=False`` out, because flags leak from a caller into its callees, and this one would make the
error-free transformations of ``exact/`` wrong. ``inline="always"`` is banned for the same reason, and only ``part``
has ``forceinline``: an exact predicate that is copied wherever it is called takes minutes to compile.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from impinge.errors import CacheWarning, InputError

__all__ = [
    "cache_folder", "exact", "fetch_add", "give_way", "kernel", "lean", "lowest_bit", "parallel", "part", "prefetch",
    "team", "thread_count", "threads",
]  # fmt: skip

_config: Any = numba.config  # made at run time, so that type checkers do not know its fields
_Function = TypeVar("_Function", bound=Callable[..., Any])
# Nothing calls kernels from C; doors for that take time to compile.
_FLAGS: dict[str, Any] = {"cache": True, "fastmath": False, "error_model": "numpy", "no_cfunc_wrapper": True}


def _user_cache() -> Path:
    """Where this system keeps caches of a user's programs."""
    home = Path(os.path.expanduser("~"))  # stays ~ for users without a home, as in some containers
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")


def cache_folder() -> Path:
    """Folder of the compiled kernels, named after a hash of the sources.

    Numba notices a change of the file that holds a kernel, but not of the helpers it calls in other files,
    and would go on running the old code; a folder per state of the sources cannot be stale.
    """
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for path in sorted(package.rglob("_[a-z]*.py")):
        if path.name != "_warmup.py":  # only calls kernels
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    base = os.environ.get("NUMBA_CACHE_DIR")
    return (Path(base) if base else _user_cache() / "impinge") / digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    if folder.parts[0] == "~":
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


_CACHE = str(cache_folder())
if not _writable(Path(_CACHE)):
    # Numba would write beside the sources, where nothing tells old code from new.
    _FLAGS["cache"] = False
    warnings.warn(
        f"{_CACHE}: cannot be written, so that everything is compiled again in each run; "
        "set NUMBA_CACHE_DIR to a folder that can be",
        CacheWarning,
        stacklevel=2,
    )


@functools.cache
def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class Locator:
    """Where Numba keeps what it has compiled of a function: by module and line, wherever the package is installed.

    Numba's own locators take the path of the file in, so that every environment would compile for itself.
    """

    def __init__(self, function: Callable[..., Any], path: str) -> None:
        self._py_file = path  # Numba asks for it
        self._line = function.__code__.co_firstlineno
        self._folder = os.path.join(_CACHE, *function.__module__.split(".")[1:-1])

    @classmethod
    def from_function(cls, function: Callable[..., Any], path: str) -> Locator:
        """What Numba calls."""
        return cls(function, path)

    def ensure_cache_path(self) -> None:
        """Make the folder."""
        os.makedirs(self._folder, exist_ok=True)

    def get_cache_path(self) -> str:
        """Folder of the files of a function."""
        return self._folder

    def get_source_stamp(self) -> str:
        """State of the file; that of what it calls is in the name of the folder."""
        return _digest(self._py_file)

    def get_disambiguator(self) -> str:
        """What tells functions of one name in one file apart."""
        return str(self._line)


def _compiled(**flags: Any) -> Callable[[_Function], _Function]:
    def decorate(function: _Function) -> _Function:
        # The folder is fixed when the function is decorated; other users of Numba keep their own.
        before = _config.CACHE_DIR, getattr(_config, "CACHE_LOCATOR_CLASSES", "")
        _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES = _CACHE, "impinge._jit.Locator"
        try:
            compiled: _Function = numba.njit(**_FLAGS, **flags)(function)
        finally:
            _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES = before
        return compiled

    return decorate


exact = _compiled(forceinline=False)
kernel = _compiled(nogil=True, forceinline=False)
lean = _compiled(nogil=True, forceinline=False, _nrt=False)
part = _compiled(nogil=True, forceinline=True, no_cpython_wrapper=True)

_most_threads: int = _config.NUMBA_NUM_THREADS
_wanted_threads: ContextVar[int] = ContextVar("threads", default=_most_threads)
_pool: ThreadPoolExecutor | None = None
_PIECES = 8  # per thread, so that one that is held up leaves its share to the others


def _helpers() -> ThreadPoolExecutor:
    """Threads that wait for work, made on first use."""
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max(_most_threads - 1, 1), thread_name_prefix="impinge")
    return _pool


def _forget_helpers() -> None:
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_forget_helpers)


class Parallel:
    """A kernel over ``range(first, stop)`` that threads share piece by piece.

    Our own few lines instead of Numba's `prange`: its threads wait spinning, so that one busy core beside them
    makes every loop many times slower; it aborts when two Python threads use its simplest form; and it
    trebles the time to compile. Items must be independent of each other, so that pieces do not matter.
    """

    def __init__(self, function: Callable[..., Any], grain: int) -> None:
        functools.update_wrapper(self, function)
        self.kernel = kernel(function)
        self.grain = grain

    def __call__(self, count: int, *arguments: Any) -> None:
        """Run the kernel for all items 0 to count - 1."""
        workers = min(_wanted_threads.get(), -(-count // self.grain))
        if workers <= 1:
            self.kernel(0, count, *arguments)
            return
        size = max(-(-count // (_PIECES * workers)), self.grain)
        pieces = iter(range(0, count, size))  # shared: taking the next one is atomic

        def work() -> None:
            for first in pieces:
                self.kernel(first, min(first + size, count), *arguments)

        helpers = [_helpers().submit(work) for _ in range(workers - 1)]
        try:
            work()
        except BaseException:
            for _ in pieces:  # helpers end after the piece that they are at
                pass
            raise
        for helper in helpers:
            if not helper.cancel():  # one that did not start yet is not needed any more
                helper.result()


class Team:
    """A kernel that several threads run at once; what each does, they decide among themselves."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.kernel = kernel(function)

    def __call__(self, most: int, *arguments: Any) -> None:
        """Run the kernel by at most so many threads, and no more than are wanted."""
        workers = min(_wanted_threads.get(), most)
        # A helper that starts late finds nothing left to do: it needs no cancelling.
        helpers = [_helpers().submit(self.kernel, *arguments) for _ in range(workers - 1)]
        try:
            self.kernel(*arguments)
        finally:
            for helper in helpers:
                if not helper.cancel():
                    helper.result()


team = Team


def parallel(grain: int) -> Callable[[Callable[..., Any]], Parallel]:
    """Decorate a kernel whose items are shared by threads, at least `grain` of them at a time."""
    return lambda function: Parallel(function, grain)


def thread_count() -> int:
    """How many threads the parallel kernels use here."""
    return _wanted_threads.get()


@contextmanager
def threads(count: int | None) -> Iterator[int]:
    """Run the parallel kernels inside the block with `count` threads (None: all)."""
    if count is not None and not (
        isinstance(count, Integral) and not isinstance(count, bool) and 1 <= count <= _most_threads
    ):
        raise InputError(f"threads: found {count!r}, expected 1 to {_most_threads} (the cores of this machine)")
    token = _wanted_threads.set(_wanted_threads.get() if count is None else count)
    try:
        yield _wanted_threads.get()
    finally:
        _wanted_threads.reset(token)


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


def _fetch_add(typing: Any, array: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        struct = context.make_array(kind)(context, builder, arguments[0])
        address = cgutils.get_item_pointer(context, builder, kind, struct, [arguments[1]], wraparound=False)
        return builder.atomic_rmw("add", address, arguments[2], "seq_cst")

    return types.int64(array, types.uint64, types.int64), generate


def _fetch_and_add(array: Any, index: Any, value: Any) -> int:
    """Stand-in for the intrinsic where the compiler is off, and threads take turns."""
    before = int(array[index])
    array[index] += value
    return before


def _give_way(typing: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if sys.platform != "win32":  # there threads wait without giving way
            function = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, function, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), generate


def _lowest_bit(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.uint64), generate


def _lowest_bit_of(word: Any) -> int:
    """Stand-in for the intrinsic where the compiler is off."""
    return (int(word) & -int(word)).bit_length() - 1


# lowest_bit(word): place of the lowest 1 of a uint64 that is not 0.
lowest_bit: Any = _lowest_bit_of if _config.DISABLE_JIT else intrinsic(_lowest_bit)
# prefetch(array, index): fetch array[index] (index uint64) into the cache ahead of its use.
prefetch: Any = _no_prefetch if _config.DISABLE_JIT else intrinsic(_prefetch)
# fetch_add(array, index, value): add to an element of int64 at once for all threads; gives what it was before.
fetch_add: Any = _fetch_and_add if _config.DISABLE_JIT else intrinsic(_fetch_add)
# give_way(): let another thread run, while waiting for what it does.
give_way: Any = (lambda: None) if _config.DISABLE_JIT else intrinsic(_give_way)
