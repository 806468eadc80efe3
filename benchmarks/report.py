"""Results in words, whatever was measured: tables, required figures with what was reached, facts of the run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_START = time.perf_counter()
Part = tuple[str, str, Callable[[Any], str]]


def progress(text: str) -> None:
    """What is being measured, on standard error."""
    print(f"[{time.perf_counter() - _START:6.1f} s] {text}", file=sys.stderr, flush=True)


def reason(error: Exception) -> str:
    """Why something could not be measured."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def threads_text(count: int | None) -> str:
    """None: what has no such setting."""
    return "no threads setting" if count is None else f"{count} thread{'s' if count > 1 else ''}"


def the(rows: Sequence[dict[str, Any]], **wanted: Any) -> dict[str, Any] | None:
    """The row with such values."""
    return next((row for row in rows if all(row[key] == value for key, value in wanted.items())), None)


def grouped(rows: Sequence[dict[str, Any]], key: str) -> list[list[dict[str, Any]]]:
    """Rows with the same value each, in the order of their first ones."""
    return [[row for row in rows if row[key] == value] for value in dict.fromkeys(row[key] for row in rows)]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; all columns but the first `left` are numbers."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = (c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True)))
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join("-" * (w + 2) if i < left else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return "\n".join([line(head), rule, *map(line, rows)])


def seconds(value: float) -> str:
    """Three digits, in a unit that suits."""
    factor, unit = next((f, u) for f, u in ((1, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")) if value * f >= 0.9995)
    number = value * factor
    return f"{number:.{max(0, 3 - len(str(int(number))))}f} {unit}"


# Required figures


@dataclass(frozen=True)
class Verdict:
    """A required figure and what was reached."""

    name: str
    sense: str  # "at least", "at most" or "below"
    required: float
    reached: float | None  # None: not measured
    aim: float | None = None
    remark: str = ""

    @property
    def met(self) -> bool | None:
        if self.reached is None:
            return None
        if self.sense == "at least":
            return self.reached >= self.required
        return self.reached < self.required if self.sense == "below" else self.reached <= self.required

    def __str__(self) -> str:
        word = {True: "met", False: "MISSED", None: "not measured"}[self.met]
        aim = f" (aim {self.aim:g})" if self.aim else ""
        reached = "" if self.reached is None else f", reached {self.reached:.3g}"
        remark = f" [{self.remark}]" if self.remark else ""
        return f"{word + ':':13} {self.name}: {self.sense} {self.required:g}{aim}{reached}{remark}"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"met": self.met}


def exponent(sizes: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """The k of values ~ sizes^k: between the ends, or fitted, whichever is larger."""
    import numpy as np

    x, y = np.log(sizes), np.log(values)
    ends = (y[-1] - y[0]) / (x[-1] - x[0])
    return float(max(ends, np.polyfit(x, y, 1)[0]))


def verdicts_text(verdicts: Sequence[Verdict], quick: bool, facts: dict[str, Any]) -> list[str]:
    """The last blocks of a report; none without required figures."""
    if not verdicts:
        return []
    remark = " (small sizes: an indication only)" if quick else ""
    remark += " (BUSY MACHINE: met or missed means nothing)" if is_busy(facts) else ""
    return [f"## Required figures{remark}", "\n".join(f"- {verdict}" for verdict in verdicts)]


def sections(results: dict[str, Any], parts: Iterable[Part]) -> list[str]:
    """Blocks of a report; parts : key in the results, title, and what writes it, of those that may be there."""
    there = [(title, write(results[key])) for key, title, write in parts if results.get(key)]
    return [block for title, text in there for block in (f"## {title}", text)]


def page(title: str, blocks: Sequence[str], results: dict[str, Any], verdicts: Sequence[Verdict]) -> str:
    """The whole report."""
    about = machine_text(results["about"], results["peers"], results["absent"])
    last = verdicts_text(verdicts, results["quick"], results["about"])
    return "\n\n".join([f"# {title}", about, *blocks, *last]) + "\n"


# Facts of the run


def is_busy(facts: dict[str, Any]) -> bool:
    """Whether other processes took more than a tenth of a CPU from the measurements."""
    return (facts["others_cpus"] or 0.0) > 0.1


def _busy_text(facts: dict[str, Any]) -> str:
    if facts["others_cpus"] is None:
        return "what other processes used is not known"
    warning = "; BUSY MACHINE: DO NOT TRUST THESE FIGURES" if is_busy(facts) else ""
    return f"other processes used {facts['others_cpus']:.2f} of these CPUs on average{warning}"


def machine_text(facts: dict[str, Any], peers: dict[str, str], absent: dict[str, str]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    changed = " with changes" if facts["commit_changed"] else ""
    lines = [
        f"{facts['cpu']}, {facts['cpus']} CPUs, {facts['memory_gb']} GB memory; {facts['system']}",
        f"Python {facts['python']}, {versions}; impinge {facts['impinge']}, commit {facts['commit']}{changed}",
        f"{facts['threads']} threads on CPUs {facts['used_cpus']}; "
        f"load average before: {facts['load_before']}, after: {facts['load_after']}; {facts['date']}",
        _busy_text(facts),
        "peers: " + (", ".join(f"{name} {version}" for name, version in peers.items()) or "none"),
        *(f"absent: {name} ({reason})" for name, reason in absent.items()),
    ]
    return "\n".join(f"- {line}" for line in lines)
