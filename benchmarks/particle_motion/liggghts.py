"""LIGGGHTS: its input, and the settings that decide about its speed.

Lists are built with "bin". Its "multi" is faster for two sizes but misses contacts between them: after 1000 steps of
the fracture case the kinetic energy is off by 3e-3, also with new lists in every step, where "bin" agrees with LAMMPS
in all digits.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from benchmarks.particle_motion import processes
from benchmarks.particle_motion.cases import Case
from benchmarks.particle_motion.contact import SHARE
from benchmarks.particle_motion.simulator import Order, Outcome, Setting, data_file, last_lines, read_outcome


class Liggghts:
    name = "liggghts"

    def __init__(self) -> None:
        self._program = processes.find("liggghts")
        self._mpi = processes.find("mpirun.openmpi", "mpirun")

    def version(self) -> str:
        text = processes.run([self._program, "-in", os.devnull, "-log", "none"], Path.cwd(), 60)
        return text.partition("LIGGGHTS-PUBLIC ")[2].partition(",")[0]

    def first(self, case: Case) -> Setting:
        return Setting(skin=case.skins[2])

    def choices(self, case: Case, threads: int) -> list[tuple[str, tuple[Any, ...]]]:
        return [] if threads > 1 else [("skin", case.skins)]

    def run(self, order: Order, folder: Path) -> Outcome:
        script, dump = folder / "in.liggghts", folder / "liggghts.dump"
        script.write_text(_deck(order, data_file(order.case, folder), dump), encoding="ascii")
        command = [self._program, "-in", str(script), "-log", "none"]
        if order.threads > 1:
            command = [self._mpi, "--allow-run-as-root", "--oversubscribe", "-n", str(order.threads), *command]
        return read_outcome(processes.run(command, folder, order.limit), order, dump)


def _of_types(name: str, among: float, wall: float) -> str:
    """A property of pairs of types: 1 and 1, 1 and 2, 2 and 1, 2 and 2."""
    values = " ".join(repr(float(value)) for value in (among, wall, wall, among))
    return f"fix {name} all property/global {name} peratomtypepair 2 {values}"


def _properties(case: Case) -> list[str]:
    """With damping, spheres are of type 1 and walls of type 2; without, both types are the same."""
    k, friction = case.contact.stiffness, case.contact.friction
    between, wall = case.contact.rates(float(case.masses[0]))
    tangential = SHARE * k if case.contact.is_rough else 0.0
    return [
        _of_types("kn", k, k),
        _of_types("kt", tangential, tangential),
        _of_types("gamman", between, wall),
        _of_types("gammat", SHARE * between, SHARE * wall),
        _of_types("coefficientFriction", friction, friction),
    ]


def _deck(order: Order, data: Path, dump: Path) -> str:
    case, setting = order.case, order.setting
    assert setting.skin is not None
    model = f"hooke/stiffness tangential {'history' if case.contact.is_rough else 'off'}"
    lines = [
        "units si",
        "atom_style granular",
        "atom_modify map array",
        "boundary f f f",
        "newton off",
        "communicate single vel yes",
        f"read_data {data}",
        f"neighbor {setting.skin * case.smallest!r} bin",
        "neigh_modify delay 0 every 1 check yes",
        *_properties(case),
        f"pair_style gran model {model}",
        "pair_coeff * *",
        f"timestep {case.dt!r}",
        "fix move all nve/sphere",
    ]
    if case.gravity:
        lines.append(f"fix weight all gravity {case.gravity!r} vector 0.0 0.0 -1.0")
    for axis, length in zip("xyz", case.box.tolist(), strict=True):
        for side, place in (("low", 0.0), ("high", length)):
            lines.append(f"fix wall_{axis}_{side} all wall/gran model {model} primitive type 2 {axis}plane {place!r}")
    lines += ["thermo_style custom step atoms ke", "thermo 1000000", "thermo_modify lost error norm no"]
    return "\n".join([*lines, *last_lines(order, dump, 'format "%d' + 9 * " %.17g" + '"')]) + "\n"
