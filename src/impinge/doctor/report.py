"""All that was found, in plain text or as data."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import impinge.compiler
from impinge.doctor import machine, selftest
from impinge.doctor.packages import FOR_DEVELOPERS, PURPOSES, Package, packages
from impinge.errors import install

__all__ = ["Report", "examine"]

_WIDTH = 14  # of the names of lines
_STATES = (selftest.RIGHT, selftest.NOT_COMPILED, selftest.WRONG)


@dataclass
class Report:
    """What `impinge doctor` says."""

    facts: dict[str, Any] = field(default_factory=dict)  # plain data, for JSON
    lines: list[tuple[str, str]] = field(default_factory=list)  # the same in words
    hints: list[str] = field(default_factory=list)  # what could be better
    problems: list[str] = field(default_factory=list)  # what is wrong, and what to do about it

    def text(self) -> str:
        """For people, and for bug reports."""
        shown = [f"{name:<{_WIDTH}}{text}".rstrip() for name, text in self.lines]
        shown += [f"{'hint' if not i else '':<{_WIDTH}}{text}" for i, text in enumerate(self.hints)]
        if not self.problems:
            return "\n".join([*shown, "", "No problems found."])
        listed = [f"- {text}" for text in self.problems]
        return "\n".join([*shown, "", f"Problems found: {len(listed)}", *listed])


def examine(version: str) -> Report:
    """Look at everything, for some two seconds; `version` : of impinge."""
    report = Report()
    _software(report, version)
    for part in (_optional, _processor, _memory, _environment, _cache, _self_test):
        part(report)
    return report


def _software(report: Report, version: str) -> None:
    place = machine.private(Path(impinge.compiler.__file__).parent)
    python = f"{platform.python_version()} ({platform.python_implementation()}, {sys.maxsize.bit_length() + 1} bits)"
    system = platform.platform()
    report.facts.update(impinge=version, place=place, python=platform.python_version(), platform=system)
    report.lines += [("impinge", f"{version} in {place}"), ("Python", python), ("system", system)]
    needed = [package for package in packages() if not package.extra]
    report.facts["packages"] = {package.name: package.version for package in needed}
    if not needed:
        report.hints.append("impinge is not installed as a package, so that versions of others are not known")
    for package in needed:
        if not package.suits:
            found = package.version or "none"
            remedy = f"pip install '{package.name}{package.bounds}'"
            report.problems.append(f"{package.name}: found {found}, expected {package.bounds}; {remedy}")
    shown = [f"{package.name} {package.version or 'MISSING'}" for package in needed]
    report.lines += _wrapped("packages", [f"llvmlite {metadata.version('llvmlite')}", *shown])


def _optional(report: Report) -> None:
    extras: dict[str, list[Package]] = {}
    for package in packages():
        if package.extra:
            extras.setdefault(package.extra, []).append(package)
    report.facts["optional"] = {
        extra: {package.name: package.version for package in listed} for extra, listed in extras.items()
    }
    for extra, listed in extras.items():
        purpose = f", for {PURPOSES[extra]}" if extra in PURPOSES else ""
        found = [f"{package.name} {package.version}" for package in listed if package.version]
        absent = [package.name for package in listed if not package.version]
        if extra in FOR_DEVELOPERS:
            if found:
                report.lines += _wrapped(f"[{extra}]", found)
            continue
        words = [*found, *(f"{name} absent" for name in absent)]
        report.lines.append((f"[{extra}]", ", ".join(words) + purpose))
        if absent:
            report.hints.append(install(extra) + purpose)
        for package in listed:
            if package.version and not package.suits:
                bounds = f"{package.name}: found {package.version}, expected {package.bounds}"
                report.problems.append(f"{bounds}; {install(extra)}")


def _processor(report: Report) -> None:
    name, compiler_name, vectors = machine.processor()
    cores = machine.cores()
    report.facts["processor"] = {"name": name, "compiler_name": compiler_name, "vectors": vectors}
    report.facts["cores"] = cores
    shown = " ".join(vectors) or "none known"
    report.lines.append(("processor", f"{name} ({compiler_name}), vectors: {shown}"))
    share = f", {cores['share']:g} of them by its share of time" if cores["share"] < cores["usable"] else ""
    of = f"{cores['all']} cores, {cores['usable']} for this process{share}"
    report.lines.append(("threads", f"{cores['threads']} of our own (no threading layer of Numba is used); {of}"))
    if cores["threads"] > cores["share"]:
        better = max(1, int(cores["share"]))
        what = f"{cores['threads']} threads share {cores['share']:g} cores"
        report.hints.append(f"{what}: NUMBA_NUM_THREADS={better} may be faster")


def _memory(report: Report) -> None:
    found = machine.memory()
    report.facts["memory"] = {"total": found.total, "free": found.free, "limited": found.limited}
    limited = ", as limited for this container" if found.limited else ""
    total, free = ("unknown" if size is None else f"{size / 2**30:.3g} GiB" for size in (found.total, found.free))
    report.lines.append(("memory", f"{total}, {free} free{limited}"))


def _environment(report: Report) -> None:
    found = machine.settings()
    report.facts["environment"] = found
    report.lines.append(("environment", ", ".join(f"{name}={value}" for name, value in found.items()) or "nothing set"))
    if impinge.compiler.is_off():
        report.problems.append(
            "NUMBA_DISABLE_JIT is set: all runs a hundred times slower, as nothing is compiled; unset it"
        )


def _cache(report: Report) -> None:
    found = machine.cache()
    folder = machine.private(found.folder)
    report.facts["cache"] = {
        "folder": folder, "writable": found.writable, "kernels": found.kernels, "bytes": found.size,
        "older": found.older, "older_bytes": found.older_size,
    }  # fmt: skip
    can = "writable" if found.writable else "NOT WRITABLE"
    report.lines.append(("cache", f"{folder}, {can}, {found.kernels:,} kernels, {found.size / 1e6:.3g} MB"))
    if found.older:
        what = f"caches of other versions beside this one: {found.older}, {found.older_size / 1e6:.3g} MB"
        report.hints.append(f"{what}; they may be deleted")
    if not found.writable:
        report.problems.append(
            f"{folder} cannot be written: all is compiled again in every run; "
            "set NUMBA_CACHE_DIR to a folder that can be written"
        )


def _self_test(report: Report) -> None:
    checks, speeds = selftest.try_all()
    report.facts["self_test"] = {check.name: check.result for check in checks}
    report.facts["speed"] = {speed.name: speed.result for speed in speeds}
    for result, title in ((selftest.RIGHT, "right"), (selftest.NOT_COMPILED, "not compiled")):
        names = [check.name for check in checks if check.result == result]
        if names:
            report.lines += _wrapped(title, names)
    report.lines.append(("self-test", f"{sum(outcome.seconds for outcome in [*checks, *speeds]):.2g} s"))
    for outcome in [*checks, *speeds]:
        if outcome.result == selftest.WRONG:
            report.lines.append(("WRONG", outcome.name))
            detail = machine.private(outcome.detail)
            report.problems.append(f"self-test of {outcome.name}: {detail}; please report this")
    report.lines += [("speed", speed.result) for speed in speeds if speed.result not in _STATES]
    if any(check.result == selftest.NOT_COMPILED for check in checks):
        report.hints.append(
            "not all is compiled yet: `impinge warmup` does it, some minutes; or it is done on first use"
        )


def _wrapped(name: str, words: list[str], width: int = 100) -> list[tuple[str, str]]:
    """Lines of words with commas between them."""
    lines = [""]
    for number, word in enumerate(words):
        ended = word if number == len(words) - 1 else f"{word},"
        if lines[-1] and len(lines[-1]) + len(ended) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + ended
    return [(name if not i else "", line) for i, line in enumerate(lines)]
