"""What benchmarks.particles is made of."""
