"""What notebooks show: tables of facts, and worlds and meshes in 3D."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import impinge
from impinge import ccd, shapes
from impinge.errors import InputError
from impinge.facts import html_table
from impinge.show import notebook
from impinge.show.notebook import bundle, plot

WIDGET = "application/vnd.jupyter.widget-view+json"
TORUS = shapes.torus(segments=8, rings=6)


def rows(html: str) -> dict[str, str]:
    """Names and what is said of them; the title has none."""
    found = [[cell.text or "" for cell in row] for row in ElementTree.fromstring(html).iter("tr")]
    return {"": found[0][0], **dict(found[1:])}


def test_facts() -> None:
    facts = [
        ("<count>", 1234567), ("big", np.int64(12345)), ("real", 0.123456789), ("single", np.float32(0.5)),
        ("no", None), ("names", ["a&b", "c"]), ("many", [str(k) for k in range(20)]), ("vector", np.array([0.0, 1.5])),
        ("is", True), ("none", []), ("nothing", np.nan),
    ]  # fmt: skip
    assert rows(html_table("<T>", facts)) == {
        "": "<T>", "<count>": "1,234,567", "big": "12,345", "real": "0.123457", "single": "0.5", "names": "a&b, c",
        "many": "0, 1, 2, 3, 4, 5, 6, 7, …", "vector": "(0, 1.5)", "is": "yes", "none": "", "nothing": "nan",
    }  # fmt: skip


def test_meshes_say_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    said = rows(TORUS._repr_html_())
    assert said["faces"] == f"{len(TORUS.faces)}"
    assert (said["closed"], said["problems"]) == ("yes", "no problems found")
    said = rows(impinge.Mesh(TORUS.vertices, TORUS.faces[1:])._repr_html_())
    assert said["closed"] == "no"
    assert "3 open edges" in said["problems"]
    assert "volume [m³]" not in said
    monkeypatch.setattr("impinge.shapes.mesh._QUICK", 10)
    assert "problems()" in rows(impinge.Mesh(TORUS.vertices, TORUS.faces[1:])._repr_html_())["problems"]


def world(dim: int = 3, **options: Any) -> impinge.World:
    result = impinge.World(dim=dim, dt=1e-4, **options)
    glass = impinge.Material(density=2500, stiffness=1e5)
    result.add_spheres(np.eye(3)[:, :dim], 0.1, glass, velocities=[1.0] * dim)
    if dim == 3:
        result.add_obstacle(TORUS, glass, name="<ring>")
        result.add_polyhedra(shapes.box(0.2), [[3, 3, 3]], material=glass)
    return result


def soft_world() -> impinge.SoftWorld:
    result = impinge.SoftWorld()
    points = np.linspace([0, 0, 0], [1, 0, 0], 5)
    result.add_cable(points, radius=0.01, stretch=100, mass_per_length=0.1, name="rope")
    return result


def test_worlds() -> None:
    said = rows(world()._repr_html_())
    assert said["spheres"] == "3"
    assert said["walls"] == "<ring>"
    assert rows(world(2, box=[2, 2])._repr_html_())["discs"] == "3"
    said = rows(soft_world()._repr_html_())
    assert said["bodies"] == "rope: 5 nodes"
    for empty in (impinge.World(), impinge.World(dim=2), impinge.SoftWorld()):
        assert rows(empty._repr_html_())["time [s]"] == "0"


def test_everything_else(tmp_path: Path) -> None:
    solid, there = impinge.Solid(TORUS), world()
    x1 = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, -1.0]])
    x0 = np.abs(x1)
    (tmp_path / "a.toml").write_text("[run]\nuntil = 1\n[output]\nframes = 0.1\n")
    things = [
        solid, solid.at(translation=[1, 0, 0]), impinge.collide(solid, solid.at(translation=[0.1, 0, 0])),
        impinge.collide(solid, solid.at(translation=[9, 0, 0])), impinge.collisions([solid] * 2),
        ccd.first_contact(x0, x1, faces=[[0, 1, 2]]), ccd.contacts(x0, x1, faces=[[0, 1, 2]]),
        impinge.solve_qp(np.eye(2), np.ones(2), J=[[1.0, 0.0]], c=[0.5]),
        there.spheres, there.polyhedra, there.energy(), impinge.World(dim=2).spheres,
        impinge.read_scene(tmp_path / "a.toml"), impinge.NeighborSearch().update(np.eye(3), 1.0),
    ]  # fmt: skip
    for thing in things:
        said = rows(thing._repr_html_())
        assert said[""] == type(thing).__name__
        assert len(said) > 1


# In 3D

k3d = pytest.importorskip("k3d", reason="k3d is not installed")


def names(view: Any) -> set[str]:
    return {each.name for each in view.objects}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_plots() -> None:
    assert names(plot(world())) == {"spheres", "body 0", "obstacle 0"}
    assert names(plot(world(2), "radius")) == {"discs"}
    assert names(plot(soft_world())) == {"cables and cloth"}
    for mesh in (TORUS, impinge.Solid(TORUS), (TORUS.vertices, TORUS.faces)):
        view = plot(mesh)
        (body,) = [each for each in view.objects if each.name == "body 0"]
        placed = body.vertices @ body.model_matrix[:3, :3].T + body.model_matrix[:3, 3]
        assert placed.min(axis=0) == pytest.approx(TORUS.bounds[0], abs=1e-6)
        assert len(body.indices) == len(TORUS.faces)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_spheres_are_where_they_are() -> None:
    (spheres,) = [each for each in plot(world()).objects if each.name == "spheres"]
    assert spheres.positions == pytest.approx(np.eye(3), abs=1e-4)
    assert np.ravel(spheres.point_sizes) == pytest.approx(0.2, abs=1e-4)
    assert spheres.attribute == pytest.approx(np.sqrt(3), rel=1e-2)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_colours() -> None:
    (still,) = [each for each in plot(soft_world()).objects if each.name == "cables and cloth"]
    assert len(still.attribute) == 0
    (cable,) = [each for each in plot(soft_world(), "strain").objects if each.name == "cables and cloth"]
    assert len(cable.attribute) == len(cable.vertices)
    with pytest.raises(InputError, match="colour: found 'mood', expected one of id, speed, "):
        plot(world(), "mood")
    with pytest.raises(InputError, match="as there is no data"):
        plot(TORUS, "speed")


def test_nothing_to_plot() -> None:
    for empty in (impinge.World(), impinge.SoftWorld()):
        with pytest.raises(InputError, match=r"found nothing in it|found neither"):
            plot(empty)
        assert bundle(empty) is None
    with pytest.raises(InputError, match="thing: found int"):
        plot(3)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    for thing in (world(), soft_world(), TORUS):
        shown = bundle(thing)
        assert shown is not None
        assert set(shown) == {WIDGET, "text/html", "text/plain"}
        assert shown["text/plain"] == repr(thing)
    monkeypatch.setattr(notebook, "_MOST_FACES", 10)
    assert bundle(TORUS) is None
    assert bundle(world()) is None


def test_without_k3d(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "k3d", None)
    with pytest.raises(InputError, match=r"needs k3d; .* pip install '.\[report\]'"):
        plot(TORUS)
    assert bundle(TORUS) is None
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert bundle(TORUS) is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kernel", [True, False])
def test_what_ipython_asks_for(monkeypatch: pytest.MonkeyPatch, kernel: bool) -> None:
    """In a notebook; a terminal gets text only."""
    formatters = pytest.importorskip("IPython.core.formatters")
    shell = SimpleNamespace(display_formatter=formatters.DisplayFormatter(), **({"kernel": 1} if kernel else {}))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    impinge._show_in_notebooks()
    data, _ = shell.display_formatter.format(TORUS)
    assert (WIDGET in data) == kernel
    assert data["text/plain"] == repr(TORUS)
    assert "Mesh" in data["text/html"]


NOTEBOOK = [
    "import impinge\nmesh = impinge.shapes.torus()\nmesh",
    "world = impinge.World(dt=1e-4)\nworld.add_spheres([[0, 0, 1]], 0.1, impinge.Material(1000, 1e3))\nworld",
    "world.energy()",
    "impinge.plot(mesh)",
]


def test_in_a_notebook() -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    from nbformat import v4

    book = v4.new_notebook(cells=[v4.new_code_cell(text) for text in NOTEBOOK])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    data = [cell.outputs[-1]["data"] for cell in book.cells]
    assert [WIDGET in each for each in data] == [True, True, False, True]
    assert ["text/html" in each for each in data] == [True, True, True, False]
    assert all(len(cell.outputs) == 1 for cell in book.cells), "nothing else is said"
    state = book.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    assert sum("camera_fov" in each["state"] for each in state.values()) == 3  # views
