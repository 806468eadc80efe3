"""The paper's statements beside what was measured: of the searches alone, and of whole simulations."""

from __future__ import annotations

from typing import Any

from impinge.reproduce.particles.measure import PAPER_EXPONENTS, fit_exponent
from impinge.reproduce.particles.tables import by_way, crossing, number
from impinge.reproduce.statements import Statement, without_verdict

__all__ = ["statements"]

_Rows = list[dict[str, Any]]
_SHORT = {"verlet": "VL", "cells": "LC", "sweep": "LLL"}
_CLOSE = 0.2  # of an exponent
_STEEPER = 1.5  # times as much counts as much faster
_PROGRAMS = "the paper's programs were in different languages on different machines; these differ in the search only"
_CALLS = "what every call costs, however few the discs, is not small beside the search"


def statements(results: dict[str, Any]) -> list[Statement]:
    """All that the paper says, beside what came out."""
    whole = results["simulations"]
    cases, found = whole["cases"], [_figure_8(whole["demo"]), _figure_9(whole["matrix"])]
    sized = [_figure_10(whole["packing"]), _figure_13(whole["shares"])]
    found += [*_figure_11(cases["3.1"]), *_figure_12(cases["3.2"]), *_figure_14(cases["3.3"])]
    found += [*_searches_alone(results["cases"]), *_fracture_alone(results["fracture"])]
    found = without_verdict(found) if results["quick"] else found
    return sorted(found + sized, key=lambda one: int(one.place.removeprefix("Fig. ")))


def _alike(fit: dict[str, float]) -> bool:
    """Whether cells and linear lists grow alike, and almost linearly."""
    return abs(fit["cells"] - fit["sweep"]) < _CLOSE and max(fit["cells"], fit["sweep"]) < 1 + _CLOSE


def _searches_alone(cases: dict[str, _Rows]) -> list[Statement]:
    """What Fig. 11 and 12 say of the searches, without forces."""
    discs, spheres = ({search: fit_exponent(cases[case], search, 3) for search in _SHORT} for case in ("3.1", "3.2"))
    here = "searches alone, last three: " + ", ".join(f"{search} {number(b)}" for search, b in discs.items())
    steepest = discs["verlet"] > max(discs["cells"], discs["sweep"])
    found = [
        Statement("Fig. 11", "VL the steepest, more than linear", here, steepest, _CALLS),
        Statement("Fig. 11", "LC and LLL alike, almost linear", here, _alike(discs), _CALLS),
    ]
    why = {
        "verlet": "pairs that are listed are looked at in every step as well, and they are linear",
        "cells": "large systems of cells are linear",
        "sweep": "exchanges grow with the way in a step, which the paper does not tell",
    }
    for search, said in PAPER_EXPONENTS.items():
        fit = spheres[search]
        holds = abs(fit - said) < _CLOSE
        here = f"search alone, last three: {number(fit)}"
        found.append(
            Statement("Fig. 12", f"{_SHORT[search]} ∝ n^{said:g}", here, holds, f"{fit - said:+.2f}; {why[search]}")
        )
    return found


def _fracture_alone(rows: _Rows) -> list[Statement]:
    """What Fig. 14 says, without forces, and beyond its largest ratio."""
    per = {(row["search"], row["ratio"]): row["seconds"] / row["bodies"] for row in rows if "seconds" in row}
    five = max(ratio for search, ratio in per if search == "cells" and ratio <= 5)
    rise = {search: per[search, five] / per[search, 1] for search in ("cells", "sweep")}
    both, last = (max(ratio for search, ratio in per if search == name) for name in ("cells", "levels"))
    cross = crossing(rows)
    wide = (
        f"search alone, ns per particle and step: R/r = {both}: cells {1e9 * per['cells', both]:,.0f}, sweep "
        f"{1e9 * per['sweep', both]:,.0f}; R/r = {last}: sweep {1e9 * per['sweep', last]:,.0f}, levels "
        f"{1e9 * per['levels', last]:,.0f}"
    )
    return [
        Statement(
            "Fig. 14",
            "LC rises much faster with R/r than LLL",
            f"searches alone, per particle from R/r = 1 to {five}: cells × {rise['cells']:.2f}, sweep × "
            f"{rise['sweep']:.2f}",
            rise["cells"] > _STEEPER * rise["sweep"],
            "the rise of cells is not yet seen at so few ratios",
        ),
        Statement(
            "Fig. 14",
            "before scaling LC is faster up to R/r ≈ 2.5",
            f"searches alone: cells are more expensive than sweep {cross}",
            cross == "from R/r = 3 on",
            _PROGRAMS,
        ),
        Statement(
            "Fig. 14",
            "LLL might be interesting for even wider size distributions",
            wide,
            per["sweep", both] < per["cells", both],
            "cells are cheaper there",
        ),
    ]


def _balance(rows: _Rows) -> str:
    """From which number on Verlet lists spend more on testing all pairs than on the pairs they hold."""
    row = [row for row in by_way(rows, "paper") if row["search"] == "verlet"][-1]
    held = row["listed"] / row["bodies"]
    return (
        f"{held:.0f} pairs per particle are in the lists, so that n²/200 tests per step are more than the {held:.0f} n "
        f"looked at for forces only beyond n ≈ {200 * held:,.0f}"
    )


