"""Tests of impinge.ccd."""
