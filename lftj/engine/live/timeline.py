# SPDX-License-Identifier: Apache-2.0
"""The versions of one engine, past and to come: to read, to compare, to wait for."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from lftj.engine.delivery.consumers import Position, require_same
from lftj.engine.delivery.waking import Waking
from lftj.engine.live.schema_history import delta_between, rows_then
from lftj.engine.versions.noted_work import Noted
from lftj.engine.versions.past import Entry, log_result, not_kept
from lftj.engine.versions.result import Result
from lftj.engine.versions.schema_entry import SchemaChange, name_in, schema_change
from lftj.engine.versions.state import State
from lftj.errors import DeclarationError, DurableError
from lftj.program.normal_form import RelationSchema
from lftj.scantree.rows import difference
from lftj.storage.database import Database
from lftj.storage.delta import Delta, no_rows
from lftj.storage.relation import RelationVersion
from lftj.types.texts import Texts

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine

When = int | datetime
"""A version by its number, or by a moment at which it was the last one."""
_RECENT = 5e-7  # seconds, half of what a datetime tells apart


class Timeline:
    """Versions of an engine. A commit never waits for those who read here."""

    def __init__(self, engine: Engine):
        self._engine = engine

    @property
    def engine(self) -> Engine:
        """The engine as readers see it."""
        return self._engine.shown or self._engine

    # ── versions ──────────────────────────────────────────────────────────────────────────────────
    @property
    def last(self) -> int:
        """The last committed version."""
        return self.engine.state.version

    @property
    def oldest(self) -> int:
        """The oldest version that is kept."""
        engine = self.engine
        return (
            engine.past.oldest
            if engine.durable is None
            else engine.durable.past_of(engine).oldest()
        )

    def number(self, when: object) -> int:
        """The version of a moment, or a number as it is. Raises PastError (E371) for one that is
        not kept or not there yet, DeclarationError (E160) for anything else.
        """
        if isinstance(when, datetime) and when == when:  # pandas has one that is no moment
            when = self._number_of(when)
        if isinstance(when, bool) or not isinstance(when, int):
            raise DeclarationError(
                f"a version is a number or a datetime, found {when!r}",
                hint="ws.log() lists versions and times",
            )
        oldest, last = self.oldest, self.last
        if not oldest <= when <= last:
            raise not_kept(when, oldest, last, to_come=when > last)
        return when

    def _number_of(self, when: datetime) -> int:
        moment, entries = _seconds(when), self.entries()
        if moment - _RECENT > max(time.time(), entries[-1].time if entries else 0.0):
            raise not_kept(f"of {when}", self.oldest, self.last, to_come=True)
        before = -1
        for entry in entries:
            if entry.time > moment + _RECENT:
                first = entry.version - 1 if before < 0 else before
                if before < 0 and (first < self.oldest or first > 0):
                    raise not_kept(f"of {when}", self.oldest, self.last)
                return first
            before = entry.version
        return max(before, self.last)  # a reader's log may be ahead of it

    def state(self, version: int) -> State:
        """The state of a version. Raises PastError (E371) where it is not kept."""
        engine = self.engine
        now = engine.state
        if version == now.version:
            return now
        found = engine.past.state(version) if version >= self.oldest else None
        if found is None and engine.durable is not None and self.oldest <= version < now.version:
            found = engine.durable.past_of(engine).state(version)
        if found is None:
            raise not_kept(version, self.oldest, now.version)
        return found

    def held(self, version: int) -> State | None:
        """The state of a version where memory has it; None elsewhere."""
        return self.engine.past.state(version)

    def entries(self) -> list[Entry]:
        """The records of commits that are known."""
        engine = self.engine
        if engine.durable is None:
            return engine.past.entries()
        return engine.durable.past_of(engine).entries()

    def works(self, known: Collection[int]) -> list[Noted]:
        """The noted works of commits before those that this process remembers, and of others that
        the log has, but for the `known` versions.
        """
        spent = self.engine.spent
        return [
            *spent.before,
            *(
                work
                for entry in self.entries()
                if entry.version > spent.until and entry.version not in known
                for work in entry.works
            ),
        ]

    def log(self) -> Result:
        """The records as a table."""
        return log_result(self.entries(), self.last)

    # ── changes ───────────────────────────────────────────────────────────────────────────────────
    def schema(self, name: str) -> RelationSchema:
        """The schema of a relation of the last version. Raises UnknownNameError."""
        return self.engine.state.schema(name)

    def name_at(self, name: str, state: State) -> str:
        """The name that a relation of the last version has in another one."""
        return name_in(name, self.engine.state.program.catalog, state.program.catalog)

    def change(self, name: str, before: State, after: State) -> Result:
        """The rows of a relation, by its name in the later version, that one version has and
        another has not, as a change in the columns of the later one. O(change) where pages are
        shared.
        """
        schema = self._schema_at(name, after)
        delta = delta_between(self.engine, schema, before, after)
        return self.engine.change_set(after.version, schema, delta)

    def schema_change(self, name: str, before: State, after: State) -> SchemaChange | None:
        """Changes of the schema of a relation, by its name in the earlier version."""
        catalogs = before.program.catalog, after.program.catalog
        if catalogs[0] is catalogs[1]:
            return None
        return schema_change(name, *catalogs, after.version, self.engine.dictionary.texts())

    def _schema_at(self, name: str, state: State) -> RelationSchema:
        return state.program.catalog.relations.get(name) or self.schema(name)

    def change_from(self, name: str, before: State, texts: Texts, after: State) -> Result:
        """As `change`, from a version of another memory, whose strings are in `texts`. O(rows)."""
        from lftj.storage.durable.packed_changes import packed, unpacked

        engine, schema = self.engine, self._schema_at(name, after)
        catalog = after.program.catalog
        then = name_in(name, catalog, before.program.catalog)
        here = before.program.catalog.relations.get(then)
        moved = replace(before, database=Database(version=before.version))
        if here is not None:
            schemas = {then: here}
            rows = Delta(before.database[then].columns(), no_rows(here.arity))
            found = unpacked(packed({then: rows}, schemas, texts), schemas, engine.dictionary)
            made = RelationVersion.build(here, engine.arena, found[then].inserts)
            moved = replace(moved, database=moved.database.replace({then: made}))
        old = rows_then(engine, moved, schema, catalog)
        new = rows_then(engine, after, schema, catalog)
        rows = [no_rows(schema.arity) if each is None else each.columns() for each in (old, new)]
        delta = Delta(difference(rows[1], rows[0]), difference(rows[0], rows[1]))
        return engine.change_set(after.version, schema, delta)

    def changes(self, name: str, since: int, until: int) -> Iterator[Result]:
        """The change of each commit between two versions that changed the relation, by its name in
        the last version, and before it the change of its schema.
        """
        before = self.state(since)
        name = self.name_at(name, before)
        for version in range(since + 1, until + 1):
            after = self.state(version)
            if (altered := self.schema_change(name, before, after)) is not None:
                yield altered
                name = altered.relation
            if len(change := self.change(name, before, after)):
                yield change
            before = after

    # ── waiting ───────────────────────────────────────────────────────────────────────────────────
    @property
    def published(self) -> Waking:
        """Word of new versions of this process."""
        return self._engine.published

    @property
    def writes(self) -> bool:
        """False where another process commits, whose versions are looked for."""
        return self._engine.durable is None or self._engine.durable.write

    def wait(self, version: int, timeout: float | None) -> bool:
        """Wait until there is a later version than this, at most so many seconds; False where there
        is none.
        """
        engine = self._engine
        if not self.writes:
            try:
                return not engine.published.ended and engine.wait_for(version + 1, timeout)
            except DurableError:
                if engine.published.ended:  # closed meanwhile
                    return False
                raise
        seconds = None if timeout is None or math.isinf(timeout) else timeout
        return engine.published.wait(lambda: self.last > version, seconds)

    # ── consumers ─────────────────────────────────────────────────────────────────────────────────
    def consumer(self, name: str, relation: str, since: object) -> Position:
        """The position of a consumer; a new one begins at a version or moment, None: the last one.
        Raises ConsumerError (E372), PastError (E371), DeclarationError (E160), DurableError.
        """
        engine = self._engine
        if not isinstance(name, str) or not name:
            raise DeclarationError(
                f"a consumer has a name, found {name!r}", hint='write ws.consumer("mailer", view)'
            )
        relation = self.schema(relation).name
        if name not in engine.positions:
            with engine.writer.held():
                if name not in engine.positions:  # two threads may ask for it
                    start = self.last if since is None else self.number(since)
                    self.acknowledge(name, Position(relation, start))
        known = engine.positions[name]
        require_same(name, known, relation)
        return known

    def position(self, name: str) -> Position | None:
        """The position of a consumer; None once it has ended."""
        return self._engine.positions.get(name)

    @property
    def positions(self) -> Mapping[str, Position]:
        """The positions of all consumers, by name."""
        return dict(sorted(self._engine.positions.items()))

    def acknowledge(self, name: str, position: Position | None) -> None:
        """Have a consumer go on from here, or end. Raises DurableError; then it is as it was."""
        engine = self._engine
        if engine.durable is not None:
            engine.durable.require_writable()
            engine.durable.past_of(engine).acknowledge(name, position)
        if position is None:
            engine.positions.pop(name, None)
        else:
            engine.positions[name] = position
        engine.pin()


def _seconds(when: datetime) -> float:
    """Seconds since 1970. Those of the first and the last days there are may lie in no year of
    Python's once the zone is counted.
    """
    try:
        return when.timestamp()
    except (OverflowError, ValueError, OSError):
        return math.copysign(math.inf, when.year - 1970)
