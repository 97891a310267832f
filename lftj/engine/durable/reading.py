# SPDX-License-Identifier: Apache-2.0
"""Files of a durable workspace as one process reads them: opened, and followed as others commit.

Opening maps the pages of the last checkpoint and follows the commits after it as one change. A
checkpoint that cannot be opened is passed over for the one before, from which the log leads on.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lftj.engine.branches.branches import branches_of
from lftj.engine.calls.limits import short_of_memory
from lftj.engine.commit.commit import Outcome
from lftj.engine.durable.branch_tips import Kept, Tip, followed
from lftj.engine.durable.checkpoint import OpenedRecord, adopt_tuning, take_strings
from lftj.engine.durable.folder import (
    PAGES,
    UNCHECKED,
    ReadersLock,
    files_of_rows,
    require_workspace,
    writer_lock,
)
from lftj.engine.durable.replay import replayed
from lftj.engine.durable.stored_past import StoredPast
from lftj.errors import DurableError, LftjError
from lftj.scantree.segment import unchecked_segments
from lftj.scantree.watched_files import FileDamagedError, Watch
from lftj.storage.durable.folder_lock import FolderLock
from lftj.storage.durable.log import Checkpoint, Commit, Log
from lftj.storage.durable.log_branches import Line
from lftj.storage.durable.stored_pages import NOT_TO_BE_HAD, StoredPages
from lftj.storage.durable.stored_strings import StoredStrings

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine

_MORE_MEMORY = "close what else takes memory and open it again"
EngineOutcomes = list[tuple["Engine", Outcome]]
"""Branches that others have committed to, and what has changed."""


class DurableReading:
    """The files of one engine and its branches, and the log's last commit that they are at."""

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
        self._kept = Kept({0: Tip(engine.state)})
        self._skipped: list[int] = []
        self._storing = threading.RLock()
        self._pasts: dict[int, StoredPast] = {}
        self._stored = 0
        self._lasting: int | None = None
        """Bytes of strings when those without a row were last looked for; None: no string yet."""
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

    # ── branches ──────────────────────────────────────────────────────────────────────────────────
    def past_of(self, engine: Engine) -> StoredPast:
        """The past of a branch, as its files have it."""
        if (past := self._pasts.get(engine.number)) is None:
            live = self._engine
            if engine.number and live.branches is not None:
                live = live.branches.engine(engine.name)
            past = self._pasts[engine.number] = StoredPast(self, live)
        return past

    @property
    def past(self) -> StoredPast:
        """The past of main."""
        return self.past_of(self._engine)

    def line(self, engine: Engine) -> Line:
        """The commits that lead to a branch."""
        return self._kept.tips[engine.number].line

    def _engine_of(self, tip: Tip) -> Engine:
        """The engine of a branch, which begins where it is not there yet."""
        main = self._engine
        if not tip.number:
            return main
        branches = branches_of(main)
        found = branches.engines.get(tip.name)
        if found is None or found.number != tip.number:
            if found is not None:
                branches.leave(found)
            found = branches.enter(tip.name, tip.number, main)
            found.durable = main.durable
        elif found.arena is not main.arena:
            found.beside(main)
        return found

    def _install(self, kept: Kept) -> None:
        """Have engines show the branches after a commit, and no others."""
        self._kept = kept
        for tip in kept.tips.values():
            self._engine_of(tip).state = tip.state
        if (branches := self._engine.branches) is not None:
            for engine in list(branches.engines.values()):
                if engine.number not in kept.tips:
                    branches.leave(engine)
                    self._pasts.pop(engine.number, None)
            branches.ancestry = kept.ancestry

    # ── opening ───────────────────────────────────────────────────────────────────────────────────
    def open(self) -> None:
        """Have the engine, which is empty, begin with the files. Raises DurableError, and
        LimitError (E333) where memory runs out: then no file has changed.
        """
        with short_of_memory("nothing was opened or changed", _MORE_MEMORY):
            self._open()

    def _open(self) -> None:
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
                self.begin_anew()
        try:
            outcomes = self._follow(commits)
        except NOT_TO_BE_HAD as reason:
            if isinstance(reason, DurableError):
                raise
            raise self.damaged(reason) from reason
        if self.write and skip:
            self.log.drop_checkpoints(skip)
        for engine in self._engine.family():
            engine.positions = self.past_of(engine).positions()
            engine.pin()
        if self.write and self._engine.arena.watch.files:
            with suppress(OSError):
                (self.path / UNCHECKED).touch()
        if outcomes:
            self.followed(outcomes)

    def followed(self, outcomes: EngineOutcomes) -> None:
        """Note what opening followed beyond the checkpoint: a reader writes no other one."""

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
        DurableError where no checkpoint can be opened, LimitError (E333) where memory runs out.
        """
        with short_of_memory("nothing was opened", _MORE_MEMORY):
            self._salvage()

    def _salvage(self) -> None:
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
                self.begin_anew()
        raise self.damaged(trouble or ValueError("nothing is left"))

    def begin_anew(self) -> None:
        """Have the engine be empty again, with memory and a dictionary of its own."""
        self._engine.begin_anew()
        self._kept = Kept({0: Tip(self._engine.state)})
        self.forget_stored()

    def _take(self, point: Checkpoint, *, everything: bool) -> None:
        engine, record = self._engine, point.record
        adopt_tuning(engine, record["program"])
        take_strings(record, self.pages, self._strings)
        opened = OpenedRecord(engine, record, self.pages)
        kept = Kept(opened.tips(), point.number, point.sum, opened.ancestry())
        if everything:
            engine.arena.watch.check(everything=True)
        self._install(kept)
        for tip in kept.tips.values():
            opened.adopt(self._engine_of(tip), tip.number)
        self._stored, self._lasting = point.number, record.get("lasting")
        if self.write and files_of_rows(record):
            self._stored = 0  # closing writes pages

    def _follow(self, commits: list[Commit]) -> EngineOutcomes:
        """Go on by commits of the log; the branches that changed, and how."""
        outcomes: EngineOutcomes = []

        def replay(tip: Tip, commits: Sequence[Commit]) -> Tip:
            engine = self._engine_of(tip)
            texts = [commit.program for commit in commits if commit.program is not None]
            for text in texts:
                adopt_tuning(engine, text)
            outcome = replayed(engine, tip.state, commits)
            outcomes.append((engine, outcome))
            return replace(tip, state=outcome.state, text=texts[-1] if texts else tip.text)

        self._install(followed(self._kept, commits, replay))
        return outcomes

    def damaged(self, reason: BaseException) -> DurableError:
        """The error for files that are not what was written."""
        return DurableError(
            f"{self.path} is damaged: {reason}", code="E353", hint="take it back from a copy"
        )

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
    def refresh(self) -> EngineOutcomes:
        """Go on to the last commit of whoever writes; what has changed. Where the commits are not
        kept any more, all is opened again, and nobody knows. Raises DurableError.
        """
        try:
            self._take_newer()
            commits = self.log.since(self._kept.number, self._kept.sum)
        except NOT_TO_BE_HAD as reason:
            if isinstance(reason, DurableError):
                raise
            commits = None
        if commits is None:
            self.begin_anew()
            self.open()
            return []
        return self._follow(commits)

    def _take_newer(self) -> None:
        """Have the same versions over a newer checkpoint where the one that was opened is gone:
        past versions are reached from one whose strings have the codes that they have here.
        """
        points = self.log.checkpoints()
        if not points or self._stored in points:
            return
        found = self.log.before(self._kept.number)
        if found is not None and found[0] is not None:
            self.begin_anew()
            self._take(found[0], everything=False)
            self._follow(found[1])

    def last_version(self, engine: Engine) -> int:
        """The version of the last commit of a branch in the log."""
        return self.past_of(engine).last()

    def strange(self) -> list[int]:
        """Checkpoints that this process cannot open: damaged ones, and those of a writer in whose
        dictionary strings have other codes.
        """
        if self.write:
            return self._skipped
        with self.log.reading() as connection:
            found = connection.execute("SELECT number, record FROM checkpoints").fetchall()
        return [
            *self._skipped,
            *(number for number, record in found if self._is_strange(number, record)),
        ]

    def _is_strange(self, number: int, record: bytes) -> bool:
        """Test for a checkpoint in which strings may have other codes than here."""
        if number > self._stored:
            return True
        with suppress(ValueError, LookupError, TypeError):
            chain = json.loads(record.rpartition(b"\n")[0])["strings"]
            return not self._strings.knows([(name, count) for name, count in chain])
        return True

    def storing(self) -> AbstractContextManager[Any]:
        """For the length of a block, no checkpoint is written."""
        return self._storing

    @property
    def engine(self) -> Engine:
        """The engine of main."""
        return self._engine

    def passed_on(self) -> FolderLock:
        """The lock of the path, for who goes on there; nothing is written here any more."""
        assert self._lock is not None
        lock, self._lock = self._lock, None
        self.abandon()
        return lock

    def abandon(self) -> None:
        """Let go of files and locks, and write nothing."""
        log, self._log = self._log, None
        if log is not None:
            log.close()
        for lock in (self._lock, self._readers):
            if lock is not None:
                lock.release()
