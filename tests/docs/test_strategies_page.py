"""The page of strategies names exactly the strategies of the ladders, and the aids."""

from __future__ import annotations

import re
from pathlib import Path

from bench.ablation import PARTS
from bench.bars import BARS
from lftj.maintenance.ladder import LADDERS, NAMES
from lftj.tuning.aids import AIDS

PAGE = Path(__file__).parents[2] / "docs" / "strategies.md"
ENTRY = re.compile(r"^- `([^`]+)`: (.*?)\s+\*Carries\*:\s+(.*?)\.$", re.MULTILINE | re.DOTALL)


def _rows(heading: str) -> list[tuple[str, str, str]]:
    """Entries under headings of the page: the name, the text, the figures it carries."""
    parts = PAGE.read_text(encoding="utf-8").split("\n## ")
    return [row for part in parts if re.match(heading, part) for row in ENTRY.findall(part)]


def test_the_page_names_exactly_the_strategies_and_the_aids():
    names = [name for name, _, _ in _rows("Relations|Bodies|Recursive|Rows")]
    assert sorted(names) == sorted(NAMES)
    assert [name for name, _, _ in _rows("Aids")] == list(AIDS)


def test_the_page_marks_what_is_needed():
    marked = {
        name for name, _, last in _rows("Relations|Bodies|Recursive|Rows") if last == "needed"
    }
    needed = [each for ladder in LADDERS for each in ladder if each.needed]
    others = {each.name for ladder in LADDERS for each in ladder if not each.needed}
    assert marked == {each.name for each in needed} - others


def test_the_page_names_figures_that_there_are():
    figures = {figure for bars in BARS.values() for figure in bars}
    known = figures | {part.removeprefix("bench.") for part in PARTS}
    for _, _, last in _rows("Relations|Bodies|Recursive|Rows|Aids"):
        assert set(re.findall(r"`([^`]+)`", last)) <= known
