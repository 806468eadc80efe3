"""A foam of half a million triangles, a million points, and the exact answer for each: is it inside?

Prints a table of times, draws a cut through the foam to out/inside.png and ends in an assertion. Every pixel
of the picture is found by inside tests alone: the foam is never drawn, only asked.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import impinge

mpl.use("Agg")
import matplotlib.pyplot as plt

FACES = 494_124
POINTS = 1_000_000
CUT = 0.5  # height of the cut, in sides of the cube
PIXELS = 900
OUT = Path("out") / "inside.png"
METAL = np.array([0.80, 0.84, 0.90])
ORANGE = np.array([0.96, 0.62, 0.20])
DEEP = np.array([0.05, 0.08, 0.14])


def look_down(solid: impinge.Solid, pixels: int, steps: int = 48) -> tuple[NDArray[np.float64], int]:
    """Height of the first point inside going down from the cut, at (pixels, pixels) places; 0 if none.

    Second, the number of points asked for.
    """
    axis = (np.arange(pixels) + 0.5) / pixels
    below = np.stack(np.meshgrid(axis, axis, [CUT], indexing="ij"), axis=-1).reshape(-1, 3)
    top = np.zeros(len(below))
    step = CUT / steps
    asked = 0
    left = np.arange(len(below))  # places where nothing was met so far
    for layer in range(steps):
        below[left, 2] = CUT - layer * step
        hit = solid.contains(below[left])
        asked += len(left)
        top[left[hit]] = CUT - layer * step
        left = left[~hit]
    # Between the last point outside and the first inside: bisect.
    found = np.flatnonzero((top > 0) & (top < CUT))
    inside, outside = top[found], top[found] + step
    for _ in range(8):
        below[found, 2] = (inside + outside) / 2
        hit = solid.contains(below[found])
        asked += len(found)
        inside, outside = np.where(hit, below[found, 2], inside), np.where(hit, outside, below[found, 2])
    top[found] = inside
    return top.reshape(pixels, pixels), asked


def shade(top: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, n, 3) float64: colours of the heights, light from the upper left, darker with depth."""
    slope_x, slope_y = np.gradient(top, 1 / len(top))
    light = np.array([-0.45, 0.45, 0.77])
    normal = np.stack([-slope_x, -slope_y, np.ones_like(top)], axis=-1)
    bright = np.clip(normal @ light / np.linalg.norm(normal, axis=-1), 0, 1)[..., None]
    nearness = np.clip(top / CUT, 0, 1)[..., None] ** 1.3
    colour = DEEP + (METAL * (0.15 + 0.85 * bright) - DEEP) * (0.12 + 0.88 * nearness)
    colour[top == 0] = DEEP
    colour[top == CUT] = ORANGE
    return colour


def draw(solid: impinge.Solid, points: NDArray[np.float64], classes: NDArray[np.int8]) -> int:
    """Write the picture: the cut, what lies below, and the points near the cut in the colour of their class.

    Returns the number of points asked for.
    """
    top, asked = look_down(solid, 2 * PIXELS)
    colours = shade(top).reshape(PIXELS, 2, PIXELS, 2, 3).mean(axis=(1, 3))
    near = np.flatnonzero(np.abs(points[:, 2] - CUT) < 0.0008)
    figure = plt.figure(figsize=(8, 8), dpi=PIXELS / 8, facecolor=DEEP)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(colours.transpose(1, 0, 2), origin="lower", extent=(0, 1, 0, 1), interpolation="bilinear")
    for value, colour in ((1, "#7a1f00"), (-1, "#5ec8ff")):
        chosen = points[near[classes[near] == value]]
        axes.scatter(chosen[:, 0], chosen[:, 1], s=6, c=colour, linewidths=0)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.axis("off")
    OUT.parent.mkdir(exist_ok=True)
    figure.savefig(OUT)
    plt.close(figure)
    return asked


def main() -> None:
    """Run the demo."""
    console = Console(highlight=False)
    rows: list[tuple[str, float, str]] = []

    def timed(what: str, start: float, note: str = "") -> None:
        rows.append((what, time.perf_counter() - start, note))

    started = start = time.perf_counter()
    console.print("Compiling (only the first time) …", style="dim")
    small = impinge.Solid(impinge.shapes.foam(5000))
    small.classify(small.mesh.vertices[:10])
    timed("compile, or load from the cache", start)

    start = time.perf_counter()
    mesh = impinge.shapes.foam(FACES)
    timed("make the foam", start, f"{len(mesh.faces):,} triangles")
    start = time.perf_counter()
    solid = impinge.Solid(mesh)
    timed("check it and build the octree", start, f"{solid.nbytes / 1e6:.0f} MB")

    points = np.random.default_rng(1).random((POINTS, 3))
    start = time.perf_counter()
    classes = solid.classify(points)
    seconds = time.perf_counter() - start
    timed("classify the points", start, f"{POINTS / seconds / 1e6:.1f} million points per second")

    # The same question answered by the sum of all solid angles.
    sample = np.random.default_rng(2).choice(POINTS, 300, replace=False)
    start = time.perf_counter()
    reference = impinge.Solid(mesh, method="direct").classify(points[sample])
    wrong = np.count_nonzero(reference != classes[sample])
    timed("compare with solid angles", start, f"{wrong} of {len(sample)} differ")
    start = time.perf_counter()
    asked = draw(solid, points, classes)
    timed("draw the picture", start, f"{OUT}, by {asked / 1e6:.0f} million more questions")

    table = Table(box=None, pad_edge=False)
    table.add_column("step")
    table.add_column("seconds", justify="right")
    table.add_column("")
    for what, took, note in rows:
        table.add_row(what, f"{took:.3f}", note)
    table.add_row("all", f"{time.perf_counter() - started:.3f}", "")
    console.print(table)
    inside, on, outside = (int(np.count_nonzero(classes == value)) for value in (1, 0, -1))
    console.print(f"{inside:,} points are inside, {on:,} on the surface, {outside:,} outside.")
    console.print(f"Inside is a share of {inside / POINTS:.4f}; the volume of the foam is {mesh.volume:.4f}.")

    assert wrong == 0, "an inside test disagrees with the sum of solid angles"
    spread = (mesh.volume * (1 - mesh.volume) / POINTS) ** 0.5
    assert abs((inside + on) / POINTS - mesh.volume) < 5 * spread, "the share of points inside is not the volume"


if __name__ == "__main__":
    main()
