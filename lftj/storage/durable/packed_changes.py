# SPDX-License-Identifier: Apache-2.0
"""Changes of several relations as bytes: the names and lengths, then an Arrow record batch each.

A batch is written without its schema, which the declarations say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

from lftj.program.normal_form import RelationSchema
from lftj.storage.delta import Delta
from lftj.storage.durable.signed_rows import (
    change_of,
    coded_rows,
    signed_schema,
    signed_table,
)
from lftj.types.dictionary import Dictionary
from lftj.types.texts import Texts

_END = b"\n"


def packed(
    changes: Mapping[str, Delta], schemas: Mapping[str, RelationSchema], texts: Texts
) -> bytes:
    """Changes by relation as bytes. O(changed rows)."""
    batches = [
        signed_table(schemas[name], *delta.signed(), texts).to_batches()[0].serialize()
        for name, delta in changes.items()
    ]
    head = [[name, batch.size] for name, batch in zip(changes, batches, strict=True)]
    return b"".join([json.dumps(head).encode(), _END, *batches])


def unpacked(
    content: bytes,
    schemas: Mapping[str, RelationSchema],
    dictionary: Dictionary,
    *,
    alone: bool = False,
) -> dict[str, Delta]:
    """The changes again, coded by a dictionary; of relations with these schemas `alone`, where
    there may be others. Raises LookupError or ValueError for what was not packed so.
    """
    head, _, batches = content.partition(_END)
    found: dict[str, Delta] = {}
    place = 0
    for name, size in json.loads(head):
        start, place = place, place + size
        if alone and name not in schemas:
            continue
        schema = schemas[name]
        buffer = pa.py_buffer(batches).slice(start, size)
        batch = pa.ipc.read_record_batch(buffer, signed_schema(schema.columns))
        table = pa.Table.from_batches([batch])
        found[name] = change_of(*coded_rows(table, schema, dictionary))
    return found
