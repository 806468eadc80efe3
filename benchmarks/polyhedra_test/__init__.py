"""The parts of ``python -m benchmarks.polyhedra``."""
