"""Random programs and histories over parts against the reference, after every step: views, change
sets, reopening, lost workers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lftj
from tests.distributed.inline import InlineExecutor
from tests.oracle.pair import Pair
from tests.strategies.histories import AddRule, Change, History, Transact, histories
from tests.strategies.schemas import BASES


@contextmanager
def pair_over(
    history: History, over: Callable[[Path], InlineExecutor], tuning: lftj.Tuning | None = None
) -> Iterator[tuple[Pair, InlineExecutor]]:
    """A distributed workspace `over` a path and its model, with the rows that the history starts
    with and all its rules.
    """
    with tempfile.TemporaryDirectory() as folder:
        executor = over(Path(folder))
        opened = lftj.connect(executor=executor, tuning=tuning or lftj.Tuning())
        pair = Pair((*BASES, *history.program.specs), opened)
        pair.step(
            Transact(
                tuple(
                    Change("insert", name, tuple(rows))
                    for name, rows in history.start.items()
                    if rows
                )
            )
        )
        assume(
            pair.model.take(Transact(tuple(map(AddRule, history.program.rules))))
        )  # else rules conflict from the start
        with pair.workspace.transaction() as transaction:
            pair.handles += [transaction.add_rule(rule) for rule in history.program.rules]
        pair.check()
        yield pair, executor


def between(pair: Pair, executor: InlineExecutor, what: str) -> None:
    """Do something between two steps that changes no row."""
    match what:
        case "verify":
            assert pair.workspace.verify() == []
        case "compact":
            pair.snapshots.clear()
            pair.workspace.compact()
        case "rebalance":
            pair.workspace.rebalance()
        case "repartition":
            pair.workspace.repartition(pair.workspace._backend.executor.partitions % 4 + 1)
        case "forget":
            pair.workspace._backend.executor.forget()
        case "reopen":
            executor = pair.workspace._backend.executor
            tuning = pair.workspace._backend.present.settings.tuning
            pair.workspace.close()
            pair.workspace = lftj.connect(executor=executor, tuning=tuning)
            pair.handles = pair.workspace.rules
            pair.snapshots.clear()


@given(histories(), st.sampled_from([1, 2, 3, 7]), st.integers(1, 2))
@settings(max_examples=settings().max_examples // 2)
def test_oracle_parts_equal_the_reference(history: History, parts: int, workers: int) -> None:
    with pair_over(history, lambda path: InlineExecutor(path, parts, workers)) as (pair, _):
        for step in history.steps:
            pair.step(step)
        pair.workspace.close()


@given(histories(), st.data())
@settings(max_examples=settings().max_examples // 5)
def test_oracle_lost_workers_and_reopened_paths_change_nothing(
    history: History, data: st.DataObject
) -> None:
    tuning = lftj.Tuning(shared_rows=data.draw(st.sampled_from([1, 1 << 14])))
    with pair_over(history, lambda path: InlineExecutor(path, 3, 2), tuning) as (pair, executor):
        for step in history.steps:
            between(
                pair,
                executor,
                data.draw(
                    st.sampled_from(
                        ["nothing", "forget", "reopen", "compact", "verify", "repartition"]
                    )
                ),
            )
            pair.step(step)
        pair.workspace.close()
