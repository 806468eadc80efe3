"""``impinge reproduce polyhedra``: measurements, pictures, and the paper's statements beside ours."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from impinge.errors import InputError, install
from impinge.reproduce.polyhedra.measure import measure_all, measure_diagonal
from impinge.reproduce.statements import Progress, Report, machine, write_report

__all__ = ["reproduce"]


def reproduce(folder: Path, quick: bool, progress: Progress) -> Report:
    """Measure, draw and write `polyhedra.md` into a folder."""
    try:
        from impinge.reproduce.polyhedra import figures, method_figures, picture, text
    except ImportError:
        raise InputError(f"reproduce: needs matplotlib; {install('report')}") from None
    from impinge.reproduce.polyhedra.accuracy import measure_errors
    from impinge.reproduce.polyhedra.bodies import FOAMS
    from impinge.reproduce.polyhedra.operations import count_operations, measure_depths
    from impinge.shapes import foam

    folder.mkdir(parents=True, exist_ok=True)

    def file(name: str) -> Path:
        return folder / f"polyhedra-{name}.png"

    series = measure_all(quick, progress)
    for body, first in (("sphere", 7), ("foam", 12)):
        here = series[body]
        for number, method, title in (
            (first, "well-chosen", "multipole method, well-chosen"),
            (first + 1, "pre-chosen", "multipole method, pre-chosen"),
            (first + 2, "ray", "ray crossing"),
        ):
            name = f"{body.capitalize()}: {title} (Fig. {number})"
            figures.draw_times(here, method, name, file(f"fig{number}"))
        name = f"{body.capitalize()}: comparison (Fig. {first + 3})"
        figures.draw_comparison(here, name, file(f"fig{first + 3}"))
    diagonal = measure_diagonal(quick, progress)
    figures.draw_growth(series["sphere"], diagonal, file("growth"))
    progress("Figure 11")
    mesh = foam(FOAMS[0])
    picture.draw_mesh(mesh, f"Foam of {len(mesh.faces):,} triangles (Fig. 11)", file("fig11"))
    depths = measure_depths(quick, progress)
    method_figures.draw_depths(depths, file("depth"))
    counts = count_operations(quick, progress)
    method_figures.draw_operations(counts, file("table1"))
    errors = measure_errors(quick, progress)
    method_figures.draw_accuracy(errors, file("accuracy"))

    numbers: dict[str, Any] = {
        "quick": quick,
        "machine": machine(),
        **{body: [asdict(run) for run in one.runs] for body, one in series.items()},
        "diagonal": [asdict(run) for run in diagonal.runs],
        "operations": [asdict(count) for count in counts.over_triangles + counts.over_points],
        "depths": [asdict(one) for one in depths],
        "errors": [asdict(error) for error in errors],
    }
    results = text.Results(series, diagonal, counts, depths, errors)
    words = text.report(results, quick, machine())
    return write_report(folder, "polyhedra", numbers, words, text.statements(results, quick))
