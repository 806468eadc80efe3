"""Every table and key of scene files as a page, made from the models that check them.

python -m impinge.run.scene.reference > docs/scene-reference.md
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_args

from pydantic.fields import FieldInfo

from impinge.run.scene.errors import allowed
from impinge.run.scene.models import Particles, Table

__all__ = ["reference"]

_HEAD = """# Reference of scenes

Made from the models that check scenes, by `python -m impinge.run.scene.reference`; [scenes.md](scenes.md) explains
them. A key in bold must be given. SI units; in two dimensions vectors have two numbers, and densities are per area."""


def reference() -> str:
    """The page, in Markdown."""
    plain = {name: field for name, field in Particles.model_fields.items() if not _tables_in(field.annotation)}
    blocks = [_HEAD, "## Above all tables", _keys(plain)]
    parents = _parents()
    for name, field in Particles.model_fields.items():
        for model in _tables_in(field.annotation):
            blocks += [f"## {name}", f"{_how_often(name, field)} {model.__doc__}", _keys(model.model_fields)]
            for key, inner in _inner_tables(model):
                owners = parents.pop(inner, None)
                if owners:  # not described before
                    where = " and of ".join(f"`{owner}`" for owner in owners)
                    blocks += [
                        f"### {key}",
                        f"A table `{key} = {{ … }}` of {where}. {inner.__doc__}",
                        _keys(inner.model_fields),
                    ]
    return "\n\n".join(blocks) + "\n"


def _parents() -> dict[type[Table], list[str]]:
    """In which tables of a scene the tables inside them can be."""
    found: dict[type[Table], list[str]] = {}
    for name, field in Particles.model_fields.items():
        for model in _tables_in(field.annotation):
            for _, inner in _inner_tables(model):
                found.setdefault(inner, []).append(name)
    return found


def _how_often(name: str, field: FieldInfo) -> str:
    if field.default_factory is list:
        return f"`[[{name}]]`, as many as needed."
    if field.default_factory is dict:
        return f"`[{name}.NAME]`, one for each name."
    return f"`[{name}]`{', must be there' if field.is_required() else ''}."


def _inner_tables(model: type[Table]) -> Iterator[tuple[str, type[Table]]]:
    for key, field in model.model_fields.items():
        for inner in _tables_in(field.annotation):
            yield key, inner


def _tables_in(annotation: Any) -> list[type[Table]]:
    """Models in a type."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return [annotation]
    return [model for part in get_args(annotation) for model in _tables_in(part)]


def _keys(fields: Mapping[str, FieldInfo]) -> str:
    """Keys of a table, those first that must be given."""
    ordered = sorted(fields.items(), key=lambda item: not item[1].is_required())
    rows = [_row(key, field) for key, field in ordered]
    return "\n".join(["| key | allowed | unit | default | |", "|---|---|---|---|---|", *rows])


def _row(key: str, field: FieldInfo) -> str:
    annotation: Any = field.annotation
    tables = _tables_in(annotation)
    if field.metadata:
        annotation = Annotated[(annotation, *field.metadata)]
    may = f"[a table](#{key})" if tables else allowed(annotation)
    extra = field.json_schema_extra
    unit = extra["unit"] if isinstance(extra, dict) else ""
    default = "" if field.is_required() or field.default is None else f"`{json.dumps(field.default)}`"
    name = f"**`{key}`**" if field.is_required() else f"`{key}`"
    return f"| {name} | {may} | {unit} | {default} | {field.description} |"


if __name__ == "__main__":
    print(reference(), end="")
