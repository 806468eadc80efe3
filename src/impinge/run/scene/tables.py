"""What all tables of scene files are made of: types of values, with what messages say of them, and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

__all__ = [
    "Allowed", "Auto", "Colour", "Corners", "Count", "Flags", "Jitter", "Lengths", "NotNegative", "Number", "Numbers",
    "Outline", "Pair", "Places", "Poisson", "Positive", "Quaternions", "Seed", "Segments", "Share", "Table", "Vector",
    "Vector3", "Word", "about", "needed", "several",
]  # fmt: skip


@dataclass(frozen=True)
class Allowed:
    """What a type allows, for messages and the reference."""

    text: str


Number = Annotated[float, Allowed("a number")]
Positive = Annotated[float, Field(gt=0), Allowed("a number above 0")]
NotNegative = Annotated[float, Field(ge=0), Allowed("a number of at least 0")]
Share = Annotated[float, Field(gt=0, le=1), Allowed("more than 0 and at most 1")]
Jitter = Annotated[float, Field(ge=0, le=1), Allowed("0 to 1")]
Poisson = Annotated[float, Field(ge=0, lt=0.5), Allowed("0 to below 0.5")]
Count = Annotated[int, Field(ge=1), Allowed("a whole number of at least 1")]
Seed = Annotated[int, Field(ge=0), Allowed("a whole number of at least 0")]
Segments = Annotated[int, Field(ge=3, le=10_000), Allowed("a whole number from 3 to 10000")]
Word = Annotated[str, StringConstraints(pattern=r"^[\w .+-]+$"), Allowed("letters, digits, spaces and . _ + -")]
Vector = Annotated[
    list[float], Field(min_length=2, max_length=3), Allowed("2 or 3 numbers, as many as the world has dimensions")
]
Vector3 = Annotated[list[float], Field(min_length=3, max_length=3), Allowed("3 numbers")]
Pair = Annotated[list[str], Field(min_length=2, max_length=2), Allowed("a list of two names")]
Numbers = Annotated[list[float], Allowed("a list of numbers")]
Flags = Annotated[list[bool], Field(min_length=2, max_length=3), Allowed("a list of those, one for each axis")]
Lengths = Annotated[list[float], Field(min_length=2, max_length=3), Allowed("lengths from 0")]
Corners = Annotated[list[Vector], Field(min_length=2, max_length=2), Allowed("a lower and an upper corner")]
Places = Annotated[
    list[Vector],
    Field(min_length=1),
    Allowed("a list of points, each with as many numbers as the world has dimensions"),
]
Outline = Annotated[
    list[Annotated[list[float], Field(min_length=2, max_length=2)]],
    Field(min_length=3),
    Allowed("a list of at least three points [x, y]"),
]
Quaternions = Annotated[
    list[Annotated[list[float], Field(min_length=4, max_length=4)]],
    Field(min_length=1),
    Allowed("a list of quaternions [w, x, y, z]"),
]
Auto = Literal["auto"]
Colour = Annotated[str, StringConstraints(pattern="^#[0-9a-fA-F]{6}$"), Allowed('a text such as "#c4553b"')]


def about(text: str, unit: str = "", default: Any = None) -> Any:
    """A key that may be left out."""
    return Field(default=default, description=text, json_schema_extra={"unit": unit} if unit else None)


def needed(text: str, unit: str = "") -> Any:
    """A key that every table must have."""
    return Field(description=text, json_schema_extra={"unit": unit} if unit else None)


def several(text: str, kind: type = list) -> Any:
    """Tables of which there may be none."""
    return Field(default_factory=kind, description=text)


class Table(BaseModel):
    """A table of a scene file; keys that are not known are errors, and nothing is converted."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    def given(self, *names: str) -> list[str]:
        """Which of these keys the file has."""
        return [name for name in names if name in self.model_fields_set]

    def only_one_of(self, *names: str) -> str:
        """The one of these keys that the file has; an error if it has none or several."""
        found = self.given(*names)
        if len(found) != 1:
            what = " and ".join(found) or "none of them"
            raise ValueError(f"{', '.join(found or names)}: found {what}, expected one of {', '.join(names)}")
        return found[0]

    def only_with(self, key: str, allowed: bool, partner: str) -> None:
        """An error if a key is given where it means nothing."""
        if key in self.model_fields_set and not allowed:
            raise ValueError(f"{key}: found {getattr(self, key)!r}, expected it only with {partner}")
