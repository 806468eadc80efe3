"""Materials, and the laws of their pairs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from impinge.errors import InputError
from impinge.response import Material, _laws
from impinge.response.materials import law_table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stiffness": 1e5, "young": 1e7}, "stiffness, young: found both, expected one"),
        ({}, "stiffness, young: found neither, expected one"),
        ({"stiffness": -1}, "stiffness: found -1, expected a number above 0"),
        ({"stiffness": "hard"}, "stiffness: found 'hard'"),
        ({"stiffness": 1, "damping": 1, "restitution": 0.5}, "damping, restitution: found both"),
        ({"stiffness": 1, "restitution": 0}, "restitution: found 0, expected more than 0 and at most 1"),
        ({"stiffness": 1, "restitution": 1.1}, "restitution: found 1.1, expected more than 0 and at most 1"),
        ({"young": 1, "poisson": 0.5}, "poisson: found 0.5, expected 0 to below 0.5"),
        ({"stiffness": 2, "unloading": 1}, "unloading: found 1, expected at least the stiffness, 2"),
        ({"young": 2, "unloading": 1}, "unloading: found 1, expected it with a stiffness"),
        ({"stiffness": 2, "pull": 1}, "pull: found 1 without unloading"),
        ({"young": 2, "tangential": 1}, "tangential: found 1 with young"),
        ({"stiffness": 2, "friction": 1, "tangential": 0}, "tangential: found 0 with friction"),
        ({"stiffness": 1, "friction": math.nan}, "friction: found nan"),
    ],
)
def test_bad_materials(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Material(2500, **arguments)


def test_bad_density() -> None:
    with pytest.raises(InputError, match="density: found 0, expected a number above 0"):
        Material(0, stiffness=1)


def test_equal_materials_keep_what_they_have() -> None:
    material = Material(2500, stiffness=3e4, damping=7, friction=0.3, rolling=0.1, cohesion=0.2)
    row = law_table([material, material])[1]
    assert row[_laws.STIFFNESS] == 3e4
    assert row[_laws.DAMPING] == 7
    assert row[[_laws.FRICTION, _laws.ROLLING, _laws.COHESION]] == pytest.approx([0.3, 0.1, 0.2])


def test_tables_are_symmetric_and_pairs_can_be_given() -> None:
    soft, hard = Material(1000, stiffness=1e3, restitution=0.5), Material(8000, stiffness=1e6, restitution=0.9)
    table = law_table([soft, hard])
    assert np.array_equal(table[1], table[2])
    assert table[1, _laws.STIFFNESS] == pytest.approx(2 / (1 / 1e3 + 1 / 1e6))
    given = law_table([soft, hard], {(0, 1): Material(1, stiffness=5e4, friction=0.7)})
    assert given[1, _laws.STIFFNESS] == given[2, _laws.STIFFNESS] == 5e4
    assert given[1, _laws.FRICTION] == pytest.approx(0.7)
    assert np.array_equal(given[[0, 3]], table[[0, 3]])


def test_hertz_of_steel() -> None:
    """E* of two equal bodies is E / 2 (1 − ν²); 8 G* over 2 E* is 2 (1 − ν) / (2 − ν)."""
    row = law_table([Material(7800, young=2e11, poisson=0.3)])[0]
    assert row[_laws.STIFFNESS] == pytest.approx(2e11 / (2 * (1 - 0.09)))
    assert row[_laws.TANGENTIAL] == pytest.approx(2 * (1 - 0.3) / (2 - 0.3))


def test_laws_that_do_not_go_together() -> None:
    linear, hertz = Material(1, stiffness=1), Material(1, young=1, name="steel")
    with pytest.raises(
        InputError, match="a stiffness in a material and young in 'steel', expected the same of both, or a law for"
    ):
        law_table([linear, hertz])
    damped, bouncy = Material(1, stiffness=1, damping=1), Material(1, stiffness=1, restitution=0.5)
    with pytest.raises(InputError, match="damping in a material and restitution in a material"):
        law_table([damped, bouncy])
    with pytest.raises(InputError, match="restitution in a material and damping in a material"):
        law_table([bouncy, damped])
