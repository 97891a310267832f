# SPDX-License-Identifier: Apache-2.0
"""One part's state on disk: a record that names the pages of all its trees, and holds the little
that is no tree.

Pages are written first, and synced, then the record, under the name of its commit: so it is whole
or not there. Whether that commit became true is for the manifest to say. What is written is what
the part has since the last record; what is read when a record is opened is the record, and after
that the pages that someone looks at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lftj.distributed.objects.file_store import store_of
from lftj.distributed.partitioning.cuts import ALL
from lftj.distributed.partitioning.part_plan import PartPlan
from lftj.distributed.parts.host import Host
from lftj.distributed.parts.part import VERBS, PartState
from lftj.distributed.stored.shared_relations import WHOLE, with_shared_orders
from lftj.distributed.stored.stored_files import RecordName
from lftj.distributed.stored.stored_objects import StateObjects
from lftj.frames import whole_file
from lftj.storage import Database, RelationVersion
from lftj.storage.durable import (
    OpenedTrees,
    StoredPages,
    StoredStrings,
    StoredTrees,
    regrown,
    relation_data,
    relation_of,
    sealed,
    segment_data,
    segment_of,
    stored_format,
    unsealed,
)
from lftj.views.stored import Rule, statistics_data, statistics_of, views_data, views_of

LAYERS = ("distributed",)
"""Floors that have a say in what parts store, beside those of all stored states."""
_GROWTH = 1.35
"""Words of all pages that were written of a part, over those that one version has, from which all
are written again: each is written three times more on average, and files are a sixth larger.
"""
_SPARE = 1 << 12
"""Words beyond, for parts of few pages."""
_SPARSE = 1.2
"""Words of all pages of one version over those that the same rows take once they are packed, from
which they are: a leaf is half full after it was split [Yao 1978].
"""


# ── writing ───────────────────────────────────────────────────────────────────────────────────────
def store_part(
    name: RecordName,
    program: str,
    state: PartState,
    pages: StoredPages,
    strings: StoredStrings,
    objects: StateObjects,
    *,
    anew: bool = False,
) -> bool:
    """Write what is new of a part's pages, with `anew` all pages where that gives room back, and
    its record. True where pages were packed: the state as it is in memory has others from now on.
    Raises OSError, MemoryError or FileDamagedError.
    """
    trees = StoredTrees()
    record = {
        "format": stored_format(*LAYERS),
        "program": program,
        "parts": state.parts,
        "relations": _relations(state, trees),
        **views_data(state.view_states, rules_of(state.plan), trees),
        "statistics": statistics_data(state.statistics),
    }
    pages.folder.mkdir(exist_ok=True)
    record["strings"] = strings.written(pages.folder)
    packed = _write_pages(name.owner, trees, pages, anew=anew)
    record["trees"] = trees.written()
    record["segments"] = [
        segment_data(segment) for segment in pages.needed(data[0] for data in record["trees"])
    ]
    pages.check()
    record["full"] = {owner: pages.full[owner] for owner in (WHOLE, name.owner)}
    if published := objects.published(record):
        record["objects"] = published
    _write(pages.folder, name, record)
    return packed


def _write_pages(own: str, trees: StoredTrees, pages: StoredPages, *, anew: bool) -> bool:
    """Write the pages of trees that no file has, or all where that is due, packed where they are
    sparse; whether those of the owner `own` were packed.
    """
    packed, owners = False, {WHOLE: trees.roots(shared=True), own: trees.roots(shared=False)}
    for owner, roots in owners.items():
        pages.append(owner, roots)
    for owner, roots in owners.items():
        segments = pages.needed(data[0] for data in trees.written())
        full = pages.overgrown(owner, segments, growth=_GROWTH, spare=_SPARE)
        if full or (anew and regrown(owner, segments, pages.full)) or not pages.there(segments):
            pages.rewrite(owner, roots)
            if owner == own and trees.pack(pages.full[owner], _SPARSE, _SPARE):
                packed = True
                pages.rewrite(owner, trees.roots(shared=False))
    return packed


def _relations(state: PartState, trees: StoredTrees) -> dict[str, Any]:
    whole = {feed.schema.name for feed in state.plan.feeds if feed.cut == ALL}
    return {
        name: relation_data(relation, trees, shared=name in whole)
        for name, relation in state.database.items()
    }


def rules_of(plan: PartPlan) -> list[Rule]:
    """All local rules, in an order that follows from the program."""
    return [rule for stage in plan.stages for stratum in stage.strata for rule in stratum.rules]


def _write(folder: Path, name: RecordName, record: Mapping[str, Any]) -> None:
    with whole_file(folder / name.file) as sink:
        sink.write(sealed(record))
    store_of(folder).publish([folder / name.file])


def is_compact(record: Mapping[str, Any]) -> bool:
    """Tell whether a record's files have no pages but those that were written together."""
    segments = list(map(segment_of, record["segments"]))
    return not any(regrown(owner, segments, record["full"]) for owner in record["full"])


# ── reading ───────────────────────────────────────────────────────────────────────────────────────
def read_record(folder: Path, name: RecordName, program: str, parts: int) -> dict[str, Any] | None:
    """A record of this program and of so many parts, None where it is of others, or of another
    version of lftj.
    """
    store_of(folder).fetch(folder / name.file)
    record = unsealed((folder / name.file).read_bytes())
    fits = (
        record["format"] == stored_format(*LAYERS)
        and record["program"] == program
        and record["parts"] == parts
    )
    return record if fits else None


def open_part(
    name: RecordName,
    record: dict[str, Any],
    plan: PartPlan,
    host: Host,
    pages: StoredPages,
    shared_rows: int,
) -> PartState:
    """The part as it was. O(size of the record): pages are read when someone looks at them.
    Workers share later key orders of whole relations of so many rows.

    Raises OSError, MemoryError, LookupError, ValueError or FileDamagedError where it cannot be had;
    then nothing has happened.
    """
    segments = list(map(segment_of, record["segments"]))
    trees = OpenedTrees(
        host.arena, record["trees"], pages.opened(segments, [data[0] for data in record["trees"]])
    )
    for owner, words in record["full"].items():
        pages.full.setdefault(owner, words)
    whole = {feed.schema.name for feed in plan.feeds if feed.cut == ALL}
    relations = {}
    for local, schema in plan.local.items():
        data = record["relations"][local]
        made = partial(relation_of, data, schema, trees)
        if local not in whole:
            relations[local] = made()
            continue
        key = (str(pages.folder), local, _identified(data, record))
        shared = partial(_with_shared_orders, made, data, record, pages, shared_rows)
        relations[local] = host.opened(key, shared)
    rules = rules_of(plan)
    dictionary, apart = host.dictionary, plan.stage_named
    views = views_of(record, relations, rules, plan.local, dictionary, trees, VERBS, apart)
    return PartState(
        name.token,
        plan,
        name.part,
        record["parts"],
        Database(relations),
        views,
        statistics_of(record["statistics"]),
    )


def _with_shared_orders(
    made: Callable[[], RelationVersion],
    data: dict[str, Any],
    record: dict[str, Any],
    pages: StoredPages,
    shared_rows: int,
) -> RelationVersion:
    stored, relation = record["trees"][data["orders"][0][1]], made()
    if relation.count < shared_rows:
        return relation
    return with_shared_orders(relation, stored, pages)


def _identified(data: dict[str, Any], record: dict[str, Any]) -> str:
    """Identity of a relation's version, the same in the records of all parts."""
    return json.dumps(
        [[order, record["trees"][number], changes] for order, number, changes in data["orders"]]
    )
