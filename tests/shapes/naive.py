"""Slow and obviously right versions of what shapes/ computes."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations

import numpy as np


def merged(vertices, faces):
    """Faces with the first of all equal vertices in place of each."""
    first = {}
    number = [first.setdefault(tuple(float(x) + 0.0 for x in v), i) for i, v in enumerate(vertices)]
    return [tuple(number[i] for i in face) for face in faces]


def edges(faces):
    """Undirected edge → list of (face, +1 or −1), loops left out."""
    found = defaultdict(list)
    for f, face in enumerate(faces):
        for k in range(3):
            a, b = face[k], face[(k + 1) % 3]
            if a != b:
                found[min(a, b), max(a, b)].append((f, 1 if a < b else -1))
    return found


def is_closed(vertices, faces):
    return all(sum(sign for _, sign in uses) == 0 for uses in edges(merged(vertices, faces)).values())


def groups(items, links):
    """Number of the connected group of each item, counted by first item."""
    near = defaultdict(set)
    for a, b in links:
        near[a].add(b)
        near[b].add(a)
    label, count = {}, 0
    for item in items:
        if item in label:
            continue
        todo = [item]
        while todo:
            at = todo.pop()
            if at not in label:
                label[at] = count
                todo += near[at]
        count += 1
    return [label[item] for item in items]


def components(vertices, faces):
    links = [pair for uses in edges(merged(vertices, faces)).values() for pair in combinations({f for f, _ in uses}, 2)]
    return groups(range(len(faces)), links)


def area_is_zero(corners):
    a, b, c = ([Fraction(float(x)) for x in p] for p in corners)
    u, v = [q - p for p, q in zip(a, b, strict=True)], [q - p for p, q in zip(a, c, strict=True)]
    return all(u[i] * v[j] == u[j] * v[i] for i, j in ((0, 1), (1, 2), (2, 0)))


def problems(vertices, faces):
    """Counts by kind, zeros left out."""
    joined = merged(vertices, faces)
    found = edges(joined)
    crowded = {edge for edge, uses in found.items() if len(uses) > 2}
    repeats = [len(set(face)) < 3 for face in joined]
    skipped = {v for edge in crowded for v in edge}
    skipped |= {v for face, bad in zip(joined, repeats, strict=True) if bad for v in face}
    pinched = 0
    for v in {v for face in joined for v in face} - skipped:
        fan = [f for f, face in enumerate(joined) if v in face]
        links = [(uses[0][0], uses[1][0]) for edge, uses in found.items() if v in edge and len(uses) == 2]
        pinched += max(groups(fan, links)) > 0
    sets = [tuple(sorted(face)) for face, bad in zip(joined, repeats, strict=True) if not bad]
    counts = {
        "open edges": sum(len(uses) == 1 for uses in found.values()),
        "non-manifold edges": len(crowded),
        "flipped neighbours": sum(len(uses) == 2 and uses[0][1] == uses[1][1] for uses in found.values()),
        "pinched vertices": pinched,
        "zero-area faces": sum(area_is_zero([vertices[i] for i in face]) for face in faces),
        "duplicate faces": len(sets) - len(set(sets)),
        "unreferenced vertices": len(vertices) - len({i for face in faces for i in face}),
    }
    manifold = not (crowded or any(repeats) or pinched)
    return {kind: n for kind, n in counts.items() if n}, manifold


def moments(triangles):
    """Volume, ∫ x and ∫ x xᵀ by a rule on tetrahedra with the origin, exact for quadratic functions."""
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for corners in triangles:
        v = np.linalg.det(corners) / 6
        middle = corners.sum(axis=0) / 4
        volume += v
        first += v * middle
        second += v * (sum(np.outer(p, p) for p in corners) / 20 + 0.8 * np.outer(middle, middle))
    return volume, first, second
