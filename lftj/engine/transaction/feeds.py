# SPDX-License-Identifier: Apache-2.0
"""Feeds of changes from elsewhere (change data capture): events of Debezium, and tables with an
operation for each row, brought to what they come to together.

Of the changes of one key only the last counts. So a feed is one upsert and one delete by keys,
whatever its length.
"""

from __future__ import annotations

import datetime
import decimal
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from operator import itemgetter, le
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from lftj import frames
from lftj.errors import FrameError, OptionError
from lftj.program.normal_form import RelationSchema
from lftj.scantree.frozen import frozen, record
from lftj.scantree.rows import equal_runs, sort_order
from lftj.storage.delta import Columns
from lftj.types import INT, STR, Type
from lftj.types import arrow_compute as pc

POSITIONS = RelationSchema("feed_position", (("feed", STR), ("position", INT)), (0,))
"""The relation of how far feeds were applied."""
_WRITES = frozenset({"c", "r", "u", "i", "insert", "create", "read", "update", "upsert"})
_DELETES = frozenset({"d", "delete"})
_OTHERS = frozenset({"m"})
_DAY, _SECOND = datetime.date(1970, 1, 1), datetime.datetime(1970, 1, 1)


@record
class Feed:
    """Changes in order: rows that are written and keys of rows that go, each at twice the number of
    its change, and one more after what goes with it. `given`: where the changes of these numbers
    were given. `truncated`: all rows from before go. `count`: changes that were not applied before;
    `last`: the greatest position.
    """

    written: Any
    gone: Any
    written_at: list[int]
    gone_at: list[int]
    truncated: bool = False
    count: int = 0
    last: int | None = None
    given: Sequence[int] = ()

    def place(self, at: Sequence[int]) -> frames.Place:
        """The place of rows for messages: that of the change that they are of."""
        chosen = np.array(self.given, np.int64)[np.array(at, np.int64) >> 1]
        return frames.Place("the changes", chosen=chosen, row_is="change")


