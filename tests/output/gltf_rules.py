"""A reader of GLB files that insists on the rules of glTF 2.0, and plays their animation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

SIZES = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
TYPES = {5126: "<f4", 5125: "<u4"}
KNOWN = {
    "asset", "scene", "scenes", "nodes", "meshes", "materials", "accessors", "bufferViews", "buffers", "animations",
}  # fmt: skip


class Gltf:
    """A file whose every table has been checked."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        assert data[:4] == b"glTF"
        version, length = np.frombuffer(data[4:12], "<u4")
        assert (version, length) == (2, len(data))
        self.json, self.bin = self._chunks(data)
        assert set(self.json) <= KNOWN
        assert self.json["asset"]["version"] == "2.0"
        self._check_views()
        self.arrays = [self._read(k) for k in range(len(self.json.get("accessors", [])))]
        for mesh in self.json.get("meshes", []):
            self._check_mesh(mesh)
        self._check_nodes()
        for animation in self.json.get("animations", []):
            self._check_animation(animation)

    def _chunks(self, data: bytes) -> tuple[dict[str, Any], bytes]:
        found, start = [], 12
        while start < len(data):
            size = int(np.frombuffer(data[start : start + 4], "<u4")[0])
            assert size % 4 == 0
            found.append((data[start + 4 : start + 8], data[start + 8 : start + 8 + size]))
            start += 8 + size
        assert start == len(data)
        assert [kind for kind, _ in found] == [b"JSON", b"BIN\0"][: len(found)]
        tables = json.loads(found[0][1])
        binary = found[1][1] if len(found) > 1 else b""
        if binary:
            assert [buffer["byteLength"] for buffer in tables["buffers"]] == [len(binary)]
        return tables, binary

    def _check_views(self) -> None:
        end = 0
        for view in self.json.get("bufferViews", []):
            assert view["buffer"] == 0
            assert view["byteOffset"] == end
            assert view["byteOffset"] % 4 == 0
            assert view["byteLength"] > 0
            end += view["byteLength"]
            assert ("byteStride" in view) <= (view.get("target") == 34962)
            assert view.get("byteStride", 12) % 4 == 0
        assert end == len(self.bin)

    def _read(self, number: int) -> NDArray[Any]:
        accessor = self.json["accessors"][number]
        view = self.json["bufferViews"][accessor["bufferView"]]
        dtype, columns = np.dtype(TYPES[accessor["componentType"]]), SIZES[accessor["type"]]
        row = dtype.itemsize * columns
        assert accessor["count"] >= 1
        assert accessor["byteOffset"] % 4 == 0
        assert view.get("byteStride", row) == row
        assert accessor["byteOffset"] + accessor["count"] * row <= view["byteLength"]
        start = view["byteOffset"] + accessor["byteOffset"]
        array = np.frombuffer(self.bin[start : start + accessor["count"] * row], dtype)
        assert np.isfinite(array).all()
        rows = array.reshape(-1, columns)
        np.testing.assert_array_equal(rows.min(axis=0), np.array(accessor["min"], dtype))
        np.testing.assert_array_equal(rows.max(axis=0), np.array(accessor["max"], dtype))
        return rows if columns > 1 else array

    def _view_of(self, accessor: int) -> dict[str, Any]:
        view: dict[str, Any] = self.json["bufferViews"][self.json["accessors"][accessor]["bufferView"]]
        return view

    def _check_mesh(self, mesh: dict[str, Any]) -> None:
        (primitive,) = mesh["primitives"]
        count = len(self.arrays[primitive["attributes"]["POSITION"]])
        np.testing.assert_allclose(np.linalg.norm(self.arrays[primitive["attributes"]["NORMAL"]], axis=1), 1, atol=1e-5)
        targets = primitive.get("targets", [])
        assert len(mesh.get("weights", [])) == len(targets)
        assert len(mesh.get("extras", {}).get("targetNames", [])) == len(targets)
        for attributes in (primitive["attributes"], *targets):
            assert set(attributes) == {"POSITION", "NORMAL"}
            for accessor in attributes.values():
                assert self.json["accessors"][accessor]["type"] == "VEC3"
                assert self.json["accessors"][accessor]["componentType"] == 5126
                assert len(self.arrays[accessor]) == count
                assert self._view_of(accessor)["target"] == 34962
                assert self._view_of(accessor)["byteStride"] == 12
        corners = self.arrays[primitive["indices"]]
        assert len(corners) % 3 == 0
        assert corners.max() < count
        assert self._view_of(primitive["indices"])["target"] == 34963
        material = self.json["materials"][primitive["material"]]
        colour = material["pbrMetallicRoughness"]["baseColorFactor"]
        assert len(colour) == 4
        assert all(0 <= part <= 1 for part in colour)

    def _check_nodes(self) -> None:
        nodes = self.json["nodes"]
        children = [child for node in nodes for child in node.get("children", [])]
        (root,) = self.json["scenes"][self.json["scene"]]["nodes"]
        assert sorted([*children, root]) == list(range(len(nodes)))  # a tree
        for node in nodes:
            assert abs(np.linalg.norm(node.get("rotation", [0, 0, 0, 1])) - 1) < 1e-6

    def _check_animation(self, animation: dict[str, Any]) -> None:
        assert animation["channels"]
        seen = set()
        for channel in animation["channels"]:
            target, sampler = channel["target"], animation["samplers"][channel["sampler"]]
            assert (target["node"], target["path"]) not in seen
            seen.add((target["node"], target["path"]))
            times, values = self.arrays[sampler["input"]], self.arrays[sampler["output"]]
            assert times[0] >= 0
            assert (np.diff(times) > 0).all()
            node = self.json["nodes"][target["node"]]
            each = 1
            if target["path"] == "weights":
                each = len(self.json["meshes"][node["mesh"]]["weights"])
            assert len(values) == len(times) * each
            for accessor in (sampler["input"], sampler["output"]):
                assert "target" not in self._view_of(accessor)

    def _animated(self, node: int, path: str, time: float, otherwise: Any) -> NDArray[np.float64]:
        """Linear interpolation, along the shorter arc for rotations."""
        for channel in [c for a in self.json.get("animations", []) for c in a["channels"]]:
            if (channel["target"]["node"], channel["target"]["path"]) == (node, path):
                sampler = self.json["animations"][0]["samplers"][channel["sampler"]]
                times = self.arrays[sampler["input"]].astype(float)
                values = self.arrays[sampler["output"]].astype(float).reshape(len(times), -1)
                k = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 2))
                part = float(np.clip((time - times[k]) / (times[k + 1] - times[k]), 0, 1))
                a, b = values[k], values[k + 1]
                if path == "rotation":
                    between = Rotation.from_quat(a).inv() * Rotation.from_quat(b)
                    turned = Rotation.from_quat(a) * Rotation.from_rotvec(part * between.as_rotvec())
                    return np.asarray(turned.as_quat())
                return np.asarray((1 - part) * a + part * b)
        return np.asarray(otherwise, float)

    def triangles(self, name: str, time: float) -> NDArray[np.float64]:
        """(m, 3, 3): where the faces of a named node are at a time, with z upwards again."""
        number = next(k for k, node in enumerate(self.json["nodes"]) if node["name"] == name)
        node = self.json["nodes"][number]
        mesh = self.json["meshes"][node["mesh"]]
        (primitive,) = mesh["primitives"]
        places = self.arrays[primitive["attributes"]["POSITION"]].astype(float)
        weights = self._animated(number, "weights", time, mesh.get("weights", []))
        for weight, target in zip(weights, primitive.get("targets", []), strict=True):
            places = places + weight * self.arrays[target["POSITION"]]
        turn = Rotation.from_quat(self._animated(number, "rotation", time, node.get("rotation", [0, 0, 0, 1])))
        places = turn.apply(places) + self._animated(number, "translation", time, node["translation"])
        (root,) = self.json["scenes"][0]["nodes"]
        assert self.json["nodes"][root]["rotation"] == [-(0.5**0.5), 0, 0, 0.5**0.5]
        x, y, z = self.json["nodes"][root]["translation"]
        places = places + [x, -z, y]
        return places[self.arrays[primitive["indices"]].reshape(-1, 3)]
