"""All experiments on one page that needs nothing else: text, tables, pictures and verdicts."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from string import Template

from markdown_it import MarkdownIt
from markdown_it.token import Token

from impinge.output.atomic import replacing
from impinge.reproduce.statements import Kind, Report, Statement, beside
from impinge.run.versions import versions

__all__ = ["Part", "write_page"]

_KINDS: dict[Kind, str] = {"reproduced": "reproduced", "differs": "differ", "open": "no verdict"}
_MARK = "statements-of-the-paper"  # stands in the text where their table was


@dataclass(frozen=True)
class Part:
    """An experiment that has been run.

    Attributes
    ----------
    name : str
        As in ``impinge reproduce NAME``.
    paper : str
        Authors, title, place.
    report : Report or None
        What came out; None if it failed.
    failure : str
        What went wrong, if anything.
    seconds : float
        How long it took.
    """

    name: str
    paper: str
    report: Report | None
    failure: str
    seconds: float

    @property
    def statements(self) -> list[Statement]:
        return self.report.statements if self.report else []

    def count(self, kind: Kind) -> int:
        """How many of its statements have this verdict."""
        return sum(one.kind == kind for one in self.statements)


def write_page(path: Path, parts: Sequence[Part], quick: bool) -> None:
    """Write the page. Pictures are taken from the folders of the reports, and are part of the page."""
    texts = [_Text(part) for part in parts]
    body = [
        "<h1>The papers’ results, reproduced</h1>",
        _facts(parts, quick),
        '<h2 id="verdicts">Verdicts</h2>',
        _counts(parts),
        _differing(parts),
        f"<nav><h2>Contents</h2><ul>{''.join(text.contents() for text in texts)}</ul></nav>",
        *(text.html for text in texts),
    ]
    template = Template(files("impinge.reproduce").joinpath("page.html").read_text(encoding="utf-8"))
    page = template.substitute(title="The papers’ results, reproduced by impinge", body="\n".join(body))
    with replacing(path) as file:
        file.write(page.encode())


def _facts(parts: Sequence[Part], quick: bool) -> str:
    """What made the page, and when."""
    made = f"impinge reproduce {parts[0].name if len(parts) == 1 else 'all'}" + (" --quick" if quick else "")
    what = "The experiments of a paper" if len(parts) == 1 else f"Every experiment of {len(parts)} papers"
    size = "Quick sizes: most statements on speed get no verdict. " if quick else ""
    machine = ", ".join(f"{name}: {value}" for name, value in versions().items())
    seconds = sum(part.seconds for part in parts)
    return (
        f"<p>{size}{what}, run again: what the paper says, what comes out here, and whether "
        "that is the same. All figures and tables are below.</p>"
        f'<p class="facts">Made by <code>{made}</code> on {datetime.now().astimezone():%d %B %Y, %H:%M %Z} in '
        f"{seconds / 60:.1f} min. {escape(machine)}.</p>"
    )


def _counts(parts: Sequence[Part]) -> str:
    """How many statements of each paper have which verdict."""
    rows = []
    for part in parts:
        cells = [f'<td class="number">{part.count(kind)}</td>' for kind in _KINDS]
        state = f"{part.seconds:,.0f} s" if part.report else '<b class="failed">failed</b>'
        rows.append(
            f'<tr><td><a href="#{part.name}">{escape(part.paper)}</a></td>{"".join(cells)}<td>{state}</td></tr>'
        )
    sums = [f'<th class="number {kind}">{sum(part.count(kind) for part in parts)}</th>' for kind in _KINDS]
    head = "".join(f'<th class="number {kind}">{name}</th>' for kind, name in _KINDS.items())
    return (
        f'<div class="wide"><table><thead><tr><th>paper</th>{head}<th>took</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody><tfoot><tr><th>all</th>{''.join(sums)}<th></th></tr></tfoot></table></div>"
    )


def _differing(parts: Sequence[Part]) -> str:
    """The statements that do not hold here, with links."""
    rows = []
    for part in parts:
        for number, one in enumerate(part.statements):
            if one.kind == "differs":
                cells = [_inline(one.paper), _inline(one.here), _inline(one.why)]
                place = f'<a href="#{part.name}-{number}">{part.name}, {escape(one.place)}</a>'
                rows.append(f"<tr><td>{place}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    if not rows:
        return ""
    return (
        '<h3 id="differences">What differs, and why</h3><div class="wide"><table class="statements"><thead><tr>'
        "<th>where</th><th>the paper</th><th>here</th><th>differs because</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


class _Text:
    """The text of a part as HTML, with its headings."""

    def __init__(self, part: Part) -> None:
        self.part, self.headings = part, list[tuple[int, str, str]]()
        if part.report is None:
            self.html = (
                f'<h2 id="{part.name}">{escape(part.paper)}</h2><p>It failed:</p><pre>{escape(part.failure)}</pre>'
            )
            return
        text = part.report.path.read_text(encoding="utf-8").replace(beside(part.statements), _MARK)
        tokens = _parser().parse(text)
        self._place(tokens)
        html = _parser().renderer.render(tokens, _parser().options, {})
        html = html.replace(f"<p>{_MARK}</p>", _statements(part))
        html = html.replace("<table", '<div class="wide"><table').replace("</table>", "</table></div>")
        self.html = _embed(html, part.report.path.parent)

    def _place(self, tokens: Iterable[Token]) -> None:
        """Give headings names to link to, and put them one level lower, as the page has a title of its own."""
        tokens = list(tokens)
        for token, content in pairwise(tokens):
            if token.type in ("heading_open", "heading_close"):
                level = int(token.tag[1])
                token.tag = f"h{level + 1}"
                if token.type == "heading_open":
                    name = self.part.name + (f"-{_slug(content.content)}" if level > 1 else "")
                    token.attrSet("id", name)
                    self.headings.append((level, name, content.content))

    def contents(self) -> str:
        """Its lines of the table of contents."""
        inner = [f'<li><a href="#{name}">{_inline(text)}</a></li>' for level, name, text in self.headings if level == 2]
        below = f"<ul>{''.join(inner)}</ul>" if inner else ""
        return f'<li><a href="#{self.part.name}">{escape(self.part.paper)}</a>{below}</li>'


def _statements(part: Part) -> str:
    """The paper's statements beside ours, each with a name to link to."""
    rows = []
    for number, one in enumerate(part.statements):
        cells = "".join(f"<td>{_inline(cell)}</td>" for cell in (one.place, one.paper, one.here))
        word, _, why = one.verdict.partition(":")
        verdict = _inline(one.verdict) if one.kind == "open" else f"<b>{word}</b>{': ' * bool(why)}{_inline(why)}"
        rows.append(f'<tr id="{part.name}-{number}">{cells}<td class="{one.kind}">{verdict}</td></tr>')
    head = "<tr><th>where</th><th>the paper</th><th>here</th><th>verdict</th></tr>"
    return f'<table class="statements"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}).enable("table")


def _inline(text: str) -> str:
    return str(_parser().renderInline(text))


def _slug(text: str) -> str:
    return "-".join(re.findall(r"\w+", text.lower()))


def _embed(html: str, folder: Path) -> str:
    """Put pictures into the page itself."""

    def data(found: re.Match[str]) -> str:
        content = base64.b64encode((folder / found[1]).read_bytes()).decode()
        return f'src="data:image/png;base64,{content}"'

    return re.sub(r'src="([^":]+\.png)"', data, html)
