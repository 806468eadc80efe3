"""The report."""

from __future__ import annotations

from typing import NamedTuple

from impinge.inside import Multipole
from impinge.inside._ray import BLOCK
from impinge.reproduce.polyhedra import method_verdicts, tables, verdicts
from impinge.reproduce.polyhedra.accuracy import Error
from impinge.reproduce.polyhedra.operations import Counts, Depth
from impinge.reproduce.polyhedra.series import Diagonal, Series, along
from impinge.reproduce.statements import Statement, beside, without_verdict
from impinge.shapes import octasphere

__all__ = ["Results", "report", "statements"]


class Results(NamedTuple):
    """All that was measured."""

    series: dict[str, Series]  # of the sphere and of the foam
    diagonal: Diagonal
    counts: Counts
    depths: list[Depth]
    errors: list[Error]


def statements(results: Results, quick: bool) -> list[Statement]:
    """All that the paper says, beside what came out."""
    series, diagonal, counts, depths, errors = results
    sphere, foam = series["sphere"], series["foam"]
    untimed = [
        verdicts.on_answers(series.values()),
        *method_verdicts.on_operations(counts),
        *method_verdicts.on_accuracy(errors),
    ]
    timed = [
        *verdicts.on_growth(sphere, diagonal),
        *verdicts.on_well_chosen(sphere),
        method_verdicts.on_depth(depths),
        *verdicts.on_pre_chosen(sphere),
        *verdicts.on_table_2(sphere, tables.PAPER_TABLE_2),
        *verdicts.on_ray(sphere, "Fig. 9"),
        *verdicts.on_comparison(sphere),
        *verdicts.on_foam(foam),
        *verdicts.on_ray(foam, "Fig. 14"),
        *verdicts.on_conclusions(series),
    ]
    return untimed + (without_verdict(timed) if quick else timed)


def _scaled(series: dict[str, Series]) -> str:
    """Where ray crossing was not done for all points."""
    runs = [run for one in series.values() for run in one.runs if run.scaled]
    if not runs:
        return "All points were asked for by all methods."
    places = ", ".join(f"{run.triangles:,} × {along(run.points)} ({run.timed:,} points)" for run in runs)
    return (
        "Ray crossing of many points with many triangles takes long. At the following sizes only some of the points, "
        f"drawn at random, were asked for, and the time is scaled linearly to all: {places}. Open symbols and a tilde "
        "mark them."
    )


def _enough(errors: list[Error]) -> str:
    """From which order on decisions are right, measured and promised."""
    parts = []
    for near in sorted({error.near for error in errors}):
        here = [error for error in errors if error.near == near]
        measured, promised = (
            min((error.order for error in here if getattr(error, name) < 0.5), default=None)
            for name in ("largest", "bound")
        )
        said = "none of these" if promised is None else f"p = {promised}"
        parts.append(f"d = {near:g}: p = {measured}, by (27) {said}")
    return "The lowest order that makes no error of 1/2: " + "; ".join(parts) + "."


