"""Rows that find their partners by a key: looked up, they find what a search finds, and no key
order is made for it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.errors import LimitError, ValueRangeError
from lftj.join import shared_work
from lftj.join.access import gathering, star_join
from lftj.join.access.computed_columns import _Known
from lftj.join.access.lookup_tables import Buffers, row_table
from lftj.join.run.body_query import BodyQuery
from lftj.join.run.evaluate import plan_rule, run_plan
from lftj.join.run.ladder import StarJoin
from lftj.join.strategy import Exhausted
from lftj.partition.executor import ThreadExecutor
from lftj.scantree import Arena
from lftj.tuning import Tuning
from tests.depth import enough
from tests.retuning import constants
from tests.unit.join.evaluating import surroundings, tallied
from tests.unit.join.random_rules import DOMAIN, database, random_rows, random_rule

FACTS = 40_000


ALWAYS = Tuning(columns_start=0, block_rows=7)
"""Facts are looked at however few they are, in blocks of a few, and added up where there are no
more places than facts.
"""


@constants(shared_work, _STAR_SPAN=15)
@constants(gathering, _SUMMED_ROWS=1)
def test_looking_up_finds_what_a_search_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    found = negated = counted = computed = keyed = 0
    kinds: Counter[str] = Counter()
    gathered = star_join.gathering
    monkeypatch.setattr(
        star_join,
        "gathering",
        lambda *given, **how: [
            kinds.update([type(made := gathered(*given, **how)).__name__]),
            made,
        ][1],
    )
    for seed in range(enough(8_000, 100_000)):
        by = random.Random(seed)
        rule, arena = random_rule(by), Arena()
        data = database(random_rows(by), arena)
        needed = tuple(by.sample(range(len(rule.variables)), by.randrange(len(rule.variables) + 1)))
        threads = ThreadExecutor(2, patience=1) if seed % 50 == 0 else None
        count, context = by.random() < 0.7, surroundings(arena, ALWAYS, threads=threads)
        plan = plan_rule(rule, data, context, needed=needed, count=count)
        query = BodyQuery(rule, needed, data, context, count=count)
        dear = replace(plan, choice=replace(plan.choice, cost=float("inf")))
        query.planned = (dear, data)
        lookups = StarJoin(query, None)
        if not lookups.applies() or isinstance(given := lookups.run(), Exhausted):
            continue
        rows = given.rows
        assert rows is not None
        searched = tallied(*run_plan(plan, data, context))
        expected = (
            searched if count else Counter(dict.fromkeys(searched, 1))
        )  # which may repeat in one order and not in another
        tally = tallied(*rows) if count else Counter(dict.fromkeys(tallied(*rows), 1))
        if not needed:
            tally, expected = Counter({(): int(rows[1].sum())}), Counter({(): searched[()]})
        assert tally == expected, (seed, rule)
        assert count or (rows[1] == 1).all()
        found += bool(expected)
        negated += bool(expected and rule.negated)
        computed += bool(expected and rule.assignments)
        keyed += bool(expected and lookups._stars[0].keys)
        counted += any(times > 1 for times in rows[1].tolist())
    assert found > 100
    assert negated > 20
    assert counted > 20
    assert computed > 20
    assert keyed > 5
    assert min(kinds[kind] for kind in ("Number", "Listed", "Totals")) > enough(40, 100)


VALUES = [DOMAIN, range(100), range(0, 10**12, 10**8), range(-(2**63), 2**63, 2**58)]


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("values", VALUES)
def test_a_table_finds_the_first_row_of_a_key(width: int, values: Any, ascending: bool) -> None:
    by = random.Random(width)
    for rows in (0, 1, 5, 60, 60):
        drawn = [tuple(by.choice(values) for _ in range(width)) for _ in range(rows)]
        drawn = sorted(drawn) if ascending else drawn
        drawn = list(dict.fromkeys(drawn)) if by.random() < 0.3 else drawn
        key = list(np.array(drawn, np.int64).reshape(-1, width).T.copy())
        table = row_table(key)
        first: dict[tuple[int, ...], int] = {}
        for row, of in enumerate(drawn):
            first.setdefault(of, row)
        times = Counter(drawn)
        asked = [tuple(by.choice(values) for _ in range(width)) for _ in range(150)] + drawn
        buffers = Buffers.of(len(asked))
        many = table.find(list(np.array(asked, np.int64).T.copy()), buffers)
        assert buffers.kept[:many].tolist() == [
            number for number, of in enumerate(asked) if of in first
        ]
        assert buffers.found[:many].tolist() == [first[of] for of in asked if of in first]
        if table.times is not None:
            assert table.times[buffers.found[:many]].tolist() == [
                times[of] for of in asked if of in first
            ]
        assert (table.times is None) == (len(first) == len(drawn))


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("_PlacedRows", [[3, 1, 2, 1]]),
        ("_PlacedRows", [[7, 7, 8, 7], [3, 1, 2, 0]]),
        ("_SortedRows", [[3, 3, 4, 9], [1, 2, 1, 2]]),
        ("_SortedRows", [[3, 3, 3, 9], [1, 2, 2, 2], [0, 0, 0, 5]]),
        ("_HashedRows", [[3, 3, 4, 3], [1, 2, 1, 2]]),
        ("_HashedRows", [[0, 10**12]]),
        ("_HashedRows", [[0, 0, 10**12], [0, 1, 10**12]]),
    ],
)
def test_rows_are_placed_or_left_as_they_lie_where_that_is_enough(
    kind: str, key: list[list[int]]
) -> None:
    assert type(row_table([np.array(column, np.int64) for column in key])).__name__ == kind


@pytest.mark.parametrize(
    "keys",
    [
        np.arange(4096) << 50,
        np.arange(65536) << 46,
        np.arange(65536) << 32,
        np.arange(65536) * 1_000_003,
        np.arange(4096.0).view(np.int64),
        (np.arange(30000) / 4).view(np.int64),
    ],
)
def test_keys_that_differ_in_few_bits_lie_apart(keys: np.ndarray) -> None:
    """A search looks at the slots from where its key belongs up to the next empty one."""
    table: Any = row_table([keys])
    assert type(table).__name__ == "_HashedRows"
    empty = np.flatnonzero(table._table < 0)
    assert np.diff(empty).max() < 64
    assert len(table._table) / 4 <= len(keys) <= len(table._table) / 2


STAR = """
    .decl sale(n: number, shop: number, thing: number, day: number, price: number)
    .decl shop(shop: number, town: symbol)
    .decl thing(thing: number, kind: number)
    .decl visit(shop: number, guest: number)
    .decl closed(day: number)
