"""Runs inside Yade, in its own Python: ``yade -n -x -jTHREADS yade_script.py CASE.npz RESULT.npz``.

Yade knows velocities half a step before positions. The start is therefore taken back by half a step, and the end is
the mean of two steps, so that energies can be compared with codes that know both at the same time.
"""

import math
import os
import sys
import time
from typing import Any

import numpy as np
from yade import MatchMaker, O, Vector3, utils
from yade.wrapper import (
    Bo1_Sphere_Aabb,
    Bo1_Wall_Aabb,
    ForceResetter,
    FrictMat,
    Ig2_Sphere_Sphere_ScGeom,
    Ig2_Wall_Sphere_ScGeom,
    InsertionSortCollider,
    InteractionLoop,
    Ip2_FrictMat_FrictMat_FrictPhys,
    Ip2_ViscElMat_ViscElMat_ViscElPhys,
    Law2_ScGeom_FrictPhys_CundallStrack,
    Law2_ScGeom_ViscElPhys_Basic,
    NewtonIntegrator,
    ViscElMat,
)


def laws(case: Any) -> tuple[Any, ...]:
    """Materials of the spheres and of the walls, and the two functors of the contact law."""
    k, density = float(case["stiffness"]), float(case["density"])
    if case["friction"] == 0:
        smooth = FrictMat(young=1e7, poisson=0.3, frictionAngle=0.0, density=density)
        constant = {"kn": MatchMaker(algo="val", val=k), "ks": MatchMaker(algo="val", val=1e-6 * k)}
        return smooth, smooth, Ip2_FrictMat_FrictMat_FrictPhys(**constant), Law2_ScGeom_FrictPhys_CundallStrack()
    share, between, at_wall = float(case["share"]), float(case["damping"]), float(case["wall_damping"])
    # Two bodies are in a row: 1/c = 1/c_1 + 1/c_2.
    sphere_damping = 2 * between
    wall_damping = 1 / (1 / at_wall - 1 / sphere_damping)
    materials = [
        ViscElMat(
            kn=2 * k,
            ks=2 * share * k,
            cn=damping,
            cs=share * damping,
            frictionAngle=math.atan(float(case["friction"])),
            density=density,
        )
        for damping in (sphere_damping, wall_damping)
    ]
    return *materials, Ip2_ViscElMat_ViscElMat_ViscElPhys(), Law2_ScGeom_ViscElPhys_Basic()


def build(case: Any) -> tuple[list[Any], Any]:
    sphere_material, wall_material, contact, law = laws(case)
    O.materials.append(sphere_material)
    if wall_material is not sphere_material:
        O.materials.append(wall_material)
    for axis in range(3):
        for place, sense in ((0.0, 1), (float(case["box"][axis]), -1)):
            O.bodies.append(utils.wall(place, axis=axis, sense=sense, material=wall_material))
    gravity = Vector3(0, 0, -float(case["gravity"]))
    O.dt = float(case["dt"])
    back = -0.5 * O.dt * gravity  # at the start nothing else pulls that could not be left out
    spheres = []
    rows = (case[name].tolist() for name in ("centres", "radii", "velocities", "spins"))
    for centre, radius, velocity, spin in zip(*rows, strict=True):
        body = utils.sphere(centre, radius, material=sphere_material)
        body.state.vel, body.state.angVel = Vector3(*velocity) + back, Vector3(*spin)
        spheres.append(body)
    O.bodies.append(spheres)
    collider = InsertionSortCollider(
        [Bo1_Sphere_Aabb(), Bo1_Wall_Aabb()], verletDist=float(case["skin"]) * float(case["radii"].min())
    )
    geometry = [Ig2_Sphere_Sphere_ScGeom(), Ig2_Wall_Sphere_ScGeom()]
    O.engines = [
        ForceResetter(),
        collider,
        InteractionLoop(geometry, [contact], [law]),
        NewtonIntegrator(damping=0.0, gravity=gravity, exactAsphericalRot=False),
    ]
    return spheres, collider


def velocities(spheres: list[Any]) -> Any:
    return np.array([list(body.state.vel) + list(body.state.angVel) for body in spheres])


def main(source: str, target: str) -> None:
    case = np.load(source)
    spheres, collider = build(case)
    O.run(int(case["before"]), True)
    built = collider.numAction
    start = time.perf_counter()
    O.run(int(case["steps"]), True)
    seconds = time.perf_counter() - start
    built = collider.numAction - built
    centres = np.array([list(body.state.pos) for body in spheres])
    before = velocities(spheres)
    O.run(1, True)
    motion = 0.5 * (before + velocities(spheres))
    np.savez(target, seconds=seconds, built=built, centres=centres, velocities=motion[:, :3], spins=motion[:, 3:])


main(*sys.argv[1:3])
os._exit(0)  # its own way out may crash
