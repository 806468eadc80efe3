"""``impinge run`` and ``impinge new``: what they say, and their exit codes."""

from __future__ import annotations

import json
import re

import pytest

from ..command import invoke
from ..run.scenes import FULL, SMALL, contents, write


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, SMALL)
    return tmp_path


def test_run(here):
    result = invoke("run", "scene.toml")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    first, *rest = result.stdout.splitlines()
    assert first.startswith("3 discs until 0.02 s, ")
    assert " steps; dt = " in first
    assert "1/50 of the shortest contact" in first
    assert "sphere-steps per second" in result.stdout
    assert rest[-1].split() == ["written", "scene-out"]
    assert "series.csv" in contents(here / "scene-out")
    facts = json.loads((here / "scene-out" / "summary.json").read_text())
    assert facts["finished"] is True
    assert facts["steps"] > 0


def test_a_report_stands_below_the_rest(here):
    lines = invoke("run", "scene.toml", "--report").stdout.splitlines()
    assert [line.index("scene-out") for line in lines[-2:]] == [9, 9]


def test_one_of_a_kind_is_no_plural(here):
    scene = "[world]\ndt = 0.01\n[run]\nuntil = 0.01\n[materials.m]\ndensity = 1\nstiffness = 1\n"
    write(here, scene + '[[spheres]]\nmaterial = "m"\nradii = 0.01\ncentres = [[0, 0, 0]]\n')
    assert invoke("run", "scene.toml").stdout.startswith("1 sphere until 0.01 s, 1 step; dt = 0.01 s, ")


def test_sources_and_sinks_say_what_came_and_went(here):
    write(here, FULL.replace("rate = 400", "rate = 1e5"))
    result = invoke("run", "scene.toml")
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert re.search(
        r"source 1 [\d,]+ spheres? came; [\d,]+ more are due at its rate, 100000 per second, and found", said
    )
    assert re.search(r"corner took \d+ spheres?, 0\.\d+ kg written", said)
    write(here, FULL)
    assert re.search(r"source 1 +2[23] spheres came *$", invoke("run", "scene.toml", "--overwrite").stdout, re.M)


def test_quiet(here):
    result = invoke("run", "scene.toml", "--out", "there", "--threads", "1", "-q")
    assert (result.exit_code, result.output) == (0, "")
    assert (here / "there" / "spheres.pvd").exists()


def test_again(here):
    assert invoke("run", "scene.toml", "-q").exit_code == 0
    result = invoke("run", "scene.toml")
    assert result.exit_code == 2
    assert result.stderr == (
        "impinge: scene-out: is not empty; --resume goes on with the run in it, --overwrite starts anew\n"
    )
    result = invoke("run", "scene.toml", "--resume")
    assert result.exit_code == 0
    assert result.stdout.startswith("finished already, at t = 0.02")
    assert invoke("run", "scene.toml", "--overwrite", "-q").exit_code == 0
    result = invoke("run", "scene.toml", "--overwrite", "--resume")
    assert result.exit_code == 2
    assert "found both" in result.stderr


def test_warnings_are_one_line(here):
    write(here, SMALL.replace("dim = 2", "dim = 2\ndt = 1e-4"))
    result = invoke("run", "scene.toml", "-q")
    assert result.exit_code == 0
    assert result.stderr.startswith("impinge: warning: dt: 0.0001 s is ")
    assert result.stderr.count("\n") == 1


def test_progress_on_a_terminal(here, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    result = invoke("run", "scene.toml")
    assert result.exit_code == 0
    assert "steps/s" in result.stderr
    assert "contacts" in result.stderr
    assert "J in motion" in result.stderr


@pytest.mark.parametrize("template", ["hopper", "drum", "column", "box2d", "rocks", "cable", "cloth"])
def test_new(here, template):
    result = invoke("new", "mine", "--template", template)
    assert result.exit_code == 0
    assert result.stdout == "written mine.toml; try: impinge run mine.toml\n"
    text = (here / "mine.toml").read_text(encoding="utf-8")
    assert text.count("#") > 5
    # A start of it runs, a step at least; how long the whole takes is for `make verify`.
    is_soft = template in ("cable", "cloth")
    until, frames = ("until = 0.01", "frames = 0.01") if is_soft else ("until = 0.002", "frames = 0.002")
    short = re.sub(r"(?m)^until = .*$", until, re.sub(r"(?m)^frames = .*$", frames, text))
    write(here, short, "mine.toml")
    result = invoke("run", "mine.toml", "-q")
    assert (result.exit_code, result.output) == (0, "")


def test_a_report_is_a_web_page(here):
    result = invoke("report", "scene-out", "-o", "r.pdf")
    assert result.exit_code == 2
    assert result.stderr == "impinge: r.pdf: ending '.pdf', expected .html\n"


def test_new_quotes_names(here):
    said = "written mein silo.toml; try: impinge run 'mein silo.toml'\n"
    assert invoke("new", "mein silo").stdout == said


def test_new_overwrites_nothing(here):
    before = (here / "scene.toml").read_text()
    result = invoke("new", "scene")
    assert result.exit_code == 2
    assert result.stderr == "impinge: scene.toml: exists already, expected another name\n"
    assert (here / "scene.toml").read_text() == before
    result = invoke("new", "none/scene")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert invoke("new", "other", "--template", "cloud").exit_code == 2
