# SPDX-License-Identifier: Apache-2.0
"""Heavy hitters (hubs): values with so many rows that they outweigh a part. Parts count a sample of
their own rows, as they load a relation or when they are asked; the driver sums up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from lftj.distributed.bounds import Bounds
from lftj.distributed.committed_version import Present
from lftj.distributed.files.entry import Entry
from lftj.distributed.files.manifest import ROWS
from lftj.distributed.files.row_files import sampled_rows
from lftj.distributed.objects.mounts import AnyPath, here, sent
from lftj.distributed.parts.heavy_values import (
    MISSED,
    Counted,
    Sample,
    add_counts,
    heavy_values,
    least_rows,
    sample_of,
)
from lftj.program import RelationSchema
from lftj.scantree import frozen
from lftj.storage import base_name
from lftj.types import Dictionary

Counting = tuple[RelationSchema, Sample, tuple[Entry, ...]]
"""A relation, how it is counted, and entries."""
Asked = Mapping[str, Counting]


@frozen
class HeavyHittersTask:
    """One part of some base relations, with the entries that have rows of it."""

    path: AnyPath
    part: int
    relations: Asked


def count_part(task: HeavyHittersTask) -> Counted:
    """The rows, in the whole relation, of values with a good share of this part's."""
    found: Counted = {}
    for schema, sample, entries in task.relations.values():
        dictionary, folder = Dictionary(), here(task.path) / ROWS
        sampled = [
            sampled_rows(folder, entry, schema, task.part, sample.step, dictionary)
            for entry in entries
        ]
        columns = list(map(np.concatenate, zip(*(rows for rows, _ in sampled), strict=True)))
        signs = np.concatenate([signs for _, signs in sampled])
        found |= heavy_values(schema, columns, signs, sample, dictionary)
    return found


def counted_hubs(
    present: Present, relations: Iterable[RelationSchema], bounds: Bounds
) -> dict[str, dict[str, Any]]:
    """The hubs of base relations as `partitioning.hub_columns.Hubs` takes them. One job, or none
    where all relations that are large enough were counted as they were loaded.

    Raises DistributedError (E401) when it failed, LimitError.
    """
    executor, manifest, known = present.executor, present.manifest, present.counted
    parts, hub_rows = executor.partitions, present.settings.tuning.hub_rows
    least, asked = dict[str, float](), dict[str, Counting]()
    for schema in relations:
        stored = base_name(schema.name)
        entries, count = manifest.log.get(stored, ()), manifest.counts.get(stored, 0)
        sample = sample_of(schema, count, parts, hub_rows) if entries else None
        if sample is not None:
            least[schema.name] = least_rows(count, parts, hub_rows)
            if (schema.name, 0) not in known:
                asked[schema.name] = schema, sample, entries
    sums: Counted = {place: dict(values) for place, values in known.items() if place[0] in least}
    if asked:
        bounds.left()
        tasks = [
            HeavyHittersTask(sent(executor.path), part, dict(_own(asked, part)))
            for part in range(parts)
        ]
        for part in bounds.run(executor, count_part, tasks):
            add_counts(sums, part)
    found: dict[str, dict[str, Any]] = {}
    for (name, column), values in sorted(sums.items()):
        if hubs := {
            value: rows for value, rows in values.items() if rows >= (1 - MISSED) * least[name]
        }:
            found.setdefault(name, {})[str(column)] = [two_digits(sum(hubs.values())), sorted(hubs)]  # pyright: ignore[reportArgumentType]
    return found


def _own(asked: Asked, part: int) -> Iterator[tuple[str, Counting]]:
    """Restrict the question to entries of one part, without relations that have no rows there."""
    for name, (schema, sample, entries) in asked.items():
        own = tuple(found for entry in entries if (found := entry.at_home(part)).pieces[0].parts)
        if own:
            yield name, (schema, sample, own)


def two_digits(count: int) -> int:
    """A number of rows as descriptions of programs have it, which are not to change
    with every row.
    """
    return round(count, 2 - len(str(count)))
