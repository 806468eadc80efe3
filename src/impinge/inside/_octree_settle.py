"""Exact decisions for the few points and cells that the filters of the other kernels leave in doubt."""

import numpy as np

from impinge._jit import exact, parallel
from impinge.exact._orient import normal_sign, orient3d_sign
from impinge.exact._triangles import ON_SURFACE, crossing
from impinge.inside._octree_build import BLOCK_UNITS, HEADER_UNITS, LANES, NODE
from impinge.inside._octree_leaves import EMPTY_LANE
from impinge.inside._octree_query import child


@exact
def _crossing(vertices, faces, t, px, py, pz, qx, qy, qz):
    a, b, c = faces[t, 0], faces[t, 1], faces[t, 2]
    return crossing(
        px, py, pz, qx, qy, qz,
        vertices[a, 0], vertices[a, 1], vertices[a, 2],
        vertices[b, 0], vertices[b, 1], vertices[b, 2],
        vertices[c, 0], vertices[c, 1], vertices[c, 2],
    )  # fmt: skip


@parallel(grain=1)
def settle_cells(first, stop, vertices, faces, references, windings):
    """Winding numbers at reference points + e, wherever they are, by all crossings from a point outside.

    Slow, and hardly ever needed: for cells on whose sides no place was clearly off the surface.
    """
    low, high = vertices[0, 0], vertices[0, 0]
    for v in range(vertices.shape[0]):
        low, high = min(low, vertices[v, 0]), max(high, vertices[v, 0])
    px = np.nextafter(high, np.inf)
    if np.isinf(px):
        px = np.nextafter(low, -np.inf)
    py, pz = vertices[0, 1], vertices[0, 2]
    for i in range(first, stop):
        total = 0
        for t in range(faces.shape[0]):
            total -= _crossing(vertices, faces, t, px, py, pz, references[i, 0], references[i, 1], references[i, 2])
        windings[i] = total


