"""What the site needs beside the pages: files outside docs/ that they link to, and links from keys to references.

Pages are written for code hosts, where ``../benchmarks/results/inside.md`` and ``../examples`` lead somewhere. On the
site such files are below ``repo/``: Markdown as pages, other texts as pages with code, folders as lists,
all else as it is.
"""

from __future__ import annotations

import logging
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(\]\(|\b(?:src|href)=\")([^)\s\"#:]+)(?=[#)\"])")
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LANGUAGES = {"": "text", ".csv": "text", ".js": "javascript", ".json": "json", ".py": "python", ".toml": "toml",
              ".yml": "yaml"}  # fmt: skip
_KEY = re.compile(r"\[(\w+\d{4}\w?)\]")
_TAG = re.compile(r"(<[^>]*>)")
_LOADED = re.compile(r"<(?:script|img|link|iframe|source|video)\b[^>]*?\b(?:src|href)=\"?((?:https?:)?//[^\">\s]+)")
_LEFT_ALONE = ("a", "pre", "code", "h1", "h2", "h3", "title")

_log = logging.getLogger("mkdocs.impinge")
_names: dict[str, str] = {}  # of pages below repo/: where they are on the site → in the repository


def on_files(files: Files, config: Any) -> Files:
    """Add what is outside of docs/ and linked to: from pages, or from what is added."""
    _names.clear()
    waiting = [(f"docs/{file.src_uri}", file.content_string) for file in files if file.src_uri.endswith(".md")]
    while waiting:
        for name in _linked(*waiting.pop()):
            place, path = _place(name), ROOT / name
            if name.startswith("docs/") or place in _names or not path.exists():
                continue  # a link to nothing is reported by the page that has it
            _names[place] = name
            if not place.endswith(".md"):
                files.append(File.generated(config, place, abs_src_path=str(path)))
                continue
            text = _page(path)
            files.append(File.generated(config, place, content=text))
            waiting.append((name, text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links out of docs/ lead to the pages below repo/, and back; references get an anchor each."""
    place = page.file.src_uri
    name = _names.get(place, f"docs/{place}")

    def moved(link: re.Match[str]) -> str:
        target = _resolved(name, link[2])
        return link[1] + posixpath.relpath(_place(target), posixpath.dirname(place) or ".")

    if place == "references.md":
        markdown = re.sub(r"^\| \[(\w+)\]", r'| <a id="\1"></a>[\1]', markdown, flags=re.MULTILINE)
    return "".join(part if part.startswith("```") else _LINK.sub(moved, part) for part in _FENCED.split(markdown))


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Keys such as [Muth2006] lead to the references, in docstrings as well."""
    if page.file.src_uri == "references.md":
        return html
    known = set(re.findall(r"^\| \[(\w+)\]", (ROOT / "docs/references.md").read_text(encoding="utf-8"), re.MULTILINE))
    there = posixpath.relpath("references.html", posixpath.dirname(page.file.dest_uri) or ".")
    inside: list[str] = []  # tags in which text is left alone
    pieces = _TAG.split(html)
    for k, piece in enumerate(pieces):
        tag = re.match(r"</?(\w+)", piece) if k % 2 else None
        if tag and tag[1] in _LEFT_ALONE:
            inside.pop() if piece.startswith("</") else inside.append(tag[1])
        elif not k % 2 and not inside:
            pieces[k] = _KEY.sub(
                lambda key: f'<a href="{there}#{key[1]}">{key[0]}</a>' if key[1] in known else key[0], piece
            )
    return "".join(pieces)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Warn, which fails the build, of what a page would load from elsewhere."""
    for address in _LOADED.findall(output):
        _log.warning("'%s' loads %s, expected nothing from elsewhere", page.file.src_uri, address)
    return output


def _linked(name: str, text: str) -> Iterator[str]:
    """Names in the repository of all that a page links to."""
    for part in _FENCED.split(text):
        if not part.startswith("```"):
            yield from (_resolved(name, target) for _, target in _LINK.findall(part))


def _resolved(name: str, target: str) -> str:
    """What a link in a file, or in the list of a folder, leads to."""
    folder = name if (ROOT / name).is_dir() else posixpath.dirname(name)
    return posixpath.normpath(posixpath.join(folder, target))


def _place(name: str) -> str:
    """Where something of the repository is on the site."""
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    path = ROOT / name
    if path.is_dir():
        return f"repo/{name}/index.md"
    return f"repo/{name}.md" if path.suffix in _LANGUAGES else f"repo/{name}"


def _page(path: Path) -> str:
    """A file or a folder as Markdown."""
    if path.is_dir():
        files = sorted(file.name for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        return f"# {path.relative_to(ROOT)}\n\n" + "".join(f"- [{name}]({name})\n" for name in files)
    text = path.read_text(encoding="utf-8")
    return text if path.suffix == ".md" else f"# {path.name}\n\n```{_LANGUAGES[path.suffix]}\n{text}```\n"
