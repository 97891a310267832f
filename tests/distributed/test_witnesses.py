"""A group in rounds keeps from whom it took its value: a deletion concerns who took theirs from
what is lost, and nobody else.
"""

from __future__ import annotations

import datetime
import random
import shutil
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed.files.manifest import Manifest
from lftj.distributed.partitioning.cuts import part_of
from lftj.types import INT
from tests.distributed.inline import InlineExecutor, in_supersteps

LABELS = """
    .decl l(x: number, k: number)
    l(x, min(x)) :- e(x, _).
    l(y, min(k)) :- l(x, k), e(x, y).
"""


def test_an_edge_of_a_component_that_is_nearly_all_concerns_who_was_reached_by_it(
    tmp_path: Path,
) -> None:
    draw, nodes = random.Random(3), 500
    pairs = {(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(2 * nodes)}
    executor = InlineExecutor(tmp_path, 4, 2)
    workspace: Any = lftj.connect(executor=executor)
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", sorted(pairs | {(y, x) for x, y in pairs}))
    workspace.add_rules(LABELS)
    whole = workspace.profile(last=1).iloc[0]
    gone = draw.sample(sorted(pairs), 12)
    for x, y in gone:
        with workspace.transaction() as tx:
            tx.delete("e", [(x, y), (y, x)])
    profile = workspace.profile(last=len(gone))
    assert profile["anew"].sum() == profile["given_up"].sum() == 0
    assert 0 < profile["overdeleted"].sum() < nodes / 3
    assert profile["steps"].median() < whole["steps"] / 100
    assert workspace.verify() == []


def test_what_is_there_twice_may_go_once(tmp_path: Path) -> None:
    """A component has its label from a node that has more than one edge, and nodes theirs by edges
    of several days.
    """
    workspace: Any = lftj.connect(executor=InlineExecutor(tmp_path, 3))
    workspace.relation("e", {"x": int, "y": int, "day": int})
    workspace.load("e", [(n, n + 1, day) for n in range(20) for day in (1, 2)] + [(0, 5, 1)])
    workspace.add_rules(LABELS.replace("e(x, y)", "e(x, y, _)").replace("e(x, _)", "e(x, _, _)"))
    with workspace.transaction() as tx:
        tx.delete("e", [(0, 1, 1), (7, 8, 2)])
    assert workspace.profile(last=1).iloc[0]["overdeleted"] == 0
    with workspace.transaction() as tx:
        tx.delete("e", [(7, 8, 1)])
        tx.insert("e", [(7, 8, 3)])
    assert workspace.profile(last=1).iloc[0]["overdeleted"] == 0
    with workspace.transaction() as tx:
        tx.delete("e", [(7, 8, 3)])
    assert workspace.profile(last=1).iloc[0]["overdeleted"] == 13
    assert set(workspace["l"]) == {(n, 0 if n < 8 else 8) for n in range(21)}
    assert workspace.verify() == []


@pytest.mark.parametrize("type", ["date", "float", "timestamp", "decimal(4,1)"])
def test_groups_of_any_type_hold_nothing_up_in_a_circle(tmp_path: Path, type: str) -> None:
    """Witnesses work for groups of each type. Without one, any equal offer would pass for a group's
    own.
    """
    nodes: list[Any] = {
        "date": [datetime.date(1970, 1, day) for day in (1, 2, 3)],
        "float": [0.0, 0.5, -1.0],
        "timestamp": [datetime.datetime(1970, 1, 1, hour) for hour in range(3)],
        "decimal(4,1)": [Decimal("0.0"), Decimal("0.5"), Decimal("-1.0")],
    }[type]
    with in_supersteps():
        workspace: Any = lftj.connect(executor=InlineExecutor(tmp_path, 1))
        workspace.add_rules(f"""
            .decl s(x: {type})  .decl e(x: {type}, y: {type}, day: number)  .decl l(x: {type},
            v: number)
            l(x, min(0)) :- s(x).
            l(y, min(v)) :- l(x, v), e(x, y, _).
        """)
        first, second, third = nodes
        workspace.load("s", [(first,)])
        workspace.load(
            "e", [(first, second, 1), (first, second, 2), (second, third, 1), (third, second, 1)]
        )
        with workspace.transaction() as tx:
            tx.delete("e", [(first, second, 1)])
        assert workspace.profile(last=1).iloc[0]["overdeleted"] == 0
        with workspace.transaction() as tx:
            tx.delete("e", [(first, second, 2)])
    report = workspace.profile(last=1).iloc[0]
    assert workspace["l"].fetchall() == [(first, 0)]
    assert (report["overdeleted"], report["anew"]) == (2, 0)


def test_parts_that_nothing_reaches_run_no_task(tmp_path: Path) -> None:
    """With edges stored by both ends, only those parts that border on groups without a value are
    asked for other values.
    """
    executor = InlineExecutor(tmp_path, 24, 2)
    workspace: Any = lftj.connect(executor=executor)
    workspace.relation("e", {"x": int, "y": int})
    workspace.add_rules("""
        .decl l(x: number, k: number)
        l(x, min(x)) :- e(x, _).
        l(y, min(y)) :- e(_, y).
        l(y, min(k)) :- l(x, k), e(x, y).
        l(x, min(k)) :- l(y, k), e(x, y).
    """)
    workspace.load(
        "e",
        [(1, 2), (2, 3), (3, 1), (3, 4)]
        + [(100 * n + m, 100 * n + m + 1) for n in range(1, 30) for m in range(9)],
    )
    executor.tasks.clear()
    with workspace.transaction() as tx:
        tx.delete("e", [(3, 4)])
    assert sorted(row[:3] for row in tx.changes("l").fetchall()) == [
        (4, 1, -1)
    ]  # nor has it one of its own
    with workspace.transaction() as tx:
        tx.delete("e", [(3, 1)])
    assert not tx.changes("l").fetchall()
    assert (
        workspace.profile(last=1).iloc[0]["overdeleted"] == 1
    )  # node 1 has its label by another edge
    assert {task.part for task in executor.tasks} <= {part_of(n, INT, 24) for n in range(1, 5)}
    with workspace.transaction() as tx:
        tx.delete("e", [(1, 2)])
    assert sorted(row[:3] for row in tx.changes("l").fetchall()) == [
        (1, 1, -1),
        (2, 1, -1),
        (2, 2, 1),
        (3, 1, -1),
        (3, 2, 1),
    ]
    assert workspace.profile(last=3)["anew"].sum() == 0


def test_a_path_from_before_there_were_witnesses_is_derived_anew_once(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 3)
    workspace: Any = lftj.connect(executor=executor)
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", [(n, n + 1) for n in range(30)])
    workspace.add_rules(LABELS)
    workspace.close()
    now = Manifest.load(tmp_path)
    assert now is not None
    program = {name: said for name, said in now.program.items() if name != "layout"}
    log = {name: entries for name, entries in now.log.items() if "!" not in name}
    replace(now, program=program, log=log).following(now).store(tmp_path)
    shutil.rmtree(tmp_path / "state")
    executor.forget()
    workspace = lftj.connect(executor=executor)
    assert set(workspace["l"]) == {(n, 0) for n in range(31)}
    assert workspace.verify() == []
    for gone, least in (((20, 21), 21), ((9, 10), 10)):
        with workspace.transaction() as tx:
            tx.delete("e", [gone])
        assert {row[:2] for row in tx.changes("l").fetchall() if row[2] > 0} == {
            (n, least) for n in range(least, 31 if least > 20 else 21)
        }
        assert workspace.verify() == []
    assert workspace.profile()["anew"].tolist() == [1, 0]


def test_groups_that_leave_no_room_for_a_witness_have_none(tmp_path: Path) -> None:
    width = 120
    columns = ", ".join(f"c{n}: number" for n in range(width))
    group, other = [f"v{n}" for n in range(width)], ["v0", *(f"u{n}" for n in range(1, width))]
    rules = f"""
        .decl g({columns}) .decl q(a: number, b: number) .decl p({columns}, d: number)
        p({", ".join(group)}, min(0)) :- g({", ".join(group)}).
        p({", ".join(["x", *group[2:], group[1]])}, min(d + e)) :-
            p({", ".join(group)}, d), p({", ".join(other)}, e), q(v0, x).
    """
    workspaces: list[Any] = [lftj.connect(), lftj.connect(executor=InlineExecutor(tmp_path, 2))]
    for workspace in workspaces:
        workspace.add_rules(rules)
        workspace.load("g", [tuple(range(width))])
        workspace.load("q", [(0, 1), (1, 0)])
    one, many = (sorted(workspace["p"].fetchall()) for workspace in workspaces)
    assert one == many
    assert len(one) > 1


def test_columns_may_be_called_as_one_likes(tmp_path: Path) -> None:
    workspace: Any = lftj.connect(executor=InlineExecutor(tmp_path, 3))
    workspace.relation("p", {"!rule": int, "!0": int})
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", [(1, 2), (2, 3), (3, 1)])
    with in_supersteps():
        workspace.add_rules("p(x, min(x)) :- e(x, _). p(y, min(k)) :- p(x, k), e(x, y).")
    assert workspace["p"].fetchall() == [(1, 1), (2, 1), (3, 1)]
