"""The parts of ``python -m benchmarks.soft``."""
