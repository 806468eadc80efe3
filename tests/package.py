"""What users install: sdist and wheel are built, and the wheel is tried in an environment that has nothing else.

Run it as ``make test-package``; it takes packages from the index, and compiles in a cache of its own. Folders have
spaces and letters beyond ASCII in their names, as homes may have.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

IMPORTS = """
import impinge
for name in impinge.__all__:
    assert getattr(impinge, name) is not None, name
import impinge.output, impinge.run.loop, impinge.response.qp_paper, impinge.inside.pointfiles
"""
SNIPPET = """
import impinge, numpy as np
points = np.array([[0, 0, 0], [0.5, 0, 0], [1, 0, 0]])
assert impinge.Solid(impinge.shapes.box()).classify(points).tolist() == [1, 0, -1]
assert impinge.pairs([[0, 0, 0], [2, 0, 0], [5, 0, 0]], radii=1.0).tolist() == [[0, 1]]
"""
BOX = """ply
format ascii 1.0
element vertex 8
property double x
property double y
property double z
element face 12
property list uchar int vertex_indices
end_header
0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1
3 0 2 1\n3 0 3 2\n3 4 5 6\n3 4 6 7\n3 0 1 5\n3 0 5 4\n3 1 2 6\n3 1 6 5\n3 2 3 7\n3 2 7 6\n3 3 0 4\n3 3 4 7
"""


def build(folder: Path) -> Path:
    """Sdist from a copy of the sources, and the wheel from the sdist; both have all files, and no others."""
    source, out = folder / "source", folder / "dist"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    leave_out = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", source / "src", ignore=leave_out)
    wanted = {path.relative_to(source / "src").as_posix() for path in (source / "src").rglob("*") if path.is_file()}
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(out), str(source)], check=True, capture_output=True)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        packed = {name for name in file.namelist() if ".dist-info/" not in name}
    assert packed == wanted, f"wheel: {sorted(packed ^ wanted)}"
    with tarfile.open(sdist) as file:
        names = {name.partition("/src/")[2] for name in file.getnames()}
    assert wanted <= names, f"sdist: {sorted(wanted - names)}"
    print(f"built {sdist.name} and {wheel.name}, {len(wanted)} files", flush=True)
    return wheel


class Installed:
    """An environment with the wheel and what it needs, and nothing else."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.here = folder / "work"
        self.here.mkdir()
        place = folder / "environment"
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        self.bin = place / ("Scripts" if os.name == "nt" else "bin")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA_"))}
        self.environment = kept | {"NUMBA_CACHE_DIR": str(folder / "cache"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        self.run("python", "-m", "pip", "install", "--quiet", str(wheel))
        self.run("python", "-m", "pip", "check")

    def run(self, *command: str, code: int = 0, says: str = "") -> str:
        """Run a command, whose exit code and words are checked; returns its output."""
        clock = time.perf_counter()
        done = subprocess.run(
            [str(self.bin / command[0]), *command[1:]], capture_output=True, text=True, env=self.environment,
            cwd=self.here, encoding="utf-8",
        )  # fmt: skip
        words = done.stdout + done.stderr
        assert done.returncode == code, f"{command}: exit code {done.returncode}, expected {code}\n{words}"
        assert says in words, f"{command}: {says!r} is not in\n{words}"
        print(f"{time.perf_counter() - clock:6.1f} s  {' '.join(command).strip().splitlines()[0][:90]}", flush=True)
        return words


def try_commands(installed: Installed) -> None:
    """What the README begins with, on files as users have them, and what needs an extra says so in one line."""
    here = installed.here
    (here / "box.ply").write_text(BOX, encoding="utf-8")
    (here / "points.csv").write_text("0.5,0.5,0.5\n1,0.2,0.3\n2,0,0\n", encoding="utf-8")
    (here / "spheres.csv").write_text("0,0,0,1\n2,0,0,1\n5,0,0,1\n", encoding="utf-8")
    installed.run("impinge", "--version", says="impinge ")
    installed.run("impinge", "--help", says="inside")
    installed.run("python", "-W", "error", "-c", IMPORTS)
    installed.run("impinge", "inside", "box.ply", "points.csv", says="compiling, this once")
    rows = (here / "points-inside.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [row.rpartition(",")[2] for row in rows] == ["1", "0", "-1"], rows
    assert "compiling" not in installed.run("impinge", "inside", "box.ply", "points.csv")
    installed.run("impinge", "pairs", "spheres.csv", "-o", "pairs.csv")
    assert (here / "pairs.csv").read_text(encoding="utf-8").split()[-1] == "0,1"
    installed.run("python", "-W", "error", "-c", SNIPPET)
    installed.run("impinge", "new", "hopper")
    scene = (here / "hopper.toml").read_text(encoding="utf-8")
    assert "picture = false" in scene
    (here / "hopper.toml").write_text(scene.replace("picture = false", "picture = true"), encoding="utf-8")
    needed = "pip install '.[report]'"
    assert installed.run("impinge", "run", "hopper.toml", code=2, says=needed).count("\n") == 1
    assert installed.run("impinge", "report", ".", code=2, says=needed).count("\n") == 1
    assert installed.run("impinge", "reproduce", "particles", "--quick", code=2, says=needed).count("\n") == 1
    print(installed.run("impinge", "doctor", says="No problems found."))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="impinge päckage ") as folder:
        try_commands(Installed(Path(folder), build(Path(folder))))
    print("the package is fine")


if __name__ == "__main__":
    main()
