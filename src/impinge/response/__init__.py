"""What contact does: laws of springs, dampers and friction, and the materials that have them."""

from impinge.response.materials import Material

__all__ = ["Material"]
