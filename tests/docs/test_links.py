"""Links between pages, to files and to headings lead somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pages import PAGES, ROOT, anchors, links, named

_PICTURES = 200_000  # bytes, of tutorials


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{link}: no such file"
        assert path.is_relative_to(ROOT), f"{link}: is outside of the repository"
        if anchor:
            assert path.suffix == ".md", f"{link}: only pages have anchors"
            assert anchor in anchors(path), f"{link}: no such heading; there are {sorted(anchors(path))}"


def test_no_page_is_left_alone() -> None:
    """Every page of docs/ is reached from the README."""
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        waiting += [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if "://" not in link]
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} <= seen


def test_pictures_of_tutorials_are_small() -> None:
    pictures = [path for path in (ROOT / "docs/tutorials").iterdir() if path.suffix in (".png", ".jpg")]
    assert pictures
    assert not [path.name for path in pictures if path.stat().st_size > _PICTURES]
