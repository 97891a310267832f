# SPDX-License-Identifier: Apache-2.0
"""A table of Delta that follows a view.

What the table has stands in two places: in the table, with its rows, and as the position of a
consumer, for which versions are kept. The table is written first. So its version is the position or
a later one, unless the table, or the workspace, is another than it was: then all rows are written.
"""

from __future__ import annotations

from lftj.api.backend import VersionsInOrder
from lftj.api.snapshot import Snapshot
from lftj.engine.delivery.consumers import Position, require_same
from lftj.frames import DeltaSink


def written(timeline: VersionsInOrder, sink: DeltaSink, name: str, relation: str) -> int:
    """Bring the table to the last version, and give its number. Raises as
    `Workspace.write_delta`.
    """
    sink.require_ours()
    last = timeline.last
    now = timeline.state(last)
    relation = timeline.schema(relation).name
    known, there = timeline.position(name), sink.version
    if known is not None:
        require_same(name, known, relation)
    else:
        known = timeline.consumer(name, relation, last)  # from now on versions are kept
        there = None
    base = None if there is None or there > last else max(there, known.version)
    before = None if base is None else timeline.state(base)
    if before is None or timeline.schema_change(relation, before, now) is not None:
        sink.replace(Snapshot(timeline.version(last))[relation].arrow(), last)
    else:
        change = timeline.change(relation, before, now)
        if len(change):
            sink.change(change.arrow(), last)
    timeline.acknowledge(name, Position(relation, last))
    return last
