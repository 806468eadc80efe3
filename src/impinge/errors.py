"""Every error and warning a user of impinge can meet."""

import os
from typing import Any

_LONGEST = 200  # characters of what a library says


class ImpingeError(Exception):
    """Base of all errors raised on purpose by impinge."""


def printable(text: str) -> str:
    """Without line ends and what else terminals take for commands, as a text from a file may have them."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else " " for sign in text)


def reason(error: BaseException) -> str:
    """What an error of another library says, as part of a line: what it quotes from a file may be anything."""
    text = printable(str(error)).strip()
    return (text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…") or type(error).__name__


def file_of(error: OSError) -> str | None:
    """The file that an error of the system names; in place of a temporary one, that which it was to become."""
    name = error.filename
    if not isinstance(name, str | os.PathLike):
        return None
    folder, file = os.path.split(os.fspath(name))
    is_temporary = file.startswith(".") and file.endswith(".part")  # as in output/atomic.py
    return os.path.join(folder, file[1:-5]) if is_temporary else os.fspath(name)


def install(extra: str) -> str:
    """What to do to have an extra, as part of a line; impinge is in no index of packages, only in its repository."""
    return f"in the clone of impinge: pip install '.[{extra}]'"


class InputError(ImpingeError, ValueError):
    """An argument or a file has the wrong type, shape or value; the message, of one line, names it."""

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))


class SubjectError(InputError):
    """An input error about one of many; ``subject`` tells which, as in ("sphere", 12) or ("material", "glass")."""

    def __init__(self, message: str, subject: tuple[str, int | str]) -> None:
        super().__init__(message)
        self.subject = subject


class MeshError(ImpingeError, ValueError):
    """A mesh does not have a property that the asked operation needs, e.g. it is not closed."""


class RunError(ImpingeError, RuntimeError):
    """A simulation cannot go on: something has left the range of numbers, or the box; the message says what."""


class InfeasibleError(ImpingeError, ValueError):
    """No point satisfies all constraints; the multipliers prove it.

    With y = `multipliers` ≥ 0 of Jx ≤ c and z = `equality_multipliers` of Ex = e, Jᵀy + Eᵀz is 0 up to rounding while
    cᵀy + eᵀz < 0 (Farkas): no x can satisfy the rows with y or z other than 0, which `rows` and `equalities` list.
    """

    def __init__(self, message: str, multipliers: Any, equality_multipliers: Any) -> None:
        super().__init__(message)
        self.multipliers, self.equality_multipliers = multipliers, equality_multipliers

    @property
    def rows(self) -> list[int]:
        """Rows of J in the proof."""
        return [k for k, y in enumerate(self.multipliers) if y != 0]

    @property
    def equalities(self) -> list[int]:
        """Rows of E in the proof."""
        return [k for k, z in enumerate(self.equality_multipliers) if z != 0]


class InfeasibleStep(RunError):
    """A step of a world cannot be taken; the world is as it was before.

    Something would pass through something else, rows contradict each other, or the equations of motion were not solved.

    `rows` says what stands against each other, in words; it is empty where nothing does.
    """

    def __init__(self, message: str, rows: list[str]) -> None:
        super().__init__(message)
        self.rows = rows


class ConvergenceError(ImpingeError, RuntimeError):
    """An iteration did not reach the accuracy that was asked for; the message says what it reached."""


class ImpingeWarning(UserWarning):
    """Base of all warnings given by impinge."""


class MeshWarning(ImpingeWarning):
    """A mesh is usable, but something about it will surprise; the message says what."""


class SearchWarning(ImpingeWarning):
    """A search over time may have missed pairs, as it was told to."""


class OutputWarning(ImpingeWarning):
    """A file is written, but shows less than was asked for; the message says what."""


class CacheWarning(ImpingeWarning):
    """Compiled code cannot be kept; the message says why."""


class RunWarning(ImpingeWarning):
    """A simulation runs, but its results may be poor; the message says why."""
