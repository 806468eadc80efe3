"""Tables of the benchmark of soft bodies, and its required figures with what was reached."""

from __future__ import annotations

from typing import Any

from benchmarks.report import Verdict, seconds, table
from benchmarks.soft_test.ours import NAME

_Row = dict[str, Any]
_NONE = "–"
_TIMES_FASTER = 3.0
_STEP_SECONDS = {100: 1.0, 200: 5.0}  # most of them, by nodes along a side


def main_run(rows: list[_Row]) -> _Row | None:
    """Ours with its defaults, if nothing passes through in it."""
    return next((row for row in rows if row["engine"] == NAME and row["is_main"] and _is_sound(row)), None)


def rivals(rows: list[_Row], mine: _Row) -> tuple[_Row | None, _Row | None]:
    """The fastest run of peers that is at least as accurate as ours, and the fastest in which nothing passes through.

    As accurate: nothing passes through, and no edge is strained more than in ours, or than by the peer's finest steps.
    """
    sound = [row for row in rows if row["engine"] != NAME and _is_sound(row)]
    if not sound:
        return None, None
    most = max(mine["strain"], min(sound, key=lambda row: row["dt"])["strain"])
    equal = [row for row in sound if row["strain"] <= most]
    return max(equal, key=_rate), max(sound, key=_rate)


def _is_sound(row: _Row) -> bool:
    return "rate" in row and not row["unsound"]


def _rate(row: _Row) -> float:
    return float(row["rate"])


def passes_through(scenes: list[dict[str, Any]]) -> int:
    """Steps and states of ours in which something is where it cannot have come."""
    return sum(
        row["crossings"] + row["tangled"] + (row["clearance"] <= 0)
        for scene in scenes
        for row in scene["rows"]
        if row["engine"] == NAME and "rate" in row
    )


# Required figures


def speed_verdicts(scenes: list[dict[str, Any]]) -> list[Verdict]:
    found = []
    for scene in scenes:
        name = f"times the simulated seconds per second of MuJoCo, {scene['scene']}"
        mine = main_run(scene["rows"])
        if mine is None:
            found.append(Verdict(name, "at least", _TIMES_FASTER, None, remark="no run of impinge that counts"))
            continue
        equal, fastest = rivals(scene["rows"], mine)
        if equal is None or fastest is None:
            found.append(Verdict(name, "at least", _TIMES_FASTER, None, remark="no run of MuJoCo that counts"))
            continue
        remark = "; ".join(f"{_who(row)}: {row['rate']:.3g} at {100 * row['strain']:.2g} %" for row in (mine, equal))
        if fastest is not equal:
            times, strain = mine["rate"] / fastest["rate"], 100 * fastest["strain"]
            remark += f"; {times:.3g} times {_who(fastest)}, with a strain of {strain:.2g} %"
        best = max((row for row in scene["rows"] if row["engine"] == NAME and _is_sound(row)), key=_rate)
        rival, _ = rivals(scene["rows"], best)
        if best is not mine and rival is not None:
            remark += f"; {_who(best)}, is {best['rate'] / rival['rate']:.3g} times as fast as {_who(rival)}"
        found.append(Verdict(name, "at least", _TIMES_FASTER, mine["rate"] / equal["rate"], remark=remark))
    has_ours = any(row["engine"] == NAME and "rate" in row for scene in scenes for row in scene["rows"])
    through = float(passes_through(scenes)) if has_ours else None
    return [*found, Verdict("steps and states of impinge in which something passes through", "at most", 0, through)]


def growth_verdicts(rows: list[_Row]) -> list[Verdict]:
    found = []
    for side, most in _STEP_SECONDS.items():
        row = next((row for row in rows if row["engine"] == NAME and row["side"] == side and "step_s" in row), None)
        reached = None if row is None or row["ended"] else row["step_s"]
        remark = "" if row is None else row["ended"]
        found.append(Verdict(f"seconds per step, cloth of {side}² nodes", "at most", most, reached, remark=remark))
    return found


# Tables


def _who(row: _Row) -> str:
    return f"{row['engine']} {row['setting']}, {1e3 * row['dt']:g} ms"


def _millimetres(value: float | None) -> str:
    return _NONE if value is None else f"{1e3 * value:.2f}"


def _cells(row: _Row) -> list[str]:
    about = [row["engine"], row["setting"], f"{1e3 * row['dt']:g}"]
    if "rate" not in row:
        return [*about, *[_NONE] * 11, row["failure"]]
    return [
        *about,
        f"{row['rate']:.3g}",
        f"{1 / row['step_s']:.0f}",
        seconds(row["slowest_step_s"]),
        _millimetres(row["clearance"]),
        _millimetres(row["nearest"]),
        f"{row['crossings']}",
        f"{row['tangled']}",
        f"{100 * row['strain']:.2f}",
        f"{100 * row['usual_strain']:.2f}",
        f"{100 * row['shortening']:.2f}",
        _NONE if row["departure"] is None else f"{1e3 * row['departure']:.1f}",
        "; ".join(word for word in (row["unsound"] or "counts", row["trouble"]) if word),
    ]


_HEAD = (
    "engine, setting, dt, rate, steps/s, slowest step, clearance, nearest, crossings, tangled, strain, usual, shorter, "
    "departure, remarks"
)
SPEED_NOTES = (
    "rate: simulated seconds per second, all steps of the scene; best of up to three runs. Lengths in mm, strains in "
    "%. clearance: how near the middle of the cloth or cable comes to the true, smooth obstacle; below 0 it is "
    "inside. nearest: how near two parts of it without a common node come to each other, up to its thickness. "
    "crossings: steps in which parts of it pass through each other or touch, decided for the motion between stored "
    "states. tangled: states in which they intersect. strain: largest elongation of an edge at any time; usual: one "
    "in a thousand is more; shorter: largest shortening. departure: root mean square distance of the nodes from where "
    "MuJoCo has them with steps of 0.1 ms; not of cloth, whose folds hang on the smallest differences. A run counts "
    "if nothing passes through anything. Required figures compare our defaults with the fastest setting of MuJoCo "
    "that counts and strains nothing more than ours does, or than its own finest steps do if that is more; what our "
    "fastest setting reaches by the same rule is told beside them. Of MuJoCo, "
    "`rows` are contacts as rows of its constraint solver, `passive` implicit penalties, `ipc` contacts verified by "
    "continuous detection, CG and Newton its solvers; words with a number are its own warnings."
)


def scene_text(scene: dict[str, Any]) -> str:
    about = (
        f"{scene['nodes']} nodes, {scene['duration']:g} s; contact is to keep the middle {1e3 * scene['gap']:g} mm off "
        f"the obstacle."
    )
    return f"{about}\n\n{table(_HEAD.split(', '), [_cells(row) for row in scene['rows']], left=2)}"


def growth_text(rows: list[_Row]) -> str:
    body = [
        [
            f"{row['side']}²",
            row["engine"],
            row["setting"],
            f"{1e3 * row['dt']:g}",
            *(
                [seconds(row[key]) for key in ("step_s", "median_s", "slowest_s")] + [f"{row['simulated']:.3g}"]
                if "step_s" in row
                else [_NONE] * 4
            ),
            row["failure"] or row["ended"],
        ]
        for row in rows
    ]
    head = "nodes, engine, setting, dt, mean of steps, median, slowest, simulated, remarks"
    note = "A cloth of 1 m² falls onto a sphere; dt in ms, simulated time in s."
    return f"{table(head.split(', '), body, left=3)}\n\n{note}"
