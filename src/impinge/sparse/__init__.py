"""Sparse positive definite systems: order of elimination, factors, and solving with them."""
