"""Ctrl-C: a world is then as it was after a step, or after a change as a whole."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

from impinge import Material, Rain, World
from tests.run.worlds import ROUGH, R, bits, busy_world, lattice


@pytest.fixture
def interruptible():
    """Programs in the background may be told to ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.skipif(os.name != "posix", reason="a signal is sent as POSIX systems do")
@pytest.mark.parametrize(("material", "flows"), [(Material(2500, stiffness=1e4), False), (ROUGH, False), (ROUGH, True)])
def test_ctrl_c_leaves_a_world_as_it_was_after_a_step(material, flows):
    def world() -> World:
        world = World(dt=1e-5)
        world.add_spheres(lattice(12, 3), R, material)
        world.add_box([0, 0, 0], [0.3, 0.3, 0.5])
        if flows:
            world.add_source(Rain([0, 0, 0.3], [0.3, 0.3, 0.5], 0.3 * R, 1e4), material)
            world.add_sink([0, 0, 0], [0.3, 0.3, 0.02])
        return world

    stopped, other = world(), world()
    stopped.step(1)
    for _ in range(3):
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            stopped.step(10**6)
        timer.join()
        other.step(stopped.steps - other.steps)
        assert bits(stopped) == bits(other)
    stopped.step(3)
    other.step(3)
    assert bits(stopped) == bits(other)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda world: world.add_spheres([[0, 0, 0.3]], R, Material(9000, stiffness=1e4)), "concatenate"),
        (lambda world: world.add_plane([0, 0, -0.1], [0, 0, 1]), "concatenate"),
        (lambda world: world.remove([3, 4]), "ascontiguousarray"),
        (lambda world: world.energy(), "ascontiguousarray"),
    ],
)
def test_ctrl_c_in_the_middle_of_a_change(change, where, monkeypatch):
    """It is made as a whole all the same."""

    def world() -> World:
        world = busy_world(dt=1e-5)
        world.step(60)
        world.remove([0])  # so that rows are put in order again
        return world

    whole, stopped, real = world(), world(), getattr(np, where)
    change(whole)
    calls: list[int] = []

    def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == 3 or where == "concatenate":
            signal.raise_signal(signal.SIGINT)
        return real(*arguments, **options)

    monkeypatch.setattr(np, where, interrupted)
    with pytest.raises(KeyboardInterrupt):
        change(stopped)
    monkeypatch.undo()
    assert calls
    whole.step(60)
    stopped.step(60)
    assert bits(whole) == bits(stopped)
    assert whole.pushes().keys() == stopped.pushes().keys()
