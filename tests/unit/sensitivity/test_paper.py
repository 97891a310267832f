"""The worked examples of "Incremental Maintenance for Leapfrog Triejoin" [LFTJ-IVM], section by
section.

The numbers are the paper's where its text has them; a test says where they are derived from its
definitions, because they stand in a figure that the text at hand lacks, or where they are instances
of our own. The rules are C(x) ← A(x), B(x) of sections 1 and 4.1, and F(x, y) ← G(x, z), H(y, z),
I(x, y, z), R(z) of section 4.2 with its list of indices. Section 3 is in
tests/unit/scantree/test_paper.py.
"""

from __future__ import annotations

from lftj.scantree import Arena, IntervalTree, Tree
from lftj.scantree.rows import sort_rows
from lftj.sensitivity import (
    EXACT,
    NEGATIVE_INFINITY,
    POSITIVE_INFINITY,
    SensitivityIndex,
    touched_intervals,
)
from lftj.sensitivity.trace_log import interval_columns
from tests.unit.scantree.trees import columns_of, rows_of
from tests.unit.sensitivity.bodies import body
from tests.unit.sensitivity.maintained import Maintained, delta
from tests.unit.sensitivity.triejoin import Body, Run, records_array

A = {0, 2, 4, 5, 6}
B = {1, 2, 6, 7}
LOW, HIGH = NEGATIVE_INFINITY, POSITIVE_INFINITY

# A level before x, with one value, keeps A(x), B(x) from being prefixes, for which nothing would be
# logged.
INTERSECTION = body(2, "P 0, A 1, B 1")
RULE = body(3, "G 0 2, H 1 2, I 0 1 2, R 2")


def relations(a: set[int], b: set[int]) -> dict[str, set[tuple[int, ...]]]:
    return {"P": {(0,)}, "A": {(v,) for v in a}, "B": {(v,) for v in b}}


