"""Why a step of soft bodies is not taken."""

from __future__ import annotations

from dataclasses import dataclass, field

from impinge.errors import InfeasibleStep

__all__ = ["Blame"]

_NAMED = 3  # in messages; all of them are in `rows` of the error


@dataclass
class Blame:
    """What was found while a step was sought, all in words: the last of each kind."""

    pairs: list[str] = field(default_factory=list)  # that cannot be kept apart
    rows: list[str] = field(default_factory=list)  # of users, and directions of `fix`, in their way
    left: str = ""  # what was left where an iteration did not converge

    def error(self, time: float, dt: float) -> InfeasibleStep:
        """For a step from a time, of which nothing down to dt was found."""
        every = self.pairs + self.rows
        named = ", ".join(every[:_NAMED])
        if self.pairs:
            what, why = "is free of collisions", f"in the way: {named}"
        elif self.rows:
            what, why = "satisfies all rows and directions", f"these contradict each other or what is driven: {named}"
        else:
            what, why = "converged", self.left or "limits of strain are in each other's way"
        return InfeasibleStep(f"no step from t = {time:g} s {what}, down to dt = {dt:g} s; {why}", every)
