"""What the layout promises: compiler flags in one file, rooms in one order, kernels apart, a quick import."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import impinge

PACKAGE = Path(impinge.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
KERNEL_DECORATORS = {"exact", "kernel", "parallel", "part", "team"}

# Each folder may import those before it, and itself. The package's own __init__ stands on top: lower rooms
# take names from where they are defined, never from there.
ORDER = [
    {"errors", "facts", "fields"},
    {"_check", "_interrupt", "_jit", "_scratch", "untrusted"},
    {"compiler"},
    {"exact"},
    {"_lanes"},  # fuses products and sums, which exact arithmetic must not
    {"sparse"},
    {"shapes"},
    {"broad"},
    {"inside"},
    {"ccd"},
    {"response"},
    {"bodies"},
    {"output"},
    {"run"},
    {"show"},
    {"loading"},
    {"_warmup", "doctor", "reproduce"},
    {"", "cli"},
    {"__main__"},
]
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


@cache
def modules_of(package: Path) -> set[str]:
    """Dotted names of all modules below a package folder, relative to it."""
    found = set()
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).with_suffix("").parts
        found.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found - {""}


def imports(tree: ast.AST, path: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name (relative to the package) of all that a file imports from it, wherever it does."""
    modules = modules_of(package)
    here = path.relative_to(package).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "impinge":
                    yield node.lineno, alias.name.removeprefix("impinge").removeprefix(".")
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = ".".join(here[: len(here) - node.level + 1])
                source = ".".join(filter(None, [base, node.module or ""]))
            elif (node.module or "").split(".")[0] == "impinge":
                source = (node.module or "").removeprefix("impinge").removeprefix(".")
            else:
                continue
            for alias in node.names:
                full = f"{source}.{alias.name}".removeprefix(".")
                yield node.lineno, full if full in modules else source
        elif isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func).rpartition(".")[2]
            argument = node.args[0]
            if called in ("import_module", "__import__") and isinstance(argument, ast.Constant):
                if str(argument.value).split(".")[0] == "impinge":
                    yield node.lineno, str(argument.value).removeprefix("impinge").removeprefix(".")


def order_violations(tree: ast.AST, path: Path, package: Path, room: str) -> list[str]:
    if room not in RANK:
        return [f"{room}: a new room needs its place in ORDER (and in ARCHITECTURE.md)"]
    wrong = []
    for line, target in imports(tree, path, package):
        other = target.split(".")[0]
        allowed = other == room or (other in RANK and RANK[other] < RANK[room])
        allowed |= (room, other) == ("cli", "")  # the command line may ask the package for its version
        if not allowed:
            wrong.append(f"{path.name}:{line} imports impinge.{target}".rstrip("."))
    return wrong


def decorator_names(function: ast.FunctionDef) -> set[str]:
    return {ast.unparse(d.func if isinstance(d, ast.Call) else d) for d in function.decorator_list}


def kernels(tree: ast.AST) -> list[ast.FunctionDef]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and {name.rpartition(".")[2] for name in decorator_names(node)} & KERNEL_DECORATORS
    ]


# Compiler flags


