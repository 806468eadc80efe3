"""glTF files: by the rules, and showing what they should at every time."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from impinge import shapes
from impinge.errors import InputError, OutputWarning
from impinge.output import SoftFrame, Tubes, write_gltf
from tests.output.disks import full_after
from tests.output.gltf_rules import Gltf
from tests.output.softscenes import grid, scene, turn

TIMES = [0.5, 0.6, 0.8, 1.1]
NAMES = ["sheet", "rope", "ring"]


def written(path: Path, frames: Any, **options: Any) -> Gltf:
    write_gltf(path / "a.glb", frames, **options)
    return Gltf(path / "a.glb")


def parts_of(frame: SoftFrame) -> dict[str, Any]:
    """Triangles by name."""
    bodies = frame.bodies[frame.faces[:, 0]]
    soft = {name: frame.positions[frame.faces[bodies == k]] for k, name in enumerate(NAMES)}
    return {**soft, **{f"obstacle_{k}": mesh.triangles for k, mesh in enumerate(frame.obstacles)}}


def test_every_frame_is_as_it_was(tmp_path: Path) -> None:
    frames = [scene(time) for time in TIMES]
    file = written(tmp_path, frames, names=NAMES)
    tubes = Tubes()
    for frame in frames:
        for name, triangles in parts_of(tubes.of(frame)).items():
            np.testing.assert_allclose(file.triangles(name, frame.time - 0.5), triangles, atol=1e-6, err_msg=name)


def test_between_frames(tmp_path: Path) -> None:
    frames = [scene(time) for time in TIMES]
    file = written(tmp_path, frames, names=NAMES)
    tubes = Tubes()
    a, b = (parts_of(tubes.of(frame)) for frame in frames[:2])
    for name in ("sheet", "rope", "ring"):
        np.testing.assert_allclose(file.triangles(name, 0.05), (a[name] + b[name]) / 2, atol=1e-6)
    rolled = scene(0.55).obstacles[0].triangles  # it rolls at a constant rate
    np.testing.assert_allclose(file.triangles("obstacle_0", 0.05), rolled, atol=1e-6)


def test_what_moves_and_how(tmp_path: Path) -> None:
    file = written(tmp_path, [scene(time) for time in TIMES], names=NAMES)
    (animation,) = file.json["animations"]
    names = [node["name"] for node in file.json["nodes"]]
    channels = {(names[c["target"]["node"]], c["target"]["path"]) for c in animation["channels"]}
    assert {("sheet", "weights"), ("rope", "weights"), ("ring", "translation")} <= channels
    assert {("obstacle_0", "rotation"), ("obstacle_0", "translation")} <= channels
    assert not {("ring", "weights"), ("obstacle_0", "weights")} & channels
    assert not any(name == "obstacle_1" for name, _ in channels)
    for mesh in file.json["meshes"]:
        assert len(mesh.get("weights", [])) == (3 if mesh["name"] in ("sheet", "rope") else 0)
    assert file.json["meshes"][0]["extras"]["targetNames"] == ["0.1 s", "0.3 s", "0.6 s"]


def test_colours_and_axes(tmp_path: Path) -> None:
    file = written(tmp_path, [scene()], names=NAMES)
    colours = [material["pbrMetallicRoughness"]["baseColorFactor"] for material in file.json["materials"]]
    assert len({tuple(colour) for colour in colours}) == 4  # two obstacles have the same
    assert all(material["doubleSided"] for material in file.json["materials"])
    assert "animations" not in file.json
    loaded = trimesh.load(tmp_path / "a.glb")
    assert set(loaded.geometry) == {"sheet", "rope", "ring", "obstacle_0", "obstacle_1"}
    low, high = loaded.bounds
    assert high[1] == pytest.approx(2.5)  # the top of the box is up, along y
    assert low[1] == pytest.approx(-1.3)


def test_trimesh_reads_the_first_frame(tmp_path: Path) -> None:
    frames = [scene(time) for time in TIMES]
    written(tmp_path, frames, names=NAMES)
    loaded = trimesh.load(tmp_path / "a.glb")
    for name, triangles in parts_of(Tubes().of(frames[0])).items():
        transform, geometry = loaded.graph[name]
        mesh = loaded.geometry[geometry].copy()
        mesh.apply_transform(transform)
        upright = mesh.triangles @ turn(np.pi / 2, 0).T  # back to z upwards
        found, wanted = (np.sort(rows.reshape(-1, 3), axis=0) for rows in (upright, triangles))
        np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_normals_follow_the_shape(tmp_path: Path) -> None:
    points, faces = grid(5)
    tilted = points @ turn(0.3, 0).T * [1, 1.1, 1]
    file = written(tmp_path, [SoftFrame(0, points, faces), SoftFrame(1, tilted, faces)])
    (primitive,) = file.json["meshes"][0]["primitives"]
    base = file.arrays[primitive["attributes"]["NORMAL"]]
    np.testing.assert_allclose(base, np.tile([0, 0, 1], (25, 1)), atol=1e-6)
    across = np.cross(tilted[5] - tilted[0], tilted[1] - tilted[0])
    wanted = np.tile(across / np.linalg.norm(across), (25, 1))
    np.testing.assert_allclose(base + file.arrays[primitive["targets"][0]["NORMAL"]], wanted, atol=1e-6)


def test_obstacles_that_change_their_shape(tmp_path: Path) -> None:
    ball = shapes.icosphere(1)
    frames = [SoftFrame(t, [], obstacles=[(ball.vertices * [1, 1, 1 + t], ball.faces)]) for t in (0.0, 1.0, 2.0)]
    file = written(tmp_path, frames)
    np.testing.assert_allclose(file.triangles("obstacle_0", 2.0), ball.triangles * [1, 1, 3], atol=1e-6)
    np.testing.assert_allclose(file.triangles("obstacle_0", 0.5), ball.triangles * [1, 1, 1.5], atol=1e-6)


@pytest.mark.parametrize("mesh", [shapes.box([1, 2, 3]), shapes.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])])
def test_whole_turns(tmp_path: Path, mesh: shapes.Mesh) -> None:
    """Solid and flat bodies, over several turns, half turns among them, without a mirror image."""
    frames = [
        SoftFrame(t, [], obstacles=[mesh.transformed(turn(np.pi / 2 * t, 1) @ turn(0.1 * t), [t, 0, 0])])
        for t in range(10)
    ]
    file = written(tmp_path, frames)
    assert "weights" not in file.json["meshes"][0]
    for t, frame in enumerate(frames):
        np.testing.assert_allclose(file.triangles("obstacle_0", t), frame.obstacles[0].triangles, atol=3e-6)


def test_too_many_frames_are_thinned(tmp_path: Path) -> None:
    frames = [scene(t / 100) for t in range(30)]
    with pytest.warns(OutputWarning, match="10 of 30 frames are written, to have no more than 10"):
        file = written(tmp_path, frames, names=NAMES, most_frames=10)
    assert len(file.json["meshes"][0]["weights"]) == 9
    for t in (0, 29):
        np.testing.assert_allclose(
            file.triangles("sheet", t / 100), frames[t].positions[frames[t].faces], atol=1e-6
        )  # fmt: skip


@pytest.mark.parametrize("limit", [1.0, 2e4, 1e5])
def test_size_is_limited(tmp_path: Path, limit: float) -> None:
    ball = shapes.icosphere(2)
    frames = [
        scene(t / 100, obstacles=[(ball.vertices * [1, 1, 1 + t], ball.faces)]) for t in range(40)
    ]  # fmt: skip
    with pytest.warns(OutputWarning, match="of 40 frames are written"):
        file = written(tmp_path, frames, most_bytes=limit)
    changing = [mesh for mesh in file.json["meshes"] if "weights" in mesh]
    count = len(changing[0]["weights"]) + 1
    vertices = sum(len(file.arrays[mesh["primitives"][0]["attributes"]["POSITION"]]) for mesh in changing)
    assert count == 2 or count * vertices * 24 <= limit
    assert count >= 2


def test_only_chosen_frames_are_asked_for(tmp_path: Path) -> None:
    asked = []

    class Frames:
        def __len__(self) -> int:
            return 1000

        def __getitem__(self, number: int) -> SoftFrame:
            asked.append(number)
            return scene(number / 1000)

    with pytest.warns(OutputWarning):
        write_gltf(tmp_path / "a.glb", Frames(), most_frames=3)  # type: ignore[arg-type]
    assert set(asked) == {0, 500, 999}


def test_far_from_the_origin_nothing_shakes(tmp_path: Path) -> None:
    """Single precision holds places within the scene, not from a far origin; what it moves by is small too."""
    points, faces = grid(5, 0.01)
    points[:, 2] = points[:, 0] ** 2 * 10
    far = np.array([1e5, -2e5, 3e5])
    frames = [SoftFrame(t, points * [1, 1, 1 + t] + far + [0, 0, 1e-3 * t * t], faces) for t in (0, 1, 2)]
    falling = [SoftFrame(t, points + far + [0, 0, 1e-3 * t * t], faces) for t in (0, 1, 2)]
    for shown in (frames, falling):
        file = written(tmp_path, shown)
        for t, frame in enumerate(shown):
            np.testing.assert_allclose(file.triangles("body_0", t), frame.positions[faces], rtol=0, atol=1e-9)


def test_little_and_nothing(tmp_path: Path) -> None:
    assert "meshes" not in written(tmp_path, [SoftFrame(0, [])]).json
    assert "meshes" not in written(tmp_path, [SoftFrame(0, np.zeros((3, 3)))]).json
    point = written(tmp_path, [SoftFrame(t, np.zeros((3, 3)), [[0, 1, 2]]) for t in (0, 1)])
    assert not point.triangles("body_0", 0.5).any()
    still = written(tmp_path, [scene(0.25), SoftFrame(**{**vars(scene(0.25)), "time": 1.0})])
    assert "animations" not in still.json


@pytest.mark.parametrize(
    ("frames", "options", "message"),
    [
        ([], {}, "frames: found none"),
        ([scene(1), scene(1)], {}, "frames: found times 1.0 and then 1.0"),
        ([scene(1), scene(0.5)], {}, "expected them to grow"),
        ([scene(0), scene(1, cables=[np.arange(36, 57)])], {}, "frames: found other faces, cables"),
        ([scene(0), scene(1, obstacles=[])], {}, "frames: found other faces, cables, bodies or obstacles at 1.0 s"),
        ([scene(0), scene(1, obstacles=[shapes.box(), shapes.box()])], {}, "frames: found other faces"),
        ([SoftFrame(0, [[1e31, 0, 0]])], {}, r"frames: found 1e\+31 m at 0.0 s"),
        ([scene()], {"most_frames": 1}, "most_frames: found 1"),
        ([scene()], {"most_bytes": 0}, "most_bytes: found 0"),
    ],
)
def test_bad_input(tmp_path: Path, frames: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        write_gltf(tmp_path / "a.glb", frames, **options)
    assert list(tmp_path.iterdir()) == []


def test_same_frames_same_bytes_and_a_full_disk(tmp_path: Path) -> None:
    frames = [scene(time) for time in TIMES]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_gltf(tmp_path / "a.glb", frames)
    before = (tmp_path / "a.glb").read_bytes()
    write_gltf(tmp_path / "a.glb", frames)
    assert (tmp_path / "a.glb").read_bytes() == before
    with full_after(5000), pytest.raises(OSError):
        write_gltf(tmp_path / "a.glb", frames[:2])
    assert (tmp_path / "a.glb").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.glb"]
