"""Soft bodies: cables and cloth, and the energies of what they are made of."""
