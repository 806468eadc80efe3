"""The paper's statements beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from impinge.reproduce.qp_collide.conditioning import Conditioning
from impinge.reproduce.qp_collide.exchanges import Exchanges
from impinge.reproduce.qp_collide.iterative import Count
from impinge.reproduce.qp_collide.responses import RESPONSES, History, Measured
from impinge.reproduce.qp_collide.scenes import DEMOS
from impinge.reproduce.statements import Statement

__all__ = ["on_conditioning", "on_exchanges", "on_iterations", "on_responses", "on_toggling", "power"]

_MORE = 1.5  # times as much counts as more
_SINGULAR = 1e15
_GENERALLY = 0.9  # of the cases
STIFF = 1e5  # N/m


def power(value: float) -> str:
    """A large number in few digits."""
    if not np.isfinite(value):
        return "∞"
    if abs(value) >= 1e4:
        return f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _spread(values: Sequence[float]) -> str:
    low, high = power(min(values)), power(max(values))
    return low if low == high else f"{low} to {high}"


def _steps(histories: Sequence[History]) -> int:
    return sum(len(one.times) for one in histories)


# Responses


def on_responses(measured: Measured) -> list[Statement]:
    """Sections 2, 4.1 and 8: the same demos by three responses."""
    by = {name: [one for one in measured.histories if one.response == name] for name in RESPONSES}
    return [_all_resolved(by["qp"]), _fixed(by["qp"]), _not_guaranteed(by), _strain(measured), _energy(by)]


def _all_resolved(runs: Sequence[History]) -> Statement:
    passed, crossing = sum(one.passed[-1] for one in runs), sum(max(one.crossing) for one in runs)
    lack, scaled = max(max(one.overlap) for one in runs), sum(one.scaled for one in runs)
    here = (
        f"qp: {passed} pairs passed in {_steps(runs):,} steps ({scaled} of them shortened), {crossing} are in each "
        f"other at the end of one; at most {1e3 * lack:.2g} mm of the distance is lacking"
    )
    text = "a solution to the dynamics equation which responds to all the collisions"
    return Statement("abstract", text, here, passed == crossing == 0, "something passed")


def _fixed(runs: Sequence[History]) -> Statement:
    moved = max(one.held_moved for one in runs)
    here = f"nodes that are held moved by {power(moved)} m"
    text = "handles the fixed constraints well, treated as equalities all along"
    return Statement("4.4, 8", text, here, moved == 0.0, "they moved")


def _not_guaranteed(by: dict[str, list[History]]) -> Statement:
    parts, passed = [], 0
    for name in ("penalty", "impulse"):
        worst = max(by[name], key=lambda one: one.passed[-1])
        lack = max(max(one.overlap) for one in by[name])
        count = sum(one.passed[-1] for one in by[name])
        passed += count
        where = f", most in {worst.demo} at {1e3 * worst.dt:g} ms" if count else ""
        parts.append(f"{name}: {count} pairs passed{where}; up to {1e3 * lack:.2g} mm of the distance lacking")
    text = "earlier methods do not guarantee that all the collisions will be resolved"
    return Statement("2", text, ". ".join(parts), passed > 0, "nothing passed in these runs")


def _strain(measured: Measured) -> Statement:
    ratios: dict[str, list[float]] = {"penalty": [], "impulse": []}
    for demo in DEMOS:
        for name, values in ratios.items():
            pairs = zip(measured.of(demo, name), measured.of(demo, "qp"), strict=True)
            values += [max(one.strain) / max(qp.strain) for one, qp in pairs]
    here = ", ".join(f"{name} {_spread(values)} times that of qp" for name, values in ratios.items())
    holds = min(ratios["impulse"]) > _MORE
    text = "impulses may introduce large amounts of strain; the program prevents that"
    return Statement("2, 4.1", text, f"largest strain: {here}", holds, f"not everywhere more than {_MORE:g} times")


def _energy(by: dict[str, list[History]]) -> Statement:
    gains = {name: [one.gain for one in runs] for name, runs in by.items()}
    grows = {name: sum(gain > 0 for gain in values) for name, values in gains.items()}
    here = "; ".join(
        f"{name}: above that of the start in {grows[name]} of {len(values)} runs"
        + (f", by up to {power(max(values))} J" if grows[name] else "")
        for name, values in gains.items()
    )
    holds = grows["qp"] == 0 and grows["impulse"] > 0
    return Statement("2", "impulses add undesirable extra energy", here, holds, "they do not here")


# Systems


def on_conditioning(found: Sequence[Conditioning]) -> list[Statement]:
    """7.1 and 8."""
    figure = next(one for one in found if one.source == "Figure 1")
    first, last = ([one for one in found if one.source.endswith(which)] for which in ("first", "last"))
    singular = [one for one in first if one.rank < one.rows]
    share = len(singular) / len(first)
    worse = [one.plain / one.penalty for one in last]
    better = [one.plain / one.perturbed for one in (figure, *singular)]
    wrong = sum(one.misplaced > 0 for one in (figure, *singular))
    return [
        Statement(
            "7.1, Fig. 1",
            "the three rows of an edge on two triangles and their side create a singular matrix",
            f"{figure.rows} rows of rank {figure.rank}: condition {power(figure.plain)}, of K {power(figure.K)}",
            figure.rank < figure.rows and figure.plain > _SINGULAR,
            "it is not singular",
        ),
        Statement(
            "7.1",
            "dependent rows are a common occurrence",
            f"in {len(singular)} of {len(first)} steps among the rows that Algorithm 1 begins with, in "
            f"{sum(one.rank < one.rows for one in last)} of {len(last)} among those held at the solution",
            share > 0.5,
            "in less than half of the steps",
        ),
        Statement(
            "7.1, (23)",
            "a small L reduces the condition number",
            f"from beyond {power(min(one.plain for one in singular))} to "
            f"{_spread([one.perturbed for one in singular])} with −L; with +L, as printed, to "
            f"{_spread([one.printed for one in singular])}",
            min(better) > _MORE,
            "not in all steps",
        ),
        Statement(
            "(23), (24)",
            "the sign of L is + in one and − in the other",
            f"with +L eigenvalues have the wrong sign in {wrong} of {len(singular) + 1} systems: the solution is then "
            "no minimum; with −L in none, as the matrix is quasi-definite",
            wrong == 0,
            "only −L keeps the meaning of the system",
        ),
        Statement(
            "8",
            "J and Jᵀ somewhat degrade the conditioning, compared with penalty springs",
            f"(8) over the matrix with springs, rows held at the solution: {_spread(worse)}; rows of the beginning: "
            f"beyond {power(min(one.plain / one.penalty for one in first))}",
            max(worse) > _MORE,
            "not with the rows held at the solution",
        ),
    ]


def on_exchanges(found: Sequence[Exchanges]) -> list[Statement]:
    """3 and 6: does the iteration end, how soon, and where."""
    lines = []
    for text, is_plain in (
        ("we iterate until all constraints are satisfied with the right signs, at most 3n + m times", True),
        ("the same with all rows, perturbed", False),
    ):
        here = [one for one in found if (one.way == "one row each") is is_plain]
        ended = [one for one in here if one.status == "solved"]
        counts, ours = [one.iterations for one in here], [one.ours for one in here]
        within = sum(one.status == "solved" and one.iterations <= one.unknowns + one.rows for one in here)
        apart = max((one.apart for one in ended), default=np.inf)
        said = (
            f"{len(ended)} of {len(here)} programs solved without safeguard, {within} within 3n + m; iterations: "
            f"median {np.median(counts):g}, at most {max(counts):,} (solve_qp: {np.median(ours):g}, {max(ours)}); x as "
            f"of solve_qp within {apart:.0e}"
        )
        name = "3, 6" if is_plain else "6, 7.1"
        lines.append(Statement(name, text, said, within == len(here), "it does not always"))
    return lines


def on_toggling(found: Sequence[Exchanges]) -> Statement:
    """7.2."""
    soft, stiff = ([one for one in found if (one.stiffness >= STIFF) is at] for at in (False, True))
    rates = [float(np.mean([one.toggling for one in some])) for some in (soft, stiff)]
    loops = [sum(one.status != "solved" for one in some) for some in (soft, stiff)]
    alone = [one for one in found if one.way == "one row each"]
    here = (
        f"below {power(STIFF)} N/m {rates[0]:.1f} toggling rows per step and {loops[0]} of {len(soft)} iterations "
        f"without end, from there on {rates[1]:.1f} and {loops[1]} of {len(stiff)}; with independent rows "
        f"{np.mean([one.toggling for one in alone]):.2f} per step"
    )
    holds = loops[1] / len(stiff) > _MORE * loops[0] / len(soft)
    text = "very stiff objects (above 10⁵ N/m) make rows toggle, up to endless loops"
    return Statement("7.2", text, here, holds, "rows toggle because they depend on each other, however stiff the cable")


def on_iterations(found: Sequence[Count]) -> list[Statement]:
    """5.1 and 5.2."""
    lines = []
    for form, place, text in (
        ("(8), CG", "5.1", "conjugate gradients on (8) should generally converge within 3n + m iterations"),
        ("(20), CG", "5.2", "(20) reduces the iterations to m at most"),
    ):
        here = [one for one in found if one.form == form]
        solved = [one for one in here if one.status == "solved"]
        within = sum(one.iterations <= one.limit for one in solved)
        most = max((one.iterations / one.limit for one in solved), default=np.inf)
        said = (
            f"{len(solved)} of {len(here)} systems solved, {within} within the limit; at most {most:.2g} times as many "
            f"iterations as that"
        )
        holds = within >= _GENERALLY * len(here)
        lines.append(Statement(place, text, said, holds, "rounding spoils the count where K is stiff"))
    limits = [max(one.iterations for one in found if one.form == form) for form in ("(8), CG", "(20), CG")]
    said = f"at most {limits[1]:,} instead of {limits[0]:,}"
    lines.append(Statement("5.2", "where K can be inverted, it pays", said, limits[1] < limits[0], "it does not"))
    return lines
