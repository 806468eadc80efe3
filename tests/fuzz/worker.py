"""A process that reads bad files, one after the other, and says what came of it: python -m tests.fuzz.worker FOLDER.

Every line on standard input is a task in JSON, every line on standard output what became of it. The process has a limit
on its memory; that it may be killed at any moment is what it is for.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import impinge
from impinge.broad.files import read_spheres
from impinge.errors import ImpingeError
from impinge.inside.pointfiles import open_points
from impinge.run.loop import run_scene
from impinge.run.scene import read_scene
from impinge.shapes.files import read_mesh
from impinge.show.recording import Recording

MEMORY = 1 << 30  # bytes of addresses beyond what the process has when it begins
_POINTS = np.random.default_rng(1).uniform(-1.2, 1.2, (50, 3))
Use = Callable[[], None] | None  # what is done with what was read, however long that takes
_MOST = 5000  # faces and bodies that are looked at further


def _mesh(path: Path, seeds: Path) -> None:
    mesh = read_mesh(path)
    mesh.problems()
    if mesh.is_closed and len(mesh.faces) < _MOST:
        impinge.Solid(mesh).classify(_POINTS)


def _points(path: Path, seeds: Path) -> None:
    source = open_points(path)
    for chunk in source.chunks(1000):
        assert chunk.shape[1] == 3
        assert np.isfinite(chunk).all()


def _spheres(path: Path, seeds: Path) -> None:
    for radius in (None, 0.1):
        centres, radii = read_spheres(path, radius)
        if len(centres) < _MOST:
            impinge.pairs(centres, radii)


def _scene(path: Path, seeds: Path) -> Use:
    for name in ("box.ply", "spheres.csv", "points.csv", "sheet.obj"):
        if not (path.parent / name).exists():
            shutil.copy(seeds / name, path.parent)
    world: Any = read_scene(path).build()
    return (lambda: world.step(1)) if _is_small(world) else None


def _is_small(world: Any) -> bool:
    if isinstance(world, impinge.SoftWorld):
        return len(world.positions) < 200
    return len(world.spheres) < _MOST and len(world.polyhedra) < 20


def _world(path: Path, seeds: Path) -> Use:
    world = impinge.World.load(path)
    world.energy(), world.contacts()
    return lambda: world.step(2)


def _soft(path: Path, seeds: Path) -> Use:
    world = impinge.SoftWorld.load(path)
    world.energy(), world.contacts()
    return lambda: world.step(1)


def _resume(path: Path, seeds: Path) -> None:
    for name in ("full", "rocks", "soft_full"):
        folder = path.parent / name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(seeds / name, folder)
        shutil.copy(path, folder / "checkpoint.h5")
        text = (seeds / f"{name}.toml").read_text()
        (path.parent / f"{name}.toml").write_text(text.replace("until = 0.", "until = 0.00", 1))
        shutil.copy(seeds / "box.ply", path.parent)
        try:
            scene = read_scene(seeds / f"{name}.toml")
            run_scene(scene, folder, resume=True)
        except ImpingeError as error:
            if "differs" not in str(error):
                raise


def _solid(path: Path, seeds: Path) -> None:
    solid = impinge.Solid.load(path)
    solid.classify(_POINTS)
    solid.winding(_POINTS)
    solid.closest(_POINTS)


def _recording(path: Path, seeds: Path, place: str) -> None:
    name, _, file = place.partition("/")
    folder = path.parent / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(seeds / name, folder)
    shutil.copy(path, folder / file)
    recording = Recording(folder)
    for frame in recording:
        if frame.bodies is not None:
            frame.bodies.meshes()
    recording.series, recording.summary  # noqa: B018


READERS: dict[str, Callable[..., Use]] = {
    "mesh": _mesh, "points": _points, "spheres": _spheres, "scene": _scene, "world": _world, "soft": _soft,
    "resume": _resume, "solid": _solid, "recording": _recording,
}  # fmt: skip


def _status(name: str) -> int:
    """Bytes of memory that the system says of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


def _limit() -> None:
    import resource

    size = _status("VmSize") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _judge(call: Callable[[], Use]) -> tuple[Use, str, str]:
    """What became of a file: how to use it, and "read", "refused", or "defect" and why that is one."""
    try:
        return call(), "read", ""
    except ImpingeError as error:
        if len(str(error).splitlines()) != 1 or not str(error).isprintable():
            return None, "defect", f"message of several lines: {str(error)[:200]!r}"
        return None, "refused", str(error)
    except BaseException as error:  # whatever it is, it should not have come
        last = traceback.extract_tb(error.__traceback__)
        ours = next((f for f in reversed(last) if "impinge" in f.filename and "fuzz" not in f.filename), last[-1])
        first, last_place = (f"{Path(f.filename).name}:{f.lineno}" for f in (ours, last[-1]))
        place = f"{first} {ours.name}, {last_place}"
        return None, "defect", f"{type(error).__name__} at {place}: {str(error)[:200]}"


def main() -> None:
    """Answer tasks until there are no more."""
    seeds = Path(sys.argv[1])
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing else may come between the answers
    is_limited = False
    for line in sys.stdin:
        task = json.loads(line)
        path, reader = Path(task["path"]), READERS[task["reader"]]
        if task.get("limit") and not is_limited:
            _limit()
            is_limited = True
        more = (task["place"],) if task["reader"] == "recording" else ()
        before, clock = _status("VmRSS"), time.process_time()
        Path("/proc/self/clear_refs").write_text("5")
        use, verdict, why = _judge(lambda: reader(path, seeds, *more))  # noqa: B023
        grown, seconds = _status("VmHWM") - before, time.process_time() - clock
        if use is not None:
            _, verdict, why = _judge(use)
        answers.write(json.dumps({"verdict": verdict, "why": why, "bytes": grown, "seconds": seconds}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
