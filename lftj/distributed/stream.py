"""Structured Streaming in: micro-batches as commits, each exactly once.

Spark gives a micro-batch again when it died before it had noted that the batch is done. The commit notes the batch in the manifest, in the
same rename that makes its rows true, so a batch that comes again is known and passed over. With another checkpoint numbers begin at 0 again
and mean other rows, so they are noted by checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lftj.distributed.draft import RelationOrName
from lftj.distributed.store import Store
from lftj.distributed.transaction import DistributedTransaction
from lftj.errors import NullValueError

_QUERY = "sql.streaming.queryId"
"""The property in which Spark tells whose batch it is: the same as long as the checkpoint is."""


def batch_writer(
    store: Store, relation: RelationOrName, stream: str, sign: str | None, options: dict[str, Any]
) -> Callable[[Any, int], None]:
    """The function for `foreachBatch`; see `DistributedWorkspace.feed`."""

    def write(frame: Any, batch: int) -> None:
        query = frame.sparkSession.sparkContext.getLocalProperty(_QUERY)
        noted = stream if query is None else f"{stream} {query}"
        if batch <= store.manifest.batches.get(noted, -1):
            return
        # Read more than once, and the source need not give the same rows each time.
        frame = frame.persist()
        try:
            with DistributedTransaction(store, (noted, batch)) as tx:
                if sign is None:
                    tx.insert(relation, frame, **options)
                else:
                    if options.get("nulls") != "drop" and not frame.where(f"`{sign}` is null").isEmpty():
                        hint = 'leave the row out, or feed with nulls="drop"'
                        raise NullValueError(f'column "{sign}": NULL says neither that a row comes nor that it goes', hint=hint)
                    tx.delete(relation, frame.where(f"`{sign}` < 0").drop(sign), **options)
                    tx.insert(relation, frame.where(f"`{sign}` > 0").drop(sign), **options)
        finally:
            frame.unpersist()

    return write
