"""Questions 1, 3, 5 and 18 of TPC-H, over tables made alike: keys and columns that these read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from bench.analytics.shape import FACTS, Shape

_LINE = (
    ".decl line(o: number, n: number, s: number, quantity: number, price: float, discount: float, "
    "tax: float, flag: number, status: number, day: number)"
)
_ORDER = ".decl order(o: number, c: number, day: number, priority: number)"
_CUSTOMER = ".decl customer(c: number, segment: number, nation: number)"
_SUPPLIER = ".decl supplier(s: number, nation: number)"
_NATION = ".decl nation(n: number, name: symbol, region: symbol)"
DAYS = 2_400
REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")


def _tables(lines: int) -> dict[str, pa.Table]:
    by = np.random.default_rng(3)
    orders, customers, suppliers = lines // 4, lines // 40, max(10, lines // 600)
    line = {
        "o": by.integers(0, orders, lines),
        "n": np.arange(lines),
        "s": by.integers(0, suppliers, lines),
        "quantity": by.integers(1, 51, lines),
        "price": np.round(by.random(lines) * 1e5, 2),
        "discount": by.integers(0, 11, lines) / 100,
        "tax": by.integers(0, 9, lines) / 100,
        "flag": by.integers(0, 3, lines),
        "status": by.integers(0, 2, lines),
        "day": by.integers(0, DAYS + 100, lines),
    }
    order = {
        "o": np.arange(orders),
        "c": by.integers(0, customers, orders),
        "day": by.integers(0, DAYS, orders),
        "priority": by.integers(0, 5, orders),
    }
    customer = {
        "c": np.arange(customers),
        "segment": by.integers(0, 5, customers),
        "nation": by.integers(0, 25, customers),
    }
    supplier = {"s": np.arange(suppliers), "nation": by.integers(0, 25, suppliers)}
    nation = {
        "n": np.arange(25),
        "name": [f"nation {number}" for number in range(25)],
        "region": [REGIONS[number % 5] for number in range(25)],
    }
    return {
        "line": pa.table(line),
        "order": pa.table(order),
        "customer": pa.table(customer),
        "supplier": pa.table(supplier),
        "nation": pa.table(nation),
    }


def _some(tables: dict[str, pa.Table], *names: str) -> dict[str, pa.Table]:
    return {name: tables[name] for name in names}


def shapes(size: str) -> Iterator[Shape]:
    """The four questions; only what they print and no order of the rows."""
    tables = _tables(FACTS[size])
    yield Shape(
        "Q1",
        _some(tables, "line"),
        f"{_LINE}\n.decl found(flag: number, status: number, quantity: number, price: float, "
        "reduced: float, charged: float, lines: number)",
        "found(flag, status, sum(q), sum(p), sum(p * (1.0 - d)), sum(p * (1.0 - d) * (1.0 + t)), "
        f"count()) :- line(_, _, _, q, p, d, t, flag, status, day), day <= {DAYS}.",
        "select flag, status, sum(quantity), sum(price), sum(price * (1 - discount)), "
        "sum(price * (1 - discount) * (1 + tax)), count(*) from line "
        f"where day <= {DAYS} group by all",
    )
    yield Shape(
        "Q3",
        _some(tables, "line", "order", "customer"),
        f"{_LINE}\n{_ORDER}\n{_CUSTOMER}\n.decl found(o: number, day: number, priority: number, "
        "revenue: float)",
        "found(o, day, priority, sum(p * (1.0 - d))) :- customer(c, 1, _), "
        "order(o, c, day, priority), line(o, _, _, _, p, d, _, _, _, sent), "
        "day < 999, sent > 999.",
        'select o, "order".day, priority, sum(price * (1 - discount)) from customer '
        'join "order" using (c) join line using (o) '
        'where segment = 1 and "order".day < 999 and line.day > 999 group by all',
    )
    yield Shape(
        "Q5",
        tables,
        f"{_LINE}\n{_ORDER}\n{_CUSTOMER}\n{_SUPPLIER}\n{_NATION}\n"
        ".decl found(name: symbol, revenue: float)",
        'found(name, sum(p * (1.0 - d))) :- nation(n, name, "ASIA"), customer(c, _, n), '
        "order(o, c, day, _), day >= 400, day < 765, line(o, _, s, _, p, d, _, _, _, _), "
        "supplier(s, n).",
        "select name, sum(price * (1 - discount)) from nation join customer "
        'on customer.nation = nation.n join "order" using (c) join line using (o) '
        "join supplier on supplier.s = line.s and supplier.nation = nation.n "
        'where region = \'ASIA\' and "order".day >= 400 and "order".day < 765 group by all',
    )
    yield Shape(
        "Q18",
        _some(tables, "line", "order", "customer"),
        f"{_LINE}\n{_ORDER}\n{_CUSTOMER}\n.decl total(o: number, quantity: number)\n"
        ".decl found(c: number, o: number, day: number, quantity: number)",
        "total(o, sum(q)) :- line(o, _, _, q, _, _, _, _, _, _).\n"
        "found(c, o, day, q) :- total(o, q), q > 300, order(o, c, day, _), customer(c, _, _).",
        "with total as (select o, sum(quantity) as quantity from line group by o) "
        'select c, o, day, quantity from total join "order" using (o) join customer using (c) '
        "where quantity > 300",
    )
