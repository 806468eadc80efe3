"""Rigid bodies of any shape: what is prepared once for every shape, contacts, and motion."""
