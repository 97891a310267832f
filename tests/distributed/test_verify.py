"""Views over parts are compared with what the rules derive; what is compared leaves no trace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.errors import DistributedError
from tests.distributed.inline import InlineExecutor
from tests.distributed.test_rounds import PROGRAMS, edges

OTHERS = {
    "aggregates and negation": """
.decl out(x: number, n: number, far: number, mean: float)
out(x, count(), max(y), mean(y)) :- e(x, y).
.decl dead(x: number)
dead(y) :- e(_, y), !e(y, _).
""",
    "choice": """
.decl parent(x: number, y: number) choice-domain x
parent(y, x) :- e(x, y), x < y.
""",
}


def loaded(folder: Path, parts: int, rules: str) -> tuple[Any, InlineExecutor]:
    """A workspace with a history."""
    executor = InlineExecutor(folder, parts, 2)
    workspace: Any = lftj.connect(executor=executor)
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", edges(30, 40, 1))
    workspace.add_rules(rules)
    for number in range(3):
        with workspace.transaction() as transaction:
            transaction.delete("e", edges(30, 40, 1)[number::7])
            transaction.insert("e", edges(30, 4, number + 2))
    return workspace, executor


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("rules", [*PROGRAMS.values(), *OTHERS.values()], ids=[*PROGRAMS, *OTHERS])
def test_what_is_maintained_is_what_is_derived(tmp_path: Path, parts: int, rules: str):
    workspace, executor = loaded(tmp_path, parts, rules)
    views = sorted(set(workspace.relations) - {"e"})
    before = workspace.version, {name: sorted(workspace[name].fetchall()) for name in views}
    assert any(before[1].values())
    assert workspace.verify() == []
    assert (
        workspace.version,
        {name: sorted(workspace[name].fetchall()) for name in views},
    ) == before
    assert not list(tmp_path.glob("verify-*"))
    executor.tasks.clear()
    workspace.load("e", [(100, 101)])
    assert workspace.verify() == []


@pytest.mark.parametrize("parts", [1, 3])
def test_rows_that_are_lacking_or_in_excess_are_shown(tmp_path: Path, parts: int):
    workspace, _ = loaded(tmp_path, parts, ".decl r(x: number, y: number)\nr(x, y) :- e(x, y).")
    store = workspace._backend
    version = store.present
    right = version.manifest
    names = [row[2] for row in workspace.plan().places().fetchall() if row[0] == "derived"]
    (name,) = (name for name in names if right.log.get(name))
    kept = set(workspace["r"].fetchall())
    # as if the last commit had never come to the view
    lacking = tuple(entry for entry in right.log[name] if entry.version < right.version)
    store.present = replace(version, manifest=replace(right, log={**right.log, name: lacking}))
    wrong = set(workspace["r"].fetchall())
    assert wrong != kept
    (found,) = workspace.verify()
    assert found.relation == "r"
    expected = {(*row, 1) for row in kept - wrong} | {(*row, -1) for row in wrong - kept}
    assert {row[:3] for row in found.difference.fetchall()} == expected
    assert found.difference.columns == ("x", "y", "__diff__", "__version__")
    store.present = version
    assert workspace.verify() == []


def test_a_job_that_fails_changes_nothing_and_what_it_left_goes(tmp_path: Path):
    workspace, executor = loaded(tmp_path, 3, PROGRAMS["two atoms of its own"])
    left = tmp_path / "verify-left"
    (left / "rows").mkdir(parents=True)

    def fail(payload: Any) -> None:
        if "verify-" in str(payload):
            raise RuntimeError("the machine is gone")

    executor.before = fail
    with pytest.raises((DistributedError, RuntimeError)):
        workspace.verify()
    executor.before = lambda payload: None
    assert workspace.verify() == []
    workspace.close()
    workspace = lftj.connect(executor=executor)
    assert not left.exists()
    assert workspace.verify() == []


def test_without_rules_there_is_nothing_to_compare(tmp_path: Path):
    executor = InlineExecutor(tmp_path, 2)
    workspace: Any = lftj.connect(executor=executor)
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", [(1, 2)])
    executor.tasks.clear()
    assert workspace.verify() == []
    assert not executor.tasks


def test_a_relation_with_choice_domains_may_have_no_rules(tmp_path: Path):
    workspace = lftj.connect(executor=InlineExecutor(tmp_path, 3))
    chosen = workspace.relation("chosen", {"x": int, "y": int}, choice="x")
    workspace.load(chosen, [(1, 2), (1, 1), (2, 5)])
    assert sorted(workspace[chosen].fetchall()) == [(1, 1), (2, 5)]
    assert workspace.verify() == []
