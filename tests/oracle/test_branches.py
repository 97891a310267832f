"""Random histories over branches against the reference: each branch is what its own commits make of
it, merges are the changes of both, in memory and at a path that is opened again in between.
"""

from __future__ import annotations

import copy
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.errors import KeyViolationError, MergeConflictError, ValueRangeError
from tests.durable.inside import durable_of
from tests.durable.test_histories import steps_of
from tests.oracle.model import Model, Relations, difference
from tests.oracle.pair import Pair
from tests.strategies.histories import Change, History, Transact, histories
from tests.strategies.schemas import BASES, DOMAINS, NULLED, Row, Spec, pick, required
from tests.strategies.terms import Draw

MAIN = "main"
FEW = settings(max_examples=max(2, settings().max_examples // 5))


def specs_of(history: History) -> list[Spec]:
    """All relations of a history."""
    return [*BASES, *history.program.specs]


class Known(NamedTuple):
    """Base rows and rules of a branch at a moment."""

    base: Relations
    rules: list[Any]


class Branching:
    """Branches by name, each a workspace and its model; all branches come from main."""

    def __init__(self, specs: Iterable[Spec], workspace: Any):
        self.pairs: dict[str, Pair] = {MAIN: Pair(specs, workspace)}
        self.common: dict[str, Known] = {}
        """For each branch but main, the last that is known to be part of it and of main."""

    @property
    def main(self) -> Any:
        return self.pairs[MAIN].workspace

    def known(self, name: str) -> Known:
        pair = self.pairs[name]
        return Known(dict(pair.model.base), list(pair.model.rules))

    def begin(self, name: str) -> None:
        main = self.pairs[MAIN]
        pair = copy.copy(main)
        pair.workspace, pair.model = main.workspace.branch(name), copy.copy(main.model)
        pair.handles, pair.snapshots = list(main.handles), []
        self.pairs[name] = pair
        self.common[name] = self.known(MAIN)

    def drop(self, name: str) -> None:
        self.pairs.pop(name).workspace.drop()
        del self.common[name]

    def merge(self, target: str, source: str) -> None:
        """One of the two is main."""
        edge = source if target == MAIN else target
        common, merged = self.common[edge], self.known(source)
        into, other = self.pairs[target], self.pairs[source]
        conflicts = self._conflicts(into.model, other.model, common)
        version = into.workspace.version
        if conflicts:
            with pytest.raises(MergeConflictError) as caught:
                into.workspace.merge(source)
            found = {name: set(rows) for name, rows in caught.value.conflicts.items()}
            assert found == conflicts
            return
        model = copy.copy(into.model)
        changes = {
            name: difference(common.base[name], rows) for name, rows in other.model.base.items()
        }
        model.base = {
            name: {row for row in rows if (row, -1) not in changes[name]}
            | {row for row, sign in changes[name] if sign > 0}
            for name, rows in model.base.items()
        }
        model.rules = self._merged_rules(model.rules, other.model.rules, common.rules)
        if not model.take(Transact(())):
            with pytest.raises((KeyViolationError, ValueRangeError)):
                into.workspace.merge(source)
            assert into.workspace.version == version
            return
        into.workspace.merge(source)
        assert [each.rule for each in into.workspace.rules] == model.rules
        if model.base != into.model.base or model.rules != into.model.rules:
            self.common[edge] = merged
        into.model, into.handles = model, list(into.workspace.rules)

    def _merged_rules(self, ours: list[Any], theirs: list[Any], common: list[Any]) -> list[Any]:
        """Ours without what they have lost, of equal ones the last, and with what they have won."""
        merged = list(reversed(ours))
        for rule in _without(common, theirs):
            if rule in merged:
                merged.remove(rule)
        merged.reverse()
        return merged + [rule for rule in _without(theirs, common) if rule not in merged]

    def _conflicts(
        self, into: Model, other: Model, common: Known
    ) -> dict[str, set[tuple[Any, ...]]]:
        found: dict[str, set[tuple[Any, ...]]] = {}
        for name in into.base:
            key = into.keys.get(name)
            both = [
                {
                    row if key is None else tuple(row[place] for place in key)
                    for row, _ in difference(common.base[name], model.base[name])
                }
                for model in (into, other)
            ]
            if both[0] & both[1]:
                found[name] = both[0] & both[1]
        return found

    def check(self) -> None:
        """All branches, and how they differ from main."""
        assert list(self.main.branches) == sorted(self.pairs, key=lambda name: (name != MAIN, name))
        for name, pair in self.pairs.items():
            pair.check()
            for relation, rows in pair.model.relations.items():
                before = self.pairs[MAIN].model.relations[relation]
                found = self.main.diff(MAIN, name, relation).fetchall()
                assert {(tuple(row[:-2]), row[-2]) for row in found} == difference(before, rows)

    def reopened(self, workspace: Any) -> None:
        """Go on with the workspace as it was opened again."""
        for name, pair in self.pairs.items():
            pair.workspace = workspace.branches[name] if name != MAIN else workspace
            pair.snapshots.clear()
            assert pair.workspace.rules == pair.handles


def _without(rules: list[Any], others: list[Any]) -> list[Any]:
    """Rules that are not among the others, each as often as it is there more often."""
    left, found = list(others), []
    for rule in rules:
        if rule in left:
            left.remove(rule)
        else:
            found.append(rule)
    return found


def run(branching: Branching, history: History, data: st.DataObject, between: Any) -> None:
    """The history, each step on some branch, with beginnings, merges and ends in between."""
    names = ["a", "b", "c"]
    for step in steps_of(history):
        pairs = branching.pairs
        pairs[data.draw(st.sampled_from(sorted(pairs)))].step(step)
        what = data.draw(st.sampled_from(["begin", "begin", "merge", "update", "drop", "nothing"]))
        others = [name for name in pairs if name != MAIN]
        if what == "begin" and len(others) < len(names):
            branching.begin(next(name for name in names if name not in pairs))
        elif others and what != "begin":
            name = data.draw(st.sampled_from(others))
            if what == "merge":
                branching.merge(MAIN, name)
            elif what == "update":
                branching.merge(name, MAIN)
            elif what == "drop":
                branching.drop(name)
        between()
        branching.check()
    for pair in branching.pairs.values():
        assert pair.workspace.verify() == []


@given(histories(), st.data())
@FEW
def test_oracle_branches_in_memory_equal_the_reference(history: History, data: st.DataObject):
    with lftj.connect() as workspace:
        run(Branching(specs_of(history), workspace), history, data, lambda: None)


@given(histories(), st.data())
@FEW
def test_oracle_branches_in_files_equal_the_reference(history: History, data: st.DataObject):
    with tempfile.TemporaryDirectory() as folder:
        branching = Branching(specs_of(history), lftj.connect(Path(folder) / "0.lftj"))

        def between() -> None:
            workspace = branching.main
            durable = durable_of(workspace)
            what = data.draw(st.sampled_from(["nothing", "checkpoint", "reopen", "cut off"]))
            path = durable.path
            if what == "checkpoint":
                durable.checkpoint()
            elif what == "reopen":
                workspace.close()
                branching.reopened(lftj.connect(path))
            elif what == "cut off":
                there = path.with_name(f"{int(path.stem) + 1}.lftj")
                shutil.copytree(path, there)
                branching.reopened(lftj.connect(there))
                workspace.close()

        run(branching, history, data, between)
        branching.main.close()


# ── conflicts ─────────────────────────────────────────────────────────────────────────────────────
KEYED = [spec for spec in BASES if spec.key is not None]
CONTENDED = (*KEYED * 3, *(spec for spec in BASES if spec.name in ("edge", "word", "flag")))
"""Relations with keys of one kind and another, without a key, and without columns."""


def row_of(draw: Draw, spec: Spec) -> Row:
    """A row of the first two values of each column, so that both sides change the same one."""
    few = [(None, *DOMAINS[required(each)])[each not in NULLED :][:2] for each in spec.types]
    return tuple(pick(draw, each) for each in few)


@st.composite
def contended(draw: Draw, spec: Spec) -> Transact:
    """Changes of one relation, a row or two."""
    verb = pick(
        draw, ["upsert", "upsert", "insert", "delete"] if spec.key else ["insert", "delete"]
    )
    rows = [row_of(draw, spec) for _ in range(draw(st.integers(1, 2)))]
    if verb == "upsert":
        rows = list({tuple(row[place] for place in spec.key or ()): row for row in rows}.values())
    return Transact((Change(verb, spec.name, tuple(rows)),))


@given(st.data())
@settings(max_examples=2 * settings().max_examples)
def test_oracle_changes_of_one_row_or_key_in_two_branches(data: st.DataObject):
    spec = data.draw(st.sampled_from(CONTENDED))
    with lftj.connect() as workspace:
        branching = Branching([spec], workspace)
        pairs = branching.pairs
        pairs[MAIN].step(data.draw(contended(spec)))
        branching.begin("a")
        for _ in range(3):
            for name in data.draw(st.sampled_from([[MAIN, "a"], [MAIN, "a"], [MAIN], ["a"]])):
                pairs[name].step(data.draw(contended(spec)))
            target, source = data.draw(st.permutations([MAIN, "a"]))
            branching.merge(target, source)
            branching.check()


@pytest.mark.parametrize("durable", [False, True])
def test_two_values_of_one_key_from_two_branches_are_a_conflict(durable: bool, tmp_path: Path):
    """Rows that differ, of one key: no row changed in both, and yet one merge cannot have both."""
    with lftj.connect(tmp_path / "lftj") if durable else lftj.connect() as workspace:
        workspace.relation("price", {"part": int, "shop": str, "cents": int}, key=["part", "shop"])
        workspace.relation("pair", {"x": int, "y": int})
        workspace.load("price", [(1, "a", 10), (2, "a", 20)])
        other = workspace.branch("other")
        other.load("price", [(3, "a", 30), (3, "b", 31)])
        workspace.load("price", [(3, "a", 33), (4, "b", 41)])
        other.load("pair", [(1, 1)])
        workspace.load("pair", [(1, 2)])
        for into, source in ((workspace, "other"), (other, MAIN)):
            with pytest.raises(MergeConflictError) as conflict:
                into.merge(source)
            assert conflict.value.conflicts == {"price": [(3, "a")]}
        with workspace.transaction() as tx:
            tx.delete("price", [(3, "a", 33)])
        workspace.merge("other")
        assert sorted(workspace["price"].fetchall()) == [
            (1, "a", 10),
            (2, "a", 20),
            (3, "a", 30),
            (3, "b", 31),
            (4, "b", 41),
        ]
        assert sorted(workspace["pair"].fetchall()) == [(1, 1), (1, 2)]
