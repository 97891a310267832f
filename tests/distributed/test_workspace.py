"""What a workspace in parts refuses by name: calls after its end, an end inside a transaction, and what it cannot do yet."""

from __future__ import annotations

from pathlib import Path

import pytest

import lftj
from tests.distributed.inline import InlineExecutor


def test_a_closed_workspace_says_so(tmp_path: Path) -> None:
    with lftj.connect(executor=InlineExecutor(tmp_path)) as workspace:
        workspace.relation("p", {"x": int})
    workspace.close()
    with pytest.raises(lftj.LftjError, match="the workspace is closed") as caught:
        workspace["p"]
    assert (caught.value.code, caught.value.hint) == ("E341", "open another one with lftj.connect(executor=…)")


def test_a_workspace_is_not_closed_inside_a_transaction(tmp_path: Path) -> None:
    with lftj.connect(executor=InlineExecutor(tmp_path)) as workspace:
        workspace.relation("p", {"x": int})
        with workspace.transaction() as tx:
            tx.insert("p", [(1,)])
            with pytest.raises(lftj.LftjError, match="a transaction is open") as caught:
                workspace.close()
        assert (caught.value.code, caught.value.hint) == ("E342", "commit or roll it back, then close")
        assert workspace["p"].fetchall() == [(1,)]


def test_what_cannot_be_done_yet_is_named_with_what_to_do_instead(tmp_path: Path) -> None:
    with lftj.connect(executor=InlineExecutor(tmp_path)) as workspace:
        with pytest.raises(lftj.DistributedError, match="cannot do this yet: add_aggregate") as caught:
            workspace.add_aggregate(lftj.UserAggregate("product", 1, int, max))
        assert (caught.value.code, caught.value.hint) == ("E400", "write the aggregate with count, sum, min, max, mean or concat")
        with pytest.raises(AttributeError, match="no attribute"):
            workspace.add_aggregates  # noqa: B018
