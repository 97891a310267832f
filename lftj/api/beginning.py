# SPDX-License-Identifier: Apache-2.0
"""Workspaces that begin with what another one has, of the same kind or not: declarations, rules and
rows that are not derived. Views are derived from these, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lftj.api.transaction import Transaction
from lftj.api.workspace import Workspace
from lftj.engine.calls.refusals import Kind
from lftj.engine.durable.dump import Contents, contents_of, own_rows
from lftj.engine.durable.opening import opened_to_read
from lftj.engine.live.engine import Engine
from lftj.engine.versions.state import State
from lftj.errors import DurableError
from lftj.maintenance.rules.called_functions import function_at

if TYPE_CHECKING:
    from lftj.distributed.files.entry import Entry
    from lftj.partition.address import Address


def begin_with(
    workspace: Workspace,
    contents: Contents,
    rows: Iterable[tuple[str, object]],
    entries: Mapping[str, Entry] = MappingProxyType({}),
    batches: Mapping[str, int] = MappingProxyType({}),
) -> Transaction:
    """Have an empty workspace begin with these, in one commit: the transaction. `rows`: of each
    relation, anything that `insert` takes; over parts `entries` of rows that are there, and the
    last of the `batches` that are in. Raises what calls of a workspace of its kind raise.
    """
    with workspace.transaction() as tx:
        for aggregate in contents.aggregates.values():
            tx.add_aggregate(aggregate)
        for signature in contents.functions:
            tx.add_function(function_at(signature))
        for schema, view in contents.relations:
            tx.declare(schema, view=view)
        handles = tx.add_rules(contents.rules) if contents.rules else []
        for name, source in rows:
            tx.insert(name, source)
        draft: Any = tx._open()  # pyright: ignore[reportPrivateUsage]
        for name, entry in entries.items():
            draft.bring(name, entry)
        if batches:
            draft.batches.update(batches)
        draft.restore_programs(contents.programs, handles)
    return tx


def begin_with_copy(workspace: Workspace, place: Path | Address, *, parts: bool) -> None:
    """Have an empty workspace begin with a copy of what is at a place, over `parts` or of one
    process. Branches and the past stay there. O(rows), which go through this process. Raises
    DurableError or DistributedError, also where the workspace is not empty (E351).
    """
    if workspace.relations or workspace.version:
        raise DurableError(
            "a copy cannot come where a workspace is already",
            code="E351",
            hint="choose a path where nothing is, or leave out path and copy=True to open it",
        )
    with _read(place, parts=parts) as (engine, state):
        contents = contents_of(state)
        if workspace._backend.kind is Kind.PARTS:  # pyright: ignore[reportPrivateUsage]
            contents = contents._replace(programs={})  # their rules are there, each by itself
        rows = ((name, each.arrow()) for name, each in own_rows(engine, state))
        begin_with(workspace, contents, rows)


@contextmanager
def _read(place: Path | Address, *, parts: bool) -> Iterator[tuple[Engine, State]]:
    """The last version at a place, in an engine of its own, for the length of a block."""
    engine = Engine(writer_timeout=0, progress=None)
    if not parts:
        assert isinstance(place, Path), "at addresses are parts"
        with opened_to_read(engine, place):
            yield engine, engine.state
        return
    from lftj.distributed.reader import PartsReader  # only those who want it pay for importing it

    reader = PartsReader(place, engine)
    try:
        version = reader.current()
        program, views = version.present.program, version.present.views
        own = [
            name
            for name in program.catalog.relations
            if not (program.derives(name) and name in views)
        ]
        yield engine, version.copies.having(own)
    finally:
        reader.close()
