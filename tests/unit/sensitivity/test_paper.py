"""The constructions of "Incremental Maintenance for Leapfrog Triejoin" [LFTJ-IVM], worked by hand.

The rules are the paper's: C(x) ← A(x), B(x), and F(x, y) ← G(x, z), H(y, z), I(x, y, z), R(z) of section 4.2 with its list of indices. The
numbers in the relations are instances of our own.
"""

from __future__ import annotations

import numpy as np

from scantree import COUNT, Arena, IntervalTree, Monoid, Tree, complement, max_of, sum_of
from scantree.rows import sort_rows
from sensitivity import EXACT, NEGATIVE_INFINITY, POSITIVE_INFINITY, SensitivityIndex, touched_intervals
from sensitivity.trace import interval_columns
from tests.unit.scantree.trees import columns_of, rows_of
from tests.unit.sensitivity.bodies import body
from tests.unit.sensitivity.maintained import Maintained, delta
from tests.unit.sensitivity.triejoin import Body, Run, records_array

A = {1, 3, 5, 9}
B = {2, 3, 7, 9}
LOW, HIGH = NEGATIVE_INFINITY, POSITIVE_INFINITY

# A level before x, with one value, keeps A(x), B(x) from being prefixes, for which nothing would be logged.
INTERSECTION = body(2, "P 0, A 1, B 1")
RULE = body(3, "G 0 2, H 1 2, I 0 1 2, R 2")


def relations(a: set[int], b: set[int]) -> dict[str, set[tuple[int, ...]]]:
    return {"P": {(0,)}, "A": {(v,) for v in a}, "B": {(v,) for v in b}}


