# SPDX-License-Identifier: Apache-2.0
"""Changes in bulk of an open transaction in this process."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lftj import frames
from lftj.engine.commit.staging import codes_of
from lftj.engine.transaction import owned_facts
from lftj.engine.transaction.bulk import PlainKeys, Synced, identity_of, places_of, scope_of, sync
from lftj.engine.transaction.feeds import POSITIONS, Reading, net, require_positions
from lftj.engine.transaction.program_draft import RelationOrName
from lftj.engine.transaction.schema_draft import SchemaDraft
from lftj.engine.transaction.table_feeds import moved, require_name
from lftj.engine.versions.state import State
from lftj.frames.late_columns import HeldCodes
from lftj.program.normal_form import RelationSchema
from lftj.types import Type

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine


class BulkDraft(SchemaDraft):
    """Base of the draft of this process."""

    def __init__(self, engine: Engine, before: State):
        super().__init__(engine, before)
        self._plain: dict[str, PlainKeys] = {}
        """Keys of rows to delete, by relation, that are read when anything else is done with it."""

    @abstractmethod
    def framed_as(
        self, columns: Sequence[tuple[str, Type]], data: object, options: dict[str, Any]
    ) -> frames.Frame:
        """The data as a frame of these columns."""

    @abstractmethod
    def framed(self, schema: RelationSchema, data: object, options: dict[str, Any]) -> frames.Frame:
        """The data as a frame of the relation's columns, with its defaults."""

    @abstractmethod
    def went_from(self, name: str) -> bool:
        """Have programs hold no facts that operations deleted; True where some hold any."""

    def delete_keys(
        self, relation: RelationOrName, keys: object, strict: bool, options: dict[str, Any]
    ) -> None:
        """See `Transaction.delete`, with `keys`."""
        schema = self.writable(relation)
        if schema.key and not strict and not self.program.catalog.programs:
            if (plain := self._plain.get(schema.name)) is None:
                plain = self._plain[schema.name] = PlainKeys(schema)
            if plain.take(keys):
                self.outcome = None
                return
        places, data = places_of(schema, keys)
        columns = [schema.columns[place] for place in places]
        rows = self.framed_as(columns, data, options).columns
        staging = self.staging(schema.name)
        if strict:
            staging.require_keys(places, rows, self._engine.dictionary)
        staging.add(places, rows)
        self.went_from(schema.name)

    def read_plain(self, name: str) -> None:
        """Note the keys of rows to delete that came one by one."""
        plain = self._plain.pop(name, None)
        if plain is not None and plain.rows:
            rows = self.framed_as(plain.columns, plain.rows, {}).columns
            self.staging(name).add(tuple(self.schema(name).key or ()), rows)

    def apply_changes(
        self,
        relation: RelationOrName,
        changes: object,
        feed: str | None,
        position: int | str | None,
    ) -> int:
        """See `Transaction.apply_changes`."""
        schema = self.writable(relation)
        if (table := frames.versioned_table(changes)) is not None:
            require_name(schema.name, feed, position)
            return self._follow(schema, table, str(feed))
        require_positions(feed, position)
        known = None if feed is None else self._position(feed)
        if isinstance(position, int) and known is not None and position <= known:
            return 0
        reading = Reading(schema, position if isinstance(position, str) else None, known)
        read, places = reading.read(changes), reading.places
        written = self.coded(schema, read.written, {"place": read.place(read.written_at)})
        filled = {"defaults": schema.defaults, "place": read.place(read.gone_at)}
        gone = self.framed_as([schema.columns[place] for place in places], read.gone, filled)
        rows, keys = net(written, gone.columns, read, places)
        staging = self.staging(schema.name)
        if read.truncated:
            staging.add("delete", staging.where({}))
        staging.add(places, keys)
        staging.add("insert" if schema.key is None else "upsert", rows)
        if self.went_from(schema.name):
            owned_facts.came(self, schema.name, rows)
        last = position if isinstance(position, int) else read.last
        if feed is not None and last is not None and (known is None or last > known):
            self._note(feed, last)
        return read.count

    def _follow(self, schema: RelationSchema, table: frames.VersionedTable, feed: str) -> int:
        """Apply what changed in a table since the version of it that was applied last."""
        known, dictionary = self._position(feed), self._engine.dictionary
        found = moved(table, known, schema, lambda data: self.coded(schema, data, {}), dictionary)
        if found is None:
            return 0
        staging = self.staging(schema.name)
        staging.add("delete", found.went)
        staging.add("insert", found.came)
        if self.went_from(schema.name):
            owned_facts.came(self, schema.name, found.came)
        self._note(feed, table.version)
        return found.rows

    def _note(self, feed: str, position: int) -> None:
        """Have a feed be applied up to a position with the commit."""
        columns = self.coded(POSITIONS, [(feed, position)], {})
        self.staging(POSITIONS.name).add("upsert", columns)

    def _position(self, feed: str) -> int | None:
        """The position up to which a feed was applied, by the transaction too."""
        if POSITIONS.name not in self.program.catalog.relations:
            self.declare(POSITIONS, view=False)
        codes = codes_of(self.schema(POSITIONS.name), {"feed": feed}, self._engine.dictionary)
        if codes is None:
            return None
        found = self.staging(POSITIONS.name).where(codes)[1]
        return int(found[0]) if len(found) else None

    def sync(
        self,
        relation: RelationOrName,
        data: object,
        by: str | Sequence[str] | None,
        where: dict[str, object],
        options: dict[str, Any],
    ) -> Synced:
        """See `Transaction.sync`."""
        schema = self.writable(relation)
        places = identity_of(schema, by)
        staging = self.staging(schema.name)
        expected = staging.expected_texts()
        frame = self.framed(schema, data, options | {"late_from": 1, "expected": expected})
        rows = [HeldCodes(each) for each in frame.columns] if frame.late is None else frame.late
        if not schema.arity:
            rows = [HeldCodes(np.zeros(frame.rows, np.int64))]
        scope = scope_of(schema, rows, frame.rows, where, self._engine.dictionary)
        if scope is None:
            return Synced(0, 0, 0)
        found = sync(staging, schema, rows, frame.rows, places, scope)
        if self.went_from(schema.name):
            owned_facts.came(self, schema.name, [late() for late in rows])
        return found
