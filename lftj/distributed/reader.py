# SPDX-License-Identifier: Apache-2.0
"""Workspaces over parts as another process reads them: one version at a time, from files, in memory
of its own. No executor is needed for it.

Relations are read when they are first asked about, and follow later versions by what came since.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, cast

from lftj.distributed.committed_version import Present
from lftj.distributed.copies import Copies
from lftj.distributed.files.entry import Entry, files_of
from lftj.distributed.files.leases import SECONDS, Lease
from lftj.distributed.files.manifest import ROWS, Manifest, is_overtaken, reported_by_the_system
from lftj.distributed.held_files import HeldFiles
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.objects.mounts import mount, shown
from lftj.distributed.partitioning.part_planner import plan_of
from lftj.distributed.partitioning.programs import restored
from lftj.distributed.result import summed
from lftj.distributed.stored.stored_files import empty_cache
from lftj.distributed.versions import VersionInFiles
from lftj.engine.calls import Kind, opened_to_read, refused
from lftj.engine.delivery import News
from lftj.engine.live import Discrepancy, Engine, answer, discrepancies
from lftj.engine.versions import Result
from lftj.errors import DistributedError, DurableError
from lftj.explain.figures import Profile, memory_report, profile_report
from lftj.partition import Address, Executor
from lftj.program import RelationSchema
from lftj.scantree import frozen, interrupts_as_such
from lftj.storage import Delta
from lftj.syntax import UserFunction
from lftj.types import Dictionary

_LOOK = 0.001
_LONG_LOOK, _LONG_LOOK_AT_OBJECTS = 0.05, 1.0
"""Seconds between two looks for another version, at first and later."""


@frozen
class _Here:
    """The place and the number of parts, where no executor is."""

    path: Path
    partitions: int
    address: Address | None = None


class ReadVersion(VersionInFiles):
    """One version, read in this process as long as the reader is open."""

    def __init__(self, copies: Copies):
        super().__init__(copies.present)
        self.copies = copies

    @property
    def present(self) -> Present:
        """The version as it is written down."""
        return self._present

    @property
    def manifest(self) -> Manifest:
        """The files that it consists of."""
        return self._present.manifest

    def _copies(self) -> Copies:
        return self.copies

    def rows(self, schema: RelationSchema) -> Result:
        """All rows of a relation. They are read when they are first looked at."""
        count = self._present.count(schema.name)
        return self._result(schema, partial(self._columns, schema.name), count)

    def _columns(self, name: str) -> Any:
        return self.copies.having([name]).database[name].columns()

    def _result(self, schema: RelationSchema, read: Callable[[], Any], count: int) -> Result:
        texts = self.copies.engine.dictionary
        return Result(schema.columns, read, count, texts, version=self.number, name=schema.name)

    def sample(self, schema: RelationSchema, rows: int) -> list[tuple[Any, ...]]:
        """Some rows, at equal distances."""
        relation = self.copies.having([schema.name]).database[schema.name]
        count = min(rows, relation.count)
        found = self._result(schema, partial(relation.sample, count), count)
        return list(dict.fromkeys(found.fetchall()))

    @interrupts_as_such()
    def query(self, question: object, values: Sequence[object]) -> Result:
        """Answers, found on the relations that the question reads."""
        state = self.copies.answering(question)
        return answer(self.copies.engine, state, question, values)

    @interrupts_as_such()
    def verify(self) -> list[Discrepancy]:
        """Views that a fresh evaluation finds otherwise. All relations are read for it."""
        copies = self.copies
        return discrepancies(copies.engine, copies.below(self.program.catalog.relations))


class PartsReader:
    """A reader of a path with parts, which others write to."""

    kind = Kind.PARTS
    instead_of_copies = "hand on what it holds, ws[name].arrow(), or open the path there, too"

    def __init__(self, place: Path | Address, engine: Engine):
        """Open the last version in an engine without rows. Raises DurableError (E351) where there
        is none, DistributedError (E403) where files are damaged, (E405) where they cannot be read.
        """
        self.path = mount(place) if isinstance(place, Address) else place
        self.limits, self.writer, self.subscriptions = (
            engine.limits,
            engine.writer,
            engine.subscriptions,
        )
        self.held = HeldFiles()
        self._engine, self._process = engine, os.getpid()
        self._shown: ReadVersion | None = None
        self._lease = Lease(self.path, self.held.names)
        self._lease.end_with(self)
        try:
            self._go_on()
        except BaseException:
            self._lease.end()
            raise

    # ── versions ──────────────────────────────────────────────────────────────────────────────────
    def current(self) -> ReadVersion:
        """The version that is shown."""
        assert self._shown is not None
        return self._shown

    @property
    def version(self) -> int:
        """Number of the version that is shown."""
        return self.current().number

    def _go_on(self) -> list[News]:
        """Show the last version; returns the change sets for subscribers.

        A version is held once its lease was written while all of its files were still part of the
        last version.
        """
        before = self._shown
        with reported_by_the_system(self.path):
            last = self._last(None if before is None else before.manifest)
            while True:
                present = self._present(last)
                self.held.hold(present, present.manifest.files)
                self._lease.version = present.manifest.version
                self._lease.renew()
                last = self._last(last)
                if present.manifest.files() <= last.files():
                    break
            empty_cache(self.path)
        if before is None:
            self._shown = ReadVersion(Copies.of(present, self._engine, reads=_summed))
            return []
        heard = self._read_to_compare(before)
        self._shown = ReadVersion(before.copies.carried(present))
        return self._news(before, self._shown, heard)

    def _last(self, known: Manifest | None) -> Manifest:
        found = Manifest.load(self.path, known)
        if found is None:
            hint = "see that the path is right; a workspace over parts is begun by an executor"
            message = f"there is no workspace at {shown(self.path)}"
            raise DurableError(message, code="E351", hint=hint)
        return found

    def _present(self, manifest: Manifest) -> Present:
        here = cast("Executor", _Here(self.path, manifest.parts))
        if self._shown is not None and manifest.program == self._shown.manifest.program:
            return replace(self._shown.present, executor=here, manifest=manifest)
        program, views = restored(manifest.program)
        plan = plan_of(manifest.program)
        return Present(here, manifest, plan, {}, program, views)

    # ── following ─────────────────────────────────────────────────────────────────────────────────
    def refresh(self) -> None:
        """Go on to the last version, and tell subscribers what has changed, as one change. Where
        rows of the version before are gone, they hear nothing of it. Raises as opening does.
        """
        if self._process != os.getpid():
            message = f"{shown(self.path)} was opened by the process that this one was forked from"
            hint = "open the path in this process, too"
            raise DistributedError(message, code="E402", hint=hint)
        with self.writer.held():
            self.subscriptions.waiting.extend(self._go_on())
        self.subscriptions.deliver()

    def _read_to_compare(self, before: ReadVersion) -> list[str]:
        """Read the relations that somebody subscribed to, as they were."""
        names = self.subscriptions.relations()
        with suppress(DistributedError):
            before.copies.having(names)
            return names
        return []

    def _news(self, before: ReadVersion, after: ReadVersion, heard: list[str]) -> list[News]:
        """Change sets for subscribers."""
        if not heard or before.number == after.number:
            return []
        old, new = (each.copies.having(heard).database for each in (before, after))

        def made(name: str) -> Result:
            delta = new[name].difference(old[name])
            return after.copies.engine.change_set(after.number, new[name].schema, delta)

        return self.subscriptions.addressed(heard, made)

    def wait_for(self, version: int, timeout: float | None) -> bool:
        """Refresh once a version is committed; False where it took more than `timeout` seconds."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        longest = _LONG_LOOK if store_of(self.path).shared else _LONG_LOOK_AT_OBJECTS
        pause, last = _LOOK, self.current().manifest
        while self.version < version:
            with reported_by_the_system(self.path):
                if is_overtaken(self.path, last.epoch):
                    last = self._last(last)
            if last.version >= version:
                self.refresh()
                continue
            if (left := end - time.monotonic()) <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(2 * pause, longest)
        return True

    # ── about it ──────────────────────────────────────────────────────────────────────────────────
    @property
    def reopened_by(self) -> str:
        """Call that opens another one."""
        return f"lftj.connect({shown(self.path)!r}, read_only=True)"

    @property
    def where(self) -> str:
        """Number of parts, and the path."""
        return f"{self.current().manifest.parts} parts below {shown(self.path)}, to read"

    @property
    def title(self) -> str:
        """The same, of the path its name only."""
        name = os.path.basename(os.path.normpath(shown(self.path)))
        return f"{self.current().manifest.parts} parts below {name}, to read"

    def memory(self) -> Result:
        """Rows and bytes of the relations that were read."""
        copies = self.current().copies
        return memory_report(copies.engine, copies.state)

    def profile(self, last: int | None) -> Profile:
        """No commits: others make them."""
        return profile_report(self.current().copies.engine, last)

    def close(self) -> None:
        """Hold nothing any more."""
        self._lease.end()

    # ── what readers do not do ────────────────────────────────────────────────────────────────────
    def _refuse(self, *args: Any, **options: Any) -> NoReturn:
        """Refuse a change."""
        raise opened_to_read(shown(self.path), "write in the process that has it with an executor")

    draft = commit = preview = explain_change = feed = _refuse
    compact = prepare = rebalance = repartition = _refuse

    def bind(self, function: UserFunction) -> bool:
        """No program over parts knows a function of the user's."""
        return False

    def branching(self, capability: str) -> NoReturn:
        """Refuse: parts have one line of versions."""
        raise refused(capability, self.kind)

    def timeline(self, capability: str) -> NoReturn:
        """Refuse: parts keep their last version, and those that are held."""
        raise refused(capability, self.kind)

    def save_as(self, path: str | os.PathLike[str], durability: str) -> NoReturn:
        """Refuse: the data lies in files already."""
        raise refused("save_as", self.kind)

    def backup(self, path: str | os.PathLike[str]) -> NoReturn:
        """Refuse: several processes write below the path."""
        raise refused("backup", self.kind)


def _summed(
    executor: Executor, entries: Sequence[Entry], schema: RelationSchema, dictionary: Dictionary
) -> Delta:
    """The change that entries make. Raises DistributedError (E408) where files are gone."""
    try:
        return summed(executor, entries, schema, dictionary)
    except DistributedError as reason:
        rows, store = executor.path / ROWS, store_of(executor.path)
        if reason.code == "E403" and any(
            not store.exists(rows / file) for file in files_of(entries)
        ):
            raise _lost(executor.path, schema.name) from reason
        raise


def _lost(path: Path, relation: str) -> DistributedError:
    hint = (
        "ws.refresh() goes on to the last version, snapshots of before cannot be read any more; a "
        f"reader that is stopped, or cannot write its lease, for {SECONDS:.0f} s is not waited for"
    )
    return DistributedError(
        f"rows of `{relation}` are gone from {shown(path)}: this reader's lease had ended, and "
        "they are of no later version",
        code="E408",
        hint=hint,
    )
