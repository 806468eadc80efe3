"""Spheres and discs in motion: one pass over all computes forces and moves them.

    v(n + ½) = v(n − ½) + a(n) dt,    x(n + 1) = x(n) + v(n + ½) dt

This is the position Verlet scheme of [Muth2007b] (2), and velocity Verlet too. Dampers and friction see u(n), the
velocity at the time of the positions: v(n − ½) + ½ a(n − 1) dt, of second order, or with `half` = 0 the paper's
backward difference v(n − ½).

Every sphere gathers the forces of its partners in the order of their permanent numbers, so that sums depend neither
on threads, nor on the order in memory, nor on when lists were made. What others read is double buffered: a step reads
one of two copies and writes the other. Rows: x (centre, radius), u (velocity), q (spin) at the time of the positions;
v, w the same half a step before.
"""

import math

import numpy as np

from impinge._jit import fetch_add, give_way, part, team
from impinge.bodies import _obstacles
from impinge.bodies._contact import NEW, STORED, law_of, meet, recall, remember
from impinge.bodies._pairs import (
    FOUND,
    GIVEN,
    LOST,
    SUMS,
    WIDE,
    WORK,
    add_rough_pairs,
    add_smooth_pairs,
    find_touching,
    meet_touching,
)  # fmt: skip
from impinge.bodies._planes import MADE_OF, NORMAL, SPEED, move_planes
from impinge.broad._near import wrap

BLOCK = 128  # spheres moved by one thread at a time: their sums stay in the nearest cache
# Places of numbers that threads share, on cache lines of their own; why steps ended.
WORKERS, FINISHED, OPEN, STOP = np.uint64(0), np.uint64(8), np.uint64(16), np.uint64(24)
TICKETS = 32  # and on: one for each worker
FAR, BROKEN = 1, 2


@part
def _add_planes(
    first, last, x, u, q, mass, kinds, materials, table, rough, dt, planes, starts, walls, known, history, forces, keep,
    sums,
):  # fmt: skip
    """Add the contacts of spheres with planes; forces : on the sphere, for every listed plane."""
    for i in range(first, last):
        s = i - first
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + np.uint64(1)])):
            p, ri = np.uint64(walls[k]), x[i, 3]
            nx, ny, nz = planes[p, NORMAL], planes[p, NORMAL + 1], planes[p, NORMAL + 2]
            distance = (x[i, 0] - planes[p, 0]) * nx + (x[i, 1] - planes[p, 1]) * ny + (x[i, 2] - planes[p, 2]) * nz
            forces[k, 0], forces[k, 1], forces[k, 2] = 0.0, 0.0, 0.0
            if distance >= ri:
                if rough and keep and known[k]:
                    known[k] = False
                    sums[s, LOST] += history[k, STORED]
                continue
            sx, sy, sz = planes[p, SPEED], planes[p, SPEED + 1], planes[p, SPEED + 2]
            other = np.int64(planes[p, MADE_OF])
            memory = NEW
            if rough and known[k]:
                memory = recall(history, k)
            fx, fy, fz, tx, ty, tz, heat, _, memory = meet(
                law_of(table, kinds[i], other if other >= 0 else kinds[i], materials), rough, dt, nx, ny, nz,
                ri - distance, ri, mass[i], u[i, 0] - sx, u[i, 1] - sy, u[i, 2] - sz, distance * q[i, 0],
                distance * q[i, 1], distance * q[i, 2], q[i, 0], q[i, 1], q[i, 2], distance, memory,
            )  # fmt: skip
            if rough and keep:
                known[k] = True
                remember(history, k, memory)
            forces[k, 0], forces[k, 1], forces[k, 2] = fx, fy, fz
            sums[s, 0] += fx
            sums[s, 1] += fy
            sums[s, 2] += fz
            sums[s, 3] += tx
            sums[s, 4] += ty
            sums[s, 5] += tz
            sums[s, LOST] += heat
            sums[s, WORK] += (fx * sx + fy * sy + fz * sz) * dt


@part
def _held(first, last, known, history):
    """Energy in the springs of some contacts."""
    energy = 0.0
    for k in range(first, last):
        if known[k]:
            energy += history[k, STORED]
    return energy


