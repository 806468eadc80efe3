"""The experiments of the paper on collision detection for polyhedra [Muth2006]."""

from impinge.reproduce.polyhedra.report import reproduce

__all__ = ["reproduce"]
