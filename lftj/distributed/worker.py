"""What runs where the data is: tasks, and what a worker keeps between them.

A worker keeps the parts that it has seen. A task names the commit that it builds on; a part that is behind it is brought forward by the
entries in between, one that is not there is built from all of them, and what a commit did that never became true is forgotten. So it does
not matter which worker does a task, how often, or what died before.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lftj.distributed.checkpoints import Checkpoints
from lftj.distributed.entry import Entry, read_entries, write_entry
from lftj.distributed.failure import Failure, told
from lftj.distributed.host import Host, Rows
from lftj.distributed.manifest import ROWS, Manifest
from lftj.distributed.part import Advance, PartState
from lftj.distributed.plan import NEWS_SUFFIX, Feed, Output, PartPlan, Rounds
from lftj.distributed.planner import plan_of
from lftj.distributed.programs import digest
from lftj.distributed.stored_files import set_aside
from lftj.distributed.task import Log, PartDone, PartTask
from lftj.errors import DistributedError, LftjError
from lftj.program.normal_form import RelationSchema
from lftj.storage.database import BASE_SUFFIX
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion
from scantree.watched_files import FileDamagedError

_log = logging.getLogger(__name__)

KEPT_PARTS = 64
"""Parts that one worker keeps; those not used for longest go."""


@dataclass
class _Kept:
    state: PartState
    host: Host
    advance: Advance | None = None


class _Worker:
    """The memory of this process: parts by path and number, and plans."""

    def __init__(self) -> None:
        self.host = Host()
        self.checkpoints = Checkpoints([self.host])
        self.parts: OrderedDict[tuple[str, int], _Kept] = OrderedDict()
        self.plans: dict[str, PartPlan] = {}

    def plan(self, program: Mapping[str, Any]) -> PartPlan:
        key = digest(program)
        if key not in self.plans:
            self.plans[key] = plan_of(program)
        return self.plans[key]


_worker = _Worker()


def forget(key: tuple[str, int] | None = None) -> None:
    """As a worker that has just started, or has never seen this part: for tests and for those who want the memory back."""
    global _worker
    if key is None:
        _worker = _Worker()
    else:
        _worker.parts.pop(key, None)


# ── commits ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def run_stage(task: PartTask) -> PartDone | Failure:
    """The task of a commit. What users did wrong comes back as a Failure; everything else is raised, and tried again. Where a stored file
    turns out to be damaged, it is set aside, and all is done once more by a worker that knows nothing."""
    try:
        return _stage(task)
    except FileDamagedError as damage:
        _log.warning("%s: what was stored is made anew from rows", damage)
        set_aside(damage.file)
        forget()
        return _stage(task)


def _stage(task: PartTask) -> PartDone | Failure:
    started = time.perf_counter()
    run = _Run(task, _worker)
    try:
        done = run.stage()
    except Exception as error:
        _worker.checkpoints.check()  # it may be what came of a damaged file
        if isinstance(error, LftjError):
            return told(error)
        raise
    finally:
        run.tidy()
    done.seconds = time.perf_counter() - started
    return done


class _Run:
    def __init__(self, task: PartTask, worker: _Worker):
        self.task, self.worker = task, worker
        self.folder = Path(task.path) / ROWS
        self.plan = worker.plan(task.program)
        self.key = (task.path, task.part)
        kept = worker.parts.get(self.key)
        self.host = worker.host if kept is None else kept.host
        self.done = PartDone(task.part)

    def stage(self) -> PartDone:
        task, done = self.task, self.done
        advance = self._advance()
        before, step = len(advance.works), task.steps[-1]
        while advance.steps < len(task.steps):
            advance.take(task.steps[advance.steps], self._rows(task.new[advance.steps]), self.host)
        self.worker.parts[self.key].advance = advance
        done.works, done.shrank = advance.works[before:], advance.shrank
        done.changed = frozenset(advance.deltas)
        for number, output in enumerate(self.plan.outputs):
            if step.closes and output.stage == step.stage and output.local in advance.deltas:
                self._write(number, output, advance.deltas[output.local])
        self._tell(self.plan.stages[step.stage].rounds, advance.news)
        if len(task.steps) == 1:
            self._net(advance.net)
        self.worker.checkpoints.check()
        self._checkpoint(advance)
        return done

    def _checkpoint(self, advance: Advance) -> None:
        rows = sum(map(len, advance.deltas.values()))
        self.worker.checkpoints.changed(self.task, digest(self.task.program), advance.finished(), self.host, rows)

    def tidy(self) -> None:
        """Forget the parts not used for longest."""
        if self.key in (parts := self.worker.parts):
            parts.move_to_end(self.key)
        while len(parts) > KEPT_PARTS:
            parts.popitem(last=False)

    # ── the part as it was ────────────────────────────────────────────────────────────────────────────────────────────
    def _advance(self) -> Advance:
        """This commit's way through the part, as far as it came here; begun anew where this very stage was done before."""
        kept = self.worker.parts.get(self.key)
        if kept is not None and kept.advance is not None and kept.advance.token == self.task.token:
            advance, kept.advance = kept.advance, None  # if it fails now, it has not been
            return advance if advance.steps < len(self.task.steps) else Advance.begin(advance.before, self.task.token)
        state = self._base(kept)
        self.worker.parts[self.key] = _Kept(state, self.host)
        return Advance.begin(state, self.task.token)

    def _base(self, kept: _Kept | None) -> PartState:
        token, state = self.task.base[0], None if kept is None else kept.state
        if kept is not None and kept.advance is not None and self._became_true(kept.advance):
            state = kept.advance.finished()
        if self.task.afresh:
            self.done.origin = "built"
            log = self._manifest().base_log()
            known = {} if state is None or state.token != token else state.own_rows()
            return self._loaded(log, f"{self.task.path} under {self.task.token}", known)
        state = None if state is None else state.carried(self.plan, self.host)
        if state is not None and state.token == token:
            return state
        return self._built(self._manifest(), state)

    def _became_true(self, advance: Advance) -> bool:
        ran = self.task.ran
        return advance.token == self.task.base[0] and ran is not None and advance.steps >= ran

    def _built(self, manifest: Manifest, state: PartState | None) -> PartState:
        """The part at the base version: from one that is behind, or from nothing."""
        token, self.done.origin = self.task.base[0], "behind"
        if state is None or manifest.version_of(state.token) is None:
            state = self._opened(manifest)
        version = None if state is None else manifest.version_of(state.token)
        if state is None or version is None:
            self.done.origin = "built"
            state = self._loaded(manifest.log, f"{self.task.path} at {token}")
            later: Log = {}
        else:
            later = {name: [entry for entry in entries if entry.version > version] for name, entries in manifest.log.items()}
        advance = Advance.begin(state, token)
        advance.catch_up(self._rows(later), self.host)
        return advance.finished()

    def _opened(self, manifest: Manifest) -> PartState | None:
        """The part as some worker stored it."""
        task = self.task
        found = self.worker.checkpoints.opened(task.path, task.part, manifest, digest(task.program), self.plan)
        if found is None:
            return None
        self.done.origin = "opened"
        state, self.host = found
        return state

    def _loaded(self, log: Log, name: str, known: Mapping[Feed, RelationVersion] | None = None) -> PartState:
        return PartState.loaded(self.plan, self.task.part, self.task.parts, self.host, self._rows(log), name, known or {})

    def _manifest(self) -> Manifest:
        manifest = Manifest.load(Path(self.task.path)) or Manifest(self.task.parts)
        if (manifest.token, manifest.version) != self.task.base:
            # A task of a driver that is gone, or of a commit that was given up.
            raise DistributedError(f"version {self.task.base[1]} is not the present one, {manifest.version}", code="E401")
        return manifest

    # ── rows in and out ───────────────────────────────────────────────────────────────────────────────────────────────
    def _rows(self, log: Log) -> Rows:
        def rows(feed: Feed) -> Delta:
            entries = log.get(feed.relation, ())
            delta = read_entries(self.folder, entries, feed.schema, feed.cut, self.task.part, self.task.parts, self.host.dictionary)
            self.done.read += len(delta)
            return delta

        return rows

    def _write(self, number: int, output: Output, delta: Delta) -> None:
        if output.shares:
            # With the number of the part in front; the column that a relation without columns is stored with goes.
            inserts, erases = ([np.full(len(rows[0]), self.task.part, np.int64), *rows] for rows in (delta.inserts, delta.erases))
            delta = Delta(inserts, erases)
        self.done.entries[output.relation] = self._entry(f"{number}", output.schema, delta, output.cuts)
        self.done.rows[output.relation] = delta.inserted, delta.erased

    def _tell(self, rounds: Rounds | None, news: Mapping[str, Delta]) -> None:
        """What other parts have to hold, in all cuts. It is read in the next round, and part of no version."""
        for number, (relation, delta) in enumerate(news.items()):
            name, cuts = relation + NEWS_SUFFIX, () if rounds is None else rounds.cuts[relation]
            self.done.entries[name] = self._entry(f"news{number}.{len(self.task.steps)}", self.plan.local[name], delta, cuts)

    def _entry(self, name: str, schema: RelationSchema, delta: Delta, cuts: Sequence[int]) -> Entry:
        task = self.task
        stem = f"{task.version}-{task.token}-{task.part}-{name}"
        return write_entry(self.folder, stem, task.version, schema, delta, cuts, task.parts, self.host.dictionary)

    def _net(self, net: Mapping[str, Delta]) -> None:
        """Base rows that came and went; written down where they are not all that was asked for."""
        for number, (name, delta) in enumerate(net.items()):
            home = self.plan.homes[name]
            asked = [entry.piece(home) for entry in self.task.new[0].get(name + BASE_SUFFIX, ())]
            rows = sum(count for piece in asked for part, count in piece.parts if part == self.task.part)
            exact = len(asked) == 1 and asked[0].cut == home and rows == len(delta)
            schema = self.plan.program.catalog.relation(name)
            entry = None if exact else self._entry(f"net{number}", schema, delta, (home,))
            self.done.net[name] = delta.inserted, delta.erased, entry
