"""Pictures of the demos, and diagrams of what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from impinge.output.softpicture import draw_soft
from impinge.reproduce.look import BLUE, GREEN, ORANGE, PURPLE, SKY, STYLE, VERMILION, plain_numbers, save
from impinge.reproduce.qp_collide.conditioning import Conditioning
from impinge.reproduce.qp_collide.exchanges import WAYS, Exchanges
from impinge.reproduce.qp_collide.iterative import FORMS, Count
from impinge.reproduce.qp_collide.responses import RESPONSES, Measured, Picture
from impinge.reproduce.qp_collide.scenes import DEMOS

__all__ = ["draw_conditioning", "draw_exchanges", "draw_histories", "draw_iterations", "draw_picture"]

COLOURS = {"qp": BLUE, "penalty": VERMILION, "impulse": GREEN}
_FORM_COLOURS = (VERMILION, ORANGE, PURPLE, SKY, BLUE)
_WAY_COLOURS = (BLUE, ORANGE, VERMILION)
_VIEW = (-75.0, 12.0)  # degrees
_LEAST_STRAIN, _LEAST_LACK = 1e-5, 1e-3  # what is shown of less, 1 and mm
_MUCH = 2.0  # J: more is shown by its logarithm


def draw_picture(picture: Picture, path: Path) -> None:
    """A moment of a demo."""
    title = f"{picture.response}, t = {picture.frame.time:.2f} s"
    draw_soft(path, picture.frame, title=title, view=_VIEW)


def draw_histories(measured: Measured, demo: str, path: Path) -> None:
    """Energy, strain and penetration over time, a column for each time step."""
    steps = [one.dt for one in measured.of(demo, "qp")]
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(4, len(steps), figsize=(3.4 * len(steps) + 1, 9.5), sharex=True, squeeze=False)
        for column, dt in zip(grid.T, steps, strict=True):
            for response in RESPONSES:
                one = next(one for one in measured.of(demo, response) if one.dt == dt)
                look: dict[str, Any] = {"color": COLOURS[response], "label": response, "lw": 1.2}
                column[0].plot(one.times, one.energy, **look)
                column[1].semilogy(one.times, np.maximum(one.strain, _LEAST_STRAIN), **look)
                lack = np.maximum(1e3 * np.array(one.overlap), _LEAST_LACK)
                column[2].semilogy(one.times, lack, **look)
                column[3].plot(one.times, one.passed, **look)
            column[0].set(title=f"dt = {1e3 * dt:g} ms")
            if column[0].get_ylim()[1] > _MUCH:
                lowest = min(min(one.energy) for one in measured.histories if (one.demo, one.dt) == (demo, dt))
                column[0].set_yscale("symlog", linthresh=1.0)
                column[0].set_ylim(bottom=lowest - 1.0)
            column[3].set(xlabel="t [s]", ylim=(0, max(10, *column[3].get_ylim())))
        names = ("energy more than at the start [J]", "largest strain", "lack of distance [mm]", "pairs that passed")
        for row, name in zip(grid, names, strict=True):
            row[0].set_ylabel(name)
        grid[1, 0].legend()
        figure.suptitle(DEMOS[demo].title)
        save(figure, path)


def draw_conditioning(found: Sequence[Conditioning], path: Path) -> None:
    """Condition numbers of all systems, by kind of matrix."""
    kinds = {
        "K": "K", "penalty": "K with springs", "plain": "(8)", "printed": "(23), +L as printed",
        "perturbed": "(23), −L", "relative": "(23), −L relative",
    }  # fmt: skip
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(8, 4))
        for sources, colour, label, shift in (
            ("first", VERMILION, "rows Algorithm 1 begins with", -0.12),
            ("last", BLUE, "rows held at the solution", 0.12),
        ):
            here = [one for one in found if one.source.endswith(sources)]
            for place, name in enumerate(kinds):
                values = [min(getattr(one, name), 1e20) for one in here]
                axes.semilogy(np.full(len(values), place + shift), values, "o", ms=4, alpha=0.6, color=colour,
                              label=label if place == 0 else None)  # fmt: skip
        axes.axhline(1 / np.finfo(float).eps, color="#888888", lw=0.8, ls="--")
        axes.text(len(kinds) - 0.7, 2e16, "beyond: singular in doubles", ha="right", color="#666666")
        axes.set_xticks(range(len(kinds)), list(kinds.values()))
        axes.set(ylabel="condition number", title="Rows that depend on each other, and the perturbation (7.1)")
        axes.legend(loc="upper left")
        save(figure, path)


def draw_exchanges(found: Sequence[Exchanges], path: Path) -> None:
    """Iterations of the active set, and rows that toggle, over stiffness."""
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(2, len(DEMOS), figsize=(10.5, 7), sharex=True, squeeze=False)
        for column, name in zip(grid.T, DEMOS, strict=True):
            for way, colour in zip(WAYS, _WAY_COLOURS, strict=True):
                here = [one for one in found if (one.demo, one.way) == (name, way)]
                for one in here:
                    mark = "x" if one.status != "solved" else "o"
                    column[0].plot(one.stiffness, max(one.iterations, 1), mark, color=colour, ms=4, alpha=0.6)
                places = sorted({one.stiffness for one in here})
                means = [np.mean([one.toggling for one in here if one.stiffness == k]) for k in places]
                column[1].plot(places, means, "o-", color=colour, label=way)
            ours = sorted({(one.stiffness, one.ours) for one in found if one.demo == name})
            column[0].plot(*np.transpose(ours), "k.", ms=3, label="impinge.solve_qp")
            column[0].set(title=f"{name}", xscale="log", yscale="log")
            plain_numbers(column[0].yaxis, 1)
            column[0].legend(loc="upper left")
            column[1].set(xscale="log", xlabel="stiffness of a segment [N/m]", ylim=(0, None))
            column[1].axvline(1e5, color="#888888", lw=0.8, ls="--")
        grid[0, 0].set_ylabel("iterations (× : did not end)")
        grid[1, 0].set_ylabel("toggling rows per step")
        grid[1, 0].legend()
        figure.suptitle("Algorithm 1 over stiffness (6 and 7.2)")
        save(figure, path)


def draw_iterations(found: Sequence[Count], path: Path) -> None:
    """Iterations of conjugate gradients over the number of nodes, next to the paper's limits."""
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, len(DEMOS), figsize=(10.5, 4.4), sharey=True)
        for axes, name in zip(panels, DEMOS, strict=True):
            here = [one for one in found if one.demo == name]
            nodes = sorted({one.nodes for one in here})
            for form, colour in zip(FORMS, _FORM_COLOURS, strict=True):
                most = [max((one.iterations for one in here if (one.form, one.nodes) == (form, n)), default=0)
                        for n in nodes]  # fmt: skip
                axes.loglog(nodes, most, "o-", color=colour, label=form)
            for form, label in (("(8), CG", "3n + m"), ("(20), CG", "m")):
                limit = [max(one.limit for one in here if (one.form, one.nodes) == (form, n)) for n in nodes]
                axes.loglog(nodes, limit, color="#888888", ls="--", lw=0.9)
                axes.annotate(
                    label, (nodes[-1], limit[-1]), color="#666666", textcoords="offset points", xytext=(4, -3)
                )
            axes.set(title=name, xlabel="nodes", xticks=nodes)
            axes.set_xticks([], minor=True)
            axes.xaxis.set_major_formatter("{x:,g}")
            plain_numbers(axes.yaxis, 1)
        panels[0].set_ylabel("iterations at most")
        panels[0].legend()
        figure.suptitle("Conjugate gradients on the paper's forms (5.1, 5.2)")
        save(figure, path)
