"""The parts of ``python -m benchmarks.inside``."""
