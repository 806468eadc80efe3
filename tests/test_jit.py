"""Compiler flags, the cache that cannot be stale, references to arrays, and threads."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

import impinge
from impinge._jit import cache_folder, lean, parallel, threads
from impinge.errors import InputError

PACKAGE = Path(impinge.__file__).parent

HELPER = """
from impinge._jit import exact

@exact
def _answer():
    return {answer}
"""
CALLER = """
from impinge._jit import kernel
from impinge.exact._helper import _answer

@kernel
def _fill(out):
    for i in range(len(out)):
        out[i] = _answer()
"""
RUN = """
import numpy as np
from impinge._jit import cache_folder
from impinge.exact._caller import _fill
out = np.zeros(2, np.int64)
_fill(out)
print(out[1], sum(_fill.stats.cache_hits.values()), cache_folder().name)
"""


@pytest.fixture
def copied(tmp_path):
    """A small package called impinge, with the real _jit.py and two kernel files; and how to run it."""
    package = tmp_path / "source" / "impinge"
    (package / "exact").mkdir(parents=True)
    for name in ("__init__.py", "errors.py", "_jit.py"):
        shutil.copy(PACKAGE / name, package)
    (package / "exact" / "__init__.py").write_text("")
    (package / "exact" / "_helper.py").write_text(HELPER.format(answer=1))
    (package / "exact" / "_caller.py").write_text(CALLER)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment |= {"PYTHONPATH": str(tmp_path / "source"), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # as long as before and written in the same second: taken for the same

    def run(source: Path = tmp_path / "source") -> tuple[int, int, str]:
        done = subprocess.run(
            [sys.executable, "-c", RUN],
            capture_output=True,
            text=True,
            check=True,
            env=environment | {"PYTHONPATH": str(source)},
            cwd=tmp_path,
        )
        answer, hits, folder = done.stdout.split()
        assert (tmp_path / "cache" / folder).is_dir()
        return int(answer), int(hits), folder

    return package, run


def test_cache_follows_the_source(copied):
    package, run = copied
    answer, hits, first = run()
    assert (answer, hits) == (1, 0)
    answer, hits, folder = run()
    assert (answer, hits, folder) == (1, 1, first), "the second run must not compile"
    helper = package / "exact" / "_helper.py"
    helper.write_text(HELPER.format(answer=2))  # _caller.py, whose kernel is cached, does not change
    answer, hits, folder = run()
    assert (answer, hits) == (2, 0)
    assert folder != first
    helper.write_text(HELPER.format(answer=1))
    assert run() == (1, 1, first)


@pytest.mark.skipif(not hasattr(numba.config, "CACHE_LOCATOR_CLASSES"), reason="Numba has it from 0.62 on")
def test_copies_share_the_cache(copied, tmp_path):
    """As the environments of a user do, and an installation with the one that it replaces."""
    package, run = copied
    assert run()[:2] == (1, 0)
    shutil.move(package.parent, tmp_path / "elsewhere")
    assert run(tmp_path / "elsewhere")[:2] == (1, 1)


@pytest.mark.parametrize("place", ["file", "~"])
def test_a_cache_that_cannot_be_written(copied, place, tmp_path):
    """One warning, no files, and the right answer; also for users that have no home, as in containers."""
    package, _ = copied
    (tmp_path / "file").write_text("")
    folder = str(tmp_path / "file" / "cache") if place == "file" else "~/cache"
    environment = {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", RUN], capture_output=True, text=True, env=os.environ | environment, cwd=tmp_path
    )
    assert done.stdout.split()[:2] == ["1", "0"]
    assert done.stderr.count("cannot be written") == 1
    assert list(tmp_path.rglob("*.nbi")) == list(tmp_path.rglob("~")) == []


def test_other_users_of_numba_keep_their_cache():
    before = numba.config.CACHE_DIR
    parallel(grain=1)(lambda first, stop: None)
    assert before == numba.config.CACHE_DIR
    assert str(cache_folder()) not in before


@pytest.mark.parametrize("count", [0, -1, 10**6])
def test_threads_refuses(count):
    with pytest.raises(InputError, match=rf"^threads: found {count}, expected 1 to \d+"), threads(count):
        pass


def test_threads_are_restored():
    with threads(None) as before:
        pass
    with threads(1) as inner:
        assert inner == 1
        with threads(None) as same:
            assert same == 1
    with threads(None) as after:
        assert after == before
    with pytest.raises(ZeroDivisionError), threads(1):
        raise ZeroDivisionError
    with threads(None) as after:
        assert after == before


@parallel(grain=100)
def _square_roots(first, stop, values, out):
    for i in range(first, stop):
        total = 0.0
        for j in range(i % 7 + 1):
            total += np.sqrt(values[i] + j) / (j + 1)
        out[i] = total


def test_threads_do_not_change_results():
    values = np.random.default_rng(0).uniform(0, 1, 10_001)
    results = []
    with threads(None) as most:
        pass
    for count in {1, min(2, most), most}:
        out = np.empty_like(values)
        with threads(count):
            _square_roots(len(values), values, out)
        results.append(out.tobytes())
    assert len({*results}) == 1


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 1700])
def test_every_item_is_done_once(count):
    done = np.zeros(count, np.int64)
    _count_items(count, done)
    assert (done == 1).all()


@parallel(grain=10)
def _count_items(first, stop, done):
    for i in range(first, stop):
        done[i] += 1


def test_many_python_threads_at_once():
    values = np.linspace(0, 1, 5000)
    wanted = np.empty_like(values)
    _square_roots(len(values), values, wanted)

    def ask(_):
        out = np.empty_like(values)
        _square_roots(len(values), values, out)
        return out.tobytes()

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(ask, range(60))) == {wanted.tobytes()}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_after_a_fork():
    """A child of a process whose helper threads have run has none of them, and makes its own."""
    program = """
import os, sys, numpy as np
import impinge
solid = impinge.Solid(impinge.shapes.octasphere(3))
points = np.random.default_rng(0).uniform(-1, 1, (20000, 3))
wanted = solid.contains(points)
child = os.fork()
if child == 0:
    os._exit(0 if (solid.contains(points) == wanted).all() else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=120)
    assert done.returncode == 0


def test_only_lean_kernels_get_arrays_from_lean_kernels():
    """Others would give references back that nobody has taken."""
    functions = [
        node
        for path in PACKAGE.rglob("_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    lean = {node.name for node in functions if any(getattr(d, "id", "") == "lean" for d in node.decorator_list)}
    givers = {
        node.name
        for node in functions
        for part in ast.walk(node)
        if node.name in lean and isinstance(part, ast.Return) and any(isinstance(x, ast.Slice) for x in ast.walk(part))
    }
    assert givers == {"tree"}
    for node in functions:
        calls = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
        if any(isinstance(call, ast.Name) and call.id in givers for call in calls):
            assert node.name in lean


def test_lean_kernels_make_no_arrays():
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        pytest.skip("nothing is compiled")
    with pytest.raises(Exception, match="NRT required"):
        lean(lambda: np.empty(3).sum())()
