"""``impinge reproduce``: experiments of papers, and one page of them."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from impinge.errors import InputError, install
from impinge.reproduce.page import Part, write_page

__all__ = ["PAPERS", "reproduce"]

PAPERS = {
    "particles": "Muth, Müller, Eberhard, Luding 2007: Collision Detection and Administration Methods for Many "
    "Particles with Different Sizes",
    "polyhedra": "Muth, Of, Eberhard, Steinbach 2006: Collision Detection for Complicated Polyhedra Using the Fast "
    "Multipole Method or Ray Crossing",
    "qp-collide": "Raghupathi, Faure 2006: QP-Collide: A New Approach to Collision Treatment",
}


def reproduce(
    names: Sequence[str], folder: Path, quick: bool, progress: Callable[[str], None], done: Callable[[], None]
) -> tuple[Path, list[Part]]:
    """Run experiments and write one page of them into a folder; one that fails does not stop the others.

    Parameters
    ----------
    names : list of keys of PAPERS
    folder : Path
        For the page, and for the reports and pictures it is made of.
    quick : bool
        Small sizes, for a first look.
    progress : function of a text
        Told what is being done.
    done : function
        Called after each experiment.

    Returns
    -------
    Path, list of Part
        The page: `reproduction.html`, or of one experiment `NAME.html`. What came out.
    """
    if find_spec("matplotlib") is None:
        raise InputError(f"reproduce: needs matplotlib; {install('report')}")
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for number, name in enumerate(names, 1):
        begun, report, failure = time.perf_counter(), None, ""
        where = f"{number} of {len(names)}, {name}: " if len(names) > 1 else ""
        try:
            run = import_module(f"impinge.reproduce.{name.replace('-', '_')}").reproduce
            report = run(folder, quick, lambda text, where=where: progress(where + text))
        except Exception:  # whatever it is, the page says it
            failure = traceback.format_exc()
        parts.append(Part(name, PAPERS[name], report, failure, time.perf_counter() - begun))
        done()
    path = folder / (f"{names[0]}.html" if len(names) == 1 else "reproduction.html")
    write_page(path, parts, quick)
    return path, parts
