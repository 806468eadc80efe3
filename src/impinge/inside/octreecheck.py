"""Whether the arrays of an octree that come from a file are ones that the kernels may trust."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.inside._octree_build import BLOCK_UNITS, EMPTY, HEADER_UNITS, LANES, LEAF, NODE
from impinge.inside._octree_leaves import EMPTY_LANE
from impinge.shapes.mesh import Mesh

__all__ = ["check_tree"]

_DEEPEST = 20  # levels: coordinates have 64 bits, two for each level, and those of the root
_WANTED = {
    "low": ("f8", (3,)), "high": ("f8", (3,)), "scale": ("f8", (3,)), "origin": ("f8", (3,)), "inv": ("f8", ()),
    "depth": ("i8", ()), "shape": ("i8", (3,)), "codes": ("i4", None), "words": ("f8", None),
}  # fmt: skip


def check_tree(mesh: Mesh, arrays: dict[str, NDArray[Any]]) -> None:
    """An error unless every cell and every record is where the tree says, and triangles are those of the mesh.

    The answers of such a tree may still be wrong: whoever writes a file decides what it says.
    """
    for name, (kind, shape) in _WANTED.items():
        array = arrays.get(name)
        if (
            array is None
            or array.dtype != np.dtype(kind)
            or (array.shape != shape if shape is not None else array.ndim != 1)
        ):
            raise InputError(f"{name}: found no array of this kind, expected one of {kind}")
    _check_root(arrays)
    bricks = math.prod(int(length) for length in arrays["shape"])
    codes = arrays["codes"]
    if bricks > len(codes) or (len(codes) - bricks) % 64:
        raise InputError(f"codes: found {len(codes)}, expected {bricks} and bricks of 64")
    leaves = _find_leaves(codes, bricks, int(arrays["depth"]))
    _check_leaves(arrays["words"], leaves, len(mesh.faces))


def _check_root(arrays: dict[str, NDArray[Any]]) -> None:
    """Every point within the bounds must fall into a cell of the root lattice."""
    low, high, scale, origin = (arrays[name] for name in ("low", "high", "scale", "origin"))
    inv, depth, shape = float(arrays["inv"]), int(arrays["depth"]), arrays["shape"]
    if not (0 <= depth <= _DEEPEST and (shape >= 1).all() and (shape <= 2**20).all()):
        raise InputError("depth, shape: found numbers out of range")
    if not (np.isfinite(scale).all() and (scale > 0).all() and 0 < inv < math.inf):
        raise InputError("scale: found numbers that are not above 0")
    with np.errstate(over="ignore", invalid="ignore"):
        # Rounding is monotonic: what holds for both corners holds between them.
        first, last = (low * scale - origin) * inv, (high * scale - origin) * inv
        is_in = (first > -1) & (last < shape * 4.0**depth) & (low <= high)
    if not is_in.all():
        raise InputError("low, high: found bounds outside the tree")


def _find_leaves(codes: NDArray[np.int32], bricks: int, depth: int) -> NDArray[np.int64]:
    """Places of all records; an error where cells are not there, or below each other without end."""
    level, leaves, seen = codes[:bricks].astype(np.int64), [], 0
    count = (len(codes) - bricks) // 64
    for left in range(depth, -1, -1):
        tags = level & 3
        if not np.isin(tags, (EMPTY, LEAF, NODE)).all():
            raise InputError("codes: found a cell of no kind")
        leaves.append(level[tags == LEAF] >> 2)
        nodes = level[tags == NODE] >> 2
        seen += len(nodes)
        if not len(nodes):
            return np.concatenate(leaves)
        if not left or seen > count or nodes.min() < 0 or nodes.max() >= count:
            break
        level = codes[bricks:].reshape(-1, 64)[nodes].ravel().astype(np.int64)
    raise InputError("codes: found cells that are not there, or too deep")


def _check_leaves(words: NDArray[np.float64], units: NDArray[np.int64], faces: int) -> None:
    """Records of leaves must be within the array, and their triangles in the mesh."""
    if not len(units):
        return
    room = len(words) // 4  # units of 32 bytes
    if len(words) % 4 or units.min() < 0 or units.max() + HEADER_UNITS > room:
        raise InputError("words: found records outside the array")
    ints = words.view(np.int32)
    units = np.unique(units)
    blocks = ints[8 * units + 9].astype(np.int64)
    if blocks.min() < 0 or (units + HEADER_UNITS + BLOCK_UNITS * blocks > room).any() or blocks.sum() > room:
        raise InputError("words: found records outside the array")
    starts = 8 * (np.repeat(units + HEADER_UNITS, blocks) + BLOCK_UNITS * _counted(blocks)) + 10 * LANES
    triangles = ints[starts[:, None] + np.arange(LANES)].astype(np.int64)
    triangles = np.where(triangles < 0, ~triangles, triangles)[triangles != EMPTY_LANE]
    if len(triangles) and triangles.max() >= faces:
        raise InputError(f"words: found triangle {triangles.max()}, expected numbers below {faces}")


def _counted(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, … for each length."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1])) - np.repeat(ends - lengths, lengths)
