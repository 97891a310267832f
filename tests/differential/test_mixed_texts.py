# SPDX-License-Identifier: Apache-2.0
"""Programs that mix what the language has, followed through histories and evaluated plainly."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from tests.strategies.mixed_texts import BASES, history, program

TRIED = range(40)
"""Programs that are drawn by their numbers; the deep profile draws others."""


def test_oracle_mixed_programs_are_followed() -> None:
    """Three in four are programs at least; the others are refused."""
    refused = sum(not _followed(Random(number)) for number in TRIED)
    assert refused <= len(TRIED) // 4


@settings(max_examples=20)
@given(st.integers(1000, 2**32))
def test_oracle_drawn_programs_are_followed(number: int) -> None:
    """The same of programs that differ from run to run."""
    _followed(Random(number))


def _followed(random: Random) -> bool:
    """Compare a program's views; False where it is refused."""
    text, steps = program(random), history(random)
    try:
        found = lftj.compare(text, steps)
    except lftj.LftjError:
        return False
    assert found is None, f"{text}\n{found}"
    return True


def test_rows_changes_and_gaps_are_explained() -> None:
    """Of each view a row, a changed row of each commit and a row that is not there; every proof is
    checked against the facts.
    """
    explained = sum(_explained(Random(number)) for number in range(15))
    assert explained > 40


def _explained(random: Random) -> int:
    """Follow a program, and count what was explained; 0 where it is refused."""
    text, steps = program(random), history(random)
    workspace = lftj.connect()
    try:
        workspace.add_rules(text)
    except lftj.LftjError:
        return 0
    views = sorted(workspace.relations.keys() - BASES.keys())
    count = 0
    for step in steps:
        before = {name: set(workspace[name].fetchall()) for name in views}
        transaction = workspace.transaction()
        try:
            with transaction:
                for relation, rows in step["delete"].items():
                    transaction.delete(relation, rows)
                for relation, rows in step["insert"].items():
                    transaction.insert(relation, rows)
        except lftj.ValueRangeError:
            return count
        for name in views:
            for row in sorted(before[name] ^ set(workspace[name].fetchall()), key=repr)[:1]:
                assert str(transaction.explain_change(name, row))
                count += 1
    facts = {name: workspace[name].fetchall() for name in BASES}
    for name in views:
        rows = sorted(workspace[name].fetchall(), key=repr)
        for row in random.sample(rows, min(2, len(rows))):
            lftj.check_proof(workspace.explain(name, row), facts)
            other = (*row[:-1], random.choice(rows)[-1])
            assert other in rows or str(workspace.why_not(name, other))
            count += 1
    return count
