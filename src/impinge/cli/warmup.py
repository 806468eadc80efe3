"""``impinge warmup``: compile everything."""

from __future__ import annotations

import os
import time

from impinge.cli.common import app, duration, progress, reported


@app.command()
def warmup() -> None:
    """Compile everything once, so that no later run has to wait for it."""
    with reported():
        started = time.perf_counter()
        with progress(after=0.0) as bar:
            task = bar.add_task("Loading", total=None)

            from impinge import _warmup
            from impinge._jit import cache_folder

            under_way: list[str] = []

            def begin(name: str) -> None:
                under_way.append(name)
                bar.update(task, description=f"Compiling {', '.join(under_way)}")

            def end(name: str) -> None:
                under_way.remove(name)
                bar.advance(task)

            bar.update(task, total=len(_warmup.steps()))
            _warmup.run(min(os.cpu_count() or 1, 2), begin, end)
        print(f"compiled in {duration(time.perf_counter() - started)} into {cache_folder()}")
