"""The tables of the page that compares are those that were measured."""

from __future__ import annotations

from benchmarks import compared


def test_tables_are_those_of_the_results() -> None:
    """If not: python -m benchmarks.compared"""
    page = compared.PAGE.read_text(encoding="utf-8")
    assert compared.compared(page) == page
    assert page.count("<!-- ") > 15
    assert "MISSED" not in page