def sensitivities(
    intersection: Body, a: set[int], b: set[int]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """A_sens and B_sens of a full run, as it logged them, in order."""
    run = Run(intersection, intersection.rows(relations(a, b)), {}, 0)
    positions = [intersection.shape.by_key[1, 0], intersection.shape.by_key[2, 0]]
    records = records_array(run.records, positions, intersection.shape.levels)
    logged = [
        rows_of(interval_columns(records, position, channel))
        for channel, position in enumerate(positions)
    ]
    return [(low, high) for low, high, _ in logged[0]], [(low, high) for low, high, _ in logged[1]]


# ── 4.1: sensitivities ────────────────────────────────────────────────────────────────────────────
Intervals = list[tuple[int, int]]
A_SENS: Intervals = [(LOW, 0), (1, 2), (2, 4), (6, 6), (6, HIGH)]
B_SENS: Intervals = [(LOW, 1), (2, 2), (4, 6)]


def leapfrog(a: set[int], b: set[int]) -> tuple[Intervals, Intervals]:
    """Sensitivities of the join as section 4.1 prints it, by its three rules; the iterator of A is
    the one that goes on after a match.
    """
    values, at, sens = (sorted(a), sorted(b)), [0, 0], ([(LOW, min(a))], [(LOW, min(b))])
    while True:
        here = [values[i][at[i]] for i in (0, 1)]
        i, sought = (0, here[0]) if here[0] == here[1] else (here.index(min(here)), max(here))
        at[i] = next(
            (n for n, value in enumerate(values[i]) if n > at[i] and value >= sought),
            len(values[i]),
        )
        ended = at[i] == len(values[i])
        sens[i].append((sought, HIGH if ended else values[i][at[i]]))
        if ended:
            return sens


def test_4_1_sensitivities_of_the_leapfrog_join_of_two_sets() -> None:
    """A_sens and B_sens of section 4.1, in the order of the operations, and ours.

    A opens at 0, B at 1; A seeks 1 → 2, B seeks 2 → 2: a match; A goes on to 4, B seeks 4 → 6, A
    seeks 6 → 6: a match. The paper has A go on once more, from 6 to its end. Either may: we let the
    iterators take turns, so B goes on, from 6 to 7, and A seeks 7.
    """
    assert leapfrog(A, B) == (A_SENS, B_SENS)
    a_sens, b_sens = sensitivities(INTERSECTION, A, B)
    assert a_sens == [*A_SENS[:-1], (7, HIGH)]
    assert b_sens == [*B_SENS, (6, 7)]


def test_4_1_an_index_covers_what_was_logged_and_no_more() -> None:
    """The intervals of section 4.1, with B's [6, 7] instead of A's [6, 7); those that meet or
    follow each other are merged.
    """
    kept = Maintained(INTERSECTION, relations(A, B), {(1, 0): EXACT, (2, 0): EXACT})
    assert kept.result == {(0, 2), (0, 6)}
    assert rows_of(kept.indices[1, 0].columns()) == [(LOW, 4, 0), (6, HIGH, 0)]
    assert rows_of(kept.indices[2, 0].columns()) == [(LOW, 2, 0), (4, 7, 0)]


def test_4_1_a_trace_changes_where_it_is_sensitive() -> None:
    """The two insertions into B of section 4.1: 5 changes where the seek of 4 lands, 3 changes
    nothing.
    """
    trace = sensitivities(INTERSECTION, A, B)
    assert sensitivities(INTERSECTION, A, B | {5}) != trace
    assert sensitivities(INTERSECTION, A, B | {3}) == trace
    assert oracle(B_SENS, B | {5}, B) == [(4, 6)]
    assert oracle(B_SENS, B | {3}, B) == []


# ── 4.1.1: the change oracle, and the sensitivities after ─────────────────────────────────────────
def oracle(sens: Intervals, after: set[int], before: set[int]) -> Intervals:
    """The sensitivity intervals, not merged, that a change of a set hits."""
    arena = Arena(reserve_bytes=1 << 26)
    old, new = (
        Tree.empty(arena, 1).apply(columns_of([(v,) for v in sorted(side)], 1))
        for side in (before, after)
    )
    logged = columns_of([(*interval, 0) for interval in sens], 3)
    index = SensitivityIndex(
        INTERSECTION.shape.by_key[1, 0],
        EXACT,
        IntervalTree.build(arena, 0, sort_rows(logged)),
        0,
        0,
    )
    return [(low, high) for low, high, _ in rows_of(touched_intervals(index, delta(old, new)[0]))]


AFTER_A = A - {5} | {8}
AFTER_B = B - {2} | {3}


def test_4_1_1_the_contributions_of_four_changes_to_the_oracle() -> None:
    """The table of section 4.1.1, change by change, and the union of it."""
    assert oracle(A_SENS, A - {5}, A) == []
    assert oracle(A_SENS, A | {8}, A) == [(6, HIGH)]
    assert oracle(B_SENS, B - {2}, B) == [(2, 2)]
    assert oracle(B_SENS, B | {3}, B) == []
    assert oracle(B_SENS, AFTER_B, B) + oracle(A_SENS, AFTER_A, A) == [(2, 2), (6, HIGH)]


def test_4_1_1_maintenance_examines_the_points_of_the_oracle_that_changed() -> None:
    """The maintenance of section 4.1.1. We examine the changed points of the oracle's intervals, 2
    and 8, not the intervals from end to end: between them nothing changed, so no value there can
    begin or cease to match.
    """
    kept = Maintained(INTERSECTION, relations(A, B), {(1, 0): EXACT, (2, 0): EXACT})
    (region,) = kept.step(relations(AFTER_A, AFTER_B))
    assert (region.levels, region.log_from, rows_of(region.columns)) == (
        (0, 1),
        1,
        [(0, 2), (0, 8)],
    )
    assert (kept.work.surgeries, kept.work.stabs, kept.work.hits) == (4, 4, 2)
    assert kept.result == {(0, 6)}
    kept.check_invariant(range(10))


def test_4_1_1_the_revised_sensitivities() -> None:
    """The sensitivities after section 4.1.1. They stand in a figure that the text at hand lacks:
    derived from the rules of section 4.1.

    [2, 2] of B and [6, +∞) of A are taken out. At 2, B seeks 2 → 3; from 6 on A goes on from 6 to
    8, and B seeks 8 to its end. A full evaluation of what is there now gives the same, but for A's
    [2, 4]: there A seeks 3 → 4.
    """
    revised_a = [*A_SENS[:-1], (6, 8)]
    revised_b = [*[interval for interval in B_SENS if interval != (2, 2)], (2, 3), (8, HIGH)]
    a_sens, b_sens = leapfrog(AFTER_A, AFTER_B)
    assert a_sens == [(3, 4) if interval == (2, 4) else interval for interval in revised_a]
    assert sorted(b_sens) == sorted(revised_b)
    # Ours are merged, of iterators that take turns: at 8, B has no more. What was known of A from 6
    # on stays, for a point of the oracle takes nothing out.
    kept = Maintained(INTERSECTION, relations(A, B), {(1, 0): EXACT, (2, 0): EXACT})
    kept.step(relations(AFTER_A, AFTER_B))
    assert [rows_of(kept.indices[atom, 0].compacted().columns()) for atom in (1, 2)] == [
        [(LOW, 4, 0), (6, HIGH, 0)],
        [(LOW, HIGH, 0)],
    ]
    assert oracle(revised_b, AFTER_B | {9}, AFTER_B) == [(8, HIGH)]


def test_4_1_1_a_change_that_nothing_depends_on_does_no_work() -> None:
    """The two changes whose contribution in section 4.1.1 is empty, alone."""
    kept = Maintained(INTERSECTION, relations(A, B), {(1, 0): EXACT, (2, 0): EXACT})
    assert kept.step(relations(A - {5}, B | {3})) == ()
    assert (kept.work.surgeries, kept.work.stabs, kept.work.hits, kept.steps) == (2, 2, 0, 0)
    kept.check_result()
    kept.check_invariant(range(11))


# ── 4.2: triejoins ────────────────────────────────────────────────────────────────────────────────
def test_4_2_which_indices_are_kept_and_which_are_not() -> None:
    names = {0: "G", 1: "H", 2: "I", 3: "R"}
    kept = {(names[position.atom], "xyz"[position.level]) for position in RULE.shape.indexable}
    not_kept = {
        (names[position.atom], "xyz"[position.level])
        for position in RULE.shape.positions
        if position.prefix
    }
    assert kept == {("G", "z"), ("H", "y"), ("H", "z"), ("R", "z")}
    assert not_kept == {("G", "x"), ("I", "x"), ("I", "y"), ("I", "z")}


def test_4_2_indices_are_keyed_by_the_atoms_own_arguments_first() -> None:
    by_key = RULE.shape.by_key
    assert (by_key[0, 1].alpha, by_key[0, 1].gamma) == ((0,), (1,))  # G_z: x, interval, y
    assert (by_key[1, 0].alpha, by_key[1, 0].gamma) == ((), (0,))  # H_y: interval, x
    assert (by_key[1, 1].alpha, by_key[1, 1].gamma) == ((1,), (0,))  # H_z: y, interval, x
    assert (by_key[3, 0].alpha, by_key[3, 0].gamma) == ((), (0, 1))  # R_z: interval, x, y


def test_4_2_a_curried_projection_is_a_level_of_the_trie() -> None:
    """G = {(0, 10), (0, 20), (1, 30)} of section 4.2: its first level, and the second below 0 and
    below 1.
    """
    rows = [{(0, 10), (0, 20), (1, 30)}, set(), set(), set()]
    x, z = RULE.shape.by_key[0, 0], RULE.shape.by_key[0, 1]
    assert RULE.values(rows, x, ()) == [0, 1]
    assert RULE.values(rows, z, (0, 7)) == [10, 20]  # whatever y, which is bound between the two
    assert RULE.values(rows, z, (1, 7)) == [30]


def test_4_2_1_surgeries_are_the_branches_that_appear_or_vanish() -> None:
    """The two versions of A(x, y, z) of section 4.2.1; the first follows from the second and the
    stream of changes.
    """
    arena = Arena(reserve_bytes=1 << 26)
    after = {(0, 30, 80), (1, 35, 60), (1, 35, 61), (3, 50, 91), (4, 60, 71)}
    erased, inserted = {(0, 30, 81), (3, 40, 90), (3, 50, 92)}, {(4, 60, 71)}
    old, new = (
        Tree.build(arena, columns_of(sorted(side), 3))
        for side in (after - inserted | erased, after)
    )
    changed, won, lost = delta(old, new)
    assert (set(rows_of(won)), set(rows_of(lost))) == (inserted, erased)
    assert [rows_of(changed.appeared(depth)) for depth in (1, 2, 3)] == [
        [(4,)],
        [(4, 60)],
        [(4, 60, 71)],
    ]
    assert [rows_of(changed.vanished(depth)) for depth in (1, 2, 3)] == [
        [],
        [(3, 40)],
        [(0, 30, 81), (3, 40, 90), (3, 50, 92)],
    ]


# Section 4.2.2 has no numbers: facts of our own.
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
        assert set(touched) >= {
            (x, y, z) for x in range(4) for y in range(4) if (x, y, z) in FACTS["I"] and z != 4
        }
        assert kept.work.surgeries == kept.work.stabs == 1


def test_4_2_2_the_oracle_is_the_union_over_the_four_indices_and_the_prefixes() -> None:
    kept = Maintained(RULE, FACTS, INDICES)
    after = {
        **FACTS,
        "G": FACTS["G"] - {(0, 5)},
        "H": FACTS["H"] - {(3, 0)},
        "R": FACTS["R"] - {(2,)},
        "I": FACTS["I"] - {(1, 1, 0)},
    }
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
    assert [(region.levels, rows_of(region.columns)) for region in regions] == [
        ((0, 1), [(x, 2) for x in range(4)])
    ]
