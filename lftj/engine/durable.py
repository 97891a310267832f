"""Durability of a workspace: each commit is in the log before anyone sees it; pages follow by
checkpoints, which no commit waits for.

Opening maps the pages of the last checkpoint and follows the commits after it as one change. A
checkpoint that cannot be opened is passed over for the one before, from which the log leads on.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from lftj.engine.checkpoint import adopt_tuning, opened, program_text, written
from lftj.engine.commit import Outcome
from lftj.engine.consumers import Position
from lftj.engine.durable_folder import (
    PAGES,
    UNCHECKED,
    ReadersLock,
    copy_workspace,
    require_workspace,
    sweep,
    system_errors,
    writer_lock,
)
from lftj.engine.past import Entry
from lftj.engine.replay import replayed
from lftj.engine.state import State
from lftj.engine.stored_past import StoredPast
from lftj.errors import DurableError, LftjError
from lftj.storage.delta import Delta
from lftj.storage.durable.folder_lock import FolderLock
from lftj.storage.durable.log import Checkpoint, Commit, Log
from lftj.storage.durable.log_records import write_positions
from lftj.storage.durable.packed_changes import packed
from lftj.storage.durable.stored_pages import NOT_TO_BE_HAD, StoredPages
from lftj.storage.durable.stored_strings import StoredStrings
from scantree.segment import unchecked_segments
from scantree.watched_files import FileDamagedError, Watch

if TYPE_CHECKING:
    from lftj.engine.engine import Engine

COMMITS = 256
"""Commits after which a checkpoint is written."""
ROWS = 1 << 17
"""Changed rows after which one is."""
LARGE = 1 << 20
"""Changed rows of one commit from which its rows are written as pages, and not into the log."""
_PAUSE = 0.2  # seconds in which more commits may come before a checkpoint


@dataclass(frozen=True)
class Kept:
    """A committed state as the log knows it: the number and the checksum of its commit, and the
    program as text.
    """

    state: State
    number: int
    sum: int
    text: str


class Durable:
    """The durable side of one engine. The engine's writer lock is held for all but `checkpoint`."""

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
        self.path, self.write = path, write
        self._engine = engine
        self._lock: FolderLock | None = None
        self._readers: ReadersLock | None = None
        self._log: Log | None = None
        self._kept = Kept(engine.state, 0, 0, "")
        self._storing = threading.Lock()
        self._skipped: list[int] = []
        self.past = StoredPast(self, engine)
        self._stored = 0
        self._due = Checkpoints(self.checkpoint)
        self.forget_stored()
        require_workspace(path, create=create and write)
        try:
            if write:
                self._lock = writer_lock(path)
            else:
                self._readers = ReadersLock(path)
            self._log = Log(path, write=write, durability=durability)
        except BaseException:
            self.abandon()
            raise

    @property
    def log(self) -> Log:
        """The log. Raises DurableError (E350) in a forked child, which may not go on with it."""
        assert self._log is not None
        if self._lock is not None and not self._lock.ours:
            raise DurableError(
                f"{self.path} was opened by the process that this one was forked from",
                hint="write in that one; a child may open the path itself, with read_only=True",
            )
        return self._log

    def forget_stored(self) -> None:
        """Forget what is stored: the engine's arena and dictionary are new."""
        engine = self._engine
        self.pages = StoredPages(engine.arena, self.path / PAGES)
        self._strings = StoredStrings(engine.dictionary, engine.arena.watch)

    # ── opening ───────────────────────────────────────────────────────────────────────────────────
    def open(self) -> None:
        """Have the engine, which is empty, begin with the files. Raises DurableError."""
        died = (self.path / UNCHECKED).exists()
        skip = self._skipped = []
        trouble: BaseException | None = None
        while True:
            try:
                point, commits = self.log.opened(skip)
            except DurableError as reason:
                raise reason if trouble is None else self.damaged(trouble) from trouble
            if point is None:
                break
            try:
                self._take(point, everything=died and self.write)
                break
            except NOT_TO_BE_HAD as reason:
                if isinstance(reason, DurableError):
                    raise
                trouble = reason
                skip.append(point.number)
                self._engine.begin_anew()
                self.forget_stored()
        try:
            self._follow(commits)
        except NOT_TO_BE_HAD as reason:
            if isinstance(reason, DurableError):
                raise
            raise self.damaged(reason) from reason
        if self.write and skip:
            self.log.drop_checkpoints(skip)
        self._engine.positions = self.past.positions()
        self._engine.pin()
        if self.write and self._engine.arena.watch.files:
            with suppress(OSError):
                (self.path / UNCHECKED).touch()

    def open_at(self, number: int, following: int | None = None) -> None:
        """Have the engine, which is empty, begin with one checkpoint, or nothing for 0, and follow
        the commits up to the `following` one, or all. Raises DurableError, or whatever opening a
        damaged one does.
        """
        skip = [each for each in self.log.checkpoints() if each > number]
        if following is None:
            found = self.log.opened(skip)
        else:  # rows of a large commit are in its checkpoint alone
            found = self.log.before(following, skip) or self.log.before(following - 1, skip)
        if found is None:
            raise self.log.damaged("commits are missing")
        point, commits = found
        if point is not None:
            self._take(point, everything=False)
        self._follow(commits)

    def salvage(self) -> None:
        """Have the engine, which is empty, begin with what is left of damaged files. Raises
        DurableError where no checkpoint can be opened.
        """
        trouble: BaseException | None = None
        for point, commits in self.log.salvaged():
            try:
                if point is not None:
                    with unchecked_segments():
                        self._take(point, everything=False)
                self._follow(commits)
                return
            except (*NOT_TO_BE_HAD, LftjError) as reason:
                trouble = reason
                self._engine.begin_anew()
                self.forget_stored()
        raise self.damaged(trouble or ValueError("nothing is left"))

    def _take(self, point: Checkpoint, *, everything: bool) -> None:
        engine = self._engine
        state = opened(engine, point.record, self.pages, self._strings)
        if everything:
            engine.arena.watch.check(everything=True)
        engine.state = state
        self._kept = Kept(state, point.number, point.sum, point.record["program"])
        self._stored = point.number

    def _follow(self, commits: list[Commit]) -> Outcome | None:
        """Go on by commits of the log, those that made this state excluded."""
        if not commits:
            return None
        engine, kept = self._engine, self._kept
        for text in (commit.program for commit in commits):
            if text is not None:
                adopt_tuning(engine, text)
        outcome = replayed(engine, kept.state, commits)
        texts = [commit.program for commit in commits if commit.program is not None]
        last = commits[-1]
        self._kept = Kept(outcome.state, last.number, last.sum, texts[-1] if texts else kept.text)
        engine.state = outcome.state
        return outcome

    def damaged(self, reason: BaseException) -> DurableError:
        """The error for files that are not what was written."""
        return DurableError(
            f"{self.path} is damaged: {reason}", code="E353", hint="take it back from a copy"
        )

    # ── committing ────────────────────────────────────────────────────────────────────────────────
    def require_writable(self) -> None:
        """Raise DurableError (E356) where the workspace was opened to read."""
        if not self.write:
            raise DurableError(
                f"{self.path} is open with read_only=True",
                code="E356",
                hint="close it, and open it without read_only",
            )
        _ = self.log

    def caught_up(self) -> State:
        """The state that the log has; another one than the engine's where an interrupt came between
        a commit and its publishing.
        """
        return self._kept.state if self._kept.number else self._engine.state

    def append(self, outcome: Outcome, entry: Entry, positions: Mapping[str, Position]) -> None:
        """Make a commit durable, with its record and the consumers that acknowledge with it, before
        anyone sees it. Raises DurableError; then it has not happened.
        """
        self.require_whole()
        state, kept = outcome.state, self._kept
        text = self._changed_text(state)
        if text is None and state.version == kept.state.version:
            if positions:
                with self.log.writing() as connection:
                    write_positions(connection, positions)
            return
        rows = sum(map(len, outcome.base_changes.values()))
        commit = Commit(kept.number + 1, state.version, entry.time, text, b"")
        beside = partial(self.past.beside, number=commit.number, entry=entry, positions=positions)
        now = kept.text if text is None else text
        if rows >= LARGE:
            self._append_pages(commit, state, now, beside)
        else:
            content = self._packed(state, outcome.base_changes)
            found = self.log.append([commit._replace(rows=content)], kept.sum, beside=beside)
            self._kept = Kept(state, commit.number, found, now)
        self._due.changed(rows)

    def _packed(self, state: State, changes: Mapping[str, Delta]) -> bytes:
        schemas = state.program.catalog.relations
        return packed(changes, schemas, self._engine.dictionary.texts())

    def _append_pages(
        self,
        commit: Commit,
        state: State,
        text: str,
        beside: Callable[[Connection], None],
    ) -> None:
        """Write a state's pages, and its commit with them, in the place of rows in the log."""
        with self._storing, system_errors(self.path):
            try:
                record = self._written(state, text)
            except OSError as reason:
                if reason.errno == errno.EIO:
                    self.log.fail(f"pages could not be written: {reason}")
                raise
            past = self.past.needed() is not None
            found = self.log.append([commit], self._kept.sum, record, beside=beside, past=past)
            self._kept, self._stored = Kept(state, commit.number, found, text), commit.number

    def _changed_text(self, state: State) -> str | None:
        """The program where it is another one than before."""
        before = self._kept.state
        if (
            state.program is before.program
            and state.views == before.views
            and state.aggregates == before.aggregates
        ):
            return None
        text = program_text(state, self._engine.tuning)
        return None if text == self._kept.text else text

    def begin_with(self, state: State, positions: Mapping[str, Position]) -> None:
        """Have an empty folder begin with a state and consumers. O(pages)."""
        text = program_text(state, self._engine.tuning)
        commit = Commit(1, state.version, time.time(), text, b"")
        self._append_pages(commit, state, text, partial(write_positions, positions=positions))

    def require_whole(self, watch: Watch | None = None) -> None:
        """Raise DurableError (E353) where mapped pages that were looked at are not what was
        written. `watch`: of the files, where they are not those of the engine any more.
        """
        try:
            (watch or self._engine.arena.watch).check()
        except FileDamagedError as reason:
            raise self.damaged(reason) from None

    def require_whole_files(self) -> None:
        """Compare all mapped pages with their checksums. O(files). Raises DurableError (E353)."""
        try:
            self._engine.arena.watch.check(everything=True)
        except FileDamagedError as reason:
            raise self.damaged(reason) from None

    # ── reading on ────────────────────────────────────────────────────────────────────────────────
    def refresh(self) -> Outcome | None:
        """Go on to the last commit of whoever writes; the change, or None where there is none, or
        the commits are not kept any more and all is opened again. Raises DurableError.
        """
        kept = self._kept
        commits = self.log.since(kept.number, kept.sum)
        if commits is None:
            self._engine.begin_anew()
            self.forget_stored()
            self.open()
            return None
        return self._follow(commits)

    def last_version(self) -> int:
        """The version of the last commit in the log."""
        return self.log.last()[1]

    def strange(self) -> list[int]:
        """Checkpoints that this process cannot open: damaged ones, and those of a writer in whose
        dictionary strings have other codes.
        """
        if self.write:
            return self._skipped
        with self.log.reading() as connection:
            found = connection.execute(
                "SELECT number FROM checkpoints WHERE number > ?", (self._stored,)
            ).fetchall()
        return [*self._skipped, *(number for (number,) in found)]

    def storing(self) -> AbstractContextManager[Any]:
        """For the length of a block, no checkpoint is written."""
        return self._storing

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
                record = self._written(kept.state, kept.text)
                point = Checkpoint(kept.number, record, kept.sum)
                left = log.add_checkpoint(point, self.past.needed())
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
            record = self._written(kept.state, kept.text, anew=True)
            left = log.add_checkpoint(
                Checkpoint(kept.number, record, kept.sum), self.past.needed(), keep=1
            )
            self._stored = kept.number
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

    def _written(self, state: State, text: str, *, anew: bool = False) -> dict[str, Any]:
        return written(self._engine, state, text, self.pages, self._strings, anew=anew)

    # ── the end ───────────────────────────────────────────────────────────────────────────────────
    def close(self) -> None:
        """Write what is left, and let others write. Harmless when repeated."""
        if self._lock is not None and not self._lock.ours:
            return  # a forked child: all of it is the parent's
        self._due.stop()
        if self.write:
            self.checkpoint()
            with suppress(OSError):
                (self.path / UNCHECKED).unlink(missing_ok=True)
        self.abandon()

    def abandon(self) -> None:
        """Let go of files and locks, and write nothing."""
        log, self._log = self._log, None
        if log is not None:
            log.close()
        for lock in (self._lock, self._readers):
            if lock is not None:
                lock.release()


