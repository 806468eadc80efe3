"""The worked examples and the estimate of the paper on neighbour searches [Muth2007b]."""

from __future__ import annotations

import numpy as np
import pytest

import impinge
from impinge.broad import cell_tests, cell_tests_random
from impinge.broad.methods import Settings, cells
from impinge.broad.space import Bodies, spheres
from impinge.errors import InputError


def bodies_of(centres: object, radii: object, box: object = None) -> Bodies:
    return spheres(centres, radii, 0.0, box, False)  # type: ignore[arg-type]


def test_verlet_lists_of_figure_1() -> None:
    """Five particles, of whose ten pairs the lists keep four."""
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [6.0, 3.0], [3.0, 4.5], [14.0, 14.0]])
    search = impinge.NeighborSearch("verlet", all_pairs=True, zone_radius=4.6)
    near = search.update(centres, 1.0)
    assert search.statistics.tests == 10
    assert len(near) == 4
    assert near.pairs.tolist() == [[0, 1], [1, 2], [1, 3], [2, 3]]  # each in the list of its lower number only


def test_linked_cells_of_figures_2_and_3() -> None:
    """Six in a cell, nine in the four neighbours that are looked at: 14 candidates of the first, 9 of the last."""
    rng = np.random.default_rng(1)
    own = rng.uniform(0.1, 0.9, (6, 2)) + [1, 0]
    others = [
        rng.uniform(0.1, 0.9, (n, 2)) + place for n, place in ((2, (2, 0)), (2, (0, 1)), (3, (1, 1)), (2, (2, 1)))
    ]
    centres = np.concatenate([own, *others])
    cell = np.floor(centres).astype(int)
    candidates = np.abs(cell[:, None] - cell[None]).max(axis=2) <= 1
    counts = np.triu(candidates, 1).sum(axis=1)
    assert (counts[0], counts[1], counts[5]) == (14, 13, 9)
    result = cells(bodies_of(centres, 0.05, [3.0, 2.0]), 0.0, Settings(cell_size=1.0))
    assert result.tests == counts.sum()
    assert result.cell_sizes == pytest.approx((1.0,), rel=1e-5)


@pytest.mark.parametrize("dimension", [2, 3])
def test_number_of_cells_looked_at(dimension: int) -> None:
    """(3^d + 1) / 2 cells: one particle per cell has (3^d − 1) / 2 candidates away from walls."""
    m = 8
    places = np.stack(np.meshgrid(*[np.arange(m)] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    result = cells(bodies_of(places + 0.5, 0.01, [float(m)] * dimension), 0.0, Settings(cell_size=1.0))
    inner = (3**dimension - 1) / 2 * m**dimension
    assert result.tests == ((3 * m - 2) ** dimension - m**dimension) / 2  # all neighbours, less those beyond walls
    assert result.tests < inner


@pytest.mark.parametrize(("dimension", "cells_per_axis", "per_cell"), [(2, 10, 3), (2, 30, 1), (3, 8, 3), (3, 16, 1)])
def test_estimates_against_counts(dimension: int, cells_per_axis: int, per_cell: int) -> None:
    """FACTS 3.5: (3) is off by walls and by chance, the corrected one is not."""
    m, n = cells_per_axis, per_cell * cells_per_axis**dimension
    rng = np.random.default_rng(2)
    counted = []
    for _ in range(10):
        centres = rng.random((n, dimension)) * m
        counted.append(cells(bodies_of(centres, 0.4, [float(m)] * dimension), 0.0, Settings(cell_size=1.0)).tests)
    assert np.mean(counted) == pytest.approx(cell_tests_random(n, m, dimension), rel=0.03)
    assert 0.75 < np.mean(counted) / cell_tests(n, m, dimension) < 1.2


def test_estimates_in_a_periodic_box() -> None:
    rng = np.random.default_rng(3)
    m, n = 10, 1500
    counted = []
    for _ in range(5):
        cell = rng.integers(0, m, (n, 2))
        d = np.abs(cell[:, None] - cell[None])
        near = (np.minimum(d, m - d) <= 1).all(axis=2)
        counted.append(np.triu(near, 1).sum())
    assert np.mean(counted) == pytest.approx(cell_tests_random(n, m, 2, periodic=True), rel=0.02)
    assert cell_tests(244, 6, 2) == pytest.approx((9 * (244 / 36) ** 2 / 2 - 244 / 72) * 36)


def test_bad_estimates() -> None:
    with pytest.raises(InputError, match="cells: found 0"):
        cell_tests(10, 0)
    with pytest.raises(InputError, match="dimension: found 4"):
        cell_tests_random(10, 3, 4)
