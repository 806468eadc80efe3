"""The paper's statements beside what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from impinge.reproduce.polyhedra.series import Diagonal, Series, along
from impinge.reproduce.statements import Statement

__all__ = [
    "CLOSE", "LIMITS", "on_answers", "on_comparison", "on_conclusions", "on_foam", "on_growth", "on_pre_chosen",
    "on_ray", "on_table_2", "on_well_chosen", "wins_of_ray",
]  # fmt: skip

CLOSE = 0.12  # of an exponent: at 8 times the points 28 % more or less than linear
_LINEAR = 0.95  # exponents below are better than linear
_BETTER = 0.8  # of the cases
_TOUCH, _INDEPENDENT, _A_LOT = 2.0, 2.5, 3.0  # factors
LIMITS = (
    f"*linear* is an exponent within {CLOSE:g} of 1, *less than linear* one below {_LINEAR:g}; *better* means in "
    f"{_BETTER:.0%} of the cases; lines *almost touch* within a factor of {_TOUCH:g}, times are *almost independent* "
    f"within {_INDEPENDENT:g}, and *a lot faster* begins at {_A_LOT:g}"
)


def _exponents(values: Sequence[float], names: Sequence[str]) -> str:
    return ", ".join(f"{value:.2f} ({name})" for name, value in zip(names, values, strict=True))


def _sizes(numbers: Iterable[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers) or "none"


def _grids(series: Series) -> list[str]:
    return [along(points) for points in series.grids]


def wins_of_ray(series: Series, rival: str, points: int) -> list[int]:
    """Numbers of triangles for which ray crossing is faster than another method."""
    return [size for size, ratio in series.ratios("ray", rival, points).items() if ratio < 1]


def _better_known(series: Series) -> tuple[str, bool, str]:
    """How well-chosen and pre-chosen compare: in words, whether well-chosen wins most cases, and where it does not."""
    ratios = {(size, points): ratio for points in series.grids
              for size, ratio in series.ratios("pre-chosen", "well-chosen", points).items()}  # fmt: skip
    better = [ratio for ratio in ratios.values() if ratio > 1]
    worse = [f"{size:,} × {along(points)}" for (size, points), ratio in ratios.items() if ratio <= 1]
    here = (
        f"well-chosen is faster in {len(better)} of {len(ratios)} cases; pre-chosen takes {min(ratios.values()):.2g} "
        f"to {max(ratios.values()):.2g} times as long"
    )
    return here, len(better) >= _BETTER * len(ratios), ", ".join(worse)


def _setting_up(series: Series) -> str:
    """How much of the time is for the triangles alone, with few points."""
    run = series.run("well-chosen", series.sizes[-1], series.grids[0])
    return f"with {along(run.points)} points {run.setup / run.total:.0%} of the time of the finest mesh is set-up"


def on_answers(all_series: Iterable[Series]) -> Statement:
    """3: both methods are right."""
    runs = [run for series in all_series for run in series.runs if run.method != "octree"]
    asked, wrong = sum(run.timed for run in runs), sum(run.differing for run in runs)
    on = sum(run.on_surface for run in runs)
    here = (
        f"{asked:,} answers, {on:,} of them for points exactly on the surface: {wrong:,} other than the exact octree's"
    )
    return Statement("3", "both methods give correct results", here, wrong == 0, "see the table of answers")


def on_well_chosen(series: Series) -> list[Statement]:
    """Figure 7."""
    here, holds, where = _better_known(series)
    known = f"pre-chosen is faster at {where}"
    in_n = [series.growth_in_triangles("well-chosen", points, 3) for points in series.grids]
    in_m = [series.growth_in_points("well-chosen", size) for size in series.sizes[-3:]]
    finest = _exponents(in_m, [f"{size:,} triangles" for size in series.sizes[-3:]])
    parts = [series.growth_in_triangles("well-chosen", points, 3, "query") for points in series.grids]
    queries = "its exponents are " + _exponents(parts, _grids(series))
    last = series.run("well-chosen", series.sizes[-3], series.grids[-1])
    evaluating = f"evaluating is {last.query / last.total:.0%} of the time of {last.triangles:,} × {along(last.points)}"
    return [
        Statement("Fig. 7", "results are better if the number of points is known", here, holds, known),
        Statement(
            "Fig. 7",
            "times grow less than linearly with the triangles, while the depth balances set-up and evaluation",
            f"exponents of the last three meshes: {_exponents(in_n, _grids(series))}",
            max(in_n) < _LINEAR,
            _setting_up(series),
        ),
        Statement(
            "Fig. 7",
            "times grow less than linearly with the points",
            f"exponents over all grids: {finest}",
            max(in_m) < _LINEAR,
            evaluating,
        ),
        Statement(
            "Fig. 7",
            "10³ points come closest to linear growth with the triangles",
            f"{in_n[0]:.2f} with {along(series.grids[0])}, at most {max(in_n[1:]):.2f} with more",
            in_n[0] >= max(in_n),
            f"by {max(in_n) - in_n[0]:.2f}; evaluating grows as well, {queries}",
        ),
    ]


def on_growth(series: Series, diagonal: Diagonal) -> list[Statement]:
    """2.1.3, and the remark on Figure 7: linear only if both numbers grow."""
    modes = ("well-chosen", "pre-chosen")
    both = [diagonal.growth(method) for method in modes]
    in_n = [series.growth_in_triangles(method, points, 3) for method in modes for points in series.grids]
    in_m = [series.growth_in_points(method, size) for method in modes for size in series.sizes]
    ray = diagonal.growth("ray")
    return [
        Statement(
            "2.1.3",
            "O(N log² N) + O(M log² N): almost linear in triangles and in points",
            f"exponents of N {min(in_n):.2f} to {max(in_n):.2f}, of M {min(in_m):.2f} to {max(in_m):.2f}",
            max(*in_n, *in_m) < 1 + CLOSE,
            "times grow faster than that",
        ),
        Statement(
            "Fig. 7",
            "if both grow by the same factor, times grow linearly",
            f"with as many points as triangles, last three: {_exponents(both, modes)}",
            all(abs(value - 1) < CLOSE for value in both),
            "less than linearly even then" if max(both) < 1 else "not quite linearly",
        ),
        Statement(
            "2.1.1",
            "without the multipole method times grow quadratically then",
            f"ray crossing: {ray:.2f}",
            abs(ray - 2) < CLOSE,
            f"by {ray - 2:+.2f}",
        ),
    ]


def on_pre_chosen(series: Series) -> list[Statement]:
    """Figure 8."""
    finest = series.sizes[-1]
    few, more = (series.run("pre-chosen", finest, points) for points in series.grids[:2])
    share = few.setup / few.total
    touch = (
        f"finest mesh: {along(more.points)} takes {more.total / few.total:.2f} times as long as {along(few.points)}; "
        f"{share:.0%} of the time with {along(few.points)} is set-up"
    )
    many = series.over_triangles("pre-chosen", series.grids[-1])
    cheaper = [f"{b.triangles:,}" for a, b in pairwise(many) if b.total < 0.95 * a.total]
    falls = f"with {along(series.grids[-1])} points less than for the mesh before: {', '.join(cheaper) or 'none'}"
    return [
        Statement(
            "Fig. 8",
            "lines of small grids almost touch: the time is that of setting up, the depth is too large for few points",
            touch,
            more.total < _TOUCH * few.total and share > 0.5,
            "evaluating takes longer than setting up",
        ),
        Statement(
            "Fig. 8",
            "with 80³ points a finer mesh sometimes takes less time, as its tree is deeper",
            falls,
            bool(cheaper),
            "cells are refined one by one where it pays: the tree never grows by a whole level",
        ),
    ]


def on_table_2(series: Series, paper: Mapping[int, Sequence[str]]) -> list[Statement]:
    """Table 2: the evaluation part."""
    meshes = [size for size in paper if size in series.sizes]
    growth = [series.growth_in_points("pre-chosen", size, "query", 3) for size in meshes]
    few, many = (series.run("pre-chosen", meshes[-1], points) for points in (series.grids[-3], series.grids[-1]))
    why = (
        f"operations grow linearly, see Table 1, but a point costs {few.query / few.points * 1e6:.2g} µs with "
        f"{along(few.points)} and {many.query / many.points * 1e6:.2g} µs with {along(many.points)}"
    )
    lines = [
        Statement(
            "Table 2",
            "with a fixed depth evaluation is linear in the points",
            "exponents of the last three grids: " + _exponents(growth, [f"{size:,} triangles" for size in meshes]),
            all(abs(value - 1) < CLOSE for value in growth),
            why,
        )
    ]
    if len(meshes) == len(paper):
        coarse, fine = (series.run("pre-chosen", size, series.grids[-1]).query for size in meshes[-2:])
        lines.append(
            Statement(
                "Table 2",
                "evaluation is faster for 131,072 triangles (202 s) than for 32,768 (329 s), as the tree is deeper",
                f"{fine:.3g} s and {coarse:.3g} s with {along(series.grids[-1])} points",
                fine < coarse,
                "cells are refined one by one where it pays: no whole level is added",
            )
        )
    return lines


def on_ray(series: Series, figure: str) -> list[Statement]:
    """Figures 9 and 14."""
    in_n = [series.growth_in_triangles("ray", points, 3) for points in series.grids]
    in_m = [series.growth_in_points("ray", size, "query") for size in series.sizes[-3:]]
    each = [run.query / run.triangles / run.points * 1e9 for run in series.over_triangles("ray", series.grids[-1])[-3:]]
    why = (
        f"a point and a face cost {each[0]:.2g} ns on the coarsest of these and {each[-1]:.2g} ns on the finest, where "
        f"the boxes of the faces are {24 * series.sizes[-1] / 1e6:.2g} MB, which are read for every point"
    )
    return [
        Statement(
            figure,
            "linear in the triangles",
            f"exponents of the last three meshes: {_exponents(in_n, _grids(series))}",
            all(abs(value - 1) < CLOSE for value in in_n),
            why,
        ),
        Statement(
            figure,
            "linear in the points",
            "exponents: " + _exponents(in_m, [f"{size:,} triangles" for size in series.sizes[-3:]]),
            all(abs(value - 1) < CLOSE for value in in_m),
            "see the table of seconds",
        ),
    ]


def _per_point(series: Series, method: str, points: int) -> str:
    """What a point costs on the coarsest and on the finest mesh."""
    coarse, fine = (series.run(method, series.sizes[k], points).query / points * 1e6 for k in (0, -1))
    return f"{coarse:.3g} to {fine:.3g} µs per point"


def _coarsest(series: Series, points: int, said: int) -> Statement:
    """For how many of the coarsest meshes ray crossing is faster."""
    pre, well = (wins_of_ray(series, rival, points) for rival in ("pre-chosen", "well-chosen"))
    more = "more than there" if len(pre) > said else "fewer than there" if len(pre) < said else "but others"
    finest = series.run("pre-chosen", series.sizes[-1], points)
    why = (
        f"{len(pre)} meshes, {more}: ray crossing takes {_per_point(series, 'ray', points)}, testing many boxes at a "
        f"time; pre-chosen {_per_point(series, 'pre-chosen', points)}, and {finest.setup:.2g} s to set up the finest"
    )
    text = f"{along(points)} points: ray crossing is faster for the {said} coarsest spheres"
    here = f"faster than pre-chosen for {_sizes(pre)} triangles, than well-chosen for {_sizes(well)}"
    return Statement("Fig. 10, 4", text, here, pre == series.sizes[:said], why)


def on_comparison(series: Series) -> list[Statement]:
    """Figure 10, and section 4 on the sphere."""
    few, many, finest = series.grids[0], series.grids[-1], series.sizes[-1]
    modes = ("well-chosen", "pre-chosen")
    gains = [series.ratios("ray", mode, many)[finest] for mode in modes]
    here = ", ".join(f"{gain:.3g} times as fast ({mode})" for gain, mode in zip(gains, modes, strict=True))
    queries = [run.query for run in series.over_triangles("pre-chosen", many)[3:]]
    spread, grown = max(queries) / min(queries), finest / series.sizes[3]
    return [
        _coarsest(series, few, 5),
        _coarsest(series, many, 3),
        Statement(
            "Fig. 10",
            "fine meshes, 80³ points: the multipole method is faster than ray crossing",
            f"finest mesh, {along(many)} points: {here}",
            min(gains) > 1,
            "ray crossing is not slower here",
        ),
        Statement(
            "Fig. 10",
            "its evaluation is almost independent of the number of triangles",
            f"pre-chosen, {series.sizes[3]:,} triangles and more: the slowest takes {spread:.2f} times as long as the "
            "fastest",
            spread < _INDEPENDENT,
            f"though that is little for {grown:,.0f} times as many triangles",
        ),
    ]


def on_foam(series: Series) -> list[Statement]:
    """Figures 12, 13 and 15."""
    in_n = [series.growth_in_triangles("well-chosen", points) for points in series.grids]
    here, holds, where = _better_known(series)
    finest, few, many = series.sizes[-1], series.grids[0], series.grids[-1]
    fine = series.run("pre-chosen", finest, few)
    ray_few = wins_of_ray(series, "pre-chosen", few)
    gains = [min(series.ratios("ray", rival, many).values()) for rival in ("well-chosen", "pre-chosen")]
    faster = {size: f"{ratio:.2g}" for size, ratio in series.ratios("pre-chosen", "ray", few).items()}
    return [
        Statement(
            "Fig. 12",
            "well-chosen: times grow less than linearly with the triangles",
            f"exponents: {_exponents(in_n, _grids(series))}",
            max(in_n) < _LINEAR,
            _setting_up(series),
        ),
        Statement("Fig. 13", "pre-chosen: not as good as well-chosen", here, holds, f"better at {where}"),
        Statement(
            "Fig. 13",
            "the finest mesh is dominated by setting up",
            f"{fine.setup / fine.total:.0%} of the time with {along(few)}, "
            f"{series.run('pre-chosen', finest, many).setup / series.run('pre-chosen', finest, many).total:.0%} with "
            f"{along(many)}",
            fine.setup > 0.5 * fine.total,
            "evaluating takes longer than setting up",
        ),
        Statement(
            "Fig. 15",
            "10³ points: ray crossing is faster than pre-chosen",
            "pre-chosen takes " + ", ".join(f"{ratio} ({size:,})" for size, ratio in faster.items()) + " times as long",
            ray_few == series.sizes,
            f"only for {_sizes(ray_few)} triangles",
        ),
        Statement(
            "Fig. 15",
            "80³ points: both versions are a lot faster than ray crossing",
            f"at least {gains[0]:.3g} times (well-chosen) and {gains[1]:.3g} times (pre-chosen)",
            min(gains) > _A_LOT,
            "faster, but not by much" if min(gains) > 1 else "not for all meshes",
        ),
    ]


def on_conclusions(all_series: dict[str, Series]) -> list[Statement]:
    """Section 4, and what our octree makes of it."""
    cases = [
        ratio
        for series in all_series.values()
        for points in series.grids
        for ratio in series.ratios("ray", "well-chosen", points).values()
    ]
    won = sum(ratio > 1 for ratio in cases)
    beside = [
        min(series.ratios(method, "octree", points)[size] for method in ("ray", "well-chosen", "pre-chosen"))
        for series in all_series.values()
        for points in series.grids
        for size in series.sizes
    ]
    lost = sum(ratio < 1 for ratio in beside)
    return [
        Statement(
            "4",
            "well-chosen is better than ray crossing in most cases",
            f"in {won} of {len(cases)} cases",
            won > 0.5 * len(cases),
            "ray crossing wins on small meshes and small grids",
        ),
        Statement(
            "–",
            "–",
            f"our octree: {min(beside):.2g} to {max(beside):,.3g} times as fast as the fastest of the paper's methods, "
            f"slower in {lost} of {len(beside)} cases",
            None,
            "a difference of method: for closed bodies neither rays through all faces nor potentials are needed",
        ),
    ]