def stray_flags(tree: ast.AST) -> list[str]:
    """Uses of Numba, and of its flags, outside _jit.py."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.keyword) and node.arg in ("inline", "fastmath", "error_model"):
            found.append(f"line {node.value.lineno}: {node.arg}=")
            continue
        elif isinstance(node, ast.Name | ast.Attribute):
            last = node.id if isinstance(node, ast.Name) else node.attr
            if last in ("njit", "jit", "vectorize", "guvectorize", "cfunc", "stencil", "generated_jit"):
                found.append(f"line {node.lineno}: {last}")
            continue
        else:
            continue
        found += [f"line {node.lineno}: {n}" for n in names if n.split(".")[0] in ("numba", "llvmlite")]
    return found


def test_compiler_flags_only_in_jit():
    found = [(name_of(path), flag) for path, tree in TREES.items() for flag in stray_flags(tree)]
    found = [(name, flag) for name, flag in found if name not in ("_lanes.py", "compiler.py") or flag.endswith("=")]
    assert [(name, flag) for name, flag in found if name != "_jit.py"] == []
    assert found, "_jit.py has them"


@pytest.mark.parametrize(
    "code",
    [
        "import numba",
        "import numba.core.types as t",
        "from numba import njit",
        "from numba.extending import overload",
        "def f():\n    import numba",
        "@something.njit\ndef f(): pass",
        "@kernel(fastmath=True)\ndef f(): pass",
        "@exact(inline='always')\ndef f(): pass",
    ],
)
def test_stray_flags_are_seen(code):
    assert stray_flags(ast.parse(code))


def test_jit_writes_the_flags_out():
    tree = TREES[PACKAGE / "_jit.py"]
    values = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            values.update(
                {k.value: v for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant)}
            )
        if isinstance(node, ast.keyword):
            assert node.arg not in ("inline", "fastmath"), "written once, in _FLAGS"
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("numba.njit", "njit"):
            spread = [ast.unparse(k.value) for k in node.keywords if k.arg is None]
            assert "_FLAGS" in spread
    assert ast.unparse(values["fastmath"]) == "False"
    assert ast.unparse(values["error_model"]) == "'numpy'"
    assert ast.unparse(values["cache"]) == "True"
    assert "inline" not in values


def test_jit_flags_reach_the_compiler():
    from impinge import _jit

    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        pytest.skip("nothing is compiled")
    shared = _jit.parallel(grain=1)(lambda first, stop: None).kernel
    for compiled in (_jit.exact(lambda x: x), _jit.kernel(lambda x: x), _jit.part(lambda x: x), shared):
        options = compiled.targetoptions
        assert options["fastmath"] is False
        assert options["error_model"] == "numpy"
        assert "inline" not in options


# Order of the rooms


def test_rooms_depend_only_on_those_before():
    wrong = {name_of(path): order_violations(tree, path, PACKAGE, room_of(path)) for path, tree in TREES.items()}
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.parametrize(
    ("room", "code", "fine"),
    [
        ("shapes", "from impinge import _check", True),
        ("shapes", "from impinge.inside.solid import Solid", False),
        ("shapes", "from impinge import Solid", False),
        ("shapes", "def f():\n    from impinge.inside import solid", False),
        ("shapes", "if TYPE_CHECKING:\n    from impinge.inside.solid import Solid", False),
        ("shapes", "import impinge.inside.solid", False),
        ("shapes", "from ..inside import solid", False),
        ("shapes", "from ..exact import predicates", True),
        ("shapes", "importlib.import_module('impinge.inside')", False),
        ("inside", "from impinge.shapes.mesh import Mesh", True),
        ("inside", "from impinge.cli import app", False),
        ("exact", "from impinge.shapes import mesh", False),
        ("_jit", "from impinge.errors import InputError", True),
        ("_jit", "from impinge import _check", False),
        ("cli", "import impinge", True),
        ("cellar", "import numpy", False),
    ],
)
def test_order_violations_are_seen(room, code, fine):
    path = PACKAGE / f"{room}.py" if room in ("_jit", "cli") else PACKAGE / room / "x.py"
    assert (order_violations(ast.parse(code), path, PACKAGE, room) == []) is fine


def test_the_page_names_what_there_is():
    root = Path(__file__).resolve().parents[1]
    page = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^  (\w+)(?:\.py|/) ", page, re.MULTILINE)) == set(RANK) - {"", "__main__"} | {"__init__"}
    folders = [root / name for name in ("src", "tests", "benchmarks", "docs", "examples")]
    files = [path.as_posix() for folder in folders for path in folder.rglob("*.*")]
    files += [path.as_posix() for path in root.glob("*.*")]
    named = set(re.findall(r"[\w/-]+\.(?:py|md|toml|yml)\b", page)) - {"inside/name.py", "inside/_name.py"}
    assert len(named) > 60
    assert not [name for name in sorted(named) if not any(path.endswith(f"/{name}") for path in files)]


def test_tests_share_helpers_only():
    """What several test modules need stands in a module of helpers, which may be read without running tests."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("*.py")}
    pattern = re.compile(r"^ *from [\w.]*\.test_\w+ import|^ *from \.[\w.]* import test_", re.MULTILINE)
    assert not [name for name, text in texts.items() if pattern.search(text)]


