"""The experiments of the paper on neighbour searches [Muth2007b]."""

from impinge.reproduce.particles.report import reproduce

__all__ = ["reproduce"]
