"""Every decision against the oracle, on every kind of case."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from impinge import exact
from impinge.exact._wide import orient2d_wide, orient3d_wide

from . import naive
from .cases import KINDS, QUESTIONS, answers, expected, generate, run


@pytest.mark.parametrize("kind", KINDS)
def test_all_questions(kind):
    points = generate(kind, 60 if kind == "extreme" else 200, seed=1)
    for question, mine, true in zip(QUESTIONS, answers(points), expected(points), strict=True):
        wrong = [i for i, (m, t) in enumerate(zip(mine, true, strict=True)) if m != t]
        assert not wrong, f"{question}: {points[wrong[0]].tolist()}"


@pytest.mark.parametrize("kind", KINDS)
def test_wide_integers_alone(kind):
    """The last resort is right wherever it is not needed, too."""
    for case in generate(kind, 50, seed=2).tolist():
        p, _, a, b, c = naive.integers(case)
        fp, _, fa, fb, fc = case
        assert orient3d_wide(*fa, *fb, *fc, *fp) == naive.orient3d(a, b, c, p)
        assert orient2d_wide(*fa[:2], *fb[:2], *fc[:2]) == naive.orient2d(a, b, c)


@pytest.mark.parametrize("kind", KINDS)
def test_oracle_against_fractions(kind):
    """Scaling to integers changes no sign."""
    for case in generate(kind, 50, seed=3).tolist():
        p, _, a, b, c = naive.integers(case)
        fp, _, fa, fb, fc = [[Fraction(x) for x in point] for point in case]
        assert naive.orient3d(a, b, c, p) == naive.orient3d(fa, fb, fc, fp)
        assert naive.point_in_triangle(p, a, b, c) == naive.point_in_triangle(fp, fa, fb, fc)


def test_all_branches_are_met():
    """The kinds bring out every answer of every question, and many exact ties."""
    columns = [expected(generate(kind, 200, seed=4)) for kind in ("lattice", "coplanar", "collinear")]
    for i, values in enumerate([{-1, 0, 1}] * 3 + [{False, True}] * 2 + [{-1, 0, 1, 2}]):
        assert set().union(*(column[i] for column in columns)) == values


def test_run_reports():
    outcome = run(28, seed=5)
    assert outcome["cases"] == 28 == sum(kind["cases"] for kind in outcome["kinds"].values())
    assert outcome["wrong"] == 0


def test_in_threads():
    """All stages, the wide integers included, keep their work arrays apart."""
    points = np.concatenate([generate(kind, 50, seed=6) for kind in ("coplanar", "extreme", "huge")])
    right = [naive.orient3d(*naive.integers(case[:4])) for case in points.tolist()]
    many = [np.ascontiguousarray(np.tile(points[:, i], (20, 1))) for i in range(4)]
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda _: exact.orient3d(*many), range(4)):
            assert found.tolist() == right * 20
