"""`lftj demo --keep PATH` leaves its workspace, with its past."""

from __future__ import annotations

import datetime
import io
from pathlib import Path

import pytest
from rich.console import Console

import lftj
from lftj.demo import feed, show
from lftj.demo.desk import Commit, Desk
from lftj.explain.present import checking


class ShortDesk(Desk):
    """A desk that loads two days before the first that it commits."""

    def load(self, last: datetime.date, first: datetime.date | None = None) -> Commit:
        """Load them."""
        return super().load(last, last - feed.ONE_DAY)


def test_the_workspace_is_kept_with_its_past(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # proofs of the page are checked as for users; `test_demo` checks all of each
    monkeypatch.setattr(checking, "STEPS", 1_000)
    path, out = tmp_path / "flights.lftj", io.StringIO()
    desk = ShortDesk(show.begun(path))
    show.run(Console(file=out, width=200), tmp_path, 2, desk, keep=path)
    assert f"lftj shell {path}" in out.getvalue()
    with lftj.connect(path, read_only=True) as workspace:
        assert workspace.version == 3
        assert 0 < len(workspace.at(1)["flight"]) < len(workspace["flight"])
        assert workspace.verify() == []
    with pytest.raises(lftj.DurableError, match="already") as caught:
        show.begun(path)
    assert caught.value.code == "E351"
