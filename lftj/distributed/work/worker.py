# SPDX-License-Identifier: Apache-2.0
"""Worker: parts that it keeps between tasks, as they were after one commit or on their way through
the next.

A task names the commit that it builds on. A part that is behind it is brought forward by the
entries in between, one that is not there is built from all of them, and uncommitted changes are
forgotten. So it does not matter which worker does a task, how often, or what died before.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import Generic, TypeVar

from lftj.distributed.files.deliveries import Log
from lftj.distributed.files.entry import files_of
from lftj.distributed.files.manifest import (
    ROWS,
    Manifest,
    is_overtaken,
    manifest_missing,
    overtaken,
)
from lftj.distributed.files.programs import read_program
from lftj.distributed.files.row_files import read_entries
from lftj.distributed.objects.mounts import AnyPath, here, unmount
from lftj.distributed.partitioning.cuts import ALL
from lftj.distributed.partitioning.part_plan import Feed, PartPlan
from lftj.distributed.partitioning.part_planner import plan_of
from lftj.distributed.parts.failure import Failure, failure_of
from lftj.distributed.parts.host import Host, Rows
from lftj.distributed.parts.part import Advance, PartState
from lftj.distributed.parts.task import OnPart
from lftj.distributed.stored.checkpoints import Checkpoints
from lftj.distributed.stored.shared_relations import OtherCodesError, shared_relation
from lftj.distributed.stored.stored_files import set_aside
from lftj.distributed.stored.storing import is_closed
from lftj.engine.calls import in_time, while_reading
from lftj.errors import LftjError
from lftj.partition import living_here
from lftj.scantree import FileDamagedError
from lftj.storage import Database, Delta, RelationVersion
from lftj.syntax import attending

Done = TypeVar("Done")
Task = TypeVar("Task", bound=OnPart)

_log = logging.getLogger(__name__)


@dataclass
class Kept:
    """A part after a commit that is true, and on its way through the one after."""

    state: PartState
    host: Host
    advance: Advance | None = None


class Worker:
    """The memory of this process: parts by path and number, and plans."""

    def __init__(self) -> None:
        self.host = Host()
        self.checkpoints = Checkpoints([self.host])
        self.parts: OrderedDict[tuple[str, int], Kept] = OrderedDict()
        self.plans: dict[str, PartPlan] = {}
        self.manifests: dict[str, Manifest] = {}
        """The last manifest that was read below each path."""

    def plan(self, task: OnPart) -> PartPlan:
        """The plan of a task's program, made under its limits where it is new here."""
        key = task.program_name
        if key not in self.plans:
            with attending(while_reading(task.limits)):
                self.plans[key] = plan_of(read_program(task.folder, key, task.epoch))
        return self.plans[key]

    def forget_closed(self, path: str) -> None:
        """Give back the memory of parts below other paths that were closed since."""
        for other in {key[0] for key in self.parts} - {path}:
            if is_closed(Path(other)):
                for key in [key for key in self.parts if key[0] == other]:
                    self.parts.pop(key).host.forget()
                self.manifests.pop(other, None)


_worker = Worker()


def forget(key: tuple[AnyPath, int] | None = None) -> None:
    """As a worker that has just started, or has never seen this part: for tests and for those who
    want the memory back.
    """
    global _worker
    if key is None:
        _worker = Worker()
    else:
        _worker.parts.pop((str(here(key[0])), key[1]), None)
        unmount(key[0])


# ── tasks ─────────────────────────────────────────────────────────────────────────────────────────
def carefully(task: OnPart, job: Callable[[Worker], Done]) -> Done | Failure:
    """Do a task with this worker's memory. What users did wrong comes back as a Failure; everything
    else is raised, and tried again. Where a stored file turns out to be damaged, it is set aside,
    and all is done once more by a worker that knows nothing. While it plans, it looks at the time.
    """
    with attending(in_time(task.limits)):
        try:
            return _checked(job)
        except FileDamagedError as damage:
            _log.warning("%s: what was stored is made anew from rows", damage)
            set_aside(damage.file)
            forget()
            return _checked(job)


def _checked(job: Callable[[Worker], Done]) -> Done | Failure:
    try:
        return job(_worker)
    except Exception as error:
        _worker.checkpoints.check()  # it may be what came of a damaged file
        if isinstance(error, LftjError):
            return failure_of(error)
        raise


