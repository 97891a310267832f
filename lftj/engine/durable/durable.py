# SPDX-License-Identifier: Apache-2.0
"""Durability of a workspace: each commit is in the log before anyone sees it; pages follow by
checkpoints, which no commit waits for.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from lftj.engine.calls.refusals import opened_to_read
from lftj.engine.commit.commit import Outcome
from lftj.engine.delivery.consumers import Position
from lftj.engine.durable import vacuum
from lftj.engine.durable.branch_tips import Kept, Tip
from lftj.engine.durable.checkpoint import forget_written, program_text, words_of_pages, written
from lftj.engine.durable.folder import (
    PAGES,
    UNCHECKED,
    copy_workspace,
    sweep,
    system_errors,
)
from lftj.engine.durable.group_commit import GroupCommit, Logged, Waiting
from lftj.engine.durable.reading import DurableReading, EngineOutcomes
from lftj.engine.durable.schedule import Checkpoints
from lftj.engine.versions.ancestry import Ancestry
from lftj.engine.versions.past import Entry
from lftj.engine.versions.state import State
from lftj.errors import DurableError, LftjError
from lftj.frames.whole_files import sync_folder
from lftj.scantree.watched_files import FileDamagedError
from lftj.storage.delta import Delta
from lftj.storage.durable import log_branches
from lftj.storage.durable.log import Checkpoint, Commit, Log
from lftj.storage.durable.log_records import write_positions
from lftj.storage.durable.packed_changes import packed

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine

_NO_ROWS = b"[]\n"
"""No changes, as `packed` writes them."""
_SPARE_BYTES = 1 << 16
"""Bytes of old commits, or of strings that came, beyond which closing looks for room to give back:
writing pages again against room.
"""


class Durable(DurableReading):
    """The durable side of one engine and its branches. The engine's writer lock is held for all but
    `checkpoint`.
    """

    def __init__(
        self,
        engine: Engine,
        path: Path,
        *,
        write: bool = True,
        create: bool = True,
        durability: str = "full",
    ):
        """Open the folder, or begin it with what the engine has. Raises DurableError."""
        self._due = Checkpoints(self.checkpoint, lambda: engine.tuning)
        self.group = GroupCommit(self._write)
        """Commits that wait for the log."""
        super().__init__(engine, path, write=write, create=create, durability=durability)

    def followed(self, outcomes: EngineOutcomes) -> None:
        """Note what opening followed beyond the checkpoint: it counts towards the next one."""
        if self.write:
            rows = sum(self._rows(outcome) for _, outcome in outcomes)
            steps = sum(outcome.work for _, outcome in outcomes)
            self._due.changed(rows, steps, commits=self._kept.number - self._stored)

    # ── committing ────────────────────────────────────────────────────────────────────────────────
    def require_writable(self) -> None:
        """Raise DurableError (E356) where the workspace was opened to read."""
        if not self.write:
            raise opened_to_read(self.path, "close it, and open it without read_only")
        _ = self.log

    def caught_up(self, engine: Engine) -> State:
        """The state that the log has of a branch; another one than the engine's where an interrupt
        came between a commit and its publishing.
        """
        return self._kept.tips[engine.number].state if self._kept.number else engine.state

    def append(
        self,
        engine: Engine,
        outcome: Outcome,
        entry: Entry,
        positions: Mapping[str, Position],
        merged: Engine | None = None,
        ancestry: Ancestry | None = None,
    ) -> None:
        """Make a commit durable, with its record and the consumers that acknowledge with it, before
        anyone sees it. Raises DurableError; then it has not happened.
        """
        logged = self._logged(engine, outcome, entry, positions, merged, ancestry)
        if logged is not None:
            if self._paged(logged.rows):
                self._append_pages(logged.commit, logged.after, logged.beside)
                self._due.changed(logged.rows, logged.steps)
            else:
                self._write([logged])
        elif positions:
            with self.log.writing() as connection:
                write_positions(connection, positions, engine.number)

    def enter(
        self,
        engine: Engine,
        before: State,
        outcome: Outcome,
        entry: Entry,
        positions: Mapping[str, Position],
        publish: Callable[[], object],
    ) -> Callable[[], None] | None:
        """Have a commit, which builds on a state, wait to be logged and published with others; a
        call that waits for that, or None where the commit is to be appended. Raises DurableError.
        """
        if self._paged(self._rows(outcome)):
            return None
        logged = self._logged(engine, outcome, entry, positions)
        if logged is None:
            return None

        def sound() -> bool:
            last = self.group.last or self._kept
            tip = self.group.state(engine.number, engine.state)
            return before is tip and last.number == logged.commit.number - 1

        waiting = Waiting(logged, outcome.state, publish)
        self.group.enter(waiting, sound)
        return partial(self.group.wait, waiting)

    def _logged(
        self,
        engine: Engine,
        outcome: Outcome,
        entry: Entry,
        positions: Mapping[str, Position],
        merged: Engine | None = None,
        ancestry: Ancestry | None = None,
    ) -> Logged | None:
        """A commit as it is to be logged, with its rows where these are not to be pages; None where
        nothing has changed. Raises DurableError.
        """
        self.require_whole()
        state, kept = outcome.state, self.group.last or self._kept
        tip = kept.tips[engine.number]
        text = self._changed_text(tip, state)
        if text is None and state.version == tip.state.version:
            return None
        rows = self._rows(outcome)
        content = b"" if self._paged(rows) else self._packed(state, outcome.base_changes)
        event = None if merged is None else log_branches.merges(merged.number)
        number = kept.number + 1
        commit = Commit(number, state.version, entry.time, text, content, 0, engine.number, event)
        past = self.past_of(engine)
        beside = partial(past.beside, number=number, entry=entry, positions=positions)
        tip = replace(tip, state=state, text=tip.text if text is None else text)
        after = kept.after(commit, tip=tip, ancestry=ancestry)
        return Logged(commit, after, beside, rows, outcome.work)

    def _paged(self, rows: int) -> bool:
        """Tell whether so many changed rows are written as pages, and not into the log."""
        return rows >= self._engine.tuning.paged_rows

    def _rows(self, outcome: Outcome) -> int:
        return sum(map(len, outcome.base_changes.values()))

    def _write(self, commits: Sequence[Logged]) -> None:
        """Write commits as one, after which all is as after the last of them."""

        def beside(connection: Connection) -> None:
            for each in commits:
                each.beside(connection)

        found = self.log.append([each.commit for each in commits], self._kept.sum, beside=beside)
        self._kept = replace(commits[-1].after, sum=found)
        for each in commits:
            self._due.changed(each.rows, each.steps)

    def _append(
        self, commit: Commit, after: Kept, beside: Callable[[Connection], None] = lambda _: None
    ) -> None:
        """Write an event, after which all is as in `after`."""
        self._write([Logged(commit, after, beside, 0, 0)])

    def _packed(self, state: State, changes: Mapping[str, Delta]) -> bytes:
        schemas = state.program.catalog.kept
        return packed(changes, schemas, self._engine.dictionary.texts())

    def _append_pages(
        self, commit: Commit, after: Kept, beside: Callable[[Connection], None]
    ) -> None:
        """Write the pages of all branches, and a commit with them, in the place of rows in the
        log.
        """
        with self._storing, system_errors(self.path):
            try:
                record = self._written(after)
            except OSError as reason:
                if reason.errno == errno.EIO:
                    self.log.fail(f"pages could not be written: {reason}")
                raise
            past = self._needed() is not None
            found = self.log.append([commit], self._kept.sum, record, beside=beside, past=past)
            self._kept, self._stored = replace(after, sum=found), commit.number

    def _changed_text(self, tip: Tip, state: State) -> str | None:
        """The program where it is another one than before."""
        before = tip.state
        if (
            state.program is before.program
            and state.views == before.views
            and state.aggregates == before.aggregates
        ):
            return None
        text = program_text(state, self._engine.tuning)
        return None if text == tip.text else text

    def begin_with(self, engines: list[Engine], ancestry: Ancestry) -> None:
        """Have an empty folder begin with branches, main first, and their consumers. O(pages)."""
        tips = {engine.number: self._first_tip(engine) for engine in engines}
        main = tips[0]
        commit = Commit(1, main.state.version, time.time(), main.text, b"")

        def consumers(connection: Connection) -> None:
            for engine in engines:
                write_positions(connection, engine.positions, engine.number)

        self._append_pages(commit, Kept(tips, 1, 0, ancestry), consumers)

    def _first_tip(self, engine: Engine) -> Tip:
        text = program_text(engine.state, self._engine.tuning)
        line = ((engine.number, log_branches.LAST),)
        return Tip(engine.state, text, engine.name, engine.number, line)

    # ── branches ──────────────────────────────────────────────────────────────────────────────────
    def begin_branch(self, name: str, parent: Engine, ancestry: Ancestry) -> int:
        """Make the beginning of a branch durable; the number that it has. Raises DurableError."""
        number = self._kept.number + 1
        tip = self._kept.tips[parent.number].begin(name, number)
        commit = self._event(tip, log_branches.begins(name, parent.number))
        self._append(commit, self._kept.after(commit, tip=tip, ancestry=ancestry))
        return number

    def drop_branch(self, engine: Engine, ancestry: Ancestry) -> None:
        """Make the end of a branch durable. Raises DurableError."""
        self.require_writable()
        commit = self._event(self._kept.tips[engine.number], log_branches.ends())
        after = self._kept.after(commit, without=engine.number, ancestry=ancestry)
        consumers = dict.fromkeys(engine.positions)
        self._append(
            commit, after, partial(write_positions, positions=consumers, branch=engine.number)
        )
        self._pasts.pop(engine.number, None)

    def _event(self, tip: Tip, event: str) -> Commit:
        """A commit that changes no rows."""
        number, version, nothing = self._kept.number + 1, tip.state.version, _NO_ROWS
        return Commit(number, version, time.time(), None, nothing, 0, tip.number, event)

    # ── checkpoints ───────────────────────────────────────────────────────────────────────────────
    def checkpoint(self) -> None:
        """Write pages of the last commit, and remove what nobody needs any more. Where that cannot
        be, the log has all. Any thread may do it.
        """
        with self._storing:
            kept, log = self._kept, self._log
            if log is None or kept.number == self._stored:
                return
            with suppress(MemoryError, FileDamagedError, DurableError), self._disk_errors(log):
                record = self._written(kept)
                point = Checkpoint(kept.number, record, kept.sum)
                left = log.add_checkpoint(point, self._needed())
                self._stored = kept.number
                sweep(self.path, left, self._engine.arena.mapped)
                log.move_into_database()

    def compact(self) -> int:
        """Write all pages of the last commit into one file, and remove everything older; how many
        files were removed. With the engine's writer lock held. O(pages). Raises DurableError.
        """
        with self._storing, system_errors(self.path):
            before = set(os.listdir(self.path / PAGES))
            kept, log = self._kept, self.log
            if not kept.number:
                return 0
            self.require_whole_files()
            record = self._written(kept, anew=True)
            left = log.add_checkpoint(
                Checkpoint(kept.number, record, kept.sum), self._needed(), keep=1
            )
            self._stored, self._lasting = kept.number, 0
            sweep(self.path, left, ())
            log.compact()
            return len(before - set(os.listdir(self.path / PAGES)))

    def backup(self, target: Path) -> None:
        """Write a workspace as it is now to another folder, while commits go on. O(files). Raises
        DurableError; then `target` is not there.
        """
        with self._storing:  # no file is removed meanwhile
            copy_workspace(self.path, target, self.log)

    @contextmanager
    def _disk_errors(self, log: Log) -> Iterator[None]:
        """Pass over errors of the system. One of the disk ends all commits: nobody knows which of
        the bytes that were written before it are on disk.
        """
        try:
            yield
        except OSError as reason:
            if reason.errno == errno.EIO:
                log.fail(f"a checkpoint could not be written: {reason}")

    def _written(self, kept: Kept, *, anew: bool = False) -> dict[str, Any]:
        engines = {engine.name: engine for engine in self._engine.family()}
        record = written(kept, engines, self.pages, self._strings, anew=anew)
        if self._lasting is None:
            self._lasting = vacuum.bytes_of_strings(self.pages.folder, record["strings"])
        return {**record, "lasting": self._lasting}

    def _needed(self) -> int | None:
        """The number of the commit from which on all are to be reached; None where nobody asked for
        the past.
        """
        needed = (self.past_of(engine).needed() for engine in self._engine.family())
        return min((each for each in needed if each is not None), default=None)

    def _give_back(self) -> None:
        """Give back room of what nobody needs any more, where there is much of it, and main is the
        only branch. Where that cannot be, it stays.
        """
        kept, log, tuning = self._kept, self._log, self._engine.tuning
        if log is None or not 0 < kept.number == self._stored or len(kept.tips) > 1:
            return
        with (
            self._storing,
            suppress(MemoryError, FileDamagedError, LftjError),
            self._disk_errors(log),
        ):
            needed = self._needed()
            pages = words_of_pages(self.pages) * 8
            if vacuum.room_in_log(log, needed or 0) > _SPARE_BYTES + pages // 2 or (
                self._bytes_of_strings() > _SPARE_BYTES + 2 * (self._lasting or 0)
            ):
                number = log.checkpoints()[-1] if needed is None else needed
                most = 2 * tuning.checkpoint_commits
                before = kept
                if number != kept.number:
                    before = vacuum.older(log, self.past, number, most, tuning)
                if before is not None:
                    self._write_anew(log, [before, kept] if before is not kept else [kept])

    def _write_anew(self, log: Log, versions: Sequence[Kept]) -> None:
        """Write pages and strings of versions into new files, as the only checkpoints."""
        self.require_whole_files()
        engines = {engine.name: engine for engine in self._engine.family()}
        for each in versions:
            forget_written(each, engines, self.pages)
        records = [self._written(each) for each in versions]
        folder = self.pages.folder
        chain = vacuum.without_the_dead(folder, records, self._engine.dictionary)
        chain = chain or records[-1]["strings"]
        lasting = vacuum.bytes_of_strings(folder, chain)
        records = [{**record, "strings": chain, "lasting": lasting} for record in records]
        sync_folder(folder)
        log.replace_checkpoints(
            [
                Checkpoint(each.number, record, each.sum)
                for each, record in zip(versions, records, strict=True)
            ]
        )
        sweep(self.path, records, ())
        log.compact()

    def _bytes_of_strings(self) -> int:
        return vacuum.bytes_of_strings(self.pages.folder, self._strings.chain())

    # ── the end ───────────────────────────────────────────────────────────────────────────────────
    def close(self) -> None:
        """Write what is left, and let others write. Harmless when repeated."""
        if self._lock is not None and not self._lock.ours:
            return  # a forked child: all of it is the parent's
        self.group.flush()
        self._due.stop()
        if self.write:
            self.checkpoint()
            self._give_back()
            with suppress(OSError):
                (self.path / UNCHECKED).unlink(missing_ok=True)
        self.abandon()
