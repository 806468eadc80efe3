"""Given a state, write it: files for ParaView, OVITO and animators, numbers over time, checkpoints and pictures."""

from impinge.output.checkpoint import load, save
from impinge.output.gltf import write_gltf
from impinge.output.movie import Movie
from impinge.output.obj import write_obj
from impinge.output.picture import draw_spheres
from impinge.output.ply import write_ply
from impinge.output.series import Series
from impinge.output.softfiles import SoftFiles
from impinge.output.softframe import SoftFrame
from impinge.output.softpicture import draw_soft
from impinge.output.softvtk import read_soft, write_soft
from impinge.output.tubes import Tubes
from impinge.output.vtk import Collection, write_chains, write_mesh, write_spheres
from impinge.output.xyz import write_xyz

__all__ = [
    "Collection",
    "Movie",
    "Series",
    "SoftFiles",
    "SoftFrame",
    "Tubes",
    "draw_soft",
    "draw_spheres",
    "load",
    "read_soft",
    "save",
    "write_chains",
    "write_gltf",
    "write_mesh",
    "write_obj",
    "write_ply",
    "write_soft",
    "write_spheres",
    "write_xyz",
]
