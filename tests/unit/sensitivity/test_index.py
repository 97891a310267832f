"""Sensitivity indices: what stabs find, versions, coarsening, and how large they get."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.scantree import Arena, Tree
from lftj.scantree.invariants import check_invariants
from lftj.sensitivity import (
    EXACT,
    NONE,
    Constant,
    Granularity,
    Liveness,
    SensitivityIndex,
    hull,
    index,
    projected,
)
from tests.unit.scantree.trees import GREATEST, Row, columns_of, rows_of
from tests.unit.sensitivity.bodies import body

BODY = body(3, "E 0 1, F 1 2, G 0 2").shape
POSITION = BODY.by_key[1, 1]  # F's second column: α = (y), γ = (x)


def built(rows: list[Row], granularity: Granularity = EXACT) -> SensitivityIndex:
    return SensitivityIndex.build(
        Arena(reserve_bytes=1 << 27), POSITION, granularity, columns_of(rows, 4)
    )


def stabbed(kept: SensitivityIndex, probes: list[Row]) -> list[Row]:
    alpha, values = columns_of(probes, 2)
    found, gamma = kept.stab([alpha], values)
    return rows_of([found, *gamma])


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 8), st.integers(0, 4), st.integers(0, 3)),
    max_size=15,
).map(lambda rows: [(alpha, low, low + width, gamma) for alpha, low, width, gamma in rows])


@settings(max_examples=60)
@given(st.lists(ROWS, min_size=1, max_size=4), st.booleans())
def test_stabs_find_the_contexts_whose_coverage_holds_the_value(
    batches: list[list[Row]], compact: bool
) -> None:
    kept = built(batches[0])
    for batch in batches[1:]:
        kept = kept.add(columns_of(batch, 4))
    if compact:
        kept = kept.compacted()
    probes = [(alpha, value) for alpha in range(3) for value in range(-1, 14)]
    rows = [row for batch in batches for row in batch]
    expected = [
        (number, gamma)
        for number, (alpha, value) in enumerate(probes)
        for gamma in sorted(
            {row[3] for row in rows if row[0] == alpha and row[1] <= value <= row[2]}
        )
    ]
    assert stabbed(kept, probes) == expected
    check_invariants(kept.intervals.tree)


def test_the_version_before_stays_as_it_was() -> None:
    before = built([(0, 1, 5, 7)])
    after = before.add(columns_of([(0, 9, 9, 7), (1, 0, 0, 7)], 4))
    assert rows_of(before.columns()) == [(0, 1, 5, 7)]
    assert rows_of(after.columns()) == [(0, 1, 5, 7), (0, 9, 9, 7), (1, 0, 0, 7)]
    assert after.add([]) is after
    assert (len(after), after.bytes) == (3, 96)


def test_merging_drops_what_others_contain() -> None:
    kept = built([(0, 1, 9, 7)]).add(columns_of([(0, 2, 3, 7), (0, 2, 3, 8), (0, 9, 12, 7)], 4))
    assert len(kept) == 4  # the new ones are merged with one another only
    assert rows_of(kept.compacted().columns()) == [(0, 1, 12, 7), (0, 2, 3, 8)]


def test_coarser_granularities_cover_no_less() -> None:
    kept = built([(0, 1, 2, 7), (0, 8, 9, 7), (0, 5, 5, 8)])
    coarse = kept.coarsened(hull())
    assert coarse is not None
    assert rows_of(coarse.columns()) == [(0, 1, 9, 7), (0, 5, 5, 8)]
    boxes = coarse.coarsened(projected(0))
    assert boxes is not None
    assert (rows_of(boxes.columns()), boxes.gamma) == ([(0, 1, 9)], ())
    assert stabbed(boxes, [(0, 3), (0, 10), (1, 3)]) == [(0,)]
    assert kept.coarsened(NONE) is None
    with pytest.raises(ValueError, match="log again"):
        boxes.coarsened(EXACT)
    with pytest.raises(ValueError, match="leave it out"):
        built([], NONE)


def test_intervals_of_a_projection_may_be_added_with_their_whole_context_or_cut() -> None:
    kept = built([], projected(0))
    assert rows_of(kept.add(columns_of([(0, 1, 2, 7)], 4)).columns()) == [(0, 1, 2)]
    assert rows_of(kept.add(columns_of([(0, 1, 2)], 3)).columns()) == [(0, 1, 2)]


def test_branches_can_be_forgotten() -> None:
    kept = built([(0, 1, 2, 7), (1, 1, 2, 7), (1, 5, 6, 8), (GREATEST, 0, 0, 0)])
    assert rows_of(kept.forget(columns_of([(1,), (5,)], 1)).columns()) == [
        (0, 1, 2, 7),
        (GREATEST, 0, 0, 0),
    ]
    assert len(kept.forget(columns_of([(GREATEST,)], 1))) == 3
    assert kept.forget(columns_of([(4,)], 1)) is kept


def test_an_index_that_grows_beyond_its_last_full_log_says_so() -> None:
    kept = built([(0, 0, 0, 0)])
    rows = [(1, 2 * value, 2 * value, 0) for value in range(2 * index.SLACK)]
    assert not kept.overgrown()
    assert kept.add(columns_of(rows, 4)).overgrown()
    assert not built(rows).overgrown()


def test_living_contexts_are_those_whose_bindings_every_atom_has() -> None:
    arena = Arena(reserve_bytes=1 << 27)
    edges, sides = [(1, 2), (1, 3), (4, 2)], [(1, 9), (5, 9)]
    trees = [Tree.build(arena, columns_of(rows, 2)) for rows in (edges, [(2, 9), (3, 9)], sides)]
    alive = Liveness(BODY, trees)
    xs, ys = columns_of([(1, 2), (1, 4), (4, 2), (1, 3), (9, 2)], 2)
    assert alive({0: xs, 1: ys}).tolist() == [True, False, False, True, False]  # G has no 4
    assert alive({1: ys}).tolist() == [True, False, True, True, True]  # E can only be asked with x
    assert alive({}).tolist() == [True]


def test_constants_and_copies_are_known_to_liveness() -> None:
    arena = Arena(reserve_bytes=1 << 27)
    shape = body(3, "E 0 1, F 1 2", computed={0: Constant(3), 2: 1}).shape
    trees = [
        Tree.build(arena, columns_of(rows, 2)) for rows in ([(3, 5), (4, 6)], [(5, 5), (6, 6)])
    ]
    assert Liveness(shape, trees)({1: np.array([5, 6])}).tolist() == [True, False]


def grown(live: bool, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of an index over a long history: edges come and go, contexts with them, and some
    contexts are logged again and again.
    """
    monkeypatch.setattr(index, "SLACK", 16)
    arena = Arena(reserve_bytes=1 << 28)
    kept = SensitivityIndex.build(arena, POSITION, hull(), columns_of([(0, 0, 9, 0)], 4))
    sizes, touched = [], []
    rng = np.random.default_rng(2)
    for commit in range(3000):
        x = np.array([commit])
        trees = [
            Tree.build(arena, [x, x * 0 + 1]),
            Tree.build(arena, columns_of([(1, 1)], 2)),
            Tree.build(arena, [x, x]),
        ]
        old = int(rng.integers(0, 20))
        rows = [(1, old, old + 2, -5), (1, commit % 7, 7, commit)]
        kept = kept.add(columns_of(rows, 4), Liveness(BODY, trees) if live else None)
        sizes.append(len(kept))
        touched.append(arena.bytes_in_use)
    assert max(touched[2000:]) <= 2 * max(touched[:1000]) or not live
    return sizes


def test_stale_and_repeated_intervals_stay_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        max(grown(True, monkeypatch)) <= 64
    )  # one context is alive at a time, and those of the commits since the last merge
    sizes = grown(False, monkeypatch)
    assert sizes[-1] >= 3000  # without anybody to tell, the dead stay
    assert max(sizes) <= 2 * 3002 + 16
