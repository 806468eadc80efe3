"""A cloth falls through a ball and through itself in one big step; continuous detection tells when and where.

Neither at the start nor at the end of the step is anything near anything. Prints what is found, draws it to
out/ccd-cloth.png and ends in assertions: the step up to the first contact is free, the whole one is not.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import impinge
from impinge import ccd

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import PolyCollection

Floats = NDArray[np.float64]
NODES = 60  # along a side of the cloth
GAP = 0.002  # m: what is nearer touches
FOLD = 0.06  # radius of the fold, m
FLAT = 0.95  # length of the cloth before the fold, m
RADIUS = 0.25  # of the ball, m
OUT = Path("out") / "ccd-cloth.png"

AZIMUTH, ELEVATION = np.radians([-68.0, 14.0])  # of the eye
RIGHT = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
EYE = np.array([np.cos(ELEVATION) * np.cos(AZIMUTH), np.cos(ELEVATION) * np.sin(AZIMUTH), np.sin(ELEVATION)])
FRAME = np.array([RIGHT, np.cross(EYE, RIGHT), EYE])
LIGHT = np.array([-0.5, 0.6, 0.62])  # right, up, towards the eye
CLOTH, BALL = np.array([0.93, 0.91, 0.87]), np.array([0.60, 0.66, 0.74])
COLOURS = mpl.colormaps["plasma"].reversed()


def make_cloth(nodes: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Vertices at the start, (n, 3), and at the end, and faces of a cloth that is folded back over itself.

    It falls to the other side of the ball, and what is above the fold to below it.
    """
    way, y = np.meshgrid(np.linspace(0, FLAT + np.pi * FOLD + 0.5, nodes), np.linspace(-0.55, 0.55, nodes))
    angle = np.clip((way - FLAT) / FOLD, 0, np.pi)
    x = np.minimum(way, FLAT) + FOLD * np.sin(angle) - np.maximum(way - FLAT - np.pi * FOLD, 0) - FLAT / 2
    above = FOLD * (1 - np.cos(angle))
    waves = 0.04 * np.sin(6 * x + 3 * y) * np.cos(5 * y)
    start = np.stack([x, y, 0.40 + waves + above], axis=-1).reshape(-1, 3)
    end = np.stack([x, y, -0.46 + waves - above * (1 + 1.4 * y)], axis=-1).reshape(-1, 3)
    number = np.arange(nodes * nodes).reshape(nodes, nodes)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    return start, end, np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)


def times_of_vertices(found: ccd.Contacts, count: int, edges: NDArray[np.int32], faces: NDArray[np.int64]) -> Floats:
    """When each vertex, or a side or a face that it is part of, first touches something; inf if never."""
    (vertex, face), (edge, other) = found.pairs.vertex_faces.T, found.pairs.edge_edges.T
    first = np.full(count, np.inf)
    np.minimum.at(first, np.column_stack([vertex, faces[face]]), found.times[0][:, None])
    np.minimum.at(first, np.hstack([edges[edge], edges[other]]), found.times[1][:, None])
    return first


