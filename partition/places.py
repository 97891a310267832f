# SPDX-License-Identifier: Apache-2.0
"""Work that comes back to the process that did it before, as far as Spark lets one say so.

Spark gives a task to whichever Python process of an executor is idle. But processes with another
environment are another pool. So each executor has *seats*, as many as it runs tasks at a time, and
a seat is a pool of its own, of one process as long as no two jobs use it at once. A place, the
number of a part, lives at a seat: what the process keeps for the next time is found there.

A job has one Spark task for each seat, which does the payloads of its places one after the other,
and prefers the seat's executor. A preference is no promise: after `spark.locality.wait` the task
goes elsewhere. It is right there too, and slower: it is done in a pool with the name of the seat
that it was meant for, so that it disturbs none that is at home there, and which Spark ends a minute
after it was used last.
"""

from __future__ import annotations

import logging
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from lftj.partition.bundles import bundled
from lftj.partition.executor import usable_cores
from lftj.partition.home import at_home

_PLACE = "PARTITION_PLACE"
_LOCAL = re.compile(r"local(?:\[(\d+|\*)(?:,\d+)?\])?")
_log = logging.getLogger(__name__)
_environment = threading.Lock()

Run = Callable[[Iterable[Any]], Iterator[Any]]


def places_of(master: str) -> int | None:
    """Number of places: the cores of local mode, None for a cluster."""
    local = _LOCAL.fullmatch(master)
    if local is None:
        return None
    return usable_cores() if local[1] == "*" else int(local[1] or 1)


@dataclass(frozen=True, order=True)
class Seat:
    """One of the tasks that an executor runs at a time: the pool of its Python process. `executor`:
    empty in local mode, where there is one.
    """

    slot: int
    executor: str = ""
    host: str = ""

    @property
    def pool(self) -> str:
        """The value of the variable that sets its process apart."""
        return f"{self.executor}.{self.slot}" if self.executor else str(self.slot)


