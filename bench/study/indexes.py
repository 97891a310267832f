"""Index structures behind one protocol: build, look up, insert, erase, and how many bytes."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, Protocol

import duckdb
import numpy as np
from sortedcontainers import SortedKeyList

from bench.clock import processor_seconds
from bench.resident import forget_freed, resident_bytes
from lftj.scantree.tree import Arena, Tree

LOOKUPS = 2_000
SHARE = 100  # one row in so many comes, and goes


class Index(Protocol):
    """Rows of two numbers, by the first."""

    def build(self, x: np.ndarray, y: np.ndarray) -> None:
        """Take distinct rows, sorted."""
        ...

    def partners(self, x: int) -> int:
        """The number of rows with this first number."""
        ...

    def insert(self, x: np.ndarray, y: np.ndarray) -> None:
        """Add rows that are not there."""
        ...

    def erase(self, x: np.ndarray, y: np.ndarray) -> None:
        """Take rows away that are there."""
        ...


class ScanTree:
    """Pages of a scan tree, which versions share."""

    def __init__(self) -> None:
        self.arena = Arena()

    def build(self, x: np.ndarray, y: np.ndarray) -> None:
        self.tree = Tree.build(self.arena, [x, y])

    def partners(self, x: int) -> int:
        return self.tree.positions((x,), (x + 1,))[2]

    def insert(self, x: np.ndarray, y: np.ndarray) -> None:
        self.tree = self.tree.apply(inserts=[x, y])

    def erase(self, x: np.ndarray, y: np.ndarray) -> None:
        self.tree = self.tree.apply(erases=[x, y])


class SortedColumns:
    """Two sorted columns; a change copies them."""

    def build(self, x: np.ndarray, y: np.ndarray) -> None:
        self.packed = x << 32 | y

    def partners(self, x: int) -> int:
        low, high = np.searchsorted(self.packed, [x << 32, (x + 1) << 32])
        return int(high - low)

    def insert(self, x: np.ndarray, y: np.ndarray) -> None:
        new = x << 32 | y
        self.packed = np.insert(self.packed, np.searchsorted(self.packed, new), new)

    def erase(self, x: np.ndarray, y: np.ndarray) -> None:
        self.packed = np.delete(self.packed, np.searchsorted(self.packed, x << 32 | y))


class HashIndex:
    """A dictionary of sets."""

    def build(self, x: np.ndarray, y: np.ndarray) -> None:
        self.rows: dict[int, set[int]] = {}
        self.insert(x, y)

    def partners(self, x: int) -> int:
        return len(self.rows.get(x, ()))

    def insert(self, x: np.ndarray, y: np.ndarray) -> None:
        for one, other in zip(x.tolist(), y.tolist(), strict=True):
            self.rows.setdefault(one, set()).add(other)

    def erase(self, x: np.ndarray, y: np.ndarray) -> None:
        for one, other in zip(x.tolist(), y.tolist(), strict=True):
            self.rows[one].remove(other)


class SortedRows:
    """A `sortedcontainers.SortedKeyList` of pairs."""

    def build(self, x: np.ndarray, y: np.ndarray) -> None:
        rows = zip(x.tolist(), y.tolist(), strict=True)
        self.rows: Any = SortedKeyList(rows, key=lambda row: row)

    def partners(self, x: int) -> int:
        return self.rows.bisect_key_left((x + 1, -1)) - self.rows.bisect_key_left((x, -1))

    def insert(self, x: np.ndarray, y: np.ndarray) -> None:
        self.rows.update(zip(x.tolist(), y.tolist(), strict=True))

    def erase(self, x: np.ndarray, y: np.ndarray) -> None:
        for row in zip(x.tolist(), y.tolist(), strict=True):
            self.rows.remove(row)


class OfDuckDB:
    """A table of DuckDB with an index on the first column."""

    def __init__(self) -> None:
        self.base = duckdb.connect(config={"threads": 1})

    def build(self, x: np.ndarray, y: np.ndarray) -> None:
        rows = {"x": x, "y": y}
        self.base.register("given", rows)
        self.base.execute("CREATE TABLE r AS SELECT * FROM given")
        self.base.execute("CREATE INDEX by_x ON r(x)")
        self.base.unregister("given")

    def partners(self, x: int) -> int:
        return self.base.execute("SELECT count(*) FROM r WHERE x = ?", [x]).fetchall()[0][0]

    def insert(self, x: np.ndarray, y: np.ndarray) -> None:
        self.base.register("given", {"x": x, "y": y})
        self.base.execute("INSERT INTO r SELECT * FROM given")
        self.base.unregister("given")

    def erase(self, x: np.ndarray, y: np.ndarray) -> None:
        self.base.register("given", {"x": x, "y": y})
        self.base.execute("DELETE FROM r USING given g WHERE r.x = g.x AND r.y = g.y")
        self.base.unregister("given")


INDEXES: dict[str, Callable[[], Index]] = {
    "scan tree": ScanTree,
    "sorted columns": SortedColumns,
    "hash index": HashIndex,
    "SortedKeyList": SortedRows,
    "DuckDB": OfDuckDB,
}


def indexed(name: str, rows: int) -> dict[str, Any]:
    """Processor microseconds per row or look-up, and bytes per row, of one structure."""
    random = np.random.default_rng(3)
    packed = np.unique(random.integers(0, rows // 8, rows) << 32 | random.integers(0, rows, rows))
    some = np.zeros(len(packed), bool)
    some[random.permutation(len(packed))[: len(packed) // SHARE]] = True
    kept, moved = packed[~some], packed[some]
    x, y = kept >> 32, kept & 0xFFFFFFFF
    a, b = moved >> 32, moved & 0xFFFFFFFF
    asked = random.integers(0, rows // 8, LOOKUPS).tolist()
    warm = INDEXES[name]()  # so that nothing is compiled while the clock runs
    warm.build(x[:100], y[:100])
    warm.partners(int(x[0]))
    warm.insert(a[:10], b[:10])
    warm.erase(a[:10], b[:10])
    index = INDEXES[name]()
    gc.collect()
    forget_freed()
    before = resident_bytes()
    build_s = processor_seconds(lambda: index.build(x, y))
    gc.collect()
    bytes_per_row = (resident_bytes() - before) / len(x)
    found: list[int] = []
    seek_s = processor_seconds(lambda: found.extend(map(index.partners, asked)))
    insert_s = processor_seconds(lambda: index.insert(a, b))
    erase_s = processor_seconds(lambda: index.erase(a, b))
    expected = np.searchsorted(x, np.asarray(asked) + 1) - np.searchsorted(x, asked)
    if found != expected.tolist() or [index.partners(each) for each in asked] != found:
        raise AssertionError(f"{name} finds other rows")
    return {
        "index": name,
        "rows": len(x),
        "build_us": build_s / len(x) * 1e6,
        "seek_us": seek_s / LOOKUPS * 1e6,
        "insert_us": insert_s / len(a) * 1e6,
        "erase_us": erase_s / len(a) * 1e6,
        "bytes_per_row": bytes_per_row,
    }
