"""Kernels: the graph of a sparse symmetric matrix, and its nested dissection.

A node is a group of unknowns that are eliminated together, as the three coordinates of a point. Graphs are in
compressed rows, `starts` and `neighbours`, without loops.
"""

import numpy as np

from impinge._jit import kernel

TRIED = 4  # directions along which each part is cut; the best cut is taken


@kernel
def node_graph(indptr, indices, size, cliques, members, starts, neighbours):
    """Graph of the groups of `size` unknowns of a matrix, joined with cliques of unknowns; returns its edges.

    indptr, indices : the columns of a matrix with a symmetric pattern
    cliques, members : unknowns members[cliques[k]:cliques[k + 1]] are all coupled with each other
    starts, neighbours : filled; with no room in `neighbours`, edges are counted only
    """
    nodes = (len(indptr) - 1) // size
    owned = np.zeros(nodes + 1, np.int64)  # cliques that each node is in
    for member in members:
        owned[member // size + 1] += 1
    for node in range(nodes):
        owned[node + 1] += owned[node]
    of_node, place = np.empty(len(members), np.int64), owned[:-1].copy()
    for clique in range(len(cliques) - 1):
        for k in range(cliques[clique], cliques[clique + 1]):
            node = members[k] // size
            of_node[place[node]] = clique
            place[node] += 1
    seen = np.full(nodes, -1, np.int64)
    count = 0
    for node in range(nodes):
        starts[node] = count
        seen[node] = node
        for k in range(indptr[size * node], indptr[size * (node + 1)]):
            other = indices[k] // size
            if seen[other] != node:
                seen[other] = node
                if count < len(neighbours):
                    neighbours[count] = other
                count += 1
        for c in range(owned[node], owned[node + 1]):
            for k in range(cliques[of_node[c]], cliques[of_node[c] + 1]):
                other = members[k] // size
                if seen[other] != node:
                    seen[other] = node
                    if count < len(neighbours):
                        neighbours[count] = other
                    count += 1
    starts[nodes] = count
    return count


@kernel
def _walk(starts, neighbours, first, steps, queue):
    """Breadth first from a node: steps to all that are reached (where steps was < 0), which are put into the queue."""
    queue[0] = first
    steps[first] = 0
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        for k in range(starts[node], starts[node + 1]):
            other = neighbours[k]
            if steps[other] < 0:
                steps[other] = steps[node] + 1
                queue[tail] = other
                tail += 1
    return tail


@kernel
def embed(starts, neighbours, places):
    """Places of the nodes, (nodes, TRIED), such that neighbours are near: differences of steps to nodes far apart.

    Nodes of different components get places far apart, so that the first cuts go between components. Returns their
    number.
    """
    nodes = len(starts) - 1
    queue = np.empty(nodes, np.int32)
    steps = np.full((4, nodes), -1, np.int32)
    shift, components = 0.0, 0
    for first in range(nodes):
        if steps[0, first] >= 0:
            continue
        a = queue[_walk(starts, neighbours, first, steps[0], queue) - 1]
        count = 0
        for k in range(_walk(starts, neighbours, a, steps[1], queue)):
            count = k + 1
        b = queue[count - 1]
        for k in range(count):  # the walk from `first` was to find an end only
            steps[0, queue[k]] = -1
        _walk(starts, neighbours, b, steps[0], queue)
        c, most = a, -1
        for k in range(count):
            node = queue[k]
            least = min(steps[0, node], steps[1, node])
            if least > most:
                c, most = node, least
        d = queue[_walk(starts, neighbours, c, steps[2], queue) - 1]
        most = -1
        for k in range(count):  # as far from c as it is between the ends
            node = queue[k]
            off = 2 * steps[2, node] - abs(steps[0, node] - steps[1, node])
            if off > most:
                d, most = node, off
        _walk(starts, neighbours, d, steps[3], queue)
        width = 2.0 * steps[1, b] + 1.0
        for k in range(count):
            node = queue[k]
            u = float(steps[0, node] - steps[1, node])
            v = float(steps[2, node] - steps[3, node])
            places[node, 0], places[node, 1] = u + 2 * shift, v + 2 * shift
            places[node, 2], places[node, 3] = u + v + 4 * shift, u - v
        shift += width
        components += 1
    return components


@kernel
def _middle(values):
    """The median of values, which are moved about."""
    want, low, high = len(values) // 2, 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if want <= j:
            high = j
        elif want >= i:
            low = i
        else:
            break
    return values[want]


@kernel
def _cut(starts, neighbours, part, part_of, number, values, middle, side):
    """Cut a part in two at the middle of the nodes' values, and find the smaller of the two separators.

    side : filled with 0 and 1, and 2 for the separator; returns how good the cut is, the less the better
    """
    lower = 0
    for k in range(len(part)):
        above = values[k] >= middle
        side[part[k]] = above
        lower += not above
    if lower == 0:  # many equal values at the middle
        for k in range(len(part)):
            side[part[k]] = values[k] > middle
            lower += values[k] <= middle
    count_0 = count_1 = 0
    for node in part:
        for e in range(starts[node], starts[node + 1]):
            if part_of[neighbours[e]] == number and (side[neighbours[e]] ^ side[node]) & 1:
                if side[node] == 0:
                    count_0 += 1
                else:
                    count_1 += 1
                side[node] |= 2
                break
    taken = 2 if count_0 < count_1 else 3
    for node in part:
        side[node] = 2 if side[node] == taken else side[node] & 1
    count = min(count_0, count_1)
    smaller = min(lower - (count if taken == 2 else 0), len(part) - lower - (count if taken == 3 else 0))
    if smaller <= 0:
        return np.inf
    return count * (1.0 + (len(part) / (2.0 * smaller) - 1.0) ** 2) + 1e-3 * len(part) / smaller


@kernel
def _put(row, first, stop, parent, number):
    row[0], row[1], row[2], row[3] = first, stop, parent, number


@kernel
def dissect(starts, neighbours, places, leaf, order, ends, parents):
    """Nested dissection: cut the graph in two by a small separator, which is eliminated last, and so on.

    places : (nodes, directions); a part is cut across the direction that gives the smallest separator
    leaf : parts of so many nodes are not cut any more
    order : filled with the nodes as they are eliminated
    ends, parents : filled for each front, in postorder: its nodes are those from the end before to its own
    Returns the number of fronts.
    """
    nodes = len(starts) - 1
    for k in range(nodes):
        order[k] = k
    part_of, side = np.zeros(nodes, np.int32), np.empty(nodes, np.int8)
    best, values, moved = np.empty(nodes, np.int8), np.empty(nodes), np.empty(nodes)
    held = np.empty(nodes, np.int32)
    parts = np.empty((2 * nodes + 2, 4), np.int64)  # first, stop, parent's front, number
    _put(parts[0], 0, nodes, -1, 0)
    waiting, numbers, fronts = 1, 1, 0
    while waiting:
        waiting -= 1
        first, stop, parent, number = parts[waiting, 0], parts[waiting, 1], parts[waiting, 2], parts[waiting, 3]
        part, count = order[first:stop], stop - first
        score = np.inf
        for direction in range(places.shape[1] if count > leaf else 0):
            for k in range(count):
                values[k] = moved[k] = places[part[k], direction]
            middle = _middle(moved[:count])
            found = _cut(starts, neighbours, part, part_of, number, values[:count], middle, side)
            if found < score:
                score = found
                for node in part:
                    best[node] = side[node]
        if not score < 0.35 * count:  # not worth it: all at once
            ends[fronts], parents[fronts] = stop, parent
            fronts += 1
            continue
        tallies = np.zeros(3, np.int64)
        for node in part:
            tallies[best[node]] += 1
        at = np.array([first, first + tallies[0], stop - tallies[2]])
        held[:count] = part
        for k in range(count):
            node = held[k]
            order[at[best[node]]] = node
            at[best[node]] += 1
            part_of[node] = -1 if best[node] == 2 else numbers + best[node]
        if tallies[2]:
            ends[fronts], parents[fronts] = stop, parent
            parent = fronts
            fronts += 1
        _put(parts[waiting], first, first + tallies[0], parent, numbers)
        _put(parts[waiting + 1], first + tallies[0], stop - tallies[2], parent, numbers + 1)
        waiting += 2
        numbers += 2
    turned = np.argsort(ends[:fronts])
    back = np.empty(fronts, np.int32)
    for k in range(fronts):
        back[turned[k]] = k
    sorted_ends, sorted_parents = ends[:fronts][turned], parents[:fronts][turned]
    for k in range(fronts):
        ends[k] = sorted_ends[k]
        parents[k] = back[sorted_parents[k]] if sorted_parents[k] >= 0 else -1
    return fronts
