"""A disk that is full."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def full_after(size: int) -> Iterator[None]:
    """No file may become longer than this many bytes; what would, fails with an OSError like a full disk."""
    resource = pytest.importorskip("resource", reason="files cannot be limited on this system")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
