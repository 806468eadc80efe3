"""The papers' figures and tables, measured anew: behind ``impinge reproduce``."""
