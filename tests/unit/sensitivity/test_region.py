"""Regions: each once, and none inside another."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.sensitivity.region import Regions, gathered
from tests.unit.scantree.trees import Row, columns_of, rows_of

Piece = tuple[tuple[int, ...], int, list[Row]]


def gather(*pieces: Piece) -> list[Piece]:
    found = gathered(
        (levels, log_from, columns_of(rows, len(levels))) for levels, log_from, rows in pieces
    )
    return [(batch.levels, batch.log_from, rows_of(batch.columns)) for batch in found]


def test_equal_regions_are_one() -> None:
    assert gather(((0, 2), 2, [(3, 4), (1, 2), (3, 4)]), ((0, 2), 2, [(1, 2)])) == [
        ((0, 2), 2, [(1, 2), (3, 4)])
    ]


def test_a_region_inside_a_coarser_one_goes() -> None:
    points, boxes = ((0, 1, 2), 2, [(1, 5, 9), (2, 5, 9), (3, 5, 8)]), ((0, 2), 1, [(1, 9), (3, 9)])
    assert gather(points, boxes) == [boxes, ((0, 1, 2), 2, [(2, 5, 9), (3, 5, 8)])]


def test_a_coarser_region_that_logs_less_swallows_nothing() -> None:
    pieces = [((0,), 2, [(1,)]), ((0, 1), 1, [(1, 5)])]
    assert gather(*pieces) == pieces


def test_the_same_region_is_kept_where_it_logs_more() -> None:
    assert gather(((0, 1), 2, [(1, 5), (2, 5)]), ((0, 1), 1, [(1, 5)])) == [
        ((0, 1), 1, [(1, 5)]),
        ((0, 1), 2, [(2, 5)]),
    ]


def test_the_whole_body_swallows_what_logs_no_more() -> None:
    (whole,) = gathered([((), 0, []), ((0,), 0, columns_of([(1,)], 1)), ((), 1, [])])
    assert (whole.levels, whole.log_from, whole.columns, len(whole)) == ((), 0, (), 1)
    assert len(gathered([((), 1, []), ((0,), 0, columns_of([(1,)], 1))])) == 2


def test_no_pieces_are_no_regions() -> None:
    assert gathered([]) == ()


SHAPES = [
    ((0,), 0),
    ((0, 1), 1),
    ((1,), 1),
    ((0, 2), 1),
    ((0, 1, 2), 2),
    ((1, 2), 2),
    ((0, 1, 2), 1),
]


def points(pieces: list[Piece]) -> set[tuple[Row, int]]:
    """(point, log_from) for every point of a cube that the pieces hold, with every log_from that is
    at least theirs.
    """
    found = set()
    for levels, log_from, rows in pieces:
        for x, y, z in ((x, y, z) for x in range(3) for y in range(3) for z in range(3)):
            if tuple((x, y, z)[level] for level in levels) in rows:
                found |= {((x, y, z), later) for later in range(log_from, 4)}
    return found


@settings(max_examples=80)
@given(st.data())
def test_the_same_points_are_held_and_logged(data: st.DataObject) -> None:
    pieces: list[Piece] = []
    for levels, log_from in data.draw(st.lists(st.sampled_from(SHAPES), max_size=5)):
        rows = data.draw(
            st.lists(st.tuples(*[st.integers(0, 2)] * len(levels)), min_size=1, max_size=6)
        )
        pieces.append((levels, log_from, rows))
    found = gather(*pieces)
    assert points(found) == points(pieces)
    assert all(rows and rows == sorted(set(rows)) for _, _, rows in found)


def test_what_an_earlier_shape_holds_is_known() -> None:
    boxes = Regions((0, 2), 2, tuple(columns_of([(1, 9), (3, 9)], 2)))
    xs, ys, zs = columns_of([(1, 5, 9), (1, 5, 8), (3, 0, 9), (9, 3, 3)], 3)
    assert boxes.holds({0: xs, 1: ys, 2: zs}).tolist() == [True, False, True, False]
    assert Regions((), 0, ()).holds({0: xs}).all()
    assert len(boxes.holds({0: xs[:0], 2: zs[:0]})) == 0


def test_inside_is_a_matter_of_shape() -> None:
    coarse, fine = Regions((0,), 0, ()), Regions((0, 1), 1, ())
    assert fine.inside(coarse)
    assert not coarse.inside(fine)
