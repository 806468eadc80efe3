"""What a bug report should say about an installation: what it is made of, whether it answers right, how fast it is."""

from impinge.doctor.report import Report, examine

__all__ = ["Report", "examine"]
