"""Benchmarks of impinge against other libraries, one module per question: ``python -m benchmarks.inside``."""
