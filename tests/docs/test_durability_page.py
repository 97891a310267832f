"""The page about durable workspaces names tests that there are, one at least for each promise."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "durability.md"
_TEST = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


def promises() -> list[str]:
    """The list of promises, each as one line."""
    section = PAGE.read_text(encoding="utf-8").split("## What is tested")[1]
    items = re.split(r"^- ", section, flags=re.MULTILINE)[1:]
    return [" ".join(item.split("\n\n")[0].split()) for item in items]


def test_each_promise_has_a_test() -> None:
    found = promises()
    assert len(found) > 15
    assert [promise for promise in found if not _TEST.search(promise)] == []


def test_each_test_that_is_named_is_there() -> None:
    named = [match for promise in promises() for match in _TEST.findall(promise)]
    missing: list[str] = []
    for file, name in named:
        path = ROOT / file if "/" in file else ROOT / "tests" / "durable" / file
        if not path.is_file() or f"def {name}(" not in path.read_text(encoding="utf-8"):
            missing.append(f"{file}::{name}")
    assert missing == []
