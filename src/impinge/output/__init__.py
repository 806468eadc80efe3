"""Given a state, write it: files for ParaView and OVITO, numbers over time, checkpoints and pictures."""

from impinge.output.checkpoint import load, save
from impinge.output.picture import draw_spheres
from impinge.output.series import Series
from impinge.output.vtk import Collection, write_chains, write_mesh, write_spheres
from impinge.output.xyz import write_xyz

__all__ = [
    "Collection",
    "Series",
    "draw_spheres",
    "load",
    "save",
    "write_chains",
    "write_mesh",
    "write_spheres",
    "write_xyz",
]