@part
def _add_obstacles(
    first, last, x, u, q, mass, kinds, materials, table, rough, dt, near, surfaces, poses, known, history, keep, space,
    found, reactions, sums,
):  # fmt: skip
    """Add the contacts of spheres with obstacles; space, found : work space of `touch`.

    reactions : force and torque on rigid bodies, about their centres, of every entry.
    """
    for i in range(first, last):
        begin, end = near.starts[i], near.starts[i + np.uint64(1)]
        if begin == end:
            continue
        s, ri = i - first, x[i, 3]
        for k in range(begin, end if len(reactions) > 0 else begin):
            for c in range(6):
                reactions[k, c] = 0.0
        if rough and keep:
            sums[s, LOST] += _held(begin, end, known, history)
        count = _obstacles.touch(
            i, x, near.starts, near.patches, near.owners, near.triangle_starts, near.triangles, surfaces.corners,
            surfaces.borders, surfaces.planes, surfaces.tolerances, poses, known, history, keep, space, found,
        )  # fmt: skip
        if rough and keep:  # but what goes on is not lost
            sums[s, LOST] -= _held(begin, end, known, history)
        for c in range(count):
            k, read = int(found[c, _obstacles.ENTRY]), int(found[c, _obstacles.READ])
            o = near.owners[k]
            other, reduced = np.int64(surfaces.materials[o]), mass[i] / (1.0 + mass[i] / surfaces.masses[o])
            nx, ny, nz = found[c, _obstacles.NORMAL], found[c, _obstacles.NORMAL + 1], found[c, _obstacles.NORMAL + 2]
            sx, sy, sz = (
                found[c, _obstacles.VELOCITY],
                found[c, _obstacles.VELOCITY + 1],
                found[c, _obstacles.VELOCITY + 2],
            )
            wx, wy, wz = poses[o, _obstacles.SPIN], poses[o, _obstacles.SPIN + 1], poses[o, _obstacles.SPIN + 2]
            arm = ri - found[c, _obstacles.DEPTH]
            memory = NEW
            if rough and read >= 0:
                memory = recall(history, read)
            fx, fy, fz, tx, ty, tz, heat, _, memory = meet(
                law_of(table, kinds[i], other if other >= 0 else kinds[i], materials), rough, dt, nx, ny, nz,
                found[c, _obstacles.DEPTH], ri, reduced, u[i, 0] - sx, u[i, 1] - sy, u[i, 2] - sz, arm * q[i, 0],
                arm * q[i, 1], arm * q[i, 2], q[i, 0] - wx, q[i, 1] - wy, q[i, 2] - wz, arm, memory,
            )  # fmt: skip
            if rough and keep:
                known[k] = True
                remember(history, k, memory)
            sums[s, 0] += fx
            sums[s, 1] += fy
            sums[s, 2] += fz
            sums[s, 3] += tx
            sums[s, 4] += ty
            sums[s, 5] += tz
            sums[s, LOST] += heat
            # The surface does work where it touches, and by its spin against rolling resistance.
            rx, ry, rz = tx + arm * (ny * fz - nz * fy), ty + arm * (nz * fx - nx * fz), tz + arm * (nx * fy - ny * fx)
            if o < surfaces.fixed:
                sums[s, WORK] += (fx * sx + fy * sy + fz * sz + rx * wx + ry * wy + rz * wz) * dt
                continue
            px, py, pz = (
                found[c, _obstacles.POINT] - poses[o, _obstacles.SHIFT],
                found[c, _obstacles.POINT + 1] - poses[o, _obstacles.SHIFT + 1],
                found[c, _obstacles.POINT + 2] - poses[o, _obstacles.SHIFT + 2],
            )
            reactions[k, 0], reactions[k, 1], reactions[k, 2] = -fx, -fy, -fz
            reactions[k, 3] = -(py * fz - pz * fy + rx)
            reactions[k, 4] = -(pz * fx - px * fz + ry)
            reactions[k, 5] = -(px * fy - py * fx + rz)


