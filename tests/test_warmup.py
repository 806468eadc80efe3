"""Warm-up reaches every kernel that public code calls, and no kernel is compiled twice."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import impinge
from impinge import _warmup

PACKAGE = Path(impinge.__file__).parent
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"), reason="nothing is compiled")

# In a process of its own: other tests call kernels too, and with other types.
RUN = """
import importlib, json, sys
from impinge import _warmup

for _, step in _warmup.steps():
    step()
versions = {}
for module, name in json.load(sys.stdin):
    function = getattr(importlib.import_module(module), name)
    overloads = getattr(getattr(function, "kernel", function), "overloads", None)
    if overloads is not None:
        versions[f"{module}.{name}"] = [str(signature) for signature in overloads]
print(json.dumps(versions))
"""


def taken_from_kernel_files(path: Path) -> Iterator[tuple[str, str]]:
    """Module and name of all that a file uses of files with a leading underscore."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("impinge"):
            for alias in node.names:
                if (PACKAGE.parent / f"{node.module}.{alias.name}".replace(".", "/")).with_suffix(".py").exists():
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                elif node.module.rpartition(".")[2].startswith("_"):
                    yield node.module, alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id, "")
            if module.rpartition(".")[2].startswith("_"):
                yield module, node.attr


def test_warmup_compiles_every_kernel_once():
    public = [path for path in PACKAGE.rglob("*.py") if not path.name.startswith("_")]
    used = sorted({name for path in public for name in taken_from_kernel_files(path)})
    done = subprocess.run([sys.executable, "-c", RUN], input=json.dumps(used), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    versions = json.loads(done.stdout)
    assert len(versions) > 20, "kernels were looked for in the wrong place"
    assert [name for name, found in versions.items() if not found] == [], "warm-up does not call these"
    # Two versions mean that arrays of two kinds come through `_check`, and everybody waits twice; but for kernels that
    # run in two precisions.
    for name, found in versions.items():
        precisions = 2 if len({signature.replace("float32", "float64") for signature in found}) == 1 else 1
        assert len(found) <= precisions, name


@pytest.mark.verify  # `make test` runs the warm-up itself, as a command
def test_run_does_every_step():
    """Here and in workers; all is compiled by now, or the test before was left out."""
    started, finished = [], []
    _warmup.run(2, started.append, finished.append)
    names = [name for name, _ in _warmup.steps()]
    assert sorted(started) == sorted(finished) == sorted(names)
    assert finished[-1] == names[-1]


def test_a_failed_step_is_told(monkeypatch):
    do = _warmup._Worker.do
    monkeypatch.setattr(_warmup._Worker, "do", lambda self, number: do(self, 100 + number))  # none has that many
    monkeypatch.setattr(_warmup, "steps", lambda: [("one", print)] * 2)
    with pytest.raises(RuntimeError, match="a step of the warm-up failed"):
        _warmup.run(1, lambda name: None, lambda name: None)
