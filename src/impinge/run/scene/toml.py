"""A TOML file as tables, and on which line every key stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from impinge.errors import InputError

__all__ = ["Document", "Key", "LocatedError", "dotted", "read_toml"]

Key = tuple[str | int, ...]


class LocatedError(InputError):
    """An error that names file, line and key."""


class Document:
    """What a TOML file says, and where.

    Attributes
    ----------
    path : Path
    text : str
    content : dict
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text = path, text
        try:
            self.content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            why, line = _split_message(str(error), text)
            raise InputError(f"{path}:{line}: {why}, expected TOML") from None
        self._lines: dict[Key, int] = {}
        for key, line in _find_lines(text):
            self._lines.setdefault(key, line)  # [a.b] before [a] is where a begins

    def line(self, key: Key) -> int:
        """Line of a key, or of the table that it would be in."""
        while key and key not in self._lines:
            key = key[:-1]
        return self._lines.get(key, 1)

    def value(self, key: Key) -> Any:
        """What the file says for a key."""
        value: Any = self.content
        for part in key:
            value = value[part]
        return value

    def has(self, key: Key) -> bool:
        """Whether the file has a key."""
        try:
            self.value(key)
        except (KeyError, IndexError, TypeError):
            return False
        return True

    def error(self, key: Key, message: str) -> LocatedError:
        """An error at a key, or about the whole file."""
        place = f":{self.line(key)}: {dotted(key)}" if key else ""
        return LocatedError(f"{self.path}{place}: {message}")

    def error_in(self, table: Key, message: str) -> LocatedError:
        """An error about a table; one whose message begins with a key of it, as in "radii: found …", is put there.

        Or with a key of a table that it is in.
        """
        names, _, rest = message.partition(": ")
        inner = re.split(r"[ ,.\[(]", names)[0]
        for around in (table[:end] for end in range(len(table), 0, -1)):
            if rest and self.has((*around, inner)):
                return LocatedError(f"{self.path}:{self.line((*around, inner))}: {dotted(around)}.{message}")
        return self.error(table, message)


def read_toml(path: Path) -> Document:
    """Read a file."""
    if not path.is_file():
        raise InputError(f"{path}: {'is a folder, expected a file' if path.is_dir() else 'no such file'}")
    try:
        return Document(path, path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"{path}: found bytes that are no text (UTF-8), expected TOML") from None


def dotted(key: Key) -> str:
    """A key as people write it: materials.glass.density, spheres[0].radii."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in key]
    return "".join(parts).removeprefix(".")


def _split_message(message: str, text: str) -> tuple[str, int]:
    """What is wrong, and the line."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", message, re.DOTALL)
    if found is None:
        return message, 1
    return found[1], int(found[2] or max(len(text.splitlines()), 1))


def _statements(text: str) -> Iterator[tuple[int, dict[str, Any], bool]]:
    """Line of every statement, what it says if it stood alone, and whether it is the head of a table."""
    start, statement = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if not statement:
            if not bare or bare.startswith("#"):
                continue
            start = number
        statement += line + "\n"
        if bare.endswith(",") and number > start:  # in the middle of a list: no need to try
            continue
        try:
            said = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue  # goes on in the next line
        yield start, said, statement.lstrip().startswith("[")
        statement = ""


def _find_lines(text: str) -> Iterator[tuple[Key, int]]:
    """Every key of a valid file with its line; a table has that of its head."""
    table: Key = ()
    counts: dict[Key, int] = {}  # of arrays of tables
    for line, said, is_head in _statements(text):
        key: Key = () if is_head else table
        value: Any = said
        while isinstance(value, dict) and len(value) == 1:
            ((name, value),) = value.items()
            key = (*key, name)
            if is_head and isinstance(value, list):  # [[name]]
                counts[key] = counts.get(key, -1) + 1
                key = (*key, counts[key])
                value = None
            elif is_head and key in counts:  # [name.more] belongs to the last [[name]]
                key = (*key, counts[key])
            yield key, line
        if is_head:
            table = key
        elif isinstance(value, dict):  # an inline table
            yield from ((inner, line) for inner in _inside(key, value))


def _inside(key: Key, value: Any) -> Iterator[Key]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*key, name)
            yield from _inside((*key, name), inner)