@part
def _move(
    first, last, sums, x, x_new, u_new, q_new, v, w, mass, turning, rough, damped, gravity, move, half, keep, low,
    period, around, lost, work,
):  # fmt: skip
    """Move spheres by what was summed up; returns the square of the largest speed."""
    most = 0.0
    for i in range(first, last):
        s, per = i - first, 1.0 / mass[i]
        ax, ay, az = sums[s, 0] * per + gravity[0], sums[s, 1] * per + gravity[1], sums[s, 2] * per + gravity[2]
        vx, vy, vz = v[i, 0] + ax * move, v[i, 1] + ay * move, v[i, 2] + az * move
        v[i, 0], v[i, 1], v[i, 2] = vx, vy, vz
        xi, yi, zi = x[i, 0] + vx * move, x[i, 1] + vy * move, x[i, 2] + vz * move
        if around:
            xi, yi, zi = wrap(xi, low[0], period[0]), wrap(yi, low[1], period[1]), wrap(zi, low[2], period[2])
        speed_sq = vx * vx + vy * vy + vz * vz
        if speed_sq < math.inf:
            x_new[i, 0], x_new[i, 1], x_new[i, 2], x_new[i, 3] = xi, yi, zi, x[i, 3]
        else:  # it stays where it was last
            x_new[i, 0], x_new[i, 1], x_new[i, 2], x_new[i, 3] = x[i, 0], x[i, 1], x[i, 2], x[i, 3]
            speed_sq = math.inf
        if damped or not keep:
            u_new[i, 0], u_new[i, 1], u_new[i, 2] = vx + ax * half, vy + ay * half, vz + az * half
        most = max(most, speed_sq)
        if rough:
            per = 1.0 / (turning * mass[i] * x[i, 3] * x[i, 3])
            bx, by, bz = sums[s, 3] * per, sums[s, 4] * per, sums[s, 5] * per
            wx, wy, wz = w[i, 0] + bx * move, w[i, 1] + by * move, w[i, 2] + bz * move
            w[i, 0], w[i, 1], w[i, 2] = wx, wy, wz
            q_new[i, 0], q_new[i, 1], q_new[i, 2] = wx + bx * half, wy + by * half, wz + bz * half
            if not wx * wx + wy * wy + wz * wz < math.inf:
                most = math.inf
        if keep and sums[s, LOST] != 0.0:
            lost[i] += sums[s, LOST]
        if keep and sums[s, WORK] != 0.0:
            work[i] += sums[s, WORK]
    return most


@part
def _turn(at, blocks, ahead):
    """Which block is next in a step with rough contacts: (whether its pairs meet, or else it moves, block).

    A block moves as soon as all blocks with partners of its spheres, at most `ahead` away, have met: then what they
    have written is still in the cache.
    """
    lead = min(ahead + 1, blocks)
    if at < lead:
        return True, at
    at -= lead
    if at < 2 * (blocks - lead):
        return at % 2 == 1, at // 2 + (lead if at % 2 == 1 else 0)
    return False, at - (blocks - lead)


@part
def _take(shared, turn, worker, workers, blocks, turns):
    """A block to do, and in which turn: (turn, block); (-1, 0) if there is none left in this turn.

    Every worker has a range of blocks of its own, so that what it writes stays in its cache, and helps the others when
    it is through. Tickets of a range count on from turn to turn: one taken too early is done later.
    """
    for k in range(workers):
        mine = (worker + k) % workers
        start, stop = mine * blocks // workers, (mine + 1) * blocks // workers
        at = np.uint64(TICKETS + 8 * mine)
        if shared[at] < min(turn + 1, turns) * (stop - start):
            ticket = fetch_add(shared, at, 1)
            return ticket // (stop - start), start + ticket % (stop - start)
    return np.int64(-1), np.int64(0)


