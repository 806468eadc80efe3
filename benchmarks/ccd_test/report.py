"""Tables of the benchmark of continuous collision detection, and its required figures with what was reached."""

from __future__ import annotations

from typing import Any

from benchmarks.ccd_test.growth import CANDIDATES, FIRST
from benchmarks.ccd_test.ours import NAME
from benchmarks.ccd_test.peers import ADDITIVE, LBVH, TIGHT
from benchmarks.ccd_test.queries import CALLS_ALONE
from benchmarks.report import Verdict, seconds, table, the, threads_text

_Row = dict[str, Any]
_NONE = "–"
_KINDS = {"vertex_triangle": "vertex and triangle", "edge_edge": "two edges", "point_segment": "point and segment"}


def _is_ours(row: _Row) -> bool:
    return bool(row["method"].startswith(NAME))


# Required figures


def _faster(rows: list[_Row], what: str, peer: str, side: int, required: float) -> list[Verdict]:
    """Ratios of a task, both motions, at the most threads."""
    found = []
    most = max(row["threads"] for row in rows)
    for motion in dict.fromkeys(row["motion"] for row in rows):
        name = f"times faster than {peer}, {what}, {motion}, {side}² nodes, {threads_text(most)}"
        mine = the(rows, motion=motion, threads=most, method=NAME)
        theirs = the(rows, motion=motion, threads=most, method=peer)
        if mine is None or theirs is None:
            found.append(Verdict(name, "at least", required, None, remark="no ipctk"))
            continue
        remark = f"ipctk {seconds(theirs['seconds'])}, ours {seconds(mine['seconds'])}"
        found.append(Verdict(name, "at least", required, theirs["seconds"] / mine["seconds"], remark=remark))
    return found


def _no_more_alarms(rows: list[_Row], peer: str, where: str) -> Verdict:
    """False alarms in excess of the peer's."""
    name = f"false alarms more than {peer}, {where}"
    mine, theirs = ([row["false_alarms"] for row in rows if row["method"] == method] for method in (NAME, peer))
    if not mine or not theirs:
        return Verdict(name, "at most", 0, None, remark="no ipctk" if mine else "not measured")
    remark = f"ours {sum(mine):,}, theirs {sum(theirs):,}"
    return Verdict(name, "at most", 0, sum(mine) - sum(theirs), remark=remark)


def _none_missed(rows: list[_Row], where: str) -> Verdict:
    missed = [row["missed"] for row in rows if row["method"] == NAME]
    return Verdict(f"contacts that we miss, {where}", "at most", 0, sum(missed) if missed else None)


def cloth_verdicts(results: dict[str, Any]) -> list[Verdict]:
    side, alarms = results["side"], results["alarms"]
    judged = sum(row["judged"] for row in alarms if row["method"] == NAME)
    where = f"{judged:,} pairs of the cloth"
    missed = sum(row["missed_by_us"] for row in results["candidates"])
    has_peer = any(not _is_ours(row) for row in results["candidates"])
    name = "candidates of ipctk whose swept boxes overlap and that we lack"
    return [
        *_faster(results["candidates"], "candidates", f"ipctk {LBVH}", side, 1.5),
        *_faster(results["narrow"], "earliest contact of the same candidates", ADDITIVE, side, 3.0),
        Verdict(name, "at most", 0, missed if has_peer else None, remark="" if has_peer else "no ipctk"),
        _none_missed(alarms, where),
        _no_more_alarms(alarms, ADDITIVE, where),
    ]


def queries_verdicts(results: dict[str, Any]) -> list[Verdict]:
    slowest = results["slowest"]
    remark = f"{slowest['family']}, {_KINDS[slowest['kind']]}; the call from Python included"
    name = f"ms of the slowest of {slowest['queries']:,} queries, one core"
    return [Verdict(name, "at most", 1.0, 1e3 * slowest["seconds"], remark=remark)]


def truth_verdicts(results: dict[str, Any]) -> list[Verdict]:
    rows, where = results["rows"], f"ground truth of {results['queries']:,} queries"
    if not rows:
        return [Verdict("contacts that we miss, ground truth", "at most", 0, None, remark="its files are not here")]
    return [_none_missed(rows, where), _no_more_alarms(rows, TIGHT, where)]


# Tables


