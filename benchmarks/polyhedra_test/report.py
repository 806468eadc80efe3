"""Tables of the benchmark of rigid bodies, and its required figures with what was reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.polyhedra_test.kinds import SIZE
from benchmarks.polyhedra_test.ours import PHASES
from benchmarks.report import Verdict, exponent, seconds, table

_Row = dict[str, Any]
_NONE = "–"
_BODIES, _FACES = 1.15, 0.3  # exponents, at most


# Required figures


def _grows(rows: list[_Row], by: str, name: str, most: float) -> Verdict:
    remark, reached = "", None
    if len(rows) > 1:
        sizes, steps, listing = (np.array([row[key] for row in rows], float) for key in (by, "step_s", "listing_s"))
        reached = exponent(sizes, steps)
        if listing.min() > 0:
            remark = f"making all lists anew: {exponent(sizes, listing):.2f}"
    return Verdict(name, "below", most, reached, remark=remark)


def verdicts(results: dict[str, Any]) -> list[Verdict]:
    """Those of the parts that were measured."""
    found = []
    if "bodies" in results:
        found.append(_grows(results["bodies"], "bodies", "exponent of seconds per step over bodies", _BODIES))
    if "faces" in results:
        found.append(_grows(results["faces"], "faces", "exponent of seconds per step over faces per body", _FACES))
    return found


# Tables


def _time(value: float) -> str:
    return seconds(value) if value > 0 else _NONE


def _millimetres(depths: dict[str, float]) -> list[str]:
    return [f"{1e3 * depths[key]:.2f}" for key in ("median", "most", "largest")]


def _percent(depths: dict[str, float]) -> list[str]:
    return [f"{100 * depths[key]:.2g}" for key in ("median", "most", "largest")]


def _pile_cells(row: _Row) -> list[str]:
    return [
        row["state"],
        f"{row['bodies']:,}",
        f"{row['faces']:,.0f}",
        f"{row['steps'] / row['seconds']:.3g}",
        *(_time(row["phases"][name] / row["steps"]) for name in PHASES),
        f"{row['rebuilds']}/{row['steps']}",
        f"{row['pairs']:,}",
        f"{row['contacts']:,}",
        *_millimetres(row["depths"]),
        f"{100 * row['depths']['largest'] / SIZE:.2g}",
    ]


_PILE_HEAD = (
    f"state, bodies, faces, steps/s, {', '.join(PHASES)}, lists made, near pairs, contact points, depth, 99 %, "
    "largest, % of size"
)


def pile_text(rows: list[_Row]) -> str:
    pile = rows[-1]
    judged = ", ".join(_percent(pile["judged"]["depths"]))
    note = (
        f"Time steps of {1e6 * pile['dt']:.3g} µs, the default. lists, contacts, motion: time "
        "per step of looking for what is near, of meeting pairs and summing forces, and of moving bodies. "
        "lists made: steps in which some were. Depths of contact points, mm: median, 99 %, largest, and that over "
        f"{1e3 * SIZE:g} mm, the diameter of the ball of the same volume. Of the pile as the judge of the race sees "
        f"it, {pile['judged']['overlaps']:,} pairs overlap; depth of pairs and walls: {judged} % "
        f"(median, 99 %, largest); {pile['judged']['outside']} bodies are outside the box."
    )
    return f"{table(_PILE_HEAD.split(', '), [_pile_cells(row) for row in rows])}\n\n{note}"


def _growth_text(rows: list[_Row], note: str) -> str:
    head = ["bodies", "faces", "step", "per body", "all lists anew", "built in", "contact points", "depth", "largest"]
    body = [
        [
            f"{row['bodies']:,}",
            f"{row['faces']:,.0f}",
            seconds(row["step_s"]),
            seconds(row["step_s"] / row["bodies"]),
            _time(row["listing_s"]),
            seconds(row["built_s"]),
            f"{row['contacts']:,}",
            _millimetres(row["depths"])[0],
            _millimetres(row["depths"])[2],
        ]
        for row in rows
    ]
    return f"{table(head, body)}\n\n{note}"


def bodies_text(rows: list[_Row]) -> str:
    return _growth_text(rows, "Copies of one pile side by side; best of some rounds from the same state. Depths in mm.")


def faces_text(rows: list[_Row]) -> str:
    note = (
        "The same pile of prisms (L, U, star), whose faces are cut into more triangles, with the same resolution; best "
        "of some rounds from the same state. Depths in mm."
    )
    return _growth_text(rows, note)


def _race_cells(row: _Row) -> list[str]:
    about = [row["engine"], row["setting"], f"{row['bodies']:,}"]
    if row["failure"]:
        return [*about, *[_NONE] * 11, row["failure"]]
    timed = [
        f"{1e3 * row['dt']:.3g}",
        f"{row['steps'] / row['seconds']:.3g}",
        f"{row['rate']:.3g}",
        f"{row['simulated']:.3g}",
    ]
    judged = row.get("judged")
    if judged is None:
        return [*about, *timed, *[_NONE] * 7, row["ended"]]
    return [
        *about,
        *timed,
        f"{judged['overlaps']}",
        f"{judged['in_walls']}",
        *_percent(judged["depths"]),
        f"{judged['outside']}",
        f"{1e3 * judged['height']:.0f}",
        row["ended"],
    ]


_RACE_HEAD = (
    "engine, setting, bodies, dt, steps/s, rate, simulated, overlaps, in walls, depth, 99 %, largest, outside, "
    "height, remarks"
)


def race_text(rows: list[_Row]) -> str:
    note = (
        "The same bodies with the same velocities thrown into the same box. dt in ms; rate: simulated seconds per "
        "second. Of the last state, judged by the true surfaces: pairs that overlap, bodies in walls, median, 99 % and "
        f"largest depth of these in % of {1e3 * SIZE:g} mm, bodies outside the box, mean height in mm. impinge has the "
        "true surfaces; MuJoCo and PyBullet have unions of convex parts, exact for prisms, 12 hulls for the torus, "
        "and PyBullet a margin of 1 mm around them. Contacts of impinge are springs of the stiffness that was asked "
        "for, with restitution; steps are as short as these need. Those of MuJoCo and PyBullet are constraints, "
        "MuJoCo's without restitution. PyBullet uses one thread."
    )
    return f"{table(_RACE_HEAD.split(', '), [_race_cells(row) for row in rows], left=2)}\n\n{note}"


PARTS: dict[str, tuple[str, Callable[[list[_Row]], str]]] = {
    "pile": ("A pile", pile_text),
    "bodies": ("Growth with bodies", bodies_text),
    "faces": ("Growth with faces", faces_text),
    "race": ("Side by side", race_text),
}
