"""Every scene of cables and cloth in examples/: what it shows, in a small version or as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from impinge.run.scene import read_scene, softmodels

from . import examples, softexamples
from .softknots import determinant

MODELS = {path.stem: read_scene(path).model for path in examples.FOLDER.glob("*.toml")}
NAMES = sorted(name for name, model in MODELS.items() if isinstance(model, softmodels.Soft))

# Coarser ones show the same.
SMALL: dict[str, Mapping[str, Any]] = {
    "cable-catch": {},
    "cable-cylinder": {"bodies.0.helix.nodes": 40, "bodies.0.stretch": 6e3, "world.dt": 0.01},
    "cable-knot": {},
    "cable-pulley": {},
    "cloth-drag": {"bodies.0.sheet.nodes": [12, 8]},
    "cloth-fold": {"bodies.0.sheet.nodes": [37, 3], "bodies.0.sheet.size": [0.6, 0.05]},
    "demo-cloth": {
        "bodies.0.sheet.nodes": [9, 9],
        **{f"fixed.{k}.nodes": [n] for k, n in enumerate((0, 8, 72, 80))},
    },
    "cloth-sphere": {"bodies.0.sheet.nodes": [11, 11], "obstacles.0.sphere.level": 3, "run.until": 0.8},
}


def check(name: str, changes: Mapping[str, Any]) -> None:
    seen = softexamples.run(name, changes)
    assert seen.judge.failures == []
    softexamples.CHECKS[name](seen)
    assert seen.world.scaled_steps <= 0.01 * seen.world.steps
    assert seen.growth < 1e-9  # J; all of them are damped


@pytest.mark.parametrize("name", NAMES)
def test_small_versions_show_what_they_should(name: str) -> None:
    check(name, SMALL[name])


@pytest.mark.verify
@pytest.mark.parametrize("name", NAMES)
def test_examples_show_what_they_should(name: str) -> None:
    check(name, {})


def test_the_weight_would_stretch_its_rope_by_more_than_the_limit() -> None:
    seen = softexamples.run("cable-catch", {**SMALL["cable-catch"], "bodies.0.strain_limits": {"rate": 1e6}})
    assert seen.largest_strain["rope"] > 0.15


def test_determinants_of_knots() -> None:
    """Torus knots and the figure eight, cut at their outermost place; a mirror image is as knotted."""
    t = 2 * np.pi * np.arange(150) / 150
    two, three, five = (
        np.column_stack([(2 + np.cos(p * t)) * np.cos(2 * t), (2 + np.cos(p * t)) * np.sin(2 * t), np.sin(p * t)])
        for p in (1, 3, 5)
    )
    eight = np.column_stack([(2 + np.cos(2 * t)) * np.cos(3 * t), (2 + np.cos(2 * t)) * np.sin(3 * t), np.sin(4 * t)])
    for x, wanted in ((two, 1), (three, 3), (five, 5), (eight, 5)):
        assert determinant(x) == determinant(x[::-1]) == determinant(x * [1, 1, -1]) == wanted