def _ratio(row: _Row, rows: list[_Row]) -> str:
    """Its time over ours, at the same number of threads."""
    mine = the(rows, motion=row["motion"], threads=row["threads"], method=NAME)
    return _NONE if mine is None else f"{row['seconds'] / mine['seconds']:.3g}"


def _common(row: _Row, rows: list[_Row]) -> list[str]:
    return [row["motion"], row["method"], str(row["threads"]), seconds(row["seconds"]), _ratio(row, rows)]


def _candidates_text(rows: list[_Row]) -> str:
    body = [
        [
            *_common(row, rows),
            f"{row['cores_used']:.1f}",
            f"{row['vertex_faces']:,}",
            f"{row['edge_edges']:,}",
            f"{row['more']:,}",
            f"{row['missed_by_us']:,}",
            f"{row['more_apart']:.1g}" if row["more"] else _NONE,
            f"{row['lacks']:,}",
        ]
        for row in rows
    ]
    head = "motion, method, threads, time, ÷ ours, cores, vertex-face, edge-edge, more, overlapping, apart, less"
    note = (
        "more, less: pairs that we have not, and that only we have. Overlapping: of the first, those whose swept boxes "
        "overlap in exact comparisons, which we should have; apart: how far the boxes of the others are apart at most, "
        "m. ipctk enlarges its boxes to cover rounding, in LBVH to single precision. Nodes of both layers lie on "
        "lattice lines, so that many boxes touch but for the last digit: such pairs are more, and cannot be in contact."
    )
    return table(head.split(", "), body, left=2) + f"\n\n{note}"


def _narrow_text(rows: list[_Row]) -> str:
    body = [
        [
            *_common(row, rows),
            f"{row['cores_used']:.1f}",
            f"{row['queries']:,}",
            f"{row['queries'] / row['seconds'] / 1e6:.3g}",
            f"{row['earliest']:.6g}",
            _NONE if row["exact"] is None else f"{row['exact']:.6g}",
        ]
        for row in rows
    ]
    head = "motion, method, threads, time, ÷ ours, cores, queries, million/s, earliest, exact"
    note = (
        "All on the same candidates, those of ipctk's LBVH (without ipctk, our own). earliest: step without contact, 1 "
        "for all of it; ipctk's are shortened on purpose. exact: when the pair that we report really touches."
    )
    return table(head.split(", "), body, left=2) + f"\n\n{note}"


def _whole_text(rows: list[_Row]) -> str:
    body = [[*_common(row, rows), f"{row['cores_used']:.1f}", f"{row['earliest']:.6g}"] for row in rows]
    return table(["motion", "method", "threads", "time", "÷ ours", "cores", "earliest"], body, left=2)


def _alarms_text(rows: list[_Row]) -> str:
    body = [
        [
            row["motion"],
            row["method"],
            _NONE if row["reported_of_all"] is None else f"{row['reported_of_all']:,} of {row['asked']:,}",
            f"{row['judged']:,}",
            f"{row['in_contact']:,}",
            f"{row['reported']:,}",
            f"{row['false_alarms']:,}",
            f"{row['missed']:,}",
        ]
        for row in rows
    ]
    head = "motion, method, reported, judged, in contact, reported of those, false alarms, missed"
    note = (
        "Pair by pair. judged: by exact arithmetic, a random choice of the pairs that impinge or additive CCD reports, "
        "and as many that neither reports, fewer if there are not so many. Additive CCD reports a contact when only a "
        "tenth of the distance at the start is left; 0.999: a thousandth, which is not its default."
    )
    return table(head.split(", "), body, left=2) + f"\n\n{note}"


def cloth_text(results: dict[str, Any]) -> str:
    blocks = [
        f"Cloth of {results['side']}² nodes, folded on itself; approach: without contact, impact: through itself."
    ]
    for key, title, write in (
        ("candidates", "Candidates", _candidates_text),
        ("narrow", "Earliest contact of the candidates", _narrow_text),
        ("whole", "First contact, both together", _whole_text),
        ("alarms", "False alarms", _alarms_text),
    ):
        blocks += [f"### {title}", write(results[key])]
    return "\n\n".join([*blocks, "Best of several alternating rounds. cores: processor time over wall time."])


