"""When the compiler runs is told, once, and what it has compiled is known."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import typer

from impinge import _jit, compiler, loading, shapes
from impinge._jit import exact, kernel, parallel
from impinge.cli import common
from impinge.doctor import packages

from .command import invoke

compiled = pytest.mark.skipif(compiler.is_off(), reason="nothing is compiled")


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """Makes kernels that nothing has compiled before."""
    monkeypatch.setattr(_jit, "_CACHE", str(tmp_path / "cache"))
    return lambda decorate: decorate(lambda first, stop: first + stop)


@compiled
@pytest.mark.parametrize("decorate", [exact, kernel, parallel(grain=1)])
def test_compiling_is_told(decorate, made_up):
    told = []
    function = made_up(decorate)
    run = getattr(function, "kernel", function)
    with compiler.compiling(lambda: told.append(1)):
        run(1, 2)
        assert told
        count = len(told)
        run(3, 4)  # the same types: nothing to compile
    assert len(told) == count
    run(1.0, 2.0)  # nobody listens any more
    assert len(told) == count


@compiled
def test_an_error_stops_the_compiler(made_up):
    function = made_up(kernel)

    def refuse():
        raise ZeroDivisionError

    with compiler.compiling(refuse), pytest.raises(ZeroDivisionError):
        function(1, 2.5)
    assert function(1, 2.5) == 3.5


@compiled
def test_what_is_cached_is_known(tmp_path):
    loading.load_settling()
    assert loading._settling_is_cached()
    code = "from impinge import loading; print(loading._settling_is_cached())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    )
    assert done.stdout == "False\n", done.stderr


def test_host_processor():
    name, features = compiler.host_processor()
    assert name
    assert all(isinstance(feature, str) for feature in features)


@compiled
def test_what_is_loaded_is_all_that_a_command_needs():
    """After it, nothing is compiled or loaded for points anywhere; in a process of its own, where nothing is loaded."""
    code = """
import numpy as np
from impinge import loading, shapes
from impinge.inside._octree_query import classify
from impinge.inside._octree_settle import settle_points
from impinge.inside.solid import Solid
loading.load_settling()
assert len(settle_points.kernel.overloads) == 1
loading.load_method("octree", 1e-3)
solid = Solid(shapes.octasphere(4))
solid.classify(np.concatenate([solid.mesh.vertices, np.random.default_rng(1).uniform(-1, 1, (100, 3))]))
print(len(settle_points.kernel.overloads), len(classify.kernel.overloads))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "1 1\n", done.stderr


def test_work_beside_the_block(monkeypatch):
    started = []
    popen = subprocess.Popen

    def start(command, **options):
        started.append(popen([sys.executable, "-c", "import time; time.sleep(60)"], **options))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start)
    with loading._meanwhile("load_settling", wanted=False):
        assert not started
    with pytest.raises(ZeroDivisionError), loading._meanwhile("load_settling", wanted=True):
        raise ZeroDivisionError
    assert started[0].poll() is not None, "it is ended with the block"


# The command line


def test_commands_say_that_they_compile(capsys, monkeypatch):
    calls = []

    def pretend(tell):
        calls.append(tell)
        return _Block(tell)

    class _Block:
        def __init__(self, tell):
            self.tell = tell

        def __enter__(self):
            self.tell()
            self.tell()

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(compiler, "compiling", pretend)
    with common.compiling_told():
        pass
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith("impinge: compiling, this once")
    assert "impinge warmup" in said.err
    with common.compiling_told(quiet=True):
        pass
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("options", [[], ["-q"]])
def test_inside_says_that_it_compiles(options, made_up, tmp_path, monkeypatch):
    """As it would in a new installation."""
    monkeypatch.chdir(tmp_path)
    shapes.box().save("box.ply")
    np.save("points.npy", np.zeros((1, 3)))
    if compiler.is_off():
        pytest.skip("nothing is compiled")
    load = loading.load_checks

    def load_and_compile():
        load()
        made_up(kernel)(True, len(options))

    monkeypatch.setattr(loading, "load_checks", load_and_compile)
    result = invoke("inside", "box.ply", "points.npy", *options)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("impinge: compiling") == (0 if options else 1)


def test_a_missing_extra_is_one_line(monkeypatch, capsys):
    listed = [packages.Package("k3d", None, "", "report"), packages.Package("numpy", "2.0", "", "")]
    monkeypatch.setattr(packages, "packages", lambda: listed)
    with pytest.raises(typer.Exit) as stopped, common.reported():
        raise ModuleNotFoundError("No module named 'k3d.plot'", name="k3d.plot")
    assert stopped.value.exit_code == 2
    assert capsys.readouterr().err == "impinge: needs k3d; in the clone of impinge: pip install '.[report]'\n"
    for name in ("numpy", "something"):  # these are bugs, or a broken installation
        with pytest.raises(ModuleNotFoundError), common.reported():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
