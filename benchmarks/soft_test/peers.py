"""MuJoCo, the peer: its flexes, each scene with the same masses, stiffnesses and shapes.

Cloth has MuJoCo's continuum elasticity, with the Young's modulus E and thickness t that give the stretching and bending
stiffness of the scene, E t and E t³/12. Cables have its rod elasticity for bending, and edge equality constraints for
stretching, as rods have no other implicit one; the solver's parameters are those for which a constraint at rest is a
spring of the scene's stiffness, and damped as it. Cables are plain flexes, because those that `flexcomp` makes have
twist, which no scene asks for and which takes a third of the time.

What its documentation recommends for deformables is taken: the integrator `discrete` and primitive obstacles (for a
cylinder a capsule, whose contacts are cheaper; its ends are never reached). Contact is one of

- rows of the constraint solver, as stiff as steps allow and without friction,
- `passive`, implicit penalty forces, of cloth,
- `ipc`, which verifies by continuous collision detection that nothing passes through: experimental, of cloth only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import command
from benchmarks.soft_test import scenes
from benchmarks.soft_test.engine import Setting
from benchmarks.soft_test.scenes import GRAVITY, Body, Cable, Cloth, Cylinder, Floats, Floor, Obstacle, Scene

ROWS, PASSIVE, IPC = "rows", "passive", "ipc"
_IMPEDANCE = 0.9  # of the constraints that stand for springs, MuJoCo's default
_NO_FRICTION = 'condim="1"'
_CONTACT = (
    f'{_NO_FRICTION} priority="1" solref="0.001 1"'  # priority: without it, the mean with the obstacle's is taken
)
_SLIDES = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))


@dataclass(frozen=True)
class MujocoSetting:
    """How MuJoCo is used for a run."""

    contact: str
    solver: str
    dt: float  # s

    def __str__(self) -> str:
        return f"{self.contact}, {self.solver}"


# Models


def _words(array: Any) -> str:
    return " ".join(map(repr, np.asarray(array).ravel().tolist()))


def _obstacle(obstacle: Obstacle) -> str:
    if isinstance(obstacle, Floor):
        return f'<geom type="plane" size="4 4 1" pos="0 0 {obstacle.height!r}" {_NO_FRICTION}/>'
    shape = f'type="sphere" size="{obstacle.radius!r}"'
    if isinstance(obstacle, Cylinder):
        shape = f'type="capsule" size="{obstacle.radius!r} {0.5 * obstacle.length!r}" euler="90 0 0"'
    return f'<geom {shape} pos="{_words(obstacle.centre)}" {_NO_FRICTION}/>'


def _rest(body: Body) -> Floats:
    """Where nodes are when nothing is strained: a cable is straight there."""
    if isinstance(body, Cloth):
        return body.x
    along = np.append(0.0, np.cumsum(body.lengths))
    return np.column_stack([along, np.zeros_like(along), np.zeros_like(along)])


def _elasticity(body: Body) -> str:
    if isinstance(body, Cable):
        young = 4 * body.bend / (math.pi * body.radius**4)
        return f'<elasticity young="{young!r}" poisson="0" damping="{body.damping!r}"/>'
    thickness = math.sqrt(12 * body.bend / body.stretch)
    young = body.stretch / thickness
    return (
        f'<elasticity young="{young!r}" poisson="0" thickness="{thickness!r}" elastic2d="both" '
        f'damping="{body.damping!r}"/>'
    )


def _springs(cable: Cable) -> str:
    """Edge constraints that are springs of stiffness EA/l.

    At rest a constraint is a spring of stiffness k/(d R), R = (1 − d)/d (1/m₁ + 1/m₂)/2, with the impedance d and the
    parameter k; its damping goes the same way.
    """
    length = float(cable.lengths.mean())
    mass = cable.mass_per_length * length
    k = cable.stretch / length * (1 - _IMPEDANCE) / mass
    return (
        f'<equality><flex flex="body" solref="{-k!r} {-cable.damping * k!r}" '
        f'solimp="{_IMPEDANCE} {_IMPEDANCE} 0.001"/></equality>'
    )


def _bodies(scene: Scene) -> str:
    """One for each node: three slides, or none if it stays."""
    made = []
    for node, (place, mass) in enumerate(zip(_rest(scene.body), scene.body.masses, strict=True)):
        inertial = f'<inertial pos="0 0 0" mass="{float(mass)!r}" diaginertia="1e-8 1e-8 1e-8"/>'
        slides = "" if node in scene.fixed else _SLIDES
        made.append(f'<body name="n{node}" pos="{_words(place)}">{inertial}{slides}</body>')
    return "".join(made)


def _model(scene: Scene, setting: MujocoSetting) -> str:
    """The scene in MuJoCo's own language."""
    body = scene.body
    is_cloth = isinstance(body, Cloth)
    elements = body.faces if isinstance(body, Cloth) else body.edges
    passive = ' passive="true"' if setting.contact == PASSIVE else ""
    # Without `refsafe` cables sink in less, for slightly larger strains at long steps; cloth is strained far more.
    flag = 'ipc="enable"' if setting.contact == IPC else "" if is_cloth else 'refsafe="disable"'
    return f"""<mujoco>
<option timestep="{setting.dt!r}" gravity="0 0 {-GRAVITY}" integrator="discrete" solver="{setting.solver}"
  tolerance="1e-6" iterations="100"><flag {flag}/></option>
<size memory="1G"/>
<worldbody>{"".join(map(_obstacle, scene.obstacles))}{_bodies(scene)}</worldbody>
<deformable><flex name="body" dim="{2 if is_cloth else 1}" radius="{body.gap!r}"
  body="{" ".join(f"n{node}" for node in range(len(body.x)))}" element="{_words(elements)}">
<contact {_CONTACT}{passive} selfcollide="auto"/>{_elasticity(body)}</flex></deformable>
{"" if isinstance(body, Cloth) else _springs(body)}
</mujoco>"""