@team
def advance(
    steps, shared, workers, ahead, most_pairs, travel, fastest, x0, x1, u0, u1, q0, q1, v, w, mass, turning, kinds,
    materials, table, rough, damped, gravity, dt, move, half, keep, low, period, starts, partners, known, history, own,
    forces, back_starts, back, planes, wall_starts, walls, wall_known, wall_history, wall_forces, loads, near,
    surfaces, poses, patch_known, patch_history, reactions, lost, work,
):  # fmt: skip
    """Move all spheres by some steps, or fewer if lists do not reach any farther or something broke: see `shared`.

    travel : (way of the fastest since lists were made, how far it may be); turning : moment of inertia over m r²;
    move, half : dt and ½ dt, or what they should be where state is only looked at (keep = False); loads : rows
    (plane, entry of wall_forces) of planes moved by a load, in the order of planes and spheres' permanent numbers;
    near, surfaces, patch_known, patch_history, reactions : of obstacles and rigid bodies, see `_obstacles`; poses :
    theirs in every step, or one for all steps; fastest : the last one is theirs.

    Where contacts are rough a step has two passes: pairs, each listed with its lower number only, and all else;
    back[back_starts[i] : back_starts[i + 1]] : the entries of sphere i's partners of lower number; ahead : how
    many blocks partners are apart, at most; most_pairs : of a block.
    """
    count = np.int64(len(x0))
    blocks = -(-count // BLOCK)
    around = period[0] > 0.0 or period[1] > 0.0 or period[2] > 0.0
    sums, flat = np.empty((BLOCK, SUMS)), forces.reshape(forces.size)
    given, found = np.empty((GIVEN, WIDE)), np.empty((FOUND, WIDE))
    hits, ways = np.empty((most_pairs + 1, 2), np.int64), np.empty((most_pairs + 1, 4))
    space, patches = np.empty((near.most, _obstacles.WORK)), np.empty((_obstacles.MOST, _obstacles.COLUMNS))
    # One thread moves blocks right after their partners have met, and finds them in its cache; several threads would
    # find them in each other's.
    alone = workers == 1 and rough
    passes = 2 if rough and not alone else 1
    turns, turn, worker = steps * passes, np.int64(0), fetch_add(shared, WORKERS, 1)
    while True:
        mine, block = _take(shared, turn, worker, workers, 2 * blocks if alone else blocks, turns)
        if mine >= turns:  # taken too early at the very end
            continue
        wanted = mine if mine >= 0 else turn + 1
        if wanted >= turns:
            return
        while turn < wanted:
            while fetch_add(shared, OPEN, 0) <= turn:
                give_way()
            if fetch_add(shared, STOP, 0) != 0:
                return
            turn += 1
        if mine < 0:
            continue
        step, meets = mine // passes, mine % passes < passes - 1
        if alone:
            meets, block = _turn(block, blocks, ahead)
        x, x_new, u, u_new, q, q_new = (x0, x1, u0, u1, q0, q1) if step % 2 == 0 else (x1, x0, u1, u0, q1, q0)
        first, last = np.uint64(block * BLOCK), np.uint64(min((block + 1) * BLOCK, count))
        if meets:
            touching = find_touching(
                first, last, x, kinds, materials, table, period, around, starts, partners, known, history, keep, own,
                forces, hits, ways,
            )  # fmt: skip
            meet_touching(
                touching, hits, ways, x, u, q, mass, kinds, materials, table, dt, partners, known, history, keep, own,
                forces, given, found,
            )  # fmt: skip
            if not alone and fetch_add(shared, FINISHED, 1) + 1 == (mine + 1) * blocks:
                fetch_add(shared, OPEN, 1)
            continue
        if rough:
            add_rough_pairs(first, last, own, forces, flat, back_starts, back, sums)
        else:
            add_smooth_pairs(
                first, last, x, x_new, v, u, mass, kinds, materials, table, damped, dt, period, around, starts,
                partners, hits, ways, sums,
            )  # fmt: skip
        if wall_starts[first] < wall_starts[last]:
            _add_planes(
                first, last, x, u, q, mass, kinds, materials, table, rough, dt, planes, wall_starts, walls, wall_known,
                wall_history, wall_forces, keep, sums,
            )  # fmt: skip
        if near.starts[first] < near.starts[last]:
            _add_obstacles(
                first, last, x, u, q, mass, kinds, materials, table, rough, dt, near, surfaces,
                poses[step if len(poses) > 1 else 0], patch_known, patch_history, keep, space, patches, reactions, sums,
            )  # fmt: skip
        fastest[block] = _move(
            first, last, sums, x, x_new, u_new, q_new, v, w, mass, turning, rough, damped, gravity, move, half, keep,
            low, period, around, lost, work,
        )  # fmt: skip
        if fetch_add(shared, FINISHED, 1) + 1 == (mine + 1) * blocks:
            _end_step(shared, travel, fastest, planes, wall_forces, loads, move, half, keep)


@part
def _end_step(shared, travel, fastest, planes, wall_forces, loads, move, half, keep):
    """What one thread does when all spheres have moved: planes, and whether lists still reach."""
    most = 0.0
    for block in range(len(fastest)):
        most = max(most, fastest[block])
    if keep:
        move_planes(planes, wall_forces, loads, move, half)
    for p in range(len(planes)):
        most = max(most, planes[p, SPEED] ** 2 + planes[p, SPEED + 1] ** 2 + planes[p, SPEED + 2] ** 2)
    travel[0] += math.sqrt(most) * move
    if not most < math.inf:
        fetch_add(shared, STOP, BROKEN)
    elif 2.0 * travel[0] > travel[1]:
        fetch_add(shared, STOP, FAR)
    fetch_add(shared, OPEN, 1)
