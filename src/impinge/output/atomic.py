"""Files that appear at once and whole, so that a killed program or a full disk leaves no half file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from impinge.errors import InputError

__all__ = ["check_target", "replacing"]


def check_target(path: str | os.PathLike[str], endings: Iterable[str]) -> str:
    """The ending of a file to be written; an error if it is another one, or the folder does not exist."""
    found = os.fspath(path)
    ending = Path(found).suffix.lower()
    if ending not in endings:
        raise InputError(f"path: found {found!r}, expected an ending of {' or '.join(endings)}")
    if not Path(found).absolute().parent.is_dir():
        raise InputError(f"path: found {found!r}, whose folder does not exist, expected one that does")
    return ending


@contextmanager
def replacing(path: str | os.PathLike[str], *, durable: bool = False) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` when the block ends, and vanishes if it fails.

    The temporary name is always the same, ``.NAME.part`` in the same folder: what a killed program leaves behind
    is overwritten when the same file is written again. A `durable` file survives a crash of the whole machine too.
    """
    target = Path(path)
    partial = target.with_name(f".{target.name}.part")
    try:
        partial.unlink(missing_ok=True)  # if it is a link, its target stays as it is
        with partial.open("xb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(partial, target)
        if durable:
            _keep_name(target.parent)
    except BaseException:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def _keep_name(folder: Path) -> None:
    """Bring the new name in the folder to the disk, where the system lets folders be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
