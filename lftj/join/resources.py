# SPDX-License-Identifier: Apache-2.0
"""Resources of evaluations: memory and threads, and what one evaluation leaves for the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np

from lftj.join.plan.index_advisor import IndexAdvisor
from lftj.partition.executor import ThreadExecutor
from lftj.scantree import Arena
from lftj.scantree.frozen import record
from lftj.types.dictionary import Dictionary


class Buffer(NamedTuple):
    """An array that runs use one after another, and how kernels are told of it."""

    array: np.ndarray
    address: Any


@record
class Resources:
    """Memory, threads and aids of evaluations. Those of one workspace share all of it but for
    `user_aggregates`, `called` and, where nothing is to be kept, `dictionary` and `prepared`.
    """

    arena: Arena
    dictionary: Dictionary
    user_aggregates: Mapping[str, Any] = field(default_factory=dict)
    functions: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    """Functions of users by name and version."""
    called: Any = None
    """Results of these functions that the evaluation knows: a
    `lftj.maintenance.rules.called_functions.CalledFunctions`.
    """
    threads: ThreadExecutor | None = None
    """Executor of large rules in parts; None: nobody."""
    progress: Callable[[str], None] | None = None
    """Listener for what goes on."""
    trace_budget: int = 0
    """Bytes that all sensitivity indices together may take."""
    traced: Callable[[], int] = lambda: 0
    """Bytes that they took before the commit."""
    plans: dict[Any, tuple[list[int], Any]] = field(default_factory=dict)
    """Plans made before, with the sizes of what they read: `lftj.join.run.evaluate.plan_rule`."""
    advisor: IndexAdvisor = field(default_factory=IndexAdvisor)
    """Work lost for want of key orders."""
    prepared: dict[Any, Any] = field(default_factory=dict)
    """State that evaluations which come again at many commits keep from one to the next."""
    kept_orders: dict[str, set[tuple[int, ...]]] = field(default_factory=dict)
    """Key orders that plans of commits read, by relation."""
    caches: list[Buffer] = field(default_factory=list)
    """Bitmaps without a bit set (`bitmap_kernels`), for the next run to use: making one costs more
    than a small run.
    """
    outputs: list[Buffer] = field(default_factory=list)
    """Room for rows that come out, as `caches`."""

    def with_(self, **changed: Any) -> Resources:
        """The same resources but for these fields. `dataclasses.replace` takes three times as long,
        and each commit has some of its own.
        """
        made = object.__new__(Resources)
        made.__dict__.update(self.__dict__, **changed)
        return made

    def taken(self) -> tuple[int, int]:
        """Bytes of tree pages, and of strings."""
        return self.arena.bytes_in_use, self.dictionary.bytes_in_use

    def report(self, message: str) -> None:
        """Tell whoever shows progress what goes on."""
        if self.progress is not None:
            self.progress(message)
