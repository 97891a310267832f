# SPDX-License-Identifier: Apache-2.0
"""Work that comes back to the process that did it before, as far as Spark lets one say so.

Spark gives a task to whichever of its Python processes is idle. But processes with another
environment are another pool, so in local mode each *place*, a number below that of the cores, is a
pool of its own, of one process as long as no two jobs use it at once: what it keeps for the next
time is found there. On a cluster the same would make a pool per place on every machine, so there
Spark chooses.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from lftj.partition.executor import usable_cores

_PLACE = "PARTITION_PLACE"
_LOCAL = re.compile(r"local(?:\[(\d+|\*)(?:,\d+)?\])?")

_environment = threading.Lock()


def places_of(master: str) -> int | None:
    """Number of places: the cores of local mode, None for a cluster."""
    local = _LOCAL.fullmatch(master)
    if local is None:
        return None
    return usable_cores() if local[1] == "*" else int(local[1] or 1)


def mapped(
    context: Any,
    run: Callable[[Iterable[Any]], Iterator[Any]],
    payloads: Sequence[Any],
    places: Sequence[int],
) -> list[Any]:
    """Run `run` over payloads in one job of a SparkContext; one result for each, in their order.

    In local mode payloads of one place, modulo the cores, are one Spark task. Else each is a task,
    and places say nothing.
    """
    cores = places_of(context.master)
    if cores is None:
        return context.parallelize(payloads, len(payloads)).mapPartitions(run).collect()
    numbers = dict[int, list[int]]()
    for number, place in enumerate(places):
        numbers.setdefault(place % cores, []).append(number)
    tasks = [
        _at(context, place, run, [payloads[number] for number in each])
        for place, each in numbers.items()
    ]
    found = context.union(tasks).collect()
    order = [number for each in numbers.values() for number in each]
    return [
        result for _, result in sorted(zip(order, found, strict=True), key=lambda pair: pair[0])
    ]


def _at(
    context: Any, place: int, run: Callable[[Iterable[Any]], Iterator[Any]], payloads: Sequence[Any]
) -> Any:
    """The RDD, of one partition, of what a place does."""
    with _environment:
        before = context.environment
        context.environment = before | {_PLACE: str(place)}
        try:
            task = context.parallelize(payloads, 1).mapPartitions(run)
            task.id()  # makes its counterpart in Java, with the environment of now
        finally:
            context.environment = before
    return task
