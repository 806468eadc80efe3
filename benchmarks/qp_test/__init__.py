"""The parts of ``python -m benchmarks.qp``."""
