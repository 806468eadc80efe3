"""impinge: collision detection and treatment.

Names are imported on first use (PEP 562), so that ``import impinge`` costs no more than NumPy.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> module that defines it; a name equal to its module's last part is the module itself.
_NAMES = {
    "Mesh": "impinge.shapes.mesh",
    "read_mesh": "impinge.shapes.files",
    "Solid": "impinge.inside.solid",
    "contains": "impinge.inside.solid",
    "collide": "impinge.inside.collide",
    "colliding_nodes": "impinge.inside.collide",
    "collisions": "impinge.inside.collide",
    "pairs": "impinge.broad.once",
    "box_pairs": "impinge.broad.once",
    "NeighborSearch": "impinge.broad.search",
    "BoxSearch": "impinge.broad.search",
    "Material": "impinge.response.materials",
    "solve_qp": "impinge.response.qp",
    "QPSolution": "impinge.response.qp",
    "World": "impinge.run.world",
    "SoftWorld": "impinge.run.soft",
    "read_scene": "impinge.run.scene",
    "run_scene": "impinge.run.loop",
    "Recording": "impinge.show.recording",
    "plot": "impinge.show.notebook",
    "Motion": "impinge.bodies.motion",
    "Rain": "impinge.bodies.rain",
    "PolyhedraRain": "impinge.bodies.rigid.rain",
    "fill_random": "impinge.bodies.filling",
    "fill_lattice": "impinge.bodies.filling",
    "fill_polyhedra": "impinge.bodies.rigid.filling",
    "exact": "impinge.exact",
    "broad": "impinge.broad",
    "ccd": "impinge.ccd",
    "shapes": "impinge.shapes",
    "inside": "impinge.inside",
    "errors": "impinge.errors",
}
__all__ = [
    "BoxSearch",
    "Material",
    "Mesh",
    "Motion",
    "NeighborSearch",
    "PolyhedraRain",
    "QPSolution",
    "Rain",
    "Recording",
    "SoftWorld",
    "Solid",
    "World",
    "__version__",
    "box_pairs",
    "broad",
    "ccd",
    "collide",
    "colliding_nodes",
    "collisions",
    "contains",
    "errors",
    "exact",
    "fill_lattice",
    "fill_polyhedra",
    "fill_random",
    "inside",
    "pairs",
    "plot",
    "read_mesh",
    "read_scene",
    "run_scene",
    "shapes",
    "solve_qp",
]

if TYPE_CHECKING:
    from impinge import broad, ccd, errors, exact, inside, shapes
    from impinge.bodies.filling import fill_lattice, fill_random
    from impinge.bodies.motion import Motion
    from impinge.bodies.rain import Rain
    from impinge.bodies.rigid.filling import fill_polyhedra
    from impinge.bodies.rigid.rain import PolyhedraRain
    from impinge.broad.once import box_pairs, pairs
    from impinge.broad.search import BoxSearch, NeighborSearch
    from impinge.inside.collide import collide, colliding_nodes, collisions
    from impinge.inside.solid import Solid, contains
    from impinge.response.materials import Material
    from impinge.response.qp import QPSolution, solve_qp
    from impinge.run.loop import run_scene
    from impinge.run.scene import read_scene
    from impinge.run.soft import SoftWorld
    from impinge.run.world import World
    from impinge.shapes.files import read_mesh
    from impinge.shapes.mesh import Mesh
    from impinge.show.notebook import plot
    from impinge.show.recording import Recording


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'impinge' has no attribute {name!r}")
    module = importlib.import_module(_NAMES[name])
    value = module if _NAMES[name] == f"impinge.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _show_in_notebooks() -> None:
    """In a notebook worlds and meshes show themselves in 3D; what that needs is loaded when one is shown."""
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if not hasattr(shell, "kernel"):
        return  # terminals show text
    formatter = shell.display_formatter.mimebundle_formatter
    for name in ("Mesh", "World", "SoftWorld"):
        formatter.for_type_by_name(
            _NAMES[name], name, lambda thing, **_: importlib.import_module("impinge.show.notebook").bundle(thing)
        )


_show_in_notebooks()
