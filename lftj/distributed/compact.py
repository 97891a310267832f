# SPDX-License-Identifier: Apache-2.0
"""Many small entries to one per part, and states of parts to the pages of one version. What a
relation holds stays the same; only files and the manifest change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf
from uuid import uuid4

from lftj.distributed.bounds import Bounds
from lftj.distributed.committed_version import Present
from lftj.distributed.files.entry import Entry, only
from lftj.distributed.files.manifest import ROWS, Manifest, files_from, remove_files
from lftj.distributed.files.row_files import read_entries, write_entry
from lftj.distributed.objects.mounts import AnyPath, here, sent
from lftj.distributed.partitioning.cuts import Cut
from lftj.distributed.partitioning.part_plan import PartPlan
from lftj.distributed.parts.failure import guarded
from lftj.distributed.stored.stored_files import STATE, records, state_files, sweep_compacted
from lftj.distributed.work.compact_state import StateTask, compact_state
from lftj.partition import Executor
from lftj.program import RelationSchema
from lftj.scantree import frozen
from lftj.storage import Delta, base_name
from lftj.tuning import Tuning
from lftj.types import Dictionary


def most_entries(parts: int, tuning: Tuning) -> int:
    """Entries of one relation from which on a commit compacts it. One per part is left, and those
    of recent commits.
    """
    return max(tuning.compacted_entries, 8 * parts)


def recent_entries(parts: int, tuning: Tuning) -> int:
    """Entries of one relation that commits leave as they are: so many that hardly a part was in
    none of them, by chance one in fifty.
    """
    return max(tuning.compacted_entries // 4, 4 * parts)


@frozen
class CompactTask:
    """One part of some relations: per relation its schema, its cuts (the home first) and its
    entries. `onto`: the number of parts for which rows are cut, 0 for those that there are.
    """

    path: AnyPath
    part: int
    parts: int
    version: int
    token: str
    relations: Mapping[str, tuple[RelationSchema, tuple[Cut, ...], tuple[Entry, ...]]]
    onto: int = 0


def compact_part(task: CompactTask) -> dict[str, Entry]:
    """Write one part of each relation anew; relations without rows in the part are left out."""
    folder, written = here(task.path) / ROWS, dict[str, Entry]()
    for number, (name, (schema, cuts, entries)) in enumerate(task.relations.items()):
        dictionary = Dictionary()
        rows = read_entries(
            folder, entries, schema, cuts[0], task.part, task.parts, dictionary
        ).inserts
        if len(rows[0]):
            stem = f"{task.version}-{task.token}-{task.part}-whole{number}"
            delta = Delta(rows, [column[:0] for column in rows])
            parts = task.onto or task.parts
            written[name] = write_entry(
                folder, stem, task.version, schema, delta, cuts, parts, dictionary
            )
    return written


def compacted(
    executor: Executor, manifest: Manifest, plan: PartPlan, most: int, recent: int = 0
) -> Manifest:
    """The same version with one entry per part, for each relation that has more than `most`, in one
    job.

    The last entries stay as they are, at most `recent` of a relation: parts can be brought forward
    from the commits that made them. Parts that are further behind are built anew later. Where none
    is to stay, relations that one process left are cut, too.
    """
    relations = {
        name: (schema, cuts, manifest.log[name])
        for name, schema, cuts in _kept(plan)
        if len(entries := manifest.log.get(name, ())) > most
        or (not recent and any(entry.pieces[0].is_left for entry in entries))
    }
    if not relations:
        return manifest
    until = max(entries[-recent - 1].version for _, _, entries in relations.values())
    old = {
        name: (schema, cuts, _between(entries, 0, until))
        for name, (schema, cuts, entries) in relations.items()
    }
    token = uuid4().hex[:16]
    parts = executor.partitions
    own_entries = [
        {
            name: (schema, cuts, only(entries, part, cuts[0]))
            for name, (schema, cuts, entries) in old.items()
        }
        for part in range(parts)
    ]
    tasks = [
        CompactTask(sent(executor.path), part, parts, until, token, own)
        for part, own in enumerate(own_entries)
    ]
    try:
        found: Sequence[dict[str, Entry]] = guarded(lambda: list(executor.map(compact_part, tasks)))
    except BaseException:
        with suppress(OSError):  # the next commit tries again, with files of its own
            remove_files(executor.path, files_from(executor.path, f"{until}-{token}"))
        raise
    whole = {name: tuple(part[name] for part in found if name in part) for name in relations}
    log = {
        name: whole[name] + _between(entries, until + 1) if name in whole else entries
        for name, entries in manifest.log.items()
    }
    tokens = {version: name for version, name in manifest.tokens.items() if version >= until}
    return replace(
        manifest,
        log=log,
        tokens=tokens,
        steps={version: done for version, done in manifest.steps.items() if version in tokens},
    )


def _between(entries: Sequence[Entry], first: int, last: float = inf) -> tuple[Entry, ...]:
    """Select the entries of some versions."""
    return tuple(entry for entry in entries if first <= entry.version <= last)


def _kept(plan: PartPlan) -> Iterator[tuple[str, RelationSchema, tuple[Cut, ...]]]:
    """All that has entries: base rows, views, shares."""
    for name, schema in plan.program.catalog.relations.items():
        yield base_name(name), schema, plan.cuts(name)
    for output in plan.outputs:
        yield output.relation, output.schema, output.cuts


def compact_states(present: Present, bounds: Bounds) -> int:
    """Have all parts stored as they are at a version, in files without pages of the past, and
    remove the others; how many files are gone. One job.

    The records that are kept are those of tasks whose results were taken. What other attempts
    store later goes when a part is stored next.
    """
    manifest, limits, path = present.manifest, bounds.left(), present.executor.path
    before = state_files(path)
    tasks = [
        StateTask(**present.on(part, limits), steps=manifest.steps_in(manifest.version, part))
        for part in sorted({name.part for name in records(path / STATE)})
        if part < manifest.parts
    ]
    if not tasks:
        return 0
    found: list[str | None] = bounds.run(present.executor, compact_state, tasks)
    sweep_compacted(path, {*filter(None, found)}, manifest)
    return len(before - state_files(path))
