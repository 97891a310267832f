"""Opening a workspace."""

from __future__ import annotations

import os
from collections.abc import Callable

from lftj.engine import Engine
from lftj.errors import DeclarationError, LftjError
from lftj.workspace import Workspace
from partition.executor import ThreadExecutor


def connect(
    path: str | os.PathLike[str] | None = None,
    *,
    writer_timeout: float = 60.0,
    progress: Callable[[str], None] | None = None,
    elastic: float = 0.2,
    trace_budget: int = 1 << 28,
    executor: ThreadExecutor | None = None,
) -> Workspace:
    """A new, empty workspace in memory.

    `path` is for workspaces that outlive the process, which this version does not have: LftjError (E340). `writer_timeout`: seconds that a
    transaction waits for one of another thread. `progress` is called with a line of text when evaluation takes up something new.
    `elastic`: how much of a view's last full evaluation (in kernel steps) an update may cost before it is given up for a full one.
    `executor`: who evaluates large rules in parts, by default threads on all cores; ThreadExecutor(threads=1) does everything on one.
    `trace_budget`: bytes that sensitivity indices may take, all together; with 0 every change is looked up by delta queries.
    """
    if path is not None:
        hint = "use lftj.connect() and load the data from files at the start"
        raise LftjError(f"{os.fspath(path)}: durable workspaces come with a later version", code="E340", hint=hint)
    if not elastic >= 0:
        raise DeclarationError(f"elastic is a fraction of at least 0, found {elastic!r}", hint="0.2 allows a fifth of a full evaluation")
    return Workspace(Engine(writer_timeout, progress, elastic, trace_budget, executor or ThreadExecutor()))