def _less_calls(row: _Row, rows: list[_Row]) -> str:
    """Nanoseconds of a query without the way from Python and back, where there is one for each."""
    alone = the(rows, kind=row["kind"], method=row["method"] + CALLS_ALONE)
    if alone is None:
        return _NONE
    return f"{1e9 * (row['seconds'] / row['queries'] - alone['seconds'] / alone['queries']):,.0f}"


def _batches_text(rows: list[_Row]) -> str:
    body = []
    for row in rows:
        first = [_KINDS[row["kind"]], row["method"], str(row["threads"]), f"{row['queries']:,}"]
        each = f"{1e9 * row['seconds'] / row['queries']:,.0f}"
        body.append([*first, each, _less_calls(row, rows), f"{100 * row['share']:.2f} %"])
    head = "kind, method, threads, queries, ns/query, less the calls, in contact"
    note = (
        "Random points of the unit cube, moved by up to 0.25 along each axis. ipctk is called from Python for each "
        "query; calls alone: of queries far apart and at rest, about what such a call takes without the work."
    )
    return table(head.split(", "), body, left=2) + f"\n\n{note}"


def queries_text(results: dict[str, Any]) -> str:
    slowest = results["slowest"]
    text = (
        f"Of {slowest['queries']:,} hard queries (all families of the tests, the ground truth; gap 0 and 1e-3 of the "
        f"size), each in a call of its own, the slowest takes {seconds(slowest['seconds'])}: {slowest['family']}, "
        f"{_KINDS[slowest['kind']]}, gap {slowest['gap']:.3g}. The median is {seconds(slowest['median_s'])}, nearly "
        "all of it the call from Python."
    )
    return "\n\n".join([_batches_text(results["batches"]), text])


def truth_text(results: dict[str, Any]) -> str:
    if not results["rows"]:
        return "Skipped: the files of the public handcrafted queries are not here (../shared/data/ccd/queries)."
    body = [
        [
            _KINDS[row["kind"]],
            row["method"],
            f"{row['queries']:,}",
            f"{row['in_contact']:,}",
            f"{row['false_alarms']:,}",
            f"{row['missed']:,}",
            f"{1e6 * row['mean_s']:,.1f}",
            seconds(row["slowest_s"]),
        ]
        for row in results["rows"]
    ]
    batches = ", ".join(
        f"{1e9 * row['batch_s']:,.0f} ns ({_KINDS[row['kind']]})" for row in results["rows"] if "batch_s" in row
    )
    head = "kind, method, queries, in contact, false alarms, missed, µs/query, slowest"
    note = (
        f"One thread, a call from Python for each query; in one batch ours takes {batches}. All get the same doubles, "
        f"which are not the rational numbers of the files in {results['inexact']:,} queries; the exact judge answers "
        f"otherwise than the files in {results['judge_differs']:,}."
    )
    return table(head.split(", "), body, left=2) + f"\n\n{note}"


def growth_text(rows: list[_Row]) -> str:
    columns = [(task, who) for task in (CANDIDATES, FIRST) for who in dict.fromkeys(row["method"] for row in rows)]
    body = []
    for motion, side in dict.fromkeys((row["motion"], row["side"]) for row in rows):
        here = [row for row in rows if (row["motion"], row["side"]) == (motion, side)]
        mine = the(here, task=CANDIDATES, method=NAME)
        cells = [motion, f"{side}²", _NONE if mine is None else f"{mine['pairs'] / mine['nodes']:.1f}"]
        for task, who in columns:
            row = the(here, task=task, method=who)
            cells.append(_NONE if row is None else f"{1e9 * row['seconds'] / row['nodes']:,.0f}")
        body.append(cells)
    head = ["motion", "nodes", "pairs each", *(f"{task}, {who}" for task, who in columns)]
    threads = threads_text(rows[0]["threads"])
    note = f"Nanoseconds per node, {threads}. ipctk: LBVH, and with additive CCD. –: takes too long."
    return table(head, body, left=2) + f"\n\n{note}"


def count_missed(results: dict[str, Any]) -> int:
    """Contacts and candidates that we miss."""
    cloth, truth = results.get("cloth", {}), results.get("truth", {})
    rows = [row for row in cloth.get("alarms", []) + truth.get("rows", []) if row["method"] == NAME]
    return sum(row["missed"] for row in rows) + sum(row["missed_by_us"] for row in cloth.get("candidates", []))
