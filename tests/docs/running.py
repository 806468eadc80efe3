"""Runs the code blocks of a page as a reader would: from top to bottom, in one folder.

- ``python``: in one namespace per page. A comment beside a ``print`` is what it prints; … stands for anything.
- ``toml``: a scene, or part of one that is completed, is read and its world made. With ``title="silo.toml"`` it is
  added to that file; so are other languages, for programs and data.
- ``sh``: cheap commands of impinge are run (scenes only their first moments), of others the options are checked.
- ``text`` after one of these is what it writes. A line … stands for any lines.
"""

from __future__ import annotations

import ast
import importlib.util
import io
import re
import runpy
import shlex
import sys
import tokenize
import tomllib
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import typer

from impinge import cli
from impinge.run.scene import read_scene

from ..command import invoke
from .pages import ROOT, Block

SHOW = {"report", "picture"}  # of a run, if the page has made one
RUN = {"inside", "pairs", "touch", "new", "run"} | SHOW  # the others are long, or tell of the machine
MOMENT = 0.02  # share of a scene that is run
_UNTIL = re.compile(r"^until *= *([0-9.e-]+)", re.MULTILINE)


def matches(wanted: str, found: str) -> bool:
    """Whether a text is as expected, … standing for anything."""
    pattern = "".join(
        "(?:.*\n)*" if line.strip() == "…" else ".*".join(map(re.escape, line.rstrip().split("…"))) + " *\n"
        for line in wanted.strip("\n").split("\n")
    )
    return re.fullmatch(pattern, found.strip("\n") + "\n") is not None


class Reader:
    """Someone who does all that a page says, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__page__"}
        self.scenes: set[str] = set()  # files that blocks have written
        self.written: str | None = None  # by the last block; None if that was not run in full

    def read(self, block: Block) -> None:
        """Do what a block says."""
        if block.language == "text":
            if self.written is not None:
                assert matches(block.code, self.written), f"{block.place}: found\n{self.written}"
            self.written = None
            return
        self.written = None
        if block.title:
            with (self.folder / block.title).open("a", encoding="utf-8") as file:
                file.write(block.code)
        if block.title.endswith(".toml"):
            self.scenes.add(block.title)
        elif block.language == "toml":
            self._look_at_scene(block.code)
        elif block.language == "python" and not block.title:
            self._run_python(block)
        elif block.language == "sh":
            for command in block.code.replace("\\\n", " ").splitlines():
                self._run_command(shlex.split(command, comments=True))

    def finish(self) -> None:
        """Look at all scenes that the page has had written."""
        for name in self.scenes:
            read_scene(self.folder / name).build()

    def _run_python(self, block: Block) -> None:
        code = "\n" * (block.line - 1) + block.code  # so that errors tell the line of the page
        tree = ast.parse(code, block.place)
        comments = _comments(code)
        wanted = {call.lineno: comments[call.end_lineno] for call in _prints(tree) if call.end_lineno in comments}
        printed: dict[int, str] = {}

        def print_(*things: Any, **more: Any) -> None:
            line = sys._getframe(1).f_lineno
            if line in wanted:
                text = io.StringIO()
                print(*things, file=text)
                printed[line] = printed.get(line, "") + text.getvalue()
            else:
                print(*things, **more)

        self.names["print"] = print_
        with redirect_stdout(io.StringIO()) as out:
            exec(compile(tree, block.place, "exec"), self.names)
        for line, text in wanted.items():
            place = f"{block.place.rpartition(':')[0]}:{line}"
            assert matches(text, printed.get(line, "")), f"{place}: found {printed.get(line)!r}, expected {text!r}"
        self.written = out.getvalue()

    def _look_at_scene(self, text: str) -> None:
        tables = tomllib.loads(text)
        lines = [] if "run" in tables else ["[run]", "until = 1"]
        used = {table["material"] for some in tables.values() if isinstance(some, list) for table in some
                if "material" in table}  # fmt: skip
        for name in sorted(used - set(tables.get("materials", {}))):
            lines += [f"[materials.{name}]", "density = 1000", "stiffness = 1e3"]
        path = self.folder / "block.toml"
        path.write_text(text + "\n" + "\n".join(lines) + "\n", encoding="utf-8")
        scene = read_scene(path)
        if tables.keys() & {"spheres", "polyhedra", "bodies"}:  # a world without them has no time step
            scene.build().step(2)

    def _run_command(self, words: list[str]) -> None:
        if not words:
            return
        first, *rest = words
        if first == "impinge":
            self._run_impinge(rest)
        elif first == "make":
            targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
            assert {word for word in rest if "=" not in word} <= set(targets), words
        elif first in ("python", "python3") and rest[:1] == ["-m"]:
            assert rest[1] in ("venv", "pip", "pytest") or importlib.util.find_spec(rest[1]), words
        elif first == "python" and rest[0].endswith(".py"):
            with redirect_stdout(io.StringIO()) as out:
                runpy.run_path(str(self.folder / rest[0]), run_name="__main__")
            self.written = (self.written or "") + out.getvalue()
        elif first == "pip":
            project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            extras = re.findall(r"\[([\w,]+)\]", " ".join(rest))
            assert set(",".join(extras).split(",")) - {""} <= set(project["optional-dependencies"]), words
        else:
            assert first in ("cd", "git", "source"), f"{words}: found a command that is not known here"

    def _run_impinge(self, words: list[str]) -> None:
        name = words[0]
        if name.startswith("-"):
            assert name in ("--help", "--version", "-h"), words
            return
        self.check(words)
        if name not in RUN or (name in SHOW and not (self.folder / words[1]).exists()):
            return
        shortened = name == "run" and self._shorten(self.folder / words[1])
        found = invoke(*words)
        assert found.exit_code == 0 or (name == "touch" and found.exit_code == 1), f"{words}: {found.output}"
        if not shortened and name not in SHOW:
            self.written = (self.written or "") + found.stdout

    @staticmethod
    def check(words: list[str], whole: bool = True) -> None:
        """Whether there is such a command with such options; of whole commands also whether nothing is missing."""
        commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
        assert words[0] in commands, f"impinge {words[0]}: no such command"
        if whole:
            commands[words[0]].make_context(words[0], words[1:])
        known = {option for parameter in commands[words[0]].params for option in parameter.opts}
        assert {word for word in words[1:] if word.startswith("--")} <= known, words

    @staticmethod
    def _shorten(path: Path) -> bool:
        """Make a scene end after its first moments, once."""
        text = path.read_text(encoding="utf-8")
        if "# first moments" not in text:
            text = _UNTIL.sub(lambda until: f"until = {MOMENT * float(until[1])}  # first moments", text)
            path.write_text(text, encoding="utf-8")
        return True


def _prints(tree: ast.AST) -> list[ast.Call]:
    return [
        node for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]  # fmt: skip


def _comments(code: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {token.start[0]: token.string[1:].strip() for token in tokens if token.type == tokenize.COMMENT}
