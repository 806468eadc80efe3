"""Tests of impinge.exact."""
