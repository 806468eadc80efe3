"""The fast queries against the exact judge."""

from fractions import Fraction

import numpy as np

from impinge import ccd
from impinge.ccd.judge import first_time

from .naive import distance_sq_at

KINDS = {"vertex_triangle": ccd.vertex_triangle, "edge_edge": ccd.edge_edge, "point_segment": ccd.point_segment}
USUAL = 1e-12  # of the size: so far apart at most are bodies at nearly all times of contact that are found
NEAR = 1e-8  # of the size: and flat ones, whose directions are rough
FAR = 1e-2  # of the size: and those few for which steps get too short, most of them from 1e-8 to 1e8 in size at once


def excess(kind, x0, x1, gap, time):
    """How much further apart than the gap the bodies are at a time, in sizes of the query."""
    size = max(np.ptp(x, axis=0).max() for x in (x0, x1))
    apart = distance_sq_at(kind, x0.tolist(), x1.tolist(), Fraction(time))
    if apart <= Fraction(gap) ** 2:
        return 0.0
    size = Fraction(float(size))
    return max(float(apart / size**2) ** 0.5 - float(Fraction(gap) / size), 0.0)


def judge(kind, x0, x1, gap, found):
    """Check that no time is later than the truth; number of hits, of alarms, and by how much each time is early."""
    hits, alarms, early = 0, 0, np.zeros(len(found))
    for k, time in enumerate(found.tolist()):
        truth = first_time(kind, x0[k], x1[k], gap)
        if truth is None:
            assert time == np.inf or 0 <= time <= 1
            alarms += time <= 1
        else:
            assert 0 <= time <= truth[1], (x0[k], x1[k], gap)  # not inf, and not later
            hits += 1
            early[k] = truth[0] - Fraction(time)
    return hits, alarms, early


def judge_distances(kind, x0, x1, gap, found, *, unusual=0.2, far=0.0):
    """Check that bodies are next to each other at the times found, whether or not they touch.

    unusual, far : parts of all queries that may be further apart than USUAL, and than NEAR.
    """
    reported = np.flatnonzero(found <= 1)
    over = np.array([excess(kind, x0[k], x1[k], gap, float(found[k])) for k in reported])
    assert over.max(initial=0.0) <= FAR
    assert np.count_nonzero(over > NEAR) <= far * len(found), over.max()
    assert np.count_nonzero(over > USUAL) <= unusual * len(found)
