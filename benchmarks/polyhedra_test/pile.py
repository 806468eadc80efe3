"""Part "pile": many bodies on their way down, and as a pile, with the time of every phase of the steps.

The pile is copies, side by side, of a smaller one, whose bodies have been thrown into their box.
"""

from __future__ import annotations

from typing import Any

from benchmarks.polyhedra_test import ours, scenes
from benchmarks.polyhedra_test.judges import judge
from benchmarks.polyhedra_test.scenes import Bodies, Sizes
from benchmarks.report import progress


def settled(bodies: Bodies, sizes: Sizes, threads: int, name: str) -> Bodies:
    """Where bodies are when the time of the scene is over."""
    world = ours.world_of(bodies, threads)
    steps, parts = round(sizes.duration / world.dt), 10
    for part in range(parts):
        world.step(steps * (part + 1) // parts - steps * part // parts)
        progress(f"{name}: {len(bodies)} bodies, {world.time:.3f} s simulated")
    return ours.bodies_in(world, bodies)


def _row(name: str, bodies: Bodies, steps: int, threads: int) -> dict[str, Any]:
    """Some steps from that state, timed."""
    progress(f"pile: {len(bodies)} bodies, {name}")
    world = ours.world_of(bodies, threads)
    world.step(2)  # the first lists, checks of the start
    lists = world._dynamics.rigid.lists
    before = lists.rebuilds
    phases = ours.timed_steps(world, steps)
    seconds = sum(phases.values())
    progress(f"pile: {len(bodies)} bodies, {name}: {steps / seconds:.3g} steps/s")
    now = ours.bodies_in(world, bodies)
    return {
        "state": name,
        "bodies": len(bodies),
        "faces": sum(len(bodies.kinds[kind].mesh.faces) for kind in bodies.of) / len(bodies),
        "dt": float(world.dt),
        "steps": steps,
        "seconds": seconds,
        "phases": phases,
        "rebuilds": lists.rebuilds - before,
        "kinetic": float(world.energy().kinetic),
        **ours.describe_contacts(world),
        "judged": judge(now, now.positions, now.rotations),
    }


def measure(part: Bodies, sizes: Sizes, threads: int) -> list[dict[str, Any]]:
    """A row for the fall and one for the pile."""
    piled = scenes.side_by_side(part, *sizes.copies[-1])
    return [
        _row("falling", scenes.thrown(len(piled), sizes.faces), sizes.fall_steps, threads),
        _row("in the pile", piled, sizes.pile_steps, threads),
    ]
