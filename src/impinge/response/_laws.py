"""Contact laws: forces as functions of numbers.

n is the unit vector from the other body to this one, δ > 0 the overlap, δ̇ > 0 its growth on approach. Each of two
bodies computes the force on itself, from differences that change their sign exactly, so that action equals reaction
to the last bit. A law is a row of numbers for a pair of materials (materials.py makes them), with these columns.
"""

import math

from impinge._jit import exact

KIND, STIFFNESS, DAMPING, BETA, TANGENTIAL, TANGENTIAL_DAMPING, FRICTION, ROLLING, COHESION, UNLOADING, PULL = range(11)
COLUMNS = 11
LINEAR, HERTZ, PLASTIC = 0.0, 1.0, 2.0  # kinds


@exact
def normal_force(kind, stiffness, damping, beta, unloading, pull, depth, radius, mass, deepest):
    """(elastic force, damping coefficient, stiffness at this depth, deepest overlap so far).

    linear [Muth2007b] (1)    k δ
    hertz                     4/3 E* √R* δ^(3/2)
    plastic [Luding2008]      k₁ δ when first loaded, k₂ (δ − δ₀) on the way back, not below −k_c δ,
                              with δ₀ = (1 − k₁/k₂) δ_max

    The force is elastic + coefficient · δ̇. The coefficient is given, or follows from a restitution e through
    β = −ln e / √(π² + ln² e): 2 β √(k m*), and for hertz √5 β √(4/3 E* √R* m*) δ^(1/4) [Antypov2011]. Both are exact
    for any two masses, m* = m_i m_j / (m_i + m_j), as contact lasts until δ = 0; near the end it may pull.
    """
    if kind == HERTZ:
        root = math.sqrt(depth)
        k = 4.0 / 3.0 * stiffness * math.sqrt(radius)
        return (
            k * depth * root,
            damping + math.sqrt(5.0) * beta * math.sqrt(k * mass * root),
            1.5 * k * root,
            deepest,
        )
    coefficient = damping + 2.0 * beta * math.sqrt(stiffness * mass)
    if kind == PLASTIC:
        deepest = max(deepest, depth)
        back = unloading * (depth - (1.0 - stiffness / unloading) * deepest)
        return max(min(stiffness * depth, back), -pull * depth), coefficient, stiffness, deepest
    return stiffness * depth, coefficient, stiffness, deepest


@exact
def slide(x, y, z, nx, ny, nz, vx, vy, vz, stiffness, damping, most, dt):
    """A spring in the plane of contact: (force, spring).

    f = −k ξ − c v, at most `most` long [Luding2008] 2.2.2;    ξ(t) = ∫ v dt in the plane, which turns

    x, y, z : the spring half a step before, turned into the plane here; v : velocity in the plane now. With half a step
    of v added the integral is that of the trapezoidal rule, of second order. Where the force would be longer, the
    surfaces slide: the force is as long as Coulomb allows, the spring is what would hold it alone. Returned is the
    spring now.
    """
    along = x * nx + y * ny + z * nz
    tx, ty, tz = x - along * nx, y - along * ny, z - along * nz
    now = tx * tx + ty * ty + tz * tz
    tilt = along * along / now if now > 0.0 else 0.0
    # It keeps its length; the root is that of 1 + tilt, which is small from step to step.
    turned = 1.0 + 0.5 * tilt * (1.0 - 0.25 * tilt) if tilt < 1e-5 else math.sqrt(1.0 + tilt)
    half = 0.5 * dt
    x, y, z = tx * turned + vx * half, ty * turned + vy * half, tz * turned + vz * half
    fx, fy, fz = -(stiffness * x + damping * vx), -(stiffness * y + damping * vy), -(stiffness * z + damping * vz)
    length_sq = fx * fx + fy * fy + fz * fz
    if length_sq <= most * most:
        return fx, fy, fz, x, y, z
    share = most / math.sqrt(length_sq)
    fx, fy, fz = fx * share, fy * share, fz * share
    if stiffness > 0.0:
        x, y, z = -fx / stiffness, -fy / stiffness, -fz / stiffness
    return fx, fy, fz, x, y, z


@exact
def normal_energy(kind, stiffness, unloading, pull, cohesion, depth, radius, deepest):
    """Energy stored in the normal direction of a contact, J: ∫ F dδ from 0, of plastic contact what can be got back."""
    held = -2.0 * math.pi * cohesion * radius * depth
    if kind == HERTZ:
        return held + 8.0 / 15.0 * stiffness * math.sqrt(radius * depth) * depth * depth
    if kind == PLASTIC:
        force = normal_force(kind, stiffness, 0.0, 0.0, unloading, pull, depth, radius, 1.0, deepest)[0]
        return held + (0.5 * force * force / unloading if force > 0.0 else 0.0)
    return held + 0.5 * stiffness * depth * depth
