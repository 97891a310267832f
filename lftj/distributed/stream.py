# SPDX-License-Identifier: Apache-2.0
"""Structured Streaming in: micro-batches as commits, each exactly once.

Spark gives a micro-batch again when it died before it had noted that the batch is done. The commit
notes the batch in the manifest, in the same file that makes its rows true, so a batch that comes
again is known and passed over. With another checkpoint numbers begin at 0 again and mean other
rows, so they are noted by checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from lftj.distributed.draft import PartsDraft
from lftj.distributed.store import Store
from lftj.engine.transaction import RelationOrName, Writing
from lftj.errors import FrameError, ValueTypeError

_QUERY = "sql.streaming.queryId"
"""The property in which Spark tells whose batch it is: the same as long as the checkpoint is."""


class _Batch(Writing[PartsDraft]):
    """Transaction of a micro-batch."""

    def __init__(self, store: Store, batch: tuple[str, int]):
        self._store, self._batch = store, batch
        super().__init__(store)

    def _begin(self) -> PartsDraft:
        return self._store.draft(self._batch)

    def change(
        self, relation: RelationOrName, frame: Any, sign: str | int, options: dict[str, Any]
    ) -> None:
        """Rows whose column `sign` is negative go, then those where it is positive come; with 1 all
        come. One job reads the rows once: the source need not give the same ones each time.
        """
        self._open().change(relation, frame, sign, False, options)


def batch_writer(
    store: Store, relation: RelationOrName, stream: str, sign: str | None, options: dict[str, Any]
) -> Callable[[Any, int], None]:
    """The function for `foreachBatch`; see `Workspace.feed`."""

    def write(frame: Any, batch: int) -> None:
        query = frame.sparkSession.sparkContext.getLocalProperty(_QUERY)
        noted = stream if query is None else f"{stream} {query}"
        if batch <= store.manifest.batches.get(noted, -1):
            return
        with _Batch(store, (noted, batch)) as tx:
            if sign is None:
                tx.change(relation, frame, 1, options)
            else:
                column = _named(store.executor.schema(frame), sign)
                tx.change(relation, frame, column, options)

    return write


def _named(schema: pa.Schema, sign: str) -> str:
    """The column of signs as the frame names it: case means nothing to Spark. Raises FrameError
    (E230) where there is none, and ValueTypeError where it holds no numbers.
    """
    named = [field for field in schema if field.name.casefold() == sign.casefold()]
    found = next((field for field in named if field.name == sign), named[0] if named else None)
    if found is None:
        hint = (
            "name the column that says whether a row comes or goes: sign=…; with sign=None all "
            "rows come"
        )
        raise FrameError(
            f'the frame has no column "{sign}"; it has {", ".join(schema.names)}', hint=hint
        )
    is_number = (
        pa.types.is_integer(found.type)
        or pa.types.is_floating(found.type)
        or pa.types.is_decimal(found.type)
    )
    if not is_number and not pa.types.is_null(found.type):
        hint = "negative numbers say that rows go, positive ones that they come"
        raise ValueTypeError(f'column "{sign}": expected numbers, found {found.type}', hint=hint)
    return found.name
