"""Scene files: what they may say (models), where (toml), what is wrong (errors), and the world they make (build)."""

from impinge.run.scene.reading import Scene, read_scene

__all__ = ["Scene", "read_scene"]
