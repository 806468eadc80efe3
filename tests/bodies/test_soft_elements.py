"""Elastic parts of cables and cloth: derivatives, positive Hessians, their pattern, laws of conservation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.spatial.transform import Rotation

from impinge import _jit
from impinge.bodies.soft.cable import cable_parts
from impinge.bodies.soft.cloth import cloth_parts
from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.parts import NOTHING, Membranes, Parts, Springs, join
from impinge.errors import InputError

from .soft_bodies import CABLE, CLOTH, Floats, sheet
from .soft_parts import ELEMENTS, PARTS, REST, deformed, naive_energies


def naive_gradient(parts: Parts, x: Floats) -> Floats:
    """By complex steps: exact but for rounding."""
    gradient = np.empty_like(x)
    for at in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[at] += 1e-30j
        gradient[at] = sum(naive_energies(parts, moved)).imag / 1e-30
    return gradient


def differences(elements: Elements, x: Floats, step: float = 1e-6) -> Floats:
    """The true Hessian, by differences of the gradient."""
    columns = []
    for at in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[at] = step
        columns.append((elements.gradient(x + d) - elements.gradient(x - d)).ravel() / (2 * step))
    return np.array(columns)


def dense(elements: Elements, x: Floats) -> Floats:
    size = 3 * elements.count
    matrix = sparse.csc_array((elements.hessian(x), elements.indices, elements.indptr), shape=(size, size))
    return matrix.toarray()


def assert_positive(matrix: Floats) -> None:
    assert np.array_equal(matrix, matrix.T)
    values = np.linalg.eigvalsh(matrix)
    assert values[0] >= -1e-13 * max(values[-1], 1e-300)


# Derivatives


@pytest.mark.parametrize("size", [0.0, 0.1, 1.0, 30.0])
def test_energies_and_gradients_are_those_of_the_formulas(size):
    x = deformed(REST, 1, size)
    assert np.allclose(ELEMENTS.energies(x), naive_energies(PARTS, x), rtol=1e-12, atol=0)
    assert ELEMENTS.energy(x) == pytest.approx(sum(naive_energies(PARTS, x)), rel=1e-12)
    expected = naive_gradient(PARTS, x)
    assert np.allclose(ELEMENTS.gradient(x), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_hessian_is_exact_under_tension():
    """Three times the size and a little shear: all tense, and tension prevails."""
    x, faces = sheet(5, 4)
    parts = join([cloth_parts(x, faces, **CLOTH), cable_parts(x[:6] + [0, 0, 1], closed=True, **CABLE)])
    elements = Elements(parts)
    x = 3 * deformed(np.concatenate([x, x[:6] + [0, 0, 1]]), 2, 0.01)
    strains = elements.strains(x)
    tension = 80 * 50 * (1 - 1 / (1 + strains.warp)) * (1 - 1 / (1 + strains.weft))
    assert min(strains.edges.min(), strains.warp.min(), strains.weft.min()) > 0
    assert (tension > (30 * strains.shear) ** 2).all()
    assert np.abs(strains.shear).max() > 0.1
    expected = differences(elements, x)
    assert np.allclose(dense(elements, x), expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [0.01, 0.3, 3.0])
def test_hessian_is_never_less_than_the_true_one(seed, size):
    """What is left out is negative: the difference to the true Hessian has no negative eigenvalue."""
    x = deformed(REST, seed, size)
    more = dense(ELEMENTS, x) - differences(ELEMENTS, x, 1e-5 * size)
    assert np.linalg.eigvalsh(more)[0] >= -1e-6 * np.abs(more).max()


@given(arrays(np.float64, (2, 3), elements=st.sampled_from([-1.2, -0.6, 0.0, 0.3, 0.9, 1.5, 2.0])))
def test_no_more_of_the_hessian_of_membranes_is_left_out_than_has_to_be(columns):
    """What stretch gives, and of what is left beside it the nearest matrix without negative eigenvalues."""
    u, v = columns
    flat = np.array([[[0.0, 0], [1, 0], [0, 1]]])
    membranes = Membranes(np.array([[0, 1, 2]], np.int32), flat, np.array([[6.0, 4.0, 3.0]]))
    elements = Elements(NOTHING._replace(masses=np.ones(3), membranes=membranes))
    threads, sides = [], []
    for column, k in ((u, 6.0), (v, 4.0)):
        length = np.linalg.norm(column)
        side = k * max(1 - 1 / length, 0) if length > 0 else k
        sides.append(side)
        threads.append((k - side) * np.outer(column, column) / max(length, 1e-9) ** 2)
    values, vectors = np.linalg.eigh([[sides[0], 3 * u @ v], [3 * u @ v, sides[1]]])
    beside = (vectors * np.maximum(values, 0)) @ vectors.T
    zero, both = np.zeros((3, 3)), np.concatenate([v, u])
    expected = np.block([[threads[0], zero], [zero, threads[1]]]) + np.kron(beside, np.eye(3))
    expected += 3 * np.outer(both, both)
    found = dense(elements, np.array([0 * u, u, v]))[3:, 3:]  # by the corners 1 and 2, which are u and v
    assert np.allclose(found, 0.5 * expected, rtol=1e-12, atol=1e-12)


def test_hessian_of_slack_cloth_keeps_the_positive_part_of_shear():
    """With c = Fᵤ·Fᵥ and nothing else, what is kept of c [0 1; 1 0] is |c|/2 [1 s; s 1], s its sign."""
    flat = np.array([[[0.0, 0], [1, 0], [0, 1]]])
    membranes = Membranes(np.array([[0, 1, 2]], np.int32), flat, np.array([[0.0, 0.0, 2.0]]))
    elements = Elements(NOTHING._replace(masses=np.ones(3), membranes=membranes))
    for c in (0.5, -0.5):
        u, v = np.array([1.0, 0, 0]), np.array([c, 0.7, 0])
        both = np.concatenate([v, u])
        kept = np.outer(both, both) + 0.5 * abs(c) * np.kron([[1, np.sign(c)], [np.sign(c), 1]], np.eye(3))
        found = dense(elements, np.array([0 * u, u, v]))[3:, 3:]  # by the corners 1 and 2, which are u and v
        assert np.allclose(found, 2.0 * 0.5 * kept, rtol=1e-14, atol=1e-14)


# Positive Hessians

DEGENERATE = {
    "in one point": 0 * REST,
    "far from all": 0 * REST + [1e6, -1e6, 1e5],
    "on a line": REST * [1, 0, 0],
    "in a plane": REST * [1, 1, 0],
    "mirrored": -REST,
    "small": 1e-3 * REST,
    "almost nothing": 1e-105 * REST,
    "less still": 1e-170 * REST,
    "large": 1e5 * REST,
    "two in one": REST[np.arange(len(REST)) // 2 * 2],
    "shuffled": np.random.default_rng(0).permutation(REST),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_positions_have_positive_hessians(name):
    x = DEGENERATE[name]
    assert np.isfinite(ELEMENTS.gradient(x)).all()
    assert np.isfinite(ELEMENTS.energy(x))
    assert_positive(dense(ELEMENTS, x))


@given(arrays(np.int8, REST.shape, elements=st.integers(-2, 2)), st.sampled_from([1e-3, 0.2, 1.0, 50.0]))
def test_hessians_on_lattices_are_positive(places, size):
    """Many equal, collinear and coplanar nodes."""
    x = size * places.astype(np.float64)
    assert_positive(dense(ELEMENTS, x))
    assert np.allclose(ELEMENTS.energies(x), naive_energies(PARTS, x), rtol=1e-11, atol=1e-12)


def test_collapsed_spring_keeps_its_stiffness():
    springs = Springs(np.array([[0, 1]], np.int32), np.array([7.0]), np.array([2.0]))
    elements = Elements(NOTHING._replace(masses=np.ones(2), springs=springs))
    x = np.ones((2, 3))
    assert elements.energy(x) == 14.0
    assert not elements.gradient(x).any()
    assert np.array_equal(dense(elements, x), 7 * np.kron([[1, -1], [-1, 1]], np.eye(3)))


def test_positions_that_are_no_numbers_are_no_energy():
    x = REST.copy()
    x[3, 1] = np.nan
    assert np.isnan(ELEMENTS.energy(x))


# Pattern


def test_pattern_is_that_of_all_elements():
    adjacent = np.eye(len(REST), dtype=bool)
    for kind in (PARTS.springs, PARTS.bends, PARTS.membranes, PARTS.hinges):
        for nodes in kind.nodes:
            adjacent[np.ix_(nodes, nodes)] = True
    expected = sparse.csc_array(np.kron(adjacent, np.ones((3, 3))))
    assert np.array_equal(ELEMENTS.indptr, expected.indptr)
    assert np.array_equal(ELEMENTS.indices, expected.indices)
    assert ELEMENTS.indptr.dtype == ELEMENTS.indices.dtype == np.int32
    columns = np.repeat(np.arange(3 * len(REST)), np.diff(ELEMENTS.indptr))
    assert np.array_equal(np.flatnonzero(columns == ELEMENTS.indices), ELEMENTS.diagonal)


def test_nodes_without_elements_have_a_block():
    elements = Elements(NOTHING._replace(masses=np.ones(2)))
    assert np.array_equal(dense(elements, np.ones((2, 3))), np.zeros((6, 6)))
    assert len(elements.indices) == 18
    assert elements.energy(np.ones((2, 3))) == 0
    none = Elements(NOTHING)
    assert none.hessian([]).shape == (0,)
    assert none.gradient([]).shape == (0, 3)
    assert none.indptr.tolist() == [0]


def test_results_go_where_they_are_wanted():
    out, data = np.empty_like(REST), np.empty(len(ELEMENTS.indices))
    assert ELEMENTS.gradient(REST, out) is out
    assert ELEMENTS.hessian(REST, data) is data
    with pytest.raises(InputError, match=r"out: found float64 of shape \(21, 2\)"):
        ELEMENTS.gradient(REST, out[:, :2])
    with pytest.raises(InputError, match="data: found float32"):
        ELEMENTS.hessian(REST, data.astype(np.float32))
    with pytest.raises(InputError, match="x: found 20 rows, expected 21"):
        ELEMENTS.energy(REST[1:])


def test_threads_change_no_bit():
    x, faces = sheet(70, 60)
    elements = Elements(join([cloth_parts(x, faces, **CLOTH), cable_parts(x, **CABLE)]))
    x = deformed(np.concatenate([x, x]), 3, 0.02)

    def results() -> list[Any]:
        return [*elements.energies(x), elements.gradient(x), elements.hessian(x), *elements.strains(x)]

    with _jit.threads(1):
        expected = results()
    for _ in range(3):
        with _jit.threads(None):
            for one, other in zip(expected, results(), strict=True):
                assert np.array_equal(one, other)


# Laws of conservation


@pytest.mark.parametrize("size", [0.1, 1.0, 30.0])
def test_no_net_force_and_no_net_torque(size):
    x = deformed(REST, 4, size)
    force = -ELEMENTS.gradient(x)
    assert np.abs(force.sum(axis=0)).max() < 1e-13 * np.abs(force).sum()
    assert np.abs(np.cross(x, force).sum(axis=0)).max() < 1e-13 * np.abs(force).sum() * np.abs(x).max()


def test_moves_of_all_change_no_bit():
    """Positions whose differences have no rounding: far away all is the same."""
    x = np.round(deformed(REST, 5, 0.3) * 1024) / 1024
    far = x + [4096.0, -8192.0, 16384.0]
    assert ELEMENTS.energies(x) == ELEMENTS.energies(far)
    assert np.array_equal(ELEMENTS.gradient(x), ELEMENTS.gradient(far))
    assert np.array_equal(ELEMENTS.hessian(x), ELEMENTS.hessian(far))


def test_turns_of_all_change_no_energy():
    x, turn = deformed(REST, 6, 0.3), Rotation.from_rotvec([1, 2, 3]).as_matrix()
    assert np.allclose(ELEMENTS.energies(x @ turn.T), ELEMENTS.energies(x), rtol=1e-12)
    assert np.allclose(ELEMENTS.gradient(x @ turn.T), ELEMENTS.gradient(x) @ turn.T, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", ["grid", "alternating", "equilateral"])
def test_nothing_happens_at_rest(kind):
    """Anywhere in space; and no stiffness against small turns."""
    x, faces = sheet(6, 7, 1.3, 0.9, kind)
    line = np.outer(np.cumsum([0.0, 1, 2, 0.5]), [0.6, 0, 0.8])
    parts = join([cloth_parts(x, faces, **CLOTH, warp=[1, 0.3, 0]), cable_parts(line, **CABLE)])
    elements, turn = Elements(parts), Rotation.from_rotvec([1, 2, 3]).as_matrix()
    x = np.concatenate([x, line]) @ turn.T + [1, 2, 3]
    assert elements.energy(x) < 1e-26
    assert np.abs(elements.gradient(x)).max() < 1e-12
    assert max(np.abs(strain).max() for strain in elements.strains(x)) < 1e-14
    turning = np.cross([1.0, -2.0, 0.5], x).ravel()
    assert np.abs(dense(elements, x) @ turning).max() < 1e-10
