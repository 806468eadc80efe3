"""The command line in the process of the tests."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner, Result

from impinge import cli


def invoke(*arguments: Any) -> Result:
    """What `impinge` does with these words."""
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


def refusal(result: Result) -> str:
    """What it says on stderr where it refuses: exit code 2, one line, nothing on stdout."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("impinge: ")
    return result.stderr.removeprefix("impinge: ").removesuffix("\n")
