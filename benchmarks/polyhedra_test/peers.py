"""The peers, with the same masses, moments, friction and gravity; bodies are unions of their convex parts.

Both know no bodies that are not convex: MuJoCo takes the convex hull of every mesh, and PyBullet has triangle meshes
for what stands still only. L, U and star are convex parts exactly; the torus is 12 hulls.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from benchmarks import command
from benchmarks.polyhedra_test import scenes
from benchmarks.polyhedra_test.engine import Engine, Pose, Setting
from benchmarks.polyhedra_test.kinds import Floats, Kind
from benchmarks.polyhedra_test.scenes import Bodies


@dataclass(frozen=True)
class PeerSetting:
    """How a peer is used for a run."""

    name: str
    dt: float  # s
    value: float = 0.0  # time constant of contact, s, or iterations

    def __str__(self) -> str:
        return self.name


def _words(array: Any) -> str:
    return " ".join(map(repr, np.asarray(array, float).ravel().tolist()))


def _walls(bodies: Bodies) -> list[tuple[tuple[float, float, float], tuple[float, float, float]]]:
    """Points and inward normals of floor and sides."""
    x, y = bodies.box
    return [
        ((0, 0, 0), (0, 0, 1)), ((0, 0, 0), (1, 0, 0)), ((0, 0, 0), (0, 1, 0)),
        ((x, 0, 0), (-1, 0, 0)), ((0, y, 0), (0, -1, 0)),
    ]  # fmt: skip


def _quaternions(rotations: Floats, scalar_first: bool) -> Floats:
    return np.asarray(Rotation.from_matrix(rotations).as_quat(scalar_first=scalar_first))


# MuJoCo


def _model(bodies: Bodies, setting: PeerSetting) -> str:
    meshes, hulls = [], []
    for kind in bodies.kinds:
        names = [f"{kind.name}{k}" for k in range(len(kind.parts))]
        meshes += [
            f'<mesh name="{name}" vertex="{_words(part)}"/>' for name, part in zip(names, kind.parts, strict=True)
        ]
        hulls.append("".join(f'<geom type="mesh" mesh="{name}"/>' for name in names))
    quaternions, made = _quaternions(bodies.rotations, True), []
    for k, number in enumerate(bodies.of.tolist()):
        mass = float(bodies.masses[k])
        made.append(
            f'<body pos="{_words(bodies.positions[k])}" quat="{_words(quaternions[k])}"><freejoint/>'
            f'<inertial pos="0 0 0" mass="{mass!r}" diaginertia="{_words(mass * bodies.kinds[number].turning)}"/>'
            f"{hulls[number]}</body>"
        )
    walls = "".join(
        f'<geom type="plane" size="0 0 1" pos="{_words(point)}" zaxis="{_words(normal)}"/>'
        for point, normal in _walls(bodies)
    )
    return f"""<mujoco>
<option timestep="{setting.dt!r}" gravity="0 0 {-scenes.GRAVITY}"/><size memory="2G"/>
<default><geom friction="{scenes.FRICTION} 0.005 0.0001" solref="{setting.value!r} 1"/></default>
<asset>{"".join(meshes)}</asset><worldbody>{walls}{"".join(made)}</worldbody></mujoco>"""


class MujocoSimulation:
    """Bodies in MuJoCo."""

    def __init__(self, mujoco: Any, bodies: Bodies, setting: PeerSetting, threads: int) -> None:
        self._mujoco, self.dt = mujoco, setting.dt
        self._model = mujoco.MjModel.from_xml_string(_model(bodies, setting))
        self._data = data = mujoco.MjData(self._model)
        if threads > 1 and hasattr(mujoco, "mju_threadpool"):
            mujoco.mju_threadpool(data, threads)
        turned = (bodies.spins[:, None] @ bodies.rotations)[:, 0]  # spins of free joints are in the frame of the body
        data.qvel[:] = np.hstack([bodies.velocities, turned]).ravel()

    def step(self) -> None:
        self._mujoco.mj_step(self._model, self._data)

    def pose(self) -> Pose:
        q = np.array(self._data.qpos).reshape(-1, 7)
        return Pose(q[:, :3].copy(), Rotation.from_quat(q[:, 3:], scalar_first=True).as_matrix())


class Mujoco:
    """The library."""

    name = "MuJoCo"

    def __init__(self) -> None:
        import mujoco

        self._mujoco = mujoco
        mujoco.set_mju_user_warning(lambda _: None)

    def version(self) -> str:
        return str(self._mujoco.__version__)

    def settings(self) -> list[Setting]:
        """Its defaults, and contacts as stiff as shorter steps allow."""
        return [PeerSetting("defaults", 2e-3, 0.02), PeerSetting("stiff", 1e-3, 2e-3)]

    def build(self, bodies: Bodies, setting: Setting, threads: int) -> MujocoSimulation:
        assert isinstance(setting, PeerSetting)
        return MujocoSimulation(self._mujoco, bodies, setting, threads)


# PyBullet


def _object_file(kind: Kind) -> str:
    """Parts in Wavefront's format: of each object PyBullet takes the convex hull."""
    lines, first = [], 1
    for k, part in enumerate(kind.parts):
        lines.append(f"o part{k}")
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in part.tolist()]
        middle = part.mean(axis=0)
        for a, b, c in ConvexHull(part).simplices.tolist():
            outwards = np.cross(part[b] - part[a], part[c] - part[a]) @ (part[a] - middle) > 0
            lines.append("f " + " ".join(str(first + v) for v in ((a, b, c) if outwards else (a, c, b))))
        first += len(part)
    return "\n".join(lines) + "\n"


