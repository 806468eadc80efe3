"""Every table and key of scene files as a page, made from the models that check them.

python -m impinge.run.scene.reference > docs/scene-reference.md
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_args, get_origin

from pydantic.fields import FieldInfo

from impinge.run.scene.errors import allowed, kinds_of
from impinge.run.scene.models import Particles, Placed, Table
from impinge.run.scene.softmodels import Soft

__all__ = ["reference"]

_HEAD = """# Reference of scenes

Made from the models that check scenes, by `python -m impinge.run.scene.reference`; [scenes.md](scenes.md) explains
them. A key in bold must be given. SI units; in two dimensions vectors have two numbers, and densities are per area.
First scenes of spheres and polyhedra, then those of [cables and cloth](#cables-and-cloth)."""

_SOFT = """# Cables and cloth

Scenes with `[[bodies]]`."""


def reference() -> str:
    """The page, in Markdown."""
    described: set[type[Table]] = set()
    blocks = [_HEAD, *_scene(Particles, "", described), _SOFT, *_scene(Soft, " of cables and cloth", described)]
    return "\n\n".join(blocks) + "\n"


def _scene(scene: type[Table], ending: str, described: set[type[Table]]) -> Iterator[str]:
    """Headings and tables of a kind of scene, but for what has been described; headings that spheres have end so."""
    plain = {name: field for name, field in scene.model_fields.items() if not _tables_in(field.annotation)}
    yield from (f"## Above all tables{ending}", _keys(plain))
    parents = _parents(scene)
    for name, field in scene.model_fields.items():
        tables = _tables_in(field.annotation)
        if tables:
            yield f"## {name}{ending if name in Particles.model_fields else ''}"
        if len(tables) > 1:
            kinds = " or ".join(f"`kind = {json.dumps(kind)}`" for kind in kinds_of(get_args(field.annotation)[0]))
            yield f"{_how_often(name, field)} {field.description} With {kinds}:"
        for model in tables:
            if model in described:
                yield f"{_how_often(name, field)} As [above](#{name})."
                continue
            described.add(model)
            if len(tables) > 1:
                yield f"### {_kind(model)}"
                yield f"{model.__doc__}"
            else:
                yield f"{_how_often(name, field)} {model.__doc__}"
            yield _keys(model.model_fields)
            for key, inner in _inner_tables(model):
                if inner not in described:
                    described.add(inner)
                    *others, last = (f"`{owner}`" for owner in parents[inner])
                    where = f"{', '.join(others)} and {last}" if others else last
                    yield f"### {key}"
                    yield f"A table `{key} = {{ … }}` of {where}. {inner.__doc__}"
                    yield _keys(inner.model_fields)


def _kind(model: type[Table]) -> str:
    return str(get_args(model.model_fields["kind"].annotation)[0])


def _parents(scene: type[Table]) -> dict[type[Table], list[str]]:
    """In which tables of a scene the tables inside them can be."""
    found: dict[type[Table], list[str]] = {}
    for name, field in scene.model_fields.items():
        for model in _tables_in(field.annotation):
            for _, inner in _inner_tables(model):
                if name not in found.setdefault(inner, []):
                    found[inner].append(name)
    return found


def _how_often(name: str, field: FieldInfo) -> str:
    if field.is_required() and get_origin(field.annotation) is list:
        return f"`[[{name}]]`, as many as needed, at least one."
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
    """Keys of a table, those first that must be given, and those last that bring a shape into place."""
    ordered = sorted(fields.items(), key=lambda item: (not item[1].is_required(), item[0] in Placed.model_fields))
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
