"""``impinge report``: a run as one page for a browser, with all that it needs inside."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from impinge import _check
from impinge.errors import InputError
from impinge.output.arrays import evenly
from impinge.output.atomic import replacing
from impinge.run.scene import Scene
from impinge.run.scenery import Scenery
from impinge.run.schedule import reached
from impinge.run.versions import versions
from impinge.show.recording import Recording
from impinge.show.scene3d import colour_map, options_of, plot_of_shown, require_k3d
from impinge.show.shown import Shown
from impinge.show.tables import charts_of
from impinge.show.thinning import Plan, cost_of, plan

__all__ = ["MOST_MB", "check_scene", "report"]

MOST_MB = 40.0
_VIEWER = 1.25e6  # bytes of k3d itself, and of the page
_LEAST_MB = 2.0
_SHARE = 0.9  # of the room is planned for, as sizes are estimated
_TRIES = 4
_FIRST = ("strain", "speed", "radius")  # scalars: the first of these that there is, is shown at first
_LEVEL = 6  # of compression


def report(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    most_mb: float = MOST_MB,
    tell: Callable[[str], Any] = lambda text: None,
) -> Path:
    """Write a page that shows a run: the scene in motion, charts, the scene file; returns its path.

    Parameters
    ----------
    folder : path
        That `impinge run` has written; the run may be unfinished.
    out : path, optional
        ``report.html`` in the folder by default.
    most_mb : float, 1e6 bytes
        Frames, and then spheres, are left out of larger pages; the page says which.
    tell : function of a text
        Called with what is being done.
    """
    require_k3d()
    most = _check.positive("most_mb", most_mb)
    if most < _LEAST_MB:
        raise InputError(f"most_mb: found {most:g}, expected at least {_LEAST_MB:g}, half of which is the viewer")
    tell("Reading")
    recording = Recording(folder)
    path = recording.folder / "report.html" if out is None else Path(out)
    _check_target(path)
    page = _Page(recording, most * 1e6, tell)
    with replacing(path) as file:
        file.write(page.made())
    return path


def check_scene(scene: Scene) -> None:
    """Whether a run of a scene can be reported; an error before it, rather than after."""
    require_k3d()
    output = scene.model.output
    if output.frames is None or not {"vtp", "glb"} & set(output.formats):
        raise InputError(
            f"{scene.path}: found no frames, which a report needs; expected in [output] frames = an interval in s, and "
            'formats with "vtp"'
        )


def _check_target(path: Path) -> None:
    """Now, before minutes of work."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder, expected the name of a file")
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written, as there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"{path}: cannot be written, as {path.parent} is not writable")


class _Page:
    """A page below a size, made of a recording."""

    def __init__(self, recording: Recording, most: float, tell: Callable[[str], Any]) -> None:
        self.recording, self.most, self.tell = recording, most, tell
        model = recording.scene.model
        self.scenery = Scenery(model)
        self.periodic = bool(self.scenery.periodic.any())
        last = recording[len(recording) - 1].spheres
        ids = None if last is None else last.data.get("id")
        self.spheres = 0  # that ever were: numbers are never given again
        if last is not None:
            self.spheres = len(last.radii) if ids is None else int(np.max(ids, initial=-1)) + 1

    def made(self) -> bytes:
        """The page."""
        first = Shown.of([self.recording[0]])
        names = _choices(first)
        scalar = next((name for name in _FIRST if name in names), names[0] if names else "")
        room = _SHARE * (self.most - _VIEWER)
        cost, count = cost_of(self.recording, scalar), len(self.recording)
        for _ in range(_TRIES):
            chosen = plan(count, self.spheres, cost, room)
            page = self._build(chosen, scalar, names if chosen.others else [scalar])
            if len(page) <= self.most:
                return page
            room *= 0.95 * (self.most - _VIEWER) / (len(page) - _VIEWER)
        raise InputError(f"most_mb: found {self.most / 1e6:g}, expected more: this run takes {len(page) / 1e6:.3g}")

    def _build(self, chosen: Plan, scalar: str, names: list[str]) -> bytes:
        numbers = evenly(len(self.recording), chosen.frames)

        def frames() -> Any:
            for done, number in enumerate(numbers.tolist()):
                self.tell(f"Frame {done + 1} of {len(numbers)}")
                yield self.recording[number]

        shown = Shown.of(frames(), names, chosen.stride)
        self.tell("Packing")
        plot = plot_of_shown(shown, scalar, **options_of(self.scenery), with_others=True)
        snapshot = plot.get_snapshot(_LEVEL)
        for widget in (*plot.objects, plot):
            widget.close()  # they would be kept for a notebook
        return _fill(snapshot, self._content(shown, chosen, scalar))

    def _content(self, shown: Shown, chosen: Plan, scalar: str) -> dict[str, Any]:
        """All that the page shows besides the scene."""
        recording = self.recording
        charts, step = charts_of(recording)
        table = colour_map()
        part = np.linspace(0, 1, 256)
        colours = np.column_stack([np.interp(part, table[:, 0], table[:, k]) for k in (1, 2, 3)])
        text = recording.scene.document.text
        return {
            "title": recording.folder.resolve().name,
            "about": _first_comment(text),
            "state": _state(recording),
            "facts": _facts(shown, recording, self.spheres),
            "times": [float(f"{time:.9g}") for time in shown.times],
            "scalar": scalar,
            "scalars": [value._asdict() for value in shown.scalars.values()],
            "colours": np.round(255 * colours).astype(int).tolist(),
            "smooth": not self.periodic,
            "charts": charts,
            "notes": self._notes(shown, chosen, step),
            "scene": text,
            "versions": _versions(recording.summary.get("versions", {})),
            "summary": {key: value for key, value in recording.summary.items() if key not in _summary_apart(recording)},
        }

    def _notes(self, shown: Shown, chosen: Plan, step: int) -> list[str]:
        """What is not shown, and why."""
        count, most = len(self.recording), f"to stay below {self.most / 1e6:g} MB"
        notes = []
        if len(shown.times) < count:
            why = most if not chosen.others or len(shown.times) < 300 else "as more would play no smoother"
            notes.append(f"{len(shown.times)} of {count} frames are shown, evenly spread, {why}.")
        if chosen.stride > 1:
            left = f"{shown.left_out:,} of {self.spheres:,} are left out"
            notes.append(f"One sphere in {chosen.stride} is shown, by number: {left}, {most}; charts are about all.")
        if not chosen.others:
            notes.append(f"Colours show only one of the stored quantities, {most}.")
        if any(value.beyond for value in shown.scalars.values()):
            notes.append("Colours end at a value that one in 200 exceeds (≥).")
        if step > 1:
            notes.append(f"Charts show one row of series.csv in {step}.")
        if not self.recording.series:
            notes.append("The scene asks for no series.csv ([output] series), so energies and contacts are not known.")
        if not self.recording.timings:
            notes.append("There is no timings.csv: the run is of an older version, so nothing is known of its speed.")
        if any(wall.load is not None for wall in self.scenery.planes):
            notes.append("Planes under load are not drawn, as frames do not tell where they are.")
        if not self.periodic and len(shown.times) > 1:
            notes.append("Between two frames, places are interpolated.")
        return notes