class Holding(Generic[Task]):
    """A task's part, in the hands of this worker. `origin` and `read`: how it came by it, and the
    rows that it read; see `PartDone`.
    """

    def __init__(self, task: Task, worker: Worker):
        self.task, self.worker = task, worker
        self.folder = task.folder / ROWS
        self.plan = worker.plan(task)
        self.key = task.key
        kept = worker.parts.get(self.key)
        if kept is None:
            worker.forget_closed(self.key[0])
        self.host = worker.host if kept is None else kept.host
        self.origin, self.read = "kept", 0
        self._opens = True

    @property
    def afresh(self) -> bool:
        """True when everything is to be derived anew, since the program is another one."""
        return False

    @property
    def emptied(self) -> bool:
        """True when all rows are brought, and none is there before."""
        return False

    def require_last(self) -> None:
        """Raise DistributedError (E406) where the task's driver is not the last one, or went on
        without the task.

        Nobody would read what the task writes.
        """
        if is_overtaken(self.task.folder, self.task.epoch):
            raise overtaken(self.task.folder)

    def state(self) -> PartState:
        """The part at the commit that the task builds on; kept from now on."""
        kept = self.worker.parts.get(self.key)
        state = self._base(kept).under(self.task.settings)
        state = state.sharing(self.host, (self.key[0], self.task.program_name))
        if kept is None or kept.state is not state:
            self.worker.parts[self.key] = Kept(state, self.host)
        return state

    def tidy(self) -> None:
        """Forget the parts that live elsewhere by now; where Spark chooses who does a task, those
        not used for longest, but none in the middle of this commit: it would have to do all steps
        again.
        """
        if self.key in (parts := self.worker.parts):
            parts.move_to_end(self.key)
        self._forget_parts()
        self.worker.checkpoints.keep([self.worker.host, *(kept.host for kept in parts.values())])

    def _forget_parts(self) -> None:
        parts = self.worker.parts
        if (here := living_here()) is not None:
            path, own = self.key
            for key in [key for key in parts if key[0] == path and key[1] not in (own, *here)]:
                del parts[key]
            return
        most = self.task.settings.tuning.kept_parts
        if len(parts) > most:
            idle = [key for key, kept in parts.items() if not self.in_the_middle(kept)]
            for key in idle[: len(parts) - most]:
                del parts[key]

    def in_the_middle(self, kept: Kept) -> bool:
        """Test for a part in which the task's commit may have more to do."""
        return False

    def rows(self, log: Log, known: PartState | None = None) -> Rows:
        """Reads what entries hold for a feed. From now on the host shares relations of these.
        Where strings of one have other codes here, and it has more rows than are `known` of the
        part, OtherCodesError has the part begin anew.
        """
        self.host.share = partial(self._shared, log, known)

        def rows(feed: Feed) -> Delta:
            entries = log.get(feed.relation, ())
            delta = read_entries(
                self.folder,
                entries,
                feed.schema,
                feed.cut,
                self.task.part,
                self.task.parts,
                self.host.dictionary,
            )
            self.read += len(delta)
            return delta

        return rows

    def _shared(
        self, log: Log, known: PartState | None, feed: Feed, rows: Rows
    ) -> RelationVersion | None:
        """A relation with the pages that other workers of the machine map, too: of the same files
        of rows, which only the first worker reads.
        """
        entries = log.get(feed.relation, ())
        count = sum(entry.rows for entry in entries)
        if not entries or count < self._shared_rows:
            return None
        files = sorted(files_of(entries))
        name = blake2b(repr((feed.schema, files)).encode(), digest_size=12).hexdigest()
        pages = self.worker.checkpoints.pages(self.key[0])
        read, strings = partial(rows, feed), self.host.strings_below(self.key[0])
        try:
            return shared_relation(
                self.task.folder, name, feed.schema, read, self.host.arena, pages, strings
            )
        except OtherCodesError:
            if known is not None and known.rows < count:
                raise
            return None

    # ── the part as it was ────────────────────────────────────────────────────────────────────────
    def _base(self, kept: Kept | None) -> PartState:
        token, state = self.task.base[0], None if kept is None else kept.state
        if (
            kept is not None
            and kept.state.token != token
            and kept.advance is not None
            and self._became_true(kept.advance)
        ):
            state = kept.advance.finished()
        if self.afresh:
            self.origin = "built"
            log = {} if self.emptied else self._manifest.base_log()
            same = state is not None and state.token == token and not self.emptied
            known = self._not_shared(state.own_rows()) if state is not None and same else {}
            return self._loaded(
                log, f"{self.key[0]} under {self.task.program_name} at {token}", known
            )
        state = None if state is None else state.carried(self.plan, self.host)
        if state is not None and self.worker.checkpoints.is_packed(self.task):
            state = self._opened(self._manifest) or state
        if state is not None and state.token == token:
            return state
        return self._built(self._manifest, state)

    def _became_true(self, advance: Advance) -> bool:
        """Check that a commit that went through the part here is committed: the last one, or one
        that others followed in other parts.
        """
        ran = self.task.ran
        if advance.token == self.task.base[0] and ran is not None:
            return advance.steps >= ran
        version = self._manifest.version_of(advance.token)
        return version is not None and self._manifest.has_done(
            version, advance.token, self.task.part, advance.steps
        )

    def _built(self, manifest: Manifest, state: PartState | None) -> PartState:
        """The part at the base version: from one that is behind, or from nothing."""
        token, self.origin = self.task.base[0], "behind"
        if state is None or manifest.version_of(state.token) is None:
            state = self._opened(manifest)
        version = None if state is None else manifest.version_of(state.token)
        if state is None or version is None:
            self.origin = "built"
            state = self._loaded(manifest.log, f"{self.key[0]} at {token}")
            later: Log = {}
        else:
            later = {
                name: [entry for entry in entries if entry.version > version]
                for name, entries in manifest.log.items()
            }
        advance = Advance.begin(state.under(self.task.settings), token)
        advance.catch_up(self.rows(later), self.host)
        return advance.finished()

    def _opened(self, manifest: Manifest) -> PartState | None:
        """The part as some worker stored it."""
        if not self._opens:
            return None
        task = self.task
        found = self.worker.checkpoints.opened(
            *task.key, manifest, task.program_name, self.plan, self._shared_rows
        )
        if found is None:
            return None
        self.origin = "opened"
        state, self.host = found
        return state

    def _loaded(
        self, log: Log, name: str, known: Mapping[Feed, RelationVersion] | None = None
    ) -> PartState:
        """The part with the rows of a log, but for those that are `known`: with all of them, once,
        where a relation that others share has other codes here.
        """

        def loaded(
            known: Mapping[Feed, RelationVersion], nothing: PartState | None = None
        ) -> PartState:
            rows, task = self.rows(log, nothing), self.task
            return PartState.loaded(self.plan, task.part, task.parts, self.host, rows, name, known)

        try:
            return loaded(known or {}, PartState("", self.plan, 0, 0, Database()))
        except OtherCodesError as others:
            self._under(others)
            return loaded({})  # two relations may have been shared under codes that differ

    def _under(self, others: OtherCodesError) -> None:
        """Have the part, and those that are built here from now on, in a host with other codes."""
        self.host = self.worker.host = self.worker.checkpoints.host(self.key[0], others.chain)

    def state_under(self, others: OtherCodesError) -> PartState:
        """As `state`, from all its rows, in a host with other codes."""
        self._under(others)
        self._opens = False
        self.worker.parts.pop(self.key, None)
        return self.state()

    @property
    def _shared_rows(self) -> int:
        return self.task.settings.tuning.shared_rows

    def _not_shared(self, known: Mapping[Feed, RelationVersion]) -> dict[Feed, RelationVersion]:
        """Rows that are known, without relations that the workers of a machine share: they share
        them anew, with what came since, and those that some made for themselves.
        """
        return {
            feed: rows
            for feed, rows in known.items()
            if feed.cut != ALL or rows.count < self._shared_rows
        }

    @cached_property
    def _manifest(self) -> Manifest:
        path = self.task.folder
        known = self.worker.manifests.get(self.key[0])
        manifest = Manifest.of(path, self.task.epoch, known)
        if manifest is None:
            if is_overtaken(
                path, self.task.epoch
            ):  # a late attempt, or a driver that is not the last one
                raise overtaken(path)
            if self.task.base[1]:
                raise manifest_missing(path)
        if manifest is not None:
            self.worker.manifests[self.key[0]] = manifest
        return manifest or Manifest(self.task.parts)
