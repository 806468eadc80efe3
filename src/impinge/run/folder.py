"""The folder of a run: what is in it, whether a run may begin or go on there, and its checkpoint."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from impinge.errors import InputError
from impinge.output import checkpoint
from impinge.output.atomic import replacing
from impinge.run.restoring import numbers_below, reading
from impinge.run.saved import RUN
from impinge.run.scene import Scene
from impinge.run.scene.toml import Key
from impinge.run.timings import TIMINGS

__all__ = ["Folder"]

_LISTS = ("spheres.pvd", "polyhedra.pvd", "obstacles.pvd", "chains.pvd", "soft.pvd")
_TABLES = ("series.csv", TIMINGS)
_FILES = ("checkpoint.h5", *_TABLES, "summary.json", "picture.png", "animation.glb", "report.html", *_LISTS)
_PICTURES = "movie.mp4", "picture-*s.png"  # what users may have had drawn of it
_FRAMES = ("spheres_", "polyhedra_", "obstacles_", "chains_", "soft_", "frame_")
_MAY_CHANGE = ("until", "threads")  # of [run], between parts of a run


class Folder:
    """Where a run of a scene is written.

    ``scene.toml`` (a copy), ``series.csv``, ``timings.csv``, ``frames/``, lists of these as ``spheres.pvd``,
    ``animation.glb``, ``checkpoint.h5``, ``picture.png``, ``summary.json``, ``report.html``. Until it is closed, no
    other run may use it.
    """

    def __init__(self, path: Path, scene: Scene) -> None:
        self.path, self.scene = path, scene
        self._handle: int | None = None  # of the folder, which holds the lock
        self._is_new = False

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def open(self, resume: bool, overwrite: bool) -> dict[str, Any] | None:
        """What was saved here, if the run is to go on, or None; an error if it must not be used. Changes nothing."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path}: is a file, expected a folder to write into")
        self._check_rights()
        self._is_new = not self.path.exists()
        if self._is_new:
            return None
        self._lock()
        names = self._names()
        if not names or overwrite:
            return None
        if not resume:
            raise self._not_empty()
        if "scene.toml" not in names:
            raise InputError(f"{self.path}: holds no run, expected scene.toml and checkpoint.h5 to go on from")
        if "checkpoint.h5" not in names:
            return None  # stopped before it began
        file = self.path / "checkpoint.h5"
        saved = checkpoint.load(file, *RUN)
        with reading(file):
            before = json.loads(saved["scene"])
            for name in ("frames", "frame_files", "series", "rows"):
                numbers_below(name, saved[name], 2**53)
        self._check_scene(before)
        return saved

    def _lock(self) -> None:
        """Keep other runs out; the system ends that with the process, however it ends."""
        if os.name != "posix":
            return  # folders cannot be locked there
        import fcntl

        self._handle = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{self.path}: another run is writing into it, expected another folder, or wait") from None
        except OSError:
            pass  # a file system without locks

    def _names(self) -> list[str]:
        return [path.name for path in self.path.iterdir() if path.suffix != ".part"]

    def _not_empty(self) -> InputError:
        return InputError(f"{self.path}: is not empty; --resume goes on with the run in it, --overwrite starts anew")

    def _check_rights(self) -> None:
        there = self.path.absolute()
        while not there.exists():
            there = there.parent
        if not there.is_dir():
            raise InputError(f"{self.path}: cannot be made, as {there} is a file")
        if not os.access(there, os.W_OK | os.X_OK):
            raise InputError(f"{self.path}: cannot be written, as {there} is not writable")

    def _check_scene(self, before: dict[str, Any]) -> None:
        key = _first_difference(before, self._essence())
        if key is not None:
            why = f"differs from the run in {self.path}, expected the same scene"
            raise self.scene.document.error(key, f"{why}; only run.until and run.threads may change")

    def _essence(self) -> dict[str, Any]:
        """All of the scene that decides what happens and what is written."""
        essence: dict[str, Any] = json.loads(self.scene.model.model_dump_json())
        for key in _MAY_CHANGE:
            del essence["run"][key]
        return essence

    def begin(self) -> None:
        """Make the folder, without what an older run has left; a copy of the scene comes last."""
        if self._is_new:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock()
            if self._names():  # another run was faster
                raise self._not_empty()
        frames = self.path / "frames"
        frames.mkdir(parents=True, exist_ok=True)
        for path in (path for name in (*_FILES, *_PICTURES) for path in self.path.glob(name)):
            path.unlink(missing_ok=True)
        for path in frames.iterdir():
            if path.name.lstrip(".").startswith(_FRAMES):
                path.unlink()
        self._keep_scene()

    def go_on(self) -> None:
        """Keep what is there, but for a report, which would tell of an earlier end; the scene may have a later one."""
        (self.path / "report.html").unlink(missing_ok=True)
        self._keep_scene()

    def _keep_scene(self) -> None:
        """Copy the scene into the folder."""
        with replacing(self.path / "scene.toml") as file:
            file.write(self.scene.document.text.encode())

    def save(self, content: dict[str, Any]) -> None:
        """Write a checkpoint; an older one stays if that fails."""
        scene = json.dumps(self._essence())
        checkpoint.save(self.path / "checkpoint.h5", {"scene": scene, **content}, *RUN)

    def write_summary(self, facts: dict[str, Any]) -> None:
        """How it went."""
        with replacing(self.path / "summary.json") as file:
            file.write((json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode())


def _first_difference(one: Any, other: Any, key: Key = ()) -> Key | None:
    """Where two contents differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        places: Any = list(one | other)
    elif isinstance(one, list) and isinstance(other, list):
        places = range(max(len(one), len(other)))
    else:
        return None if one == other else key
    for place in places:
        inside = [place in c if isinstance(c, dict) else place < len(c) for c in (one, other)]
        found = _first_difference(one[place], other[place], (*key, place)) if all(inside) else (*key, place)
        if found is not None:
            return found
    return None
