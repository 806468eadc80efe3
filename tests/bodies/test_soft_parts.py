"""Cables and cloth as users give them: their parts, their strains, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from impinge.bodies.soft.cable import cable_parts
from impinge.bodies.soft.cloth import cloth_parts
from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.parts import NOTHING, Membranes, Springs, Stencils, join
from impinge.errors import InputError

from .soft_bodies import CABLE, CLOTH, sheet


def test_strains():
    x, faces = sheet(3, 3)
    parts = join([cloth_parts(x, faces, **CLOTH, warp=[0, 1, 0]), cable_parts(x[:3] * [1, 2, 1], **CABLE)])
    strains = Elements(parts).strains(np.concatenate([x * [1.25, 1.5, 1], x[:3] * [1, 1, 1]]))
    assert np.allclose(strains.warp, 0.5)
    assert np.allclose(strains.weft, 0.25)
    assert np.allclose(strains.shear, 0)
    assert len(strains.edges) == 16 + 2
    assert np.allclose(strains.edges[-2:], -0.5)
    diagonal = np.hypot(1.25, 1.5) / np.sqrt(2) - 1
    assert np.allclose(np.unique(strains.edges[:-2].round(12)), [0.25, diagonal.round(12), 0.5])


def test_cable_parts():
    parts = cable_parts([[0, 0, 0], [1, 0, 0], [1, 2, 0]], stretch=6, bend=3, mass_per_length=2)
    assert parts.masses.tolist() == [1, 3, 2]
    assert parts.edges.nodes.tolist() == parts.springs.nodes.tolist() == [[0, 1], [1, 2]]
    assert parts.springs.rest.tolist() == parts.edges.rest.tolist() == [1, 2]
    assert parts.springs.stiffness.tolist() == [6, 3]
    assert parts.bends.nodes.tolist() == [[0, 1, 2]]
    assert parts.bends.weights.tolist() == [[1, -1.5, 0.5]]
    assert parts.bends.stiffness.tolist() == [2]
    closed = cable_parts([[0, 0, 0], [3, 0, 0], [3, 4, 0]], closed=True, stretch=6, bend=3, mass_per_length=2)
    assert closed.masses.tolist() == [8, 7, 9]
    assert closed.edges.nodes.tolist() == [[0, 1], [1, 2], [2, 0]]
    assert closed.bends.nodes.tolist() == [[2, 0, 1], [0, 1, 2], [1, 2, 0]]
    assert len(cable_parts([[0, 0, 0], [1, 0, 0], [1, 2, 0]], stretch=6, bend=0, mass_per_length=2).bends.nodes) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"points": [[0, 0, 0], [1, 0, 0], [1, 0, 0]]}, "points: rows 1 and 2 are 0 m apart, expected segments with"),
        ({"points": [[0, 0, 0], [1, 0, 0], [0, 0, 0]], "closed": True}, "points: rows 2 and 0 are 0 m apart"),
        ({"points": [[0, 0, 0], [1e300, 0, 0]]}, "points: rows 0 and 1 are inf m apart"),
        ({"points": [[0, 0, 0]]}, "points: found 1 rows, expected at least 2 for a cable"),
        ({"points": [[0, 0, 0], [1, 0, 0]], "closed": True}, "found 2 rows, expected at least 3 for a closed cable"),
        ({"points": [[0, 0], [1, 0]]}, r"points: found shape \(2, 2\)"),
        ({"stretch": 0}, "stretch: found 0, expected a number above 0"),
        ({"bend": -1}, "bend: found -1, expected a number of at least 0"),
        ({"mass_per_length": "much"}, "mass_per_length: found 'much'"),
    ],
)
def test_bad_cables(change, message):
    arguments = {"points": [[0, 0, 0], [1, 0, 0]], "closed": False, **CABLE, **change}
    with pytest.raises(InputError, match=message):
        cable_parts(arguments.pop("points"), **arguments)


def test_cloth_parts():
    x = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]])
    parts = cloth_parts(x, [[0, 1, 2], [0, 2, 3]], stretch=(5, 6), shear=7, bend=8, density=3)
    assert parts.masses.tolist() == [4, 2, 4, 2]
    assert parts.edges.nodes.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]
    assert parts.edges.rest.tolist() == [2, np.sqrt(8), 2, 2, 2]
    assert parts.membranes.nodes.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert parts.membranes.rest.tolist() == [[[0, 0], [2, 0], [2, 2]], [[0, 0], [2, 2], [0, 2]]]
    assert parts.membranes.stiffness.tolist() == [[5, 6, 7]] * 2
    assert sorted(parts.hinges.nodes[0, :2]) == [0, 2]
    assert sorted(parts.hinges.nodes[0, 2:]) == [1, 3]
    assert parts.hinges.weights.tolist() == [[2, 2, -2, -2]]
    assert parts.hinges.stiffness.tolist() == [2]
    assert len(cloth_parts(x, [[0, 1, 2], [0, 2, 3]], **{**CLOTH, "bend": 0}).hinges.nodes) == 0


def test_warp_is_projected_or_the_longest_side():
    x = [[0, 0, 0], [0, 3, 0], [0, 0, 1]]  # in the plane x = 0
    rest = cloth_parts(x, [[0, 1, 2]], **CLOTH).membranes.rest[0]
    longest = rest[2] - rest[1]
    assert np.allclose(np.abs(longest), [np.sqrt(10), 0])
    rest = cloth_parts(x, [[0, 1, 2]], **CLOTH, warp=[1e200, 0, 1e200]).membranes.rest[0]
    assert np.allclose(np.abs(rest), [[0, 0], [0, 3], [1, 0]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"faces": [[0, 1, 2], [1, 4, 2]]}, r"faces: row 1 is \(1, 4, 2\) with an area of 0 m² and a longest side of"),
        ({"faces": [[0, 1, 1]]}, r"faces: row 0 is \(0, 1, 1\) with an area of 0"),
        (
            {"faces": [[0, 1, 2], [1, 0, 3], [4, 0, 1]]},
            r"faces: rows 0, 1, 2 share the edge \(0, 1\), expected at most",
        ),
        ({"faces": [[0, 1, 2], [2, 3, 0], [3, 2, 0]]}, r"faces: rows 0, 1, 2 share the edge \(0, 2\)"),
        ({"faces": [[0, 1, 2], [0, 2, 1]]}, "faces: rows 0 and 1 have the same corners"),
        ({"faces": []}, "faces: found none"),
        ({"faces": [[0, 1, 5]]}, "faces: row 0 is"),
        ({"faces": [[0, 1, 2]]}, "vertices: row 3 is in no face and has no mass; 2 such rows in all"),
        ({"vertices": np.array([[0, 0, 0], [1e200, 0, 0], [0, 1e200, 0]]), "faces": [[0, 1, 2]]}, "an area of inf"),
        ({"stretch": [1, 2, 3]}, r"stretch: found \[1, 2, 3\], expected 2 finite numbers"),
        ({"stretch": [1, 0]}, "stretch of the weft: found"),
        ({"shear": -1}, "shear: found -1"),
        ({"bend": np.nan}, "bend: found nan"),
        ({"density": 0}, "density: found 0"),
        ({"warp": [0, 0, 0]}, r"warp: found \[0, 0, 0\], expected a direction"),
    ],
)
def test_bad_cloth(change, message):
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [2, -1, 0.0]])
    arguments: dict[str, Any] = {"vertices": x, "faces": [[0, 1, 2], [1, 3, 2], [1, 4, 3]], **CLOTH, **change}
    with pytest.raises(InputError, match=message):
        cloth_parts(arguments.pop("vertices"), arguments.pop("faces"), **arguments)


def test_bodies_are_joined():
    rope = cable_parts([[0, 0, 0], [1, 0, 0], [2, 0, 0]], **CABLE)
    x, faces = sheet(2, 2)
    cloth = cloth_parts(x, faces, **CLOTH)
    parts = join([rope, cloth, rope])
    assert len(parts.masses) == 10
    assert parts.edges.nodes[-2:].tolist() == [[7, 8], [8, 9]]
    assert parts.membranes.nodes.tolist() == (np.array(faces) + 3).tolist()
    assert (np.sort(parts.hinges.nodes) == [3, 4, 5, 6]).all()
    assert parts.bends.nodes.tolist() == [[0, 1, 2], [7, 8, 9]]
    assert all(array.dtype == np.int32 for array in (kind.nodes for kind in parts[1:]))
    assert len(join([]).masses) == 0


def test_bad_parts():
    springs = Springs(np.array([[0, 0]], np.int32), np.ones(1), np.ones(1))
    with pytest.raises(InputError, match=r"springs.nodes: row 0 is \(0, 0\), expected different nodes"):
        Elements(NOTHING._replace(masses=np.ones(2), springs=springs))
    with pytest.raises(InputError, match=r"springs.nodes: row 0 is \(0, 2\), expected indices from 0 to 1"):
        Elements(NOTHING._replace(masses=np.ones(2), springs=springs._replace(nodes=np.array([[0, 2]]))))
    springs = springs._replace(nodes=np.array([[0, 1]]))
    with pytest.raises(InputError, match=r"springs.stiffness: found shape"):
        Elements(NOTHING._replace(masses=np.ones(2), springs=springs._replace(stiffness=np.array([-1.0]))))
    with pytest.raises(InputError, match=r"springs.rest: found shape \(2,\), expected 1 rows"):
        Elements(NOTHING._replace(masses=np.ones(2), springs=springs._replace(rest=np.ones(2))))
    flat = Membranes(np.array([[0, 1, 2]]), np.zeros((1, 3, 2)), np.ones((1, 3)))
    with pytest.raises(InputError, match=r"membranes.rest: row 0 has an area of 0 m²"):
        Elements(NOTHING._replace(masses=np.ones(3), membranes=flat))
    bends = Stencils(np.array([[0, 1, 2]]), np.ones((1, 3)), np.array([np.nan]))
    with pytest.raises(InputError, match=r"bends.stiffness"):
        Elements(NOTHING._replace(masses=np.ones(3), bends=bends))
