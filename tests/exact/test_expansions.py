"""Expansions are exact: their components add up to the value, without overlap."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.exact._expansions import (
    expansion_minor,
    expansion_scale,
    expansion_sum,
    fast_two_sum,
    two_difference,
    two_product,
    two_sum,
)

# Within the range in which products of products cannot underflow.
doubles = st.one_of(
    st.just(0.0),
    st.integers(-9, 9).map(float),
    st.builds(
        lambda mantissa, exponent: mantissa * 2.0**exponent,
        st.integers(-(2**53), 2**53).map(float),
        st.integers(-200, 200),
    ),
)


def value(components):
    return sum((Fraction(float(x)) for x in components), Fraction(0))


def assert_expansion(components, exact_value):
    assert value(components) == exact_value
    nonzero = [abs(x) for x in components if x]
    assert nonzero == sorted(nonzero)
    # The last component gives the sign: all others together are smaller.
    if nonzero:
        assert abs(value(components[:-1])) < abs(Fraction(float(components[-1])))


@given(doubles, doubles)
def test_pairs(a, b):
    left, right = Fraction(a), Fraction(b)
    assert value(two_sum(a, b)) == left + right
    assert value(two_difference(a, b)) == left - right
    assert value(two_product(a, b)) == left * right
    large, small = (a, b) if abs(a) >= abs(b) else (b, a)
    assert value(fast_two_sum(large, small)) == left + right
    assert two_sum(a, b)[0] == a + b
    assert two_product(a, b)[0] == a * b


@settings(max_examples=200)
@given(*[doubles] * 9)
def test_sums_and_products(ax, ay, bx, by, cx, cy, dx, dy, factor):
    e, f, h = np.empty(8), np.empty(8), np.empty(40)
    e_count = expansion_minor(ax, ay, bx, by, e)
    f_count = expansion_minor(cx, cy, dx, dy, f)
    first = Fraction(ax) * Fraction(by) - Fraction(bx) * Fraction(ay)
    second = Fraction(cx) * Fraction(dy) - Fraction(dx) * Fraction(cy)
    assert value(e[:e_count]) == first
    count = expansion_sum(e, e_count, f, f_count, h)
    assert_expansion(h[:count], first + second)
    count = expansion_scale(e, e_count, factor, h)
    assert_expansion(h[:count], first * Fraction(factor))
    assert count == 1 or all(h[:count])
