"""Tables of a run as the lines that charts show: not more points than a screen has room for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.output.arrays import evenly
from impinge.show.recording import Recording

__all__ = ["charts_of"]

_CELLS, _ROWS = 60_000, 2_000  # of a table, at most
_INTERVALS, _SHORTEST = 100, 0.2  # of rates: at most, and s
_TIME, _REAL = "time [s]", "real time [s]"
_CONTACTS = "contacts", "contact points"

Table = dict[str, NDArray[np.float64]]


def charts_of(recording: Recording) -> tuple[list[dict[str, Any]], int]:
    """Charts for the page, and how many rows of series.csv there are for each that is shown."""
    series, step = _thinned(recording.series)
    charts = []
    if series:
        names = [name for name in series if name != _TIME]
        energies = [name for name in names if name.endswith("[J]")]
        charts.append(_chart("Energy", "J", series, energies))
        charts.append(_chart("Contacts", "", series, [name for name in names if name in _CONTACTS]))
    charts += _rates(recording.timings)
    if series:
        rest = [name for name in names if name not in (*energies, *_CONTACTS)]
        charts.append({**_chart("More", "", series, rest), "choose": True})
    return [chart for chart in charts if chart["lines"]], step


def _thinned(table: Table) -> tuple[Table, int]:
    """Every so many rows, and the last; what is no number at all is left out."""
    if not table or not len(table.get(_TIME, ())):
        return {}, 1
    count = len(table[_TIME])
    rows = evenly(count, max(min(_ROWS, _CELLS // len(table)), 2))
    return {name: column[rows] for name, column in table.items()}, int(np.ceil(count / len(rows)))


def _chart(title: str, unit: str, table: Table, names: list[str]) -> dict[str, Any]:
    lines = [{"name": _short(name, unit), "y": _numbers(table[name])} for name in names]
    return {"title": title, "unit": unit, "x": _numbers(table[_TIME]), "lines": lines}


def _short(name: str, unit: str) -> str:
    return name.removesuffix(f" [{unit}]") if unit else name


def _rates(timings: Table) -> list[dict[str, Any]]:
    """Steps per second in stretches of real time, and lists made until then."""
    if len(timings.get(_REAL, ())) < 2:
        return []
    seconds, steps, times = timings[_REAL], timings["steps"], timings[_TIME]
    gap = max(_SHORTEST, (seconds[-1] - seconds[0]) / _INTERVALS)
    ends = [0]
    for row in range(1, len(seconds)):
        if seconds[row] - seconds[ends[-1]] >= gap:
            ends.append(row)
    ends[max(len(ends) - 1, 1) :] = [len(seconds) - 1]  # the last stretch takes what is left
    taken = np.maximum(np.diff(seconds[ends]), 1e-9)
    rate = np.diff(steps[ends]) / taken
    fast, of_real_time = np.append(rate[:1], rate), "steps per second of real time"
    rates = _chart("Steps per second", "1/s", {_TIME: times[ends], of_real_time: fast}, [of_real_time])
    made, lists = timings.get("rebuilds", np.zeros(0)), "lists of neighbours made so far"
    charts = [{**rates, "stairs": True}]
    if len(made):
        charts.append(_chart("List rebuilds", "", {_TIME: times[ends], lists: made[ends]}, [lists]))
    return charts


def _numbers(column: NDArray[np.float64]) -> list[float | None]:
    """Six digits; None where there is no number, which JSON cannot say."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in column.tolist()]
