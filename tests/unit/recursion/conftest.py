"""Fixtures for the tests of recursive strata."""

from __future__ import annotations

import pytest

from lftj.maintenance import ladder


@pytest.fixture
def unsearched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closures are followed as other strata are: what is tested are the strategies for these."""
    left = [each for each in ladder.STRATA if each.name != "reachability"]
    monkeypatch.setattr(ladder, "STRATA", left)
