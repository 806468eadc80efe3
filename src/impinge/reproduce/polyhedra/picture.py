"""Figure 11: the triangles of a foam."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection

from impinge.reproduce.look import STYLE
from impinge.shapes import Mesh

__all__ = ["draw_mesh"]

_NEAR, _FAR = np.array([0.80, 0.84, 0.90]), np.array([0.22, 0.28, 0.38])  # colours of what is lit, by distance
_LIGHT = np.array([-0.45, 0.55, 0.70]) / np.linalg.norm([-0.45, 0.55, 0.70])  # right, up, towards the eye


def draw_mesh(mesh: Mesh, title: str, path: Path, view: tuple[float, float] = (-60.0, 22.0)) -> None:
    """Draw the triangles that face the eye, the far ones first; view : azimuth and elevation, degrees."""
    azimuth, elevation = np.radians(view)
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    towards = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    corners = mesh.vertices[mesh.faces] @ np.array([right, np.cross(towards, right), towards]).T
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    seen = normals[:, 2] > 0
    corners, normals = corners[seen], normals[seen]
    depth = corners[:, :, 2].mean(axis=1)
    order = np.argsort(depth)
    corners, normals, depth = corners[order], normals[order], depth[order]
    bright = 0.35 + 0.65 * np.clip(normals @ _LIGHT / np.linalg.norm(normals, axis=1), 0, 1)
    nearness = ((depth - depth[0]) / (depth[-1] - depth[0]))[:, None]
    colours = (_FAR + (_NEAR - _FAR) * nearness) * bright[:, None]
    with plt.rc_context(STYLE | {"axes.grid": False}):
        figure, axes = plt.subplots(figsize=(7.5, 7.6))
        axes.add_collection(
            PolyCollection(list(corners[:, :, :2]), facecolors=colours, edgecolors=0.55 * colours, lw=0.15)
        )
        axes.set(aspect="equal", title=title)
        axes.autoscale_view()
        axes.set_axis_off()
        figure.tight_layout()
        figure.savefig(path, dpi=200)
        plt.close(figure)
