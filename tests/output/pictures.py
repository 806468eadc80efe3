"""Pixels of pictures in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def read(path: Path) -> Any:
    """Red, green and blue, (rows, columns, 3)."""
    from matplotlib import image

    return image.imread(path)[:, :, :3]
