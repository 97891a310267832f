"""The demo compiles its kernels beforehand where no library of them is to be had: once per machine,
and under a line of its own.
"""

from __future__ import annotations

import datetime
import io
from pathlib import Path

import pytest
from rich.console import Console

from lftj.demo import rehearsal, show
from lftj.demo.desk import Commit, Desk


class _Enough(Exception):
    """The demo begins to load: what it shows from then on is not looked at here."""


class _NoDays(Desk):
    """A desk that loads nothing."""

    def load(self, last: datetime.date, first: datetime.date | None = None) -> Commit:
        raise _Enough


def _shown(
    monkeypatch: pytest.MonkeyPatch, cache: Path, folder: Path, library: str | None = None
) -> str:
    monkeypatch.setattr(rehearsal, "cache_directory", lambda: cache)
    monkeypatch.setattr(rehearsal, "library", lambda: library)
    out = io.StringIO()
    with pytest.raises(_Enough):
        show.run(Console(file=out, width=160), folder, days=1, desk=_NoDays())
    return out.getvalue()


def test_only_the_first_run_on_a_machine_rehearses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = _shown(monkeypatch, tmp_path, tmp_path)
    assert "Compiled kernels, once per machine: " in first
    assert rehearsal.rehearsed()
    assert "Compiled" not in _shown(monkeypatch, tmp_path, tmp_path)


def test_a_cache_that_cannot_be_written_does_no_harm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "Compiled kernels" in _shown(monkeypatch, tmp_path / "missing", tmp_path)


def test_a_library_of_kernels_spares_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "Compiled" not in _shown(monkeypatch, tmp_path, tmp_path, library="kernels.so")


@pytest.mark.parametrize(
    ("seconds", "said", "times"),
    [
        ([0.5], "500 ms a commit.", 3),
        ([0.5, 0.02, 0.04], "30 ms a commit (500 ms the first, which also plans).", 50),
    ],
)
def test_the_first_commit_is_told_apart(seconds: list[float], said: str, times: int) -> None:
    line = show.maintained_line(seconds, 1.5, 0)
    assert line.startswith(f"Maintained: {said}")
    assert f", {times} times that; no view differs." in line
