# SPDX-License-Identifier: Apache-2.0
"""Outcome of a commit over all parts, and its cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lftj.distributed.files.entry import Entry
from lftj.distributed.files.manifest import Manifest
from lftj.distributed.partitioning.part_plan import PartPlan
from lftj.distributed.parts.task import PartDone


@dataclass
class Report:
    """Counters of one commit: parts that ran, tasks, how many had to bring their part forward, open
    or build it, rows and bytes written for other parts, rows read, kernel steps (the sum, and the
    part with most); of recursive strata in supersteps these, the rows that may have lost a
    derivation and were followed, the strata derived from nothing, and those of them where too much
    was lost; seconds of all tasks and of the whole; and those of compiling kernels, or reading them
    from disk, when rules were added and in tasks, which `task_seconds` do not count.
    """

    version: int
    parts: int = 0
    tasks: int = 0
    behind: int = 0
    opened: int = 0
    built: int = 0
    rows: int = 0
    bytes: int = 0
    read: int = 0
    steps: int = 0
    most_steps: int = 0
    rounds: int = 0  # of supersteps; a public column of `profile`
    overdeleted: int = 0
    anew: int = 0
    given_up: int = 0
    task_seconds: float = 0.0
    seconds: float = 0.0
    compile_seconds: float = 0.0

    @staticmethod
    def of(
        version: int, tasks: Sequence[PartDone], sent: Mapping[str, Sequence[Entry]], seconds: float
    ) -> Report:
        """The counters of a commit from what its tasks tell and the entries of the rows that were
        sent.
        """
        entries = [
            *(entry for each in sent.values() for entry in each),
            *(entry for done in tasks for entry in done.entries.values()),
        ]
        steps: dict[int, int] = {}
        for done in tasks:
            steps[done.part] = steps.get(done.part, 0) + sum(work.steps for work in done.works)
        return Report(
            version,
            parts=len(steps),
            tasks=len(tasks),
            behind=sum(done.origin == "behind" for done in tasks),
            opened=sum(done.origin == "opened" for done in tasks),
            built=sum(done.origin == "built" for done in tasks),
            rows=sum(entry.rows for entry in entries),
            bytes=sum(entry.bytes for entry in entries),
            read=sum(done.read for done in tasks),
            steps=sum(steps.values()),
            most_steps=max(steps.values(), default=0),
            task_seconds=sum(done.seconds for done in tasks),
            seconds=seconds,
            compile_seconds=sum(done.compile_seconds for done in tasks),
        )


@dataclass
class Outcome:
    """Outcome of a commit. `afresh`: rules came or went, so that every view was derived anew.
    `changes`: per relation the place of its net change, as entries of one part or (None) of all.
    """

    manifest: Manifest
    plan: PartPlan
    happened: bool
    afresh: bool = False
    changes: dict[str, list[tuple[Entry, int | None]]] = field(default_factory=dict)
    inserted: dict[str, int] = field(default_factory=dict)
    report: Report | None = None
