# SPDX-License-Identifier: Apache-2.0
"""Driver's side of parts: the committed version, the lock on the path, and commits."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from lftj.distributed.bounds import Bounds
from lftj.distributed.changes import CommitChanges
from lftj.distributed.commit import Commit
from lftj.distributed.committed_version import Present
from lftj.distributed.compact import compact_states, compacted, most_entries, recent_entries
from lftj.distributed.compiling_workers import Kernels
from lftj.distributed.descriptions import described_as, described_now
from lftj.distributed.draft import PartsDraft
from lftj.distributed.files.leases import leased
from lftj.distributed.files.manifest import (
    Manifest,
    is_overtaken,
    overtaken,
    remove_files,
    reported_by_the_system,
    row_files,
    swept,
)
from lftj.distributed.files.path_lock import PathLock
from lftj.distributed.files.programs import sweep_programs
from lftj.distributed.held_files import HeldFiles
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.objects.mounts import mount, shown
from lftj.distributed.partitioning.part_plan import PartPlan
from lftj.distributed.partitioning.part_planner import plan_of
from lftj.distributed.partitioning.programs import place_in, restored
from lftj.distributed.parts.outcome import Outcome, Report
from lftj.distributed.parts.task import Settings
from lftj.distributed.query import is_answer
from lftj.distributed.stored.stored_files import sweep_shared, sweep_states
from lftj.distributed.stored.storing import begin_storing, end_storing
from lftj.distributed.verify import sweep_verified
from lftj.engine.calls import LimitStack
from lftj.engine.delivery import News, Subscriptions, WriterLock
from lftj.errors import DistributedError, LftjError
from lftj.partition import Executor, KeepsWorkers
from lftj.program import Program
from lftj.storage.durable import ProcessLock
from lftj.syntax import attending

_log = logging.getLogger(__name__)

REMEMBERED_REPORTS = 1000
_LONG = 1.0
"""Seconds of compiling in the tasks of a commit that the user is told of."""

if TYPE_CHECKING:
    from lftj.distributed.copies import Copies


class Store:
    """One open path, and its committed version."""

    def __init__(
        self,
        executor: Executor,
        writer_timeout: float,
        elastic: float = 0.2,
        settings: Settings | None = None,
        progress: Callable[[str], None] | None = None,
        after: tuple[int, ProcessLock] | None = None,
    ):
        """Open the path, or begin it, `after` a version of one process that has the lock. Raises
        DistributedError (E402) when it is in use, (E403) when it has another number of parts or is
        damaged, (E405) when it cannot be written.
        """
        version, held = after or (None, None)
        self.elastic = elastic
        self._progress = progress
        if (address := getattr(executor, "address", None)) is not None:
            mount(address)
        self._lock = PathLock(executor.path, held)
        self.writer: WriterLock = _PathWriter(writer_timeout, self._lock)
        try:
            with reported_by_the_system(executor.path):
                manifest = swept(executor.path, executor.partitions, version)
                sweep_states(executor.path, manifest)
                sweep_programs(executor.path, manifest.program)
                sweep_verified(executor.path)
                begin_storing(executor.path)
            program, views = restored(manifest.program)
            self.kernels = Kernels(executor)
            self.kernels.compile(program.catalog.relations.values(), program.order.strata, Bounds())
        except BaseException:
            self._lock.release()
            raise
        plan = plan_of(described_as(manifest.program, program, views))
        self.present = Present(executor, manifest, plan, {}, program, views, settings or Settings())
        """The version that is true: the one thing that changes when a commit is published."""
        self.reports: deque[Report] = deque(maxlen=REMEMBERED_REPORTS)
        self._passing: set[str] = set()
        self._offered = ""
        self._nets: tuple[set[str], set[str]] = set(), set()
        self.subscriptions = Subscriptions()
        self.limits = LimitStack()
        self.held = HeldFiles()
        self.copies: Copies | None = None
        """Relations of the last version that was asked for explanations, in this process."""

    @property
    def executor(self) -> Executor:
        """Whoever runs tasks, on the parts that there are."""
        return self.present.executor

    @property
    def manifest(self) -> Manifest:
        """The files that the committed version consists of."""
        return self.present.manifest

    @property
    def plan(self) -> PartPlan:
        """The plan of the committed version's parts."""
        return self.present.plan

    @property
    def version(self) -> int:
        """Number of the committed version."""
        return self.present.manifest.version

    def commit(self, draft: PartsDraft, *, count: bool = False) -> None:
        """Carry a draft out, make it the committed version, and queue its change sets for
        subscribers. With the writer lock held. `count`: hubs are counted anew.

        The draft's `committed` is there from the moment that it has happened. After an error that
        is not yet, and nothing is left of it; an interrupt may have come too late for that.
        """
        self._lock.require()
        draft.check(self.manifest.counts)
        bounds = Bounds(self.limits.current)
        description = described_now(self.present, draft.program, draft.views, bounds, count=count)
        try:
            with attending(lambda steps: bounds.budget.look()):
                plan = self.plan if description == self.manifest.program else plan_of(description)
        except LftjError as reason:
            reason.span = place_in(draft.program, description, reason.span)
            raise
        commit = Commit(self.present, description, plan, bounds, self.elastic, self._report)
        try:
            with self._undone(commit), self._alone(), self.described(f"commit {commit.version}"):
                outcome = self._carry_out(commit, draft, bounds)
        except LftjError as reason:
            reason.span = place_in(draft.program, description, reason.span)
            raise
        if not outcome.happened:
            draft.discard()
        self._passing |= commit.passing if outcome.happened else commit.files()
        self._nets[1].update(commit.nets)
        if outcome.report is not None:
            self.reports.append(outcome.report)
        self._tidy()

    @contextmanager
    def _undone(self, commit: Commit) -> Iterator[None]:
        """Leave nothing of a commit that ended in an error, unless it may come true."""
        try:
            yield
        except BaseException as reason:
            if self.manifest.token != commit.token and not self._may_come_true(commit, reason):
                with suppress(OSError):  # they are swept away when the path is opened next
                    remove_files(self.executor.path, commit.files())
            raise

    def _may_come_true(self, commit: Commit, reason: BaseException) -> bool:
        """Tell whether a manifest of a commit that failed may be made yet: a store of objects was
        asked to, and did not say that another one is in its place.
        """
        asked = self._offered == commit.token and not store_of(self.executor.path).shared
        return asked and not (isinstance(reason, DistributedError) and reason.code == "E406")

    def _carry_out(self, commit: Commit, draft: PartsDraft, bounds: Bounds) -> Outcome:
        """Make the version of a commit, and publish it."""
        before = self.present
        outcome = commit.carry_out(draft.steps(bounds), draft.dictionary)
        draft.check(outcome.manifest.counts, after=True)
        if outcome.report is not None:
            if (seconds := outcome.report.compile_seconds) >= _LONG:
                said = "workers compiled kernels for %.0f s in commit %d: a machine is new here"
                _log.info(said, seconds, outcome.report.version)
            outcome.report.compile_seconds += draft.compile_seconds
        if draft.batches:
            noted = {**outcome.manifest.batches, **draft.batches}
            outcome.manifest = outcome.manifest.advanced(batches=noted)
        version = replace(
            before,
            manifest=outcome.manifest,
            plan=outcome.plan,
            ran=dict(commit.steps_of) if outcome.happened else before.ran,
            program=draft.program,
            views=draft.views,
            counted=commit.counted,
        )
        changes = CommitChanges(before, version, outcome)
        self._hold_versions_of(changes)
        news = self._news(changes, draft.program)
        self._become(version, draft, changes, news)
        return outcome

    def _hold_versions_of(self, changes: CommitChanges) -> None:
        """Keep the files of the versions before and after a commit, as long as its transaction is
        held: rows that it changed are explained by them.
        """
        manifests = changes.before.manifest, changes.after.manifest
        self.held.hold(changes, lambda: frozenset().union(*(each.files() for each in manifests)))

    def _report(self, text: str) -> None:
        """Tell whoever shows progress what goes on."""
        if self._progress is not None:
            self._progress(text)

    def described(self, what: str) -> AbstractContextManager[None]:
        """Show jobs of the block as this in Spark's pages, and to whoever shows progress."""
        self._report(what)
        return self.executor.described(f"lftj: {what} of {shown(self.executor.path)}")

    def _news(self, changes: CommitChanges, program: Program) -> list[News]:
        """Change sets for subscribers. They are made before a commit has happened, as jobs that
        read rows may fail.
        """
        changed = filter(changes.may, program.catalog.relations)
        return self.subscriptions.addressed(changed, changes.of)

    def _become(
        self,
        version: Present,
        draft: PartsDraft | None = None,
        changes: CommitChanges | None = None,
        news: Sequence[News] = (),
    ) -> None:
        """Publish a version, also if this thread is interrupted, or the folder cannot be synced,
        when its manifest has its name already. After a commit: that of a `draft`, with its
        `changes` and the `news` of them.
        """
        path, before, tell = self.executor.path, self.present, self.subscriptions.waiting.extend
        is_new = version.manifest is not before.manifest
        if is_new:
            version = replace(version, manifest=version.manifest.following(before.manifest))

        def become() -> None:
            # Python handles no interrupt from here until `tell`, which is C's, has returned: all of
            # this happens, or nothing.
            self.present = version
            if draft is not None:
                draft.committed = changes
            tell(news)

        try:
            if is_new:
                self._offered = version.manifest.token
                version.manifest.store(path, before.manifest)
            become()
        except BaseException as reason:
            if not is_new or self.present is version or not version.manifest.is_stored(path):
                raise
            become()
            if not isinstance(reason, OSError):
                raise
            _log.warning(
                "%s: version %d is true, but may be lost with the machine: %s",
                path,
                version.manifest.version,
                reason,
            )

    def _tidy(self) -> None:
        """Clean up after a commit; this may be left to the next one. Files of no use go, and many
        entries become few.
        """
        parts, tuning = self.executor.partitions, self.present.settings.tuning
        most = most_entries(parts, tuning)
        with suppress(DistributedError, OSError):
            remove_files(self.executor.path, self._passing)
            self._passing = set()
            if len(self._nets[1]) > most:
                remove_files(self.executor.path, self._nets[0])
                self._nets = self._nets[1], set()
            if any(len(entries) > most for entries in self.manifest.log.values()):
                readable = self.manifest.files().union(*self._nets)  # since the last compaction
                self._compact(most // 2, recent_entries(parts, tuning), readable)

    def compact(self) -> int:
        """Write relations with more than one entry per part anew, and states of parts in which
        there are pages of the past; remove all that neither the version consists of nor anybody
        holds. The number of files that are gone. With the writer lock held.
        """
        with self._alone(), self.described("compaction of states"):
            # First, as parts can be brought forward from what they stored then.
            gone = compact_states(self.present, Bounds(self.limits.current))
        return gone + self._compact(self.executor.partitions, 0)

    def _compact(self, most: int, recent: int, readable: Set[str] = frozenset()) -> int:
        """Compact, and remove the files that are of no use then; their number.

        Those go that the compaction before this one made superfluous, that attempts left whose
        results nobody took, and what workers stored that no part is opened from any more. What is
        held, here or by a lease, and what is `readable`, stays, and where something is `readable`
        all answers do, since one may be on its way.
        """
        path, before = self.executor.path, self.manifest
        with self._alone(), self.described("compaction"):
            manifest = compacted(self.executor, before, self.plan, most, recent)
            # Of those that are there before an epoch of our own is: who writes others later builds
            # on it.
            useless = row_files(path) - manifest.files() - readable - self.held.names()
            if readable:
                useless = {file for file in useless if not is_answer(file)}
            if manifest is before and not useless:
                return 0
            self._become(replace(self.present, manifest=replace(manifest)))
            useless -= leased(path)
            remove_files(path, useless)
            sweep_shared(path)
            return len(useless)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Make a version in the block, while no other driver makes one. Raises DistributedError
        (E406) where one did: files may be gone by then, and errors of any kind come of that. Else
        as `reported_by_the_system`.
        """
        path, epoch = self.executor.path, self.manifest.epoch
        try:
            with reported_by_the_system(path):
                self.manifest.require_last(path)
                yield
        except DistributedError as reason:
            known = reason.code in ("E406", "E407") or self.manifest.epoch != epoch
            with suppress(OSError):  # of what does not answer, the error is the first one
                if not known and is_overtaken(path, epoch):
                    raise overtaken(path) from reason
            raise

    def draft(self, batch: tuple[str, int] | None = None) -> PartsDraft:
        """An empty draft on the committed version; `batch`: the micro-batch of a stream that it
        is.
        """
        return PartsDraft(
            self.present,
            lambda: Bounds(self.limits.current),
            lambda: self._lock.ours,
            self.kernels,
            batch,
        )

    def close(self) -> None:
        """Let others open the path, below which nothing changes any more. In a forked child the
        path stays its parent's.
        """
        if self._lock.ours:
            if isinstance(self.executor, KeepsWorkers):
                self.executor.end_keeping()
            end_storing(self.executor.path)
        self._lock.release()


class _PathWriter(WriterLock):
    """Lock of the writer, for the process that opened the path alone."""

    def __init__(self, timeout: float, path: PathLock):
        super().__init__(timeout)
        self._path = path

    def acquire(self) -> None:
        """As `WriterLock.acquire`. Raises DistributedError (E402) in a forked child."""
        self._path.require()
        super().acquire()
