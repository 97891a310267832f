"""Refusals by name of a workspace in parts: calls after its end, an end inside a transaction, and
unsupported features; and snapshots.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import lftj
from lftj.functions.aggregates import AGGREGATES, listed
from tests.distributed.inline import InlineExecutor

RULES = """
.decl e(x: number, y: number)
.decl n(x: number, n: number)
n(x, count()) :- e(x, _).
"""


def test_a_closed_workspace_says_so(tmp_path: Path) -> None:
    with lftj.connect(executor=InlineExecutor(tmp_path)) as workspace:
        workspace.relation("p", {"x": int})
    workspace.close()
    with pytest.raises(lftj.LftjError, match="the workspace is closed") as caught:
        workspace["p"]
    assert (caught.value.code, caught.value.hint) == (
        "E341",
        "open another one with lftj.connect(executor=…)",
    )


def test_a_workspace_is_not_closed_inside_a_transaction(tmp_path: Path) -> None:
    with lftj.connect(executor=InlineExecutor(tmp_path)) as workspace:
        workspace.relation("p", {"x": int})
        with workspace.transaction() as tx:
            tx.insert("p", [(1,)])
            with pytest.raises(lftj.LftjError, match="a transaction is open") as caught:
                workspace.close()
        assert (caught.value.code, caught.value.hint) == (
            "E342",
            "commit or roll it back, then close",
        )
        assert workspace["p"].fetchall() == [(1,)]


def test_what_cannot_be_done_yet_is_named_with_what_to_do_instead(tmp_path: Path) -> None:
    with lftj.connect(executor=InlineExecutor(tmp_path)) as workspace:
        with pytest.raises(
            lftj.DistributedError, match="cannot do this yet: add_aggregate"
        ) as caught:
            workspace.add_aggregate(lftj.UserAggregate("times", 1, int, max))
        assert (caught.value.code, caught.value.hint) == (
            "E400",
            f"write the aggregate with {listed(AGGREGATES, 'or')}",
        )
        with (
            workspace.transaction() as tx,
            pytest.raises(lftj.DistributedError, match="cannot do this yet: add_aggregate"),
        ):
            tx.add_aggregate(lftj.UserAggregate("times", 1, int, max))
        with pytest.raises(AttributeError, match="no attribute"):
            workspace.add_aggregates  # noqa: B018


def test_a_snapshot_has_the_rules_of_its_version_and_is_verified(tmp_path: Path) -> None:
    with lftj.connect(executor=InlineExecutor(tmp_path)) as workspace:
        (rule,) = workspace.add_rules(RULES)
        workspace.load("e", [(1, 2), (1, 3)])
        before = workspace.snapshot()
        workspace.remove_rule(rule)
        workspace.load("e", [(2, 3)])
        assert ([str(each.rule) for each in before.rules], workspace.snapshot().rules) == (
            [str(rule.rule)],
            [],
        )
        assert repr(before) == f"<Snapshot of version {before.version}, 2 relations>"
        assert before["n"].fetchall() == [(1, 2)]
        assert before.verify() == []
        workspace.compact()
        assert before.verify() == []  # its files stay as long as it is held
        assert workspace.snapshot().verify() == []
    with lftj.connect(executor=InlineExecutor(tmp_path)) as workspace:
        workspace.load("e", [(5, 6)])
        workspace.compact()
        with pytest.raises(lftj.DistributedError, match="is missing") as caught:
            before.verify()
        assert caught.value.code == "E403"


def test_parts_do_not_begin_where_a_workspace_of_one_process_is(tmp_path: Path) -> None:
    with lftj.connect(tmp_path) as workspace:
        workspace.add_rules(RULES)
        workspace.load("e", [(1, 2)])
    files = {file.name for file in tmp_path.iterdir()}
    with pytest.raises(lftj.DistributedError, match="a workspace of one process") as caught:
        lftj.connect(executor=InlineExecutor(tmp_path))
    assert caught.value.code == "E403"
    assert {file.name for file in tmp_path.iterdir()} == files
    with lftj.connect(tmp_path) as again:
        assert again["e"].fetchall() == [(1, 2)]


def test_a_transaction_counts_the_work_of_all_parts(tmp_path: Path) -> None:
    with lftj.connect(executor=InlineExecutor(tmp_path)) as workspace:
        workspace.add_rules(RULES)
        with workspace.transaction() as tx:
            tx.insert("e", [(1, 2), (2, 3)])
            assert tx.work == 0
        assert tx.work == workspace.profile().steps.iloc[-1] > 0
