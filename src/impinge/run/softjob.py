"""Runs of cables and cloth: what is written of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from impinge.output.figure import title_at
from impinge.output.softfiles import SoftFiles
from impinge.output.softpicture import draw_soft
from impinge.run import softstate
from impinge.run.jobs import Job
from impinge.run.scene import Scene, softmodels
from impinge.run.soft import SoftWorld

__all__ = ["SoftJob"]


class SoftJob(Job):
    """Cables and cloth."""

    def __init__(self, scene: softmodels.Soft, world: SoftWorld) -> None:
        self.scene, self.world = scene, world

    @classmethod
    def begin(cls, scene: Scene, threads: int | None) -> SoftJob:
        """At its start."""
        world = scene.build(threads)
        assert isinstance(scene.model, softmodels.Soft)
        assert isinstance(world, SoftWorld)
        return cls(scene.model, world)

    @classmethod
    def go_on(cls, scene: Scene, saved: Mapping[str, Any], threads: int | None) -> SoftJob:
        """From a checkpoint."""
        assert isinstance(scene.model, softmodels.Soft)
        return cls(scene.model, softstate.to_world(SoftWorld, saved["world"], threads, {}))

    @property
    def size(self) -> int:
        return len(self.world.positions)

    @property
    def why_dt(self) -> str:
        return f"{self.world.dt:g} s"

    def column_names(self) -> list[str]:
        energies = [f"{name} [J]" for name in self.world.energy()]
        counts = ["contacts", "steps", "scaled steps", "unsettled steps"]
        return ["time [s]", *energies, "largest strain", "smallest strain", *counts]

    def row(self) -> list[float]:
        world = self.world
        strains = world.elements.strains(world.positions).edges
        counts = [len(world._touch.forces), world.steps, world.scaled_steps, world.unsettled_steps]
        return [world.time, *world.energy().values(), strains.max(), strains.min(), *counts]

    def open_frames(self, folder: Path, written: int, time: float) -> _Frames:
        return _Frames(SoftFiles(folder, self.scene.output.formats, self.scene.body_names, written, time))

    def lists(self) -> list[str]:
        return ["soft.pvd"] if {"vtp", "glb"} & set(self.scene.output.formats) else []

    def draw(self, path: Path) -> None:
        colours = [obstacle.colour for obstacle in self.scene.obstacles]
        title = title_at(self.world.time, self.scene.run.until)
        draw_soft(path, self.world.frame(), title=title, obstacle_colours=colours)

    def content(self) -> dict[str, Any]:
        return {"world": softstate.of_world(self.world)}

    def counts(self) -> dict[str, int]:
        return {"rebuilds": self.world._neighbours.made}

    def facts(self) -> dict[str, Any]:
        world = self.world
        counts = {"scaled steps": world.scaled_steps, "unsettled steps": world.unsettled_steps}
        return {"dt": world.dt, "nodes": self.size, **counts}


class _Frames:
    """Files of frames of a world."""

    def __init__(self, files: SoftFiles) -> None:
        self._files, self.finish = files, files.finish

    @property
    def written(self) -> int:
        return self._files.written

    def write(self, world: SoftWorld) -> None:
        """Write the next frame."""
        self._files.write(world.frame())
