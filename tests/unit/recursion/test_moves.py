"""The net change over the iterations of an update."""

from __future__ import annotations

import numpy as np

from lftj.maintenance.counting.derivation_count import standing
from lftj.maintenance.counting.moves import NEVER, ComeAndGone, MovedRows, Moves
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.storage.delta import Columns
from lftj.types import INT


def _rows(*values: int) -> Columns:
    return [np.array(values, np.int64), 10 * np.array(values, np.int64)]


def _stood(*iterations: int) -> np.ndarray:
    return np.array(iterations, np.int64)


def test_rows_that_were_there_before_and_are_again_do_not_change() -> None:
    net = ComeAndGone()
    net.add(Moves(_rows(5, 7), _stood(NEVER, 3), _rows(1, 2), _stood(2, 2)))
    net.add(Moves(_rows(2, 4), _stood(NEVER, NEVER), _rows(), _stood()))
    delta = net.delta(2)
    assert [column.tolist() for column in delta.inserts] == [[4, 5], [40, 50]]
    assert [column.tolist() for column in delta.erases] == [[1], [10]]


def test_nothing_that_moves_is_no_change() -> None:
    net = ComeAndGone()
    assert len(net.delta(3)) == 0
    net.add(Moves(_rows(1), _stood(4), _rows(), _stood()))
    assert len(net.delta(2)) == 0


def test_a_move_is_a_row_as_it_was_and_as_it_is() -> None:
    moves = Moves(_rows(5, 7), _stood(NEVER, 3), _rows(1, 2), _stood(2, 6))
    *rows, words = moves.loose(2)
    assert sorted(
        zip(*(column.tolist() for column in rows), (words >> 63).tolist(), strict=True)
    ) == [
        (1, 10, -1),
        (2, 20, -1),
        (5, 50, 0),
        (7, 70, -1),
        (7, 70, 0),
    ]
    assert (~words[words < 0] >> 32).tolist() == [3, 2, 6]


def test_moved_rows_are_in_order_with_their_standings() -> None:
    rng = np.random.default_rng(1)
    columns = [
        rng.integers(0, 3, 40),
        rng.integers(0, 1 << 40, 40),
        np.repeat(standing(np.array([0, 1, 7, (1 << 31) - 1])), 10),
    ]
    columns[-1][::2] = ~columns[-1][::2]
    schema = RelationSchema("t#moved", (("a", INT), ("b", INT), ("standing", INT)))
    for order in ((1, 0, 2), (0, 1, 2), (2, 1, 0)):
        found = MovedRows(schema, Arena(), columns).tree(order).columns()
        assert np.transpose(found).tolist() == sorted(
            np.transpose([columns[i] for i in order]).tolist()
        )
