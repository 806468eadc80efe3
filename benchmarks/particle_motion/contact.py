"""The contact law of the benchmark's cases, and what each code calls its numbers.

All codes compute a linear spring-dashpot, and with friction a tangential spring that Coulomb's law cuts:

    normal      k δ − c v_n                     k_n = k
    tangential  −k_t ξ − c_t v_t, at most μ F_n   k_t = 2/7 k, c_t = 2/7 c

The dashpot gives a restitution e for any two masses: c = 2 β √(k m*), β = −ln e / √(π² + ln² e), with
m* = m_i m_j / (m_i + m_j), and the sphere's own mass at a wall. A wall thus has a damping rate of its own:

    code      normal          tangential                  damping
    impinge   stiffness = k   tangential = 2/7 (default)  restitution = e
    LAMMPS    Kn = k          Kt = 2/7 k                  gamma_n = c / m*, gamma_t = 2/7 gamma_n; of granular
                                                          mass_velocity, with the ratio, 2/7, in place of gamma_t
    LIGGGHTS  kn = k          kt = 2/7 k                  gamman = c / m*, gammat = 2/7 gamman; walls are a material
                                                          of their own
    Yade      kn = 2 k        ks = 4/7 k                  cn = 2 c, cs = 4/7 c of ViscElMat: two bodies are in a row;
                                                          walls have what makes the row right

Friction: μ; LAMMPS xmu, LIGGGHTS coefficientFriction, Yade frictionAngle = atan μ. Without friction and damping all
codes compute the same numbers up to rounding. With friction they differ in details: LAMMPS takes the whole radius as
lever arm of the relative velocity (LIGGGHTS and impinge: up to the contact point), `gran/hooke/history` and LIGGGHTS
project the spring into the plane of contact without keeping its length, and LIGGGHTS and Yade cut the spring's force
alone and drop the dashpot where it slides. Kinetic energies then agree in the first digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SHARE = 2.0 / 7.0  # tangential over normal, both of stiffness and of damping


@dataclass(frozen=True)
class Contact:
    """A linear spring-dashpot."""

    stiffness: float  # N/m
    restitution: float = 1.0
    friction: float = 0.0

    @property
    def is_rough(self) -> bool:
        return self.friction > 0

    def damping(self, mass: float) -> float:
        """The dashpot's coefficient c for an effective mass, N s/m."""
        log = math.log(self.restitution)
        return 2 * -log / math.hypot(math.pi, log) * math.sqrt(self.stiffness * mass)

    def rates(self, mass: float) -> tuple[float, float]:
        """Damping over effective mass, c / m*, between two spheres of this mass, and between one and a wall, 1/s."""
        return self.damping(0.5 * mass) / (0.5 * mass), self.damping(mass) / mass
