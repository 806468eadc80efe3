"""The reference of scenes, made from the models, and the page in docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from impinge.run.scene import models
from impinge.run.scene.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "scene-reference.md"
TABLES = [kind for kind in vars(models).values() if isinstance(kind, type) and issubclass(kind, models.Table)]


def sections():
    """Text below every heading."""
    found = re.split(r"^#+ (.*)$", reference(), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def test_page_is_up_to_date():
    """If not: python -m impinge.run.scene.reference > docs/scene-reference.md"""
    assert PAGE.read_text(encoding="utf-8") == reference()


def test_every_table_is_described_once():
    described = [kind for kind in TABLES if kind not in (models.Table, models.Law, models.Particles)]
    for kind in described:
        assert reference().count(f" {kind.__doc__}\n") == 1, kind


def test_every_heading_stands_once():
    headings = re.findall(r"^#+ (.*)$", reference(), re.MULTILINE)
    assert len(headings) == len(set(headings))


def test_links_lead_to_headings():
    headings = {name.lower().replace(" ", "-") for name in sections()}
    links = re.findall(r"\(#([^)]*)\)", reference())
    assert links
    assert set(links) <= headings


@pytest.mark.parametrize(
    ("section", "row"),
    [
        ("Above all tables", "| `kind` | 'particles' |  | `\"particles\"` | What the scene is about. |"),
        ("run", "| **`until`** | a number above 0 | s |  | Simulated time"),
        ("world", "| `dt` | a number above 0 or 'auto' | s | `\"auto\"` | Time step;"),
        ("cylinder", "| `ends` | true or false |  | `true` | Whether both ends are closed. |"),
        ("obstacles", "| `cone` | [a table](#cone) |  |  | Instead: a funnel. |"),
    ],
)
def test_rows(section, row):
    assert f"\n{row}" in sections()[section]


def test_every_key_has_a_row():
    for name, field in models.Particles.model_fields.items():
        for kind in TABLES:
            if str(field.annotation).endswith(f".{kind.__name__}]") or field.annotation is kind:
                for key in kind.model_fields:
                    assert f"`{key}`" in sections()[name], (name, key)
