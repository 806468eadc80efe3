"""Runs the examples, draws them, and writes docs/gallery.md: `make gallery`.

    python docs/extra/gallery.py [NAME …]

With names only those are run; the others stay as they are. Pictures go to docs/img/gallery, and what is known of each
run to gallery.json there, from which the page is written.
"""

from __future__ import annotations

import ast
import json
import os
import re
import resource
import subprocess
import sys
import time
from itertools import takewhile
from pathlib import Path
from typing import Any

from PIL import Image

from impinge.facts import counted

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES, PAGE = ROOT / "examples", ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "img" / "gallery"
FACTS = PICTURES / "gallery.json"
OUT = ROOT / "out" / "gallery"
WIDTH, MOST = 800, 150_000  # pixels; bytes of a picture
PROGRAMS = {"inside_demo.py": "out/inside.png", "ccd_cloth.py": "out/ccd-cloth.png"}  # and what they draw
GROUPS = {
    "demo": "The demonstration",
    "polyhedra": "Bodies of any shape",
    "soft": "Cables and cloth",
    "particles": "Spheres and discs",
    "paper": "Cases of the second paper",
    "program": "Programs",
}


def names() -> list[str]:
    """All examples: scenes without their ending, programs with it."""
    return sorted(path.stem for path in EXAMPLES.glob("*.toml")) + sorted(path.name for path in EXAMPLES.glob("*.py"))


def description(name: str) -> str:
    """What an example shows, from the comment at the head of a scene or from the docstring of a program."""
    if name in PROGRAMS:
        text = ast.get_docstring(ast.parse((EXAMPLES / name).read_text(encoding="utf-8"))) or ""
    else:
        lines = (EXAMPLES / f"{name}.toml").read_text(encoding="utf-8").splitlines()
        head = takewhile(lambda line: line.startswith("#"), lines)
        text = "\n".join(line[1:].removeprefix(" ") if not line.startswith("#   ") else "" for line in head)
    text = re.sub(r"(It takes|All numbers in|SI units:)\s[^.]*\.\s*", "", text)  # the page says how long it took
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n") if part.strip())


def command(name: str) -> str:
    """What to type."""
    return f"python examples/{name}" if name in PROGRAMS else f"impinge run examples/{name}.toml"


def start(words: list[str]) -> None:
    """Run Python with some arguments, in the folder of the project."""
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def run(name: str) -> dict[str, Any]:
    """Run an example, keep its picture, and return what the page says of it."""
    if name in PROGRAMS:
        words, picture = [f"examples/{name}"], ROOT / PROGRAMS[name]
    else:
        folder = OUT / name
        words = ["-m", "impinge", "run", f"examples/{name}.toml", "--out", str(folder), "--overwrite", "--quiet"]
        picture = folder / "picture.png"
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    start(words)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - clock
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    shrink(picture, PICTURES / f"{Path(name).stem}.jpg")
    return facts(name) | {"seconds": round(seconds, 1), "processor": round(spent, 1), "cores": os.cpu_count()}


def facts(name: str) -> dict[str, Any]:
    """Kind and size, from the summary of a run."""
    if name in PROGRAMS:
        return {"kind": "program"}
    from impinge.run.scene import read_scene

    summary = json.loads((OUT / name / "summary.json").read_text(encoding="utf-8"))
    kind = read_scene(EXAMPLES / f"{name}.toml").model.kind
    size = {key: summary[key] for key in ("spheres", "polyhedra", "nodes", "steps", "time") if key in summary}
    first = name.partition("-")[0]
    return {"kind": first if first in GROUPS else kind, **size}


def shrink(source: Path, target: Path) -> None:
    """A small copy of a picture, on white, without the white around it."""
    picture = Image.open(source).convert("RGBA")
    flat = Image.new("RGB", picture.size, "white")
    flat.paste(picture, mask=picture.getchannel("A"))
    flat.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
    target.parent.mkdir(parents=True, exist_ok=True)
    for quality in range(90, 20, -10):
        flat.save(target, quality=quality, optimize=True, progressive=True)
        if target.stat().st_size <= MOST:
            return


def size_of(known: dict[str, Any]) -> str:
    """What there is, and for how long, in words."""
    one = {"spheres": "sphere", "polyhedra": "polyhedron", "nodes": "node"}
    parts = [counted(known[key], one[key], key) for key in one if known.get(key)]
    if "time" in known:
        parts.append(f"{known['time']:.3g} s in {known['steps']:,} steps")
    return ", ".join(parts)


def page(known: dict[str, dict[str, Any]]) -> str:
    """The gallery, in Markdown."""
    lines = [
        "# Gallery",
        "Every example, run at its full size and drawn by `make gallery`, which writes this page too. Pictures of runs "
        "show their ends. Seconds are those of the processor, all cores together, to load compiled code and to write "
        "files included; other work on the machine does not count.",
    ]
    for kind, title in GROUPS.items():
        here = [name for name in names() if name in known and known[name]["kind"] == kind]
        lines += [f"## {title}"] if here else []
        for name in here:
            facts = ", ".join(
                filter(None, [size_of(known[name]), f"{known[name]['processor']:,.0f} s of the processor"])
            )
            stem = Path(name).stem
            lines += [
                f"### {stem}",
                description(name),
                f"![{stem}](img/gallery/{stem}.jpg)",
                f"[`{command(name)}`](../examples/{name if name in PROGRAMS else f'{name}.toml'}): {facts}.",
            ]
    return "\n\n".join(lines) + "\n"


def main(chosen: list[str]) -> None:
    """Run examples and write the page."""
    unknown = set(chosen) - set(names())
    if unknown:
        raise SystemExit(f"found {', '.join(sorted(unknown))}, expected some of: {', '.join(names())}")
    known = json.loads(FACTS.read_text(encoding="utf-8")) if FACTS.exists() else {}
    for number, name in enumerate(chosen or names(), 1):
        print(f"{number} of {len(chosen or names())}: {name}", end=" ", flush=True)
        known[name] = run(name)
        print(f"{known[name]['seconds']:.0f} s", flush=True)
        known = {name: known[name] for name in names() if name in known}
        FACTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(known), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
