# SPDX-License-Identifier: Apache-2.0
"""Branches that both gave one column another default: a merge is refused, and the way that the
error names works.
"""

from __future__ import annotations

import pytest

import lftj


def test_rows_are_brought_over_where_both_branches_altered_the_same() -> None:
    """Earlier the error said to make the same change and to merge again, which was refused too."""
    ws = lftj.connect()
    ws.relation("a", {"x": int})
    ws.relation("c", {"y": int})
    ws.load("c", [(1,)])
    branch = ws.branch("b")
    ws.alter("a", add={"w": int}, default={"w": 0})
    ws.alter("c", add={"z": int}, default={"z": 4})
    branch.alter("c", add={"z": int}, default={"z": 5})
    with branch.transaction() as tx:
        tx.insert("c", [(2, 7)])
    with pytest.raises(lftj.MergeConflictError, match=r"tx\.sync\(relation, ws\.branch"):
        ws.merge("b")
    with ws.transaction() as tx:
        tx.alter("c", drop="z", add={"z": int}, default={"z": 5})
        tx.sync("c", ws.branch("b")["c"])
    assert sorted(ws["c"].fetchall()) == [(1, 5), (2, 7)]