def _summary_apart(recording: Recording) -> set[str]:
    """Keys of the summary that are shown elsewhere, or say the same as others: of a run in one part, the last part."""
    summary = recording.summary
    part = summary.get("last part")
    whole = isinstance(part, dict) and part.get("steps") == summary.get("steps")
    return {"versions", "finished"} | ({"last part"} if whole else set())


def _choices(shown: Shown) -> list[str]:
    """Scalars that all kinds of bodies have."""
    kinds = [part.values for part in (shown.points, shown.bodies, shown.skin) if part]
    return [name for name in shown.scalars if all(name in values for values in kinds)]


def _versions(of_run: dict[str, str]) -> dict[str, dict[str, str]]:
    """What the run and the page were made with."""
    own = versions()
    return {"of the run and of this page": own} if of_run == own else {"of the run": of_run, "of this page": own}


def _first_comment(text: str) -> str:
    """What a scene says about itself: the comment it begins with, until an empty one."""
    words = []
    for line in text.splitlines():
        if not line.startswith("#") or not line.strip("# "):
            break
        words.append(line.strip("# "))
    return " ".join(words)


def _state(recording: Recording) -> dict[str, Any]:
    """Whether the run is finished, and how far it is."""
    summary, until = recording.summary, recording.scene.model.run.until
    last = float(recording.times[-1])
    done = bool(summary.get("finished")) and reached(float(summary.get("time", 0.0)), until)
    if done:
        return {"finished": True, "text": f"finished at {summary['time']:.4g} s"}
    stopped = "" if summary and not summary.get("finished") and summary.get("time", 0.0) >= last else ", or was killed"
    word = "was stopped" if not stopped else "is going on"
    return {"finished": False, "text": f"unfinished: the run {word}{stopped}; shown until {last:.4g} s of {until:g} s"}


def _facts(shown: Shown, recording: Recording, spheres: int) -> list[list[str]]:
    """Names and numbers for the head of the page."""
    summary, timings = recording.summary, recording.timings
    facts = []
    if shown.points is not None:
        facts.append(["discs" if getattr(recording.scene.model.world, "dim", 3) == 2 else "spheres", f"{spheres:,}"])
    if shown.bodies is not None:
        facts.append(["rigid bodies", f"{len(shown.bodies.shapes):,}"])
    if shown.skin is not None and "nodes" in summary:
        facts.append(["nodes", f"{summary['nodes']:,}"])
    ends = [recording.times, *(table["time [s]"] for table in (recording.series, timings) if table)]
    facts.append(["simulated", f"{max(float(times[-1]) for times in ends if len(times)):.4g} s"])
    steps = summary.get("steps", int(timings["steps"][-1]) if timings and len(timings["steps"]) else None)
    if steps is not None:
        facts.append(["steps", f"{steps:,}"])
    if timings and len(timings["steps"]):
        facts.append(["real time", _duration(float(timings["real time [s]"][-1]))])
    facts.append(["frames", f"{len(recording):,}"])
    return facts


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _fill(snapshot: str, content: dict[str, Any]) -> bytes:
    """Our page around k3d's view, in the document that k3d makes."""
    page = files("impinge.show") / "page"
    css, body, *scripts = (
        (page / name).read_text(encoding="utf-8") for name in ("page.css", "page.html", "charts.js", "view.js")
    )
    # "<" must not end the script early, whatever a scene says.
    data = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    title = content["title"].replace("&", "&amp;").replace("<", "&lt;")
    head = f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>\n{css}</style>\n'
    code = "".join(f"<script>\n{script}</script>\n" for script in scripts)
    after = f'<script type="application/json" id="content">{data}</script>\n{code}'
    start, opened, rest = snapshot.partition("<title>")
    _, closed, rest = rest.partition("</title>")
    above, ended, rest = rest.partition("</head>")
    between, place, rest = rest.partition('<div id="canvasTarget"></div>')
    if not (opened and closed and ended and place):
        raise InputError("report: this version of k3d makes other pages than expected; pip install 'k3d>=3.2,<4'")
    parts = [start, opened, title, " · impinge", closed, above, head, ended, between, body, after, rest]
    return "".join(parts).encode()
