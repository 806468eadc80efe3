"""What pydantic finds wrong in a scene, as one line: file, line, key, what was found and what is allowed."""

from __future__ import annotations

import difflib
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from impinge.errors import InputError
from impinge.run.scene.models import Allowed
from impinge.run.scene.toml import Document, Key

__all__ = ["allowed", "explain", "kinds_of"]

_PLAIN = {float: "a number", int: "a whole number", bool: "true or false", str: "a text"}
_LONGEST = 60  # characters of a value in a message


def explain(document: Document, model: type[BaseModel], error: ValidationError) -> InputError:
    """The first error, where a key that is not known comes before one that is missing, as it may be meant for it."""
    found: list[tuple[bool, int, int, Any]] = []
    for problem in error.errors(include_url=False):
        unknown = problem["type"] == "extra_forbidden"
        key, annotation = _follow(model, tuple(problem["loc"]))
        found.append((not unknown, document.line(key), len(found), (key, annotation, problem)))
    return _say(document, *min(found)[-1])


def _say(document: Document, key: Key, annotation: Any, problem: Any) -> InputError:
    if problem["type"] == "extra_forbidden":
        known = list(annotation.model_fields)
        near = difflib.get_close_matches(str(key[-1]), known, 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(known)}"
        return document.error(key, f"unknown key, {hint}")
    if problem["type"].startswith("union_tag"):  # which of several tables it is
        expected = "one of " + ", ".join(repr(tag) for tag in kinds_of(annotation))
        key = (*key, "kind")
        found = f"found {_shown(document.value(key))}" if document.has(key) else "missing"
        return document.error(key, f"{found}, expected {expected}")
    if problem["type"] == "missing":
        return document.error(key, f"missing, expected {allowed(annotation)}")
    if problem["type"] == "value_error":
        return document.error_in(key, problem["msg"].removeprefix("Value error, "))
    return document.error(key, f"found {_shown(document.value(key))}, expected {allowed(annotation)}")


def _shown(value: Any) -> str:
    """A value as it could stand in the file, cut if it is long."""
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _follow(model: type[BaseModel], place: tuple[str | int, ...]) -> tuple[Key, Any]:
    """The key that an error is about, and what is allowed there: a type, or for unknown keys the table's model.

    Places of pydantic go on into lists and alternatives of a value, which is named as a whole here.
    """
    key: Key = ()
    annotation: Any = model
    for part in place:
        kind = _one_type(annotation)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            key = (*key, part)
            if part not in kind.model_fields:
                return key, kind
            field = kind.model_fields[str(part)]
            annotation = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        elif _holds_tables(kind):
            key, annotation = (*key, part), get_args(kind)[-1]
        elif part in kinds_of(kind):
            annotation = kinds_of(kind)[str(part)]
        else:
            break
    return key, annotation


def kinds_of(annotation: Any) -> dict[str, type[BaseModel]]:
    """Tables of which one is chosen by its key `kind`, if an annotation says so."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    choices = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else ()
    if not all(isinstance(choice, type) and issubclass(choice, BaseModel) for choice in choices):
        return {}
    return {get_args(choice.model_fields["kind"].annotation)[0]: choice for choice in choices}


def _one_type(annotation: Any) -> Any:
    """The type itself, if it is one or None; without notes on lists of tables."""
    if get_origin(annotation) is Annotated and _holds_tables(get_args(annotation)[0]):
        return get_args(annotation)[0]
    if get_origin(annotation) in (Union, UnionType):
        choices = [choice for choice in get_args(annotation) if choice is not NoneType]
        return _one_type(choices[0]) if len(choices) == 1 else annotation
    return annotation


def _holds_tables(kind: Any) -> bool:
    if get_origin(kind) not in (list, dict):
        return False
    inner = get_args(kind)[-1]
    return bool(kinds_of(inner)) or (isinstance(inner, type) and issubclass(inner, BaseModel))


def allowed(annotation: Any) -> str:
    """What a type allows, in words."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        said = [note.text for note in parts[1:] if isinstance(note, Allowed)]
        return said[0] if said else allowed(parts[0])
    if origin in (Union, UnionType):
        return " or ".join(allowed(part) for part in parts if part is not NoneType)
    if origin is Literal:
        texts = [repr(part) for part in parts]
        return texts[0] if len(texts) == 1 else "one of " + ", ".join(texts)
    if _holds_tables(annotation):
        return "tables in double brackets" if origin is list else "tables with names"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"a table of {', '.join(annotation.model_fields)}"
    return _PLAIN.get(annotation, "a table")
