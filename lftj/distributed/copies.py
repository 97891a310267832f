# SPDX-License-Identifier: Apache-2.0
"""Copies of a version's relations in this process, in which rows are explained and plans analyzed.

A proof crosses parts: the rows that it rests on lie in any of them. So what a row is derived from
is read from the files of all parts, views as they are kept there; nothing of it is derived again
but hidden relations that rules read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

from lftj.distributed.committed_version import Present
from lftj.distributed.files.entry import Entry
from lftj.distributed.result import summed
from lftj.engine.calls import LimitStack
from lftj.engine.live import Engine, read
from lftj.engine.programs import RuleHandle
from lftj.engine.questions import question_body
from lftj.engine.versions import State
from lftj.explain.plans import written
from lftj.explain.present import reads_of, relations_below
from lftj.partition import Executor
from lftj.program import RelationSchema, Stratification, StratifiedProgram
from lftj.storage import Database, Delta, RelationVersion, base_name
from lftj.syntax import attending
from lftj.types import Dictionary
from lftj.views import NO_STATES, refresh

ReadEntries = Callable[[Executor, Sequence[Entry], RelationSchema, Dictionary], Delta]
"""Reads what entries come to."""


@dataclass
class Copies:
    """An engine with the relations of one version that were asked about so far; others are empty.
    `state` grows.
    """

    engine: Engine
    present: Present
    state: State
    reads: ReadEntries = summed
    known: dict[str, tuple[Entry, ...]] = field(default_factory=dict)
    """The relations that are here, with the files that they were read from."""
    complete: set[str] = field(default_factory=set)
    """The relations that are here with all that they are derived from, hidden relations too."""
    _lock: Lock = field(default_factory=Lock)

    def shows(self, present: Present) -> bool:
        """Test for copies of this version."""
        own, other = self.present.manifest, present.manifest
        return (own.token, own.version) == (other.token, other.version)

    @staticmethod
    def of(
        present: Present,
        engine: Engine,
        beside: Copies | None = None,
        reads: ReadEntries = summed,
    ) -> Copies:
        """Copies of nothing yet, in an engine. `beside`: copies of another version there, to be
        compared with it.
        """
        program = present.program
        empty = {
            name: RelationVersion.empty(schema, engine.arena)
            for name, schema in program.stratified.relations.items()
        }
        for name, schema in program.catalog.relations.items():
            if program.derives(name) and name not in present.views:
                own = replace(schema, name=base_name(name))
                empty[own.name] = RelationVersion.empty(own, engine.arena)
        database = Database(empty, present.manifest.version)
        lock, reads = (Lock(), reads) if beside is None else (beside._lock, beside.reads)
        return Copies(engine, present, State(program, database, present.views), reads, _lock=lock)

    def below(self, relations: Iterable[str], beside: Copies | None = None) -> State:
        """The state with these relations and all that they are derived from. O(rows) at first;
        relations of which `beside` has the same files are taken from there.
        """
        rules = [source.rule for source in self.state.program.sources.values()]
        names = [name for name in relations_below(rules, relations) if name in self._catalog]
        with self._lock, self.engine.dictionary.in_use():
            if not self.complete.issuperset(names):
                self._read(names, beside)
                self.complete.update(names)
                self.state = replace(self.state, database=self._with_hidden(self.state.database))
            return self.state

    def having(self, relations: Iterable[str]) -> State:
        """The state with these relations, which rows are read of, and nothing is explained. O(rows)
        at first.
        """
        with self._lock, self.engine.dictionary.in_use():
            self._read(relations)
            return self.state

    def answering(self, question: object) -> State:
        """The state with all that a question is about. Raises what reading a question raises."""
        asked = read(self.engine, self.state, question)
        reads = set().union(*(stratum.reads for stratum in asked.program.order.strata))
        hidden = reads - self._catalog.keys() - asked.fresh.keys()
        sources = self.state.program.sources.values()
        heads = {
            head.relation
            for source in sources
            if not hidden.isdisjoint(schema.name for schema in source.normal.hidden)
            for head in source.rule.heads
        }
        if heads:
            self.below(heads)
        return self.having(reads & self._catalog.keys())

    def carried(self, present: Present) -> Copies:
        """Copies of a later version: the relations that are here are there, too, as far as it is
        known what came since. O(changed rows).
        """
        after, found = Copies.of(present, self.engine, self), dict[str, RelationVersion]()
        since = present.manifest.version_of(self.present.manifest.token)
        if since is None:
            return after
        with self._lock, self.engine.dictionary.in_use():
            for name in self._catalog:
                for schema, entries in self._stored(name):
                    if schema.name in self.known:
                        files = tuple(present.manifest.log.get(entries, ()))
                        later = [entry for entry in files if entry.version > since]
                        old = self.state.database[schema.name]
                        found[schema.name] = old.apply(old.net(self._summed(later, schema)))
                        after.known[schema.name] = files
        after.state = replace(after.state, database=after.state.database.replace(found))
        return after

    def _summed(self, entries: Sequence[Entry], schema: RelationSchema) -> Delta:
        return self.reads(self.present.executor, entries, schema, self.engine.dictionary)

    @property
    def _catalog(self) -> dict[str, RelationSchema]:
        return dict(self.state.program.catalog.relations)

    def _read(self, names: Iterable[str], beside: Copies | None = None) -> None:
        """Read relations from the files of all parts, but those that are here."""
        log, context = self.present.manifest.log, self.engine.context({})
        files: dict[str, tuple[Entry, ...]] = {}
        found: dict[str, RelationVersion] = {}
        for name in names:
            if name in self.known:
                continue
            for schema, entries in self._stored(name):
                files[schema.name] = tuple(log.get(entries, ()))
                found[schema.name] = self._rows(files[schema.name], schema, beside)
            context.budget.check_memory()
        self.known |= files
        self.state = replace(self.state, database=self.state.database.replace(found))

    def _stored(self, name: str) -> Iterator[tuple[RelationSchema, str]]:
        """The relations that a relation consists of, each with the name that its files have."""
        schema, base = self._catalog[name], base_name(name)
        if not self.present.plan.derived(name):
            yield schema, base
            return
        yield schema, name
        if base in self.state.database:
            yield replace(schema, name=base), base

    def _rows(
        self, files: tuple[Entry, ...], schema: RelationSchema, beside: Copies | None
    ) -> RelationVersion:
        if beside is not None and beside.known.get(schema.name) == files:
            there = beside.state.database[schema.name]
            if there.schema == schema:
                return there
        rows = self._summed(files, schema).inserts
        return RelationVersion.build(schema, self.engine.arena, rows)

    def _with_hidden(self, database: Database) -> Database:
        """The hidden relations of rules whose heads are complete, derived from what these read."""
        program = self.state.program
        hidden = [
            schema
            for source in program.sources.values()
            if any(head.relation in self.complete for head in source.rule.heads)
            for schema in source.normal.hidden
        ]
        if not hidden:
            return database
        names = [schema.name for schema in hidden]
        own = Stratification.of(program.order.strata_of(names))
        stratified = StratifiedProgram(program.stratified.relations, own)
        context = self.engine.context({})
        empty = {schema.name: RelationVersion.empty(schema, self.engine.arena) for schema in hidden}
        database = database.replace(empty)
        with attending(context.budget.plan_on):
            return refresh(
                stratified,
                database,
                database,
                {},
                NO_STATES,
                context,
                changed_rules=frozenset(names),
            ).database


def engine_for(present: Present, limits: LimitStack) -> Engine:
    """An engine for copies of a workspace's relations. Explanations keep to these limits."""
    engine = Engine(30.0, None, tuning=present.settings.tuning)
    engine.limits = limits
    return engine


def relations_of(what: object, rules: Iterable[RuleHandle]) -> list[str]:
    """The relations that a plan reads or derives: of a rule, by its handle or text, or a query."""
    rule = what if isinstance(what, RuleHandle) else written(what, rules)
    if rule is None:
        return reads_of(question_body(what))
    if rule.rule is None:
        return []
    return [*(head.relation for head in rule.rule.heads), *reads_of(rule.rule)]
