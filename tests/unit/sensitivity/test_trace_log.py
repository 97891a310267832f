"""From the kernel's records to intervals by position."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from lftj.sensitivity import EXACT, Granularity, TraceLog, hull, projected, trace_log
from lftj.sensitivity.coverage import consolidated
from lftj.sensitivity.trace_log import interval_columns
from tests.unit.scantree.trees import rows_of
from tests.unit.sensitivity.bodies import body

SHAPE = body(3, "G 0 2, H 1 2, I 0 1 2, R 2").shape
G_Z, H_Y, R_Z = SHAPE.by_key[0, 1], SHAPE.by_key[1, 0], SHAPE.by_key[3, 0]
RECORDS = np.array(
    # channel, low, high, x, y, z
    [
        [0, 5, 7, 1, 2, -9],
        [1, 1, 4, 1, -9, -9],
        [2, 0, 0, 1, 2, -9],
        [0, 7, 8, 1, 2, -9],
        [1, 3, 9, 2, -9, -9],
    ]
).T


def test_alpha_comes_first_and_gamma_last() -> None:
    assert rows_of(interval_columns(RECORDS, G_Z, 0)) == [(1, 5, 7, 2), (1, 7, 8, 2)]
    assert rows_of(interval_columns(RECORDS, H_Y, 1)) == [(1, 4, 1), (3, 9, 2)]
    assert rows_of(interval_columns(RECORDS, R_Z, 2)) == [(0, 0, 1, 2)]


def test_a_log_sorts_records_by_position_and_copies_them() -> None:
    log = TraceLog([(G_Z, EXACT), (H_Y, hull()), (R_Z, projected(1))])
    buffer = RECORDS.copy()
    log(buffer[:, :3])
    log(buffer[:, 3:])
    buffer[:] = 0
    found = {key: rows_of(columns) for key, columns in log.columns().items()}
    assert found == {
        (0, 1): [(1, 5, 7, 2), (1, 7, 8, 2)],
        (1, 0): [(1, 4, 1), (3, 9, 2)],
        (3, 0): [(0, 0, 1)],
    }
    assert log.records == 5


def test_a_log_of_one_position_takes_all_records() -> None:
    log = TraceLog([(H_Y, EXACT)])
    log(RECORDS[:, RECORDS[0] == 1])
    assert rows_of(log.columns()[1, 0]) == [(1, 4, 1), (3, 9, 2)]


def test_parts_of_a_run_are_logged_apart_and_put_together() -> None:
    whole = TraceLog([(G_Z, EXACT), (H_Y, hull()), (R_Z, projected(1))])
    for records in (RECORDS[:, :2], RECORDS[:, 2:]):
        part = whole.fresh()
        part(records)
        whole.absorb(part)
    found = {key: rows_of(columns) for key, columns in whole.columns().items()}
    assert found == {
        (0, 1): [(1, 5, 7, 2), (1, 7, 8, 2)],
        (1, 0): [(1, 4, 1), (3, 9, 2)],
        (3, 0): [(0, 0, 1)],
    }
    assert whole.records == 5


def test_a_log_is_merged_only_when_it_has_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    merged: list[int] = []

    def counted(
        columns: list[np.ndarray], alpha: int, granularity: Granularity
    ) -> list[np.ndarray]:
        merged.append(len(columns[0]))
        return consolidated(columns, alpha, granularity)

    monkeypatch.setattr(trace_log, "_PENDING", 50)
    monkeypatch.setattr(trace_log, "consolidated", counted)
    log = TraceLog([(G_Z, EXACT)])
    for low in range(0, 8000, 80):
        lows = np.arange(low, low + 80, 2)
        log(np.vstack([lows * 0, lows, lows, lows * 0, lows * 0, lows * 0]))
    assert len(log.columns()[0, 1][0]) == 4000
    assert all(later > 2 * before for before, later in pairwise(merged))


def test_positions_without_records_are_left_out() -> None:
    log = TraceLog([(G_Z, EXACT), (H_Y, EXACT)])
    log(RECORDS[:, :1])
    log(RECORDS[:, :0])
    assert list(log.columns()) == [(0, 1)]


@pytest.mark.parametrize("granularity", [EXACT, hull(), hull(2), projected(1)], ids=str)
def test_a_log_that_is_merged_on_the_way_says_the_same(
    granularity: Granularity, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    low = rng.integers(0, 1000, 4000)
    records = np.vstack([np.zeros(4000, np.int64), low, low + 3, rng.integers(0, 5, (3, 4000))])
    whole = TraceLog([(G_Z, granularity)])
    whole(records)
    monkeypatch.setattr(trace_log, "_PENDING", 50)
    pieces = TraceLog([(G_Z, granularity)])
    for start in range(0, 4000, 37):
        pieces(records[:, start : start + 37])
    logged = pieces.columns()[0, 1]
    expected = consolidated(whole.columns()[0, 1], 1, granularity)
    got = consolidated(logged, 1, granularity)
    # the smallest gaps depend on the earlier records: only the covered values are compared
    if granularity.intervals == 2:
        contexts = {(row[0], row[3]) for row in rows_of(expected)}
        assert {(row[0], row[3]) for row in rows_of(got)} == contexts
    else:
        assert rows_of(got) == rows_of(expected)
    assert len(logged[0]) < 4000
