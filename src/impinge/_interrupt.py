"""Ctrl-C between two states of the data, never inside a change of them."""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

__all__ = ["uninterrupted"]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@contextmanager
def _holding() -> Iterator[None]:
    """Interrupts wait until the end of the block."""
    handler = signal.getsignal(signal.SIGINT)
    # Python tells nobody but the main thread of interrupts; those that are ignored need not be held.
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came: list[tuple[int, object]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(*came[0])  # type: ignore[arg-type]


def uninterrupted(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Decorate what changes data in several steps, and takes a moment at most."""

    @functools.wraps(function)
    def whole(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        with _holding():
            return function(*arguments, **options)

    return whole
