"""Exact decisions: orientation of points, point in triangle, segment against triangle.

``predicates.py`` is the public, vectorised side. The compiled functions of numbers that other folders build
on are in ``_orient.py``, ``_triangles.py`` and ``_segments.py``.
"""

from impinge.exact.predicates import orient2d, orient3d, point_in_triangle, segment_triangle

__all__ = ["orient2d", "orient3d", "point_in_triangle", "segment_triangle"]
