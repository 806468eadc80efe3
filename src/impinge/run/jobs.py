"""What runs are about: a world, and all that is written of it; one class for each kind of scene."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from impinge.run import columns, state
from impinge.run.frames import Frames, draw, lists
from impinge.run.restoring import numbers_below
from impinge.run.scene import Scene, models
from impinge.run.world import World

__all__ = ["FrameFiles", "Job", "begin", "go_on"]


class FrameFiles(Protocol):
    """Writes frames, one after the other."""

    @property
    def written(self) -> int:
        """How many there are."""

    def write(self, world: Any) -> None:
        """Write the next frame."""

    def finish(self) -> None:
        """Write what is made of all frames together, at the end of a run."""


class Job(ABC):
    """A world of a scene, and how it is shown and kept. What is written depends on the world's state alone.

    Attributes
    ----------
    world : World or SoftWorld
    """

    world: Any

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of spheres and polyhedra, or of nodes."""

    @property
    @abstractmethod
    def why_dt(self) -> str:
        """The time step, and where it comes from."""

    @abstractmethod
    def column_names(self) -> list[str]:
        """Names of the columns of series.csv, with units."""

    @abstractmethod
    def row(self) -> list[float]:
        """What the columns are now."""

    @abstractmethod
    def open_frames(self, folder: Path, written: int, time: float) -> FrameFiles:
        """Files of frames, of which so many are there; those of a later time are not listed any more."""

    @abstractmethod
    def lists(self) -> list[str]:
        """Names of the files that list frames and are there as soon as one is."""

    @abstractmethod
    def draw(self, path: Path) -> None:
        """A picture of the world as it is now."""

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """What a checkpoint holds of it."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """What timings.csv counts besides steps, by the names of its columns."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """For the summary of a run."""


def begin(scene: Scene, threads: int | None) -> Job:
    """The world of a scene at its start."""
    if isinstance(scene.model, models.Particles):
        return _Particles(scene.model, *scene.build_with_groups(threads))
    from impinge.run.softjob import SoftJob

    return SoftJob.begin(scene, threads)


def go_on(scene: Scene, saved: Mapping[str, Any], threads: int | None) -> Job:
    """The world that `Job.content` was of."""
    if isinstance(scene.model, models.Particles):
        groups = {name: (first, stop) for name, (first, stop) in saved["groups"].items()}
        for name, ids in groups.items():
            numbers_below(f"groups.{name}", ids, 2**40)
        return _Particles(scene.model, state.to_world(World, saved["world"], threads, {}), groups)
    from impinge.run.softjob import SoftJob

    return SoftJob.go_on(scene, saved, threads)


class _Particles(Job):
    """Spheres or discs, and rigid bodies; groups : which spheres, by permanent numbers, have which name."""

    def __init__(self, scene: models.Particles, world: World, groups: dict[str, Any]) -> None:
        self.scene, self.world, self.groups = scene, world, groups

    @property
    def size(self) -> int:
        return len(self.world._dynamics.particles) + len(self.world._dynamics.rigid)

    @property
    def why_dt(self) -> str:
        return self.world.why_dt

    def column_names(self) -> list[str]:
        return columns.names(self.scene, self.world)

    def row(self) -> list[float]:
        return columns.values(self.scene, self.world, self.groups)

    def open_frames(self, folder: Path, written: int, time: float) -> Frames:
        return Frames(folder, self.scene, self.groups, written, time)

    def lists(self) -> list[str]:
        return lists(self.scene)

    def draw(self, path: Path) -> None:
        draw(path, self.scene, self.world)

    def content(self) -> dict[str, Any]:
        return {"groups": self.groups, "world": state.of_world(self.world)}

    def counts(self) -> dict[str, int]:
        return {"rebuilds": self.world.rebuilds}

    def facts(self) -> dict[str, Any]:
        dynamics = self.world._dynamics
        bodies = {"polyhedra": len(dynamics.rigid)} if dynamics.rigid.next_id else {}
        return {
            "dt": self.world.why_dt, "spheres": len(dynamics.particles), **bodies,
            "rebuilds": self.world.rebuilds,
        }  # fmt: skip
