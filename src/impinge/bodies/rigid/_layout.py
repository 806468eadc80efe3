"""Where things are in the flat arrays of shapes, see `shape.py`."""

# Columns of `Shapes.ranges`: first rows in the arrays; those of the next shape are where they end.
NODES, LEAVES, FACES, POINTS, POINT_GROUPS, EDGES, EDGE_GROUPS = range(7)
RANGES = 7
# Columns of `Shapes.sizes`: lowest and highest corner, farthest point, radius, width of edges, 1 if not convex.
LOW, HIGH, REACH, RADIUS, WIDTH, BUMPY = 0, 3, 6, 7, 8, 9
SIZES = 10
