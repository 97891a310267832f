"""However changes are split into transactions, the views come out the same; what is taken back
leaves nothing behind.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.differential.build import contents, declared, insert, workspace_with
from tests.oracle.model import difference
from tests.strategies.programs import Program, programs, rule_for
from tests.strategies.schemas import KEYED, Row, databases

PROGRAMS = programs(functions=False)
Rows = dict[str, list[Row]]


def signed(transactions: list[Any], program: Program) -> Counter[tuple[str, Row]]:
    """The sum of the change sets of these transactions, for every view."""
    total: Counter[tuple[str, Row]] = Counter()
    for transaction in transactions:
        for spec in program.specs:
            for *row, sign, _ in transaction.changes(spec.name).fetchall():
                total[spec.name, tuple(row)] += sign
    return Counter({key: sign for key, sign in total.items() if sign})


@given(PROGRAMS, databases(), st.integers(1, 5))
def test_differential_one_batch_equals_any_split(program: Program, facts: Rows, size: int):
    whole = contents(workspace_with(program, facts), program)
    workspace = workspace_with(program, {})
    listed = [(name, row) for name, rows in facts.items() for row in rows]
    parts = []
    for start in range(0, len(listed), size):
        part: Rows = {}
        for name, row in listed[start : start + size]:
            part.setdefault(name, []).append(row)
        parts.append(insert(workspace, part))
    assert contents(workspace, program) == whole
    nothing = contents(workspace_with(program, {}), program)
    expected = {
        (spec.name, row): sign
        for spec in program.specs
        for row, sign in difference(nothing[spec.name], whole[spec.name])
    }
    assert signed(parts, program) == expected


@given(PROGRAMS, databases())
def test_differential_rules_before_or_after_facts(program: Program, facts: Rows):
    after = declared(program)
    insert(after, facts)
    for rule in program.rules:
        after.add_rule(rule)
    assert contents(after, program) == contents(workspace_with(program, facts), program)


@given(PROGRAMS, databases(), databases())
def test_differential_insert_then_delete_is_nothing(program: Program, facts: Rows, more: Rows):
    workspace = workspace_with(program, facts)
    before = contents(workspace, program)
    new = {
        name: [row for row in rows if row not in before[name]]
        for name, rows in more.items()
        if name not in KEYED
    }
    forth = insert(workspace, new)
    with workspace.transaction() as back:
        for name, rows in new.items():
            back.delete(name, rows, missing="error")
    assert contents(workspace, program) == before
    assert not signed([forth, back], program)


@given(PROGRAMS, databases(), databases())
def test_differential_insert_and_delete_in_one_transaction_is_nothing(
    program: Program, facts: Rows, more: Rows
):
    workspace = workspace_with(program, facts)
    before, version = contents(workspace, program), workspace.version
    new = {name: [row for row in rows if row not in before[name]] for name, rows in more.items()}
    with workspace.transaction() as transaction:
        for name, rows in new.items():
            transaction.insert(name, rows)
            transaction.delete(name, rows)
    assert (contents(workspace, program), workspace.version, transaction.changes()) == (
        before,
        version,
        [],
    )


@given(PROGRAMS, databases(), st.data())
def test_differential_a_rule_added_and_removed_is_nothing(
    program: Program, facts: Rows, data: st.DataObject
):
    workspace = workspace_with(program, facts)
    before = contents(workspace, program)
    view = data.draw(st.sampled_from(program.views))
    if view.aggregates:
        return
    with workspace.transaction() as forth:
        handle = forth.add_rule(data.draw(st.composite(rule_for)(view, program.views)))
    with workspace.transaction() as back:
        back.remove_rule(handle)
    assert contents(workspace, program) == before
    assert not signed([forth, back], program)
