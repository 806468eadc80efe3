"""Many steps of rigid bodies in one call, where there are no spheres: threads share pairs, then bodies.

Every step has two passes, pairs and bodies, cut into pieces that are numbered through from step to step. Threads take
the next number and wait until its pass is open; who is the last to finish a pass opens the next one.
"""

import math

import numpy as np

from impinge._jit import fetch_add, give_way, kernel, part, team
from impinge.bodies._planes import SPEED, move_planes
from impinge.bodies.rigid._distance import make_everywhere, make_space
from impinge.bodies.rigid._layout import BODY, CONTACT, KIND_OF, OTHER, PLANE, SOLID
from impinge.bodies.rigid._motion import add_ways, move_bodies, write_frames
from impinge.bodies.rigid._touch import gather, meet_pair

# Places of numbers that threads share, on cache lines of their own; why steps ended.
TAKEN, FINISHED, OPEN, STOP = np.uint64(0), np.uint64(8), np.uint64(16), np.uint64(24)
SHARED = 32
FAR, BROKEN = 1, 2
BODIES = 64  # bodies of a piece

_gather, _move, _write_frames = gather.kernel, move_bodies.kernel, write_frames.kernel


@kernel
def fastest_plane(planes):
    """Speed of the fastest plane."""
    most = 0.0
    for p in range(len(planes)):
        most = max(most, planes[p, SPEED] ** 2 + planes[p, SPEED + 1] ** 2 + planes[p, SPEED + 2] ** 2)
    return math.sqrt(most)


@kernel
def boxes_are_good(ways, boxed_at, margins):
    """Whether no two things have come nearer to each other by both their margins since boxes were looked at."""
    first, second = math.inf, math.inf  # the least that is left of margins
    for i in range(len(ways)):
        left = margins[i] - (ways[i] - boxed_at[i])
        first, second = min(first, left), min(second, max(first, left))
    return first + second >= 0.0


@kernel
def pairs_are_good(gone, skins):
    """Whether no pair has come nearer by its skin since it was listed."""
    good = True
    for p in range(len(gone)):
        good &= gone[p] <= skins[p]
    return good


@kernel
def add_all_ways(pairs, late, inertia, reaches, walls, dt, turning, ways, gone):
    """Add the ways of a step, of bodies and by which pairs may have come nearer; see `_motion.add_ways`.

    Two surfaces come nearer by no more than the centres move to each other and points move about them: bodies that fly
    or fall side by side do not.
    """
    fastest = add_ways(late, inertia, reaches, walls, dt, turning, ways)
    for p in range(len(pairs)):
        a, b, is_body = pairs[p, BODY], pairs[p, OTHER], pairs[p, KIND_OF] == SOLID
        way = turning[a] + (turning[b] if is_body else walls)
        x, y, z = late[a, 0], late[a, 1], late[a, 2]
        if is_body:
            x, y, z = x - late[b, 0], y - late[b, 1], z - late[b, 2]
        gone[p] += (way + math.sqrt(x * x + y * y + z * z)) * dt
    return fastest


@team
def advance(
    steps, shared, size, pairs, spans, kinds, planes, loads, table, materials, rough, dt, half, gravity, skins, margins,
    most, shapes, forms, poses, walls, reaches, place, pose, late, now, mass, inertia, frames, listed, starts, sides,
    wrenches, forces, wall_forces, lost, work, turning, ways, gone, boxed_at, clear_to,
):  # fmt: skip
    """Move all bodies by some steps, or fewer if lists do not reach any farther or something broke: see `shared`.

    size : pairs of a piece; poses : of obstacles in every step, or one for all steps; walls : speed of the fastest of
    them; loads, wall_forces : of planes under load, see `_planes.move_planes`. frames : of bodies and obstacles now.
    """
    space, everywhere = make_space(), make_everywhere()
    found = np.empty((most, CONTACT))
    bodies = len(mass)
    pair_pieces = max(-(-len(pairs) // size), 1)
    pieces = pair_pieces + -(-bodies // BODIES)
    while True:
        ticket = fetch_add(shared, TAKEN, 1)
        step, piece = ticket // pieces, ticket % pieces
        if step >= steps:
            return
        meets = piece < pair_pieces
        turn = 2 * step + (0 if meets else 1)
        while fetch_add(shared, OPEN, 0) < turn and fetch_add(shared, STOP, 0) == 0:
            give_way()
        if fetch_add(shared, STOP, 0) != 0:
            return
        if meets:
            for p in range(piece * size, min((piece + 1) * size, len(pairs))):
                meet_pair(
                    p, pairs, spans, kinds, planes, table, materials, rough, dt, skins, True, shapes, forms, frames,
                    mass, listed, gone, clear_to, everywhere, space, found, wrenches,
                )  # fmt: skip
            if fetch_add(shared, FINISHED, 1) + 1 == step * pieces + pair_pieces:
                fetch_add(shared, OPEN, 1)
            continue
        first = (piece - pair_pieces) * BODIES
        last = min(first + BODIES, bodies)
        _gather(first, last, starts, sides, wrenches, forces, True, lost, work)
        _move(first, last, place, pose, late, now, mass, inertia, forces, gravity, dt, half)
        _write_frames(first, last, place, pose, now, frames)
        if fetch_add(shared, FINISHED, 1) + 1 == (step + 1) * pieces:
            _end_step(
                shared, step, pairs, planes, loads, dt, skins, margins, poses, walls, reaches, late, inertia, frames,
                wrenches, wall_forces, turning, ways, gone, boxed_at,
            )  # fmt: skip


@part
def _end_step(
    shared, step, pairs, planes, loads, dt, skins, margins, poses, walls, reaches, late, inertia, frames, wrenches,
    wall_forces, turning, ways, gone, boxed_at,
):  # fmt: skip
    """What one thread does when all bodies have moved: planes, obstacles, and whether lists still reach."""
    if len(loads) > 0:
        wall_forces[:] = 0.0
        for p in range(len(pairs)):
            if pairs[p, KIND_OF] == PLANE:
                for c in range(3):
                    wall_forces[pairs[p, OTHER], c] += wrenches[p, c]
    move_planes(planes, wall_forces, loads, dt, 0.5 * dt)
    if step + 1 < len(poses):
        frames[len(late) :] = poses[step + 1]
    walls = max(walls, fastest_plane(planes))
    fastest = add_all_ways(pairs, late, inertia, reaches, walls, dt, turning, ways, gone)
    if not fastest < math.inf:
        fetch_add(shared, STOP, BROKEN)
    elif not (boxes_are_good(ways, boxed_at, margins) and pairs_are_good(gone, skins)):
        fetch_add(shared, STOP, FAR)
    fetch_add(shared, OPEN, 1)
