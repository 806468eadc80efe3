"""Contact laws of two bodies that meet head on, or slide."""

from __future__ import annotations

import math

import pytest

from impinge.response import Material, _laws
from impinge.response.materials import law_table


def collide(material: Material, radius: float, mass: float, speed: float, steps: int) -> tuple[float, float]:
    """Speed after a head-on collision of a reduced mass, and its duration, by a fourth-order scheme."""
    row = law_table([material])[0]
    duration = 4 * contact_time(material, radius, mass, speed)
    dt = duration / steps
    deepest = 0.0

    def acceleration(depth: float, rate: float) -> float:
        if depth <= 0:
            return 0.0
        elastic, coefficient, _, _ = _laws.normal_force(
            row[_laws.KIND], row[_laws.STIFFNESS], row[_laws.DAMPING], row[_laws.BETA], row[_laws.UNLOADING],
            row[_laws.PULL], depth, radius, mass, max(deepest, depth),
        )  # fmt: skip
        return -(elastic + coefficient * rate) / mass

    depth, rate = 1e-300, speed
    for step in range(steps):
        k1 = rate, acceleration(depth, rate)
        k2 = rate + dt / 2 * k1[1], acceleration(depth + dt / 2 * k1[0], rate + dt / 2 * k1[1])
        k3 = rate + dt / 2 * k2[1], acceleration(depth + dt / 2 * k2[0], rate + dt / 2 * k2[1])
        k4 = rate + dt * k3[1], acceleration(depth + dt * k3[0], rate + dt * k3[1])
        depth += dt / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        rate += dt / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        deepest = max(deepest, depth)
        if depth <= 0:
            return -rate, (step + 1) * dt
    raise AssertionError("they did not part")


def contact_time(material: Material, radius: float, mass: float, speed: float) -> float:
    """Of an undamped contact, s."""
    if material.stiffness is not None:
        return math.pi * math.sqrt(mass / material.stiffness)
    assert material.young is not None
    modulus = material.young / (2 * (1 - material.poisson**2))
    return 2.943 * (15 * mass / (16 * modulus * math.sqrt(radius))) ** 0.4 * speed**-0.2  # Hertz


@pytest.mark.parametrize("restitution", [0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("mass", [1e-3, 1.0, 500.0])
@pytest.mark.parametrize("law", [{"stiffness": 1e5}, {"young": 1e7, "poisson": 0.25}])
def test_restitution_is_what_was_asked_for(restitution: float, mass: float, law: dict[str, float]) -> None:
    material = Material(2500, restitution=restitution, **law)
    after, _ = collide(material, 0.01, mass, 0.7, 20000)
    assert after == pytest.approx(0.7 * restitution, rel=2e-3)


@pytest.mark.parametrize("law", [{"stiffness": 1e5}, {"young": 1e7, "poisson": 0.25}])
def test_duration_of_contacts(law: dict[str, float]) -> None:
    material = Material(2500, **law)
    _, duration = collide(material, 0.01, 0.02, 0.3, 20000)
    assert duration == pytest.approx(contact_time(material, 0.01, 0.02, 0.3), rel=1e-3)


@pytest.mark.parametrize("ratio", [1.0, 2.0, 5.0])
def test_plastic_rebound(ratio: float) -> None:
    """On the way back only k₁/k₂ of the energy returns: e = √(k₁/k₂)."""
    material = Material(2500, stiffness=1e5, unloading=ratio * 1e5)
    after, _ = collide(material, 0.01, 0.02, 0.3, 40000)
    assert after == pytest.approx(0.3 / math.sqrt(ratio), rel=2e-3)


def test_a_sliding_sphere_ends_up_rolling_with_five_sevenths_of_its_speed() -> None:
    mass, radius, weight, friction = 0.02, 0.01, 0.02 * 9.81, 0.3
    stiffness, dt = 1e4, 1e-6
    inertia, damping = 0.4 * mass * radius**2, 0.2 * math.sqrt(mass * stiffness)
    speed, spin, spring = 1.0, 0.0, 0.0
    heat = 0.0
    for _ in range(300_000):
        velocity = speed - radius * spin
        force, _, _, spring, _, _ = _laws.slide(
            spring, 0.0, 0.0, 0.0, 0.0, 1.0, velocity, 0.0, 0.0, stiffness, damping, friction * weight, dt
        )
        speed += force / mass * dt
        spin -= radius * force / inertia * dt
        spring += 0.5 * dt * velocity
        heat -= force * velocity * dt
    assert speed == pytest.approx(5 / 7, rel=1e-3)
    assert radius * spin == pytest.approx(5 / 7, rel=1e-3)
    energy = 0.5 * mass * speed**2 + 0.5 * inertia * spin**2
    assert energy + heat == pytest.approx(0.5 * mass, rel=1e-3)


def test_a_block_on_a_slope_holds_up_to_the_friction_limit() -> None:
    mass, friction, stiffness, dt = 1.0, 0.5, 1e5, 1e-5
    for share, holds in ((0.98, True), (1.02, False)):
        angle = math.atan(friction) * share
        pull, press = mass * 9.81 * math.sin(angle), mass * 9.81 * math.cos(angle)
        speed = spring = way = 0.0
        for _ in range(100_000):
            force, _, _, spring, _, _ = _laws.slide(
                spring, 0.0, 0.0, 0.0, 0.0, 1.0, speed, 0.0, 0.0, stiffness, math.sqrt(mass * stiffness),
                friction * press, dt,
            )  # fmt: skip
            spring += 0.5 * dt * speed
            speed += (pull + force) / mass * dt
            way += speed * dt
        assert (way < 1e-3) == holds


def test_a_spring_turns_with_the_plane_and_keeps_its_length() -> None:
    for angle in (0.0, 0.3, 1.0):
        n = (math.sin(angle), 0.0, math.cos(angle))
        fx, fy, fz, x, y, z = _laws.slide(3.0, 4.0, 0.0, *n, 0.0, 0.0, 0.0, 1.0, 0.0, 100.0, 0.1)
        assert math.hypot(x, y, z) == pytest.approx(5.0)
        assert x * n[0] + y * n[1] + z * n[2] == pytest.approx(0.0, abs=1e-15)
        assert (fx, fy, fz) == (-x, -y, -z)


@pytest.mark.parametrize(
    ("law", "depth"), [({"stiffness": 1e5}, 1e-4), ({"young": 1e7}, 1e-4), ({"stiffness": 1e5, "cohesion": 0.3}, 1e-4)]
)
def test_energy_is_the_integral_of_the_force(law: dict[str, float], depth: float) -> None:
    row = law_table([Material(2500, **law)])[0]
    kind, k, cohesion = row[_laws.KIND], row[_laws.STIFFNESS], row[_laws.COHESION]
    total, count = 0.0, 2000
    for i in range(count):
        elastic = _laws.normal_force(kind, k, 0.0, 0.0, 0.0, 0.0, (i + 0.5) * depth / count, 0.01, 1.0, 0.0)[0]
        total += (elastic - 2 * math.pi * cohesion * 0.01) * depth / count
    assert _laws.normal_energy(kind, k, 0.0, 0.0, cohesion, depth, 0.01, 0.0) == pytest.approx(total, rel=1e-5)
