from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.code_lines import Size, counted, size_of

TEXT = '''"""A module."""

import os
from typing import (
    Any,
)

# A comment.
LIMIT = 3
"""A bound."""
_HIDDEN = """one
two"""
"""Of a hidden name."""


class Box:
    """A box."""

    side: int
    """Its length."""

    def open(self) -> None:
        """Open it."""

    def _shut(self) -> Any:
        """Not counted."""
        return os.sep  # counted once


def bare() -> int:
    return (
        1
    )
'''


def test_blank_lines_comments_docstrings_and_imports_do_not_count() -> None:
    # LIMIT, _HIDDEN (2), class, side, open, _shut (2), bare (4)
    assert size_of(TEXT) == Size(files=1, lines=12, docstrings=5)


def test_all_rooms_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sizes.json"
    assert main(["code_lines", "--under", "lftj/join", "--json", str(file)]) == 0
    sizes = json.loads(file.read_text())
    assert set(sizes) >= {"lftj/join", "lftj/join/run", "lftj/join/kernels"}
    by_file = counted("lftj/join", by_file=True)
    assert sum(each.lines for each in by_file.values()) == sum(s["lines"] for s in sizes.values())
    assert all(each.files == 1 for each in by_file.values())
    assert "code lines" in capsys.readouterr().out
