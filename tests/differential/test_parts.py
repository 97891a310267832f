"""In one part or in many, on one thread or on two: the same rows, the same changes, the same
failures, and next to the same work.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.errors import LimitError, ValueRangeError
from tests.differential.build import contents, declared
from tests.strategies.programs import Program, programs
from tests.strategies.schemas import KEYED, Row, databases

PROGRAMS = programs(functions=False)
PARTS = (2, 7, 64)
Rows = dict[str, list[Row]]


def executor(parts: int) -> lftj.ThreadExecutor:
    return lftj.ThreadExecutor(threads=1 if parts == 1 else 2, parts=parts, patience=1)


def history(program: Program, batches: list[Rows], parts: int) -> tuple[list[Any], int]:
    """Rows and changes of every commit, and the kernel steps of all of them."""
    workspace = declared(program, executor=executor(parts))
    shown: list[Any] = []
    with workspace.transaction() as transaction:
        for rule in program.rules:
            transaction.add_rule(rule)
    for number, batch in enumerate(batches):
        with workspace.transaction() as transaction:
            for name, rows in batch.items():
                if name in KEYED:  # rows of several batches would violate the keys
                    continue
                # what one commit inserts the one after the next deletes
                transaction.insert(name, rows)
                if number >= 2:
                    transaction.delete(name, batches[number - 2].get(name, []))
        changes = {
            spec.name: sorted(transaction.changes(spec.name).fetchall(), key=repr)
            for spec in program.specs
        }
        shown.append((contents(workspace, program), changes))
    return shown, sum(work.steps for _, works in workspace._backend.history for work in works)


@settings(max_examples=8)
@given(PROGRAMS, st.lists(databases(), min_size=3, max_size=3))
def test_differential_programs_in_parts(program: Program, batches: list[Rows]):
    whole, work = history(program, batches, 1)
    for parts in PARTS:
        found, steps = history(program, batches, parts)
        assert found == whole
        assert steps <= 4 * work + 4000, "each part opens its levels and seeks its first value anew"


# ── what goes wrong inside a part ─────────────────────────────────────────────────────────────────
NUMBERS = ".decl a(x: number)\n.decl b(x: number)\n.decl n(x: number)\n"


@pytest.fixture
def numbers() -> Any:
    """A workspace with two relations of 300 numbers, on two threads."""
    workspace = lftj.connect(executor=executor(64))
    workspace.add_rules(NUMBERS)
    for name in "ab":
        workspace.load(name, [(number,) for number in range(300)])
    before = threading.active_count()
    yield workspace
    assert threading.active_count() == before
    workspace.add_rules("n(x) :- a(x), b(y), y = x + 1.")
    assert len(workspace["n"]) == 299


def test_a_failure_names_the_same_values_in_any_number_of_parts(numbers: Any):
    rule = "n(z) :- a(x), b(y), x >= 150, y >= 20, z = x / (y - 99)."
    with pytest.raises(ValueRangeError) as divided:
        numbers.add_rules(rule)
    whole = lftj.connect(executor=executor(1))
    whole.add_rules(NUMBERS)
    for name in "ab":
        whole.load(name, [(number,) for number in range(300)])
    with pytest.raises(ValueRangeError) as failure:
        whole.add_rules(rule)
    assert str(divided.value) == str(failure.value)
    assert len(numbers["n"]) == 0


def test_a_limit_that_is_reached_in_the_parts_rolls_back(numbers: Any):
    version = numbers.version
    with pytest.raises(LimitError), numbers.limits(work=20_000):
        numbers.add_rules("n(x) :- a(x), b(y), a(z), x + y = z + 7.")
    assert numbers.version == version


@pytest.mark.usefixtures("heeding_interrupts")
def test_an_interrupt_ends_the_parts(numbers: Any):
    endless = (
        "n(x) :- a(x), "
        + ", ".join(f"b(y{i})" for i in range(9))
        + ", "
        + " + ".join(f"y{i}" for i in range(9))
        + " = 0 - x."
    )
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt), numbers.limits(seconds=60):
        numbers.add_rules(endless)
    assert len(numbers["n"]) == 0
