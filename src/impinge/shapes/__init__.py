"""What bodies are: meshes, their measures and files, and generators of simple ones."""

from impinge.shapes.foam import foam
from impinge.shapes.generators import icosphere, octasphere
from impinge.shapes.mesh import Mesh

__all__ = ["Mesh", "foam", "icosphere", "octasphere"]
