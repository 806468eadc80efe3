"""Bad files for every reader: few here, many under `make verify`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from . import harness, seeds

FEW = 12  # for each reader


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and measures memory as Linux does")
def test_bad_files_are_read_or_refused(tmp_path: Path) -> None:
    known = seeds.make(tmp_path / "seeds", harness.ALL)
    for tally in harness.run(harness.ALL, FEW, 0, known, tmp_path):
        assert not tally.defects, {why: kind for why, (kind, _, _) in tally.defects.items()}
        assert tally.files == tally.read + tally.refused == FEW
        assert tally.refused  # else nothing would have been tried
