"""Tables of the results, put into the page that compares: ``python -m benchmarks.compared``.

In docs/compared.md a comment ``<!-- inside.md: Speed -->`` stands above the first table of that section, "machine"
above what was measured on, "missed" above the required figures that were not reached.
"""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "compared.md"
RESULTS = Path(__file__).parent / "results"
_PLACE = re.compile(r"^<!-- (\w+\.md): (.*) -->\n(?:\n?(?:[|-] ?.*\n)+(?=\n))?", re.MULTILINE)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def compared(page: str) -> str:
    """The page with the tables as they are in the results now."""
    return _PLACE.sub(lambda place: f"<!-- {place[1]}: {place[2]} -->\n\n{_part(place[1], place[2])}", page)


def _part(name: str, title: str) -> str:
    text = (RESULTS / name).read_text(encoding="utf-8")
    if title == "machine":
        wanted = [line for line in text.split("\n## ")[0].splitlines() if line.startswith("- ")]
        return "".join(f"{line}\n" for line in wanted)
    if title == "missed":
        wanted = re.findall(r"^- MISSED: +(.*)$", text, re.MULTILINE)
        return "".join(f"- {line}\n" for line in wanted)
    section = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    table = _TABLE.search(section[1]) if section else None
    if table is None:
        raise LookupError(f"{PAGE.name}: found {title!r}, expected a section with a table in {name}")
    return table[0]


if __name__ == "__main__":
    PAGE.write_text(compared(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
