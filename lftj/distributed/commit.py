# SPDX-License-Identifier: Apache-2.0
"""A commit over all parts: rows go out, parts do their stages, and one manifest makes it all true.

Before the manifest has its name nothing has happened, whatever parts have written or workers
remember: files carry the token of their commit, and a worker's memory of it counts only when a
later task builds on it. After it everything has happened. So a commit is whole or not at all, and
may be tried again from the start.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any
from uuid import uuid4

from lftj.distributed.bounds import Bounds
from lftj.distributed.committed_version import Present
from lftj.distributed.files.deliveries import delivery_name, write_delivery
from lftj.distributed.files.entry import Entry, files_of
from lftj.distributed.files.manifest import ROWS, Manifest, files_from
from lftj.distributed.files.programs import stored_program
from lftj.distributed.partitioning.cuts import readers
from lftj.distributed.partitioning.part_plan import PartPlan
from lftj.distributed.partitioning.programs import derives_otherwise
from lftj.distributed.partitioning.steps import Step
from lftj.distributed.partitioning.supersteps import Supersteps
from lftj.distributed.parts.heavy_values import Counted, Sample, add_counts, sample_of
from lftj.distributed.parts.outcome import Outcome, Report
from lftj.distributed.parts.task import PartDone, PartTask
from lftj.distributed.sending import Sending, Staged
from lftj.distributed.stage_supersteps import Entries, StageSupersteps, allowed
from lftj.distributed.work.stage import run_stage
from lftj.errors import DistributedError
from lftj.storage import base_name
from lftj.types import Dictionary, Role, in_role

_log = logging.getLogger(__name__)
_ATTEMPTS = 3
"""Attempts at a commit whose own files are lost."""


class Commit:
    """One attempt at a commit, on a version. `elastic`: the share of a stratum in supersteps that
    may be over-deleted. `progress` is called with a line of text before each step.

    `steps_of`: the steps that each part has in it. `emptied`: it begins without rows.
    """

    emptied = False

    def __init__(
        self,
        present: Present,
        program: Mapping[str, Any],
        plan: PartPlan,
        bounds: Bounds | None = None,
        elastic: float = 0.2,
        progress: Callable[[str], None] = lambda text: None,
    ):
        self.present, self.executor, self.before, self.program, self.plan = (
            present,
            present.executor,
            present.manifest,
            program,
            plan,
        )
        before, self.bounds, self.elastic = self.before, bounds or Bounds(), elastic
        self._progress = progress
        self.afresh = derives_otherwise(before.program, program)
        self.version = before.version + 1
        self._started = time.perf_counter()
        self._lost = set[str]()
        self._begin()

    def _begin(self) -> None:
        """Begin, or begin again: with a token that no file of an attempt before has."""
        self.token = uuid4().hex[:16]
        self.steps: list[Step] = []
        self.steps_of: dict[int, int] = {}
        self.done: list[PartDone] = []
        self.in_supersteps: list[StageSupersteps] = []
        self.new: list[dict[str, list[Entry]]] = [{}]
        self._known: dict[Step, Step] = {}
        self._deliveries: set[str] = set()
        self._changed: dict[int, frozenset[str]] = {}

    def carry_out(self, staged: Mapping[str, Sequence[Staged]], dictionary: Dictionary) -> Outcome:
        """Do it all but make it true. Raises what the parts' users did wrong, and DistributedError
        (E401) when the job failed.

        Rows on their way between parts are in files of the commit. Where one of these is lost, all
        is done again, under another token: parts are as they were, and the rows that came are here.
        """
        for left in reversed(range(_ATTEMPTS)):
            try:
                return self._carry_out(staged, dictionary)
            except DistributedError as reason:
                if not left or reason.code != "E403" or self.token not in str(reason):
                    raise
                _log.warning("commit %d begins again: %s", self.version, reason)
                self._lost |= self.files()
                self._begin()
        raise AssertionError("the last attempt returns or raises")

    def _carry_out(self, staged: Mapping[str, Sequence[Staged]], dictionary: Dictionary) -> Outcome:
        self.new[0].update(self.brought())
        for name, steps in staged.items():
            if entries := self._sent(name, steps, dictionary):
                self.new[0][base_name(name)] = entries
        for stage, work in enumerate(self.plan.stages):
            touched = self._touched(stage)
            if work.supersteps is None:
                self._step(Step(stage), touched)
            elif touched:
                self._in_supersteps(stage, work.supersteps, touched)
        return self._outcome()

    def brought(self) -> Mapping[str, list[Entry]]:
        """Rows that come besides those that are staged, by relation."""
        return {}

    @cached_property
    def _program_name(self) -> str:
        """The name by which tasks find the program."""
        return stored_program(self.executor.path, self.program)

    @property
    def passing(self) -> set[str]:
        """The files that told parts what to read, and those by which they told each other what they
        found in supersteps: of no use any more.
        """
        return (
            self._deliveries
            | self._lost
            | files_of(
                entry
                for done in self.done
                for name, entry in done.entries.items()
                if in_role(name, Role.NEWS)
            )
        )

    @property
    def nets(self) -> set[str]:
        """The files that only tell which base rows came and went: part of no version."""
        return files_of(
            entry for done in self.done for *_, entry in done.net.values() if entry is not None
        )

    def files(self) -> set[str]:
        """All files that it wrote, and those who helped it: of no use if it has not happened. Reads
        the folder.
        """
        return self._lost | files_from(self.executor.path, f"{self.version}-{self.token}")

    def _sent(self, name: str, steps: Sequence[Staged], dictionary: Dictionary) -> list[Entry]:
        relations = self.plan.program.catalog.relations
        stem = f"{self.version}-{self.token}-in{list(relations).index(name)}"
        found = list[Entry]()
        for number, step in enumerate(steps):
            sending = Sending(
                self.executor,
                relations[name],
                self.plan.cuts(name),
                f"{stem}.{number}",
                self.version,
                self.bounds,
            )
            found += sending.sent(step, dictionary)
        return found

    # ── stages ────────────────────────────────────────────────────────────────────────────────────
    def _touched(self, stage: int) -> set[int]:
        """The parts that have something to do."""
        parts, work = self.executor.partitions, self.plan.stages[stage]
        if self.afresh:
            # In the first stage all, since base rows are told from new ones there.
            return {part for part in range(parts) if stage == 0 or work.supersteps or work.of(part)}
        touched = {
            part for part, names in self._changed.items() if not names.isdisjoint(work.reads)
        }
        for feed in self.plan.feeds_of(stage):
            for entry in self.new[-1].get(feed.relation, ()):
                touched |= readers(feed.cut, entry.holding(feed.cut), parts)
        return touched

    def _in_supersteps(self, number: int, supersteps: Supersteps, touched: set[int]) -> None:
        rows = sum(self.before.counts.get(relation, 0) for relation in supersteps.cuts)
        stage = StageSupersteps(
            number,
            supersteps,
            self.executor.partitions,
            allowed(self.elastic, rows),
            self._step,
        )
        if self.afresh:
            stage.derive()
        else:
            stage.follow(touched)
        self.in_supersteps.append(stage)

    def _step(self, step: Step, parts: set[int], arriving: Entries | None = None) -> list[PartDone]:
        """Have these parts do a step, with what the step before wrote or with `arriving`, and
        gather what they wrote.
        """
        self.steps.append(
            self._known.setdefault(step, step)
        )  # one that comes again is told by a reference
        if arriving is not None:
            self.new[-1] = {name: list(entries) for name, entries in arriving.items()}
        delivery = delivery_name(self.version, self.token, len(self.steps) - 1)
        write_delivery(
            self.executor.path / ROWS / delivery,
            self.new[-1],
            self.plan.reads,
            self.executor.partitions,
        )
        self._deliveries.add(delivery)
        limits, program_name, steps = self.bounds.left(), self._program_name, tuple(self.steps)
        samples = dict(self._samples()) if len(steps) == 1 else {}
        self._progress(f"commit {self.version}: step {len(self.steps)} in {len(parts)} parts")
        tasks = [
            PartTask(
                **self.present.on(part, limits, program_name),
                token=self.token,
                version=self.version,
                steps=steps,
                afresh=self.afresh,
                emptied=self.emptied,
                oldest=self.version if self.emptied else min(self.before.tokens, default=0),
                elastic=self.elastic,
                samples=samples,
            )
            for part in sorted(parts)
        ]
        found: list[PartDone] = self.bounds.run(self.executor, run_stage, tasks)
        self.bounds.budget.spend(sum(work.steps for done in found for work in done.works))
        self.new.append({})
        for done in found:
            self._changed[done.part] = done.changed
            self.steps_of[done.part] = len(self.steps)
            for name, entry in done.entries.items():
                self.new[-1].setdefault(name, []).append(entry)
        self.done += found
        return found

    def _samples(self) -> Iterator[tuple[str, Sample]]:
        """Samples of the relations that this commit loads, which had no rows before."""
        tuning = self.present.settings.tuning
        for name, schema in self.plan.program.catalog.relations.items():
            stored = base_name(name)
            entries = self.new[0].get(stored, ())
            if entries and not self.before.counts.get(stored):
                rows = sum(entry.rows for entry in entries)
                sample = sample_of(schema, rows, self.executor.partitions, tuning.hub_rows)
                if sample is not None:
                    yield name, sample

    @property
    def counted(self) -> Counted:
        """Values with many rows in relations that are as they were loaded, by this commit or one
        before.
        """
        found = {
            place: values
            for place, values in self.present.counted.items()
            if all(place[0] not in done.net for done in self.done)
        }
        for done in self.done:
            add_counts(found, done.counted)
        return found

    # ── what it came to ───────────────────────────────────────────────────────────────────────────
    def _outcome(self) -> Outcome:
        report = Report.of(
            self.version, self.done, self.new[0], time.perf_counter() - self._started
        )
        report.rounds = sum(stage.count for stage in self.in_supersteps)
        report.overdeleted = sum(stage.overdeleted for stage in self.in_supersteps)
        report.anew = sum(stage.anew for stage in self.in_supersteps)
        report.given_up = sum(stage.gave_up for stage in self.in_supersteps)
        outcome = Outcome(self.before, self.plan, self.afresh, self.afresh, report=report)
        counts = dict(self.before.counts)
        if self.afresh:
            counts = {
                name: count for name, count in counts.items() if name not in self.plan.placements
            }
        for done in self.done:
            for name, (came, went, entry) in done.net.items():
                counts[base_name(name)] = counts.get(base_name(name), 0) + came - went
                outcome.inserted[name] = outcome.inserted.get(name, 0) + came
                outcome.happened |= came + went > 0
                if came + went and not self.plan.derived(name):
                    found = (
                        [(entry, None)]
                        if entry is not None
                        else [(sent, done.part) for sent in self.new[0][base_name(name)]]
                    )
                    outcome.changes.setdefault(name, []).extend(found)
            for name, (came, went) in done.rows.items():
                counts[name] = counts.get(name, 0) + came - went
                outcome.happened = True
        for entries in self.new[1:]:
            for name, written in _lasting(entries):
                outcome.changes.setdefault(name, []).extend((entry, None) for entry in written)
        if outcome.happened:
            outcome.manifest = self._manifest(counts)
        elif self.program != self.before.program:
            outcome.manifest = replace(self.before, program=self.program)
        return outcome

    def _manifest(self, counts: Mapping[str, int]) -> Manifest:
        before = self.before
        log = {name: list(entries) for name, entries in before.log.items()}
        tokens = {**before.tokens, self.version: self.token}
        if self.afresh:
            base = {base_name(name) for name in self.plan.program.catalog.relations}
            log, tokens = (
                {name: entries for name, entries in log.items() if name in base},
                {self.version: self.token},
            )
        steps = {**before.steps, self.version: self._parts_by_steps()}
        for entries in self.new:
            for name, written in _lasting(entries):
                log.setdefault(name, []).extend(written)
        return replace(
            before,
            version=self.version,
            token=self.token,
            program=self.program,
            log={name: tuple(entries) for name, entries in log.items()},
            counts=counts,
            tokens=tokens,
            steps={version: done for version, done in steps.items() if version in tokens},
        )

    def _parts_by_steps(self) -> dict[int, tuple[int, ...]]:
        """Parts by the number of their steps; an empty tuple stands for all parts."""
        parts: dict[int, list[int]] = {}
        for part, steps in self.steps_of.items():
            parts.setdefault(steps, []).append(part)
        return {
            steps: () if len(found) == self.executor.partitions else tuple(sorted(found))
            for steps, found in parts.items()
        }


def _lasting(entries: Mapping[str, list[Entry]]) -> Iterator[tuple[str, list[Entry]]]:
    """Select the entries that belong to the version: all but the messages of supersteps."""
    return ((name, written) for name, written in entries.items() if not in_role(name, Role.NEWS))
