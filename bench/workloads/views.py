"""Views that follow small changes, one commit after another."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import lftj


def watched_days(ws: lftj.Workspace) -> Iterator[None]:
    """Flights of the days that are watched, a window that moves on by one each commit."""
    draw = np.random.default_rng(1)
    flights, days = 60_000, 60
    ws.add_rules(
        ".decl watched(d: number)  .decl flight(f: number, d: number, t: number)\n"
        ".decl tail(t: number, seats: number)  .decl flown(d: number, t: number, f: number)\n"
        ".decl seats(d: number, n: number)\n"
        "flown(d, t, f) :- watched(d), flight(f, d, t), tail(t, s), s > 40.\n"
        "seats(d, sum(s)) :- flown(d, t, _), tail(t, s)."
    )
    with ws.transaction() as tx:
        tx.insert("watched", [(day,) for day in range(20)])
        tx.insert(
            "flight",
            pa.table(
                {
                    "f": np.arange(flights),
                    "d": np.arange(flights) * days // flights,
                    "t": draw.integers(0, 2_000, flights),
                }
            ),
        )
        tx.insert("tail", pa.table({"t": np.arange(2_000), "seats": draw.integers(20, 300, 2_000)}))
    yield
    for day in range(20):
        with ws.transaction() as tx:
            tx.delete("watched", [(day,)])
            tx.insert("watched", [(day + 20,)])


def next_event(ws: lftj.Workspace) -> Iterator[None]:
    """The first later event after each of many times, while events come and go."""
    draw = np.random.default_rng(3)
    ws.add_rules(".decl at(t: number)  .decl event(t: number)")
    events = draw.integers(0, 1 << 30, 3_000)
    ws.load("at", pa.table({"t": draw.integers(0, 1 << 30, 3_000)}))
    ws.load("event", pa.table({"t": events}))
    ws.add_rules(".decl next(t: number, s: number)\nnext(t, min(s)) :- at(t), event(s), s > t.")
    yield
    for event in events[:20].tolist():
        with ws.transaction() as tx:
            tx.delete("event", [(event,)])
        with ws.transaction() as tx:
            tx.insert("event", [(event,)])


def sales_by_shop(ws: lftj.Workspace) -> Iterator[None]:
    """Sales by day and shop, by shop and by day, of the same lines."""
    draw = np.random.default_rng(5)
    sales = 100_000
    ws.add_rules(
        ".decl sale(id: number, shop: number, article: number, day: number, pieces: number)\n"
        ".decl price(article: number, price: number)  .decl open(shop: number, region: number)\n"
    )
    rows = pa.table(
        {
            "id": np.arange(sales),
            "shop": draw.integers(0, 100, sales),
            "article": draw.integers(0, 1_000, sales),
            "day": draw.integers(0, 300, sales),
            "pieces": draw.integers(1, 5, sales),
        }
    )
    ws.load("sale", rows)
    ws.load("price", pa.table({"article": np.arange(1_000), "price": draw.integers(1, 100, 1_000)}))
    ws.load("open", pa.table({"shop": np.arange(100), "region": draw.integers(0, 8, 100)}))
    body = "sale(_, s, a, d, n), price(a, p), open(s, r)."
    ws.add_rules(
        ".decl fine(day: number, shop: number, region: number, total: number)\n"
        ".decl by_day(day: number, total: number)  .decl by_shop(shop: number, total: number)\n"
        ".decl by_region(region: number, total: number)\n"
        f"fine(d, s, r, sum(n * p)) :- {body}\n"
        f"by_day(d, sum(n * p)) :- {body}\n"
        f"by_shop(s, sum(n * p)) :- {body}\n"
        f"by_region(r, sum(n * p)) :- {body}\n"
    )
    yield
    for start in range(0, 2_000, 100):
        some = rows.slice(start, 100)
        with ws.transaction() as tx:
            tx.delete("sale", some)
        with ws.transaction() as tx:
            tx.insert("sale", some)


def running_ranks(ws: lftj.Workspace) -> Iterator[None]:
    """The rank of each of some readings by time, as readings come last and old ones go."""
    readings = 3_000
    ws.add_rules(
        ".decl reading(device: number, at: number)\n.decl rank(at: number, behind: number)\n"
    )
    at = np.arange(readings)
    ws.load("reading", pa.table({"device": at % 7, "at": at}))
    yield
    ws.add_rules("rank(t, n) :- reading(_, t), n = count : { reading(_, u), u < t }.")
    for number in range(20):
        with ws.transaction() as tx:
            tx.insert("reading", [(number, readings + number)])


def window_of_a_clock(ws: lftj.Workspace) -> Iterator[None]:
    """The sum of the last third of some sales, by shop, as the clock goes on."""
    sales, shops = 30_000, 200
    ws.add_rules(
        ".decl now(t: number)\n.decl sale(shop: number, amount: number, at: number)\n"
        ".decl recent(shop: number, amount: number)\n"
    )
    at = np.arange(sales)
    ws.load("sale", pa.table({"shop": at % shops, "amount": at % 89, "at": at}))
    ws.load("now", [(sales // 2,)])
    yield
    ws.add_rules(f"recent(s, sum(a)) :- now(t), sale(s, a, d), d <= t, d > t - {sales // 3}.")
    for number in range(sales // 2, sales // 2 + 20):
        with ws.transaction() as tx:
            tx.delete("now", [(number,)])
            tx.insert("now", [(number + 1,)])


def last_seen(ws: lftj.Workspace) -> Iterator[None]:
    """The first and the last reading of each device, as readings come and old ones go."""
    draw = np.random.default_rng(6)
    readings, devices = 100_000, 5_000
    ws.add_rules(
        ".decl reading(device: number, at: number)\n"
        ".decl seen(device: number, first: number, last: number)\n"
    )
    device = draw.integers(0, devices, readings)
    ws.load("reading", pa.table({"device": device, "at": np.arange(readings)}))
    yield
    ws.add_rules("seen(d, min(t), max(t)) :- reading(d, t).")
    for start in range(0, 2_000, 100):
        some, at = device[start : start + 100], np.arange(start, start + 100)
        with ws.transaction() as tx:
            tx.delete("reading", pa.table({"device": some, "at": at}))
            tx.insert("reading", pa.table({"device": some[::-1], "at": at + readings}))
