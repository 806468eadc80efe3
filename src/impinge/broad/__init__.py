"""Who is near whom: pairs of spheres and of boxes, at once and over time."""

from impinge.broad.estimate import cell_tests, cell_tests_random
from impinge.broad.once import box_pairs, pairs
from impinge.broad.search import BoxSearch, Neighbors, NeighborSearch, Statistics

__all__ = [
    "BoxSearch", "NeighborSearch", "Neighbors", "Statistics", "box_pairs", "cell_tests", "cell_tests_random", "pairs",
]  # fmt: skip