@dataclass
class Seats:
    """Homes of the places of one path: the same seat as long as its executor is there, and at
    each as many as at others, or one less.

    `preferring`: False once Spark did not tell its executors.
    """

    places: int
    preferring: bool = True
    _known: str | None = None
    _all: tuple[Seat, ...] = ()
    _at: dict[int, Seat] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, context: Any, places: Sequence[int]) -> list[Seat] | None:
        """The seat of each of these places; None where Spark has to choose, since it does not tell
        its executors, or has none yet.
        """
        with self._lock:
            self._look(context)
            if not self._all:
                return None
            return [self._seat(place) for place in places]

    def divide(self, places: int) -> None:
        """Have another number of places."""
        with self._lock:
            self.places = places
            self._at = {place: seat for place, seat in self._at.items() if place < places}
            self._give_up()

    def here(self, seat: Seat) -> frozenset[int]:
        """The places that live at a seat."""
        return frozenset(place for place, each in list(self._at.items()) if each == seat)

    def one_of_each(self, context: Any) -> list[int]:
        """A place at each seat that has some."""
        with self._lock:
            self._look(context)
            return list({seat: place for place, seat in self._at.items()}.values())

    def prefer_none(self, reason: Exception) -> None:
        """Have Spark choose from now on, since it refuses what is needed to choose; say so once.
        Raises the reason where it is that Java is gone, or Ctrl-C.
        """
        if isinstance(reason, ConnectionError) or type(reason).__name__ == "Py4JNetworkError":
            raise reason
        if self.preferring:
            _log.warning(
                "Spark does not tell which executors there are (%s): parts go to whichever worker "
                "is idle, and are opened again where they come to the first time",
                str(reason).partition("\n")[0] or type(reason).__name__,
            )
        self.preferring, self._all = False, ()

    def _look(self, context: Any) -> None:
        """Learn which executors there are now."""
        cores = places_of(context.master)
        if cores is not None:
            self._all = self._all or tuple(map(Seat, range(cores)))
        elif self.preferring:
            try:
                self._executors(context)
            except Exception as reason:
                self.prefer_none(reason)

    def _executors(self, context: Any) -> None:
        spark = context._jsc.sc()
        known = spark.getExecutorIds().mkString(" ")
        if known == self._known:
            return
        found = spark.statusStore().executorList(True)
        each = [found.apply(number) for number in range(found.size())]
        there = [one for one in each if one.id() in set(known.split())]
        if len(there) == len(known.split()):  # else Spark is still writing the last ones down
            self._known = known
        self._all = tuple(
            sorted(
                Seat(slot, one.id(), one.hostPort().rpartition(":")[0])
                for one in there
                for slot in range(max(1, one.maxTasks()))
            )
        )
        self._give_up()

    def _give_up(self) -> None:
        """Give up homes at seats that are gone, and those beyond a seat's share, the last ones."""
        most, held = -(-self.places // max(1, len(self._all))), Counter[Seat]()
        there = frozenset(self._all)
        for place, seat in list(self._at.items()):
            if seat not in there or held[seat] >= most:
                del self._at[place]
            else:
                held[seat] += 1

    def _seat(self, place: int) -> Seat:
        if place not in self._at:
            held, own = Counter(self._at.values()), self._all[place % len(self._all)]
            least = min(self._all, key=lambda seat: held[seat])
            most = -(-self.places // len(self._all))
            self._at[place] = own if held[own] < most or own.executor == "" else least
        return self._at[place]


def mapped(
    context: Any,
    run: Run,
    payloads: Sequence[Any],
    places: Sequence[int],
    seats: Seats | None = None,
) -> list[Any]:
    """Run `run` over payloads in one job of a SparkContext; one result for each, in their order.

    Payloads of places that live at one seat are one Spark task. Where Spark chooses, each is one.
    """
    seats = seats or Seats(len(payloads))
    homes = seats.of(context, places)
    numbers = dict[Seat, list[int]]()
    for number, seat in enumerate(homes or ()):
        numbers.setdefault(seat, []).append(number)
    tasks = list[Any]()
    try:
        for seat, each in numbers.items():
            work = partial(at_home, run, seats.here(seat))
            tasks.append(_at(context, seat, work, bundled([payloads[number] for number in each])))
    except Exception as reason:
        if places_of(context.master) is not None:
            raise
        seats.prefer_none(reason)
        homes = None
    if homes is None:
        each = [bundled([payload]) for payload in payloads]
        work = partial(at_home, run, None)
        return context.parallelize(each, len(each)).mapPartitions(work).collect()
    found = context.union(tasks).collect()
    order = [number for each in numbers.values() for number in each]
    return [
        result for _, result in sorted(zip(order, found, strict=True), key=lambda pair: pair[0])
    ]


def _at(context: Any, seat: Seat, run: Run, bundle: Any) -> Any:
    """The RDD, of one partition, of what is done at a seat."""
    with _environment:
        before = context.environment
        context.environment = before | {_PLACE: seat.pool}
        try:
            source = _preferring(context, seat, bundle) if seat.executor else None
            task = (source or context.parallelize([bundle], 1)).mapPartitions(run)
            task.id()  # makes its counterpart in Java, with the environment of now
        finally:
            context.environment = before
    return task


def _preferring(context: Any, seat: Seat, bundle: Any) -> Any:
    """An RDD of one element, whose task prefers the executor of a seat. `executor_<host>_<id>` is
    how Spark writes such a place.
    """
    java, pickled = _java(context), context._unbatched_serializer
    where, rows = java.list(), java.list()
    where.add(f"executor_{seat.host}_{seat.executor}")
    rows.add(java.pair(pickled.dumps(bundle), java.sequence(where)))
    made = java.context.makeRDD(java.sequence(rows), java.bytes)
    return java.data(made.toJavaRDD(), context, pickled)


@dataclass(frozen=True)
class _Java:
    """Classes and objects of Java, each of which takes several calls to find. `data`: the class of
    RDDs in Python.
    """

    context: Any
    list: Any
    pair: Any
    sequence: Any
    bytes: Any
    data: Any


@lru_cache(maxsize=1)
def _java(context: Any) -> _Java:
    java = context._jvm
    tags = getattr(getattr(java, "scala.reflect.ClassTag$"), "MODULE$")
    return _Java(
        context._jsc.sc(),
        java.java.util.ArrayList,
        java.scala.Tuple2,
        java.PythonUtils.toSeq,
        tags.apply(java.java.lang.Class.forName("[B")),
        type(context.emptyRDD()),
    )
