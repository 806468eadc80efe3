"""What Griffe does not understand of our docstrings by itself."""

from __future__ import annotations

import re
from typing import Any

from griffe import Attribute, Docstring, Extension, Object

_PARAMETERS = re.compile(r"(?<=^Parameters\n----------\n)(?:.+\n?)+", re.MULTILINE)
_TOGETHER = re.compile(r"^(\w+(?:, \w+)+)( : .*)?\n((?: +.*\n?)*)", re.MULTILINE)


class Docstrings(Extension):
    """Parameters that are described together are told apart; comments beside fields describe these."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """``skin, box`` with one text: to Griffe both would have the type and the default of the first."""
        if obj.docstring:
            obj.docstring.value = _PARAMETERS.sub(lambda some: _TOGETHER.sub(_apart, some[0]), obj.docstring.value)

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """``times: Floats  # (n,) s`` in a class: "(n,) s" is what the reference says of it."""
        if attr.docstring is None and attr.lineno and attr.parent and attr.parent.is_class:
            line = attr.parent.module.lines_collection[attr.parent.module.filepath][attr.lineno - 1]
            comment = line.partition("  # ")[2]
            if comment and not comment.startswith(("type:", "noqa", "fmt:")):
                attr.docstring = Docstring(comment, lineno=attr.lineno, parent=attr)


def _apart(together: re.Match[str]) -> str:
    names, kind, text = together.groups()
    text = text if not text or text.endswith("\n") else f"{text}\n"
    return "".join(f"{name}{kind or ''}\n{text}" for name in names.split(", "))
