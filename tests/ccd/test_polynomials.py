"""Roots, signs and common divisors against products of factors whose roots are known."""

from fractions import Fraction
from functools import cmp_to_key, reduce
from itertools import pairwise
from math import isqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.ccd.polynomials import (
    Root,
    certain_sign,
    derivative,
    gcd,
    minus,
    plus,
    roots,
    sign_at,
    squarefree,
    times,
    value,
)

# Rationals in and around [0, 1], often equal, often at the ends.
rationals = st.builds(Fraction, st.integers(-2, 9), st.sampled_from([1, 2, 3, 5, 7, 8]))
rational_lists = st.lists(rationals, max_size=6)
coefficients = st.lists(st.integers(-3, 3), max_size=6)


def trimmed(p):
    return minus(p, [])


def product(factors):
    return reduce(times, factors, [1])


def with_roots(numbers):
    return product([-r.numerator, r.denominator] for r in numbers)


def inside(numbers):
    return sorted({r for r in numbers if 0 <= r <= 1})


def holds(root, number):
    """Whether the interval of a root is one around the number."""
    lo, hi = root.bounds()
    return lo == number if root.exact else lo < number < hi


def sign(number):
    return (number > 0) - (number < 0)


@given(coefficients, coefficients, rationals)
def test_arithmetic(p, q, t):
    p, q = trimmed(p), trimmed(q)
    assert value(plus(p, q), t) == value(p, t) + value(q, t)
    assert value(minus(p, q), t) == value(p, t) - value(q, t)
    assert value(times(p, q), t) == value(p, t) * value(q, t)
    assert value(derivative(times(p, q)), t) == (
        value(derivative(p), t) * value(q, t) + value(p, t) * value(derivative(q), t)
    )
    for result in (plus(p, q), minus(p, q), times(p, q), derivative(p)):
        assert not result or result[-1]
    assert minus(p, p) == []


@given(coefficients, st.integers(-20, 20), st.integers(0, 5))
def test_sign_at(p, place, bits):
    assert sign_at(p, place, bits) == sign(value(p, Fraction(place, 2**bits)))


@given(rational_lists, rational_lists, rational_lists, st.integers(1, 4))
def test_gcd(common, first, second, factor):
    p = times([factor], with_roots([r for r in first if r not in second]))
    q = with_roots(second)
    found = gcd(times(p, with_roots(common)), times(q, with_roots(common)))
    assert found in (with_roots(common), [-a for a in with_roots(common)])
    assert gcd(times([factor], q), []) in (q, [-a for a in q])
    assert gcd([], []) == []


@given(rational_lists, st.integers(1, 5))
def test_squarefree(numbers, factor):
    found = squarefree(times([factor], with_roots(numbers)))
    assert len(found) - 1 == len(set(numbers))
    assert all(value(found, r) == 0 for r in numbers)


@given(rational_lists, st.sampled_from([[1], [-3], [1, 0, 1], [1, -2, 2], [5, -2, 7]]))
def test_roots_of_products(numbers, rest):
    """Single and multiple roots, roots at 0 and 1, and factors without real roots."""
    wanted = inside(numbers)
    found = list(roots(times(with_roots(numbers), rest)))
    assert len(found) == len(wanted)
    for bits in (0, 3, 70):
        for root, number in zip(found, wanted, strict=True):
            root.narrow(bits)
            assert holds(root, number)
            assert root.exact or root.bits >= bits


def test_roots_that_are_very_close():
    near = Fraction(1, 3) + Fraction(1, 2**200)
    first, second = roots(with_roots([Fraction(1, 3), near]))
    assert holds(first, Fraction(1, 3))
    assert holds(second, near)
    assert first.order(second) == -1
    assert second.order(first) == 1
    assert second.sign_of([-1, 3]) == 1


def test_irrational_roots():
    (root,) = roots([-1, 0, 2])
    root.narrow(100)
    lo, hi = root.bounds()
    assert hi - lo == Fraction(1, 2**100)
    assert 2 * lo**2 < 1 < 2 * hi**2
    assert root.sign_of([-1, 0, 2]) == root.sign_of([1, 0, -4, 0, 4]) == root.sign_of([]) == 0
    assert root.sign_of([-7071067811865475, 10**16]) == 1
    assert root.sign_of([-7071067811865476, 10**16]) == -1
    near = Fraction(isqrt(2**399), 2**200)  # below the root by less than 2^-200
    assert root.sign_of([-near.numerator, near.denominator]) == 1
    assert root.sign_of([-near.numerator - 1, near.denominator]) == -1
    (same,) = roots([1, 0, -4, 0, 4])
    assert root.order(same) == same.order(root) == 0


@given(rational_lists, coefficients, st.booleans())
def test_sign_at_roots(numbers, p, shares):
    """The sign of any polynomial at each root, roots in common included."""
    p = trimmed(p)
    if shares and numbers:
        p = times(p, with_roots(numbers[:1]))
    for root, number in zip(roots(with_roots(numbers)), inside(numbers), strict=True):
        assert root.sign_of(p) == sign(value(p, number))
        assert root.is_root_of(p) == (value(p, number) == 0)


@given(rational_lists, rational_lists)
def test_order_of_roots(first, second):
    a = list(zip(roots(with_roots(first)), inside(first), strict=True))
    b = list(zip(roots(with_roots(second)), inside(second), strict=True))
    for root, number in a:
        for other, other_number in b:
            assert root.order(other) == sign(number - other_number)
    irrational = list(roots(times(with_roots(second), [-1, 0, 2])))
    ordered = sorted([*(root for root, _ in a), *irrational], key=cmp_to_key(Root.order))
    for root in ordered:
        root.narrow(64)
    assert all(left.bounds()[0] <= right.bounds()[0] for left, right in pairwise(ordered))


@given(coefficients)
def test_certain_sign(p):
    p = trimmed(p)
    certain = certain_sign(p)
    signs = {sign(value(p, Fraction(k, 16))) for k in range(17)}
    if certain:
        assert signs == {certain}
    if 0 in signs or len(signs) > 1:
        assert certain == 0


@pytest.mark.parametrize(("p", "wanted"), [([1], 1), ([-2], -1), ([], 0), ([0, 1], 0), ([1, -1], 0), ([1, 1, 1], 1)])
def test_certain_sign_examples(p, wanted):
    assert certain_sign(p) == wanted
