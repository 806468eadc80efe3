"""Polynomials with integer coefficients and their real roots in [0, 1], exactly.

A polynomial is the list of its coefficients, lowest power first and without zeros at the end; the zero polynomial is
the empty list. All numbers are Python integers, so nothing is ever rounded.

Roots are isolated by bisection and Descartes' rule of signs: write a polynomial of degree n on an interval as
sum c_j s^j (1 − s)^(n − j) with s from 0 to 1. The number of sign changes among the c_j, zeros left out, is the number
of roots in the open interval, counted with multiplicity, or larger by an even number. So no change means no root, and
one change means exactly one root, a simple one. Bisection gets there if all roots are simple.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, pairwise, zip_longest

Poly = list[int]

# Common factors are expensive and seldom there: they are asked for only if this many refinements decided nothing.
_PATIENCE = 3


def _trimmed(p: Poly) -> Poly:
    while p and p[-1] == 0:
        p.pop()
    return p


def plus(p: Poly, q: Poly) -> Poly:
    """The sum p + q."""
    return _trimmed([a + b for a, b in zip_longest(p, q, fillvalue=0)])


def minus(p: Poly, q: Poly) -> Poly:
    """The difference p − q."""
    return _trimmed([a - b for a, b in zip_longest(p, q, fillvalue=0)])


def times(p: Poly, q: Poly) -> Poly:
    """The product p q."""
    if not p or not q:
        return []
    result = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q, i):
            result[j] += a * b
    return result


def derivative(p: Poly) -> Poly:
    """The derivative dp/dt."""
    return [i * a for i, a in enumerate(p)][1:]


def value(p: Poly, t: Fraction) -> Fraction:
    """The number p(t)."""
    result = Fraction(0)
    for a in reversed(p):
        result = result * t + a
    return result


def gcd(p: Poly, q: Poly) -> Poly:
    """The greatest common divisor of p and q, with coprime coefficients: its roots are the common roots."""
    while q:
        p, q = q, _primitive(_remainder(p, q))
    return _primitive(p)


def _primitive(p: Poly) -> Poly:
    content = math.gcd(*p)
    return [a // content for a in p]


def _remainder(p: Poly, q: Poly) -> Poly:
    """The remainder of some multiple of p, by a number that is not 0, divided by q."""
    p = list(p)
    while len(p) >= len(q):
        common = math.gcd(p[-1], q[-1])
        by_p, by_q = q[-1] // common, p[-1] // common
        offset = len(p) - len(q)
        p = [by_p * a for a in p]
        for i, b in enumerate(q, offset):
            p[i] -= by_q * b
        _trimmed(p)
    return p


def squarefree(p: Poly) -> Poly:
    """The polynomial that has the roots of p, complex ones too, each once; p is not zero."""
    divisor = gcd(p, derivative(p))
    rest, quotient = list(p), [0] * (len(p) - len(divisor) + 1)
    # All these divisions are exact: a divisor with coprime coefficients leaves an integer quotient (Gauss).
    for i in reversed(range(len(quotient))):
        quotient[i] = rest[i + len(divisor) - 1] // divisor[-1]
        for j, b in enumerate(divisor, i):
            rest[j] -= quotient[i] * b
    return quotient


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def sign_at(p: Poly, place: int, bits: int) -> int:
    """The sign of p at place / 2^bits."""
    result, shift = 0, 0
    for a in reversed(p):
        result = result * place + (a << shift)
        shift += bits
    return _sign(result)


def _zoomed(p: Poly, place: int, bits: int) -> Poly:
    """A positive multiple of p((place + s) / 2^bits) as a polynomial in s."""
    degree = len(p) - 1
    q = [a << bits * (degree - i) for i, a in enumerate(p)]
    return _moved(q, place) if place else q


def _moved(p: Poly, by: int) -> Poly:
    """p(s + by), by Horner's scheme."""
    q = list(p)
    for i in range(len(q) - 1):
        for j in reversed(range(i, len(q) - 1)):
            q[j] += by * q[j + 1]
    return q


def _bernstein(p: Poly) -> list[int]:
    """The c_j in p(s) = sum c_j s^j (1 − s)^(n − j); the first and the last are p(0) and p(1).

    With x = (1 − s) / s they are the coefficients of (1 + x)^n p(1 / (1 + x)), backwards.
    """
    return _moved(p[::-1], 1)[::-1]


def _changes(numbers: list[int]) -> int:
    """The number of sign changes in a sequence, zeros left out."""
    positive = [number > 0 for number in numbers if number]
    return sum(a != b for a, b in pairwise(positive))


