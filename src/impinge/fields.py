"""Rows of text files: what stands between their fields, and which of these are numbers."""

from __future__ import annotations

import csv

__all__ = ["delimiter_of", "expected_number", "is_meant_as_number", "split", "value_of"]

_SIGNS = ";\t,"  # in this order: where ; separates, the comma may be that of decimals


def delimiter_of(row: str) -> str | None:
    """What separates the fields: ; tab or , or else white space (None); whatever gives three fields, or two."""
    for enough in (3, 2):
        for sign in _SIGNS:
            if len(split(row, sign)) >= enough:
                return sign
        if len(row.split()) >= enough:
            return None
    return None


def split(row: str, delimiter: str | None) -> list[str]:
    """The fields of a row, without quotes and white space around them."""
    if delimiter is None:
        return row.split()
    row = row.rstrip("\r\n")
    try:
        fields = next(csv.reader([row], delimiter=delimiter), [])
    except csv.Error:  # binary data, or a field without end
        fields = row.split(delimiter)
    return [field.strip() for field in fields]


def value_of(field: str) -> float | None:
    """The number that a field holds, if it does: to Python digits of any script are some, to NumPy plain ones."""
    try:
        return float(field) if "_" not in field and field.isascii() else None
    except ValueError:
        return None


def is_meant_as_number(field: str) -> bool:
    """Whether a field holds a number, or would with a point instead of its comma."""
    return value_of(field.replace(",", ".")) is not None


def expected_number(field: str) -> str:
    """What to say of a field that holds none."""
    found = field if len(field) <= 40 else field[:40] + "…"
    how = " with a decimal point" if is_meant_as_number(field) else "" if field.isascii() else " of plain (ASCII) signs"
    return f"found {found!r}, expected a number{how}"
