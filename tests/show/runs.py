"""Runs that the tests of this room share: folders as `impinge run` leaves them, made once."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from impinge.run.loop import run_scene
from impinge.run.scene import read_scene

from ..run.scenes import BODIES, FULL, SMALL, write
from ..run.softscenes import SOFT_FULL

_TEXTS = {
    "spheres": "# Beads rain\n# into a box.\n#\n# More.\n" + FULL.replace("until = 0.06", "until = 0.04"),
    "discs": SMALL,
    "bodies": BODIES.replace("frames = 0.01", "frames = 0.004").replace(
        "translate = [0.1, 0.1, 0.15]", "translate = [0.1, 0.1, 0.15]\nvelocity = [0, 0, 1]"
    ),
    "soft": SOFT_FULL.replace("frames = 0.04", "frames = 0.02"),
}
_KEPT = TemporaryDirectory(prefix="impinge-shown-")


@cache
def folder_of(name: str) -> Path:
    """A finished run; whoever changes something takes a copy."""
    place = Path(_KEPT.name) / name
    place.mkdir()
    run_scene(read_scene(write(place, _TEXTS[name])), place / "out")
    return place / "out"


def content_of(page: Path) -> dict[str, Any]:
    """What a page shows besides the scene."""
    found = re.search(
        r'<script type="application/json" id="content">(.*?)</script>', page.read_text("utf-8"), re.DOTALL
    )
    assert found
    content: dict[str, Any] = json.loads(found.group(1))
    return content
