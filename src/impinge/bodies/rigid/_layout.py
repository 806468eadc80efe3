"""Where things are in the arrays of rigid bodies, see `shape.py` and `lists.py`."""

# Columns of `Shapes.ranges`: first rows in the arrays; those of the next shape are where they end.
NODES, LEAVES, FACES, POINTS, POINT_GROUPS, EDGES, EDGE_GROUPS, RIMS, RIM_GROUPS = range(9)
# First rows of points on edges, which are the last points of a shape.
EDGE_POINTS, EDGE_POINT_GROUPS = 9, 10
RANGES = 11
# Columns of `Shapes.sizes`: lowest and highest corner, farthest point, radius, width of edges, 1 if not convex, 1 if it
# has an inside.
LOW, HIGH, REACH, RADIUS, WIDTH, BUMPY, FILLED = 0, 3, 6, 7, 8, 9, 10
SIZES = 11
# Columns of a point: place, area, normal, half the thickness of the body there; of an edge: both ends, width, the way
# into the body.
POINT_AREA, POINT_NORMAL, POINT_DEEP, POINT = 3, 4, 7, 8
EDGE_WIDE, EDGE_INWARD, EDGE = 6, 7, 10
# Columns of a pair: body, what the other is, its frame or plane; and of its entries in the lists. Others: a body; the
# surface of an obstacle; a plane; an obstacle that has an inside, and one that has its inside around the body.
BODY, KIND_OF, OTHER = 0, 1, 2
SOLID, SHEET, PLANE, BLOCK, HOLLOW = 0, 1, 2, 3, 4
FIRST_POINT, POINTS_A, POINTS_B, FIRST_EDGE, EDGES_A, EDGES_B = range(6)
# Columns of what `_follow.py` remembers of a point, after its place.
SECOND, BEYOND, OTHER_LEAVES, THIRD_LEAF, FOLLOWED = 3, 4, 5, 6, 7
# Columns of what a listed point has seen: where it was in the frame of the other, how far it may move from there before
# it can touch it, and what `_follow.py` remembers.
SEEN_AT, SEEN_SAFE, POINT_FOLLOWED, POINT_SEEN = 0, 3, 4, 4 + FOLLOWED
# Of an edge next to a solid: both ends, how far they may move, what `_follow.py` remembers of each; and of its near
# triangles: where the ends were when they were listed, up to which distance, and how deep the edge was last.
EDGE_SAFE, FIRST_END, SECOND_END, GATHERED = 6, 7, 7 + FOLLOWED, 7 + 2 * FOLLOWED
GATHERED_TO, DEEPEST, EDGE_SEEN = GATHERED + 6, GATHERED + 7, GATHERED + 8
# Columns of a contact: place, push on the first body, depth, stiffness, elastic force, energy, where its history is
# (below 0 for edges), force on the first body, energy of its tangential spring.
PLACE, PUSH, DEPTH, STIFF, ELASTIC, ENERGY, HISTORY, FORCE, HELD = 0, 3, 6, 7, 8, 9, 10, 11, 14
CONTACT = 15
STORED = 3  # column of a history, after the tangential spring
WRENCH = 14  # numbers of a pair: force and torque on the first, on the second, heat, work of walls
HEAT, WORK = 12, 13
GONE, LASTING, NOW = 0, 1, 2  # whether a contact is remembered: not, from the last step, and it goes on
