# SPDX-License-Identifier: Apache-2.0
"""Relations that all parts have whole, of which the workers of a machine have the pages once.

The first worker that needs one writes its pages to a file, and all map that file, the first one as
well: it makes them in an arena of its own, whose memory goes when they are written. The system then
has them once, and workers copy the few pages that commits change. Which file that is follows from
the files of the rows that the relation was made of. Key orders that rules ask for later are shared
alike: each is that of the rows as they came, in a file whose name follows from where these are, and
workers bring it forward.

Codes of strings are those of a worker's dictionary. The first worker also writes the strings that
it knows, and one whose own strings are the first of these, as when it has none, goes on with them:
then codes are the same. So relations with strings are read before all others. A worker that has
other strings builds its part anew, under those of the first one, where it loads all rows anyhow or
has fewer than the relation; else it makes the relation for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from lftj.distributed.stored.storing import one_at_a_time, storing
from lftj.frames import whole_file
from lftj.program import RelationSchema
from lftj.scantree import WIDE, Arena, Tree
from lftj.storage import Delta, OrdersOfOrigin, RelationVersion, no_rows
from lftj.storage.durable import (
    NOT_TO_BE_HAD,
    Chain,
    OpenedTrees,
    StoredPages,
    StoredStrings,
    StoredTrees,
    TreeData,
    chain_of,
    relation_data,
    relation_of,
    sealed,
    segment_data,
    segment_of,
    stored_format,
    unsealed,
)

WHOLE = "whole"
"""The owner of the pages of relations that parts have whole."""


class OtherCodesError(Exception):
    """The strings of a shared relation, which are those of a chain, have other codes here."""

    def __init__(self, chain: Chain):
        super().__init__(chain)
        self.chain = chain


def shared_relation(
    path: Path,
    name: str,
    schema: RelationSchema,
    rows: Callable[[], Delta],
    arena: Arena,
    pages: StoredPages,
    strings: StoredStrings | None = None,
) -> RelationVersion | None:
    """The relation of these rows, over pages that all workers of the machine map; None where that
    cannot be. `name`: what follows from the rows, and no others have. `rows`: reads them, which
    the first worker does while the others wait. `strings`: those of the worker, where the name says
    nothing of codes.

    Raises OtherCodesError where the first worker had other codes.
    """
    record = pages.folder / f"{WHOLE}.{name}.shared"
    if not any(type.name == "str" for _, type in schema.columns):
        strings = None
    with suppress(MemoryError, *NOT_TO_BE_HAD), storing(path) as open_:
        if not open_:
            return None
        pages.folder.mkdir(exist_ok=True)
        with one_at_a_time(record.with_suffix(".lock")):
            with suppress(*NOT_TO_BE_HAD):
                return _opened(record, schema, arena, pages, strings)
            _write(record, schema, rows(), strings)
            if strings is not None:
                strings.take(record.parent, strings.chain())  # the file in place of memory
            return _opened(record, schema, arena, pages, strings)
    return None


def with_shared_orders(
    relation: RelationVersion, stored: TreeData, pages: StoredPages
) -> RelationVersion:
    """A relation whose rows are stored there, and whose other key orders workers share."""
    identity = relation.identity

    def find(order: tuple[int, ...]) -> Tree | None:
        def rows() -> Delta:
            return Delta(identity.columns(), no_rows(len(order))).reordered(order)

        columns = tuple(relation.schema.columns[place] for place in order)
        schema = replace(relation.schema, columns=columns, key=None, choice=())
        name = blake2b(repr((stored, order)).encode(), digest_size=12).hexdigest()
        found = shared_relation(pages.folder.parent, name, schema, rows, relation.arena, pages)
        return None if found is None else found.identity

    return relation.with_origin(OrdersOfOrigin(identity, find))


def _write(
    record: Path, schema: RelationSchema, delta: Delta, strings: StoredStrings | None
) -> None:
    """Make the relation far from all others, and write its pages, then what says where they are."""
    arena, trees = Arena(WIDE), StoredTrees()
    empty = RelationVersion.empty(schema, arena)
    made = empty.apply(empty.net(delta))
    data = relation_data(made, trees, shared=True)
    pages = StoredPages(arena, record.parent, read_whole=True)
    pages.append(WHOLE, trees.roots(shared=True))
    found: dict[str, Any] = {
        "format": stored_format("distributed"),
        "relation": data,
        "trees": trees.written(),
        "strings": [] if strings is None else strings.written(record.parent),
    }
    segments = pages.needed(tree[0] for tree in found["trees"])
    found["segments"] = [segment_data(segment) for segment in segments]
    with whole_file(record) as sink:
        sink.write(sealed(found))


def _opened(
    record: Path,
    schema: RelationSchema,
    arena: Arena,
    pages: StoredPages,
    strings: StoredStrings | None,
) -> RelationVersion:
    """The relation of a record. Raises one of `NOT_TO_BE_HAD`, or OtherCodesError."""
    found = unsealed(record.read_bytes())
    if found["format"] != stored_format("distributed"):
        raise ValueError("another format")
    chain = chain_of(found["strings"])
    if strings and not strings.knows(chain) and not strings.take(record.parent, chain):
        raise OtherCodesError(chain)
    segments = list(map(segment_of, found["segments"]))
    new = sum(segment.words for segment in segments if segment.name not in arena.mapped)
    opened = pages.opened(segments, [tree[0] for tree in found["trees"]])
    pages.full[WHOLE] = pages.full.get(WHOLE, 0) + new
    relation = relation_of(found["relation"], schema, OpenedTrees(arena, found["trees"], opened))
    return with_shared_orders(relation, found["trees"][0], pages)
