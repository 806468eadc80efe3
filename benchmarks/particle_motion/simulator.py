"""What all codes have in common: settings, the outcome of a run, and the texts that LAMMPS and LIGGGHTS share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.particle_motion.cases import Case, State


@dataclass(frozen=True)
class Setting:
    """What a user of a code chooses by hand."""

    skin: float | None = None  # list distance in smallest radii
    style: str = ""  # of the search for neighbours
    pair: str = ""  # of several implementations of the contact law
    parallel: str = ""

    def __str__(self) -> str:
        skin = "" if self.skin is None else f"skin {self.skin:g}"
        return ", ".join(word for word in (skin, self.style, self.pair, self.parallel) if word) or "default"


@dataclass(frozen=True)
class Outcome:
    """Of the last `steps` steps of a run."""

    steps: int
    seconds: float  # of the loop alone, rebuilt lists included
    kinetic: float  # of translation, at the end, J
    rebuilds: int | None  # of lists; None: not known
    state: State | None  # at the end, if wanted


@dataclass(frozen=True)
class Order:
    """A run: some steps before, then those that are timed."""

    case: Case
    setting: Setting
    threads: int
    before: int
    steps: int
    limit: float = 600.0  # s, for the whole process
    wants_state: bool = False


class Simulator(Protocol):
    """A code. Making one raises an error where it is not installed."""

    name: str

    def version(self) -> str: ...

    def first(self, case: Case) -> Setting:
        """Where the search for the best setting begins."""

    def choices(self, case: Case, threads: int) -> list[tuple[str, tuple[Any, ...]]]:
        """Fields of the setting with values to try, one field after the other."""

    def run(self, order: Order, folder: Path) -> Outcome:
        """Move the spheres of the case; `folder` is for files, and the same for all runs of a case."""


# LAMMPS and LIGGGHTS


def data_file(case: Case, folder: Path) -> Path:
    """Spheres as both codes read them, to the last bit; written once. Type 2 is also that of LIGGGHTS' walls."""
    path = folder / "spheres.data"
    if path.exists():
        return path
    ids = np.arange(1, len(case) + 1)
    columns = [ids, case.classes, 2 * case.radii, np.full(len(case), case.density), case.start.centres]
    with path.open("w", encoding="ascii") as file:
        file.write(f"{case.label}\n\n{len(case)} atoms\n2 atom types\n\n")
        for axis, length in zip("xyz", case.box.tolist(), strict=True):
            file.write(f"0 {length!r} {axis}lo {axis}hi\n")
        file.write("\nAtoms\n\n")
        np.savetxt(file, np.column_stack(columns), "%d %d" + 5 * " %.17g")
        file.write("\nVelocities\n\n")
        np.savetxt(file, np.column_stack([ids, case.start.velocities, case.start.spins]), "%d" + 6 * " %.17g")
    return path


def last_lines(order: Order, dump: Path, precision: str) -> list[str]:
    """The runs, the timed one without a new list before, which would not count; and what is wanted of the end."""
    lines = [
        f"run {order.before}",
        f"run {order.steps} pre no",
        "variable energy equal ke",
        'print "kinetic ${energy}"',
    ]
    if order.wants_state:
        columns = "id x y z vx vy vz omegax omegay omegaz"
        lines.append(f"write_dump all custom {dump} {columns} modify sort id {precision}")
    return lines


def read_outcome(text: str, order: Order, dump: Path) -> Outcome:
    seconds = float(re.findall(r"Loop time of (\S+) on", text)[-1])
    builds = [int(count) for count in re.findall(r"Neighbor list builds = (\d+)", text)]
    kinetic = float(re.findall(r"^kinetic (\S+)", text, re.MULTILINE)[-1])
    state = None
    if order.wants_state:
        table = np.loadtxt(dump, skiprows=9)
        state = State(table[:, 1:4], table[:, 4:7], table[:, 7:10])
    # The count goes on from the first run to the second.
    return Outcome(order.steps, seconds, kinetic, builds[-1] - builds[-2], state)