def certain_sign(p: Poly) -> int:
    """1 or -1 if p is certainly of this sign everywhere in the closed [0, 1]; 0 if that is not known."""
    coefficients = _bernstein(p)
    if not coefficients or not coefficients[0] or not coefficients[-1] or _changes(coefficients):
        return 0
    return _sign(coefficients[0])


@dataclass(slots=True)
class Root:
    """A root of ``poly`` in [0, 1].

    If ``exact``, it is place / 2^bits. Otherwise it is the only root of ``poly`` in the open interval from
    place / 2^bits to (place + 1) / 2^bits, a simple one, and ``left`` is the sign of ``poly`` between the interval's
    left end and the root. The interval gets narrower with use.
    """

    poly: Poly
    place: int
    bits: int
    exact: bool
    left: int = 0

    def narrow(self, bits: int) -> None:
        """Make the interval at most 2^−bits wide."""
        while not self.exact and self.bits < bits:
            self.bits += 1
            self.place *= 2
            sign = sign_at(self.poly, self.place + 1, self.bits)
            self.exact = sign == 0
            self.place += sign in (0, self.left)

    def bounds(self) -> tuple[Fraction, Fraction]:
        """The interval's ends; equal if the root is exact."""
        size = 1 << self.bits
        return Fraction(self.place, size), Fraction(self.place + (not self.exact), size)

    def is_root_of(self, p: Poly) -> bool:
        """Whether p is zero here, for an interval that holds no other root of ``poly``."""
        if self.exact:
            return sign_at(p, self.place, self.bits) == 0
        # The divisor has no root in the interval, or this one, a simple one: Descartes' count is even, or odd.
        divisor = gcd(self.poly, p)
        return _changes(_bernstein(_zoomed(divisor, self.place, self.bits))) % 2 == 1

    def sign_of(self, p: Poly) -> int:
        """The sign of p here."""
        for attempt in count():
            if self.exact:
                return sign_at(p, self.place, self.bits)
            coefficients = _bernstein(_zoomed(p, self.place, self.bits))
            if not _changes(coefficients):  # then p has no root in the open interval, if it is not zero
                return next((_sign(c) for c in coefficients if c), 0)
            if attempt == _PATIENCE and self.is_root_of(p):
                return 0
            self.narrow(self.bits + (4 << attempt))
        raise AssertionError("unreachable")

    def order(self, other: Root) -> int:
        """-1, 0 or 1: this root is smaller than the other, the same number, or larger."""
        for attempt in count():
            (lo, hi), (other_lo, other_hi) = self.bounds(), other.bounds()
            if self.exact and other.exact:
                return (lo > other_lo) - (lo < other_lo)
            if hi <= other_lo:  # strictly smaller, as one of the two at least is inside its interval
                return -1
            if other_hi <= lo:
                return 1
            # Two such intervals that overlap are one inside the other: a common root is in the narrower one.
            if attempt == _PATIENCE and not (self.exact or other.exact):
                inner, outer = (self, other) if self.bits >= other.bits else (other, self)
                if inner.is_root_of(outer.poly):
                    return 0
            bits = max(self.bits, other.bits) + (4 << attempt)
            self.narrow(bits)
            other.narrow(bits)
        raise AssertionError("unreachable")


def roots(p: Poly) -> Iterator[Root]:
    """All roots of p in [0, 1], each once, smallest first; p is not zero."""
    if p[0] == 0:
        yield Root(p, 0, 0, exact=True)
    if _changes(_bernstein(p)) > 1:
        p = squarefree(p)
    # Intervals still to do, the leftmost on top: p on it, place, bits. An empty p stands for a root that was found.
    todo = [(p, 0, 0)]
    while todo:
        q, place, bits = todo.pop()
        if not q:
            yield Root(p, place, bits, exact=True)
            continue
        coefficients = _bernstein(q)
        changes = _changes(coefficients)
        if changes == 1:
            yield Root(p, place, bits, exact=False, left=next(_sign(c) for c in coefficients if c))
        elif changes > 1:
            left = _zoomed(q, 0, 1)
            right = _moved(left, 1)
            todo.append((right, 2 * place + 1, bits + 1))
            if right[0] == 0:
                todo.append(([], 2 * place + 1, bits + 1))
            todo.append((left, 2 * place, bits + 1))
    if sum(p) == 0:
        yield Root(p, 1, 0, exact=True)
