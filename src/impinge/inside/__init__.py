"""Which points are inside a solid, and how far from its surface."""

from impinge.inside.closest import ClosestTree
from impinge.inside.collide import CollidingNodes, Collision, Collisions, collide, colliding_nodes, collisions
from impinge.inside.direct import Direct
from impinge.inside.multipole import Multipole, Operations
from impinge.inside.octree import Octree
from impinge.inside.solid import Closest, Solid, contains
from impinge.inside.view import SolidView

__all__ = [
    "Closest",
    "ClosestTree",
    "CollidingNodes",
    "Collision",
    "Collisions",
    "Direct",
    "Multipole",
    "Octree",
    "Operations",
    "Solid",
    "SolidView",
    "collide",
    "colliding_nodes",
    "collisions",
    "contains",
]
