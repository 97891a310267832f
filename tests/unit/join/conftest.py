from __future__ import annotations

import pytest

from lftj.scantree import Tree


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees with at most four rows to a leaf and four children to an index page."""
    monkeypatch.setitem(Tree.empty.__func__.__kwdefaults__, "leaf_capacity", 4)  # type: ignore[attr-defined]
    monkeypatch.setitem(Tree.empty.__func__.__kwdefaults__, "fan", 4)  # type: ignore[attr-defined]
