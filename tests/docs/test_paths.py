"""Files that documents name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMED = re.compile(r"\b((?:lftj|scantree|sensitivity|partition|tests|bench)/[\w/]+\.\w+)\b")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_are_there(page: Path) -> None:
    named = set(NAMED.findall(page.read_text(encoding="utf-8")))
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_maps_name_files() -> None:
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    steps = re.findall(
        r'\w+\["(.*?)"\]', "".join(re.findall(r"```mermaid\n(.*?)```", page, re.DOTALL))
    )
    assert len(steps) > 30
    assert [step for step in steps if not NAMED.search(step)] == []
