"""The page of strategies names exactly the strategies of the ladders, and the aids."""

from __future__ import annotations

import re
from pathlib import Path

from bench.ablation import GATES as REGISTERED
from lftj.tuning.aids import AIDS
from lftj.views.switchable import GATES, NAMES, OPTIONAL

PAGE = Path(__file__).parents[2] / "docs" / "strategies.md"
SECTIONS = "Relations|Bodies|Assignments|Recursive|Rows"
"""The beginnings of the headings over each ladder."""
ENTRY = re.compile(r"^- `([^`]+)`: (.*?)\s+\*Carries\*:\s+(.*?)\.$", re.MULTILINE | re.DOTALL)


def _rows(heading: str) -> list[tuple[str, str, str]]:
    """Entries under headings of the page: the name, the text, the figures it carries."""
    parts = PAGE.read_text(encoding="utf-8").split("\n## ")
    return [row for part in parts if re.match(heading, part) for row in ENTRY.findall(part)]


def test_the_page_names_exactly_the_strategies_and_the_aids():
    names = [name for name, _, _ in _rows(SECTIONS)]
    assert sorted(names) == sorted(NAMES)
    assert [name for name, _, _ in _rows("Aids")] == list(AIDS)


def test_the_page_marks_what_is_needed():
    marked = {name for name, _, last in _rows(SECTIONS) if last == "needed"}
    assert marked == set(NAMES) - set(OPTIONAL)


def test_each_strategy_that_can_be_switched_off_has_a_registered_gate():
    assert set(GATES) == {*OPTIONAL, *AIDS}
    assert {gate for gate in GATES.values() if gate not in REGISTERED} == set()
    assert set(REGISTERED) == set(GATES.values()), "a gate that defends nothing"


def test_the_page_names_the_gate_of_each_and_what_it_loses():
    carried = {
        name: " ".join(last.split())
        for name, _, last in _rows(f"{SECTIONS}|Aids")
        if last != "needed"
    }
    assert {name: re.findall(r"`([^`]+)`", last) for name, last in carried.items()} == {
        name: [gate] for name, gate in GATES.items()
    }
    said = re.compile(r"\d×|needs it")
    assert [name for name, last in carried.items() if not said.search(last)] == []
