"""A TOML file as tables, and on which line every key stands."""

from __future__ import annotations

import re
import string
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from impinge.errors import InputError, RunWarning
from impinge.run.scene.syntax import explain_syntax
from impinge.untrusted import check_file, within

__all__ = ["Document", "Key", "LocatedError", "dotted", "read_toml"]

Key = tuple[str | int, ...]
_LARGEST = 16 << 20  # bytes: what Python makes of a file is fifty times as large
_LONGEST = 60  # characters of a key in a message
_BARE = {*string.ascii_letters, *string.digits, *"_- "}
# What may begin or end something, and texts and comments, in which nothing does.
_TOKENS = re.compile(
    r""""{3}(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}|'{3}(?:[^']|'{1,2}(?!'))*'{3,5}"""
    r"""|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*|[\[\]{}\n]""",
    re.DOTALL,
)
_LONG_KEY = re.compile(r"(?<![\w.-])(?:[\w-]++[ \t]*+\.[ \t]*+){50}")  # Python would take very long


class LocatedError(InputError):
    """An error that names file, line and key."""


class Document:
    """What a TOML file says, and where.

    Attributes
    ----------
    path : Path
    text : str
    content : dict
    allow_outside : bool
        Whether files that it names may be anywhere.
    """

    def __init__(self, path: Path, text: str, allow_outside: bool = False) -> None:
        self.path, self.text, self.allow_outside = path, text, allow_outside
        try:
            if _LONG_KEY.search(text):
                raise ValueError("a key of very many parts")
            self.content = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            line, why = explain_syntax(str(error), text)
            raise InputError(f"{path}:{line}: {why}") from None
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

    def beside(self, file: str) -> Path:
        """The path of a file that is named here: in the folder of this file or below, unless others are allowed."""
        folder = self.path.parent
        if self.allow_outside:
            return folder / file
        hint = ", as a scene may be anybody's; --allow-outside, or allow_outside=True, allows others"
        return within(folder, file, hint)

    def error(self, key: Key, message: str) -> LocatedError:
        """An error at a key, or about the whole file."""
        place = f":{self.line(key)}: {dotted(key)}" if key else ""
        return LocatedError(f"{self.path}{place}: {message}")

    def warn(self, key: Key, message: str) -> None:
        """A warning at a key."""
        warnings.warn(str(self.error(key, message)), RunWarning, stacklevel=2)

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


def read_toml(path: Path, allow_outside: bool = False) -> Document:
    """Read a file."""
    check_file(path)
    if path.stat().st_size > _LARGEST:
        raise InputError(f"{path}: found more than {_LARGEST >> 20} MB, expected long lists in files beside the scene")
    try:
        return Document(path, path.read_text(encoding="utf-8-sig"), allow_outside)
    except UnicodeDecodeError:
        raise InputError(f"{path}: found bytes that are no text (UTF-8), expected TOML") from None


def dotted(key: Key) -> str:
    """A key as people write it: materials.glass.density, spheres[0].radii."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{_shown(part)}" for part in key]
    return "".join(parts).removeprefix(".")


def _shown(part: str) -> str:
    """A part of a key; as a text if it could be mistaken."""
    text = part if part and set(part) <= _BARE else repr(part)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _statements(text: str) -> Iterator[tuple[int, dict[str, Any], bool]]:
    """Line of every statement of a valid file, what it says if alone, and whether it is the head of a table."""
    start = depth = lines = 0  # where a statement begins, how many brackets are open, lines before
    for found in _TOKENS.finditer(text + "\n"):
        token = found[0]
        if token in "[{":
            depth += 1
        elif token in "]}":
            depth -= 1
        elif token == "\n" and depth == 0:
            statement = text[start : found.end()]
            if statement.strip() and not statement.lstrip().startswith("#"):
                yield lines + 1, tomllib.loads(statement), statement.lstrip().startswith("[")
            start, lines = found.end(), lines + statement.count("\n")


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
                yield key, line
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
