"""Other programs: where they are, and running them with a limit of time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path


def find(*names: str) -> str:
    """Path of the first of these programs that is installed, beside this Python or on the search path."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    for name in names:
        found = shutil.which(name, path=places)
        if found:
            return found
    raise FileNotFoundError(f"{names[0]} is not installed")


def run(command: list[str], folder: Path, seconds: float, threads: int = 1) -> str:
    """What the program printed; an error with its last words if it failed, or took more than the seconds given."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # so that what it starts ends with it
    ) as process:
        try:
            text, _ = process.communicate(timeout=seconds)
        except BaseException as reason:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(reason, subprocess.TimeoutExpired):
                raise TimeoutError(f"more than {seconds:.0f} s") from None
            raise
    if process.returncode:
        words = [line for line in text.splitlines() if line.strip()]
        error = next((line for line in words if "ERROR" in line), words[-1] if words else "")
        raise RuntimeError(f"status {process.returncode}: {error}")
    return text
