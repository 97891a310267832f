# SPDX-License-Identifier: Apache-2.0
"""Memory of all workers, and space on disk. Nothing is opened for it: workers report the parts that
they keep.
"""

from __future__ import annotations

import os

from lftj.distributed.bounds import Bounds
from lftj.distributed.committed_version import Present
from lftj.distributed.partitioning.cuts import ALL
from lftj.distributed.partitioning.part_plan import PartPlan
from lftj.distributed.parts.failure import Failure
from lftj.distributed.parts.task import OnPart
from lftj.distributed.placement_report import how
from lftj.distributed.work.worker import Worker, carefully
from lftj.engine.versions import Result
from lftj.explain.plans import all_memory_rows
from lftj.scantree import frozen
from lftj.types import INT, STR

COLUMNS = (("relation", STR), ("held", STR), ("key_order", STR), ("rows", INT), ("bytes", INT))

Kept = tuple[str, str]
"""A local relation, and the key order or state that is kept of it."""


@frozen
class MemoryUse:
    """Memory that one worker keeps for one part, rows and bytes each, and for all its parts: pages
    and strings.
    """

    part: int
    process: tuple[str, int]
    kept: dict[Kept, tuple[int, int]]
    pages: int
    strings: tuple[int, int]


def tell_memory(task: OnPart) -> MemoryUse | Failure:
    """Tell, whatever version the worker has."""
    return carefully(task, lambda worker: _memory_use(task, worker))


def _memory_use(task: OnPart, worker: Worker) -> MemoryUse:
    kept = worker.parts.get(task.key)
    host = worker.host if kept is None else kept.host
    found: dict[Kept, tuple[int, int]] = {}
    if kept is not None:
        state = kept.state if kept.advance is None else kept.advance.now
        for name, what, rows, size in all_memory_rows(state.database, state.view_states):
            before = found.get((name, what), (0, 0))
            found[name, what] = before[0] + rows, before[1] + size
    strings = len(host.dictionary), host.dictionary.bytes_in_use
    return MemoryUse(
        task.part, (os.uname().nodename, os.getpid()), found, host.arena.bytes_in_use, strings
    )


def memory_report(present: Present, bounds: Bounds) -> Result:
    """The sums over parts; of what the parts of one process share, over processes. One job."""
    limits = bounds.left()
    tasks = [OnPart(**present.on(part, limits)) for part in range(present.executor.partitions)]
    found: list[MemoryUse] = bounds.run(present.executor, tell_memory, tasks)
    whole = {local for local, (_, cut) in present.plan.held.items() if cut == ALL}
    sums: dict[Kept, tuple[int, int]] = {}
    shared = set[tuple[Kept, tuple[str, int]]]()
    for each in found:
        for key, (rows, size) in each.kept.items():
            if key[0] in whole:
                if (key, each.process) in shared:
                    continue
                shared.add((key, each.process))
            before = sums.get(key, (0, 0))
            sums[key] = before[0] + rows, before[1] + size
    lines = [
        (*_named(name, present.plan), what, *sizes) for (name, what), sizes in sorted(sums.items())
    ]
    processes = {each.process: each for each in found}.values()
    lines.append(("(rows)", "", "", sum(line[3] for line in lines), sum(line[4] for line in lines)))
    lines.append(
        ("(pages)", f"{len(processes)} workers", "", 0, sum(each.pages for each in processes))
    )
    strings = [each.strings for each in processes]
    lines.append(
        (
            "(dictionary)",
            f"{len(processes)} workers",
            "",
            sum(count for count, _ in strings),
            sum(size for _, size in strings),
        )
    )
    for name, entries in sorted(present.manifest.log.items()):
        rows = present.manifest.counts.get(name, 0)
        lines.append(
            (
                name,
                "on disk",
                f"{len(entries)} entries",
                rows,
                sum(entry.bytes for entry in entries),
            )
        )
    return Result.of_rows(COLUMNS, lines, version=present.manifest.version, name="memory")


def _named(local: str, plan: PartPlan) -> tuple[str, str]:
    """The relation of a local one, and how parts hold it."""
    if local not in plan.held:
        return local, ""
    name, cut = plan.held[local]
    return name, how(plan.local[local], cut)
