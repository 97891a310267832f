"""The page of thresholds lists all of them as they are."""

from __future__ import annotations

from dataclasses import fields

from lftj.tuning import Tuning
from tests.docs.tuning_page import PAGE, page


def test_the_page_has_every_threshold_with_its_default_and_its_trade():
    found = PAGE.read_text(encoding="utf-8")
    thresholds = [field.name for field in fields(Tuning) if field.name != "without"]
    assert [name for name in thresholds if f"- `{name}` =" not in found] == []
    assert found == page(), "python -m tests.docs.tuning_page writes the tables"
