"""What is wrong with a file that is no TOML: the line, and what people mostly meant who wrote such a line."""

from __future__ import annotations

import re

__all__ = ["explain_syntax"]

_LONGEST = 60  # characters of a line in a message
_READ = 1000  # characters of a line that patterns look at: some take the square of it
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'')
_NUMBER = r"(?<![\w.])[+-]?\d[\d_.]*(?:[eE][+-]?\d+)?"
# What the line says, texts and comments left out, and what it should say; the first that fits is told.
_HINTS = [
    (re.compile("[“”„‟‘’‚«»]"), "straight quotes, \" or '"),
    (re.compile(r"^\s*[\w.-]+\s*:"), "= between key and value"),
    (re.compile(r"=\s*(?:True|TRUE|yes|on)\b"), "true, in lower case"),
    (re.compile(r"=\s*(?:False|FALSE|no|off)\b"), "false, in lower case"),
    (re.compile(r"=\s*[+-]?\d[\d.]*,\d"), "a decimal point, no comma"),
    (re.compile(_NUMBER + r"\s*[*/]\s*\d"), "a number, no formula"),
    (re.compile(_NUMBER + r"\s*[^\W\d_]|" + _NUMBER + r"\s*[°%]"), "a number alone; units are fixed, mostly SI"),
    (re.compile(r"[^\x00-\x7f]"), "plain (ASCII) digits, letters and signs"),
    (re.compile(r"=\s*[+-]?\.\d|\d\.(?:\s|$)"), "digits on both sides of the decimal point"),
    (re.compile(r"=\s*[A-Za-z]"), "texts in quotes"),
    (re.compile(r"\{[^}]*$"), "all of { … } on one line"),
]  # fmt: skip


def explain_syntax(message: str, text: str) -> tuple[int, str]:
    """The line, and what is to be told, by what Python says of a text."""
    number, why = _place(message, text)
    lines = text.split("\n")
    found = lines[number - 1].strip() if number <= len(lines) else ""
    shown = found if len(found) <= _LONGEST else f"{found[: _LONGEST - 1]}…"
    hint = _hint(why, found[:_READ])
    return number, f"found {shown!r}, expected TOML" + (f": {hint}" if hint else f" ({why})")


def _place(message: str, text: str) -> tuple[int, str]:
    """The line, and what is wrong."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", message, re.DOTALL)
    if found is None:
        return 1, message
    return int(found[2] or text.rstrip().count("\n") + 1), found[1]


def _hint(why: str, line: str) -> str | None:
    name = line.partition("#")[0].partition("=")[0].strip(" []")
    if why == "Cannot overwrite a value":
        return f"{name} once; it stands twice"
    if re.fullmatch(r"Cannot declare .* twice", why):
        return f"{name} once; of tables in double brackets, [[spheres]] say, there may be several"
    if why.startswith(("Unescaped '\\'", "Invalid hex value")):
        return "paths with / instead of \\"
    if why.startswith(("Unclosed", "Unterminated")):  # the line is that where it was noticed
        return None
    said = _TEXTS.sub('""', line).partition("#")[0]
    return next((hint for pattern, hint in _HINTS if pattern.search(said)), None)
