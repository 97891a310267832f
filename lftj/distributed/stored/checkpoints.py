# SPDX-License-Identifier: Apache-2.0
"""Schedule by which a worker stores its parts, and the way to open a part that another stored.

A part is stored a moment after it was derived, and again after some commits or many changed rows,
by a thread of its own, so that no commit waits for it. Whoever opens it brings it forward by the
entries since, which are few. Records of commits that never became true, or of which a later step is
missing, are passed over: the manifest knows.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from lftj.distributed.files.manifest import Manifest
from lftj.distributed.partitioning.part_plan import PartPlan
from lftj.distributed.parts.host import Host
from lftj.distributed.parts.part import PartState
from lftj.distributed.parts.task import OnPart, PartTask
from lftj.distributed.stored.shared_relations import WHOLE
from lftj.distributed.stored.stored_files import (
    STATE,
    RecordName,
    records,
    remove_older,
    sweep_shared,
    trial,
)
from lftj.distributed.stored.stored_objects import StateObjects
from lftj.distributed.stored.stored_part import open_part, read_record, store_part
from lftj.distributed.stored.storing import storing
from lftj.scantree import FileDamagedError, frozen
from lftj.storage.durable import NOT_TO_BE_HAD, Chain, StoredPages, chain_of
from lftj.types import Dictionary

_PAUSE = 0.3  # seconds in which more commits may come before a part is stored
_LESS_URGENT = 10  # the niceness of the thread
_SWEPT = 8
"""Stored states, or as many as there are parts, after which files that these shared are looked for:
all records are read then, so that costs each one or two.
"""
_STORED_PART_ROWS = 1 << 16
"""Changed rows of a part after which it is stored again."""


@frozen
class _Due:
    """A state that waits to be stored. `base`: the version that is known to be true."""

    name: RecordName
    program: str
    state: PartState
    host: Host
    base: int
    parts: int


@dataclass
class _Since:
    """Changes since a part was last stored: under `program`, at the commit `stored` of a version,
    with so many key orders of relations. `latest`: the last known commit.
    """

    program: str = ""
    stored: str = ""
    version: int = 0
    orders: int = 0
    latest: str = ""
    commits: int = 0
    rows: int = 0


class Checkpoints:
    """Checkpoints of one worker. `delayed`: written by a thread, else at once."""

    delayed = True

    def __init__(self, hosts: list[Host]) -> None:
        """`hosts`: the first for parts that are built here; others come when parts of other
        dictionaries are opened.
        """
        self._hosts = hosts
        self._watch = hosts[0].arena.watch
        self._trials: list[Path] = []
        self._pages: dict[str, StoredPages] = {}
        self._objects: dict[str, StateObjects] = {}
        self._since: dict[tuple[str, int], _Since] = {}
        self._due: dict[tuple[str, int], _Due] = {}
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._one = threading.Lock()
        self._stored = 0
        self._superseding: dict[tuple[str, int], RecordName] = {}
        self._packed: dict[tuple[str, int], tuple[RecordName, str]] = {}
        self._busy = False

    def pages(self, path: str) -> StoredPages:
        """The segments below a path."""
        if path not in self._pages:
            self._pages[path] = StoredPages(self._hosts[0].arena, Path(path) / STATE)
        return self._pages[path]

    def objects(self, path: str) -> StateObjects:
        """The objects of states below a path."""
        if path not in self._objects:
            self._objects[path] = StateObjects(Path(path) / STATE)
        return self._objects[path]

    # ── storing ───────────────────────────────────────────────────────────────────────────────────
    def changed(
        self, task: PartTask, program: str, state: PartState, host: Host, rows: int
    ) -> None:
        """Note that a part is at another commit, or a step further, and store it if it is time.
        `rows` have changed by it so far.
        """
        path, name = (
            str(task.folder),
            RecordName(task.part, task.version, task.token, len(task.steps), uuid4().hex[:12]),
        )
        key = path, name.part
        if any(each.version <= task.base[1] for each in list(self._superseding.values())):
            self._remove_superseded(path, task.base[1])
            self._sweep_rewritten(path)
        since = self._since.setdefault(key, _Since())
        orders = sum(len(relation.orders()) for relation in state.database.values())
        since.commits += name.token != since.latest
        since.latest, since.rows = name.token, since.rows + rows
        tuning = task.settings.tuning
        many = since.commits > tuning.stored_part_commits or since.rows > _STORED_PART_ROWS
        if not any(stage.strata or stage.supersteps for stage in state.plan.stages):
            many &= (
                since.commits > 1
            )  # rows alone are there to be read, and most often rules come next
        elif (
            since.program != program
            or since.stored == name.token
            or since.version < task.oldest
            or since.orders < orders
        ):
            # nothing of this program, not all steps of this commit, nothing that can be brought
            # forward, or not all key orders
            many = True
        if not many and key not in self._due:
            return
        self._since[key] = _Since(program, name.token, name.version, orders, name.token)
        due = _Due(name, program, state, host, task.base[1], task.parts)
        if not self.delayed:
            self._store(path, due)
            return
        with self._wake:
            waits = self._thread is not None or self._started()
            if waits:
                self._due[key] = due
                self._wake.notify_all()
        if not waits:
            self._store(path, due)

    def _started(self) -> bool:
        """Start the thread, with `_wake` held; False where the system allows no more."""
        thread = threading.Thread(target=self._go_on, name="checkpoints", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return False
        self._thread = thread
        return True

    def wait(self) -> None:
        """Until nothing waits to be stored."""
        with self._wake:
            self._wake.wait_for(lambda: not self._due and not self._busy)

    def _go_on(self) -> None:
        with suppress(OSError, AttributeError):  # not everywhere has a thread a niceness of its own
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LESS_URGENT)
        try:
            while True:
                self._store_next()
        finally:  # whatever it was: the next change begins anew
            self._thread = None

    def _store_next(self) -> None:
        with self._wake:
            self._wake.wait_for(lambda: self._due)
        time.sleep(_PAUSE)
        with self._wake:
            key = next(iter(self._due))
            due, self._busy = self._due.pop(key), True
        try:
            self._store(key[0], due)
        finally:
            with self._wake:
                self._busy = False
                self._wake.notify_all()

    def _store(self, path: str, due: _Due, *, anew: bool = False) -> bool:
        """Store a part, unless the path is closed or it cannot be; whether that was done."""
        with self._one, storing(Path(path)) as open_:
            if not open_:
                return False
            pages, strings = self.pages(path), due.host.strings_below(path)
            try:
                packed = store_part(
                    due.name, due.program, due.state, pages, strings, self.objects(path), anew=anew
                )
            except (OSError, MemoryError, FileDamagedError):
                self._since[path, due.name.part].program = ""  # rows are on disk: nothing is lost
                return False
            self._superseding[path, due.name.part] = due.name
            if packed:
                self._packed[path, due.name.part] = due.name, due.program
            self._remove_superseded(path, due.base)
            self._stored += 1
        if self._stored % max(due.parts, _SWEPT) == 0:
            with suppress(OSError):
                sweep_shared(Path(path))
        return True

    def _remove_superseded(self, path: str, base: int) -> None:
        """Remove records before those that were stored here last, as far as these are of commits up
        to `base`, which are true; the others wait for the next task.
        """
        for key, name in list(self._superseding.items()):
            if key[0] == path:
                with suppress(OSError):
                    remove_older(Path(path) / STATE, name, base)
                if name.version <= base:
                    self._superseding.pop(key, None)

    def _sweep_rewritten(self, path: str) -> None:
        """Remove pages of relations that parts have whole, once no record of this worker needs
        those from before all were written again.
        """
        rewritten = self.pages(path).rewritten
        if WHOLE in rewritten and not any(key[0] == path for key in list(self._superseding)):
            rewritten.clear()
            with suppress(OSError):
                sweep_shared(Path(path))

    def stored_anew(
        self, task: OnPart, steps: int, state: PartState, host: Host
    ) -> RecordName | None:
        """Store a part as it is after a commit, all its pages written together; None where that
        cannot be.
        """
        token, version = task.base
        name = RecordName(task.part, version, token, steps, uuid4().hex[:12])
        with self._wake:
            self._due.pop(task.key, None)
        orders = sum(len(relation.orders()) for relation in state.database.values())
        self._since[task.key] = _Since(task.program_name, token, version, orders, token)
        due = _Due(name, task.program_name, state, host, version, task.parts)
        return name if self._store(task.key[0], due, anew=True) else None

    def is_packed(self, task: OnPart) -> bool:
        """Tell, once, whether a part was stored on fewer pages than this worker has it on, by a
        commit up to the one that the task builds on: it is to be opened from there.
        """
        found = self._packed.get(task.key)
        if found is None or found[0].version > task.base[1]:
            return False
        self._packed.pop(task.key, None)
        return found[1] == task.program_name

    # ── opening ───────────────────────────────────────────────────────────────────────────────────
    def opened(
        self,
        path: str,
        part: int,
        manifest: Manifest,
        program: str,
        plan: PartPlan,
        shared_rows: int,
    ) -> tuple[PartState, Host] | None:
        """The part as it was stored last, at a commit from which it can be brought forward; None
        when it is nowhere. `shared_rows`: as in `Tuning`.

        Raises FileDamagedError where a file has to be set aside first.
        """
        folder = Path(path) / STATE
        died = (folder / trial(part)).exists()
        for name in records(folder, part):
            if not manifest.has_done(name.version, name.token, part, name.steps):
                continue
            found = None
            with suppress(MemoryError, *NOT_TO_BE_HAD):
                record = read_record(folder, name, program, manifest.parts)
                if record is not None:
                    found = self._open(path, name, record, plan, shared_rows)
            if found is not None:
                self._try(folder / trial(part), everything=died)
                orders = sum(len(relation.orders()) for relation in found[0].database.values())
                self._since[path, part] = _Since(
                    program,
                    name.token,
                    name.version,
                    orders,
                    name.token,
                    manifest.version - name.version,
                )
                return found
        (folder / trial(part)).unlink(missing_ok=True)
        return None

    def _open(
        self,
        path: str,
        name: RecordName,
        record: dict[str, Any],
        plan: PartPlan,
        shared_rows: int,
    ) -> tuple[PartState, Host]:
        self.objects(path).fetch(record)
        host = self.host(path, chain_of(record["strings"]))
        return open_part(name, record, plan, host, self.pages(path), shared_rows), host

    def _try(self, mark: Path, *, everything: bool) -> None:
        """Check `everything` where a worker died while it had this part open, unchecked: damaged
        pages may lead anywhere. Else note that this one has.
        """
        if everything:
            self._watch.check(everything=True)
        if everything or self._watch.files:
            mark.touch()
            self._trials.append(mark)

    def check(self) -> None:
        """Check what was looked at of mapped files. Raises FileDamagedError; then no part of this
        worker can be relied on.
        """
        self._watch.check()
        while self._trials:
            self._trials.pop().unlink(missing_ok=True)

    def host(self, path: str, chain: Chain) -> Host:
        """One whose dictionary has the strings of a chain. Raises one of `NOT_TO_BE_HAD`."""
        for host in self._hosts:
            if host.strings_below(path).knows(chain):
                return host
        for host in self._hosts:
            if host.strings_below(path).take(Path(path) / STATE, chain):
                return host
        host = Host(self._hosts[0].arena, Dictionary())
        host.strings_below(path).take(Path(path) / STATE, chain)
        self._hosts.append(host)
        return host

    def keep(self, used: Iterable[Host]) -> None:
        """Give back all hosts but those that are used: one at least."""
        kept = {id(host): host for host in used}
        self._hosts[:] = [kept.pop(id(host)) for host in self._hosts if id(host) in kept]


@contextmanager
def at_once() -> Iterator[None]:
    """Parts are stored in the tasks that change them, and no thread is started."""
    before, Checkpoints.delayed = Checkpoints.delayed, False
    try:
        yield
    finally:
        Checkpoints.delayed = before
