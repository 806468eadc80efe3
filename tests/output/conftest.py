"""What tests of pictures share."""

from __future__ import annotations

import pytest

from impinge.output import figure


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures that take less time."""
    monkeypatch.setattr(figure, "SIZE", (400, 300))
