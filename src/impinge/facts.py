"""What things say of themselves: numbers of them in words, and in notebooks small tables in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from html import escape
from typing import Any

__all__ = ["counted", "html_table"]

_TABLE = '<table style="display: inline-table; margin: 0; line-height: 1.5">'
_CELL = "text-align: left; vertical-align: top; padding: 0 1em 0 0.2em"
_TITLE = f'<tr><th colspan="2" style="{_CELL}">{{}}</th></tr>'
_ROW = f'<tr><td style="{_CELL}">{{}}</td><td style="{_CELL}">{{}}</td></tr>'
_MOST = 8  # of a list


def counted(number: int, one: str, several: str | None = None) -> str:
    """How many there are: "1 step", "2,000 steps"; several : the plural, if that is not one with an s."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def html_table(title: str, facts: Iterable[tuple[str, Any]]) -> str:
    """A table with a title: names, and what there is to say; rows of None are left out.

    Numbers get at most six digits, or commas between thousands; of lists of texts the first eight are shown.
    """
    rows = [_ROW.format(escape(name), escape(_text(value))) for name, value in facts if value is not None]
    return "".join([_TABLE, _TITLE.format(escape(title)), *rows, "</table>"])


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Sized) and isinstance(value, Iterable):  # a vector, or names
        parts = [_text(part) for part in list(value)[:_MOST]] + ["…"] * (len(value) > _MOST)
        return ", ".join(parts) if all(isinstance(part, str) for part in value) else f"({', '.join(parts)})"
    try:
        return f"{value:,d}"
    except (TypeError, ValueError):
        pass
    try:
        return f"{value:.6g}"
    except (TypeError, ValueError):
        return str(value)
