"""What others see of a run: its folder read back, for reports, pictures and notebooks."""
