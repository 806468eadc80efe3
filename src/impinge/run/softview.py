"""What a soft world shows at this moment: its bodies and obstacles with strains and forces of contact.

All of it follows from the world's state, so that it is the same after a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impinge.output.softframe import SoftFrame
from impinge.run.softcontacts import forces_on_vertices
from impinge.shapes.mesh import Mesh

if TYPE_CHECKING:
    from impinge.run.soft import SoftWorld

__all__ = ["frame_of"]


def frame_of(world: SoftWorld) -> SoftFrame:
    """Everything that files and pictures show."""
    world._prepare()
    strains = world.elements.strains(world._x)
    cables, faces, is_cable = [], [np.empty((0, 3), np.int32)], []
    for body, parts, skin in zip(world.bodies, world._parts, world._skins, strict=True):
        first, ends = body.nodes.start, parts.edges.nodes
        is_cable.append(np.full(len(ends), len(skin.faces) == 0))
        if len(skin.faces):
            faces.append(skin.faces + first)
        else:
            cables.append(np.append(ends[:, 0], ends[-1, 1]) + first)
    sizes = [body.nodes.stop - body.nodes.start for body in world.bodies]
    point_data = {"velocity": world._v.copy(), "contact_force": forces_on_vertices(world._touch, len(world._x))}
    return SoftFrame(
        world.time, world._x.copy(), np.concatenate(faces), cables,
        radii=np.repeat([skin.radius for skin in world._skins], sizes),
        bodies=np.repeat(np.arange(len(sizes)), sizes),
        point_data=point_data,
        edge_data={"strain": strains.edges[np.concatenate(is_cable)]},
        face_data={"strain": np.maximum(strains.warp, strains.weft), "shear": strains.shear},
        obstacles=[Mesh(obstacle.at(world.time), obstacle.mesh.faces) for obstacle in world._obstacles],
    )  # fmt: skip