def draw(axes: Any, x: Floats, faces: NDArray[np.int64], colours: Floats, title: str) -> None:
    """Triangles, the farthest first, in colours per vertex and the light of a lamp to the upper left."""
    corners = (x @ FRAME.T)[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal *= np.where(normal[:, 2:] < 0, -1, 1) / np.linalg.norm(normal, axis=1, keepdims=True)  # both sides are seen
    light = 0.5 + 0.55 * np.clip(normal @ LIGHT, 0, 1)[:, None]
    order = np.argsort(corners[:, :, 2].mean(axis=1))
    shown = np.clip(colours[faces].mean(axis=1) * light, 0, 1)[order]
    axes.add_collection(PolyCollection(corners[order, :, :2], facecolors=shown, edgecolors=shown, linewidths=0.3))
    axes.set(xlim=(-0.70, 0.70), ylim=(-0.70, 0.70), aspect="equal")
    axes.set_title(title, fontsize=11)
    axes.axis("off")


def picture(
    moments: list[tuple[str, Floats]], faces: NDArray[np.int64], first: Floats, is_cloth: NDArray[np.bool_],
    arrow: tuple[Floats, Floats],
) -> None:  # fmt: skip
    """Write the moments side by side; the arrow, a point and a direction, belongs to the second."""
    touches = np.isfinite(first)
    colours = np.where(is_cloth[:, None], CLOTH, BALL)
    colours[touches] = COLOURS(first[touches])[:, :3]
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.7), layout="constrained")
    for place, (title, x) in zip(axes, moments, strict=True):
        draw(place, x, faces, colours, title)
    tail, tip = (point @ FRAME.T for point in (arrow[0], arrow[0] + 0.3 * arrow[1]))
    style = {"arrowstyle": "-|>", "color": "black", "linewidth": 2, "mutation_scale": 18, "shrinkA": 0}
    axes[1].annotate("", tip[:2], tail[:2], arrowprops=style)
    axes[1].plot(*tail[:2], "o", color="black", markersize=6)
    scale = mpl.cm.ScalarMappable(mpl.colors.Normalize(0, 1), COLOURS)
    figure.colorbar(scale, ax=axes, shrink=0.7, pad=0.01, label="time of first contact")
    OUT.parent.mkdir(exist_ok=True)
    figure.savefig(OUT, dpi=110)
    plt.close(figure)


def main(nodes: int = NODES) -> None:
    """Run the demo."""
    say = Console(highlight=False).print
    start, end, faces = make_cloth(nodes)
    ball = impinge.shapes.octasphere(4, RADIUS)
    x0, x1 = np.concatenate([start, ball.vertices]), np.concatenate([end, ball.vertices])
    faces = np.concatenate([faces, ball.faces + len(start)])
    edges = ccd.edges_of(faces)
    say(f"A cloth of {nodes} × {nodes} nodes and a ball: {len(faces):,} triangles, {len(edges):,} edges.")
    say("Compiling (only the first time) …", style="dim")
    ccd.contacts(x0, x1, edges, faces, gap=GAP)  # so that the time below is not the compiler's

    for name, x in (("start", x0), ("end", x1)):
        near, crossing = ccd.touching(x, edges, faces, gap=GAP).total, ccd.self_intersections(x, edges, faces).total
        say(f"At the {name} {near} pairs are nearer than {1000 * GAP:g} mm, and {crossing} intersect.")
        assert near == crossing == 0

    clock = time.perf_counter()
    found = ccd.contacts(x0, x1, edges, faces, gap=GAP)
    seconds = time.perf_counter() - clock
    say(f"In between {found.total:,} pairs come into contact (found in {1000 * seconds:.0f} ms).")
    contact = ccd.first_contact(x0, x1, edges, faces, gap=GAP)
    assert contact is not None
    say(f"The first at t = {contact.time:.6f}: {contact.kind} {contact.pair}.")

    stopped = x0 + contact.time * (x1 - x0)
    is_free = ccd.is_free(x0, stopped, edges, faces, gap=0.999 * GAP)
    say(f"Is the step up to there free? {is_free}. The whole step? {ccd.is_free(x0, x1, edges, faces)}.")

    first = times_of_vertices(found, len(x0), edges, faces)
    touching = contact.pair[0] if contact.kind == "vertex-face" else edges[contact.pair[0], 0]
    away = contact.normal if touching < len(start) else -contact.normal  # from the ball, or the sheet, to the cloth
    moments = [("start: nothing touches", x0), (f"t = {contact.time:.3f}: first contact, and its normal", stopped)]
    moments.append(("end: nothing touches, yet all has passed through", x1))
    picture(moments, faces, first, np.arange(len(x0)) < len(start), (stopped[touching], away))
    say(f"Drawn to {OUT}.")

    assert is_free, "the step up to the first contact is not free"
    assert not ccd.is_free(x0, x1, edges, faces), "the whole step is free"
    assert contact.time == min(times.min(initial=1) for times in found.times), "there is an earlier contact"


if __name__ == "__main__":
    main()
