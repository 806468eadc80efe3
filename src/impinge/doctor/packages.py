"""What is installed, next to what the package's metadata ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from typing import NamedTuple

__all__ = ["PURPOSES", "Package", "packages"]

# What the extras of the package are for; those for work on impinge itself are told only as far as they are installed.
PURPOSES = {
    "report": "pictures, reports and `impinge reproduce`",
    "bench": "comparisons with other libraries",
    "dev": "tests",
    "docs": "the documentation as a site",
}
FOR_DEVELOPERS = ("bench", "dev", "docs")


class Package(NamedTuple):
    """A package that impinge uses."""

    name: str
    version: str | None  # installed, or None
    bounds: str  # as in ">=2.0"
    extra: str  # "" : always needed

    @property
    def suits(self) -> bool:
        """It is installed, in a version that is within the bounds."""
        return self.version is not None and all(_holds(self.version, bound) for bound in self.bounds.split(","))


def packages() -> list[Package]:
    """All that the metadata of impinge name; nothing if it runs from a folder that is not installed."""
    try:
        required = metadata.requires("impinge") or []
    except metadata.PackageNotFoundError:
        return []
    return [Package(name, _version(name), bounds, extra) for name, bounds, extra in map(_read, required) if name]


def _read(requirement: str) -> tuple[str, str, str]:
    """Name, bounds and extra of one as in `k3d<4,>=3.2; extra == "report"`."""
    text, _, marker = requirement.partition(";")
    match = re.match(r"\s*([\w.-]+)\s*(?:\[[^]]*])?\s*\(?([^)]*)\)?\s*$", text)
    name, bounds = match.groups() if match else ("", "")
    extra = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
    return "" if name == "impinge" else name, bounds.strip(), extra.group(1) if extra else ""


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _holds(version: str, bound: str) -> bool:
    """Of the bounds that we use; any other is taken to hold."""
    match = re.match(r"\s*(>=|<)\s*([\d.]+)\s*$", bound)
    if match is None:
        return True
    found, wanted = (list(_numbers(text)) for text in (version, match.group(2)))
    length = max(len(found), len(wanted))
    found, wanted = (part + [0] * (length - len(part)) for part in (found, wanted))
    return found >= wanted if match.group(1) == ">=" else found < wanted


def _numbers(version: str) -> Iterator[int]:
    """The leading numbers: 2, 1 of 2.1rc1."""
    for part in version.split("."):
        digits = re.match(r"\d+", part)
        if digits is None:
            return
        yield int(digits.group())
        if digits.group() != part:
            return
