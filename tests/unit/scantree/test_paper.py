"""The worked examples of section 3 of "Incremental Maintenance for Leapfrog Triejoin" [LFTJ-IVM]:
scan trees and interval trees.

Figures are not in the text at hand. Where a test needs numbers that stand only in one, it says so
and takes its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lftj.scantree import (
    COUNT,
    Arena,
    IntervalTree,
    Monoid,
    Tree,
    complement,
    max_of,
    min_of,
    sum_of,
)
from tests.unit.scantree.trees import columns_of, pages_apart, rows_of

PAGES: Any = {"leaf_capacity": 4, "fan": 4}


# ── 3.1: scans ────────────────────────────────────────────────────────────────────────────────────
INTERVALS = [  # of a1 … a8, and the subtrees that section 3.1 adds up for each
    (1, 8, "A18"),
    (1, 3, "A12 a3"),
    (2, 8, "a2 A34 A58"),
    (3, 7, "A34 A56 a7"),
    (4, 7, "a4 A56 a7"),
]


def of_eight() -> Tree:
    """A tree of a1 … a8."""
    columns = columns_of([(place, place) for place in range(1, 9)], 2)
    return Tree.build(Arena(reserve_bytes=1 << 26), columns, aggregates=[("sum", 1)], **PAGES)


TEXT = Monoid.of_rows(
    "", lambda columns: "".join(f"a{value}" for value in columns[1].tolist()), lambda a, b: a + b
)


@pytest.mark.parametrize(("first", "last", "subtrees"), INTERVALS)
def test_3_1_a_scan_of_an_interval_is_the_sum_of_its_subtrees_in_order(
    first: int, last: int, subtrees: str
) -> None:
    tree = of_eight()
    spelt = "".join(
        f"a{i}" for name in subtrees.split() for i in range(int(name[1]), int(name[-1]) + 1)
    )
    assert (
        tree.scan(TEXT, (first,), (last + 1,))
        == spelt
        == "".join(f"a{i}" for i in range(first, last + 1))
    )
    assert tree.scan(sum_of(1), (first,), (last + 1,)) == sum(range(first, last + 1))
    assert len(subtrees.split()) <= 2 * math.ceil(math.log2(8))


def test_3_1_a_changed_element_is_added_up_anew_on_its_path_alone() -> None:
    """a5 of section 3.1 changes: what is not on the path from a5 to the root is shared with the old
    version.
    """
    old = of_eight()
    new = old.apply(columns_of([(5, 50)], 2), columns_of([(5, 5)], 2))
    assert new.scan(TEXT) == "a1a2a3a4a50a6a7a8"
    assert old.scan(TEXT) == "a1a2a3a4a5a6a7a8"
    assert (
        pages_apart(old, new) == 2 * (old.height + 1) == 4
    )  # a page of each level, in each of the two
    assert new.scan(sum_of(1)) == 36 + 45


def test_3_1_the_greatest_sale_of_a_region() -> None:
    """maxsales[2] of section 3.1 is the greatest of the four subtrees of region 2. The other
    records of the sixteen stand in a figure that the text at hand lacks: they are our own, each
    greater than those of region 2 where a scan of too much would show it.
    """
    region_2 = [2900_00, 3500_00, 7024_00, 9000_00]
    totals = [
        9500_00,
        120_00,
        9800_00,
        4100_00,
        *region_2,
        9999_00,
        30_00,
        7_00,
        9100_00,
        1_00,
        9900_00,
        60_00,
        9700_00,
    ]
    regions = [1] * 4 + [2] * 4 + [3] * 5 + [4] * 3
    rows = [
        (region, store, total)
        for store, (region, total) in enumerate(zip(regions, totals, strict=True))
    ]
    *keys, values = columns_of(rows, 3)
    tree = Tree.build(
        Arena(reserve_bytes=1 << 26), keys, [values], aggregates=[("max", 2)], **PAGES
    )
    assert len(tree) == 16
    assert tree.scan(max_of(2), (2,), (3,)) == max(region_2) == 9000_00
    without = tree.apply(erases=columns_of([(2, 7)], 2))
    assert (
        without.scan(max_of(2), (2,), (3,)) == 7024_00
    )  # section 2.3.3: a deletion needs no inverse of max


def test_3_1_1_pages_are_scan_trees_of_a_dozen_records_and_more() -> None:
    """Ten numbers on a leaf that aggregates some records at once, as section 3.1.1 has it. Its
    figure is not in the text at hand: the numbers are our own.
    """
    numbers = [31, 41, 59, 26, 53, 58, 97, 93, 23, 84]
    keys, values = columns_of(list(enumerate(numbers)), 2)
    kept = [("max", 1), ("min", 1), ("sum", 1)]
    tree = Tree.build(Arena(reserve_bytes=1 << 26), [keys], [values], aggregates=kept, **PAGES)
    for first in range(10):
        for last in range(first, 10):
            part = numbers[first : last + 1]
            scans = [tree.scan(of(1), (first,), (last + 1,)) for of in (max_of, min_of, sum_of)]
            assert [*scans, tree.scan(COUNT, (first,), (last + 1,))] == [
                max(part),
                min(part),
                sum(part),
                len(part),
            ]


# ── 2.3.3, 3.1.2 and 3.3: what scans and shared pages are for, on facts of our own ────────────────
def test_2_3_3_one_tree_serves_scans_of_several_kinds_and_a_change_combines_one_path_anew() -> None:
    rows = [(group, value) for group in (0, 1) for value in range(group, 64, 2)]
    old = Tree.build(Arena(reserve_bytes=1 << 26), columns_of(rows, 2), leaf_capacity=4, fan=4)
    lifted: list[int] = []

    def lift(columns: list[np.ndarray]) -> str:
        lifted.append(len(columns[0]))
        return "".join(f"{value} " for value in columns[1].tolist())

    texts = Monoid.of_rows("", lift, lambda a, b: a + b)
    assert old.scan(texts, (1,), (2,)) == "".join(f"{value} " for value in range(1, 64, 2))
    found, (_, least), _ = old.edge_rows(np.array([[0, 1, 2]]))
    assert (found.tolist(), least[:2].tolist()) == ([True, True, False], [0, 1])
    _, (_, greatest), _ = old.edge_rows(np.array([[0, 1]]), last=True)
    assert greatest.tolist() == [62, 63]
    new = old.apply(erases=columns_of([(1, 31)], 2))
    lifted.clear()
    assert new.scan(texts, (1,), (2,)) == old.scan(texts, (1,), (2,)).replace("31 ", "")
    assert (
        1 <= len(lifted) <= 4
    )  # the page that changed and those cut by the ends of the group; all others are as they were


def test_3_1_2_what_a_subset_lacks_is_found_by_counts() -> None:
    arena = Arena(reserve_bytes=1 << 26)
    whole = Tree.build(
        arena, columns_of([(value,) for value in range(64)], 1), leaf_capacity=4, fan=4
    )
    part = Tree.build(
        arena,
        columns_of([(value,) for value in range(64) if value not in (5, 40)], 1),
        leaf_capacity=4,
        fan=4,
    )
    missing, pages = complement(whole, part)
    assert rows_of(missing) == [(5,), (40,)]
    assert (
        whole.scan(COUNT, None, (5,)) == part.scan(COUNT, None, (5,)) == 5
    )  # equal counts: nothing is missing before
    assert (whole.scan(COUNT, None, (6,)), part.scan(COUNT, None, (6,))) == (6, 5)
    assert pages < 2 * 64


def test_3_3_versions_are_compared_where_they_do_not_share_pages() -> None:
    old = Tree.build(
        Arena(reserve_bytes=1 << 26),
        columns_of([(value,) for value in range(64)], 1),
        leaf_capacity=4,
        fan=4,
    )
    inserted, erased, pages = old.apply(columns_of([(70,)], 1), columns_of([(9,)], 1)).diff_pages(
        old
    )
    assert (rows_of(inserted), rows_of(erased)) == ([(70,)], [(9,)])
    assert pages <= 2 * 2 * (old.height + 1)


# ── 3.2: interval trees ───────────────────────────────────────────────────────────────────────────
def test_3_2_the_intervals_that_contain_10() -> None:
    intervals = [(2, 10), (3, 7), (5, 15), (6, 9)]
    tree = IntervalTree.build(Arena(reserve_bytes=1 << 26), 0, columns_of(intervals, 2), **PAGES)
    assert rows_of(tree.stab((), 10)) == [(2, 10), (5, 15)]
    assert tree.tree.scan(max_of(1)) == 15  # the greatest end, which tells whether to descend


def test_3_2_the_intervals_stabbed_at_80() -> None:
    """The result for x = 80 of section 3.2. Figure 2 with the other intervals is not in the text at
    hand: those that do not contain 80 are our own, next to it on both sides.
    """
    found = [(11, 100), (49, 82), (72, 87), (77, 96)]
    others = [
        (1, 79),
        (5, 12),
        (14, 33),
        (30, 79),
        (52, 61),
        (75, 79),
        (81, 81),
        (81, 99),
        (90, 95),
    ]
    tree = IntervalTree.build(
        Arena(reserve_bytes=1 << 26), 0, columns_of(sorted(found + others), 2), **PAGES
    )
    assert rows_of(tree.stab((), 80)) == found
    assert rows_of(tree.stab((), 101)) == []
    assert tree.tree.scan(max_of(1), None, (81,)) == 100  # among those that begin up to 80
    assert tree.tree.scan(max_of(1), (30,), (49,)) == 79  # a subtree that is not descended into
