"""Comments beside the fields of result types are their descriptions, in the reference too."""

from __future__ import annotations

from typing import Any

from griffe import Attribute, Docstring, Extension


class Fields(Extension):
    """``times: Floats  # (n,) s`` in a class: "(n,) s" is what the reference says of it."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Take the comment, if there is no docstring."""
        if attr.docstring is None and attr.lineno and attr.parent and attr.parent.is_class:
            line = attr.parent.module.lines_collection[attr.parent.module.filepath][attr.lineno - 1]
            comment = line.partition("  # ")[2]
            if comment and not comment.startswith(("type:", "noqa", "fmt:")):
                attr.docstring = Docstring(comment, lineno=attr.lineno, parent=attr)
