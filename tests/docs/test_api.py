"""The API reference names all that is public, once, and all of it is described."""

from __future__ import annotations

import importlib
import inspect
from functools import cached_property
from types import ModuleType
from typing import Any

import pytest

import impinge

from .pages import ROOT, objects

PARTS = ["exact", "broad", "ccd", "shapes", "inside", "response", "output", "errors"]
NAMES = [name for page in sorted(ROOT.glob("docs/api/*.md")) for name in objects(page)]


def found(name: str) -> Any:
    """What a dotted name means."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def public() -> dict[str, Any]:
    """All that users are told of, by its dotted name."""
    modules = [impinge, *(importlib.import_module(f"impinge.{part}") for part in PARTS)]
    things = {}
    for module in modules:
        names = getattr(module, "__all__", None) or [
            name
            for name, thing in vars(module).items()
            if isinstance(thing, type) and thing.__module__ == module.__name__
        ]
        things.update({f"{module.__name__}.{name}": getattr(module, name) for name in names if name[0] != "_"})
    return {name: thing for name, thing in things.items() if not isinstance(thing, ModuleType)}


def test_all_that_is_public_is_in_the_reference() -> None:
    described = [found(name) for name in NAMES]
    missing = [name for name, thing in public().items() if not any(thing is other for other in described)]
    assert not missing
    assert len(public()) > 70


def test_nothing_is_described_twice() -> None:
    described = [id(found(name)) for name in NAMES]
    assert len(set(described)) == len(described)


def test_names_mean_to_griffe_what_they_mean_to_python() -> None:
    """Griffe takes the module where a function has its name: then both names are needed."""
    assert not [name for name in NAMES if (ROOT / "src" / f"{name.replace('.', '/')}.py").exists()]


def test_parts_are_all_that_there_is() -> None:
    parts = {name for name in impinge.__all__ if isinstance(getattr(impinge, name), ModuleType)}
    assert parts <= set(PARTS)


@pytest.mark.parametrize("name", NAMES)
def test_all_is_described(name: str) -> None:
    thing = found(name)
    assert inspect.getdoc(thing), name
    if not inspect.isclass(thing):
        return
    for kind in inspect.getmro(thing)[:-1]:
        if not kind.__module__.startswith("impinge"):
            continue
        for member, value in vars(kind).items():
            inner = value.fget if isinstance(value, property) else value
            inner = inner.func if isinstance(inner, cached_property) else getattr(inner, "__func__", inner)
            if not member.startswith("_") and inspect.isfunction(inner):
                assert inner.__doc__, f"{name}.{member}"
