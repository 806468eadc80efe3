"""When do moving vertices, edges and triangles first touch."""

from impinge.ccd.candidates import Candidates, candidates
from impinge.ccd.contacts import Contact, Contacts, contacts, first_contact, is_free, touching
from impinge.ccd.intersections import Intersections, self_intersections
from impinge.ccd.judge import exact_is_free
from impinge.ccd.moving import edges_of
from impinge.ccd.queries import edge_edge, point_segment, vertex_triangle

__all__ = [
    "Candidates", "Contact", "Contacts", "Intersections", "candidates", "contacts", "edge_edge", "edges_of",
    "exact_is_free", "first_contact", "is_free", "point_segment", "self_intersections", "touching", "vertex_triangle",
]  # fmt: skip
