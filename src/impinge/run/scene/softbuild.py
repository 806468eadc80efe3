"""From what a scene file says to a world of cables and cloth."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.inside.pointfiles import open_points
from impinge.run.scene import meshes, softmodels, softshapes
from impinge.run.scene.builder import Builder
from impinge.run.scene.plausible import check_thickness
from impinge.run.scene.toml import Document, Key
from impinge.run.soft import SoftWorld
from impinge.shapes.mesh import Mesh

__all__ = ["build"]

_Floats = NDArray[np.float64]
_CABLES: dict[str, Any] = {"line": softshapes.line, "circle": softshapes.circle, "helix": softshapes.helix}
_SHAPE = {"points", "line", "circle", "helix", "file", "sheet", "scale", "rotate", "translate", "kind", "strain_limits"}


def build(scene: softmodels.Soft, document: Document, threads: int | None) -> SoftWorld:
    """Make the world of a scene."""
    return _Builder(scene, document).build(threads)


class _Builder(Builder):
    """Adds one thing after the other; errors name the line of what they are about."""

    def __init__(self, scene: softmodels.Soft, document: Document) -> None:
        super().__init__(document)
        self.scene, self.names = scene, scene.body_names

    def build(self, threads: int | None) -> SoftWorld:
        with self.at("world"):
            self.world = SoftWorld(**self.scene.world.model_dump(), threads=threads)
        for number, body in enumerate(self.scene.bodies):
            with self.at("bodies", number):
                options = body.model_dump(exclude=_SHAPE | {"closed", "warp"}) | {"name": self.names[number]}
                if isinstance(body, softmodels.Cable):
                    points, closed = self._points(body), body.closed or body.circle is not None
                    self.world.add_cable(points, closed=closed, **options)
                else:
                    self.world.add_cloth(self._cloth(body), warp=self._warp(body), **options)
                self._limit_strain(body)
                self._check_thickness(body, ("bodies", number))
        for number, obstacle in enumerate(self.scene.obstacles):
            with self.at("obstacles", number):
                key: Key = ("obstacles", number)
                mesh = meshes.placed(meshes.merged(self.shape_of(obstacle, key)), obstacle)
                self.world.add_obstacle(mesh, self.motion_of(obstacle, key), obstacle.thickness)
        for number, fixed in enumerate(self.scene.fixed):
            with self.at("fixed", number):
                self.world.fix(self._nodes(fixed), fixed.velocity, fixed.direction, fixed.until)
        self._check_start()
        return self.world

    def _points(self, cable: softmodels.Cable) -> _Floats:
        """Nodes of a cable in their places."""
        (source,) = cable.given("points", "line", "circle", "helix", "file")
        if cable.points is not None:
            points = np.array(cable.points)
        elif cable.file is not None:
            points = self._read_points(cable.file)
        else:
            points = _CABLES[source](getattr(cable, source))
        return meshes.placed_points(points, cable)

    def _read_points(self, file: str) -> _Floats:
        try:
            return np.concatenate([np.empty((0, 3)), *open_points(self.document.beside(file)).chunks()])
        except InputError as error:
            raise InputError(f"file: {error}") from None

    def _cloth(self, cloth: softmodels.Cloth) -> Mesh:
        if cloth.sheet is not None:
            return meshes.placed(softshapes.sheet(cloth.sheet), cloth)
        assert cloth.file is not None
        return meshes.placed(meshes.merged(self.read_mesh(cloth.file)), cloth)

    def _warp(self, cloth: softmodels.Cloth) -> _Floats:
        rotation, warp = meshes.rotation_of(cloth), np.array(cloth.warp)
        return warp if rotation is None else rotation @ warp

    def _limit_strain(self, body: softmodels.Body) -> None:
        """Of the body that was added last."""
        limits = body.strain_limits
        if limits is None:
            return
        bodies = [self.world.bodies[-1]]
        if limits.given("upper", "lower"):
            self.world.limit_strain(upper=limits.upper, lower=limits.lower, bodies=bodies)
        if limits.rate is not None:
            self.world.limit_strain_rate(limits.rate, bodies=bodies)

    def _check_thickness(self, body: softmodels.Body, key: Key) -> None:
        """Of the body that was added last."""
        name, times = ("radius", 2.0) if isinstance(body, softmodels.Cable) else ("thickness", 1.0)
        value, edges = getattr(body, name), self.world._parts[-1].edges.rest
        check_thickness(self.document, (*key, name), value, times * value, float(edges.mean()))

    def _nodes(self, fixed: softmodels.Fixed) -> NDArray[np.int64]:
        """Numbers, in the world, of nodes that are fixed."""
        nodes = self.world.bodies[self.names.index(fixed.body)].nodes
        numbers = np.arange(nodes.start, nodes.stop)
        if fixed.nodes is not None:
            for number in fixed.nodes:
                if not -len(numbers) <= number < len(numbers):
                    wanted = f"from {-len(numbers)} to {len(numbers) - 1}, as {fixed.body!r} has {len(numbers)} nodes"
                    raise InputError(f"nodes: found {number}, expected numbers {wanted}")
            return numbers[fixed.nodes]
        if fixed.within is not None:
            x = self.world.positions[nodes]
            inside = ((x >= fixed.within.lower) & (x <= fixed.within.upper)).all(axis=1)
            if not inside.any():
                raise InputError(f"within: found no node of {fixed.body!r} there, expected at least one")
            return numbers[inside]
        return numbers

    def _check_start(self) -> None:
        """Errors about what touches at the start name the first body that is in them, others the time step."""
        try:
            self.world.check()
        except InputError as error:
            if str(error).startswith("dt:"):
                raise self.document.error_in(("world",), str(error)) from None
            found = re.search(r"of body (\d+)", str(error))
            said = re.sub(r"of body (\d+)", lambda body: f"of {self.names[int(body[1])]!r}", str(error))
            said = re.sub(r"of obstacle (\d+)", r"of obstacles[\1]", said)
            raise self.document.error(("bodies", int(found[1]) if found else 0), said) from None
