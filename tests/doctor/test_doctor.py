"""What `impinge doctor` finds, that it compiles nothing, and that it gives nobody away."""

from __future__ import annotations

import getpass
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import impinge
from impinge import compiler, doctor
from impinge.doctor import machine, packages, report, selftest

from ..command import invoke

PROJECT = Path(impinge.__file__).parents[2] / "pyproject.toml"
compiled = pytest.mark.skipif(compiler.is_off(), reason="nothing is compiled")


@pytest.fixture
def quick(monkeypatch):
    """One check, that needs nothing compiled, and no measurement."""
    monkeypatch.setattr(selftest, "CHECKS", {"inside": lambda: None})
    monkeypatch.setattr(selftest, "SPEEDS", {})


@pytest.mark.parametrize("name", selftest.CHECKS)
def test_checks_hold(name):
    selftest.CHECKS[name]()


@compiled
def test_speeds_are_measured():
    _, speeds = selftest.try_all()
    assert [speed.name for speed in speeds] == list(selftest.SPEEDS)
    for speed in speeds:
        assert "million" in speed.result
        assert speed.detail == ""


@compiled
def test_nothing_is_compiled(tmp_path):
    """In an empty cache all checks say so, at once, and leave the cache as it is."""
    code = "from impinge.doctor import selftest; print({check.result for check in selftest.try_all()[0]})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=_environment(NUMBA_CACHE_DIR=str(tmp_path))
    )
    assert done.stdout == "{'not compiled yet'}\n", done.stderr
    assert list(tmp_path.rglob("*.nbc")) == []


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(PROJECT.parent / "src"), **more}


def test_wrong_answers_are_problems(monkeypatch, quick):
    def fail() -> None:
        selftest._check("3 of 10 points", False)

    def crash() -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(selftest, "CHECKS", {"one": fail, "two": crash, "three": lambda: None})
    found = doctor.examine("1.0")
    assert found.facts["self_test"] == {"one": "WRONG", "two": "WRONG", "three": "right"}
    assert any("self-test of one: 3 of 10 points; please report" in problem for problem in found.problems)
    assert any("self-test of two: ZeroDivisionError: a bug (in crash, line" in problem for problem in found.problems)
    assert "Problems found: 2" in found.text()


def test_what_is_not_compiled_is_a_hint(monkeypatch, quick):
    monkeypatch.setattr(selftest, "CHECKS", {"one": selftest._refuse})
    found = doctor.examine("1.0")
    assert found.facts["self_test"] == {"one": "not compiled yet"}
    assert found.problems == []
    assert any("impinge warmup" in hint for hint in found.hints)


def test_text(quick):
    done = invoke("doctor")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    lines = {line[:14].strip(): line[14:] for line in done.stdout.splitlines()}
    for name in ("impinge", "Python", "system", "processor", "threads", "memory", "environment", "cache", "right"):
        assert lines[name], name
    assert impinge.__version__ in lines["impinge"]
    assert done.stdout.rstrip().endswith("No problems found.")
    home = str(Path.home())
    assert len(home) < 2 or home not in done.stdout


