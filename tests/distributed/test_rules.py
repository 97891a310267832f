"""Rules that come and go: views are derived anew, from the rows that parts hold already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lftj
from tests.distributed.inline import InlineExecutor

EDGES = [(n % 7, n % 5 + n % 3) for n in range(60)]
TWO = ".decl two(x: number, z: number)\ntwo(x, z) :- e(x, y), e(y, z)."
BACK = ".decl back(y: number, n: number)\nback(y, count()) :- e(x, y)."


def loaded(workspace: Any, rows: list[tuple[int, int]]) -> Any:
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", rows)
    return workspace


def views(workspace: Any) -> list[list[tuple[Any, ...]]]:
    return [sorted(workspace[name].fetchall()) for name in ("two", "back")]


def expected(rows: list[tuple[int, int]]) -> list[list[tuple[Any, ...]]]:
    workspace = loaded(lftj.connect(), rows)
    workspace.add_rules(TWO + BACK)
    return views(workspace)


def test_rows_that_parts_hold_are_not_read_again(tmp_path: Path) -> None:
    many = loaded(lftj.connect(executor=InlineExecutor(tmp_path)), EDGES)
    count = len(set(EDGES))
    many.add_rules(TWO)
    assert (
        many.profile(last=1)["read"].iloc[0] == count
    )  # whole, once for all parts; the slices are there
    rule = many.add_rules(BACK)[0]
    assert many.profile(last=1)["read"].iloc[0] == count  # by the other column
    many.remove_rule(rule)
    assert many.profile(last=1)["read"].iloc[0] == 0
    many.add_rules(BACK)
    assert views(many) == expected(EDGES)


@pytest.mark.parametrize("workers", [1, 2])
def test_rules_that_come_again_derive_from_the_rows_of_now(workers: int, tmp_path: Path) -> None:
    many = loaded(lftj.connect(executor=InlineExecutor(tmp_path, 3, workers)), EDGES)
    rules, now = many.add_rules(TWO + BACK), set(EDGES)
    for number in range(3):
        for rule in rules:
            many.remove_rule(rule)
        gone, came = sorted(now)[:2], [(100 + number, 2), (3, 100 + number)]
        now = (now - set(gone)) | set(came)
        with many.transaction() as tx:
            tx.delete("e", gone)
            tx.insert("e", came)
        rules = many.add_rules("two(x, z) :- e(x, y), e(y, z). back(y, count()) :- e(x, y).")
        assert views(many) == expected(sorted(now))
        assert many.verify() == []


def test_a_commit_that_failed_is_in_no_rows_that_rules_begin_with(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path)
    many = loaded(lftj.connect(executor=executor), EDGES)
    many.add_rules(TWO)

    def fail(payload: Any) -> None:
        if payload.part == 2:
            raise RuntimeError("a fault")

    executor.before = fail
    with pytest.raises(RuntimeError, match="a fault"):
        many.load("e", [(n, n + 1) for n in range(20)])  # the other parts have taken it
    executor.before = lambda payload: None
    many.add_rules(BACK)
    assert views(many) == expected(EDGES)
    many.load("e", [(50, 51), (51, 50)])
    assert views(many) == expected([*EDGES, (50, 51), (51, 50)])


def test_an_aggregated_relation_is_only_refused_rows_that_are_there_in_the_end(
    tmp_path: Path,
) -> None:
    for workspace in (lftj.connect(), lftj.connect(executor=InlineExecutor(tmp_path, 3))):
        workspace: Any
        workspace.relation("e", {"x": int, "y": int})
        workspace.relation("n", {"x": int, "k": int})
        workspace.load("n", [(1, 5)])
        workspace.load("e", [(1, 2)])
        with pytest.raises(lftj.DeclarationError) as caught:
            workspace.add_rule("n(x, count()) :- e(x, _).")
        assert caught.value.code == "E163"
        with workspace.transaction() as tx:
            tx.delete("n", [(1, 5)])
            tx.add_rule("n(x, count()) :- e(x, _).")
        assert workspace["n"].fetchall() == [(1, 1)]
        with workspace.transaction() as tx:
            tx.delete("n", [(3, 3)])  # which is not there
            tx.insert("n", [(4, 4)])
            tx.delete("n", [(4, 4)])
        assert workspace.load("n", []) == 0
        tx = workspace.transaction()
        tx.insert("n", [(4, 4)])
        tx.insert("e", [(2, 2)])
        with pytest.raises(lftj.DeclarationError) as caught:
            tx.commit()
        assert caught.value.code == "E163"
        assert (workspace["n"].fetchall(), workspace["e"].fetchall()) == ([(1, 1)], [(1, 2)])
