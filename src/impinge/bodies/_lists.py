"""Lists of partners for loops that gather, and what contacts remember when lists are made anew."""

from impinge._jit import kernel, parallel
from impinge.bodies._contact import HISTORY

BLOCK = 4096


@kernel
def list_partners(pairs, starts, partners):
    """Partners of every sphere, in the order of the pairs: those of i before starts[i + 1]."""
    for k in range(len(pairs)):
        starts[pairs[k, 0] + 2] += 1
        starts[pairs[k, 1] + 2] += 1
    for i in range(2, len(starts)):
        starts[i] += starts[i - 1]
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        partners[starts[i + 1]] = j
        starts[i + 1] += 1
        partners[starts[j + 1]] = i
        starts[j + 1] += 1


@parallel(grain=1)
def sort_partners(first, stop, starts, ids, partners, names):
    """Sort the partners of blocks of spheres by their permanent numbers, `names`."""
    for block in range(first, stop):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(starts) - 1)):
            for at in range(starts[i], starts[i + 1]):
                j, to = partners[at], at
                name = ids[j]
                while to > starts[i] and names[to - 1] > name:
                    partners[to], names[to] = partners[to - 1], names[to - 1]
                    to -= 1
                partners[to], names[to] = j, name


@parallel(grain=1)
def carry_history(first, stop, where, old_starts, old_names, old_known, old_history, starts, names, known, history):
    """Take over what contacts remember; where[i] : row of sphere i in the old lists, or -1 if it is new.

    names : what the entries of a row are, ascending, in the old lists and in the new ones.
    """
    for block in range(first, stop):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(starts) - 1)):
            old, end = 0, 0
            if where[i] >= 0:
                old, end = old_starts[where[i]], old_starts[where[i] + 1]
            for at in range(starts[i], starts[i + 1]):
                while old < end and old_names[old] < names[at]:
                    old += 1
                known[at] = old < end and old_names[old] == names[at] and old_known[old]
                if known[at]:
                    for c in range(HISTORY):
                        history[at, c] = old_history[old, c]


@kernel
def list_walls(x, planes, skin, starts, walls):
    """Planes at most `skin` from the surface of every sphere; how many (counted only where there is no room)."""
    count = 0
    for i in range(len(x)):
        starts[i] = count
        for p in range(len(planes)):
            distance = (
                (x[i, 0] - planes[p, 0]) * planes[p, 3]
                + (x[i, 1] - planes[p, 1]) * planes[p, 4]
                + (x[i, 2] - planes[p, 2]) * planes[p, 5]
            )
            if distance - x[i, 3] <= skin:
                if count < len(walls):
                    walls[count] = p
                count += 1
    starts[len(x)] = count
    return count
