"""Runs that are stopped, killed and gone on with, and what they have written."""

from __future__ import annotations

import csv
import random
import subprocess
import sys
import time

from impinge.run.loop import run_scene
from impinge.run.scene import read_scene

from .scenes import contents, write


def rows(path):
    with path.open() as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


class Killed(BaseException):
    """As if the program had ended there."""


def stop_at(call):
    """A `tell` that ends the run at a call."""
    calls = 0

    def tell(world):
        nonlocal calls
        calls += 1
        if calls == call:
            raise Killed

    return tell


def command(folder, *more):
    arguments = [sys.executable, "-m", "impinge", "run", "scene.toml", "--out", "out", *more]
    return subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process, path):
    while not path.exists() and process.poll() is None:
        time.sleep(0.001)


def kill_and_go_on(folder, whole, seed, kills):
    """Kill a run at random moments, again and again; every part makes some way."""
    moments = random.Random(seed)
    for number in range(kills):
        process = command(folder, "--resume", "-q")
        if number == 0:
            wait_for(process, folder / "out" / "frames")
        else:
            time.sleep(moments.uniform(0.5, 1.5))  # it may be killed before it goes on
        time.sleep(moments.uniform(0, 0.3))
        process.kill()
        process.communicate()
    process = command(folder, "--resume", "-q")
    said = process.communicate()
    assert process.returncode == 0, said
    assert said == ("", "")
    assert contents(folder / "out") == whole


def run(folder, text, **options):
    return run_scene(read_scene(write(folder, text)), folder / "out", **options)
