"""Structured Streaming in: micro-batches as commits, each exactly once.

Spark gives a micro-batch again when it died before it had noted that the batch is done. The commit notes the batch in the manifest, in the
same rename that makes its rows true, so a batch that comes again is known and passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lftj.distributed.draft import RelationOrName
from lftj.distributed.store import Store
from lftj.distributed.transaction import DistributedTransaction


def batch_writer(
    store: Store, relation: RelationOrName, stream: str, sign: str | None, options: dict[str, Any]
) -> Callable[[Any, int], None]:
    """The function for `foreachBatch`; see `DistributedWorkspace.feed`."""

    def write(frame: Any, batch: int) -> None:
        if batch <= store.manifest.batches.get(stream, -1):
            return
        # Read more than once, and the source need not give the same rows each time.
        frame = frame.persist()
        try:
            with DistributedTransaction(store, (stream, batch)) as tx:
                if sign is None:
                    tx.insert(relation, frame, **options)
                else:
                    tx.delete(relation, frame.where(f"`{sign}` < 0").drop(sign), **options)
                    tx.insert(relation, frame.where(f"`{sign}` > 0").drop(sign), **options)
        finally:
            frame.unpersist()

    return write
