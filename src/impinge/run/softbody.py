"""Bodies of soft worlds as users see them: their names, and nodes in any form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.bodies.soft.parts import Floats
from impinge.errors import InputError

__all__ = ["SoftBody", "free_name", "node_numbers", "start_velocities"]


@dataclass(frozen=True, repr=False)
class SoftBody:
    """A cable or a cloth of a world.

    Attributes
    ----------
    name : str
        No other body of the world has it.
    nodes : slice
        Its nodes among those of the world: ``world.positions[body.nodes]``.
    edges : slice
        Its edges, likewise.
    """

    name: str
    nodes: slice
    edges: slice

    def __repr__(self) -> str:
        nodes, edges = self.nodes, self.edges
        return f"<impinge.SoftBody {self.name!r}: nodes {nodes.start}:{nodes.stop}, edges {edges.start}:{edges.stop}>"


def free_name(name: Any, kind: str, bodies: Sequence[SoftBody]) -> str:
    """The name of the next body: as given, if no other has it; else with a number, from that of the body on."""
    if not isinstance(name, str):
        raise InputError(f"name: found {name!r}, expected a text")
    taken, number = {body.name for body in bodies}, len(bodies)
    wanted = name or f"{kind} {number}"
    while wanted in taken:
        wanted = f"{name or kind} {number}"
        number += 1
    return wanted


def node_numbers(nodes: Any, bodies: Sequence[SoftBody], count: int) -> NDArray[np.int64]:
    """(k,) numbers of nodes from anything that chooses some of them: a body, or what picks rows of an array."""
    wanted = f"a body of this world, or numbers, a slice or a mask of its {count} nodes"
    if isinstance(nodes, SoftBody):
        if not any(nodes is body for body in bodies):
            raise InputError(f"nodes: found {nodes!r}, expected {wanted}")
        nodes = nodes.nodes
    elif isinstance(nodes, tuple) and all(isinstance(node, Integral) for node in nodes):
        nodes = list(nodes)  # which NumPy would take for places along several axes
    try:
        numbers = np.atleast_1d(np.arange(count)[nodes])
    except (IndexError, ValueError, TypeError) as error:
        # NumPy says well which number is too large and how long a mask is; else it speaks of axes.
        found = str(error) if str(error).startswith(("index", "boolean")) else f"found {nodes!r}"
        raise InputError(f"nodes: {found}, expected {wanted}") from None
    if numbers.ndim > 1 or isinstance(nodes, bool | np.bool_):
        raise InputError(f"nodes: found {nodes!r}, expected {wanted}")
    return numbers.astype(np.int64)


def start_velocities(velocity: Any, count: int) -> Floats:
    """(count, 3) m/s, from one for all nodes or one for each."""
    array = _check.numbers("velocity", velocity, f"numbers of shape (3,), or ({count}, 3), a row for each node")
    if array.ndim != 2:
        return np.tile(_check.vector("velocity", velocity), (count, 1))
    rows = _check.vectors("velocity", array)
    if len(rows) != count:
        raise InputError(f"velocity: found {len(rows)} rows, expected (3,), or {count}, one for each node")
    return rows
