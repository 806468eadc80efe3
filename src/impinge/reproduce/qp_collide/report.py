"""``impinge reproduce qp-collide``: simulations, measurements, pictures, and the paper's statements beside ours."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from impinge.errors import InputError, install
from impinge.reproduce.qp_collide.conditioning import measure_conditioning
from impinge.reproduce.qp_collide.exchanges import measure_exchanges
from impinge.reproduce.qp_collide.iterative import measure_iterations
from impinge.reproduce.qp_collide.responses import RESPONSES, Measured, measure_responses
from impinge.reproduce.qp_collide.scenes import DEMOS
from impinge.reproduce.statements import Progress, Report, machine, write_report

__all__ = ["reproduce"]


def reproduce(folder: Path, quick: bool, progress: Progress) -> Report:
    """Simulate, measure, draw and write `qp-collide.md` into a folder."""
    try:
        from impinge.reproduce.qp_collide import figures, text
    except ImportError:
        raise InputError(f"reproduce: needs matplotlib; {install('report')}") from None
    folder.mkdir(parents=True, exist_ok=True)

    def file(name: str) -> Path:
        return folder / f"qp-collide-{name}.png"

    results = text.Results(
        measure_responses(quick, progress),
        measure_conditioning(quick, progress),
        measure_exchanges(quick, progress),
        measure_iterations(quick, progress),
    )
    progress("pictures")
    for demo, number, picture in _shown(results.measured):
        figures.draw_picture(picture, file(f"{demo}-{picture.response}-{number}"))
    for demo in DEMOS:
        figures.draw_histories(results.measured, demo, file(demo))
    figures.draw_conditioning(results.conditioning, file("conditioning"))
    figures.draw_exchanges(results.exchanges, file("exchanges"))
    figures.draw_iterations(results.iterations, file("iterations"))

    numbers: dict[str, Any] = {
        "quick": quick,
        "machine": machine(),
        "responses": [one.summary() for one in results.measured.histories],
        "conditioning": [asdict(one) for one in results.conditioning],
        "exchanges": [asdict(one) for one in results.exchanges],
        "iterations": [asdict(one) for one in results.iterations],
    }
    words = text.report(results, quick, machine())
    return write_report(folder, "qp-collide", numbers, words, text.statements(results))


def _shown(measured: Measured) -> list[tuple[str, int, Any]]:
    """Demo, number and picture of all that the report shows: the last moment only of the classical responses."""
    shown = []
    for demo in DEMOS:
        for response in RESPONSES:
            here = [one for one in measured.pictures if (one.demo, one.response) == (demo, response)]
            numbered = list(enumerate(here))
            shown += [(demo, k, one) for k, one in (numbered if response == "qp" else numbered[-1:])]
    return shown
