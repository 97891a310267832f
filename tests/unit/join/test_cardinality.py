"""Estimates of distinct values: what samples are counted as, and for which relations they are
remembered.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from lftj.join.kernels.statistics_kernels import count_values
from lftj.join.plan.cardinality import Statistics, seems_key
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.tuning import DEFAULT
from lftj.types import INT

SCHEMA = RelationSchema("t", (("x", INT), ("y", INT)))


def test_values_are_counted_and_those_that_occur_once_and_pairs():
    by = random.Random(3)
    for rows in (0, 1, 2, 3, 10, 100):
        lines = np.array(
            [sorted(by.choices(range(-5, most), k=rows)) for most in (-4, 0, 20, 1000)], np.int64
        )
        counts = np.empty((len(lines), 3), np.int64)
        count_values(lines, counts)
        for line, (distinct, once, pairs) in zip(lines.tolist(), counts.tolist(), strict=True):
            assert distinct == len(set(line))
            assert once == sum(line.count(value) == 1 for value in line)
            assert pairs == sum(math.comb(line.count(value), 2) for value in set(line))


def test_few_rows_are_known_exactly():
    columns = [np.arange(60), np.arange(60) % 7]
    for relation in (
        RelationVersion.build(SCHEMA, Arena(), columns),
        TransientRelation(SCHEMA, Arena(), columns),
    ):
        assert Statistics().of(relation).distinct == (60, 7)


@pytest.mark.parametrize("values", [600, 3_000, 32_000])
def test_values_that_all_have_as_many_rows_are_estimated_closely(values: int):
    rows = np.random.default_rng(values).integers(0, values, (2, 80_000))
    about = Statistics().of(RelationVersion.build(SCHEMA, Arena(), list(rows))).distinct
    assert about == pytest.approx((values, values), rel=0.4)


def test_values_of_a_few_rows_side_by_side_are_more_than_a_sample_repeats():
    rows = [np.repeat(np.arange(300_000), 4), np.tile(np.arange(4), 300_000)]
    about = Statistics().of(RelationVersion.build(SCHEMA, Arena(), rows)).distinct
    assert about == pytest.approx((300_000, 4), rel=0.4)


@pytest.mark.parametrize("times", [2, 4, 30])
def test_values_that_ascend_with_the_rows_are_hardly_more_than_differ_side_by_side(times: int):
    rows = np.arange(20_000)
    relation = RelationVersion.build(SCHEMA, Arena(), [rows, rows // times])
    about = Statistics().of(relation)
    assert about.distinct[0] == 20_000
    assert about.distinct[1] == pytest.approx(20_000 / times, rel=0.5)
    assert about.crowds[1] == pytest.approx(times, rel=0.5)
    assert seems_key(relation, [0], DEFAULT)
    assert not seems_key(relation, [1], DEFAULT)


@pytest.mark.parametrize("times", [1, 2, 100])
def test_a_column_whose_values_lie_side_by_side_is_no_key(times: int):
    rows = np.arange(1_000_000)
    relation = RelationVersion.build(SCHEMA, Arena(), [rows // times, rows % times])
    assert seems_key(relation, [0], DEFAULT) == (times == 1)
    assert seems_key(relation, [0, 1], DEFAULT)


def test_a_row_s_value_is_one_that_many_rows_have():
    few, many = np.arange(900), np.zeros(100, np.int64)
    about = Statistics().of(
        TransientRelation(SCHEMA, Arena(), [np.arange(1000), np.concatenate([few, many])])
    )
    assert about.crowds == pytest.approx((1.0, (899 + 101 * 101) / 1000))


def test_values_of_many_rows_are_known_with_their_shares():
    about = Statistics().of(
        TransientRelation(
            SCHEMA, Arena(), [np.arange(100), np.repeat([7, -2, 5, 9], [3, 40, 4, 53])]
        )
    )
    assert about.sample is not None
    assert [about.sample.frequent(column) for column in (0, 1)] == [{}, {-2: 0.4, 5: 0.04, 9: 0.53}]
    none = Statistics().of(RelationVersion.empty(SCHEMA, Arena())).sample
    assert none is not None
    assert none.frequent(0) == {}
    assert none.spread(0) == []


def test_values_at_equal_distances_are_known():
    about = Statistics().of(
        TransientRelation(SCHEMA, Arena(), [np.arange(1000)[::-1], np.arange(1000) // 500])
    )
    assert about.sample is not None
    spread = about.sample.spread(0)
    assert len(spread) == 33
    assert [*spread[:3], spread[-1]] == pytest.approx([0, 31, 62, 999], abs=1)
    assert set(about.sample.spread(1)) == {0, 1}
    two = (
        Statistics()
        .of(TransientRelation(SCHEMA, Arena(), [np.array([5, 3]), np.array([7, 7])]))
        .sample
    )
    assert two is not None
    assert (two.spread(0), two.spread(1)) == ([3, 5], [7, 7])


def test_loose_rows_leave_what_is_known_of_a_relation_of_their_name():
    arena, statistics = Arena(), Statistics()
    relation = RelationVersion.build(SCHEMA, arena, [np.arange(500), np.arange(500)])
    about = statistics.of(relation)
    assert statistics.of(TransientRelation(SCHEMA, arena, [np.arange(2), np.arange(2)])).rows == 2
    assert statistics.of(relation) is about
    grown = relation.apply(
        RelationVersion.build(SCHEMA, arena, [np.arange(500, 900), np.arange(400)]).difference(
            RelationVersion.empty(SCHEMA, arena)
        )
    )
    assert statistics.of(grown).rows == 900