def report(results: Results, quick: bool, machine: str) -> str:
    """Markdown."""
    series, _, counts, _, errors = results
    sphere, foam = series["sphere"], series["foam"]
    method = Multipole(octasphere(0))
    size = "Quick sizes: run it without --quick for those of the paper. " if quick else ""
    near = counts.growth("pre-chosen", "triangles", "near")
    fixed_points, fixed_size = counts.over_triangles[0].points, counts.over_points[0].triangles
    largest = f"{counts.over_points[-1].triangles:,} triangles and {counts.over_points[-1].points:,} points"
    return f"""# The paper on collision detection for polyhedra, measured anew

Made by `impinge reproduce polyhedra` ({machine}, one thread). {size}The paper
(Muth, Of, Eberhard and Steinbach, 2006) compares ray crossing with the double-layer potential by a fast multipole
method, on spheres of 8 to 131,072 triangles and on foams, with grids of 10³ to 80³ points in the cube around the body.

- **Ray crossing** is the paper's (2.2), without acceleration: a random ray from each point, the boxes of all faces,
  then signs. Here {BLOCK} boxes are tested at a time, and the signs are exact.
- **Multipole method**: `impinge.inside.Multipole` with its defaults: J to {method.accuracy:g}, by order p =
  {method.order}, d = {method.near:g} and leaves of up to {method.leaf} triangles. The paper tells neither p nor d.
  *WC*, well-chosen: the evaluation tree is made from the points, in every call, so that its time counts as evaluation
  here and as setting up in the paper. *PC*, pre-chosen: it is made beforehand from the number of triangles alone, and
  counts as setting up. Both trees are adaptive, which the paper leaves open: cells are refined one by one where it
  pays, instead of all of them to one depth.
- **Our octree**, the default of `impinge.Solid`, stands beside them. It is not in the paper.
- The spheres are the paper's. Its foams are not public: ours have about as many triangles
  ({", ".join(f"{n:,}" for n in foam.sizes)}) and are of the same kind, struts along the edges of cells.
- Seconds are those of the processor, the best of up to five if they are short. Total times are those of setting up and
  of one grid.

{_scaled(series)}

## What the paper says, and what comes out here

{beside(statements(results, quick))}

The limits of these verdicts are ours: {verdicts.LIMITS}. The paper shows its
curves in pictures only, so that its statements are what can be compared.

Answers of all runs against those of the octree, which are exact:

{tables.answers(series)}

## The sphere (3.1)

| ![Fig. 7](polyhedra-fig7.png) | ![Fig. 8](polyhedra-fig8.png) |
|---|---|
| ![Fig. 9](polyhedra-fig9.png) | ![Depth](polyhedra-depth.png) |

The last picture shows what the depth balances in the paper: deeper trees cost more to set up, and less to evaluate
while points are many. There, as in the paper, both trees have the same depth wherever triangles are near.

![Fig. 10](polyhedra-fig10.png)

Total time of ray crossing over that of the multipole method (**bold**: the multipole method is faster):

{tables.ratios(sphere)}

Table 2, seconds of the evaluation part. The paper's are with a pre-chosen depth, on a PC of 2.8 GHz of about 2005:

{tables.table_2(sphere)}

Exponents of the total time, over the last three meshes (N) and over all grids (M):

{tables.growth(sphere)}

![Growth](polyhedra-growth.png)

Seconds to set up, and to evaluate for each grid:

{tables.times(sphere)}

## The foam (3.2)

<img src="polyhedra-fig11.png" width="520" alt="Fig. 11">

| ![Fig. 12](polyhedra-fig12.png) | ![Fig. 13](polyhedra-fig13.png) |
|---|---|
| ![Fig. 14](polyhedra-fig14.png) | |

![Fig. 15](polyhedra-fig15.png)

Total time of ray crossing over that of the multipole method:

{tables.ratios(foam)}

Exponents of the total time, over all meshes (N) and over all grids (M):

{tables.growth(foam)}

Seconds to set up, and to evaluate for each grid:

{tables.times(foam)}

## What the multipole method does (2.1.3, Table 1)

![Table 1](polyhedra-table1.png)

Counts for {largest}, and how they grow: with N at {fixed_points:,} points, with M at {fixed_size:,} triangles, over
the last three numbers. The paper's orders are bounds, for leaves of O(log² N) triangles, a uniform depth and p ~ log N;
here leaves have a fixed size and p is fixed by the accuracy.

{tables.operations(counts)}

M2P is not in the paper: moments of a near leaf that is far enough from a point are evaluated there, instead of all its
triangles. On a grid that fills a cube fewer of the points are near the surface when leaves become smaller: the near
field goes with N^{near:.2f}. In WC the evaluation tree follows the points, so that M2L and L2L may depend on M, and M2P
takes the place of M2L where a cell has few points.

## Accuracy (2.1.3)

![Accuracy](polyhedra-accuracy.png)

Sphere of 2,048 triangles, 1,728 random points in its cube, trees of depth 3, double precision; (27) with the radius of
the finest boxes, the area of the sphere, and divided by 4π, which the paper left out:

{tables.errors_over_order(errors)}

J only has to be told from 1/2. {_enough(errors)} (26) is sharp but for the factor 1 + π; (27) adds up the worst case of
all triangles, as if all were at the smallest distance with the same sign.
"""
