"""Planes: what a row says about one, and how they move, steadily or under a load."""

from impinge._jit import kernel, part

# Columns of planes: a point, the normal, velocity, material (-1: that of the sphere), load (not a number: none), mass,
# speed half a step before.
NORMAL, SPEED, MADE_OF, LOAD, MASS, LATE = 3, 6, 9, 10, 11, 12
PLANE = 13


@part
def _acceleration(planes, p, wall_forces, loads):
    """Acceleration of a plane under load along its normal."""
    press = 0.0
    for k in range(len(loads)):
        if loads[k, 0] == p:
            for c in range(3):
                press += wall_forces[loads[k, 1], c] * planes[p, NORMAL + c]
    return (planes[p, LOAD] - press) / planes[p, MASS]


@part
def move_planes(planes, wall_forces, loads, move, half):
    """Move planes by a step: steadily, or as a load and the spheres push them."""
    for p in range(len(planes)):
        if planes[p, LOAD] == planes[p, LOAD]:  # not a number where there is no load
            faster = _acceleration(planes, p, wall_forces, loads)
            planes[p, LATE] += faster * move
            for c in range(3):
                planes[p, c] += planes[p, LATE] * planes[p, NORMAL + c] * move
                planes[p, SPEED + c] = (planes[p, LATE] + faster * half) * planes[p, NORMAL + c]
        else:
            for c in range(3):
                planes[p, c] += planes[p, SPEED + c] * move


@kernel
def shift_planes(planes, wall_forces, loads, time):
    """Change the speeds of planes under load, half a step before, as if their acceleration had lasted for some time."""
    for p in range(len(planes)):
        if planes[p, LOAD] == planes[p, LOAD]:
            planes[p, LATE] += _acceleration(planes, p, wall_forces, loads) * time


@kernel
def move_planes_alone(steps, planes, wall_forces, loads, dt):
    """Move planes where there are no spheres."""
    for _ in range(steps):
        move_planes(planes, wall_forces, loads, dt, 0.5 * dt)
