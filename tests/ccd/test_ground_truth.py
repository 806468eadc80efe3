"""The public benchmark: handcrafted queries, and frames of two simulations."""

import csv
import json
from functools import cache

import numpy as np
import pytest
import trimesh

from impinge import ccd
from impinge.ccd.judge import first_time

from .naive import DATA, ground_truth
from .truth import KINDS

FRAMES = DATA.parent / "frames"
STEPS = {"cloth-funnel": ("227", "228"), "rod-twist": ("3036", "3037")}
QUERIES = {"vf": "vertex_triangle", "ee": "edge_edge"}


# Handcrafted queries


def test_handcrafted_queries():
    """0 missed, and fewer false alarms than the 396 of ipctk's tight inclusion on the same queries."""
    if not DATA.is_dir():
        pytest.skip("the public ground truth is not here")
    total = alarms = 0
    for kind in ("vertex_triangle", "edge_edge"):
        given = [query for query in ground_truth() if query[0] == kind]
        x0, x1 = (np.array([query[k] for query in given]) for k in (1, 2))
        start, end = x0.astype(float), x1.astype(float)
        assert (start == x0).all()  # doubles are these rationals exactly, so the answers are right for them too
        assert (end == x1).all()
        collides = np.array([query[3] for query in given])
        found = KINDS[kind](start, end)
        assert (found[collides] <= 1).all()
        assert (found >= 0).all()
        total += len(given)
        alarms += np.count_nonzero(found[~collides] <= 1)
        for k in np.flatnonzero(collides)[::7]:
            assert found[k] <= first_time(kind, start[k], end[k])[1]
    assert total == 2324
    assert alarms <= 250


# Frames


@cache
def frame(name):
    """Positions at both times, edges, faces, and per kind of query corners of all, answers and given positions."""
    if not FRAMES.is_dir():
        pytest.skip("the frames of the public benchmark are not here")
    before, after = (trimesh.load(FRAMES / name / f"{step}.ply", process=False) for step in STEPS[name])
    x0, x1, faces = np.array(before.vertices), np.array(after.vertices), np.array(before.faces)
    sides = np.unique(np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    edges = sides[np.lexsort(sides.T)]  # the benchmark numbers them by their second vertex, then by the first
    queries = {}
    for short in QUERIES:
        path = FRAMES / name / f"{STEPS[name][0]}{short}"
        numbers = np.array(json.loads(path.with_name(f"{path.name}.json").read_text()))  # vertices, edges, then faces
        collides = np.array(json.loads(path.with_name(f"{path.name}_mma_bool.json").read_text()))
        with path.with_name(f"{path.name}.csv").open(newline="") as file:
            rows = [[int(a) / int(b) for a, b in zip(row[::2], row[1::2], strict=True)] for row in csv.reader(file)]
        numbers -= [len(x0), len(x0)] if short == "ee" else [0, len(x0) + len(edges)]
        queries[short] = numbers, collides, np.array(rows).reshape(-1, 8, 3)
    return x0, x1, edges, faces, queries


def are_in(pairs, others):
    """Which pairs are among others."""
    keys, other_keys = (np.asarray(p, np.int64) @ [2**32, 1] for p in (pairs, others))
    return np.isin(keys, other_keys)


@pytest.mark.parametrize("short", QUERIES)
@pytest.mark.parametrize("name", STEPS)
def test_frames_are_read_as_meant(name, short):
    """Positions of the queries are those of the meshes."""
    x0, x1, edges, faces, queries = frame(name)
    numbers, collides, positions = queries[short]
    first, second = (edges[numbers[:, 0]] if short == "ee" else numbers[:, :1]), (edges if short == "ee" else faces)
    corners = np.column_stack([first, second[numbers[:, 1]]])
    np.testing.assert_array_equal(x0[corners], positions[:, :4])
    np.testing.assert_array_equal(x1[corners], positions[:, 4:])
    assert 0 < np.count_nonzero(collides) < len(collides) == len(numbers)


@pytest.mark.parametrize("short", QUERIES)
@pytest.mark.parametrize("name", STEPS)
def test_queries_of_frames(name, short):
    _, collides, positions = frame(name)[4][short]
    start, end = positions[:, :4], positions[:, 4:]
    found = KINDS[QUERIES[short]](start, end)
    assert (found[collides] <= 1).all()
    for k in np.flatnonzero(~collides & (found <= 1))[:20]:
        size = max(np.ptp(x[k], axis=0).max() for x in (start, end))
        assert first_time(QUERIES[short], start[k], end[k], 1e-8 * size)
    for k in np.flatnonzero(collides)[::40]:
        assert found[k] <= first_time(QUERIES[short], start[k], end[k])[1]


@pytest.mark.parametrize("name", STEPS)
def test_colliding_pairs_are_candidates_and_contacts(name):
    x0, x1, edges, faces, queries = frame(name)
    near = ccd.candidates(x0, x1, edges, faces)
    touch = ccd.contacts(x0, x1, edges, faces)
    for k, short in enumerate(QUERIES):
        numbers, collides, _ = queries[short]
        assert are_in(numbers, near[k]).all()  # boxes of those that do not collide overlap too
        assert are_in(touch.pairs[k], near[k]).all()
        assert are_in(numbers[collides], touch.pairs[k]).all()
        assert len(touch.pairs[k]) <= 1.01 * np.count_nonzero(collides)
    first = ccd.first_contact(x0, x1, edges, faces)
    assert first.time == min(times.min() for times in touch.times if len(times))


def test_sides_of_faces_are_the_usual_edges():
    x0, x1, edges, faces, _ = frame("cloth-funnel")
    near, own = ccd.candidates(x0, x1, edges, faces), ccd.candidates(x0, x1, faces=faces)
    np.testing.assert_array_equal(own.vertex_faces, near.vertex_faces)
    sides = ccd.edges_of(faces)
    named, own_named = (
        np.sort(which[pairs].reshape(-1, 4), axis=1)
        for which, pairs in ((edges, near.edge_edges), (sides, own.edge_edges))
    )
    np.testing.assert_array_equal(named[np.lexsort(named.T)], own_named[np.lexsort(own_named.T)])
