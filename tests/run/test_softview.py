"""What soft worlds show: the same as their state, in every format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from impinge.bodies.motion import Motion
from impinge.output import SoftFiles, draw_soft, figure
from impinge.run.soft import SoftWorld

from ..bodies.soft_bodies import sheet
from ..output.gltf_rules import Gltf
from .softworlds import CABLE, CLOTH, FLOOR, busy_world, ring


def test_bodies_of_a_frame() -> None:
    world = busy_world()
    frame = world.frame()
    np.testing.assert_array_equal(frame.positions, world.positions)
    np.testing.assert_array_equal(frame.faces, sheet(6, 6, kind="alternating")[1])
    np.testing.assert_array_equal(frame.cables[0], [*range(36, 46), 36])  # closed
    np.testing.assert_array_equal(frame.cables[1], range(46, 55))
    np.testing.assert_array_equal(frame.bodies, np.repeat([0, 1, 2], [36, 10, 9]))
    np.testing.assert_array_equal(frame.radii, np.full(55, 0.01))
    np.testing.assert_array_equal(frame.point_data["velocity"][40], [0, 0, -1])
    assert [len(mesh.faces) for mesh in frame.obstacles] == [80, 2]
    for values in [*frame.point_data.values(), *frame.edge_data.values(), *frame.face_data.values()]:
        assert values.dtype == np.float64
    assert frame.time == 0


def test_obstacles_are_where_they_are_now() -> None:
    world = SoftWorld(dt=0.01)
    world.add_cable(ring(5, 0.1, 1.0), **CABLE)
    world.add_obstacle(FLOOR, Motion((0, 0, -1)))
    world.step(3)
    np.testing.assert_allclose(world.frame().obstacles[0].vertices[:, 2], -0.03)


def test_strains() -> None:
    """A cable that is fixed and pulled; a cloth likewise, along its warp."""
    world = SoftWorld(gravity=(0, 0, 0), dt=0.5)
    vertices, faces = sheet(3, 3, kind="alternating")
    cloth = world.add_cloth((vertices, faces), **CLOTH)
    rope = world.add_cable(np.linspace([0, 0, 1], [1, 0, 1], 5), **CABLE)
    for nodes, x in ((cloth.nodes, vertices[:, 0]), (rope.nodes, np.linspace(0, 1, 5))):
        numbers = np.arange(nodes.start, nodes.stop)
        world.fix(numbers[x == 0])
        world.fix(numbers[x == 1], (0.5, 0, 0))
    world.step(1)
    for number, driven in enumerate(world._drivers.fixed):
        world._drivers.fixed[number] = driven._replace(velocity=np.zeros(3))
    world.step(20)
    frame = world.frame()
    np.testing.assert_allclose(frame.edge_data["strain"], 0.25, rtol=1e-5)
    np.testing.assert_allclose(frame.face_data["strain"], 0.25, rtol=0.05)
    np.testing.assert_allclose(frame.face_data["shear"], 0.0, atol=0.05)


def test_forces_of_contact_carry_what_lies_on_the_floor() -> None:
    world = SoftWorld(dt=0.02)
    world.add_cable(np.linspace([-0.5, 0, 0.006], [0.5, 0.01, 0.006], 11), **CABLE)
    world.add_obstacle(FLOOR)
    world.step(40)
    forces = world.frame().point_data["contact_force"]
    weight = 9.81 * CABLE["mass_per_length"] * np.hypot(1, 0.01)
    np.testing.assert_allclose(forces.sum(axis=0), [0, 0, weight], atol=1e-4 * weight)
    assert (forces[:, 2] > 0).all()


def test_contacts_among_soft_bodies_push_both_ways() -> None:
    world = SoftWorld(gravity=(0, 0, 0))
    world.add_cable(np.linspace([-0.3, 0.01, 0], [0.3, 0, 0], 6), velocity=(0, 0, 1), **CABLE)
    world.add_cable(np.linspace([0, -0.3, 0.021], [0.01, 0.3, 0.021], 7), **CABLE)
    world.step(1)
    forces = world.frame().point_data["contact_force"]
    assert forces[6:, 2].sum() > 0.01
    np.testing.assert_allclose(forces.sum(axis=0), 0, atol=1e-12)


def test_the_same_after_a_file(tmp_path: Path) -> None:
    world = busy_world(functions=False)
    world.step(5)
    world.save(tmp_path / "world.h5")
    one, other = world.frame(), SoftWorld.load(tmp_path / "world.h5").frame()
    assert np.abs(one.point_data["contact_force"]).max() > 0.1
    for name in ("point_data", "edge_data", "face_data"):
        np.testing.assert_equal(getattr(one, name), getattr(other, name))


def test_looking_changes_nothing() -> None:
    one, other = busy_world(), busy_world()
    for _ in range(4):
        one.step()
        one.frame()
        other.step()
    np.testing.assert_array_equal(one.positions, other.positions)


def test_all_formats(tmp_path: Path) -> None:
    world = busy_world()
    files = SoftFiles(tmp_path, ["vtp", "obj", "ply", "glb"], [body.name for body in world.bodies])
    frames = []
    for _ in range(3):
        frames.append(world.frame())
        files.write(frames[-1])
        world.step(2)
    files.finish()
    for found, frame in zip(files, frames, strict=True):
        np.testing.assert_array_equal(found.positions, frame.positions)
        np.testing.assert_equal(found.edge_data["strain"], frame.edge_data["strain"])
        assert [cable.tolist() for cable in found.cables] == [cable.tolist() for cable in frame.cables]
    assert "o ring\n" in (tmp_path / "frames" / "frame_000000.obj").read_text()
    assert (tmp_path / "frames" / "frame_000002.ply").exists()
    meshes = Gltf(tmp_path / "animation.glb").json["meshes"]
    assert [mesh["name"] for mesh in meshes] == ["cloth_0", "ring", "cable_2", "obstacle_0", "obstacle_1"]


@pytest.mark.parametrize("values", [None, "strain", "contact_force"])
def test_picture(values: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.setattr(figure, "SIZE", (400, 300))
    draw_soft(tmp_path / "a.png", busy_world().frame(), values)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
