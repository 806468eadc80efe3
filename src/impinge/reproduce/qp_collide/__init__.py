"""The experiments of the paper that treats dynamics and contacts in one quadratic program [Raghupathi2006]."""

from impinge.reproduce.qp_collide.report import reproduce

__all__ = ["reproduce"]
