# SPDX-License-Identifier: Apache-2.0
"""The task of a commit: one part does a step, and writes what others, users or later versions are
to read.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from lftj.distributed.files.deliveries import Log, delivery_name, read_delivery
from lftj.distributed.files.entry import Entry
from lftj.distributed.files.row_files import write_entry
from lftj.distributed.partitioning.cuts import Cut
from lftj.distributed.partitioning.part_plan import Output
from lftj.distributed.parts.failure import Failure
from lftj.distributed.parts.heavy_values import heavy_values
from lftj.distributed.parts.part import Advance, PartState
from lftj.distributed.parts.shuffle import News
from lftj.distributed.parts.task import Exchanged, PartDone, PartTask
from lftj.distributed.stored.shared_relations import OtherCodesError
from lftj.distributed.work.worker import Holding, Kept, Worker, carefully
from lftj.program import RelationSchema
from lftj.scantree.jit import compile_seconds
from lftj.storage import Delta, base_name


def run_stage(task: PartTask) -> PartDone | Failure:
    """Do a step of a commit. Raises what has to be tried again."""
    return carefully(task, lambda worker: _stage(task, worker))


def _stage(task: PartTask, worker: Worker) -> PartDone:
    started, compiled = time.perf_counter(), compile_seconds()
    run = _Run(task, worker)
    run.require_last()
    try:
        done = run.stage()
    finally:
        run.tidy()
    done.compile_seconds = compile_seconds() - compiled
    done.seconds = time.perf_counter() - started - done.compile_seconds
    return done


class _Run(Holding[PartTask]):
    def __init__(self, task: PartTask, worker: Worker):
        super().__init__(task, worker)
        self.done = PartDone(task.part)

    @property
    def afresh(self) -> bool:
        return self.task.afresh

    @property
    def emptied(self) -> bool:
        return self.task.emptied

    def in_the_middle(self, kept: Kept) -> bool:
        return kept.advance is not None and kept.advance.token == self.task.token

    def stage(self) -> PartDone:
        task, done, step = self.task, self.done, self.task.steps[-1]
        advance = self._advance().within(task.limits, task.elastic)
        before = len(advance.works)
        try:
            self._take(advance, advance.before)
        except OtherCodesError as others:
            advance, before = Advance.begin(self.state_under(others), task.token), 0
            self._take(advance.within(task.limits, task.elastic))
        self.worker.parts[self.key].advance = advance
        done.works = advance.works[before:]
        done.changed = frozenset(advance.deltas)
        for number, output in enumerate(self.plan.outputs):
            if step.closes and output.stage == step.stage and output.local in advance.deltas:
                self._write(number, output, advance.deltas[output.local])
        if (exchange := advance.exchange) is not None:
            self._tell(exchange.news)
            moved, more = exchange.moved(advance.now.database), exchange.overdeleted
            done.exchanged = Exchanged(
                moved, exchange.shrank, exchange.grew, exchange.asked, exchange.gave_up, more
            )
        if len(task.steps) == 1:
            self._net(advance.net)
        self.worker.checkpoints.check()
        self._checkpoint(advance)
        done.origin, done.read = self.origin, self.read
        return done

    def _take(self, advance: Advance, known: PartState | None = None) -> None:
        """Do the steps that are not done yet."""
        while advance.steps < len(self.task.steps):
            rows = self.rows(self._brought(advance.steps), known)
            advance.take(self.task.steps[advance.steps], rows, self.host)

    def _brought(self, step: int) -> Log:
        """Rows that a step of the commit brings to this part."""
        task = self.task
        return read_delivery(self.folder / delivery_name(task.version, task.token, step), task.part)

    def _checkpoint(self, advance: Advance) -> None:
        rows = sum(map(len, advance.deltas.values()))
        self.worker.checkpoints.changed(
            self.task, self.task.program_name, advance.finished(), self.host, rows
        )

    def _advance(self) -> Advance:
        """Progress of this commit through the part; begun anew where this very stage was done
        before.
        """
        kept = self.worker.parts.get(self.key)
        if kept is not None and kept.advance is not None and kept.advance.token == self.task.token:
            advance, kept.advance = kept.advance, None  # if it fails now, it has not been
            return (
                advance
                if advance.steps < len(self.task.steps)
                else Advance.begin(advance.before, self.task.token)
            )
        state = self.state()
        self.worker.parts[self.key].advance = None
        return Advance.begin(state, self.task.token)

    # ── rows out ──────────────────────────────────────────────────────────────────────────────────
    def _write(self, number: int, output: Output, delta: Delta) -> None:
        if output.shares:
            # With the number of the part in front; the column that a relation without columns is
            # stored with goes.
            inserts, erases = (
                [np.full(len(rows[0]), self.task.part, np.int64), *rows]
                for rows in (delta.inserts, delta.erases)
            )
            delta = Delta(inserts, erases)
        self.done.entries[output.relation] = self._entry(
            f"{number}", output.schema, delta, output.cuts
        )
        self.done.rows[output.relation] = delta.inserted, delta.erased

    def _tell(self, news: Mapping[str, News]) -> None:
        """Write the rows that other parts have to hold, in all cuts. They are read in the next
        superstep, and part of no version.
        """
        for number, (name, (schema, cuts, rows)) in enumerate(news.items()):
            self.done.entries[name] = self._entry(
                f"news{number}.{len(self.task.steps)}", schema, rows, cuts
            )

    def _entry(self, name: str, schema: RelationSchema, delta: Delta, cuts: Sequence[Cut]) -> Entry:
        task = self.task
        stem = f"{task.version}-{task.token}-{task.part}-{name}"
        return write_entry(
            self.folder, stem, task.version, schema, delta, cuts, task.parts, self.host.dictionary
        )

    def _net(self, net: Mapping[str, Delta]) -> None:
        """Base rows that came and went; written down where they are not all that was asked for."""
        sent = self._brought(0)
        for number, (name, delta) in enumerate(net.items()):
            home = self.plan.homes[name]
            pieces = [entry.piece(home) for entry in sent.get(base_name(name), ())]
            asked = sum(
                count for piece in pieces for part, count in piece.parts if part == self.task.part
            )
            # As many rows as changed: each of them did, and none is there twice. Of a relation that
            # one process left this holds anyway.
            exact = any(piece.is_left for piece in pieces) or (
                all(piece.lies_by(home) for piece in pieces) and asked == len(delta)
            )
            schema = self.plan.program.catalog.relation(name)
            entry = None if exact else self._entry(f"net{number}", schema, delta, (home,))
            self.done.net[name] = delta.inserted, delta.erased, entry
            if (sample := self.task.samples.get(name)) is not None:
                rows = [column[:: sample.step] for column in delta.inserts]
                self.done.counted |= heavy_values(schema, rows, None, sample, self.host.dictionary)
