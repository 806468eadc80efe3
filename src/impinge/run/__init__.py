"""Worlds and scenes: from what is in them to what happens."""

from impinge.run.world import World

__all__ = ["World"]