@frozen
class Reading:
    """The way a feed of a relation is read: positions up to `known` were applied."""

    schema: RelationSchema
    position: str | None
    known: int | None

    @property
    def places(self) -> tuple[int, ...]:
        """The columns that tell rows apart."""
        return self.schema.key or tuple(range(self.schema.arity))

    @property
    def lacking(self) -> dict[str, object]:
        """Values that rows have in columns that they may leave out."""
        return frames.may_lack(self.schema.columns, dict(self.schema.defaults), None)

    def left(self, positions: Sequence[Any]) -> Sequence[int]:
        """The places of changes that were not applied before, in the order of their positions.
        Raises FrameError for what is no number.
        """
        wrong = [kind for kind in set(map(type, positions)) if not issubclass(kind, int)]
        if wrong or bool in map(type, positions):
            odd = next(each for each in positions if type(each) in (bool, *wrong))
            raise FrameError(
                f"the position of a change is an int, found {odd!r}",
                hint="name a field or column of ints that ascend, such as a log sequence number",
            )
        order = _in_order(positions)
        if self.known is None:
            return order
        return [place for place in order if positions[place] > self.known]

    def read(self, changes: object) -> Feed:
        """Read events, or a table. Raises FrameError, and what reading rows raises."""
        if isinstance(changes, (str, os.PathLike)) and Path(changes).suffix in _JSON:
            with open(changes, encoding="utf-8") as lines:
                return self._events(map(json.loads, filter(str.strip, lines)))
        if isinstance(changes, Mapping):
            return self._events([changes])
        if isinstance(changes, (list, tuple)) and not (
            changes and isinstance(changes[0], Mapping) and _is_flat(changes[0])
        ):
            return self._events(map(_event, changes))  # pyright: ignore[reportUnknownArgumentType]
        return self._table(changes)

    # ── events ────────────────────────────────────────────────────────────────────────────────────
    def _events(self, events: Iterable[Any]) -> Feed:
        names = [name for name, _ in self.schema.columns]
        key = self._getter([names[place] for place in self.places])
        found = Feed([], [], [], [])
        written, gone = found.written, found.gone
        order, listed, last = self._in_order(events)
        for number, event in enumerate(listed):
            op, before, after = event.get("op"), event.get("before"), event.get("after")
            if op in _WRITES and after is not None:
                if before and op == "u" and _differ(key, before, after):
                    gone.append(before)
                    found.gone_at.append(2 * number)
                written.append(after)
                found.written_at.append(2 * number + 1)
            elif op in _DELETES and before is not None:
                gone.append(before)
                found.gone_at.append(2 * number)
            elif op in ("t", "truncate"):
                found = Feed([], [], [], [], True)
                written, gone = found.written, found.gone
            elif op not in _OTHERS:
                raise _no_event(order[number], event)
        found.written = self._rows(written, range(self.schema.arity))
        found.gone = self._rows(gone, self.places)
        found.given, found.count, found.last = order, len(order), last
        return found

    def _in_order(self, events: Iterable[Any]) -> tuple[Sequence[int], Sequence[Any], int | None]:
        """The places of events that were not applied before, in the order of their positions, the
        events, and the last position.
        """
        given = list(events)
        places: Sequence[int] = range(len(given))
        if not all(given):  # None is a tombstone, after the deletion
            places = [place for place in places if given[place] is not None]
            given = [given[place] for place in places]
        for number, each in enumerate(given):
            if not isinstance(each, Mapping):
                raise _no_event(number, each)
        given = [each.get("payload", each) for each in given]
        if self.position is None or not given:
            return places, given, None
        path = self.position.split(".")
        positions = [_field(event, path) for event in given]
        left = self.left(positions)
        if left == range(len(given)):
            return places, given, positions[-1]
        last = positions[left[-1]] if left else None
        return [places[place] for place in left], [given[place] for place in left], last

    def _getter(self, names: Sequence[str]) -> Callable[[Mapping[str, Any]], Any]:
        """The values of these columns in an image of a row, which may leave some out."""
        plain: Callable[[Any], Any] = itemgetter(*names)
        lacking = self.lacking
        if lacking.keys().isdisjoint(names):
            return plain

        def take(image: Mapping[str, Any]) -> Any:
            return plain(image if lacking.keys() <= image.keys() else {**lacking, **image})

        return take

    def _rows(self, images: Sequence[Mapping[str, Any]], places: Sequence[int]) -> list[Any]:
        """Images of rows as tuples of these columns."""
        columns = [self.schema.columns[place] for place in places]
        names = [name for name, _ in columns]
        take = self._getter(names)
        try:
            rows = list(map(take, images))
        except KeyError as error:
            raise FrameError(
                f"a change of `{self.schema.name}` has no column {error}",
                hint=f"it needs {', '.join(n for n in names if n not in self.lacking)}; "
                f"others are passed over",
            ) from None
        rows = rows if len(names) > 1 else [(value,) for value in rows]
        if any(type.name in _CONVERTED for _, type in columns):
            types = [type for _, type in columns]
            rows = [tuple(map(_converted, types, row)) for row in rows]
        return rows

    # ── tables ────────────────────────────────────────────────────────────────────────────────────
    def _table(self, changes: object) -> Feed:
        rows = list[dict[str, Any]]()
        if isinstance(changes, (list, tuple)):
            changes = rows = self._alike(changes)  # pyright: ignore[reportUnknownArgumentType]
        try:
            table = frames.as_table(changes)
        except pa.ArrowException:  # values of several types in a column, some of which do not fit
            return self._events(map(self._of_flat, rows))
        names = [name for name, _ in self.schema.columns]
        key = [names[place] for place in self.places]
        wanted = ["op", *names, *([] if self.position is None else [self.position])]
        absent = [name for name in wanted if name not in table.column_names]
        if missing := [name for name in absent if name not in self.lacking]:
            raise FrameError(
                f"a table of changes of `{self.schema.name}` has no column {missing[0]!r}",
                hint="it has op (c, u or d; insert, update or delete) and the relation's columns",
            )
        last, order = None, cast("Sequence[int]", range(table.num_rows))
        if self.position is not None and table.num_rows:
            positions = table[self.position].to_pylist()
            order = self.left(positions)
            table, last = table.take(np.array(order, np.int64)), max(positions)
        ops = pc.utf8_lower(table["op"])
        writes = pc.is_in(ops, value_set=_arrow(_WRITES)).to_numpy()
        deletes = pc.is_in(ops, value_set=_arrow(_DELETES)).to_numpy()
        if not (writes | deletes).all():
            number = int(np.flatnonzero(~(writes | deletes))[0])
            raise _no_event(number, {"op": table["op"][number].as_py()})
        return Feed(
            table.filter(writes).select([name for name in names if name not in absent]),
            table.filter(deletes).select([name for name in key if name not in absent]),
            (2 * np.flatnonzero(writes)).tolist(),
            (2 * np.flatnonzero(deletes)).tolist(),
            count=table.num_rows,
            last=last,
            given=order,
        )

    def _of_flat(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row with its operation as an event."""
        op = str(row["op"]).lower()
        event = {"op": op, "before" if op in _DELETES else "after": row}
        return event if self.position is None else event | {self.position: row.get(self.position)}

    def _alike(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Rows as dicts of the same columns: those that some row has."""
        names = dict.fromkeys(name for row in rows for name in row)
        return [{name: row.get(name, self.lacking.get(name)) for name in names} for row in rows]


def require_positions(feed: object, position: object) -> None:
    """Raise OptionError (E171) for a feed without positions, or positions without a feed."""
    wrong = isinstance(position, bool) or not isinstance(position, (int, str, type(None)))
    if wrong or (feed is None) != (position is None) or not isinstance(feed, (str, type(None))):
        raise OptionError(
            f"a feed has a name and positions, found feed={feed!r} and position={position!r}",
            code="E171",
            hint='say feed="orders" and position=offset, or the field that has it: '
            'position="source.lsn"',
        )


def net(
    written: Columns, gone: Columns, feed: Feed, places: Sequence[int]
) -> tuple[Columns, Columns]:
    """The written rows and the keys that go for which no later change has the same key."""
    at = np.array([*feed.written_at, *feed.gone_at], np.int64)
    order = np.argsort(at, kind="stable")
    pairs = zip((written[place] for place in places), gone, strict=True)
    keys = [np.concatenate(pair)[order] for pair in pairs]
    by_key = sort_order(keys)
    starts = equal_runs([column[by_key] for column in keys], len(keys))
    last = order[by_key[np.append(starts[1:], len(by_key))[: len(starts)] - 1]]
    rows, rest = last[last < len(feed.written_at)], last[last >= len(feed.written_at)]
    return [each[rows] for each in written], [each[rest - len(feed.written_at)] for each in gone]


_JSON = (".json", ".jsonl", ".ndjson")
_CONVERTED = ("date", "timestamp", "decimal")


def _arrow(words: frozenset[str]) -> Any:
    import pyarrow as pa

    return pa.array(sorted(words))


def _in_order(positions: Sequence[int]) -> Sequence[int]:
    """The places of changes in the order of their positions; those of one position stay as they
    are.
    """
    if all(map(le, positions, islice(positions, 1, None))):
        return range(len(positions))
    return sorted(range(len(positions)), key=positions.__getitem__)


def _is_flat(row: Mapping[str, object]) -> bool:
    """Test for a row with its operation, which is no event with images of rows."""
    return "op" in row and not {"before", "after", "payload"} & row.keys()


def _event(event: object) -> object:
    return json.loads(event) if isinstance(event, (str, bytes)) else event


def _field(event: Mapping[str, Any], path: Sequence[str]) -> Any:
    found: Any = event
    try:
        for name in path:
            found = found[name]
    except (KeyError, TypeError):
        return None
    return found


def _differ(key: Callable[[Any], Any], before: Any, after: Any) -> bool:
    """Test for images of a row with different keys; one without a key says nothing."""
    try:
        return key(before) != key(after)
    except KeyError:
        return False


def _no_event(number: int, event: Any) -> FrameError:
    found = f"its op is {event.get('op')!r}" if isinstance(event, Mapping) else f"{event!r}"
    return FrameError(
        f"change {number} is none that a feed has: {found}",
        hint="op is c, r or u with `after`, d with `before`, or t, of all rows",
    )


def _converted(type: Type, value: Any) -> Any:
    """A value of JSON as one of a column: days and microseconds or milliseconds since 1970, or text
    in ISO's form; decimals as text. What is none is left as it is.
    """
    try:
        return _read(type, value)
    except (ValueError, ArithmeticError):
        return value


def _read(type: Type, value: Any) -> Any:
    if type.name == "date" and isinstance(value, (int, str)):
        if isinstance(value, str):
            return datetime.date.fromisoformat(value)
        return _DAY + datetime.timedelta(days=value)
    if type.name == "timestamp" and isinstance(value, str):
        return datetime.datetime.fromisoformat(value)
    if type.name == "timestamp" and isinstance(value, int):
        micro = value if abs(value) >= 10**14 else 1000 * value
        return _SECOND + datetime.timedelta(microseconds=micro)
    if type.name == "decimal" and isinstance(value, (str, int)):
        return decimal.Decimal(value)
    return value
