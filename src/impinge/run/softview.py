"""What a soft world shows at this moment: its bodies and obstacles with strains and forces of contact.

All of it follows from the world's state, so that it is the same after a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from impinge.bodies.soft.parts import Floats
from impinge.output.softframe import SoftFrame
from impinge.response.contact_rows import measure
from impinge.shapes.mesh import Mesh

if TYPE_CHECKING:
    from impinge.run.soft import SoftWorld

__all__ = ["contact_forces", "frame_of"]


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
    point_data = {"velocity": world._v.copy(), "contact_force": contact_forces(world)}
    return SoftFrame(
        world.time, world._x.copy(), np.concatenate(faces), cables,
        radii=np.repeat([skin.radius for skin in world._skins], sizes),
        bodies=np.repeat(np.arange(len(sizes)), sizes),
        point_data=point_data,
        edge_data={"strain": strains.edges[np.concatenate(is_cable)]},
        face_data={"strain": np.maximum(strains.warp, strains.weft), "shear": strains.shear},
        obstacles=[Mesh(obstacle.at(world.time), obstacle.mesh.faces) for obstacle in world._obstacles],
    )  # fmt: skip


def contact_forces(world: SoftWorld) -> Floats:
    """(n, 3) N: what each node is pushed with by all contacts of the last step, at where they are now."""
    pairs, count = world._known, len(world._x)
    gaps = measure(world._whole(world._x, world.time), pairs)
    shares: Any = (world._forces[:, None] * gaps.weights)[:, :, None] * gaps.normals[:, None]
    of_soft = pairs.corners < count
    nodes, pushes = pairs.corners[of_soft], shares[of_soft]
    sums = [np.bincount(nodes, pushes[:, axis], minlength=count) for axis in range(3)]
    return np.column_stack(sums).astype(np.float64)  # without contacts bincount gives integers
