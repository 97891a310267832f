"""Pages for users say who does what, and do without words that leave a reader to guess."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import PAGES, ROOT

SOURCES = {"decisions", "tuning.md", "glossary.md"}
"""Records as they were written, a page made from docstrings, and the list of replaced words."""

GUESSED = re.compile(
    r"\b(nobody|alone|beside|loose|parted|news|stands?|(?:is|are|was|were|be) (?:asked|told))\b",
    re.IGNORECASE,
)
PROSE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)", re.DOTALL)
USERS = [page for page in PAGES if SOURCES.isdisjoint(page.relative_to(ROOT).parts)]


def guessed(text: str) -> list[str]:
    """Words of a page's prose that leave a reader to guess."""
    return [match[0] for match in GUESSED.finditer(PROSE.sub(" . ", text))]


@pytest.mark.parametrize("page", USERS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_uses_plain_words(page: Path) -> None:
    assert guessed(page.read_text("utf-8")) == []


def test_such_words_are_found() -> None:
    assert guessed("Nobody is asked; `alone` is code.") == ["Nobody", "is asked"]
