"""Fixtures for the tests of recursive strata."""

from __future__ import annotations

import pytest

import lftj.views.switchable  # noqa: F401 - lists all names, before a fixture takes some out
from lftj.maintenance import ladder


@pytest.fixture
def unsearched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closures are found and followed as other strata are: what is tested are the strategies for
    these.
    """
    for name, ours in ("ROWS", "reachability"), ("CLOSURES", "walks"):
        left = [each for each in getattr(ladder, name) if each.name != ours]
        monkeypatch.setattr(ladder, name, left)
