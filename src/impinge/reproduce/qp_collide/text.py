"""The report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from impinge.reproduce.qp_collide import verdicts
from impinge.reproduce.qp_collide.conditioning import Conditioning
from impinge.reproduce.qp_collide.exchanges import WAYS, Exchanges
from impinge.reproduce.qp_collide.iterative import FORMS, Count
from impinge.reproduce.qp_collide.responses import RESPONSES, Measured
from impinge.reproduce.qp_collide.scenes import DEMOS
from impinge.reproduce.qp_collide.verdicts import power
from impinge.reproduce.statements import Statement, beside, markdown

__all__ = ["Results", "report", "statements"]


class Results(NamedTuple):
    """All that was measured."""

    measured: Measured
    conditioning: list[Conditioning]
    exchanges: list[Exchanges]
    iterations: list[Count]


def statements(results: Results) -> list[Statement]:
    """All that the paper says, beside what came out."""
    return [
        *verdicts.on_responses(results.measured),
        *verdicts.on_exchanges(results.exchanges),
        *verdicts.on_conditioning(results.conditioning),
        verdicts.on_toggling(results.exchanges),
        *verdicts.on_iterations(results.iterations),
    ]


def _responses(measured: Measured, demo: str) -> str:
    rows = []
    for response in RESPONSES:
        for one in measured.of(demo, response):
            rows.append(
                [
                    response, f"{1e3 * one.dt:g}", power(one.gain), f"{max(one.strain):.2g}", f"{one.passed[-1]:,}",
                    str(max(one.crossing)), f"{1e3 * max(one.overlap):.2g}", f"{1e3 * max(one.depth):.2g}",
                ]
            )  # fmt: skip
    head = ["response", "dt [ms]", "energy gained [J]", "strain", "passed", "in each other", "lack [mm]", "depth [mm]"]
    return markdown(head, rows)


def _conditioning(found: Sequence[Conditioning]) -> str:
    kinds = ("K", "penalty", "plain", "perturbed", "printed", "relative")
    rows = []
    for source in dict.fromkeys(one.source for one in found):
        here = [one for one in found if one.source == source]
        counts = f"{np.median([one.rows for one in here]):g} ({np.median([one.rank for one in here]):g})"
        rows.append(
            [
                source,
                str(len(here)),
                counts,
                *(power(float(np.median([getattr(one, k) for one in here]))) for k in kinds),
            ]
        )
    head = ["rows", "systems", "number (rank)", "K", "K and springs", "(8)", "(23) −L", "(23) +L", "(23) −L, relative"]
    return markdown(head, rows)


def _exchanges(found: Sequence[Exchanges]) -> str:
    rows = []
    for way in WAYS:
        for stiffness in sorted({one.stiffness for one in found}):
            here = [one for one in found if (one.way, one.stiffness) == (way, stiffness)]
            if not here:
                continue
            counts = [one.iterations for one in here]
            solved = [one for one in here if one.status == "solved"]
            apart = max((one.apart for one in solved), default=np.nan)
            violation = max((one.violation for one in solved), default=np.nan)
            rows.append(
                [
                    way, power(stiffness), str(len(here)), f"{np.median(counts):g}", f"{max(counts):,}",
                    str(len(here) - len(solved)), f"{np.mean([one.toggling for one in here]):.1f}",
                    f"{np.median([one.ours for one in here]):g}", f"{apart:.0e}", f"{1e3 * violation:.0e}",
                ]
            )  # fmt: skip
    head = ["rows", "N/m", "steps", "iterations", "at most", "without end", "toggling rows", "solve_qp", "x apart",
            "violation [mm]"]  # fmt: skip
    return markdown(head, rows)


def _iterations(found: Sequence[Count]) -> str:
    nodes = sorted({one.nodes for one in found})
    rows = []
    for form, what in FORMS.items():
        cells = []
        for n in nodes:
            here = [one for one in found if (one.form, one.nodes) == (form, n)]
            failed = sum(one.status != "solved" for one in here)
            most = max(here, key=lambda one: one.iterations)
            cells.append(f"{most.iterations:,} ({most.limit})" + (f", {failed} failed" if failed else ""))
        rows.append([form, what, *cells])
    return markdown(["form", "", *(f"{n} nodes" for n in nodes)], rows)


def _pictures(demo: str, count: int) -> str:
    cells = [f"![{demo}](qp-collide-{demo}-qp-{k}.png)" for k in range(count)]
    others = [f"![{demo}, {name}](qp-collide-{demo}-{name}-{count - 1}.png)" for name in ("penalty", "impulse")]
    return (
        f"| {' | '.join(cells)} |\n{'|---' * count}|\n\n"
        f"The last moment by the other responses:\n\n| {' | '.join(others)} |\n|---|---|"
    )


def _demo(results: Results, demo: str) -> str:
    what = DEMOS[demo]
    return f"""## {what.title}

