"""Settings of soft worlds that may be changed between steps, and are checked whenever they are set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impinge import _check

__all__ = ["Setting", "wind_of"]


class Setting:
    """An attribute; check : a function of its name and the value given, which returns what is kept."""

    def __init__(self, check: Callable[[str, Any], Any]) -> None:
        self._check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, world: Any, owner: type | None = None) -> Any:
        return self if world is None else world.__dict__[self._name]

    def __set__(self, world: Any, value: Any) -> None:
        world.__dict__[self._name] = self._check(self._name, value)


def wind_of(name: str, value: Any) -> Any:
    """Three numbers, or a function of time."""
    return value if callable(value) else _check.vector(name, value)
