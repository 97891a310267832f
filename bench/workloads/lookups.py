"""Reports over tables of facts: flights, orders and events."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import lftj


def _flights(rows: int, columns: int, seed: int = 1) -> pa.Table:
    """Flights: number, carrier, origin, destination, day, delay, and other numbers."""
    draw = np.random.default_rng(seed)
    known = {
        "id": draw.permutation(rows),
        "carrier": draw.integers(0, 20, rows),
        "origin": draw.integers(0, 300, rows),
        "target": draw.integers(0, 300, rows),
        "day": draw.integers(0, 365, rows),
        "late": draw.integers(-20, 200, rows),
    }
    more = {f"more{number}": draw.integers(0, 1000, rows) for number in range(columns - 6)}
    return pa.table({**known, **more})


def _flight_columns(columns: int) -> str:
    names = ["id", "carrier", "origin", "target", "day", "late"]
    names += [f"more{number}" for number in range(columns - 6)]
    return ", ".join(f"{name}: number" for name in names)


def _readings(rows: int) -> pa.Table:
    draw = np.random.default_rng(7)
    values = {f"v{number}": draw.integers(0, 1 << 40, rows) for number in range(6)}
    return pa.table(
        {"device": draw.integers(0, 5_000, rows), "at": draw.permutation(rows), **values}
    )


_VALUES = ", ".join(f"v{number}: number" for number in range(6))
_READING = f".decl reading(device: number, at: number, {_VALUES})"


def readings_loaded(ws: lftj.Workspace) -> Iterator[None]:
    """Readings of devices, in no order, into a relation."""
    readings = _readings(600_000)
    ws.add_rules(_READING)
    yield
    ws.load("reading", readings)


def totals_by_device(ws: lftj.Workspace) -> Iterator[None]:
    """Sums and numbers of the readings of each device."""
    ws.add_rules(f"{_READING} .decl total(device: number, readings: number, sum: number)")
    ws.load("reading", _readings(400_000))
    yield
    ws.add_rules("total(d, count(), sum(v)) :- reading(d, _, v, _, _, _, _, _).")


def late_flights(ws: lftj.Workspace) -> Iterator[None]:
    """A list of late flights from a wide table."""
    ws.add_rules(f".decl flight({_flight_columns(12)})")
    ws.load("flight", _flights(200_000, 12))
    yield
    rest = ", ".join("_" * 6)
    ws.add_rules(
        ".decl late(id: number, origin: number, late: number)\n"
        f"late(i, o, l) :- flight(i, _, o, _, _, l, {rest}), l > 60."
    )


def flights_by_region(ws: lftj.Workspace) -> Iterator[None]:
    """Delays by carrier and the regions of both airports: look-ups in three small tables."""
    draw = np.random.default_rng(2)
    ws.add_rules(
        f".decl flight({_flight_columns(6)})\n"
        ".decl airport(id: number, region: number)  .decl carrier(id: number, group: number)"
    )
    ws.load("flight", _flights(200_000, 6))
    ws.load("airport", pa.table({"id": np.arange(300), "region": draw.integers(0, 9, 300)}))
    ws.load("carrier", pa.table({"id": np.arange(20), "group": draw.integers(0, 4, 20)}))
    yield
    ws.add_rules(
        ".decl delay(group: number, from: number, to: number, late: number)\n"
        "delay(g, a, b, sum(l)) :- "
        "flight(_, c, o, t, _, l), carrier(c, g), airport(o, a), airport(t, b)."
    )


def shipped_orders(ws: lftj.Workspace) -> Iterator[None]:
    """Lines of the orders of one segment's customers that two of a part's suppliers may fill."""
    draw = np.random.default_rng(3)
    ws.add_rules(
        ".decl line(number: number, order: number, part: number, price: number, day: number)\n"
        ".decl order(id: number, customer: number, day: number)\n"
        ".decl segment(customer: number, name: number)  .decl stock(part: number, shop: number)"
    )
    lines, orders = 300_000, 75_000
    ws.load(
        "line",
        pa.table(
            {
                "number": np.arange(lines),
                "order": draw.integers(0, orders, lines),
                "part": draw.integers(0, 5_000, lines),
                "price": draw.integers(1, 10_000, lines),
                "day": draw.integers(0, 365, lines),
            }
        ),
    )
    ws.load(
        "order",
        pa.table(
            {
                "id": np.arange(orders),
                "customer": draw.integers(0, 5_000, orders),
                "day": draw.integers(0, 365, orders),
            }
        ),
    )
    ws.load(
        "segment", pa.table({"customer": np.arange(5_000), "name": draw.integers(0, 20, 5_000)})
    )
    ws.load(
        "stock",
        pa.table({"part": draw.integers(0, 5_000, 10_000), "shop": draw.integers(0, 50, 10_000)}),
    )
    yield
    ws.add_rules(
        ".decl ready(order: number, part: number, shop: number, price: number)\n"
        "ready(o, p, s, e) :- line(_, o, p, e, _), order(o, c, d), d < 100, segment(c, 3), "
        "stock(p, s)."
    )


def followers_of_followers(ws: lftj.Workspace) -> Iterator[None]:
    """Questions that come again: who follows the followers of a person."""
    draw = np.random.default_rng(4)
    ws.add_rules(".decl follows(x: number, y: number)")
    ws.load(
        "follows",
        pa.table({"x": draw.integers(0, 20_000, 200_000), "y": draw.integers(0, 20_000, 200_000)}),
    )
    yield
    for person in range(60):
        ws.query(f"follows(x, y), follows(y, {person})").fetchall()


def next_events(ws: lftj.Workspace) -> Iterator[None]:
    """A question for the first later event after each of many times."""
    draw = np.random.default_rng(5)
    ws.add_rules(".decl at(t: number)  .decl event(t: number)")
    ws.load("at", pa.table({"t": draw.integers(0, 1 << 30, 3_000)}))
    ws.load("event", pa.table({"t": draw.integers(0, 1 << 30, 3_000)}))
    yield
    ws.query("at(t), s = min x : { event(x), x > t }").fetchall()


def cliques_with_ways_out(ws: lftj.Workspace) -> Iterator[None]:
    """The number of cliques of four with each way of two steps that leads on from one of their
    nodes, in a graph in which few nodes have many edges.
    """
    draw = np.random.default_rng(6)
    ws.add_rules(".decl follows(x: number, y: number)")
    ends = (5_000 * draw.random((2, 30_000)) ** 3).astype(np.int64)
    ws.load("follows", pa.table({"x": ends[0], "y": ends[1]}))
    yield
    ws.add_rules(
        ".decl found(n: number)\n"
        "found(count()) :- follows(a, b), follows(a, c), follows(a, d), follows(b, c), "
        "follows(b, d), follows(c, d), follows(d, e), follows(e, f)."
    )
