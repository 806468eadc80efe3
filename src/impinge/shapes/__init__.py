"""What bodies are: meshes, their measures and files, and generators of simple ones."""

from impinge.shapes.files import read_mesh, save
from impinge.shapes.foam import foam
from impinge.shapes.generators import box, cylinder, icosphere, octasphere, prism, torus
from impinge.shapes.mesh import Mesh
from impinge.shapes.problems import Problem, Problems

__all__ = [
    "Mesh",
    "Problem",
    "Problems",
    "box",
    "cylinder",
    "foam",
    "icosphere",
    "octasphere",
    "prism",
    "read_mesh",
    "save",
    "torus",
]
