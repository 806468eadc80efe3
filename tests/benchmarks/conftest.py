"""What tests of benchmarks share."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from benchmarks import measure


class Clock:
    """A time that passes only where somebody waits, so that a busy machine changes nothing."""

    def __init__(self) -> None:
        self.now = 0.0

    def wait(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of all that is measured."""
    own = Clock()
    fake = SimpleNamespace(perf_counter=lambda: own.now, process_time=lambda: own.now, sleep=lambda seconds: None)
    monkeypatch.setattr(measure, "time", fake)
    return own
