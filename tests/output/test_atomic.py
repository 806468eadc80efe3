"""Files that appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from impinge.output.atomic import replacing
from tests.output.disks import full_after


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("durable", [False, True])
def test_replaces_at_the_end(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with replacing(path, durable=durable) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failed_block_changes_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def fail() -> None:
        with replacing(path) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.txt"]


def test_what_a_killed_program_left_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / ".a.txt.part").write_bytes(b"half a file, longer than the new one")
    with replacing(tmp_path / "a.txt") as file:
        file.write(b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    assert names(tmp_path) == ["a.txt"]


def test_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with full_after(1000), pytest.raises(OSError, match="large"), replacing(path) as file:
        file.write(bytes(100_000))
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.txt"]


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "no" / "a.txt"):
        pass
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError), replacing(tmp_path / "file" / "a.txt"):
        pass
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError), replacing(tmp_path / "folder"):
        pass
    assert names(tmp_path) == ["file", "folder"]
