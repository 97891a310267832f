# SPDX-License-Identifier: Apache-2.0
"""Draft of an open transaction in this process: a program that may differ from the committed one,
and pending operations per relation.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lftj import frames
from lftj.engine.commit.commit import Proposal
from lftj.engine.commit.staging import Staging, codes_of, require_key
from lftj.engine.delivery.consumers import Position
from lftj.engine.machine_code.compiled_ahead import compile_for
from lftj.engine.programs.handles import RuleHandle, number_of, without
from lftj.engine.programs.program_change import Change, ProgramChange, between, changed
from lftj.engine.programs.text_difference import difference
from lftj.engine.transaction import owned_facts
from lftj.engine.transaction.altering import alter, drop
from lftj.engine.transaction.bulk_draft import BulkDraft
from lftj.engine.transaction.program_draft import (
    Input,
    RelationOrName,
    inputs_of,
    require_program,
)
from lftj.engine.transaction.redeclaring import redeclared
from lftj.engine.transaction.requests import Request
from lftj.errors import DeclarationError
from lftj.heads.user import UserAggregate
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.program.schema import FunctionSignature, UserAggregateSignature, bound_as, signature_of
from lftj.scantree.process.garbage import collector_paused
from lftj.storage.delta import Columns, Delta, no_rows
from lftj.storage.relation import RelationVersion
from lftj.syntax import tree
from lftj.syntax.attention import attending
from lftj.syntax.parser import parse
from lftj.syntax.user_function import UserFunction
from lftj.tuning.aids import COLUMNAR_LOAD
from lftj.types import Type
from lftj.types.texts import Texts

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine

_FEW = 1_000
"""Rows of a list that are read without looking for cyclic garbage, as reading makes none."""


class Draft(BulkDraft):
    """Operations of a transaction in this process."""

    def __init__(self, engine: Engine):
        super().__init__(engine, engine.tip)
        self._aggregates = dict(self.before.aggregates)
        self.message: str | None = None
        self.begun = time.perf_counter()
        self.merged: Engine | None = None
        """The branch whose changes are among these operations."""

    def annotate(self, message: str) -> None:
        """Set the message of the commit."""
        self.message = message

    def acknowledge(self, consumer: str, position: Position) -> None:
        """Have a consumer go on from here with the commit."""
        self.positions[consumer] = position

    def texts(self) -> Texts:
        """The strings of this moment."""
        return self._engine.dictionary.texts()

    def discard(self) -> None:
        """Remove what was written ahead: nothing is."""

    def proposal(self) -> Proposal:
        """All of it, for the commit."""
        for name in list(self._plain):
            self.staging(name)
        return Proposal(
            self.program,
            self.views,
            self._aggregates,
            frozenset(self._changed_rules),
            self._staged,
            self._dropped,
            self.base,
        )

    def compilations(self) -> list[RuleWork]:
        """Record of the compilation that the program needs, for the profile of the commit; mostly
        empty.
        """
        return (
            [
                RuleWork(
                    "", "", "compiled", compile_seconds=self._compile_seconds, outcome="compiled"
                )
            ]
            if self._compile_seconds
            else []
        )

    def staging(self, name: str) -> Staging:
        """The pending operations on a relation."""
        self.outcome = None
        if self._plain:
            self.read_plain(name)
        if (staging := self._staged.get(name)) is None:
            committed = (
                self.base.base(name)
                if name in self.base.database and self.kept(name)
                else RelationVersion.empty(self.schema(name), self._engine.arena)
            )
            self._staged[name] = staging = Staging(committed, keyed=self.obeys_key(name))
        return staging

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────
    def insert(
        self, relation: RelationOrName, data: object, strict: bool, options: dict[str, Any]
    ) -> None:
        """See `Transaction.insert`; `strict`: a row that is there is an error."""
        schema = self.writable(relation)
        held = self.program.catalog.programs and owned_facts.held(self, schema.name)
        if strict or held:
            rows = self.coded(schema, data, options)
            if strict:
                rows = self.staging(schema.name).refuse(rows, True, self._engine.dictionary)
            self.staging(schema.name).add("insert", rows)
            if held:
                owned_facts.came(self, schema.name, rows)
        else:
            self._insert(schema, data, options)

    def _insert(self, schema: RelationSchema, data: object, options: dict[str, Any]) -> None:
        """Insert the rows that are not there."""
        tuning = self._engine.tuning
        staging = self.staging(schema.name)
        by_columns = staging.untouched and COLUMNAR_LOAD not in tuning.without
        late_from = tuning.load_rows if by_columns else None
        frame = self.framed(schema, data, options | {"late_from": late_from})
        if frame.late is not None:
            staging.load(frame.late)
        else:
            staging.add("insert", _stored(schema, frame))

    def delete(
        self, relation: RelationOrName, data: object, strict: bool, options: dict[str, Any]
    ) -> None:
        """See `Transaction.delete`; `strict`: a row that is not there is an error."""
        schema, rows = self._read(relation, data, options)
        if strict:
            rows = self.staging(schema.name).refuse(rows, False, self._engine.dictionary)
        self.staging(schema.name).add("delete", rows)
        self.went_from(schema.name)

    def upsert(self, relation: RelationOrName, data: object, options: dict[str, Any]) -> None:
        """See `Transaction.upsert`."""
        schema, rows = self._read(relation, data, options)
        require_key(schema)
        self.staging(schema.name).add("upsert", rows)
        if self.went_from(schema.name):
            owned_facts.came(self, schema.name, rows)

    def delete_where(self, relation: RelationOrName, values: dict[str, object]) -> int:
        """See `Transaction.delete_where`."""
        schema = self.writable(relation)
        codes = codes_of(schema, values, self._engine.dictionary)
        staging = self.staging(schema.name)
        rows = no_rows(schema.arity) if codes is None else staging.where(codes)
        staging.add("delete", rows)
        self.went_from(schema.name)
        return len(rows[0])

    def went_from(self, name: str) -> bool:
        """Have programs hold no facts that operations deleted; True where some hold any."""
        if not (self.program.catalog.programs and owned_facts.held(self, name)):
            return False
        owned_facts.went(self, name)
        return True

    def _read(
        self, relation: RelationOrName, data: object, options: dict[str, Any]
    ) -> tuple[RelationSchema, Columns]:
        schema = self.writable(relation)
        return schema, self.coded(schema, data, options)

    def coded(self, schema: RelationSchema, data: object, options: dict[str, Any]) -> Columns:
        """The data as code columns, as stored; `options`: of `frames.read`."""
        return _stored(schema, self.framed(schema, data, options))

    def framed(self, schema: RelationSchema, data: object, options: dict[str, Any]) -> frames.Frame:
        """The data as a frame of the relation's columns; `options`: of `frames.read`."""
        return self.framed_as(schema.columns, data, {"defaults": schema.defaults, **options})

    def framed_as(
        self, columns: Sequence[tuple[str, Type]], data: object, options: dict[str, Any]
    ) -> frames.Frame:
        """The data as a frame of these columns."""
        with _paused_for(data):
            return frames.read(data, columns, dictionary=self._engine.dictionary, **options)

    # ── the program ───────────────────────────────────────────────────────────────────────────────
    def declare(self, schema: RelationSchema, *, view: bool) -> None:
        """Declare a relation, as `ProgramDraft.declare`, and compile what it needs."""
        self.outcome = None
        with attending(self._engine.context({}).budget.read_on):
            self._compile_seconds += compile_for([schema], ())
        super().declare(schema, view=view)

    def add_aggregate(self, aggregate: UserAggregate) -> None:
        """See `Workspace.add_aggregate`."""
        self.outcome = None
        if aggregate.result_type is None:
            raise DeclarationError(
                f"aggregate `{aggregate.name}` has no result_type",
                hint="say result_type=lftj.INT or another type",
            )
        if self._aggregates.get(aggregate.name, aggregate) is not aggregate:
            raise DeclarationError(
                f"aggregate `{aggregate.name}` is defined already", hint="choose another name"
            )
        signature = UserAggregateSignature(
            aggregate.name, aggregate.argument_types, aggregate.result_type
        )
        self.program = self.program.with_aggregate(signature)
        self._aggregates[aggregate.name] = aggregate

    def add_function(self, function: UserFunction) -> None:
        """See `Workspace.function`."""
        signature = signature_of(function)
        known = self.program.catalog.functions.get(function.name)
        if known is not None and bound_as(function, known):
            signature = known
        else:
            self.take_function(signature)
        self._engine.functions[signature.name, signature.version] = function

    def take_function(self, signature: FunctionSignature) -> None:
        """Let rules call a function. What calls one of its name and other code is derived anew."""
        self.outcome = None
        known = self.program.catalog.functions.get(signature.name)
        self.program = self.program.with_function(signature)
        if known is not None and known.version != signature.version:
            self._changed_rules |= self.program.calling([signature.name])

    def learn(self, signature: FunctionSignature, results: RelationVersion) -> None:
        """Know results of a function that were found elsewhere. O(those that are new)."""
        name = signature.results.name
        known = self.base.database.get(name)
        known = RelationVersion.empty(signature.results, results.arena) if known is None else known
        if len((news := results.difference(known)).inserts[0]):
            self._staged[name] = Staging(known)
            self._staged[name].add("insert", news.inserts)

    @contextmanager
    def _reading(self, text: object) -> Iterator[None]:
        """Context in which a program is read under the limits of this thread."""
        context = self._engine.context({})
        context.budget.check_memory(2 * len(text) if isinstance(text, str) else 0)
        with attending(context.budget.read_on):
            yield

    def _add(self, parsed: tree.ParsedProgram, inputs: Iterator[Input]) -> list[RuleHandle]:
        self.outcome = None
        program, added = self.program.add(parsed, self.sizes)
        rules = [rule.relation for source in added for rule in program.sources[source].normal.rules]
        schemas = [program.stratified.relations[name] for name in rules]
        self._compile_seconds += compile_for(schemas, program.order.strata_of(rules))
        handles = [RuleHandle(source, program.rule(source)) for source in added]
        facts = []
        for name, rows in program.facts.items():
            columns = self.coded(program.catalog.relation(name), rows, {})
            facts.append((name, columns))
            handles.append(RuleHandle(None, None, (name, tuple(rows))))
        for given in inputs:
            with given.reading():
                facts.append(
                    (
                        given.relation,
                        self.coded(
                            self.writable(given.relation, program), given.path, given.options
                        ),
                    )
                )
        self._changed_rules |= _heads(self.program, program.revised) | _heads(
            program, [*added, *program.revised]
        )
        self.program = program
        for name, columns in facts:
            self.staging(name).add("insert", columns)
            if program.catalog.programs and owned_facts.held(self, name):
                owned_facts.came(self, name, columns)
        return handles

    def change_rows(self, name: str, delta: Delta) -> None:
        """Delete and insert rows of a relation."""
        self.staging(name).add("delete", delta.erases)
        self.staging(name).add("insert", delta.inserts)
        if self.went_from(name):
            owned_facts.came(self, name, delta.inserts)

    def set_program(
        self,
        name: str,
        text: str,
        file: str | None = None,
        facts: str | os.PathLike[str] | None = None,
        allow_paths: bool = False,
        drop: bool = False,
        alter: bool = False,
    ) -> ProgramChange:
        """See `Transaction.program`."""
        require_program(name, text)
        before, mark = self.program, self.mark()
        with self._reading(text), self._doubting():
            known = before.catalog.programs.get(name)
            if known is None or known.text != text or not known.whole:
                try:
                    self._take(self._changed_to(name, text, file or name, drop, alter), name)
                except BaseException:
                    self.reset(mark)
                    raise
            if facts is not None:
                self._read_inputs(inputs_of(parse(text, file or name), facts, allow_paths))
        return between(before, self.program)

    def _changed_to(self, name: str, text: str, file: str, drop: bool, alter: bool) -> Change:
        found = difference(self.program, name, text, file)
        if found.dropped and redeclared(self, name, found, drop=drop, altering=alter):
            found = difference(self.program, name, text, file)
        return changed(
            self.program,
            name,
            text,
            found,
            drop=drop,
            alter=alter,
            sizes=self.sizes,
            rows_otherwise=partial(owned_facts.rows_otherwise, self),
        )

    def _take(self, change: Change, name: str) -> None:
        """Make a change of a program."""
        self.outcome = None
        before, program = self.program, change.program
        rules = _heads(program, change.added)
        schemas = [program.stratified.relations[each] for each in rules]
        self._compile_seconds += compile_for(schemas, program.order.strata_of(rules))
        known = before.catalog.relations
        declared = [each for each in program.catalog.relations.values() if each.name not in known]
        self._compile_seconds += compile_for(declared, ())
        self._changed_rules |= _heads(before, change.removed) | _heads(before, program.revised)
        self._changed_rules |= rules | _heads(program, program.revised)
        gone = change.dropped & self.base.database.keys()
        self._dropped |= gone
        for each in change.dropped:
            self._staged.pop(each, None)
        self.views -= change.dropped
        program = owned_facts.taken(self, change, name)
        self.program = program.with_dropped(gone, self.before.version + 1) if gone else program

    # ── schemas ───────────────────────────────────────────────────────────────────────────────────
    def alter(self, relation: RelationOrName, request: Request) -> RelationSchema:
        """See `Transaction.alter`."""
        return alter(self, self.schema(relation).name, request)

    def drop_relation(self, relation: RelationOrName) -> None:
        """See `Transaction.drop_relation`."""
        self.require_untouched(name := self.schema(relation).name)
        drop(self, name)

    def _read_inputs(self, inputs: Iterator[Input]) -> None:
        """Insert rows of files."""
        for given in inputs:
            with given.reading():
                self.insert(given.relation, given.path, False, given.options)

    def remove_rules(self, handles: list[RuleHandle]) -> None:
        """Remove rules, and the facts of fact handles. Raises UnknownNameError (E114) for a rule
        that is not there.
        """
        self.outcome = None
        program, changed = self.program, set[str]()
        for handle in handles:
            if handle.facts is None:
                changed |= _heads(program, [number_of(handle, program)])
            program = without(program, handle)
            changed |= _heads(program, program.revised)
        # codes may have been given to other strings since, so facts are kept as values
        removed = [handle.source for handle in handles if handle.source is not None]
        program = program.with_programs_less(removed) if program.catalog.programs else program
        facts = [
            (handle.facts[0], self.coded(self.schema(handle.facts[0]), handle.facts[1], {}))
            for handle in handles
            if handle.facts
        ]
        self.program = program
        self._changed_rules |= changed
        for name, columns in facts:
            self.staging(name).add("delete", columns)
            self.went_from(name)


def _paused_for(data: object) -> AbstractContextManager[None]:
    """Pause the collector for a list of few rows. Others may take long, or be made by the user's
    code while they are read.
    """
    few = type(data) is list and len(data) <= _FEW
    return collector_paused() if few else nullcontext()


def _stored(schema: RelationSchema, frame: frames.Frame) -> Columns:
    """The columns of a frame as a relation has them."""
    return frame.columns if schema.arity else [np.zeros(frame.rows, dtype=np.int64)]


def _heads(program: Program, sources: Iterable[int]) -> set[str]:
    """The relations that these rules derive, hidden ones included. Raises
    UnknownNameError (E114).
    """
    for source in sources:
        program.rule(source)
    return {rule.relation for source in sources for rule in program.sources[source].normal.rules}
