# SPDX-License-Identifier: Apache-2.0
"""State of an open transaction on a workspace over parts: a program, and steps per relation in
their order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import numpy as np

from lftj import frames
from lftj.distributed.bounds import Bounds
from lftj.distributed.committed_version import Present
from lftj.distributed.compiling_workers import Kernels
from lftj.distributed.files.entry import Entry, files_of
from lftj.distributed.files.manifest import ROWS, remove_files, reported_by_the_system
from lftj.distributed.files.row_files import read_entries
from lftj.distributed.objects.mounts import shown
from lftj.distributed.partitioning.cuts import ONE
from lftj.distributed.parts.pieces import place_in
from lftj.distributed.resolution import Resolution
from lftj.distributed.sending import Dependent, Files, Routed, Sent, Staged
from lftj.distributed.sources import Sources
from lftj.distributed.staged_steps import folded, push
from lftj.distributed.work.resolve import GONE, NEW, UPSERT
from lftj.engine.calls import Kind, refused
from lftj.engine.commit import codes_of, last_of_keys, require_key
from lftj.engine.programs import RuleHandle, without
from lftj.engine.transaction import Input, ProgramDraft, RelationOrName, moved, require_name
from lftj.heads import UserAggregate
from lftj.program import RelationSchema, source_of
from lftj.storage import Delta, base_name
from lftj.syntax import UserFunction, attending, tree
from lftj.types import Dictionary


class PartsDraft(ProgramDraft):
    """Operations of a transaction over parts. `dictionary` codes the rows that pass through the
    driver, for the time of the transaction.

    `bounds`: the limits of jobs before the commit. `ours` is False in a process that was forked
    from the one with the transaction. `kernels`: those that workers have. `batch`: the stream and
    the number of the micro-batch that it is.
    """

    def __init__(
        self,
        present: Present,
        bounds: Callable[[], Bounds],
        ours: Callable[[], bool],
        kernels: Kernels,
        batch: tuple[str, int] | None = None,
    ):
        super().__init__(present.program, present.views)
        self.compile_seconds = 0.0
        """Seconds that compiling kernels took."""
        self.dictionary = Dictionary()
        self.staged: dict[str, list[Staged]] = {}
        self.batches = {} if batch is None else dict([batch])
        self._present = present
        self._executor = present.executor
        self._bounds = bounds
        self._ours = ours
        self._kernels = kernels

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────
    def insert(
        self, relation: RelationOrName, data: object, strict: bool, options: dict[str, Any]
    ) -> None:
        """Rows that come; see `change`."""
        self.change(relation, data, 1, strict, options)

    def delete(
        self, relation: RelationOrName, data: object, strict: bool, options: dict[str, Any]
    ) -> None:
        """Rows that go; see `change`."""
        self.change(relation, data, -1, strict, options)

    def change(
        self,
        relation: RelationOrName,
        data: object,
        sign: int | str,
        strict: bool,
        options: dict[str, Any],
    ) -> None:
        """Rows that come or go; the last word on a row holds. Frames of executors and Parquet files
        wait for the commit, unless what is there already, or not there, is an error (`strict`).
        `sign`: see `Routed`, of which alone it may be a column.
        """
        schema, rows = self._read(relation, data, sign, options)
        if strict:
            self._resolve(schema, Dependent(NEW if sign == 1 else GONE, rows))
        else:
            push(self.staged.setdefault(schema.name, []), rows, schema)

    def upsert(self, relation: RelationOrName, data: object, options: dict[str, Any]) -> None:
        """Rows in place of those of their keys. They wait for the commit, or for what depends on
        them.
        """
        schema = self.writable(relation)
        require_key(schema)
        schema, rows = self._read(relation, data, 1, options, upsert=True)
        push(self.staged.setdefault(schema.name, []), Dependent(UPSERT, rows), schema)

    def delete_where(self, relation: RelationOrName, values: dict[str, object]) -> int:
        """Delete the rows with these values, at once, where they are; how many there were."""
        schema = self.writable(relation)
        codes_of(schema, values, self.dictionary)  # raises for columns and values that cannot be
        return self._resolve(schema, where=values)

    def bring(self, relation: str, entry: Entry) -> None:
        """Rows of a relation that has none, in files that lie below the path already."""
        self.staged[relation] = [Sent((entry,))]

    def steps(self, bounds: Bounds) -> dict[str, list[Staged]]:
        """All of it for the commit, by relation; what depends on rows that are there is settled by
        now.
        """
        relations = self.program.catalog.relations
        for name, steps in list(self.staged.items()):
            if any(isinstance(step, Dependent) for step in steps):
                self._resolve(relations[name], bounds=bounds)
        return {name: folded(steps, relations[name]) for name, steps in self.staged.items()}

    def _resolve(
        self,
        schema: RelationSchema,
        *more: Staged,
        where: dict[str, object] | None = None,
        bounds: Bounds | None = None,
    ) -> int:
        """Steps so far, and one more, become what they come to. Errors leave them as they were."""
        resolution = Resolution(self._present, schema, self.dictionary, bounds or self._bounds())
        steps = folded(self.staged.get(schema.name, []), schema)
        self._present.manifest.require_last(self._executor.path)
        what = (
            f"lftj: rows of {schema.name}, for commit {self._present.manifest.version + 1} of "
            f"{shown(self._executor.path)}"
        )
        with reported_by_the_system(self._executor.path), self._executor.described(what):
            entries, found = resolution.resolved([*steps, *more], where)
        if entries:
            self.staged[schema.name] = [Sent(tuple(entries))]
        else:
            self.staged.pop(schema.name, None)
        self._forget(steps)  # last: an interrupt must find nothing here that is gone there
        return found

    def changes_of(
        self, relations: Set[str], dictionary: Dictionary
    ) -> Iterator[tuple[RelationSchema, Delta]]:
        """The net changes of base rows of these relations so far, in codes of a dictionary. The
        parts that hold the rows find them: a job for each relation that was changed since it was
        asked about.
        """
        folder, parts = self._executor.path / ROWS, self._executor.partitions
        for name in relations & self.staged.keys():
            schema = self.program.catalog.relations[name]
            if any(not isinstance(step, Sent) for step in self.staged[name]):
                self._resolve(schema)
            steps = self.staged.get(name, ())
            entries = [each for step in steps if isinstance(step, Sent) for each in step.entries]
            with reported_by_the_system(self._executor.path):
                yield schema, read_entries(folder, entries, schema, ONE, 0, parts, dictionary)

    def annotate(self, message: str) -> None:
        """Refuse: commits of parts have no messages."""
        raise refused("log", Kind.PARTS, message)

    def acknowledge(self, consumer: str, position: object) -> None:
        """Refuse: parts have no consumers."""
        raise refused("ack", Kind.PARTS)

    def discard(self) -> None:
        """Remove the files of rows that went out already, unless they are a parent's whose
        transaction goes on.
        """
        if self._ours():
            with suppress(OSError):  # where the path is gone or read-only
                for steps in self.staged.values():
                    self._forget(steps)

    def _forget(self, steps: Iterable[Staged]) -> None:
        remove_files(
            self._executor.path,
            files_of(entry for step in steps if isinstance(step, Sent) for entry in step.entries),
        )

    def _read(
        self,
        relation: RelationOrName,
        data: object,
        sign: int | str,
        options: dict[str, Any],
        *,
        upsert: bool = False,
    ) -> tuple[RelationSchema, Delta | Routed | Files]:
        schema = self.writable(relation)
        options = {"defaults": schema.defaults, **options}

        def check(
            file: str | None, found: Any
        ) -> None:  # now, not by the job, which may have other work to do first, or no rows
            table = found.empty_table().drop_columns([sign] if isinstance(sign, str) else [])
            place = None if file is None else place_in(file)
            frames.read(table, schema.columns, dictionary=self.dictionary, place=place, **options)

        sources = Sources(self._executor, schema, sign, options, check)
        if (found := sources.found(data)) is not None:
            return schema, found
        frame = frames.read(data, schema.columns, dictionary=self.dictionary, **options)
        columns = frame.columns if schema.arity else [_zeros(frame.rows)]
        columns = last_of_keys(schema, columns) if upsert else columns
        return schema, Delta.insertion(columns) if sign == 1 else Delta.deletion(columns)

    # ── the program ───────────────────────────────────────────────────────────────────────────────
    def declare(self, schema: RelationSchema, *, view: bool) -> None:
        """Declare a relation, as `ProgramDraft.declare`, and compile what it needs."""
        self.compile_seconds += self._kernels.compile([schema], (), self._bounds())
        super().declare(schema, view=view)

    @contextmanager
    def _reading(self, text: object) -> Iterator[None]:
        bounds = self._bounds()
        bounds.budget.check_memory(program=2 * len(text) if isinstance(text, str) else 0)
        with attending(bounds.budget.read_on):
            yield

    def add_aggregate(self, aggregate: UserAggregate) -> None:
        """Refuse: parts run no function of the user's."""
        raise refused("add_aggregate", Kind.PARTS)

    def add_function(self, function: UserFunction) -> None:
        """Refuse, as `add_aggregate`."""
        raise refused("add_function", Kind.PARTS)

    def set_program(
        self,
        name: str,
        text: str,
        file: str | None = None,
        facts: str | os.PathLike[str] | None = None,
        allow_paths: bool = False,
        drop: bool = False,
        alter: bool = False,
    ) -> NoReturn:
        """Refuse: parts derive every view anew when rules change."""
        raise refused("program", Kind.PARTS)

    def alter(self, relation: RelationOrName, request: object) -> NoReturn:
        """Refuse: parts have the schemas that their files were written with."""
        raise refused("alter", Kind.PARTS)

    def delete_keys(self, *_: object) -> NoReturn:
        """Refuse: rows are found by one column only, `delete_where`."""
        raise refused("delete by keys", Kind.PARTS)

    def apply_changes(
        self, relation: RelationOrName, changes: object, feed: str | None, position: object
    ) -> int:
        """Apply what changed in a table of Delta or Iceberg, noted as a micro-batch is. The first
        time executors read it. Refuse other changes: deletions have keys, not rows.
        """
        if (table := frames.versioned_table(changes)) is None:
            raise refused("apply_changes", Kind.PARTS)
        schema = self.writable(relation)
        require_name(schema.name, feed, position)
        noted = f"table {feed}"
        known = self.batches.get(noted, self._present.manifest.batches.get(noted))
        options: dict[str, Any] = {"mapping": {}}  # other columns are left out
        if known is None:
            self.change(relation, table, 1, False, options)
            self.batches[noted] = table.version
            return table.count()

        def coded(data: object) -> list[np.ndarray]:
            given = {"dictionary": self.dictionary, "defaults": schema.defaults}
            return list(frames.read(data, schema.columns, **given).columns)

        if (found := moved(table, known, schema, coded, self.dictionary)) is None:
            return 0
        steps = self.staged.setdefault(schema.name, [])
        push(steps, Delta.deletion(found.went), schema)
        push(steps, Delta.insertion(found.came), schema)
        self.batches[noted] = table.version
        return found.rows

    def sync(self, *_: object) -> NoReturn:
        """Refuse: the rows that are there do not come to the driver."""
        raise refused("sync", Kind.PARTS)

    def drop_relation(self, relation: RelationOrName) -> NoReturn:
        """Refuse, as `alter`."""
        raise refused("drop_relation", Kind.PARTS)

    def _add(self, parsed: tree.ParsedProgram, inputs: Iterator[Input]) -> list[RuleHandle]:
        before = self.program, {name: list(steps) for name, steps in self.staged.items()}
        try:
            return self._added(parsed, inputs)
        except BaseException:
            self.program, self.staged = before
            raise

    def _added(self, parsed: tree.ParsedProgram, inputs: Iterator[Input]) -> list[RuleHandle]:
        program, added = self.program.add(parsed)
        for name in program.asked:
            rule = program.rule(source_of(name) or 0)
            raise refused("asking in a cycle", Kind.PARTS, rule)
        rules = [rule.relation for source in added for rule in program.sources[source].normal.rules]
        for stratum in program.order.strata_of(rules):
            if stratum.summed:
                raise refused("several rules that add up", Kind.PARTS, stratum.relations[0])
        schemas = [program.stratified.relations[name] for name in rules]
        strata = program.order.strata_of(rules)
        self.compile_seconds += self._kernels.compile(schemas, strata, self._bounds())
        handles = [RuleHandle(source, program.rule(source)) for source in added]
        self.program = program
        for name, rows in program.facts.items():
            schema = program.catalog.relation(name)
            columns = (
                frames.read(rows, schema.columns, dictionary=self.dictionary).columns
                if schema.arity
                else [_zeros(1)]
            )
            push(self.staged.setdefault(name, []), Delta.insertion(columns), schema)
            handles.append(RuleHandle(None, None, (name, tuple(rows))))
        for given in inputs:
            with given.reading():
                self.change(given.relation, given.path, 1, False, given.options)
        return handles

    def remove_rules(self, handles: list[RuleHandle]) -> None:
        """Remove rules, and the facts of handles of facts. Raises UnknownNameError (E114) for a
        rule that is not there.
        """
        program = self.program
        for handle in handles:
            program = without(program, handle)
        self.program = program
        for handle in handles:
            if handle.facts is not None:
                self.change(handle.facts[0], list(handle.facts[1]), -1, False, {})

    def check(self, counts: Mapping[str, int], *, after: bool = False) -> None:
        """Raise DeclarationError (E163) for rows of a relation whose rule aggregates; `counts` are
        those that are there, before the commit, when those of relations that change are not known
        yet, or `after` it.
        """
        for name in self.program.catalog.relations:
            if (
                self.program.catalog.aggregated(name)
                and (after or name not in self.staged)
                and counts.get(base_name(name))
            ):
                raise self.program.catalog.rows_refused(name)


def _zeros(rows: int) -> np.ndarray:
    return np.zeros(rows, np.int64)
