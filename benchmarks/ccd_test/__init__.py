"""The parts of ``python -m benchmarks.ccd``."""
