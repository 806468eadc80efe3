"""Who is near whom: pairs of spheres and of boxes, at once and over time."""

from impinge.broad.once import box_pairs, pairs

__all__ = ["box_pairs", "pairs"]
