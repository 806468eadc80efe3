"""Materials, and the contact laws of their pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.errors import InputError, SubjectError
from impinge.response import _laws

__all__ = ["Material", "law_table", "shortest_contact"]

# Tangential stiffness over normal: equal periods of both for a solid sphere, which reacts with 2/7 of its mass.
_SHARE = 2.0 / 7.0


@dataclass(frozen=True)
class Material:
    """What spheres, walls and obstacles are made of, and how they push each other.

    Parameters
    ----------
    density : float, kg/m³ (kg/m² in two dimensions)
    stiffness : float, N/m
        Linear spring: F = k δ.
    young, poisson : float, Pa, and 1
        Instead of a stiffness: the law of Hertz, with Mindlin's tangential stiffness.
    unloading, pull : float, N/m, optional
        With a stiffness: plastic contact after Luding, springs for the way back and for pulling.
    damping : float, N s/m
        Coefficient of the dashpot.
    restitution : float, 0 < e ≤ 1
        Instead of a damping: velocity after a head-on collision over that before.
    friction : float
        Coefficient of Coulomb friction; spheres rotate if it is above 0 anywhere.
    rolling : float
        Coefficient of rolling resistance.
    cohesion : float, J/m²
        Work of adhesion w: bodies in contact pull each other with 2π w R*, R* = r_i r_j / (r_i + r_j).
    tangential : float
        Stiffness of the tangential spring over that of the normal one; for Hertz it follows from Poisson's ratio.
    name : str
        Materials with the same numbers and the same name are one.
    """

    density: float
    stiffness: float | None = None
    young: float | None = None
    poisson: float = 0.3
    damping: float | None = None
    restitution: float | None = None
    friction: float = 0.0
    rolling: float = 0.0
    cohesion: float = 0.0
    unloading: float | None = None
    pull: float | None = None
    tangential: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(f"name: found {self.name!r}, expected a text")
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or field.name == "name":
                continue
            check = _check.positive if field.name in _ABOVE_ZERO else _check.not_negative
            object.__setattr__(self, field.name, check(field.name, value))
        if (self.stiffness is None) == (self.young is None):
            found = "neither" if self.stiffness is None else "both"
            raise InputError(f"stiffness, young: found {found}, expected one of them, as it chooses the law")
        if self.damping is not None and self.restitution is not None:
            raise InputError("damping, restitution: found both, expected one of them")
        if self.restitution is not None and not 0 < self.restitution <= 1:
            raise InputError(f"restitution: found {self.restitution:g}, expected more than 0 and at most 1")
        if self.poisson >= 0.5:
            raise InputError(f"poisson: found {self.poisson:g}, expected 0 to below 0.5")
        if self.unloading is not None:
            if self.stiffness is None:
                raise InputError(f"unloading: found {self.unloading:g}, expected it with a stiffness only")
            if self.unloading < self.stiffness:
                raise InputError(
                    f"unloading: found {self.unloading:g}, expected at least the stiffness, {self.stiffness:g}"
                )
        elif self.pull is not None:
            raise InputError(f"pull: found {self.pull:g} without unloading, expected both or none")
        if self.tangential is not None and self.young is not None:
            raise InputError(f"tangential: found {self.tangential:g} with young, expected it with a stiffness only")
        if self.tangential == 0 and self.friction > 0:  # a spring that never pulls
            raise InputError("tangential: found 0 with friction, expected more than 0, as friction acts through it")

    @property
    def is_rough(self) -> bool:
        """Whether its contacts have a history, and turn spheres."""
        return self.friction > 0 or self.rolling > 0 or self.unloading is not None


_ABOVE_ZERO = {"density", "stiffness", "young", "unloading"}


def law_table(
    materials: Sequence[Material], pairs: Mapping[tuple[int, int], Material] | None = None
) -> NDArray[np.float64]:
    """The laws of all pairs of materials, (m · m, COLUMNS), row a · m + b.

    Of two materials: Hertz's moduli as usual, 1/E* = (1 − ν_a²)/E_a + (1 − ν_b²)/E_b and
    1/G* = 2 (2 − ν_a)(1 + ν_a)/E_a + the same of b; the harmonic mean of stiffnesses, so that equal ones keep theirs;
    the mean of damping coefficients; the geometric mean of all else. Or the one given for the pair.
    """
    count = len(materials)
    table = np.zeros((count * count, _laws.COLUMNS))
    given = pairs or {}
    for a in range(count):
        for b in range(a, count):
            one = given.get((a, b), materials[a])
            other = given.get((a, b), materials[b])
            table[a * count + b] = table[b * count + a] = _law(one, other)
    return table


def _law(a: Material, b: Material) -> NDArray[np.float64]:
    row = np.zeros(_laws.COLUMNS)
    if (a.young is None) != (b.young is None):
        raise _unlike(a, b, "a stiffness", "young") if a.young is None else _unlike(a, b, "young", "a stiffness")
    if a.damping is not None and b.restitution is not None:
        raise _unlike(a, b, "damping", "restitution")
    if a.restitution is not None and b.damping is not None:
        raise _unlike(a, b, "restitution", "damping")
    if a.young is not None and b.young is not None:
        soft = (1 - a.poisson**2) / a.young + (1 - b.poisson**2) / b.young
        shear = 2 * (2 - a.poisson) * (1 + a.poisson) / a.young + 2 * (2 - b.poisson) * (1 + b.poisson) / b.young
        row[_laws.KIND], row[_laws.STIFFNESS] = _laws.HERTZ, 1 / soft
        # Mindlin's 8 G* √(R* δ) over Hertz's 2 E* √(R* δ).
        share = 4 * soft / shear
        row[_laws.TANGENTIAL], row[_laws.TANGENTIAL_DAMPING] = share, math.sqrt(share)
    else:
        row[_laws.KIND], row[_laws.STIFFNESS] = _laws.LINEAR, _harmonic(a.stiffness, b.stiffness)
        share = math.sqrt(
            (_SHARE if a.tangential is None else a.tangential) * (_SHARE if b.tangential is None else b.tangential)
        )
        # As strongly damped as the normal direction: the reacting mass is 2/7 of that there.
        row[_laws.TANGENTIAL], row[_laws.TANGENTIAL_DAMPING] = share, math.sqrt(share * _SHARE)
    if a.unloading is not None or b.unloading is not None:
        row[_laws.KIND] = _laws.PLASTIC
        row[_laws.UNLOADING] = _harmonic(a.unloading or a.stiffness, b.unloading or b.stiffness)
        row[_laws.PULL] = math.sqrt((a.pull or 0.0) * (b.pull or 0.0))
    if a.restitution is None and b.restitution is None:
        row[_laws.DAMPING] = 0.5 * ((a.damping or 0.0) + (b.damping or 0.0))
    else:
        log = 0.5 * (math.log(a.restitution or 1.0) + math.log(b.restitution or 1.0))
        row[_laws.BETA] = -log / math.sqrt(math.pi**2 + log**2)
    row[_laws.FRICTION] = math.sqrt(a.friction * b.friction)
    row[_laws.ROLLING] = math.sqrt(a.rolling * b.rolling)
    row[_laws.COHESION] = math.sqrt(a.cohesion * b.cohesion)
    return row


def _unlike(a: Material, b: Material, one: str, other: str) -> SubjectError:
    names = [repr(material.name) if material.name else "a material" for material in (a, b)]
    found = f"{one} in {names[0]} and {other} in {names[1]}"
    expected = "expected the same of both, or a law for this pair: World.set_contact, in a scene [[contacts]]"
    return SubjectError(f"material: found {found}, {expected}", ("material", b.name))


def shortest_contact(table: NDArray[np.float64], lightest: NDArray[np.float64], radii: NDArray[np.float64]) -> float:
    """Duration of the shortest contact of two spheres, s: t_c = π √(m* / k), of the stiffest and lightest.

    Parameters
    ----------
    table : (m · m, COLUMNS) float64
    lightest, radii : (m,) float64
        Mass and radius of the lightest sphere of every material, infinite where there is none.

    The stiffness of Hertz's law is that at an overlap of a hundredth of the radius; overdamped contacts are shorter by
    as much as they are overdamped.
    """
    shortest = math.inf
    count = len(lightest)
    for a in range(count):
        for b in range(count):
            law = table[a * count + b]
            mass, radius = _reduced(lightest[a], lightest[b]), _reduced(radii[a], radii[b])
            if not math.isfinite(mass):
                continue
            stiffness = max(law[_laws.STIFFNESS], law[_laws.UNLOADING])
            if law[_laws.KIND] == _laws.HERTZ:
                stiffness *= 2 * radius * math.sqrt(0.01)
            # The tangential spring moves 2/7 of the mass.
            stiffness *= max(1.0, law[_laws.TANGENTIAL] / _SHARE if law[_laws.FRICTION] > 0 else 0.0)
            # A dashpot of its own choice may be faster than the spring.
            stiff = max(1.0, law[_laws.DAMPING] / (2 * math.sqrt(mass * stiffness)))
            shortest = min(shortest, math.pi * math.sqrt(mass / stiffness) / stiff)
    return shortest


def _reduced(a: float, b: float) -> float:
    """A b / (a + b), also where one or both are infinite."""
    inverse = 1 / float(a) + 1 / float(b)
    return 1 / inverse if inverse > 0 else math.inf


def _harmonic(a: float | None, b: float | None) -> float:
    assert a is not None
    assert b is not None
    return 2 * a * (b / (a + b))