class BulletSimulation:
    """Bodies in PyBullet, which uses one thread."""

    def __init__(self, bullet: Any, bodies: Bodies, setting: PeerSetting) -> None:
        self._bullet, self.dt = bullet, setting.dt
        self._client = client = bullet.connect(bullet.DIRECT)
        bullet.setGravity(0, 0, -scenes.GRAVITY, physicsClientId=client)
        bullet.setPhysicsEngineParameter(
            fixedTimeStep=setting.dt, numSolverIterations=round(setting.value), physicsClientId=client
        )
        rough = {"lateralFriction": scenes.FRICTION**0.5, "restitution": scenes.RESTITUTION**0.5}  # products count
        for point, normal in _walls(bodies):
            plane = bullet.createCollisionShape(bullet.GEOM_PLANE, planeNormal=normal, physicsClientId=client)
            wall = bullet.createMultiBody(0, plane, basePosition=point, physicsClientId=client)
            bullet.changeDynamics(wall, -1, physicsClientId=client, **rough)
        with tempfile.TemporaryDirectory() as folder:
            hulls = []
            for kind in bodies.kinds:
                path = Path(folder) / f"{kind.name}.obj"
                path.write_text(_object_file(kind), encoding="utf-8")
                hulls.append(
                    bullet.createCollisionShape(bullet.GEOM_MESH, fileName=str(path), physicsClientId=client)
                )  # fmt: skip
        self._ids = []
        quaternions = _quaternions(bodies.rotations, False)
        for k, number in enumerate(bodies.of.tolist()):
            mass = float(bodies.masses[k])
            body = bullet.createMultiBody(
                mass, hulls[number], basePosition=bodies.positions[k], baseOrientation=quaternions[k],
                physicsClientId=client,
            )  # fmt: skip
            bullet.changeDynamics(
                body, -1, localInertiaDiagonal=mass * bodies.kinds[number].turning, linearDamping=0, angularDamping=0,
                physicsClientId=client, **rough,
            )  # fmt: skip
            bullet.resetBaseVelocity(body, bodies.velocities[k], bodies.spins[k], physicsClientId=client)
            self._ids.append(body)

    def step(self) -> None:
        self._bullet.stepSimulation(physicsClientId=self._client)

    def pose(self) -> Pose:
        found = [self._bullet.getBasePositionAndOrientation(body, physicsClientId=self._client) for body in self._ids]
        turns = Rotation.from_quat(np.array([turn for _, turn in found])).as_matrix()
        return Pose(np.array([place for place, _ in found]), turns)

    def __del__(self) -> None:
        try:
            self._bullet.disconnect(self._client)
        except Exception:  # it is gone already
            return


class Bullet:
    """The library."""

    name = "PyBullet"

    def __init__(self) -> None:
        import pybullet

        self._bullet = pybullet

    def version(self) -> str:
        import importlib.metadata

        return importlib.metadata.version("pybullet")

    def settings(self) -> list[Setting]:
        """Its defaults, and shorter steps."""
        return [PeerSetting("defaults", 1 / 240, 50), PeerSetting("short steps", 1e-3, 50)]

    def build(self, bodies: Bodies, setting: Setting, threads: int) -> BulletSimulation:
        assert isinstance(setting, PeerSetting)
        return BulletSimulation(self._bullet, bodies, setting)


CLASSES = {"mujoco": Mujoco, "pybullet": Bullet}


def _trial(peer: Engine) -> None:
    """Fails where this version lacks something."""
    simulation = peer.build(scenes.thrown(4, 200), peer.settings()[0], 1)
    simulation.step()
    simulation.pose()


def load(names: Iterable[str]) -> tuple[list[Engine], dict[str, str]]:
    """The peers that are wanted and there, and of others the reason and the way to have them."""
    ready, absent = command.load(names, CLASSES, _trial)
    ways = {name: f"{why}; pip install {name}" if "No module" in why else why for name, why in absent.items()}
    return ready, ways
