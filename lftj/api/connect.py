"""Opening a workspace."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from lftj.api.workspace import Workspace
from lftj.engine.engine import Engine
from lftj.engine.options import named_options
from lftj.errors import DeclarationError, LftjError, as_ours
from partition import executor as threads

if TYPE_CHECKING:
    from lftj.distributed.executor import Executor
    from lftj.distributed.workspace import DistributedWorkspace


class ThreadExecutor(threads.ThreadExecutor):
    __doc__ = threads.ThreadExecutor.__doc__

    def __init__(
        self, threads: int | None = None, *, parts: int | None = None, patience: int = 1_000_000
    ) -> None:
        """Raises DeclarationError (E160) for numbers below 1."""
        with as_ours():
            super().__init__(threads, parts=parts, patience=patience)


@overload
def connect(
    path: str | os.PathLike[str] | None = None,
    *,
    writer_timeout: float = 60.0,
    progress: Callable[[str], None] | None = None,
    elastic: float = 0.2,
    trace_budget: int = 1 << 28,
    executor: ThreadExecutor | None = None,
) -> Workspace: ...
@overload
def connect(
    *, executor: Executor, writer_timeout: float = 60.0, elastic: float = 0.2
) -> DistributedWorkspace: ...


@named_options
def connect(
    path: str | os.PathLike[str] | None = None,
    *,
    writer_timeout: float = 60.0,
    progress: Callable[[str], None] | None = None,
    elastic: float = 0.2,
    trace_budget: int = 1 << 28,
    executor: Any = None,
) -> Workspace | DistributedWorkspace:
    """A new, empty workspace in memory.

    `path` is for workspaces that outlive the process, which this version does not have: LftjError
    (E340). `writer_timeout`: seconds that a transaction waits for one of another thread. `progress`
    is called with a line of text when evaluation takes up something new. `elastic`: how much of a
    view's last full evaluation (in kernel steps) an update may cost before it is given up for a
    full one. With 0 recursive views are evaluated anew at every change, with `math.inf` always
    updated; others take small updates in any case. `executor`: who evaluates large rules in parts,
    by default threads on all cores; ThreadExecutor(threads=1) does everything on one.
    `trace_budget`: bytes that sensitivity indices may take, all together; with 0 every change is
    looked up by delta queries.

    With `executor=lftj.SparkExecutor(spark, partitions=…, path=…)` data lives with Spark's
    executors and below that path, and the workspace there is opened again or begun: a
    `DistributedWorkspace`, which has the same calls. There `elastic` is also the share of a stratum
    in rounds that is taken away, and derived again, after a deletion.
    """
    if isinstance(trace_budget, bool) or not isinstance(trace_budget, int) or trace_budget < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DeclarationError(
            f"trace_budget is a number of bytes, found {trace_budget!r}",
            hint="1 << 28 allows 256 MiB, 0 no indices",
        )
    if not _is_amount(writer_timeout):
        hint = "60.0 waits for a minute, math.inf for as long as it takes"
        raise DeclarationError(
            f"writer_timeout is a number of seconds of at least 0, found {writer_timeout!r}",
            hint=hint,
        )
    if not _is_amount(elastic):
        raise DeclarationError(
            f"elastic is a fraction of at least 0, found {elastic!r}",
            hint="0.2 allows a fifth of a full evaluation",
        )
    if progress is not None and not callable(progress):  # pyright: ignore[reportUnnecessaryComparison]
        raise DeclarationError(
            f"progress cannot be called: {progress!r}",
            hint="pass a function of a line of text, such as print",
        )
    if getattr(executor, "distributed", False):
        from lftj.distributed.store import Store  # only those who want it pay for importing it
        from lftj.distributed.workspace import DistributedWorkspace

        return DistributedWorkspace(Store(executor, writer_timeout, elastic))
    if path is not None:
        hint = "use lftj.connect() and load the data from files at the start"
        raise LftjError(
            f"{os.fspath(path)}: durable workspaces come with a later version",
            code="E340",
            hint=hint,
        )
    if executor is not None and not hasattr(executor, "workers"):
        hint = "lftj.ThreadExecutor(threads=2), or lftj.SparkExecutor(…)"
        raise DeclarationError(f"{executor!r} evaluates nothing", hint=hint)
    return Workspace(
        Engine(writer_timeout, progress, elastic, trace_budget, executor or ThreadExecutor())
    )


def _is_amount(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0
