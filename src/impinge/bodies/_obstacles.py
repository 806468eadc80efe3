"""Contacts of one sphere with the patches of obstacles; `obstacles.py` states the rules.

Arrays are passed one by one, not as tuples, and what runs for every sphere are functions of numbers: passing arrays on
counts references, which costs more than a contact.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._jit import exact, kernel, part
from impinge.bodies._obstacles_build import NO_AREA
from impinge.inside._closest import _nearest_on_edge, nearest_on_triangle

# Columns of a contact: its entry in the lists, normal (from the surface to the sphere), depth, velocity of the surface,
# contact point, and the entry whose history is to be read, −1 for a contact that begins.
ENTRY, NORMAL, DEPTH, VELOCITY, POINT, READ = 0, 1, 4, 5, 8, 11
COLUMNS = 12
MOST = 16  # contacts of one sphere; of more the deepest are kept
# Columns of what is known about an entry: distance, closest point and normal in the frame of the obstacle.
DISTANCE, CLOSEST, AWAY, BORDER, STATE = 0, 1, 4, 7, 8
WORK = 9
UNKNOWN, MEASURED, ACCEPTED, DROPPED, TAKEN = 0.0, 1.0, 2.0, 3.0, 4.0  # states
# Columns of a pose: rotation, translation, velocity of the frame's origin, spin.
TURN, SHIFT, SPEED, SPIN = 0, 9, 12, 15
POSE = 18
ALIKE = math.sqrt(0.75)  # cosine of 30°: nearer normals are of one contact
SAME = 1e-9  # of the radius: points nearer than that are one
SLACK, FLAT, GREATEST = 0, 1, 2  # columns of `tolerances`


class Surfaces(NamedTuple):
    """All obstacles in flat arrays, each in its own frame; several of one shape share its patches."""

    corners: NDArray[np.float64]  # (m, 9), of triangles in the order of patches, wound about the patch's normal
    borders: NDArray[np.uint8]  # (m,), flags: edge k is one where the patch ends, NO_AREA
    patches: NDArray[np.int32]  # (m,), of the triangles
    planes: NDArray[np.float64]  # (p, 4), of the patches: unit normal n, offset n · x
    materials: NDArray[np.int32]  # (o,), of the obstacles
    masses: NDArray[np.float64]  # (o,), kg: infinite but for rigid bodies
    fixed: int  # the first so many move as they are told, those after them are rigid bodies
    tolerances: NDArray[np.float64]  # (o, 3), of the obstacles, m: rounding, flatness, largest coordinate
    bounds: NDArray[np.float64]  # (o, 6): lowest corner, highest corner
    roots: NDArray[np.int32]  # (o,), rows of the next three
    boxes: NDArray[np.float64]  # (nodes, WIDTH, 6)
    children: NDArray[np.int32]  # (nodes, WIDTH), another node, negative for leaves
    ranges: NDArray[np.int32]  # (nodes, WIDTH, 2), rows of the next
    order: NDArray[np.int32]  # (m,), triangles in the order of leaves


class Near(NamedTuple):
    """Patches near every sphere: entries starts[i] to starts[i + 1], ascending, and triangles of each entry."""

    starts: NDArray[np.int64]  # (n + 1,)
    patches: NDArray[np.int64]  # (entries,)
    owners: NDArray[np.int32]  # (entries,): the obstacles that have them
    triangle_starts: NDArray[np.int64]  # (entries + 1,)
    triangles: NDArray[np.int32]
    most: int  # entries of one sphere


@part
def corners_of(corners, t):
    """The nine coordinates of triangle t."""
    return (
        corners[t, 0], corners[t, 1], corners[t, 2], corners[t, 3], corners[t, 4], corners[t, 5], corners[t, 6],
        corners[t, 7], corners[t, 8],
    )  # fmt: skip


@part
def height(planes, p, x, y, z):
    """Signed distance from the plane of patch p."""
    return planes[p, 0] * x + planes[p, 1] * y + planes[p, 2] * z - planes[p, 3]


@part
def to_body(poses, o, x, y, z):
    """A place in the frame of obstacle o: Rᵀ (x − T)."""
    x, y, z = x - poses[o, SHIFT], y - poses[o, SHIFT + 1], z - poses[o, SHIFT + 2]
    return (
        poses[o, 0] * x + poses[o, 3] * y + poses[o, 6] * z,
        poses[o, 1] * x + poses[o, 4] * y + poses[o, 7] * z,
        poses[o, 2] * x + poses[o, 5] * y + poses[o, 8] * z,
    )


@part
def _turned(poses, o, x, y, z):
    """A vector of the frame of obstacle o in space: R x."""
    return (
        poses[o, 0] * x + poses[o, 1] * y + poses[o, 2] * z,
        poses[o, 3] * x + poses[o, 4] * y + poses[o, 5] * z,
        poses[o, 6] * x + poses[o, 7] * y + poses[o, 8] * z,
    )


@exact
def nearest_to(x, y, z, corners):
    """From x to the nearest point of a triangle, given by its nine coordinates."""
    ax, ay, az, bx, by, bz, cx, cy, cz = corners
    dx, dy, dz, _, _, _ = nearest_on_triangle(x, y, z, ax, ay, az, bx, by, bz, cx, cy, cz)
    return dx, dy, dz


@exact
def _beside(x, y, z, nx, ny, nz, ax, ay, az, bx, by, bz, slack):
    """On which side of the edge from a to b x is, seen against n: 1 inside, −1 outside, 0 at most `slack` from it."""
    ex, ey, ez, dx, dy, dz = bx - ax, by - ay, bz - az, x - ax, y - ay, z - az
    side = nx * (ey * dz - ez * dy) + ny * (ez * dx - ex * dz) + nz * (ex * dy - ey * dx)
    margin = slack * (abs(ex) + abs(ey) + abs(ez))
    return 1 if side > margin else (-1 if side < -margin else 0)


@exact
def _covers(x, y, z, nx, ny, nz, h, corners, slack):
    """Whether the foot of x in the plane with normal n, at height h, is in a triangle or at most `slack` from it."""
    ax, ay, az, bx, by, bz, cx, cy, cz = corners
    first = _beside(x, y, z, nx, ny, nz, ax, ay, az, bx, by, bz, slack)
    second = _beside(x, y, z, nx, ny, nz, bx, by, bz, cx, cy, cz, slack)
    third = _beside(x, y, z, nx, ny, nz, cx, cy, cz, ax, ay, az, slack)
    least = min(first, second, third)
    if least != 0:
        return least > 0
    # On the line of an edge, but perhaps beyond its end: there three half planes are not enough in a needle.
    dx, dy, dz = nearest_to(x - h * nx, y - h * ny, z - h * nz, corners)
    h = dx * nx + dy * ny + dz * nz
    dx, dy, dz = dx - h * nx, dy - h * ny, dz - h * nz
    return dx * dx + dy * dy + dz * dz <= 16.0 * slack * slack


@exact
def _nearer_edge(x, y, z, ax, ay, az, bx, by, bz, best, qx, qy, qz):
    """(distance_sq, q − x) for the nearest point q of the edge from a to b, or what was best if that is nearer."""
    _, dx, dy, dz, distance_sq = _nearest_on_edge(
        ax - x, ay - y, az - z, bx - x, by - y, bz - z, bx - ax, by - ay, bz - az
    )
    return (distance_sq, dx, dy, dz) if distance_sq < best else (best, qx, qy, qz)


@exact
def _nearer_border(x, y, z, corners, flags, best, qx, qy, qz):
    """The same for those edges of a triangle where its patch ends."""
    ax, ay, az, bx, by, bz, cx, cy, cz = corners
    if flags & 1:
        best, qx, qy, qz = _nearer_edge(x, y, z, ax, ay, az, bx, by, bz, best, qx, qy, qz)
    if flags & 2:
        best, qx, qy, qz = _nearer_edge(x, y, z, bx, by, bz, cx, cy, cz, best, qx, qy, qz)
    if flags & 4:
        best, qx, qy, qz = _nearer_edge(x, y, z, cx, cy, cz, ax, ay, az, best, qx, qy, qz)
    return best, qx, qy, qz


@part
def _measure(e, triangle_starts, triangles, corners, borders, x, y, z, nx, ny, nz, h, slack, work, k):
    """Distance, closest point and normal of the patch of entry e, with normal n and at height h, into row k."""
    inside = False
    for at in range(np.uint64(triangle_starts[e]), np.uint64(triangle_starts[e + 1])):
        t = np.uint64(triangles[at])
        if borders[t] & NO_AREA == 0 and _covers(x, y, z, nx, ny, nz, h, corners_of(corners, t), slack):
            inside = True
            break
    best, qx, qy, qz = h * h, -h * nx, -h * ny, -h * nz  # q − x
    distance = abs(h)
    if h < 0.0:
        nx, ny, nz = -nx, -ny, -nz
    if not inside:
        best = np.inf
        for at in range(np.uint64(triangle_starts[e]), np.uint64(triangle_starts[e + 1])):
            t = np.uint64(triangles[at])
            if borders[t] & 7:
                best, qx, qy, qz = _nearer_border(x, y, z, corners_of(corners, t), borders[t], best, qx, qy, qz)
        distance = math.sqrt(best)
        if distance > 0.0:
            nx, ny, nz = -qx / distance, -qy / distance, -qz / distance
    work[k, STATE], work[k, BORDER], work[k, DISTANCE] = MEASURED, 0.0 if inside else 1.0, distance
    work[k, CLOSEST], work[k, CLOSEST + 1], work[k, CLOSEST + 2] = x + qx, y + qy, z + qz
    work[k, AWAY], work[k, AWAY + 1], work[k, AWAY + 2] = nx, ny, nz
    return distance


@kernel
def _slides_off(
    e, first, last, patches, triangle_starts, triangles, corners, planes, x, y, z, same, flat, work, k
):  # fmt: skip
    """Whether the closest point of entry e, on the border of its patch, is on a triangle that comes nearer."""
    qx, qy, qz = work[k, CLOSEST], work[k, CLOSEST + 1], work[k, CLOSEST + 2]
    # A tie of two faces at their common edge is none: both would go. What is nearer by less has the same normal.
    nearer_sq = work[k, DISTANCE] * work[k, DISTANCE] * (1.0 - 1e-9)
    for other in range(first, last):
        if other == e or abs(height(planes, patches[other], qx, qy, qz)) > same + flat:
            continue
        for at in range(triangle_starts[other], triangle_starts[other + 1]):
            triangle = corners_of(corners, triangles[at])
            dx, dy, dz = nearest_to(qx, qy, qz, triangle)
            if dx * dx + dy * dy + dz * dz <= same * same:
                dx, dy, dz = nearest_to(x, y, z, triangle)
                if dx * dx + dy * dy + dz * dz < nearer_sq:
                    return True
    return False


@kernel
def _deepest(start, stop, radius, work):
    """Row of the work space that touches deepest and is not decided yet, the first of equals; −1 if there is none."""
    best, least = -1, radius
    for k in range(start, stop):
        if work[k, STATE] == MEASURED and work[k, DISTANCE] < least:
            best, least = k, work[k, DISTANCE]
    return best


@part
def _alike(work, a, b):
    """Cosine of the angle between the normals of two rows of the work space."""
    return work[a, AWAY] * work[b, AWAY] + work[a, AWAY + 1] * work[b, AWAY + 1] + work[a, AWAY + 2] * work[b, AWAY + 2]


@kernel
def _choose(
    origin, first, last, patches, triangle_starts, triangles, corners, planes, slack, flat, x, y, z, radius, work
):  # fmt: skip
    """Decide which of the entries first to last, all of one obstacle, are contacts.

    Row e − origin of the work space is of entry e; x : centre in the frame of the obstacle.
    """
    start, stop, same = first - origin, last - origin, SAME * radius + slack
    best = _deepest(start, stop, radius, work)
    # The deepest of all is the nearest point of the obstacle: nothing can come nearer there.
    nearest = best
    while best >= 0:
        work[best, STATE] = ACCEPTED
        if best != nearest and work[best, BORDER] > 0.0 and _slides_off(
            best + origin, first, last, patches, triangle_starts, triangles, corners, planes, x, y, z, same, flat,
            work, best,
        ):  # fmt: skip
            work[best, STATE] = DROPPED
        else:
            for k in range(start, stop):
                if work[k, STATE] == MEASURED and _alike(work, k, best) > ALIKE:
                    work[k, STATE] = DROPPED
        best = _deepest(start, stop, radius, work)


@kernel
def _choose_all(
    first, last, patches, owners, triangle_starts, triangles, corners, planes, tolerances, poses, x, y, z, radius,
    work,
):  # fmt: skip
    """Decide which of the entries first to last are contacts, obstacle by obstacle."""
    at = first
    while at < last:
        o, end = owners[at], at + 1
        while end < last and owners[end] == o:
            end += 1
        bx, by, bz = to_body(poses, o, x, y, z)
        _choose(
            first, at, end, patches, triangle_starts, triangles, corners, planes, tolerances[o, SLACK],
            tolerances[o, FLAT], bx, by, bz, radius, work,
        )  # fmt: skip
        at = end


@kernel
def _make_room(depth, first, work, out):
    """Row of the shallowest contact, which is dropped, for a deeper one; −1 if none is shallower."""
    least = 0
    for k in range(1, len(out)):
        if out[k, DEPTH] < out[least, DEPTH]:
            least = k
    if out[least, DEPTH] >= depth:
        return -1
    work[int(out[least, ENTRY]) - first, STATE] = DROPPED
    return least


@part
def _report(e, poses, o, radius, work, k, out, place):
    """Write a contact, in space."""
    out[place, ENTRY], out[place, READ], out[place, DEPTH] = e, -1, radius - work[k, DISTANCE]
    nx, ny, nz = _turned(poses, o, work[k, AWAY], work[k, AWAY + 1], work[k, AWAY + 2])
    px, py, pz = _turned(poses, o, work[k, CLOSEST], work[k, CLOSEST + 1], work[k, CLOSEST + 2])
    wx, wy, wz = poses[o, SPIN], poses[o, SPIN + 1], poses[o, SPIN + 2]
    out[place, NORMAL], out[place, NORMAL + 1], out[place, NORMAL + 2] = nx, ny, nz
    out[place, VELOCITY] = poses[o, SPEED] + (wy * pz - wz * py)
    out[place, VELOCITY + 1] = poses[o, SPEED + 1] + (wz * px - wx * pz)
    out[place, VELOCITY + 2] = poses[o, SPEED + 2] + (wx * py - wy * px)
    out[place, POINT] = px + poses[o, SHIFT]
    out[place, POINT + 1] = py + poses[o, SHIFT + 1]
    out[place, POINT + 2] = pz + poses[o, SHIFT + 2]


@kernel
def _heir(
    e, first, last, patches, owners, triangle_starts, triangles, corners, borders, planes, tolerances, poses, x, y,
    z, known, work,
):  # fmt: skip
    """The entry whose contact goes on as that of e: lost, on the same obstacle, with the most similar normal; or −1."""
    o = owners[e]
    bx, by, bz = to_body(poses, o, x, y, z)
    best, most = -1, ALIKE
    for k in range(last - first):
        p = patches[first + k]
        if work[k, STATE] == ACCEPTED or work[k, STATE] == TAKEN or not known[first + k] or owners[first + k] != o:
            continue
        if work[k, STATE] == UNKNOWN:
            _measure(
                first + k, triangle_starts, triangles, corners, borders, bx, by, bz, planes[p, 0], planes[p, 1],
                planes[p, 2], height(planes, p, bx, by, bz), tolerances[o, SLACK], work, k,
            )  # fmt: skip
        alike = _alike(work, k, e - first)
        if alike > most:
            best, most = first + k, alike
    return best


@kernel
def _hand_over(
    first, last, patches, owners, triangle_starts, triangles, corners, borders, planes, tolerances, poses, x, y, z,
    known, history, keep, work, out, count,
):  # fmt: skip
    """What contacts remember: new ones go on where a lost one ended, and what is lost for good is forgotten."""
    for k in range(count):
        e = int(out[k, ENTRY])
        read = e
        if not known[e]:
            read = _heir(
                e, first, last, patches, owners, triangle_starts, triangles, corners, borders, planes, tolerances,
                poses, x, y, z, known, work,
            )  # fmt: skip
        if read >= 0 and read != e:
            work[read - first, STATE] = TAKEN
            if keep:
                for c in range(history.shape[1]):
                    history[e, c] = history[read, c]
                known[e] = True
                read = e
        out[k, READ] = read
    if keep:
        for e in range(first, last):
            if work[e - first, STATE] != ACCEPTED:
                known[e] = False


@part
def touch(
    i, x, starts, patches, owners, triangle_starts, triangles, corners, borders, planes, tolerances, poses, known,
    history, keep, work, out,
):  # fmt: skip
    """Contacts of sphere i with obstacles where it is now: rows of `out`, and how many.

    x : (n, 4) centres and radii; starts to triangles : fields of `Near`; corners to tolerances : fields of `Surfaces`;
    poses : (obstacles, POSE); known, history : (entries,) whether an entry was a contact in the last step, and
    (entries, ·) what it remembers, or no rows where nothing is remembered; work : (near.most, WORK), any content;
    out : (MOST, COLUMNS). If `keep`, histories are handed over from patch to patch and forgotten where contact is
    lost, and READ is ENTRY or −1; if not, they stay as they are, and READ may be another entry.
    """
    first, last, xi, yi, zi, radius = starts[i], starts[i + 1], x[i, 0], x[i, 1], x[i, 2], x[i, 3]
    touching = 0
    o, bx, by, bz, slack = -1, 0.0, 0.0, 0.0, 0.0
    for e in range(first, last):
        p, k = patches[e], e - first
        if owners[e] != o:
            o = owners[e]
            bx, by, bz = to_body(poses, o, xi, yi, zi)
            slack = tolerances[o, SLACK]
        nx, ny, nz, h = planes[p, 0], planes[p, 1], planes[p, 2], height(planes, p, bx, by, bz)
        work[k, STATE] = UNKNOWN
        if abs(h) < radius:
            distance = _measure(
                e, triangle_starts, triangles, corners, borders, bx, by, bz, nx, ny, nz, h, slack, work, k
            )
            if distance < radius:
                touching += 1
    if touching == 1:  # by far the most frequent: nothing to choose
        for k in range(last - first):
            if work[k, STATE] == MEASURED and work[k, DISTANCE] < radius:
                work[k, STATE] = ACCEPTED
    elif touching > 1:
        _choose_all(
            first, last, patches, owners, triangle_starts, triangles, corners, planes, tolerances, poses, xi, yi, zi,
            radius, work,
        )  # fmt: skip
    count = np.int64(0)
    for e in range(first, last):
        k = e - first
        if work[k, STATE] == ACCEPTED:
            place = count
            if count < len(out):
                count += 1
            else:
                place = _make_room(radius - work[k, DISTANCE], first, work, out)
            if place >= 0:
                _report(e, poses, owners[e], radius, work, k, out, place)
            else:
                work[k, STATE] = DROPPED
    changed = False
    if len(known) > 0:
        for k in range(count):
            out[k, READ] = out[k, ENTRY]
        for e in range(first, last):
            changed |= known[e] != (work[e - first, STATE] == ACCEPTED)
    if changed:
        _hand_over(
            first, last, patches, owners, triangle_starts, triangles, corners, borders, planes, tolerances, poses,
            xi, yi, zi, known, history, keep, work, out, count,
        )  # fmt: skip
    return count
