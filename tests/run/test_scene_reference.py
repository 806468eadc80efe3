"""The reference of scenes, made from the models, and the page in docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from impinge.run.scene import models, softmodels
from impinge.run.scene.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "scene-reference.md"
NAMED = [*vars(models).values(), *vars(softmodels).values()]
TABLES = list(dict.fromkeys(kind for kind in NAMED if isinstance(kind, type) and issubclass(kind, models.Table)))
SHARED = (models.Table, models.Closed, models.Law, models.Outputs, models.Placed, models.Shaped, softmodels.Moving)


def sections():
    """Text below every heading."""
    found = re.split(r"^#+ (.*)$", reference(), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def test_page_is_up_to_date():
    """If not: python -m impinge.run.scene.reference > docs/scene-reference.md"""
    assert PAGE.read_text(encoding="utf-8") == reference()


def test_every_table_is_described_once():
    described = [kind for kind in TABLES if kind not in (*SHARED, models.Particles, softmodels.Soft)]
    assert len(described) > 35
    for kind in described:
        assert len(re.findall(rf"(^| ){re.escape(kind.__doc__)}\n", reference(), re.MULTILINE)) == 1, kind


def test_every_heading_stands_once():
    headings = re.findall(r"^#+ (.*)$", reference(), re.MULTILINE)
    assert len(headings) == len(set(headings))


@pytest.mark.parametrize(
    ("section", "row"),
    [
        (
            "Above all tables",
            "| `kind` | one of 'particles', 'polyhedra' |  | `\"particles\"` | What the scene is about;",
        ),
        ("run", "| **`until`** | a number above 0 | s |  | Simulated time"),
        ("world", "| `dt` | a number above 0 or 'auto' | s | `\"auto\"` | Time step;"),
        ("cylinder", "| `ends` | true or false |  | `true` | Whether both ends are closed. |"),
        ("obstacles", "| `cone` | [a table](#cone) |  |  | Instead: a funnel. |"),
        ("bodies", '`[[bodies]]`, as many as needed, at least one. Cables and cloth. With `kind = "cable"` or'),
        ("cable", "| **`radius`** | a number above 0 | m |  | Half its thickness. |"),
        ("run of cables and cloth", "`[run]`, must be there. As [above](#run)."),
    ],
)
def test_rows(section, row):
    assert f"\n{row}" in sections()[section]


def test_every_key_has_a_row():
    for scene, ending in ((models.Particles, ""), (softmodels.Soft, " of cables and cloth")):
        for name, field in scene.model_fields.items():
            for kind in TABLES:
                if str(field.annotation).endswith(f"{kind.__module__}.{kind.__name__}]") or field.annotation is kind:
                    found = sections().get(name + ending) or sections()[name]
                    if "As [above]" in found:
                        found = sections()[name]
                    for key in kind.model_fields:
                        assert f"`{key}`" in found, (name, key)
    for kind in (softmodels.Cable, softmodels.Cloth):
        for key in kind.model_fields:
            assert f"`{key}`" in sections()[kind.__name__.lower()]
