"""Lists of partners for loops that gather, and what contacts remember when lists are made anew."""

from impinge._jit import kernel, parallel

BLOCK = 4096


@kernel
def list_owned(pairs, ids, starts, partners):
    """Partners of higher permanent number, in the order of the pairs: those of sphere i before starts[i + 1]."""
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        starts[(i if ids[i] < ids[j] else j) + 2] += 1
    for i in range(2, len(starts)):
        starts[i] += starts[i - 1]
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        if ids[i] > ids[j]:
            i, j = j, i
        partners[starts[i + 1]] = j
        starts[i + 1] += 1


@kernel
def list_back(starts, partners, back_starts, back, owners):
    """Entries of the lists in which every sphere is the partner, and the owners of all entries."""
    for k in range(len(partners)):
        back_starts[partners[k] + 2] += 1
    for i in range(2, len(back_starts)):
        back_starts[i] += back_starts[i - 1]
    for i in range(len(starts) - 1):
        for k in range(starts[i], starts[i + 1]):
            j = partners[k]
            owners[k] = i
            back[back_starts[j + 1]] = k
            back_starts[j + 1] += 1


@parallel(grain=1)
def sort_back(first, stop, starts, ids, owners, back):
    """Sort the entries in which spheres are partners by the permanent numbers of their owners."""
    for block in range(first, stop):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(starts) - 1)):
            for at in range(starts[i], starts[i + 1]):
                k, to = back[at], at
                name = ids[owners[k]]
                while to > starts[i] and ids[owners[back[to - 1]]] > name:
                    back[to] = back[to - 1]
                    to -= 1
                back[to] = k


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
                    for c in range(min(history.shape[1], old_history.shape[1])):
                        history[at, c] = old_history[old, c]
                    for c in range(old_history.shape[1], history.shape[1]):
                        history[at, c] = 0.0


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