def test_json(quick):
    done = invoke("doctor", "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["impinge"] == impinge.__version__
    assert facts["self_test"] == {"inside": "right"}
    assert facts["problems"] == []
    assert facts["cores"]["threads"] >= 1
    assert {*facts["cache"]} == {"folder", "writable", "kernels", "bytes", "older", "older_bytes"}


def test_problems_are_exit_code_1(monkeypatch, quick):
    monkeypatch.setattr(compiler, "is_off", lambda: True)
    done = invoke("doctor")
    assert done.exit_code == 1
    assert "- NUMBA_DISABLE_JIT is set" in done.stdout


def test_cache_that_cannot_be_written(monkeypatch, quick, tmp_path):
    place = tmp_path / "file"
    place.write_text("")  # no folder can be made in a file, not even by root
    monkeypatch.setattr(machine._jit, "cache_folder", lambda: place / "cache")
    found = doctor.examine("1.0")
    assert not found.facts["cache"]["writable"]
    assert any("cannot be written" in problem and "NUMBA_CACHE_DIR" in problem for problem in found.problems)


def test_cache_is_counted(monkeypatch, tmp_path):
    here, other = tmp_path / "0123456789abcdef", tmp_path / "fedcba9876543210"
    for folder in (here, other):
        folder.mkdir()
        (folder / "a.nbc").write_bytes(b"12345")
    (here / "a.nbi").write_bytes(b"123")
    (tmp_path / "something else").mkdir()
    monkeypatch.setattr(machine._jit, "cache_folder", lambda: here)
    assert machine.cache() == (here, True, 1, 8, 1, 5)


def test_private(monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ann"))
    monkeypatch.setattr(getpass, "getuser", lambda: "ann")
    assert machine.private("/home/ann/x in /home/annabel") == "~/x in /home/annabel"
    assert machine.private("/home/ann:/scratch/ann/cache") == "~:/scratch/<user>/cache"
    assert machine.private("ann and anna") == "ann and anna"

    def nobody() -> str:
        raise KeyError("no such user")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert machine.private("/scratch/ann") == "/scratch/ann"


def test_settings(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    monkeypatch.setenv("SECRET_TOKEN", "abc")
    found = machine.settings()
    assert found["NUMBA_NUM_THREADS"] == "1"
    assert "SECRET_TOKEN" not in found


def test_memory():
    found = machine.memory()
    if found.total is not None:
        assert found.total > 1e8
        assert found.free is None or 0 <= found.free <= found.total


def test_memory_of_a_container(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("400000\n")
    monkeypatch.setattr(machine, "_own_groups", lambda name: [tmp_path] if name == "memory.max" else [])
    monkeypatch.setattr(machine, "_system_memory", lambda: (10**10, 10**9))
    assert machine.memory() == (1_000_000, 600_000, True)
    (tmp_path / "memory.max").write_text("max\n")
    assert machine.memory() == (10**10, 10**9, False)


def test_share_of_cores(monkeypatch, tmp_path, quick):
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    monkeypatch.setattr(machine, "_own_groups", lambda name: [tmp_path])
    assert machine.cores()["share"] == 0.5
    assert any("NUMBA_NUM_THREADS=1" in hint for hint in doctor.examine("1.0").hints)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("numpy>=2.0", ("numpy", ">=2.0", "")),
        ('k3d<4,>=3.2; extra == "report"', ("k3d", "<4,>=3.2", "report")),
        ("impinge[report]; extra == 'dev'", ("", "", "dev")),
        (
            "pypardiso>=0.4.7; platform_machine == 'x86_64' and extra == 'bench'",
            ("pypardiso", ">=0.4.7", "bench"),
        ),
        ("imageio-ffmpeg (>=0.5)", ("imageio-ffmpeg", ">=0.5", "")),
    ],
)
def test_requirements_are_read(text, wanted):
    assert packages._read(text) == wanted


@pytest.mark.parametrize(
    ("version", "bounds", "suits"),
    [
        ("2.0", ">=2.0", True),
        ("2", ">=2.0", True),
        ("1.26.4", ">=2.0", False),
        ("3.10.0", ">=3.9", True),
        ("4.0.1", "<4,>=3.2", False),
        ("3.2.0", "<4,>=3.2", True),
        ("2.1rc1", ">=2.1", True),
        ("2.0.0.post1", ">=2.0", True),
        ("1.0", "~=2.0", True),  # bounds of kinds that we do not use
        (None, ">=1", False),
    ],
)
def test_bounds(version, bounds, suits):
    assert packages.Package("x", version, bounds, "").suits is suits


def test_missing_and_old_packages_are_problems(monkeypatch, quick):
    listed = [
        packages.Package("numpy", "1.0", ">=2.0", ""),
        packages.Package("rich", None, ">=13.7", ""),
        packages.Package("k3d", None, ">=3.2,<4", "report"),
        packages.Package("ruff", None, ">=0.8", "dev"),
    ]
    monkeypatch.setattr(report, "packages", lambda: listed)
    found = doctor.examine("1.0")
    assert found.problems == [
        "numpy: found 1.0, expected >=2.0; pip install 'numpy>=2.0'",
        "rich: found none, expected >=13.7; pip install 'rich>=13.7'",
    ]
    assert any(hint.startswith("in the clone of impinge: pip install '.[report]'") for hint in found.hints)
    assert "ruff" not in found.text()


def test_every_extra_has_a_purpose():
    if not PROJECT.exists():
        pytest.skip("not run from the source tree")
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {*extras} == {*packages.PURPOSES}
    assert {*packages.FOR_DEVELOPERS} <= {*extras}
