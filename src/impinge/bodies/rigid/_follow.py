"""Signed distance of points that move little from one call to the next, from what is remembered of them.

What is remembered stands in a row of `seen`, from a column on: where the point was when its nearest triangle was looked
for; how far any other triangle was from there, at least; how far any leaf was but that of the nearest and two more, at
least; these two leaves. As long as the nearest triangle is nearer than the first of these less the way since then, it
still is the nearest; as long as something in the three leaves is nearer than the second, nothing else is asked.
"""

import math

import numpy as np

from impinge._jit import lean, part
from impinge.bodies.rigid._distance import SURE, gradient
from impinge.bodies.rigid._layout import BEYOND, OTHER_LEAVES, SECOND, THIRD_LEAF
from impinge.inside._closest import WIDTH, bound_children, measure_lanes

_NONE = -1  # no leaf


@part
def _least(values, leaf, faces, best, best_face, best_sq, second_sq):
    """(nearest slot, its face, squared distances of it and of the next other face), with those of one more leaf."""
    for i in range(WIDTH):
        slot = leaf * WIDTH + i
        face = faces[slot]
        if face == best_face or values[i] > second_sq:  # leaves that are not full repeat a face
            continue
        if values[i] < best_sq or (values[i] == best_sq and face < best_face):
            second_sq = best_sq
            best, best_face, best_sq = slot, face, values[i]
        else:
            second_sq = values[i]
    return best, best_face, best_sq, second_sq


@lean
def _look_everywhere(surface, px, py, pz, start, slots, seen, at, column, space):
    """Look for the nearest triangle in the whole tree, and remember it with what else is near."""
    nodes, children, leaves, faces, _, _, _ = surface
    stack, stack_sq, work = space[0], space[1], space[2]
    xs, ys, zs, values = work[0], work[1], work[2], work[3]
    for i in range(WIDTH):
        xs[i], ys[i], zs[i] = px, py, pz
    first = start // WIDTH
    best, best_face, best_sq, second_sq = start, np.int32(-1), math.inf, math.inf
    # The three nearest leaves, and how far the nearest of all others is, at least.
    a, b, c, a_sq, b_sq, c_sq, beyond_sq = _NONE, _NONE, _NONE, math.inf, math.inf, math.inf, math.inf
    begins, top = True, 0  # with the leaf of the slot, then the tree without it
    stack[0], stack_sq[0] = ~first, 0.0
    while top >= 0:
        item, item_sq = stack[top], stack_sq[top]
        top -= 1
        if item < 0 and ~item == first and not begins:
            continue
        if item_sq > c_sq:
            beyond_sq = min(beyond_sq, item_sq)
            continue
        if item >= 0:
            bound_children(nodes, item, px, py, pz, values)
            nearest, nearest_sq = top + 1, math.inf
            for i in range(WIDTH):
                bound_sq = values[i]
                stack[top + 1], stack_sq[top + 1] = children[item, i], bound_sq
                nearest = top + 1 if bound_sq < nearest_sq else nearest
                nearest_sq = min(bound_sq, nearest_sq)
                near = bound_sq <= c_sq
                beyond_sq = beyond_sq if near else min(beyond_sq, bound_sq)
                top += 1 if near else 0
            if nearest < top:
                stack[nearest], stack[top] = stack[top], stack[nearest]
                stack_sq[nearest], stack_sq[top] = stack_sq[top], stack_sq[nearest]
            continue
        leaf, leaf_sq = ~item, math.inf
        measure_lanes(leaves, leaf, xs, ys, zs, values)
        for i in range(WIDTH):
            leaf_sq = min(leaf_sq, values[i])
        best, best_face, best_sq, second_sq = _least(values, leaf, faces, best, best_face, best_sq, second_sq)
        beyond_sq = min(beyond_sq, max(leaf_sq, c_sq))
        if leaf_sq < a_sq:
            a, b, c, a_sq, b_sq, c_sq = leaf, a, b, leaf_sq, a_sq, b_sq
        elif leaf_sq < b_sq:
            b, c, b_sq, c_sq = leaf, b, leaf_sq, b_sq
        elif leaf_sq < c_sq:
            c, c_sq = leaf, leaf_sq
        if begins:
            begins, top = False, 0
            stack[0], stack_sq[0] = 0, 0.0
    slots[at] = best
    seen[at, column], seen[at, column + 1], seen[at, column + 2] = px, py, pz
    seen[at, column + SECOND], seen[at, column + BEYOND] = math.sqrt(second_sq), math.sqrt(beyond_sq)
    own = best // WIDTH  # one of the three, also where two are as near
    b, c = (b if own == a else a), (b if own == c else c)
    seen[at, column + OTHER_LEAVES], seen[at, column + THIRD_LEAF] = b, c


@lean
def _look_near(surface, px, py, pz, beyond, slots, seen, at, column, space):
    """Look for the nearest triangle in the three leaves; returns whether it is nearer than all others."""
    _, _, leaves, faces, _, _, _ = surface
    xs, ys, zs, values = space[2][0], space[2][1], space[2][2], space[2][3]
    for i in range(WIDTH):
        xs[i], ys[i], zs[i] = px, py, pz
    own = slots[at] // WIDTH
    leaf, other = own, np.int64(seen[at, column + OTHER_LEAVES])
    third = np.int64(seen[at, column + THIRD_LEAF])
    best, best_face, best_sq, second_sq = np.int64(slots[at]), np.int32(-1), math.inf, math.inf
    for k in range(3):
        if leaf != _NONE:
            measure_lanes(leaves, leaf, xs, ys, zs, values)
            best, best_face, best_sq, second_sq = _least(values, leaf, faces, best, best_face, best_sq, second_sq)
        leaf = other if k == 0 else third
    if not math.sqrt(best_sq) < SURE * beyond:
        return False
    now = best // WIDTH
    if now != own:
        seen[at, column + (OTHER_LEAVES if now == other else THIRD_LEAF)] = own
    slots[at] = best
    seen[at, column], seen[at, column + 1], seen[at, column + 2] = px, py, pz
    seen[at, column + SECOND], seen[at, column + BEYOND] = min(math.sqrt(second_sq), beyond), beyond
    return True


@lean
def follow(surface, px, py, pz, slots, seen, at, column, space):
    """(distance, gradient) as `signed_distance`, of a point whose nearest triangle was slots[at]."""
    x, y, z = px - seen[at, column], py - seen[at, column + 1], pz - seen[at, column + 2]
    way = math.sqrt(x * x + y * y + z * z)
    distance, nx, ny, nz = gradient(surface, slots[at], px, py, pz)
    if abs(distance) < SURE * (seen[at, column + SECOND] - way):
        return distance, nx, ny, nz
    beyond = SURE * seen[at, column + BEYOND] - way
    if not (abs(distance) < beyond and _look_near(surface, px, py, pz, beyond, slots, seen, at, column, space)):
        _look_everywhere(surface, px, py, pz, slots[at], slots, seen, at, column, space)
    return gradient(surface, slots[at], px, py, pz)