"""


@pytest.fixture(params=[1, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """So many look at spans of some thousand facts."""
    with constants(shared_work, _STAR_SPAN=3000):
        yield request.param


def star(threads: int = 1, **options: Any) -> Any:
    workspace = lftj.connect(
        executor=lftj.ThreadExecutor(threads, patience=1000),
        **options,
    )
    workspace.add_rules(STAR)
    workspace.load("sale", [(n, n % 100, n * 7 % 1000, n % 365, n % 97) for n in range(FACTS)])
    workspace.load("shop", [(n, "ABCDE"[n % 5]) for n in range(100)])
    workspace.load("thing", [(n, n % 20) for n in range(900)])
    workspace.load("visit", [(n % 50, n) for n in range(200)])
    workspace.load("closed", [(n,) for n in range(100, 365)])
    return workspace


@constants(shared_work, _STAR_SPAN=1)
@constants(gathering, _SUMMED_ROWS=1)
def test_spans_that_differ_by_a_row_are_gathered_alike() -> None:
    """Of 101 facts, four spans have 25, 25, 25 and 26, and there are as many groups as the last."""
    workspace = lftj.connect(executor=lftj.ThreadExecutor(2, patience=1))
    workspace.add_rules(".decl fact(n: number, g: number)\n.decl found(g: number)")
    workspace.load("fact", [(n, n % 26) for n in range(101)])
    workspace.add_rules("found(g) :- fact(_, g).")
    assert sorted(workspace["found"].fetchall()) == [(g,) for g in range(26)]


def sales() -> list[tuple[int, int, int, int, int]]:
    return [(n, n % 100, n * 7 % 1000, n % 365, n % 97) for n in range(FACTS)]


def test_a_view_of_a_star_is_looked_up_and_then_kept_up_to_date(threads: int) -> None:
    workspace = star(threads)
    workspace.add_rules("""
        .decl sold(n: number, town: symbol, kind: number)
        sold(n, x, y) :- sale(n, s, t, d, _), shop(s, x), thing(t, y), !closed(d), s != d.
        .decl total(town: symbol, n: number, sum: number)
        total(x, count(), sum(p)) :- sale(_, s, t, _, p), shop(s, x), thing(t, _), visit(s, _).
        .decl number(n: number)
        number(count()) :- sale(_, s, t, _, _), shop(s, _), thing(t, k), k > 4.
    """)
    assert workspace.memory().df().query("relation == 'sale'").shape[0] == 1
    plans = [str(workspace.plan(rule)) for rule in workspace.rules]
    assert (
        "from nothing rows of sale are read as they lie, and looked up in shop, closed, thing"
        in plans[0]
    )
    for gone in (None, 3):
        rows = [row for row in sales() if row[1] != gone]
        assert workspace["sold"].fetchall() == [
            (n, "ABCDE"[s % 5], t % 20) for n, s, t, d, _ in rows if t < 900 and d < 100 and s != d
        ]
        seen = [("ABCDE"[s % 5], p) for _, s, t, _, p in rows if t < 900 and s < 50]
        assert workspace["total"].fetchall() == [
            (town, 4 * sum(x == town for x, _ in seen), 4 * sum(p for x, p in seen if x == town))
            for town in "ABCDE"
        ]
        assert workspace["number"].fetchall() == [
            (sum(t < 900 and t % 20 > 4 for _, _, t, _, _ in rows),)
        ]
        assert workspace.verify() == []
        if gone is None:
            workspace.load("shop", [(1000, "A")])
            with workspace.transaction() as tx:
                tx.delete("shop", [(3, "D")])
            assert set(workspace.profile(last=1)["outcome"]) == {"update"}


@pytest.mark.parametrize(("facts", "looked_up"), [(400, False), (4000, True)])
def test_facts_are_looked_up_once_that_saves_more_than_it_takes_to_begin(
    facts: int, looked_up: bool
) -> None:
    workspace = lftj.connect(executor=lftj.ThreadExecutor(1))
    workspace.add_rules(STAR)
    workspace.load("sale", sales()[:facts])
    workspace.load("shop", [(n, "ABCDE"[n % 5]) for n in range(100)])
    workspace.add_rules("""
        .decl total(town: symbol, sum: number)
        total(x, sum(p)) :- sale(_, s, _, _, p), shop(s, x).
    """)
    (rule,) = workspace.rules
    assert ("looked up in shop" in str(workspace.plan(rule))) == looked_up
    assert workspace["total"].fetchall() == [
        (town, sum(p for _, s, *_, p in sales()[:facts] if "ABCDE"[s % 5] == town))
        for town in "ABCDE"
    ]


def test_a_key_that_several_rows_have_is_searched_for() -> None:
    workspace = star()
    workspace.add_rules(
        ".decl met(n: number, g: number)\nmet(n, g) :- sale(n, s, _, _, _), visit(s, g)."
    )
    assert workspace["met"].fetchall() == [
        (n, g) for n, s, *_ in sales() for g in range(s, 200, 50) if s < 50
    ]


def test_rows_without_partners_are_found_without_a_key_order_of_those_looked_through() -> None:
    workspace = star()
    workspace.load("thing", [(n, 1) for n in range(1000, 3000)])
    workspace.add_rules(".decl unsold(t: number)\nunsold(t) :- thing(t, _), !sale(_, _, t, _, _).")
    workspace.add_rules(".decl never(t: number)\nnever(t) :- thing(t, _), !sale(_, 3, t, _, _).")
    orders = workspace.memory().df().query("relation == 'sale'")
    assert len(orders) == 1, orders
    assert workspace["unsold"].fetchall() == [(t,) for t in range(1000, 3000)]
    sold = {t for _, s, t, *_ in sales() if s == 3}
    assert workspace["never"].fetchall() == [
        (t,) for t in (*range(900), *range(1000, 3000)) if t not in sold
    ]
    workspace.load("sale", [(-1, 3, 2000, 1, 1)])
    assert workspace.verify() == []


def test_what_is_sought_in_vain_for_every_row_is_looked_up_though_a_key_order_is_there() -> None:
    workspace, by = lftj.connect(executor=lftj.ThreadExecutor(1)), random.Random(1)
    edges = {(by.randrange(3000), by.randrange(3000)) for _ in range(FACTS)}
    workspace.add_rules(".decl edge(x: number, y: number)")
    workspace.load("edge", sorted(edges))
    workspace.add_rules("""
        .decl single(x: number, y: number)
        single(x, y) :- edge(x, y), !edge(y, x).
        .decl sink(y: number)
        sink(y) :- edge(_, y), !edge(y, _).
    """)
    assert all("looked up in edge" in str(workspace.plan(rule)) for rule in workspace.rules)
    assert set(workspace["single"].fetchall()) == {(x, y) for x, y in edges if (y, x) not in edges}
    assert {y for (y,) in workspace["sink"].fetchall()} == {y for _, y in edges} - {
        x for x, _ in edges
    }
    with workspace.transaction() as tx:
        tx.delete("edge", sorted(edges)[::100])
    assert workspace.verify() == []


def test_arithmetic_is_done_for_rows_that_found_their_partners(threads: int) -> None:
    workspace = star(threads)
    workspace.add_rules("""
        .decl worth(kind: number, town: symbol, sum: number)
        worth(y, x, sum(w)) :- sale(_, s, t, d, p), shop(s, x), thing(t, y), w = p * (d + y),
            100 / (y + 1) > 9, x < "D".
    """)
    expected: Counter[tuple[int, str]] = Counter()
    for _, s, t, d, p in sales():
        if t < 900 and 100 // (t % 20 + 1) > 9 and s % 5 < 3:
            expected[t % 20, "ABC"[s % 5]] += p * (d + t % 20)
    assert workspace["worth"].fetchall() == sorted(
        (*group, total) for group, total in expected.items()
    )
    with pytest.raises(ValueRangeError, match="division by zero"):
        workspace.add_rules(
            ".decl part(n: number, w: number)\npart(n, w) :- sale(n, s, _, _, p), shop(s, _), w = "
            "p / (s - 99)."
        )
    workspace.add_rules(
        ".decl rest(n: number, w: number)\nrest(n, w) :- sale(n, s, _, _, p), shop(s, _), w = p / "
        "(s - 99), s != 99."
    )
    assert len(workspace["rest"]) == FACTS * 99 // 100


def test_rows_that_only_something_is_computed_from_are_not_searched(threads: int) -> None:
    workspace = star(threads)
    workspace.add_rules("""
        .decl monthly(month: number, n: number, sum: number)
        monthly(m, count(), sum(p)) :- sale(_, _, _, d, p), m = d / 30, (p + d) % 3 != 1.
        .decl pair(n: number, w: number)
        pair(n, w) :- sale(n, s, s, _, p), w = p * 2 + 1.
    """)
    assert (workspace.profile()["steps"] <= 4 * FACTS).all()
    assert all(
        "from nothing rows of sale are read as they lie, and computed with"
        in str(workspace.plan(rule))
        for rule in workspace.rules
    )
    monthly: dict[int, list[int]] = {}
    for _, _, _, d, p in sales():
        if (p + d) % 3 != 1:
            monthly.setdefault(d // 30, []).append(p)
    assert workspace["monthly"].fetchall() == sorted(
        (month, len(prices), sum(prices)) for month, prices in monthly.items()
    )
    assert workspace["pair"].fetchall() == [(n, p * 2 + 1) for n, s, t, _, p in sales() if s == t]
    workspace.load("sale", [(-1, 5, 5, 31, 2)])
    assert workspace.verify() == []
    with pytest.raises(ValueRangeError, match="division by zero"):
        workspace.add_rules(
            ".decl part(n: number, w: number)\npart(n, w) :- sale(n, _, _, d, p), w = p / (d - "
            "100)."
        )
    with pytest.raises(LimitError), workspace.limits(work=10_000):
        workspace.add_rules(
            ".decl twice(n: number, w: number)\ntwice(n, w) :- sale(n, _, _, d, p), w = p * 2."
        )


def test_limits_hold(threads: int) -> None:
    for limits in ({"work": 10_000}, {"memory": 1}):
        workspace = star(threads)
        with pytest.raises(LimitError), workspace.limits(**limits):
            workspace.add_rules(
                ".decl sold(n: number, x: symbol)\nsold(n, x) :- sale(n, s, _, _, _), shop(s, x)."
            )
        assert "sold" not in workspace.relations


def test_a_key_that_several_rows_have_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr(star_join, "row_table", lambda key: (made.append(1), row_table(key))[1])
    # the rows that share a key are not among those of a sample
    keys = [n - (n == 3001) for n in range(FACTS)]
    workspace = lftj.connect(executor=lftj.ThreadExecutor(1))
    workspace.add_rules(".decl r(n: number, k: number, l: number)")
    workspace.load("r", [(n, key, key) for n, key in enumerate(keys)])
    workspace.add_rules(
        ".decl again(n: number, m: number)\nagain(n, m) :- r(n, k, l), r(m, k, l), n < m."
    )
    assert workspace["again"].fetchall() == [(3000, 3001)]
    assert len(made) == 1


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(st.integers(-30, 30), min_size=1, max_size=8), max_size=8),
    st.integers(1, 70),
)
def test_what_is_computed_of_a_code_is_computed_once(blocks: list[list[int]], most: int) -> None:
    known, asked = _Known(most), Counter[int]()

    def squares(codes: np.ndarray) -> np.ndarray | None:
        asked.update(set(codes.tolist()))
        return None if 13 in codes else codes * codes

    span = 1 << (most.bit_length() - 1)
    met: list[int] = []
    for block in blocks:
        codes, met = np.array(block, np.int64), met + block
        assert known.takes(codes) == (max(met) - min(met) < span)
        if max(met) - min(met) >= span:
            return
        found = known.of(codes, squares)
        assert 13 in block if found is None else (found == codes * codes).all()
    assert 13 in met or all(asked[code] == 1 for code in met)
