"""Random histories of programs that are edited, in branches and opened again, against the reference
engine: what a text owns comes and goes with it, and nothing else.
"""

from __future__ import annotations

import copy
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.errors import KeyViolationError, StillNeededError, ValueRangeError
from lftj.syntax import tree
from tests.durable.inside import durable_of
from tests.oracle.pair import declare, typed
from tests.reference import ArithmeticFailure, FunctionConflict, evaluate
from tests.strategies.histories import Change
from tests.strategies.program_steps import (
    ProgramHistory,
    SetProgram,
    Step,
    program_histories,
)
from tests.strategies.schemas import BASES, Row, Spec

Rows = dict[str, set[Row]]
FEW = settings(max_examples=max(2, settings().max_examples // 2))


class Owned:
    """The state that a workspace must have: rows that came otherwise, programs, and their facts."""

    def __init__(self) -> None:
        self.free: Rows = {spec.name: set() for spec in BASES}
        self.programs: dict[str, SetProgram] = {}
        self.facts: dict[str, Rows] = {}
        self.specs: dict[str, Spec] = {spec.name: spec for spec in BASES}
        self.relations = self._evaluated()

    def take(self, step: Step) -> type[Exception] | tuple[type[Exception], ...] | None:
        """Do a step, or nothing and the error that it must end with."""
        after = copy.deepcopy(self)
        wrong = after._change(step) if isinstance(step, Change) else after._set(step)
        if wrong is not None:
            return wrong
        try:
            after.relations = after._evaluated()
        except (FunctionConflict, ArithmeticFailure):
            return KeyViolationError, ValueRangeError
        self.__dict__ = after.__dict__
        return None

    def rows(self, name: str) -> set[Row]:
        """Base rows of a relation."""
        facts = (each.get(name, set()) for each in self.facts.values())
        return self.free.get(name, set()).union(*facts)

    def _change(self, step: Change) -> type[Exception] | None:
        name, rows = step.relation, set(step.rows)
        spec = self.specs.get(name)
        if (
            spec is None
            or any(
                not _is_of(value, type_)
                for row in rows
                for value, type_ in zip(row, spec.types, strict=False)
            )
            or any(len(row) != len(spec.types) for row in rows)
        ):
            return lftj.LftjError
        gone = rows if step.verb == "delete" else set[Row]()
        if step.verb == "upsert":
            keys = {tuple(row[place] for place in spec.key or ()) for row in rows}
            gone = {
                row
                for row in self.rows(name)
                if tuple(row[place] for place in spec.key or ()) in keys and row not in rows
            }
        for held in (self.free, *self.facts.values()):
            held[name] = held.get(name, set()) - gone
        if step.verb != "delete":
            self.free[name] |= rows
        return None

    def _set(self, step: SetProgram) -> type[Exception] | None:
        held = {name: self.rows(name) for name in self.specs}
        old = self.programs.pop(step.name, None)
        self.facts.pop(step.name, None)
        others = {spec.name for each in self.programs.values() for spec in each.specs}
        new = {spec.name: spec for spec in step.specs}
        for spec in () if old is None else old.specs:
            if spec.name not in others and new.get(spec.name) != spec:
                if self.rows(spec.name) and not step.drop:
                    return StillNeededError
                if spec.name in new and replace(new[spec.name], key=spec.key) == spec:
                    key, before = new[spec.name].key, held[spec.name]
                    if not conflicts(before, key):
                        continue  # a change of its schema: rows stay
                    if self.rows(spec.name):
                        return KeyViolationError
                self.free.pop(spec.name, None)
                self.specs.pop(spec.name)
        for spec in step.specs:
            self.specs[spec.name] = spec
            self.free.setdefault(spec.name, set())
        if step.text.strip():
            self.programs[step.name] = step
            facts: Rows = {}
            for name, values in step.facts:
                facts.setdefault(name, set()).add(values)
            self.facts[step.name] = facts
        return None

    def _evaluated(self) -> Rows:
        declarations = [spec.declaration for spec in self.specs.values()]
        rules: list[tree.Rule] = []
        for program in self.programs.values():
            rules += [rule for rule in program.rules if rule not in rules]
        base = {name: self.rows(name) for name in self.specs}
        keys = {spec.name: spec.key for spec in self.specs.values() if spec.key is not None}
        return evaluate((*declarations, *rules), base, keys=keys)


def conflicts(rows: set[Row], key: tuple[int, ...] | None) -> bool:
    """Test for two rows of one key."""
    keys = {tuple(row[place] for place in key or ()) for row in rows}
    return key is not None and len(keys) < len(rows)


def _is_of(value: object, type_: str) -> bool:
    return type(value).__name__ == type_ or type_ not in ("int", "str")


def check(workspace: Any, owned: Owned) -> None:
    assert set(workspace.relations) == set(owned.specs)
    assert dict(workspace.programs) == {name: each.text for name, each in owned.programs.items()}
    for name, rows in owned.relations.items():
        assert typed(workspace[name].fetchall()) == typed(rows), name


def do(workspace: Any, owned: Owned, step: Step) -> None:
    version, wrong = workspace.version, owned.take(step)

    def commit() -> None:
        with workspace.transaction() as tx:
            if isinstance(step, Change):
                getattr(tx, step.verb)(step.relation, list(step.rows))
            else:
                tx.program(step.text, name=step.name, drop=step.drop)

    if wrong is None:
        commit()
    else:
        with pytest.raises(wrong):
            commit()
        assert workspace.version == version
    check(workspace, owned)


def begun(workspace: Any, history: ProgramHistory) -> Owned:
    for spec in BASES:
        declare(workspace, spec)
    owned = Owned()
    for name, rows in history.start.items():
        if rows:
            do(workspace, owned, Change("insert", name, tuple(rows)))
    return owned


@given(program_histories())
@FEW
def test_oracle_programs_that_change_equal_the_reference(history: ProgramHistory) -> None:
    with lftj.connect(keep="all") as workspace:
        owned = begun(workspace, history)
        past = {workspace.version: copy.deepcopy(owned)}
        for step in history.steps:
            do(workspace, owned, step)
            past[workspace.version] = copy.deepcopy(owned)
        for version, then in past.items():
            check(workspace.at(version), then)
        assert workspace.verify() == []
        for name, program in owned.programs.items():
            assert not workspace.program(program.text, name=name).came


@given(program_histories(), st.data())
@FEW
def test_oracle_programs_in_branches_and_files_equal_the_reference(
    history: ProgramHistory, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.lftj"
        workspace = lftj.connect(path, keep="all")
        models = {"main": begun(workspace, history)}
        past: dict[tuple[str, int], Owned] = {}
        for step in history.steps:
            match data.draw(st.sampled_from(["", "", "branch", "reopen", "checkpoint"])):
                case "branch" if "b" not in models:
                    workspace.branch("b")
                    models["b"] = copy.deepcopy(models["main"])
                case "checkpoint":
                    durable_of(workspace).checkpoint()
                case "reopen":
                    workspace.close()
                    workspace = lftj.connect(path, keep="all")
                case _:
                    pass
            name = data.draw(st.sampled_from(sorted(models)))
            do(workspace.branch(name), models[name], step)
            past[name, workspace.branch(name).version] = copy.deepcopy(models[name])
        workspace.close()
        with lftj.connect(path, keep="all") as workspace:
            for name, owned in models.items():
                check(workspace.branch(name), owned)
                assert workspace.branch(name).verify() == []
            for (name, version), owned in past.items():
                check(workspace.branch(name).at(version), owned)