{power(what.stiffness)} N/m per segment, 60 nodes, {what.duration:g} s. Pictures with dt = 5 ms:

{_pictures(demo, len(what.pictured))}

![{demo}](qp-collide-{demo}.png)

{_responses(results.measured, demo)}
"""


def report(results: Results, quick: bool, machine: str) -> str:
    """Markdown."""
    size = "Quick sizes: run it without --quick for more time steps and systems. " if quick else ""
    demos = "\n".join(_demo(results, demo) for demo in DEMOS)
    return f"""# The paper on dynamics and contacts in one quadratic program, measured anew

Made by `impinge reproduce qp-collide` ({machine}). {size}The paper (Raghupathi and Faure, 2006) shows two demos as
pictures and gives no numbers; sizes, masses and time steps are ours, its statements are what can be compared.

- **qp**: `impinge.SoftWorld` as it comes: the step and all its contacts in one program, solved again with what is found
  along the way, and certified before it is taken.
- **penalty**: the same implicit step with springs between all that is too near at its start (stiffness: the mean mass
  of a node by dt²).
- **impulse**: the same implicit step without contacts; then inelastic impulses in up to 20 sweeps over what collides on
  the way, and rigid zones for what is left (Provot 1997; Bridson, Fedkiw and Anderson 2002, without their limits of
  strain).
- All solve the equations of motion to the same accuracy, by Newton's method. The paper solves one linear system per
  step; that stretches cables as stiff as these by itself, before anything touches.
- The paper's formulas are taken as corrected (docs/qp.md); its solvers are those of `impinge.response.qp_paper`.

## What the paper says, and what comes out here

{beside(statements(results))}

*Passed* counts the pairs of vertices and faces, or of edges, that touch each other on the way of a step; *in each
other* the edges and faces that intersect at the end of one, at most; *lack* is the most that is lacking of the distance
that a pair is to keep, *depth* how far a node was below the surface of the obstacle. Energy is kinetic, elastic and
potential. Impulses know nothing of the forces inside the cable: what they move a node by stretches its neighbours,
whose forces move it further in the next step.

{demos}
## Conditioning (7.1, 8)

![Conditioning](qp-collide-conditioning.png)

Medians. *First* are the rows of all pairs near each other that the step without contacts violates, with which
Algorithm 1 begins; *last* those held at the solution. L is 10⁻³, in 1/kg, and relative: 10⁻³ diag(J K⁻¹ Jᵀ).

{_conditioning(results.conditioning)}

## The active set (6, 7.2)

![Active set](qp-collide-exchanges.png)

Algorithm 1 as corrected, without safeguard, on programs of both demos, dt = 10 ms. With *one row each*, a row for each
node and the face nearest to it, rows are independent. *All rows*, of faces and of edges, depend on each other, so that
(8) is singular and the perturbation is needed, here relative: the smaller it is, the nearer the answer, and the more
often rows come and go. Medians and largest numbers over the steps:

{_exchanges(results.exchanges)}

## Conjugate gradients (5.1, 5.2)

![Conjugate gradients](qp-collide-iterations.png)

The rows held at the solution, one for each node, without preconditioner, to 10⁻⁸ of the right side. Largest numbers of
iterations, the paper's limit of that system in brackets:

{_iterations(results.iterations)}
"""
