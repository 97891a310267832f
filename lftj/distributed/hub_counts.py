# SPDX-License-Identifier: Apache-2.0
"""Heavy hitters (hubs): values with so many rows that they outweigh a part. Parts count a sample of
their own rows, the driver sums up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from lftj.distributed.bounds import Bounds
from lftj.distributed.committed_version import Present
from lftj.distributed.files.entry import Entry, sampled_rows
from lftj.distributed.files.manifest import ROWS
from lftj.distributed.objects.mounts import AnyPath, here, sent
from lftj.distributed.partitioning.cuts import Hub
from lftj.program import RelationSchema
from lftj.scantree import distinct_values, frozen
from lftj.storage import base_name
from lftj.types import NULL_CODE, Dictionary

_SAMPLED = 200_000  # rows of a relation that are counted, over all parts
_SHARE = 2  # a hub has at least half as many rows as a part
_MISSED = 1 / 8  # of a hub's rows, those in parts of which it has but a small share

Counted = dict[tuple[str, int], dict[Hub, int]]
"""Rows by value, by relation and column."""

Counting = tuple[RelationSchema, int, float, tuple[Entry, ...]]
"""A relation, every how many-th row of it is counted, the share of all rows that makes a hub, and
entries.
"""
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
    for name, (schema, step, share, entries) in task.relations.items():
        dictionary, folder = Dictionary(), here(task.path) / ROWS
        sampled = [
            sampled_rows(folder, entry, schema, task.part, step, dictionary) for entry in entries
        ]
        signs = np.concatenate([signs for _, signs in sampled])
        for column, (_, type) in enumerate(schema.columns):
            listed = np.concatenate([columns[column] for columns, _ in sampled])
            values = distinct_values(listed)
            places = np.searchsorted(values, listed)
            rows = np.bincount(places, weights=signs, minlength=len(values)).astype(np.int64) * step
            # Rows may have gone in another part than that in which they came, where another cut was
            # the home.
            many = np.flatnonzero(np.abs(rows) >= max(1, share * _MISSED * len(places) * step))
            if type.optional:
                many = many[values[many] != NULL_CODE]
            hubs = (
                dictionary.decode(values[many]).to_pylist()
                if type.name == "str"
                else values[many].tolist()
            )
            found[name, column] = dict(zip(hubs, rows[many].tolist(), strict=True))
    return found


def counted_hubs(
    present: Present, relations: Iterable[RelationSchema], bounds: Bounds
) -> dict[str, dict[str, Any]]:
    """The hubs of base relations as `partitioning.hub_columns.Hubs` takes them. One job, or none
    where no relation is large enough.

    Raises DistributedError (E401) when it failed, LimitError.
    """
    executor, manifest = present.executor, present.manifest
    fewest = present.settings.tuning.hub_rows
    least, asked = (
        dict[str, float](),
        dict[str, Counting](),
    )
    for schema in relations:
        entries, count = (
            manifest.log.get(base_name(schema.name), ()),
            manifest.counts.get(base_name(schema.name), 0),
        )
        least[schema.name] = max(fewest, count / (_SHARE * executor.partitions))
        if executor.partitions > 1 and count >= fewest and entries and schema.arity > 1:
            asked[schema.name] = schema, 1 + count // _SAMPLED, least[schema.name] / count, entries
    if not asked:
        return {}
    bounds.left()
    tasks = [
        HeavyHittersTask(sent(executor.path), part, dict(_own(asked, part)))
        for part in range(executor.partitions)
    ]
    sums: Counted = {}
    for part in bounds.run(executor, count_part, tasks):
        for place, values in part.items():
            of = sums.setdefault(place, {})
            for value, rows in values.items():
                of[value] = of.get(value, 0) + rows
    found: dict[str, dict[str, Any]] = {}
    for (name, column), values in sorted(sums.items()):
        if hubs := {
            value: rows for value, rows in values.items() if rows >= (1 - _MISSED) * least[name]
        }:
            found.setdefault(name, {})[str(column)] = [two_digits(sum(hubs.values())), sorted(hubs)]  # pyright: ignore[reportArgumentType]
    return found


def _own(asked: Asked, part: int) -> Iterator[tuple[str, Counting]]:
    """Restrict the question to entries of one part, without relations that have no rows there."""
    for name, (schema, step, share, entries) in asked.items():
        own = tuple(found for entry in entries if (found := entry.at_home(part)).pieces[0].parts)
        if own:
            yield name, (schema, step, share, own)


def two_digits(count: int) -> int:
    """A number of rows as descriptions of programs have it, which are not to change
    with every row.
    """
    return round(count, 2 - len(str(count)))
