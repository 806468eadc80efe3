"""LAMMPS: its input, and the settings that decide about its speed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.particle_motion import processes
from benchmarks.particle_motion.cases import Case
from benchmarks.particle_motion.contact import SHARE
from benchmarks.particle_motion.simulator import Order, Outcome, Setting, data_file, last_lines, read_outcome

# With a damping of 0, its walls divide 0 by 0 at the first contact.
_TINY = 1e-30


class Lammps:
    name = "lammps"

    def __init__(self) -> None:
        self._program = processes.find("lmp")
        self._mpi = processes.find("mpiexec")

    def version(self) -> str:
        words = processes.run([self._program, "-help"], Path.cwd(), 60).split(" - ")
        return words[1].strip()

    def first(self, case: Case) -> Setting:
        style = "multi" if case.classes.max() > 1 else "bin"
        return Setting(skin=case.skins[2], style=style, pair=_pairs(case)[0], parallel="mpi")

    def choices(self, case: Case, threads: int) -> list[tuple[str, tuple[Any, ...]]]:
        if threads > 1:
            return [("parallel", ("mpi", "omp"))]
        found: list[tuple[str, tuple[Any, ...]]] = [("pair", _pairs(case))]
        if case.classes.max() > 1:
            found.append(("style", ("multi", "bin")))
        return [*found, ("skin", case.skins), ("parallel", ("mpi", "omp"))]

    def run(self, order: Order, folder: Path) -> Outcome:
        script, dump = folder / "in.lammps", folder / "lammps.dump"
        script.write_text(_deck(order, data_file(order.case, folder), dump), encoding="ascii")
        command = [self._program, "-in", str(script), "-log", "none", "-nocite"]
        if order.setting.parallel == "omp":
            command += ["-sf", "omp", "-pk", "omp", str(order.threads)]
        elif order.threads > 1:
            command = [self._mpi, "-n", str(order.threads), *command]
        threads = order.threads if order.setting.parallel == "omp" else 1
        return read_outcome(processes.run(command, folder, order.limit, threads), order, dump)


def _pairs(case: Case) -> tuple[str, ...]:
    return ("gran/hooke/history", "granular") if case.contact.is_rough else ("gran/hooke",)


def _laws(case: Case, pair: str) -> tuple[str, str, str]:
    """pair_style, pair_coeff, and what stands behind wall/gran.

    Walls with friction are always granular: under hooke/history a sphere feels no tangential spring there.
    """
    contact = case.contact
    k, friction = contact.stiffness, contact.friction
    if not contact.is_rough:
        return f"{pair} {k!r} 0 0 0 0 0", "", f"hooke {k!r} 0 {_TINY!r} 0 0 0"
    between, wall = contact.rates(float(case.masses[0]))
    tangential = f"tangential linear_history {SHARE * k!r} {SHARE!r} {friction!r} damping mass_velocity"
    wall_law = f"granular hooke {k!r} {wall!r} {tangential}"
    if pair == "granular":
        return pair, f"hooke {k!r} {between!r} {tangential}", wall_law
    return f"{pair} {k!r} {SHARE * k!r} {between!r} {SHARE * between!r} {friction!r} 1", "", wall_law


def _deck(order: Order, data: Path, dump: Path) -> str:
    case, setting = order.case, order.setting
    assert setting.skin is not None
    style, coefficients, wall = _laws(case, setting.pair)
    lines = [
        "units si",
        "atom_style sphere",
        "boundary f f f",
        "newton on",
        f"read_data {data}",
        f"neighbor {setting.skin * case.smallest!r} {setting.style}",
        f"comm_modify vel yes mode {'multi' if setting.style == 'multi' else 'single'}",
        "neigh_modify delay 0 every 1 check yes",
        f"pair_style {style}",
        f"pair_coeff * * {coefficients}",
        f"timestep {case.dt!r}",
        "fix move all nve/sphere",
    ]
    if case.gravity:
        lines.append(f"fix weight all gravity {case.gravity!r} vector 0 0 -1")
    for axis, length in zip("xyz", case.box.tolist(), strict=True):
        lines.append(f"fix wall_{axis} all wall/gran {wall} {axis}plane 0 {length!r}")
    lines += ["thermo_style custom step ke", "thermo 1000000", "thermo_modify lost error norm no"]
    return "\n".join([*lines, *last_lines(order, dump, "format float %.17g")]) + "\n"
