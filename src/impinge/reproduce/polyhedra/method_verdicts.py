"""The paper's statements on the multipole method itself beside what was measured."""

from __future__ import annotations

from impinge.reproduce.polyhedra.accuracy import Error, fall_per_order
from impinge.reproduce.polyhedra.operations import OPERATIONS, Counts, Depth
from impinge.reproduce.polyhedra.series import along, two_digits
from impinge.reproduce.polyhedra.verdicts import CLOSE
from impinge.reproduce.statements import Statement

__all__ = ["on_accuracy", "on_depth", "on_operations"]


def on_operations(counts: Counts) -> list[Statement]:
    """Table 1, of whose orders the measured ones may only be smaller."""
    lines: list[Statement] = []
    for over, letter in (("triangles", "N"), ("points", "M")):
        parts, larger = [], []
        for name, operation in OPERATIONS.items():
            if operation.paper == "–":
                continue
            power = operation.in_triangles if over == "triangles" else operation.in_points
            grown = counts.growth("pre-chosen", over, name)
            parts.append(f"{name} {two_digits(grown)} ({power:g})")
            if grown > power + CLOSE:
                larger.append(name)
        lines.append(
            Statement(
                "Table 1",
                f"bounds of the orders of the operations in {letter}, in brackets",
                f"pre-chosen, exponents: {', '.join(parts)}",
                not larger,
                f"{', '.join(larger)} grow faster",
            )
        )
    return lines


def on_depth(depths: list[Depth]) -> Statement:
    """3.1: what the depth is there for."""
    grids = list(depths[0].queries)
    best = [min((one.setup + one.queries[points], one.depth) for one in depths)[1] for points in grids]
    here = "least total time at depth " + ", ".join(
        f"{depth} ({along(points)})" for depth, points in zip(best, grids, strict=True)
    )
    holds = best == sorted(best) and best[0] < best[-1]
    text = "the depth balances set-up and evaluation: the more points, the deeper the best tree"
    return Statement("Fig. 7, 8", text, here, holds, "one depth is the best for all these grids")


def on_accuracy(errors: list[Error]) -> list[Statement]:
    """(26) and (27)."""
    ratios = [error.gradient / error.gradient_bound for error in errors]
    slack = [error.bound / error.largest for error in errors]
    falls = {near: fall_per_order(errors, near) for near in sorted({error.near for error in errors})}
    wrong = sum(error.wrong for error in errors)
    per_order = ", ".join(f"{fall:.1f} (d = {near:g}, bound {bound:.1f})" for near, (fall, bound) in falls.items())
    return [
        Statement(
            "(26)",
            "bound of the error of the normal derivative",
            f"largest error over bound: {min(ratios):.4f} to {max(ratios):.4f}, 1/(1 + π) = 0.2415",
            max(ratios) <= 1,
            "larger than the bound",
        ),
        Statement(
            "(27)",
            "bound of the error of J",
            f"the bound over 4π is {min(slack):.1g} to {max(slack):.1g} times the largest error",
            min(slack) >= 1,
            "larger than the bound",
        ),
        Statement(
            "2.1.3",
            "the error can be controlled by p, and falls with d",
            f"falls per order by a factor of {per_order}; {wrong} wrong decisions",
            wrong == 0 and all(fall > 1.5 for fall, _ in falls.values()),
            "it falls slowly",
        ),
    ]
