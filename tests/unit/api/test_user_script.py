"""The public surface as a user's program has it: under the strictest checks of types, and run."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import lftj
from tests.type_checking import diagnostics

SCRIPT = Path(__file__).with_name("user_script.py")


def test_it_calls_every_public_name() -> None:
    words = set(re.findall(r"\w+", SCRIPT.read_text(encoding="utf-8")))
    assert [name for name in lftj.__all__ if name not in words] == []


def test_it_calls_most_methods_of_a_workspace_and_a_result() -> None:
    words = set(re.findall(r"\.(\w+)", SCRIPT.read_text(encoding="utf-8")))
    assert len(words & set(dir(lftj.Workspace))) > 25
    assert len(words & set(dir(lftj.Result))) > 11


def test_the_strictest_checker_finds_nothing(tmp_path: Path) -> None:
    found = diagnostics(SCRIPT.read_text(encoding="utf-8"), tmp_path)
    assert [(each["range"]["start"]["line"] + 1, each["message"]) for each in found] == []


def test_it_runs() -> None:
    left = runpy.run_path(str(SCRIPT))
    assert sorted(left["rows"]) == [(2, 3), (2, 4), (2, 5), (3, 4), (3, 5), (4, 5)]
    assert sorted(left["starts"]) == [2, 2, 2, 3, 3, 4]
    assert left["wrong"] == []
    assert left["difference"] is None
