"""Random histories of many versions of one tree, all alive at once, against sorted dicts; every
structural invariant after every step.
"""

from __future__ import annotations

import bisect

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sortedcontainers import SortedDict

from lftj.scantree import COUNT, Arena, complement, max_of, min_of, sum_of
from lftj.scantree.invariants import check_arena, check_invariants
from tests.unit.scantree.trees import (
    GREATEST,
    Key,
    Row,
    Shape,
    Version,
    columns_of,
    keys_of,
    pages_apart,
    rows_in,
    rows_of,
    shapes,
)

ROWS = 250  # on pages of four entries, well within the greatest height
VERSIONS = 6


class Histories(RuleBasedStateMachine):
    """Build, change, branch, read and drop versions in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.arena = Arena(reserve_bytes=1 << 30)
        self.versions: list[Version] = []

    @initialize(shape=shapes(), data=st.data())
    def start(self, shape: Shape, data: st.DataObject) -> None:
        self.shape = shape
        rows = data.draw(rows_in(shape))
        self._add(Version(shape.build(self.arena, _joined(rows)), SortedDict(rows)))

    def _add(self, version: Version) -> None:
        assert rows_of(version.tree.columns()) == version.listed()
        assert len(version.tree) == len(version.rows)
        check_invariants(version.tree)
        self.versions.append(version)
        if len(self.versions) > VERSIONS:
            del self.versions[0]

    def _pick(self, data: st.DataObject) -> Version:
        return self.versions[data.draw(st.integers(0, len(self.versions) - 1))]

    def _key(self, data: st.DataObject, version: Version) -> Key:
        return data.draw(
            st.one_of(
                keys_of(self.shape), st.sampled_from([*version.rows] or [(0,) * self.shape.keys])
            )
        )

    # ── changing ──────────────────────────────────────────────────────────────────────────────────
    @rule(data=st.data())
    def change_a_few(self, data: st.DataObject) -> None:
        version = self._pick(data)
        inserts = data.draw(rows_in(self.shape))
        erases = {self._key(data, version) for _ in range(data.draw(st.integers(0, 5)))}
        self._change(version, inserts, erases)

    @rule(data=st.data(), seed=st.integers(0, 2**32 - 1), count=st.integers(1, 60))
    def insert_a_run(self, data: st.DataObject, seed: int, count: int) -> None:
        version = self._pick(data)
        random = np.random.default_rng(seed)
        start = int(random.integers(-9, GREATEST - count))
        keys = [
            (*(int(n) for n in random.integers(-3, 3, self.shape.keys - 1)), start + i)
            for i in range(count)
        ]
        self._change(version, dict.fromkeys(keys, (start,) * self.shape.values), set())

    @rule(data=st.data())
    def erase_a_stretch(self, data: st.DataObject) -> None:
        version = self._pick(data)
        first = data.draw(st.integers(0, len(version.rows)))
        self._change(
            version, {}, {*list(version.rows)[first : first + data.draw(st.integers(1, 120))]}
        )

    def _change(self, version: Version, inserts: dict[Key, Row], erases: set[Key]) -> None:
        tree = self.shape.apply(version.tree, _joined(inserts), erases)
        expected = SortedDict(
            {key: values for key, values in version.rows.items() if key not in erases} | inserts
        )
        surplus = list(expected)[ROWS:]
        if surplus:
            tree = self.shape.apply(tree, [], surplus)
            expected = SortedDict({key: expected[key] for key in list(expected)[:ROWS]})
        self._add(Version(tree, expected))

    @precondition(lambda self: self.versions)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        if len(self.versions) > 1:
            del self.versions[data.draw(st.integers(0, len(self.versions) - 1))]

    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    @rule(data=st.data())
    def look_up(self, data: st.DataObject) -> None:
        version = self._pick(data)
        keys = [self._key(data, version) for _ in range(5)]
        found, values = version.tree.lookup(columns_of(keys, self.shape.keys))
        assert found.tolist() == [key in version.rows for key in keys]
        zeros = (0,) * self.shape.values
        assert list(zip(*(v.tolist() for v in values), strict=True)) == [
            version.rows.get(key, zeros) for key in keys if self.shape.values
        ]

    @rule(data=st.data())
    def read_a_range(self, data: st.DataObject) -> None:
        version = self._pick(data)
        bounds = []
        for _ in range(2):
            prefix = data.draw(st.integers(1, self.shape.keys))
            bounds.append(data.draw(st.sampled_from([None, self._key(data, version)[:prefix]])))
        keys = list(version.rows)
        # a shorter tuple sorts before every one that it begins, as a prefix bound does
        low = 0 if bounds[0] is None else bisect.bisect_left(keys, bounds[0])
        high = len(keys) if bounds[1] is None else bisect.bisect_left(keys, bounds[1])
        expected = version.listed()[low:high]
        assert rows_of(version.tree.range(*bounds)) == expected
        assert (
            version.tree.positions(*bounds)[2] == version.tree.scan(COUNT, *bounds) == len(expected)
        )
        self._scan(version, bounds, expected)

    def _scan(self, version: Version, bounds: list[Key | None], expected: list[Row]) -> None:
        makers = {"max": (max_of, max), "min": (min_of, min), "sum": (sum_of, _wrapped_sum)}
        for operator, column in self.shape.aggregates:
            make, plain = makers[operator]
            values = [row[column] for row in expected]
            assert version.tree.scan(make(column), *bounds) == (
                plain(values) if values or operator == "sum" else None
            )

    @rule(data=st.data())
    def seek(self, data: st.DataObject) -> None:
        version = self._pick(data)
        key = self._key(data, version)[: data.draw(st.integers(1, self.shape.keys))]
        rows = version.listed()
        expected = next((row for row in rows if row[: self.shape.keys] >= key), None)
        assert version.tree.seek_lub(key) == expected

    @rule(data=st.data(), size=st.integers(1, 40))
    def sample(self, data: st.DataObject, size: int) -> None:
        version = self._pick(data)
        rows = version.listed()
        sampled = rows_of(version.tree.sample(size))
        assert sampled == (
            [rows[i * len(rows) // size] for i in range(size)] if len(rows) > size else rows
        )

    @rule(data=st.data(), size=st.integers(1, 40))
    def read_in_blocks(self, data: st.DataObject, size: int) -> None:
        version = self._pick(data)
        only = data.draw(
            st.lists(
                st.integers(0, self.shape.keys + self.shape.values - 1), max_size=4, unique=True
            )
        )
        picked = [tuple(row[column] for column in only) for row in version.listed()]
        blocks = [block.T.copy() for block in version.tree.blocks(size, only)]
        assert [tuple(row) for block in blocks for row in block.tolist()] == picked
        assert all(len(block) == size for block in blocks[:-1])
        first, last = sorted(data.draw(st.integers(0, len(picked))) for _ in range(2))
        assert [
            tuple(row)
            for block in version.tree.blocks(size, only, first, last)
            for row in block.T.tolist()
        ] == picked[first:last]
        assert version.tree.extremes(only) == (
            [(min(column), max(column)) for column in zip(*picked, strict=True)] if picked else []
        )

    @rule(data=st.data())
    def compare(self, data: st.DataObject) -> None:
        new, old = self._pick(data), self._pick(data)
        *sides, pages = new.tree.diff_pages(old.tree)
        inserted, erased = (rows_of(side) for side in sides)
        assert inserted == [
            row
            for row in new.listed()
            if old.rows.get(row[: self.shape.keys]) != row[self.shape.keys :]
        ]
        assert erased == [
            row
            for row in old.listed()
            if new.rows.get(row[: self.shape.keys]) != row[self.shape.keys :]
        ]
        assert (
            pages <= pages_apart(new.tree, old.tree) + 2
        )  # the roots are opened even if one lies below the other

    @rule(data=st.data())
    def complement(self, data: st.DataObject) -> None:
        whole = self._pick(data)
        keys = list(whole.rows)
        gone = (
            {keys[i] for i in data.draw(st.sets(st.integers(0, len(keys) - 1), max_size=20))}
            if keys
            else set()
        )
        part = self.shape.apply(whole.tree, [], gone)
        assert rows_of(complement(whole.tree, part)[0]) == [
            row for row in whole.listed() if row[: self.shape.keys] in gone
        ]

    # ── after every step ──────────────────────────────────────────────────────────────────────────
    @invariant()
    def pages_are_accounted_for(self) -> None:
        check_arena(self.arena, [version.tree for version in self.versions])

    @precondition(lambda self: self.versions)
    @invariant()
    def old_versions_are_as_they_were(self) -> None:
        oldest = self.versions[0]
        assert rows_of(oldest.tree.columns()) == oldest.listed()

    def teardown(self) -> None:
        while self.versions:
            check_invariants(self.versions.pop().tree)
        assert self.arena.bytes_in_use == 0


def _joined(rows: dict[Key, Row]) -> list[Row]:
    return [(*key, *values) for key, values in rows.items()]


def _wrapped_sum(values: list[int]) -> int:
    return (sum(values) + 2**63) % 2**64 - 2**63


TestHistories = Histories.TestCase
TestHistories.settings = settings(stateful_step_count=25, max_examples=40)
