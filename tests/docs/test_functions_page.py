"""The page of built-in functions is what their records say."""

from __future__ import annotations

from tests.docs.functions_page import PAGE, page


def test_the_page_has_every_function_as_its_record_has_it():
    found = PAGE.read_text(encoding="utf-8")
    assert found == page(), "python -m tests.docs.functions_page writes the page"
