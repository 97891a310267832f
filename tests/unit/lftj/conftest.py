"""A folder with a program, for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lftj.programs import PATHS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder with a program `paths.dl` and its facts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paths.dl").write_text(PATHS)
    (tmp_path / "edge.facts").write_text("1\t2\n2\t3\n")
    return tmp_path
