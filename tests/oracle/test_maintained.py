"""Random programs under random commits: views, change sets and support counts are right after each,
and were not recomputed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.differential.build import contents, workspace_with
from tests.oracle.maintained import strategies, supports
from tests.oracle.pair import Pair
from tests.strategies.histories import AddRule, Change, Transact, changes, read_by
from tests.strategies.programs import Program, programs
from tests.strategies.schemas import BASES, Row, databases
from tests.strategies.terms import Draw

Rows = dict[str, list[Row]]
KEYED = frozenset(spec.name for spec in BASES if spec.key is not None)


@st.composite
def commits(draw: Draw, program: Program, most: int = 3) -> Transact:
    """A transaction that changes rows only, now and then rolled back."""
    actions = draw(st.lists(changes(read_by(program)), min_size=1, max_size=most))
    return Transact(tuple(actions), draw(st.sampled_from([False] * 5 + [True])))


@st.composite
def maintained(draw: Draw, functions: bool = True) -> tuple[Program, Rows, list[Transact]]:
    """A program, the rows at first, and commits of changes to them."""
    program = draw(programs(functions=functions))
    return program, draw(databases()), draw(st.lists(commits(program), min_size=2, max_size=6))


def filled(program: Program, facts: Rows) -> Pair:
    """A workspace and its model with rules and rows; rules first, so that what is kept of them has
    seen every row come.
    """
    pair = Pair((*BASES, *program.specs))
    pair.step(Transact(tuple(AddRule(rule) for rule in program.rules)))
    pair.step(
        Transact(tuple(Change("insert", name, tuple(rows)) for name, rows in facts.items() if rows))
    )
    return pair


def recursive(program: Program) -> set[str]:
    """The views of recursive levels, which have a maintenance of their own."""
    return {view.spec.name for view in program.views if view.recursive}


def require_updates(found: dict[str, set[str]], exempt: Iterable[str]) -> None:
    """No relation was evaluated in full; hidden relations and those of cycles may share a row of
    the profile.
    """
    apart = set(exempt)
    wrong = {
        name: how
        for name, how in found.items()
        if apart.isdisjoint(name.split(", ")) and how != {"update"}
    }
    assert not wrong, wrong


@given(maintained())
def test_oracle_commits_are_right_and_recompute_nothing(
    history: tuple[Program, Rows, list[Transact]],
):
    program, facts, steps = history
    pair = filled(program, facts)
    for step in steps:
        version = pair.workspace.version
        pair.step(step)
        if pair.workspace.version > version:
            require_updates(strategies(pair.workspace), recursive(program))
    assert pair.workspace.verify() == []


@given(maintained())
def test_oracle_supports_do_not_depend_on_the_history(
    history: tuple[Program, Rows, list[Transact]],
):
    program, facts, steps = history
    pair = filled(program, facts)
    for step in steps:
        pair.step(step)
    anew = workspace_with(program, pair.model.base)
    names = [spec.name for spec in program.specs]
    found, expected = supports(pair.workspace, names), supports(anew, names)
    for name in (
        found.keys() - expected.keys()
    ):  # counted since it had rows of its own; without, each row has one proof
        expected[name] = dict.fromkeys(anew[name].fetchall(), 1)
    assert found == expected


def apply(transaction: Any, change: Change, rows: list[Row]) -> None:
    """Make a change; where there is a key, an insert replaces, so that no commit conflicts with
    what is there.
    """
    verb = "upsert" if change.verb == "insert" and change.relation in KEYED else change.verb
    getattr(transaction, verb)(change.relation, rows)


@given(maintained(functions=False), st.integers(1, 3))
def test_oracle_one_batch_equals_any_split(
    history: tuple[Program, Rows, list[Transact]], size: int
):
    """A commit of many changes, and the same changes a few rows at a time, end in the same views
    and the same supports.
    """
    program, facts, steps = history
    whole, split = workspace_with(program, facts), workspace_with(program, facts)
    listed = [
        action
        for step in steps
        if not step.rollback
        for action in step.actions
        if isinstance(action, Change)
    ]
    with whole.transaction() as transaction:
        for change in listed:
            apply(transaction, change, list(change.rows))
    for change in listed:
        for start in range(0, len(change.rows), size):
            with split.transaction() as transaction:
                apply(transaction, change, list(change.rows[start : start + size]))
    assert contents(whole, program) == contents(split, program)
    names = [spec.name for spec in program.specs]
    assert supports(whole, names) == supports(split, names)