def _figure_8(demo: dict[str, Any]) -> Statement:
    here = (
        f"{demo['bodies']} discs, {demo['until']:g} s in {demo['steps']:,} steps: mean speed {demo['speed']:.2f} m/s, "
        f"{demo['contacts']} contacts; total energy changed by {demo['drift']:.1e} of the kinetic one"
    )
    holds = demo["speed"] > 0 and demo["contacts"] > 0 and demo["drift"] < 0.01
    said = "at first at rest, after 2 s accelerated by gravity and collided, without dissipation"
    return Statement("Fig. 8", said, here, holds, "energy is not conserved, or nothing collided")


def _figure_9(matrix: dict[str, dict[str, float]]) -> Statement:
    first, later = matrix.values()
    here = "; ".join(
        f"{name} {f['pairs']} of 44,850 pairs, numbers {f['apart']:.0f} apart on average" for name, f in matrix.items()
    )
    holds = first["apart"] < later["apart"] and max(first["pairs"], later["pairs"]) < 0.05 * 44850
    said = "entries near the diagonal at first, because of the numbering; sparse always"
    return Statement("Fig. 9", said, here, holds, "the numbers had no time to mix, or pairs are many")


def _figure_10(packing: dict[str, Any]) -> Statement:
    here = (
        f"{packing['bodies']:,} discs that fill 0.674 of a square; {packing['until'] * 1e3:g} ms later "
        f"{packing['contacts']:,} contacts, energy changed by {packing['drift']:.1e} of the kinetic one"
    )
    said = "7,800 discs, densely packed, ν from 0.670 to 0.678"
    return Statement("Fig. 10", said, here, packing["drift"] < 0.01, "energy is not conserved")


def _figure_11(rows: _Rows) -> list[Statement]:
    paper = by_way(rows, "paper")
    fit = {search: fit_exponent(paper, search, 3) for search in _SHORT}
    here = ", ".join(f"{search} {number(b)}" for search, b in fit.items()) + " (exponents of the last three)"
    per = {row["bodies"]: row["seconds"] / row["bodies"] for row in paper if row["search"] == "cells"}
    jump = f"cells: time per disc × {per[3900] / per[1950]:.2f}" if 3900 in per else "not among these sizes"
    steepest = fit["verlet"] > max(fit["cells"], fit["sweep"]) and fit["verlet"] > 1.1
    constant = "not to be expected here: all sizes have ν = 0.674"
    return [
        Statement("Fig. 11", "VL the steepest, more than linear", here, steepest, _balance(rows)),
        Statement("Fig. 11", "LC and LLL alike, almost linear", here, _alike(fit), _CALLS),
        Statement("Fig. 11", "all jump between 1,950 and 3,900, as ν changes", jump, None, constant),
    ]


def _figure_12(rows: _Rows) -> list[Statement]:
    why = {
        "verlet": _balance(rows),
        "cells": "cells at walls, which have fewer neighbours, steepen small systems, what every call costs flattens "
        "them; large ones are linear",
        "sweep": "exchanges grow with n^(5/3) and with the way in a step, which the paper does not tell, and making "
        "lists for the forces out of the pairs, which is linear, outweighs them",
    }
    lines = []
    for search, said in PAPER_EXPONENTS.items():
        all_sizes, last = (fit_exponent(by_way(rows, "paper"), search, k) for k in (None, 3))
        here = f"{number(all_sizes)}, last three {number(last)}"
        off = f"{last - said:+.2f}; {why[search]}"
        lines.append(Statement("Fig. 12", f"{_SHORT[search]} ∝ n^{said:g}", here, abs(last - said) < _CLOSE, off))
    ours = {row: fit_exponent(by_way(rows, "world"), row, 3) for row in ("verlet", "cells", "sweep", "auto")}
    here = ", ".join(f"{search} {number(b)}" for search, b in ours.items())
    note = "a difference of method: lists are made through cells, and again only when something has moved too far"
    lines.append(Statement("Fig. 12", "–", f"World, last three: {here}", None, note))
    return lines


def _figure_13(shares: dict[int, float]) -> Statement:
    here = ", ".join(f"R/r = {ratio}: ν = {share:.4f}" for ratio, share in shares.items())
    equal = max(shares.values()) - min(shares.values()) < 1e-4
    return Statement(
        "Fig. 13", "equal and broken spheres of the same volume, ν = 0.12", here, equal, "volumes are not equal"
    )


def _figure_14(rows: _Rows) -> list[Statement]:
    rise = {}
    for search in ("cells", "sweep"):
        per = [row["seconds"] / row["bodies"] for row in by_way(rows, "paper") if row["search"] == search]
        rise[search] = per[-1] / per[0]
    last = max(row["ratio"] for row in rows)
    here = f"per particle from R/r = 1 to {last}: cells × {rise['cells']:.2f}, sweep × {rise['sweep']:.2f}"
    cross = crossing(by_way(rows, "paper"))
    few = "the rise of cells is not yet seen at so few ratios"
    return [
        Statement(
            "Fig. 14", "LC rises much faster with R/r than LLL", here, rise["cells"] > _STEEPER * rise["sweep"], few
        ),
        Statement(
            "Fig. 14",
            "before scaling LC is faster up to R/r ≈ 2.5",
            f"cells are more expensive than sweep {cross}",
            cross == "from R/r = 3 on",
            _PROGRAMS,
        ),
    ]
