"""Groups totalled batch by batch: exactly what all assignments together come to, in any batches,
put together in any way.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

import lftj.heads.group_bounds as group_bounds
import lftj.heads.grouping as grouping
import lftj.heads.waiting_rows as waiting_rows
from lftj.errors import LimitError, ValueRangeError
from lftj.heads.aggregate_shape import AggregateShape, CallShape
from lftj.heads.ends import End
from lftj.heads.float_sum import ExactSum
from lftj.heads.grouped_results import additive, results, totalled
from lftj.heads.grouping import Grouping
from lftj.heads.grouping_kernels import add_extremes, add_missing
from lftj.partition.executor import ThreadExecutor
from lftj.types import FLOAT, INT, NULL_CODE, STR, Type, codes_to_floats, floats_to_codes

GREAT = (2**63 - 1, -(2**63), 2**62, -1, 0, 1, 2**31, -(2**31))
FLOATS = (1e16, 1.0, -1e16, 0.1, 5e-324, 1e300, -1e300, 0.0, 2.0**-1074, -0.3, 1.5e308)
FUNCTIONS = (("count", ()), ("sum", (2,)), ("mean", (2,)), ("min", (2,)), ("max", (2,)))
BY_KEYS = (("arg_max", (2, 1)), ("first", (0, 3, 2)))
OF_FLOATS = (("sum", (3,)), ("mean", (3,)), ("min", (3,)), ("max", (3,)))


def shape_of(width: int) -> AggregateShape:
    """Two columns, the first `width` of which are the group, then an int and a float, and every
    function of these.
    """
    types = (INT, INT, INT, FLOAT)
    calls = tuple(
        CallShape(function, args, tuple(types[arg] for arg in args), INT if whole else FLOAT)
        for functions, whole in ((FUNCTIONS, True), (OF_FLOATS, False), (BY_KEYS, True))
        for function, args in functions
    )
    return AggregateShape((0, 1, 2, 3), types, width, tuple(range(width)), calls, ())


def drawn(by: random.Random, rows: int, groups: int, *, once: bool) -> list[np.ndarray]:
    """Columns of assignments and their counts."""
    values = [
        by.choice(GREAT) if by.random() < 0.3 else by.randrange(-1000, 1000) for _ in range(rows)
    ]
    floats = [
        by.choice(FLOATS[:9] if by.random() < 0.9 else FLOATS)
        if by.random() < 0.3
        else round(by.uniform(0, 1000), 2)
        for _ in range(rows)
    ]
    counts = [1 if once else by.choice((1, 2, 3, 2**40)) for _ in range(rows)]
    return [
        np.array([by.randrange(groups) for _ in range(rows)], np.int64),
        np.array([by.randrange(-2, 2) for _ in range(rows)], np.int64),
        np.array(values, np.int64),
        floats_to_codes(np.array(floats)),
        np.array(counts, np.int64),
    ]


def expected(columns: list[np.ndarray], width: int) -> dict[tuple[int, ...], list[object]]:
    """The number, the sum of ints, their least and greatest, the same of floats, and the ends by
    keys, by group.
    """
    rows: dict[tuple[int, ...], list[tuple[int, float, int]]] = defaultdict(list)
    keyed: dict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
    for row in zip(*[column.tolist() for column in columns[:4]], strict=True):
        keyed[row[:width]].append(row)
    lines = zip(*[column.tolist() for column in columns[:3]], *_numbers(columns), strict=True)
    for first, second, value, number, count in lines:
        rows[(first, second)[:width]].append((value, number, count))
    found: dict[tuple[int, ...], list[object]] = {}
    for group, members in rows.items():
        total = ExactSum()
        for _, number, count in members:
            total.add(number, count)
        values, numbers = [row[0] for row in members], [row[1] for row in members]
        found[group] = [
            sum(count for *_, count in members),
            sum(value * count for value, _, count in members),
            (min(values), max(values), min(numbers), max(numbers)),
            total,
            max((second, value) for _, second, value, _ in keyed[group]),
            min((number, value, first) for first, _, value, number in keyed[group]),
        ]
    return found


def _numbers(columns: list[np.ndarray]) -> list[list[float]]:
    return [codes_to_floats(columns[3]).tolist(), columns[4].tolist()]


def gathered(
    columns: list[np.ndarray],
    width: int,
    cuts: list[int],
    *,
    apart: bool,
    once: bool,
    shape: AggregateShape | None = None,
) -> Grouping:
    """The groups of these assignments in batches, in one grouping or in one for each batch."""
    shape = shape or shape_of(width)
    parts = [Grouping(shape, lambda size: None, ThreadExecutor(2 if apart else 1))]
    for low, high in zip([0, *cuts], [*cuts, len(columns[0])], strict=True):
        if apart:
            parts.append(Grouping(shape, lambda size: None))
        batch = {number: column[low:high] for number, column in enumerate(columns[:4])}
        parts[-1].add(batch, high - low, None if once else columns[4][low:high])
    for other in parts[1:]:
        parts[0].absorb(other)
    return parts[0]


@pytest.mark.parametrize("width", [0, 1, 2])
@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("hashed", [grouping._HASHED, 3])
def test_totals_are_those_of_all_assignments(
    width: int, once: bool, apart: bool, hashed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "_HASHED", hashed)
    for seed in range(20):
        by = random.Random(seed)
        monkeypatch.setattr(group_bounds, "_CODED", by.choice((1, 1000, 1 << 20)))
        monkeypatch.setattr(grouping, "_SORTED", by.choice((1, 1000, 10_000)))
        monkeypatch.setattr(grouping, "_TELLING", by.choice((1, 100, 10_000)))
        monkeypatch.setattr(waiting_rows, "_PIECE", by.choice((1, 70, 10_000)))
        rows = by.choice((1, 7, 300, 3000))
        columns = drawn(by, rows, by.choice((1, 5, 2000)), once=once)
        if by.random() < 0.4:  # in the order of their groups, as a sorted table has them
            order = np.lexsort(columns[1::-1])
            columns = [column.take(order) for column in columns]
        cuts = sorted(by.randrange(rows + 1) for _ in range(by.randrange(4)))
        totals = gathered(columns, width, cuts, apart=apart, once=once).totals()
        wanted = expected(columns, width)
        keys = list(zip(*totals.groups.tolist(), strict=True)) if width else [()]
        assert keys == sorted(wanted)
        ends = {
            end: list(zip(*[codes.tolist() for codes in columns], strict=True))
            for end, columns in totals.extremes.items()
        }
        for place, key in enumerate(keys):
            count, whole, extremes, floats, *by_keys = wanted[key]
            assert by_keys == [ends[End((1, 2), True)][place], ends[End((3, 2, 0), False)][place]]
            high, low = (int(word[place]) for word in totals.integers[2])
            assert (int(totals.counts[place]), (high << 63) + low) == (count, whole)
            of_ints, of_floats = (
                [ends[End((arg,), greatest)][place][0] for greatest in (False, True)]
                for arg in (2, 3)
            )
            assert extremes == (*of_ints, *codes_to_floats(np.array(of_floats)))
            codes, counts, starts = totals.floats[3]
            end = starts[place + 1] if place + 1 < len(starts) else len(codes)
            bag = ExactSum()
            run = slice(int(starts[place]), int(end))
            for number, times in zip(codes_to_floats(codes[run]), counts[run], strict=True):
                bag.add(float(number), int(times))
            assert isinstance(floats, ExactSum)
            assert bag.parts == floats.parts


@pytest.mark.parametrize("width", [0, 1, 2])
@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize("apart", [True, False])
def test_results_of_optional_columns_are_those_of_the_rows_with_values(
    width: int, once: bool, apart: bool
) -> None:
    plain = shape_of(width)
    types = tuple(replace(type, optional=True) for type in plain.types)
    calls = [
        CallShape(function, args, tuple(types[arg] for arg in args), result)
        for function, args, result in (
            *((each.function, each.args, each.result) for each in plain.calls if each.args),
            ("count", (3,), INT),
            ("arg_min", (1, 2), INT),
            ("first", (2, 3), INT),
        )
        if (function, args) != ("sum", (2,))  # which leaves its type; its mean does not
    ]
    shape = replace(plain, types=types, calls=tuple(calls))
    for seed in range(8):
        by = random.Random(seed)
        columns = drawn(by, by.choice((1, 7, 300)), by.choice((1, 5, 200)), once=once)
        columns[3] = floats_to_codes(np.array([by.choice(FLOATS[:5]) for _ in columns[3]]))
        for column in range(width, 4):
            least = [by.random() < 0.3 for _ in columns[column]]
            columns[column] = np.where(least, NULL_CODE, columns[column])
        cuts = sorted(by.randrange(len(columns[0]) + 1) for _ in range(by.randrange(3)))
        found = gathered(columns, width, cuts, apart=apart, once=once, shape=shape).totals()
        keys = list(zip(*found.groups.tolist(), strict=True)) if width else [()]
        for call, column in zip(calls, results(found, shape, str), strict=True):
            there = np.logical_and.reduce([columns[arg] != NULL_CODE for arg in call.optional])
            nothing = 0 if call.function == "count" else NULL_CODE
            expected = dict.fromkeys(keys, nothing)
            if there.any():
                rows = [column[there] for column in columns]
                alone = replace(plain, calls=(replace(call, types=tuple(map(_plain, call.types))),))
                totals = gathered(rows, width, [], apart=False, once=once, shape=alone).totals()
                groups = zip(*totals.groups.tolist(), strict=True) if width else [()]
                expected |= dict(zip(groups, results(totals, alone, str)[0].tolist(), strict=True))
            assert dict(zip(keys, column.tolist(), strict=True)) == expected, call


def _plain(type: Type) -> Type:
    return replace(type, optional=False)


def test_results_are_rounded_once_and_have_their_types() -> None:
    columns = [np.zeros(3, np.int64)] * 2
    columns += [np.array([1, 2, 4]), floats_to_codes(np.array([1e16, 1.0, -1e16]))]
    found = results(
        gathered([*columns, np.ones(3, np.int64)], 1, [1], apart=False, once=True).totals(),
        shape_of(1),
        str,
    )
    whole, floats = [int(column[0]) for column in found], codes_to_floats(np.concatenate(found))
    assert (whole[0], whole[1], floats[2], whole[3], whole[4]) == (3, 7, 7 / 3, 1, 4)
    assert floats[5:9].tolist() == [1.0, 1 / 3, -1e16, 1e16]


def test_few_rows_are_kept_of_sums_that_two_doubles_hold() -> None:
    by = np.random.default_rng(1)
    rows = 20_000
    columns = [by.integers(0, 50, rows), np.zeros(rows, np.int64), by.integers(0, 9, rows)]
    columns += [floats_to_codes(np.round(by.random(rows) * 1000, 2)), np.ones(rows, np.int64)]
    bag = gathered(columns, 1, [], apart=False, once=True).totals().floats[3]
    assert len(bag.codes) <= 100


def test_infinities_are_added_last_and_a_sum_without_value_is_an_error() -> None:
    columns = [np.zeros(2, np.int64)] * 3
    columns += [floats_to_codes(np.array([np.inf, 1.0])), np.ones(2, np.int64)]
    found = gathered(columns, 1, [], apart=False, once=True)
    assert codes_to_floats(results(found.totals(), shape_of(1), str)[5]).tolist() == [np.inf]
    columns[3] = floats_to_codes(np.array([np.inf, -np.inf]))
    with pytest.raises(ValueRangeError, match=r"sum 0: the sum has both \+inf and -inf"):
        results(gathered(columns, 1, [], apart=False, once=True).totals(), shape_of(1), str)


def test_a_count_beyond_the_range_is_an_error() -> None:
    grouping = Grouping(shape_of(0), lambda size: None)
    batch = {column: np.zeros(2, np.int64) for column in range(4)}
    with pytest.raises(ValueRangeError, match="2⁶³ ways"):
        grouping.add(batch, 2, np.array([2**62, 2**62]))


def test_memory_of_groups_is_told_and_may_be_refused() -> None:
    def held(size: int) -> None:
        if size > 100_000:
            raise LimitError("too much", hint="ask for less")

    grouping = Grouping(shape_of(1), held)
    few = {column: np.arange(100) for column in range(4)}
    grouping.add(few, 100, None)
    many = {column: np.arange(10_000) for column in range(4)}
    with pytest.raises(LimitError):
        grouping.add(many, 10_000, None)


def test_heads_that_are_totalled() -> None:
    def head(*calls: CallShape) -> AggregateShape:
        return AggregateShape((0,), (INT,), 0, (), calls, ())

    count, least = CallShape("count", (), (), INT), CallShape("min", (0,), (INT,), INT)
    text = CallShape("min", (0,), (STR,), STR)
    assert [additive(head(count, each)) for each in (count, least, text)] == [True, False, False]
    assert [totalled(head(count, each)) for each in (count, least, text)] == [True, True, False]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("width", [1, 2])
def test_groups_that_come_in_their_order_have_few_tables(
    width: int, descending: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, fill = list[int](), Grouping._fill

    def counted(self: Grouping, room: int) -> None:
        tables.append(room)
        fill(self, room)

    monkeypatch.setattr(Grouping, "_fill", counted)
    made = Grouping(shape_of(width), lambda _: None)
    batches, rows = 200, 100
    for batch in range(-batches // 2, batches // 2):
        first = np.arange(batch * rows, (batch + 1) * rows) // 2 * (-1 if descending else 1)
        found = {0: first, 1: first % 2, 2: first, 3: floats_to_codes(np.ones(rows))}
        made.add(found, rows, None)
    totals = made.totals()
    groups = batches * rows // 2
    assert totals.counts.sum() == batches * rows
    assert len(totals.counts) in (groups, groups + 1)
    assert len(tables) < 40


def test_room_beside_bounds_holds_them_and_stays_within_words() -> None:
    low, high = -(2**63), 2**63 - 1
    for bounds, before in (
        ([(0, 9)], [(3, 9)]),
        ([(low, low + 9)], [(low + 5, low + 6)]),
        ([(high - 9, high), (-5, 5)], [(high - 9, high - 2), (-5, 5)]),
        ([(0, 1 << 19)], [(0, 9)]),
        ([(0, (1 << 20) - 1)], [(0, 9)]),
    ):
        wider = group_bounds.with_room(bounds, before)
        assert group_bounds.has_slots(wider)
        for (least, most), (given, last) in zip(wider, bounds, strict=True):
            assert low <= least <= given <= last <= most <= high
    assert group_bounds.with_room([(0, 9)], [(0, 4)]) == [(0, 18)]
    assert group_bounds.with_room([(0, 9)], []) == [(0, 9)]


@pytest.mark.parametrize("longest", [1, 5, 40])
@pytest.mark.parametrize("once", [True, False])
def test_rows_with_null_are_counted_in_runs_of_a_group(longest: int, once: bool):
    draw = np.random.default_rng(longest)
    places = np.repeat(draw.integers(0, 4, 60), draw.integers(1, longest + 1, 60))
    codes = np.where(draw.random(len(places)) < 0.3, NULL_CODE, 7)
    times = np.ones(1, np.int64) if once else draw.integers(1, 5, len(places))
    states = np.zeros(3 * 4, np.int64)
    assert not add_missing(places, codes, times, states, 3, 2, True)
    weights = np.broadcast_to(times, len(places))
    missing = weights * (codes == NULL_CODE)
    for column, expected in ((0, weights), (1, 0 * weights), (2, missing)):
        assert states[column::3].tolist() == np.bincount(places, expected, 4).tolist()
    states[0] = 2**63 - 2
    zeros = np.zeros(16, np.int64)
    assert add_missing(zeros, zeros, np.ones(1, np.int64), states, 3, 2, True), "it leaves int64"


@pytest.mark.parametrize("greatest", [True, False])
@pytest.mark.parametrize("optional", [0, 1])
def test_ends_of_groups_are_of_rows_with_values(optional: int, greatest: bool):
    draw = np.random.default_rng(optional)
    places, rows = draw.integers(0, 5, 200), draw.integers(-9, 9, (2, 200))
    rows[optional, draw.random(200) < 0.5] = NULL_CODE
    states = np.full(2 * 5, NULL_CODE if greatest else 2**63 - 1)
    last = optional == 0 and not greatest
    add_extremes(places, rows, states, 2, 0, greatest, rows[optional].copy(), last)
    for group in range(5):
        here = rows[:, (places == group) & (rows[optional] != NULL_CODE)]
        end = (max if greatest else min)(zip(*here.tolist(), strict=True))
        assert states[2 * group : 2 * group + 2].tolist() == list(end)
