# SPDX-License-Identifier: Apache-2.0
"""Places where work runs: threads of this process, and executors of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lftj.partition.address import Address, UnsupportedError
from lftj.partition.executor import Executor, KeepsWorkers
from lftj.partition.home import living_here

if TYPE_CHECKING:
    from lftj.partition.spark import SparkExecutor

__all__ = [
    "Address",
    "Executor",
    "KeepsWorkers",
    "SparkExecutor",
    "UnsupportedError",
    "living_here",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lftj.partition import spark  # only where there is Spark

    return getattr(spark, name)