@exact
def _face(ints, head, k):
    """Number of the k-th triangle of the record that starts at `head`, or -1 after the last."""
    t = ints[head + 8 * (HEADER_UNITS + BLOCK_UNITS * (k // LANES)) + 80 + k % LANES]
    if t == EMPTY_LANE:
        return np.int64(-1)
    return np.int64(~t if t < 0 else t)


@exact
def _locate(px, py, pz, scale, origin, inv, depth, shape, codes):
    """Code of the leaf or empty cell of a point within the bounds."""
    shift = np.uint64(2 * depth)
    x = np.uint64((px * scale[0] - origin[0]) * inv)
    y = np.uint64((py * scale[1] - origin[1]) * inv)
    z = np.uint64((pz * scale[2] - origin[2]) * inv)
    sx, sy = np.uint64(shape[0]), np.uint64(shape[1])
    bricks = np.uint64(shape[0] * shape[1] * shape[2])
    code = codes[(x >> shift) + sx * ((y >> shift) + sy * (z >> shift))]
    while code & 3 == NODE:
        shift -= np.uint64(2)
        code = codes[bricks + np.uint64(64) * np.uint64(code >> 2) + child(x, y, z, shift)]
    return code


@exact
def _direction(px, py, pz, qx, qy, qz):
    """Unit vector from p to another point, of any finite size."""
    x, y, z = qx - px, qy - py, qz - pz
    if np.isinf(x) or np.isinf(y) or np.isinf(z):
        x, y, z = 0.5 * qx - 0.5 * px, 0.5 * qy - 0.5 * py, 0.5 * qz - 0.5 * pz
    most = max(abs(x), abs(y), abs(z))
    x, y, z = x / most, y / most, z / most
    length = np.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@exact
def _sector(dx, dy, dz, ax, ay, az, bx, by, bz):
    """Half the solid angle, without sign, of the sector between the rays p→a and p→b, seen from p + 0·d.

    It is the spherical triangle of -d, a and b (directions from p), [VanOosterom1983]; written in a - d and
    b - d, which are small and accurate where the sector is narrow and d points along it.
    """
    ax, ay, az, bx, by, bz = ax - dx, ay - dy, az - dz, bx - dx, by - dy, bz - dz
    num = dx * (ay * bz - az * by) + dy * (az * bx - ax * bz) + dz * (ax * by - ay * bx)
    return np.arctan2(abs(num), ax * bx + ay * by + az * bz)


@exact
def _half_plane(dx, dy, dz, ux, uy, uz, wx, wy, wz):
    """Half the solid angle, without sign, of the half-plane along u through w, seen from p + 0·d."""
    nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    mx, my, mz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux  # in the plane, away from the edge
    return np.arctan2(abs(nx * dx + ny * dy + nz * dz), -(mx * dx + my * dy + mz * dz))


@exact
def _seen_angle(px, py, pz, rx, ry, rz, vertices, faces, t):
    """Limit of the solid angle of triangle t, which contains p, seen from p + 0·(r + e - p)."""
    a, b, c = faces[t, 0], faces[t, 1], faces[t, 2]
    ax, ay, az = vertices[a, 0], vertices[a, 1], vertices[a, 2]
    bx, by, bz = vertices[b, 0], vertices[b, 1], vertices[b, 2]
    cx, cy, cz = vertices[c, 0], vertices[c, 1], vertices[c, 2]
    normal = normal_sign(ax, ay, az, bx, by, bz, cx, cy, cz)
    if normal == 0:
        return 0.0
    side = orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, rx, ry, rz)
    if side == 0:
        side = -normal
    dx, dy, dz = _direction(px, py, pz, rx, ry, rz)
    lines = 0  # edges on whose lines p is: none in the interior, one on an edge, two at a vertex
    line = 0
    for edge in range(3):
        u, v = faces[t, edge], faces[t, (edge + 1) % 3]
        ux, uy, uz = vertices[u, 0], vertices[u, 1], vertices[u, 2]
        vx, vy, vz = vertices[v, 0], vertices[v, 1], vertices[v, 2]
        if normal_sign(px, py, pz, ux, uy, uz, vx, vy, vz) == 0:
            lines += 1
            line = edge if lines == 1 else 3 - line - edge  # with two of them, the third
    if lines == 0:
        return 2.0 * side * np.pi
    u, v, w = faces[t, line], faces[t, (line + 1) % 3], faces[t, (line + 2) % 3]
    ux, uy, uz = _direction(px, py, pz, vertices[u, 0], vertices[u, 1], vertices[u, 2])
    vx, vy, vz = _direction(px, py, pz, vertices[v, 0], vertices[v, 1], vertices[v, 2])
    if lines == 2:
        return 2.0 * side * _sector(dx, dy, dz, ux, uy, uz, vx, vy, vz)
    wx, wy, wz = _direction(px, py, pz, vertices[w, 0], vertices[w, 1], vertices[w, 2])
    return 2.0 * side * _half_plane(dx, dy, dz, ux, uy, uz, wx, wy, wz)


@parallel(grain=64)
def settle_points(
    first,
    stop,
    points,
    low,
    high,
    scale,
    origin,
    inv,
    depth,
    shape,
    codes,
    words,
    shorts,
    ints,
    vertices,
    faces,
    windings,
    classes,
):
    """Winding numbers and classes of points in leaves, from the exact predicates alone.

    Only the classes, which takes less time, if there is no room for the winding numbers (length 0).

    For a point p on the surface the winding number is J, the sum of the solid angles over 4π without the
    triangles that contain p: 1/2 in a face, dihedral angle/2π on an edge, solid angle/4π at a vertex. Next to
    p, towards the leaf's reference r, the sum over all triangles is whole: that of r + e and the crossings on
    the way, on which the triangles at p are not crossed. What these add to it there are angles of plane
    sectors, which are taken off.
    """
    for i in range(first, stop):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        head = 8 * np.int64(_locate(px, py, pz, scale, origin, inv, depth, shape, codes) >> 2)
        rx, ry, rz = words[head // 2], words[head // 2 + 1], words[head // 2 + 2]
        whole = np.int64(ints[head + 8])
        angle = 0.0
        on = False
        for k in range(LANES * ints[head + 9]):
            t = _face(ints, head, k)
            if t < 0:
                break
            sign = _crossing(vertices, faces, t, px, py, pz, rx, ry, rz)
            if sign == ON_SURFACE:
                on = True
                if len(windings) == 0:
                    break
                angle += _seen_angle(px, py, pz, rx, ry, rz, vertices, faces, t)
            else:
                whole += sign
        if len(windings) > 0:
            windings[i] = whole - angle / (4.0 * np.pi)
        classes[i] = 0 if on else (1 if whole > 0 else -1)