# Simulations


class MujocoSimulation:
    """A scene in MuJoCo."""

    def __init__(self, mujoco: Any, scene: Scene, setting: MujocoSetting, threads: int) -> None:
        self._mujoco = mujoco
        self._model = mujoco.MjModel.from_xml_string(_model(scene, setting))
        self._data = mujoco.MjData(self._model)
        if threads > 1:
            mujoco.mju_threadpool(self._data, threads)
        bodies = self._model.flex_vertbodyid
        fixed = np.isin(np.arange(len(scene.body.x)), scene.fixed)
        self._model.body_pos[bodies[fixed]] = scene.body.x[fixed]
        self._home = np.array(self._model.body_pos[bodies])
        self._free = np.flatnonzero(~fixed)
        self._places = self._model.jnt_qposadr[self._model.body_jntadr[bodies[self._free]]][:, None] + np.arange(3)
        self._data.qpos[self._places] = (scene.body.x - self._home)[self._free]

    def step(self) -> None:
        self._mujoco.mj_step(self._model, self._data)

    def positions(self) -> Floats:
        x = self._home.copy()
        x[self._free] += self._data.qpos[self._places]
        return x

    def trouble(self) -> str:
        names = [
            warning.name.removeprefix("mjWARN_").lower() for warning in self._mujoco.mjtWarning.__members__.values()
        ]
        counts = [int(warning.number) for warning in self._data.warning]
        return ", ".join(f"{name} {count}" for name, count in zip(names, counts, strict=False) if count)


class Mujoco:
    """The library."""

    name = "MuJoCo"

    def __init__(self) -> None:
        import mujoco

        self._mujoco = mujoco
        mujoco.set_mju_user_warning(lambda _: None)  # they are counted, and in the report

    def version(self) -> str:
        return str(self._mujoco.__version__)

    def settings(self, scene: Scene) -> list[Setting]:
        """With the faster solver, and steps from those that are fine to those that are too long."""
        if isinstance(scene.body, Cable):
            return [MujocoSetting(ROWS, "Newton", dt) for dt in (2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2)]
        ways = {ROWS: (2e-3, 5e-3, 1e-2), PASSIVE: (2e-3, 5e-3), IPC: (5e-3, 1e-2, 2e-2)}
        return [MujocoSetting(contact, "CG", dt) for contact, steps in ways.items() for dt in steps]

    def main_setting(self) -> Setting:
        return MujocoSetting(IPC, "CG", 1e-2)

    def reference(self) -> Setting:
        """Steps so short that cables are within 1 mm of where they are with half of them."""
        return MujocoSetting(ROWS, "Newton", 1e-4)

    def build(self, scene: Scene, setting: Setting, threads: int) -> MujocoSimulation:
        assert isinstance(setting, MujocoSetting)
        return MujocoSimulation(self._mujoco, scene, setting, threads)


def _trial(peer: Mujoco) -> None:
    """Fails where this version lacks something."""
    for scene in (scenes.cloth_on_sphere(4), scenes.cable_over_cylinder(4)):
        for setting in peer.settings(scene):
            peer.build(scene, setting, 1).step()


def load(names: Iterable[str]) -> tuple[Mujoco | None, dict[str, str]]:
    """The peer if it is wanted and there, and otherwise the reason."""
    ready, absent = command.load(names, {"mujoco": Mujoco}, _trial)
    return (ready[0] if ready else None), absent
