"""A failure anywhere in a commit: it has happened whole or not at all, and the commits after it are
right.

Instead of naming phases, the tests let the commit fail at each of its calls in turn: every function
of the engine that a commit enters raises once, at its entry.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import lftj
from lftj.maintenance.trace.trace_planner import TraceOverride
from lftj.sensitivity import EXACT
from tests.oracle.maintained import strategies, supports

PACKAGE = str(Path(lftj.__file__).parent)
RULES = """
.decl e(x: number, y: number)  .decl n(x: number)  .decl s(x: number, t: symbol)
.decl two(x: number, z: number)                two(x, z) :- e(x, y), e(y, z).
.decl open(x: number)                          open(x) :- n(x), !(e(x, y), !n(y)).
.decl either(x: number)                        either(x) :- (e(x, _) ; e(_, x)), !n(x).
.decl sums(x: number, a: number, m: float)     sums(x, sum(y), mean(y)) :- e(x, y).
.decl least(x: number, a: number, b: number)   least(x, min(y), max(y)) :- e(x, y).
.decl names(x: number, t: symbol)              names(x, concat(t, ",")) :- s(x, t), n(x).
.decl reach(x: number, y: number)
    reach(x, y) :- e(x, y).  reach(x, z) :- reach(x, y), e(y, z).
.decl far(x: number, k: number)                far(x, count()) :- reach(x, _), two(x, _).
"""
VIEWS = ("e", "n", "s", "two", "open", "either", "sums", "least", "names", "reach", "far")


class Injected(Exception):
    """The failure."""


class FailingCommit:
    """In place of the engine's `carry_out`: one that raises Injected at the entry of its call
    number `fatal`.
    """

    def __init__(self, engine: Any, fatal: int):
        self._carry_out, self._fatal = engine.carry_out, fatal
        self._calls = 0
        self.where = ""
        """The function that was made to fail."""

    def __call__(self, proposal: Any) -> Any:
        sys.setprofile(self._entered)
        try:
            return self._carry_out(proposal)
        finally:
            sys.setprofile(None)

    def _entered(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        # a generator is also entered to be closed, and then, as in __del__ and in the finalizer of
        # a tree, an exception is only printed
        silent = code.co_flags & inspect.CO_GENERATOR or code.co_name in ("__del__", "bury")
        if event != "call" or silent or not code.co_filename.startswith(PACKAGE):
            return
        self._calls += 1
        if self._calls == self._fatal:
            self.where = f"{Path(code.co_filename).stem}.{code.co_name}"
            raise Injected(self.where)


@pytest.fixture(
    params=[None, TraceOverride(lambda position: EXACT, first_proof=True)],
    ids=["automatic", "by trace"],
)
def workspace(request: pytest.FixtureRequest) -> Any:
    made = lftj.connect()
    made._backend.trace_override = request.param
    made.add_rules(RULES)
    with made.transaction() as transaction:
        transaction.insert("e", [(0, 1), (1, 2), (2, 0), (2, 2), (3, 1)])
        transaction.insert("n", [(0,), (1,)])
        transaction.insert("s", [(0, "a"), (0, "b"), (1, "c")])
    return made


def change(workspace: Any) -> None:
    """A commit that changes every view."""
    with workspace.transaction() as transaction:
        transaction.delete("e", [(1, 2), (3, 1)])
        transaction.insert("e", [(2, 3), (1, 0)])
        transaction.insert("n", [(2,)])
        transaction.delete("n", [(0,)])
        transaction.insert("s", [(1, "d"), (2, "e")])


def change_back(workspace: Any) -> None:
    """The reverse of `change`."""
    with workspace.transaction() as transaction:
        transaction.insert("e", [(1, 2), (3, 1)])
        transaction.delete("e", [(2, 3), (1, 0)])
        transaction.delete("n", [(2,)])
        transaction.insert("n", [(0,)])
        transaction.delete("s", [(1, "d"), (2, "e")])


def shown(workspace: Any) -> dict[str, Any]:
    """Everything a user sees, and the support counts."""
    return {view: sorted(workspace[view].fetchall()) for view in VIEWS} | {
        "supports": supports(workspace, VIEWS)
    }


def test_a_commit_that_fails_at_any_call_happens_not_at_all_and_the_next_is_right(workspace: Any):
    before = shown(workspace)
    change(workspace)
    after = shown(workspace)
    assert all(before[view] != after[view] for view in VIEWS)
    change_back(workspace)
    assert shown(workspace) == before
    fatal = 0
    places: set[str] = set()
    while True:
        fatal += 1 + fatal // 30
        if (where := fails(workspace, fatal)) is None:
            break
        places.add(where)
        assert shown(workspace) == before, where
        change(workspace)
        assert shown(workspace) == after, where
        change_back(workspace)
        assert shown(workspace) == before, where
    assert len(places) > 40
    assert workspace.verify() == []
    assert {"update"} <= set().union(*strategies(workspace).values()) <= {"update", "bootstrap"}


def fails(workspace: Any, fatal: int) -> str | None:
    """Make `change` fail at its call number `fatal`: where that was, or None when there are not as
    many.
    """
    engine, version = workspace._backend, workspace.version
    engine.carry_out = failing = FailingCommit(engine, fatal)
    try:
        change(workspace)
    except Injected:
        assert workspace.version == version
        return failing.where
    finally:
        del engine.carry_out
    return None
