"""State and motion of bodies: particles, rigid polyhedra, cables and cloth."""
