"""The judge of soft runs, against exact brute force and worlds that are made to go wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from impinge import ccd
from impinge.run.soft import SoftWorld

from . import softjudge
from .softworlds import CABLE, CLOTH, FLOOR, busy_world, ring


def motions(count: int, seed: int) -> tuple[Any, Any]:
    """Four points each, at random or on whole numbers, where much is in one plane, from near each other to far."""
    rng = np.random.default_rng(seed)
    x0, x1 = rng.uniform(-1, 1, (2, 4 * count, 3))
    x0[: 2 * count] = np.round(2 * x0[: 2 * count])
    x1[: 2 * count] = np.round(2 * x1[: 2 * count])
    aside = np.zeros((count, 4, 3))
    aside[:, -1] = aside[:, -2] = rng.uniform(0, 1, (count, 1)) * rng.normal(size=(count, 3))
    return x0 + aside.reshape(-1, 3), x1 + aside.reshape(-1, 3)


@pytest.mark.parametrize("split", [1, 2])
def test_pairs_that_are_decided_without_the_exact_judge_are_free(split: int) -> None:
    count = 1500
    x0, x1 = motions(count, split)
    corners = np.arange(4 * count, dtype=np.int32).reshape(-1, 4)
    parted = softjudge.parted(x0, x1, corners, split)
    free = np.array([softjudge.Pair(four, split).is_free(x0, x1) for four in corners])
    assert not (parted & ~free).any()
    assert 0.5 * free.sum() < parted.sum() < free.sum()
    assert free.sum() < 0.95 * count


@pytest.mark.parametrize("seed", range(40))
def test_whole_motions_are_judged_as_by_exact_brute_force(seed: int) -> None:
    """Triangles and edges, the last two triangles of obstacles, small ones in some and large ones in others."""
    rng = np.random.default_rng(seed)
    faces = np.arange(12, dtype=np.int32).reshape(4, 3)
    edges = np.concatenate([np.arange(12, 24).reshape(6, 2), ccd.edges_of(faces)]).astype(np.int32)
    middle = np.append(
        np.repeat(rng.uniform(-1, 1, (4, 3)), 3, axis=0), np.repeat(rng.uniform(-1, 1, (6, 3)), 2, axis=0)
    )
    x0, x1 = middle.reshape(-1, 3) + (0.1 + 0.01 * seed) * rng.uniform(-1, 1, (2, 24, 3))
    order = np.argsort(np.append(np.repeat([0, 0, 9, 9], 3), np.full(12, 1)), kind="stable")  # obstacles last
    place = np.argsort(order).astype(np.int32)
    x0, x1, edges, faces = x0[order], x1[order], place[edges], place[faces]
    labels = np.append(np.arange(1, 19), np.zeros(6, int))
    left = softjudge.undecided(x0, x1, edges, faces, 18)
    assert all(pair.is_free(x0, x1) for pair in left) == ccd.exact_is_free(x0, x1, edges, faces, bodies=labels)


def test_pairs_that_only_just_miss_are_left_to_the_exact_judge() -> None:
    """A vertex that ends a unit in the last place above, in or below the plane of a face that is not along the axes."""
    faces = np.array([[0, 1, 2]], np.int32)
    start = np.array([[0, 0, 1], [1, 0, 0.7], [0, 1, 0.6], [0.25, 0.25, 3.0]])
    for away in range(-2, 3):
        end = start.copy()
        end[3, 2] = 0.825 + away * np.spacing(0.825)
        (pair,) = softjudge.undecided(start, end, np.empty((0, 2), np.int32), faces, 4)
        assert pair.is_free(start, end) == ccd.exact_is_free(start, end, faces=faces)
        assert pair.is_free(start, end) == (away > 0)


def test_a_busy_world_is_free() -> None:
    judge = softjudge.Judge(busy_world()).run(12)
    assert judge.failures == []
    assert judge.looks == 12


def crossed(x: Any, cable: bool = True) -> softjudge.Judge:
    """A world whose nodes are put somewhere else behind its back."""
    world = SoftWorld(gravity=(0, 0, 0))
    world.add_cable(ring(8, 0.1, 0.2), closed=True, **CABLE)
    if cable:
        world.add_cable(ring(8, 0.1, 0.3), closed=True, **CABLE)
    world.add_obstacle(FLOOR)
    judge = softjudge.Judge(world)
    assert judge.failures == []
    world._x = world._x + np.asarray(x)[: len(world._x)]
    judge.look()
    return judge


def test_what_meets_on_the_way_is_found_though_the_end_is_clean() -> None:
    through = np.zeros((16, 3))
    through[8:, 2] = -0.2  # the upper ring, of equal size, ends below the lower one
    judge = crossed(through)
    assert any("meet on the way" in failure for failure in judge.failures)
    assert not any("pass through" in failure for failure in judge.failures)


def test_what_intersects_at_the_end_is_found() -> None:
    into_the_floor = np.zeros((16, 3))
    into_the_floor[0, 2] = -0.3
    judge = crossed(into_the_floor)
    assert any("pass through each other" in failure for failure in judge.failures)


def test_obstacles_may_pass_through_each_other() -> None:
    world = SoftWorld(gravity=(0, 0, 0))
    world.add_cloth(([[0, 0, 1], [1, 0, 1], [0, 1, 1]], [[0, 1, 2]]), **CLOTH)
    for angle in (0.0, 0.5):
        turn = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
        world.add_obstacle(FLOOR.transformed(turn))
    assert softjudge.Judge(world).run(2).failures == []


def test_linked_rings_that_come_apart_are_found() -> None:
    turned = ring(8, 0.1, 0.0)[:, [0, 2, 1]] + [0.1, 0, 0]
    there = softjudge.linking_number(ring(8, 0.1, 0.0), turned)
    assert abs(there) == pytest.approx(1, abs=1e-12)
    assert softjudge.linking_number(turned, ring(8, 0.1, 0.0)) == pytest.approx(there, abs=1e-12)
    assert softjudge.linking_number(ring(8, 0.1, 0.0), turned[::-1]) == pytest.approx(-there, abs=1e-12)
    assert softjudge.linking_number(ring(8, 0.1, 0.0), turned + [0.5, 0, 0]) == pytest.approx(0, abs=1e-12)
    world = SoftWorld(gravity=(0, 0, 0))
    for x in (ring(8, 0.1, 0.0), turned):
        world.add_cable(x, closed=True, **CABLE)
    judge = softjudge.Judge(world)
    world._x = world._x + np.repeat([[0, 0, 0], [0.5, 0, 0]], 8, axis=0)
    judge.look()
    assert any("linking numbers" in failure for failure in judge.failures)


def test_a_double_link_counts_twice() -> None:
    """A ring, and a cable that winds twice around it."""
    angle = np.linspace(0, 4 * np.pi, 40, endpoint=False)
    spiral = np.column_stack(
        [1 + 0.3 * np.cos(angle), 0.05 * np.sin(0.5 * angle), 0.3 * np.sin(angle) * (1 + 0.1 * np.cos(0.5 * angle))]
    )
    assert abs(softjudge.linking_number(ring(30, 1.0, 0.0), spiral)) == pytest.approx(2, abs=1e-12)
