"""The parts of ``python -m benchmarks.neighbours``."""
