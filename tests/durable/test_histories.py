"""Random programs and histories over durable workspaces against the reference, opened again at
random points: after closing, and as a power cut would leave the files.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from tests.durable.inside import durable_of
from tests.oracle.pair import Pair
from tests.strategies.histories import AddRule, Change, History, Transact, histories
from tests.strategies.schemas import BASES

BETWEEN = st.sampled_from(["nothing", "checkpoint", "reopen", "cut off"])


@contextmanager
def durable_pair(history: History) -> Iterator[Pair]:
    """A durable workspace and its model, with no rules and rows yet."""
    with tempfile.TemporaryDirectory() as folder:
        specs = (*BASES, *history.program.specs)
        pair = Pair(specs, lftj.connect(Path(folder) / "0.lftj"))
        yield pair
        pair.workspace.close()


def between(pair: Pair, what: str) -> None:
    """Do something that changes no row."""
    workspace, durable = pair.workspace, durable_of(pair.workspace)
    path = durable.path
    if what == "checkpoint":
        durable.checkpoint()
    elif what == "reopen":
        workspace.close()
        pair.workspace = lftj.connect(path)
    elif what == "cut off":
        there = path.with_name(f"{int(path.stem) + 1}.lftj")
        shutil.copytree(path, there)
        pair.workspace = lftj.connect(there)
        workspace.close()
    pair.snapshots.clear()
    assert [str(rule) for rule in pair.workspace.rules] == [str(rule) for rule in pair.handles]
    assert pair.workspace.rules == pair.handles
    pair.check()


def steps_of(history: History) -> list[Transact]:
    """All that the history does, its start and its rules one by one included."""
    start = tuple(
        Change("insert", name, tuple(rows)) for name, rows in history.start.items() if rows
    )
    rules = (Transact((AddRule(rule),)) for rule in history.program.rules)
    steps = (step for step in history.steps if isinstance(step, Transact))
    return [Transact(start), *rules, *steps]


@given(histories(), st.data())
def test_oracle_reopened_workspaces_equal_the_reference(history: History, data: st.DataObject):
    with durable_pair(history) as pair:
        for step in steps_of(history):
            pair.step(step)
            between(pair, data.draw(BETWEEN))
        assert pair.workspace.verify() == []


@given(histories())
@settings(max_examples=settings().max_examples // 2)
def test_oracle_a_whole_log_is_followed_as_one_change(history: History):
    with durable_pair(history) as pair:
        for step in steps_of(history):
            pair.step(step)
        version = pair.workspace.version
        between(pair, "cut off")
        assert pair.workspace.version == version
        assert pair.workspace.verify() == []