# Kernels


KERNELS = {path: kernels(tree) for path, tree in TREES.items()}


def not_simple(function: ast.FunctionDef) -> Iterator[str]:
    """What a kernel has that it should not: errors, None or keywords."""
    arguments = function.args
    if arguments.kwonlyargs:
        yield "keyword-only arguments"
    if arguments.kwarg is not None:
        yield f"**{arguments.kwarg.arg}"
    for default in [*arguments.defaults, *arguments.kw_defaults]:
        if isinstance(default, ast.Constant) and default.value is None:
            yield "None"
    for node in ast.walk(function):
        if isinstance(node, ast.Raise):
            yield f"raises on line {node.lineno}"


def test_kernels_stand_apart():
    """Compiled loops live in files with a leading underscore, and are simple."""
    found = [(path, function) for path in FILES for function in KERNELS[path] if name_of(path) != "_jit.py"]
    assert len(found) > 100, "kernels were looked for in the wrong place"
    # The cache folder is named after a hash of these files only.
    assert [f"{name_of(path)}: {kernel.name}" for path, kernel in found if not path.name.startswith("_")] == []
    assert [f"{name_of(path)}, {kernel.name}: {wrong}" for path, kernel in found for wrong in not_simple(kernel)] == []


@pytest.mark.parametrize(
    "code",
    ["def f(*, a): pass", "def f(**a): pass", "def f(a=None): pass", "def f(a):\n    if a:\n        raise ValueError"],
)
def test_kernels_that_are_not_simple_are_seen(code):
    (function,) = kernels(ast.parse(f"@kernel\n{code}"))
    assert list(not_simple(function))


def test_kernel_files_import_only_their_like():
    """A constant from another kind of file would be compiled in, and the cache not notice its change."""
    wrong = []
    for path in FILES:
        if KERNELS[path] and name_of(path) != "_jit.py":
            for line, target in imports(TREES[path], path, PACKAGE):
                package = (PACKAGE / target.replace(".", "/")).is_dir()
                if not target.rpartition(".")[2].startswith("_") and not package:
                    wrong.append(f"{name_of(path)}:{line} imports impinge.{target}")
    assert wrong == []


def test_parts_of_kernels_are_not_called_from_python():
    """They have no door for it: the interpreter would crash. Files without kernels use kernels as _module.name."""
    parts = {
        (path.stem, function.name)
        for path, found in KERNELS.items()
        for function in found
        if "part" in decorator_names(function)
    }
    assert ("_obstacles", "touch") in parts
    called = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        if not KERNELS[path]
        for node in ast.walk(TREES[path])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if (node.value.id, node.attr) in parts
    ]
    assert called == []


# The import


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("module", ["impinge", "impinge.cli", "impinge.errors"])
def test_import_loads_nothing_heavy(module):
    loaded = run_python(f"import sys, {module}; print(*sys.modules)").split()
    assert {"numba", "scipy", "trimesh", "matplotlib"}.isdisjoint(loaded)


def test_import_is_quick():
    """At most 0.15 s more than NumPy; the best of several tries, as other programs may be busy."""
    code = "import time, numpy; t = time.perf_counter(); import impinge; print(time.perf_counter() - t)"
    times = []
    for _ in range(10):
        times.append(float(run_python(code)))
        if len(times) >= 3 and sorted(times)[len(times) // 2] < 0.15:
            return
    pytest.fail(f"import impinge takes {sorted(times)[len(times) // 2]:.3f} s")


def test_public_names_resolve():
    for name in impinge.__all__:
        assert getattr(impinge, name) is not None
    assert set(impinge.__all__) <= set(dir(impinge))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        impinge.nothing  # noqa: B018


def test_version_is_that_of_the_project():
    project = PACKAGE.parents[1] / "pyproject.toml"
    if not project.exists():
        pytest.skip("not run from the source tree")
    assert tomllib.loads(project.read_text())["project"]["version"] == impinge.__version__