class Checkpoints:
    """Schedule of checkpoints: a thread writes one, a moment after enough has changed."""

    delayed = True
    """False: none is written but by `close`."""

    def __init__(self, write: Callable[[], None]):
        self._write = write
        self._commits = self._rows = 0
        self._writing = False
        self._wake = threading.Event()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def changed(self, rows: int) -> None:
        """Note a commit of so many rows."""
        self._commits, self._rows = self._commits + 1, self._rows + rows
        if (self._commits < COMMITS and self._rows < ROWS) or not self.delayed:
            return
        self._commits = self._rows = 0
        if self._thread is None:
            thread = threading.Thread(target=self._go_on, name="checkpoints", daemon=True)
            with suppress(RuntimeError):  # the system allows no more: close() writes one
                thread.start()
                self._thread = thread
        self._wake.set()

    def _go_on(self) -> None:
        while not self._over.is_set():
            self._wake.wait()
            self._over.wait(_PAUSE)
            self._writing = True
            self._wake.clear()
            if not self._over.is_set():
                self._write()
            self._writing = False

    def wait(self) -> None:
        """Wait until nothing is due."""
        while self._thread is not None and (self._wake.is_set() or self._writing):
            time.sleep(0.001)

    def stop(self) -> None:
        """End the thread, once it has written what it is writing."""
        self._over.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