def sensitivities(intersection: Body, a: set[int], b: set[int]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """A_sens and B_sens of a full run, as it logged them, in order."""
    run = Run(intersection, intersection.rows(relations(a, b)), {}, 0)
    positions = [intersection.shape.by_key[1, 0], intersection.shape.by_key[2, 0]]
    records = records_array(run.records, positions, intersection.shape.levels)
    logged = [rows_of(interval_columns(records, position, channel)) for channel, position in enumerate(positions)]
    return [(low, high) for low, high, _ in logged[0]], [(low, high) for low, high, _ in logged[1]]


# ── 3: scan trees and interval trees ──────────────────────────────────────────────────────────────────────────────────
def test_3_1_a_scan_combines_whole_subtrees_and_two_ends() -> None:
    rows = [(key, value) for key, value in enumerate([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3])]
    keys, values = columns_of(rows, 2)
    aggregates = [("sum", 1), ("max", 1)]
    tree = Tree.build(Arena(reserve_bytes=1 << 26), [keys], [values], aggregates=aggregates, leaf_capacity=4, fan=4)
    assert tree.height >= 1
    assert tree.scan(sum_of(1), (3,), (11,)) == 1 + 5 + 9 + 2 + 6 + 5 + 3 + 5
    assert tree.scan(max_of(1), (6,), (11,)) == 6
    assert tree.scan(COUNT, (3,), (11,)) == 8


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
    assert 1 <= len(lifted) <= 4  # the page that changed and those cut by the ends of the group; all others are as they were


def test_3_1_2_what_a_subset_lacks_is_found_by_counts() -> None:
    arena = Arena(reserve_bytes=1 << 26)
    whole = Tree.build(arena, columns_of([(value,) for value in range(64)], 1), leaf_capacity=4, fan=4)
    part = Tree.build(arena, columns_of([(value,) for value in range(64) if value not in (5, 40)], 1), leaf_capacity=4, fan=4)
    missing, pages = complement(whole, part)
    assert rows_of(missing) == [(5,), (40,)]
    assert whole.scan(COUNT, None, (5,)) == part.scan(COUNT, None, (5,)) == 5  # equal counts: nothing is missing before
    assert (whole.scan(COUNT, None, (6,)), part.scan(COUNT, None, (6,))) == (6, 5)
    assert pages < 2 * 64


def test_3_3_versions_are_compared_where_they_do_not_share_pages() -> None:
    old = Tree.build(Arena(reserve_bytes=1 << 26), columns_of([(value,) for value in range(64)], 1), leaf_capacity=4, fan=4)
    inserted, erased, pages = old.apply(columns_of([(70,)], 1), columns_of([(9,)], 1)).diff_pages(old)
    assert (rows_of(inserted), rows_of(erased)) == ([(70,)], [(9,)])
    assert pages <= 2 * 2 * (old.height + 1)


def test_3_2_a_max_scan_on_the_ends_finds_the_intervals_that_hold_a_value() -> None:
    intervals = [(0, 3), (1, 2), (2, 9), (4, 5), (6, 6), (7, 12), (8, 8), (10, 11)]
    tree = IntervalTree.build(Arena(reserve_bytes=1 << 26), 0, columns_of(intervals, 2), leaf_capacity=4, fan=4)
    assert rows_of(tree.stab((), 8)) == [(2, 9), (7, 12), (8, 8)]
    assert rows_of(tree.stab((), 3)) == [(0, 3), (2, 9)]
    assert rows_of(tree.stab((), 13)) == []
    assert tree.tree.scan(max_of(1), None, (7,)) == 9  # among those that begin before 7


# ── 4.1: sensitivities ────────────────────────────────────────────────────────────────────────────────────────────────
def test_4_1_what_a_leapfrog_join_of_two_sets_depends_on() -> None:
    a_sens, b_sens = sensitivities(INTERSECTION, A, B)
    # open A at 1, open B at 2, A seeks 2 → 3, B seeks 3 → 3: a match; A goes on to 5, B seeks 5 → 7, A seeks 7 → 9, B seeks 9 → 9: a match;
    # A has no more.
    assert a_sens == [(LOW, 1), (2, 3), (3, 5), (7, 9), (9, HIGH)]
    assert b_sens == [(LOW, 2), (3, 3), (5, 7), (9, 9)]


def test_4_1_an_index_covers_what_was_logged_and_no_more() -> None:
    kept = Maintained(INTERSECTION, relations(A, B), {(1, 0): EXACT, (2, 0): EXACT})
    assert rows_of(kept.indices[1, 0].columns()) == [(LOW, 5, 0), (7, HIGH, 0)]
    assert rows_of(kept.indices[2, 0].columns()) == [(LOW, 3, 0), (5, 7, 0), (9, 9, 0)]


# ── 4.1.1: the change oracle, and the sensitivities after ─────────────────────────────────────────────────────────────
def oracle_of(kept: Maintained, atom: int, after: set[int], before: set[int]) -> list[tuple[int, ...]]:
    """The paper's oracle: the sensitivity intervals, not merged, that a change of a set hits."""
    arena = Arena(reserve_bytes=1 << 26)
    old, new = (Tree.empty(arena, 1).apply(columns_of([(v,) for v in sorted(side)], 1)) for side in (before, after))
    position = kept.body.shape.by_key[atom, 0]
    run = Run(kept.body, kept.body.rows(kept.relations), {}, 0)
    logged = interval_columns(records_array(run.records, [position], kept.body.shape.levels), position, 0)
    index = SensitivityIndex(position, EXACT, IntervalTree.build(arena, 0, sort_rows(logged)), 0, 0)
    return rows_of(touched_intervals(index, delta(old, new)[0]))


def test_4_1_1_the_oracle_of_an_insert_is_the_intervals_that_hold_it() -> None:
    kept = Maintained(INTERSECTION, relations(A, B), {(1, 0): EXACT, (2, 0): EXACT})
    assert oracle_of(kept, 1, A | {4}, A) == [(3, 5, 0)]
    assert oracle_of(kept, 1, A | {6}, A) == []  # B has nothing from 5 to 7, which A need not know
    assert oracle_of(kept, 2, B | {4}, B) == []
    assert oracle_of(kept, 2, B - {3}, B) == [(3, 3, 0)]
    assert oracle_of(kept, 1, A - {3}, A) == [(2, 3, 0), (3, 5, 0)]
    assert oracle_of(kept, 1, A - {9} | {2}, A) == [(2, 3, 0), (7, 9, 0), (9, HIGH, 0)]


def test_4_1_1_a_point_in_the_oracle_revises_the_sensitivities() -> None:
    kept = Maintained(INTERSECTION, relations(A, B), {(1, 0): EXACT, (2, 0): EXACT})
    (region,) = kept.step(relations(A | {4}, B))
    assert (region.levels, region.log_from, rows_of(region.columns)) == ((0, 1), 1, [(0, 4)])
    # A seeks 4 → 4, B seeks 4 → 7: B is the witness now that 4 is no match
    assert rows_of(kept.indices[1, 0].compacted().columns()) == [(LOW, 5, 0), (7, HIGH, 0)]
    assert rows_of(kept.indices[2, 0].compacted().columns()) == [(LOW, 7, 0), (9, 9, 0)]
    (region,) = kept.step(relations(A | {4}, B | {4}))
    assert rows_of(region.columns) == [(0, 4)]
    assert kept.result == {(0, 3), (0, 4), (0, 9)}


def test_4_1_1_a_change_that_nothing_depends_on_does_no_work() -> None:
    kept = Maintained(INTERSECTION, relations(A, B), {(1, 0): EXACT, (2, 0): EXACT})
    assert kept.step(relations(A | {6}, B | {4})) == ()
    assert (kept.work.surgeries, kept.work.stabs, kept.work.hits, kept.steps) == (2, 2, 0, 0)
    kept.check_result()
    kept.check_invariant(range(11))


# ── 4.2: triejoins ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_4_2_which_indices_are_kept_and_which_are_not() -> None:
    names = {0: "G", 1: "H", 2: "I", 3: "R"}
    kept = {(names[position.atom], "xyz"[position.level]) for position in RULE.shape.indexable}
    not_kept = {(names[position.atom], "xyz"[position.level]) for position in RULE.shape.positions if position.prefix}
    assert kept == {("G", "z"), ("H", "y"), ("H", "z"), ("R", "z")}
    assert not_kept == {("G", "x"), ("I", "x"), ("I", "y"), ("I", "z")}


def test_4_2_indices_are_keyed_by_the_atoms_own_arguments_first() -> None:
    by_key = RULE.shape.by_key
    assert (by_key[0, 1].alpha, by_key[0, 1].gamma) == ((0,), (1,))  # G_z: x, interval, y
    assert (by_key[1, 0].alpha, by_key[1, 0].gamma) == ((), (0,))  # H_y: interval, x
    assert (by_key[1, 1].alpha, by_key[1, 1].gamma) == ((1,), (0,))  # H_z: y, interval, x
    assert (by_key[3, 0].alpha, by_key[3, 0].gamma) == ((), (0, 1))  # R_z: interval, x, y


def test_4_2_1_surgeries_are_the_branches_that_appear_or_vanish() -> None:
    arena = Arena(reserve_bytes=1 << 26)
    before = {(1, 1, 1), (1, 1, 2), (1, 4, 1), (2, 1, 1)}
    after = {(1, 1, 1), (1, 4, 5), (1, 5, 5), (3, 1, 1)}
    old, new = (Tree.build(arena, columns_of(sorted(side), 3)) for side in (before, after))
    changed = delta(old, new)[0]
    assert [rows_of(changed.appeared(depth)) for depth in (1, 2, 3)] == [[(3,)], [(1, 5), (3, 1)], [(1, 4, 5), (1, 5, 5), (3, 1, 1)]]
    assert [rows_of(changed.vanished(depth)) for depth in (1, 2, 3)] == [[(2,)], [(2, 1)], [(1, 1, 2), (1, 4, 1), (2, 1, 1)]]


FACTS = {
    "G": {(x, z) for x in range(4) for z in range(6)},
    "H": {(y, z) for y in range(4) for z in range(6) if z != 4},
    "I": {(x, y, z) for x in range(4) for y in range(4) for z in range(6) if z != 2 or x == y == 1},
    "R": {(0,), (2,), (4,), (5,)},
}
INDICES = {position.key: EXACT for position in RULE.shape.indexable}


def test_4_2_2_erasing_one_r_touches_the_assignments_that_used_it() -> None:
    for z, uses in ((0, 16), (2, 1), (4, 0)):
        kept = Maintained(RULE, FACTS, INDICES)
        assert len({found for found in kept.result if found[2] == z}) == uses
        regions = kept.step({**FACTS, "R": FACTS["R"] - {(z,)}})
        kept.check_result()
        kept.check_invariant(range(6))
        touched = [row for region in regions for row in rows_of(region.columns)]
        assert all(region.levels == (0, 1, 2) for region in regions)
        assert set(touched) >= {(x, y, z) for x in range(4) for y in range(4) if (x, y, z) in FACTS["I"] and z != 4}
        assert kept.work.surgeries == kept.work.stabs == 1


def test_4_2_2_the_oracle_is_the_union_over_the_four_indices_and_the_prefixes() -> None:
    kept = Maintained(RULE, FACTS, INDICES)
    after = {**FACTS, "G": FACTS["G"] - {(0, 5)}, "H": FACTS["H"] - {(3, 0)}, "R": FACTS["R"] - {(2,)}, "I": FACTS["I"] - {(1, 1, 0)}}
    regions = kept.step(after)
    kept.check_result()
    kept.check_invariant(range(6))
    touched = {row for region in regions for row in rows_of(region.columns)}
    assert (1, 1, 0) in touched  # I, by its prefix
    assert (1, 1, 2) in touched  # R_z: the fourth term, not H_z once more
    assert {(0, y, 5) for y in range(4)} <= touched  # G_z
    assert {(x, 3, 0) for x in range(4)} <= touched  # H_z


def test_4_2_2_a_branch_that_vanishes_at_y_names_y_and_not_what_lies_below() -> None:
    kept = Maintained(RULE, FACTS, INDICES)
    without = {row for row in FACTS["H"] if row[0] != 2}
    regions = kept.step({**FACTS, "H": without})
    kept.check_result()
    assert [(region.levels, rows_of(region.columns)) for region in regions] == [((0, 1), [(x, 2) for x in range(4)])]
