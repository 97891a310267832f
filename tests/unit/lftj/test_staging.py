from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lftj
from lftj.engine.commit import staged_rows
from lftj.engine.commit import staging as staging_module
from lftj.engine.commit.staged_rows import StagedRows
from lftj.engine.commit.staging import Staging
from lftj.program.normal_form import RelationSchema
from lftj.scantree.tree import Arena
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion
from lftj.types import INT

ARENA = Arena()
PLAIN = RelationSchema("p", (("a", INT), ("b", INT)))
KEYED = RelationSchema("k", (("b", INT), ("id", INT)), key=(1,))
row = st.tuples(st.integers(0, 3), st.integers(0, 3))
operation = st.tuples(st.sampled_from(["insert", "delete"]), st.lists(row, max_size=4))


def columns(of) -> list[np.ndarray]:
    return list(np.array(list(of), dtype=np.int64).reshape(-1, 2).T.copy())


def rows(of: list[np.ndarray]) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in of), strict=True))


def check(staging: Staging, start: set, wanted: set) -> None:
    net = staging.net()
    assert rows(net.inserts) == sorted(wanted - start)
    assert rows(net.erases) == sorted(start - wanted)
    assert rows(staging.where({})) == sorted(wanted)
    for order in [(0, 1), (1, 0)]:
        staging.committed.tree(order)
        for codes in ({0: 1}, {1: 2}, {0: 1, 1: 2}):
            assert rows(staging.where(codes)) == sorted(
                each for each in wanted if all(each[place] == code for place, code in codes.items())
            )


@given(st.sets(row), st.lists(operation, max_size=8), st.data())
def test_the_last_operation_on_a_row_wins(start, operations, data):
    staging = Staging(RelationVersion.build(PLAIN, ARENA, columns(start)))
    model = set(start)
    for name, batch in operations:
        staging.add(name, columns(batch))
        model = model | set(batch) if name == "insert" else model - set(batch)
        if data.draw(st.booleans()):
            everything = sorted((a, b) for a in range(4) for b in range(4))
            assert staging.present(columns(everything)).tolist() == [r in model for r in everything]
    check(staging, start, model)


@given(
    st.dictionaries(st.integers(0, 3), st.integers(0, 3)),
    st.lists(
        st.tuples(st.sampled_from(["upsert", "delete"]), st.lists(row, max_size=4)), max_size=8
    ),
    st.data(),
)
def test_upsert_replaces_the_row_of_its_key(start, operations, data):
    committed = {(value, key) for key, value in start.items()}
    staging = Staging(RelationVersion.build(KEYED, ARENA, columns(committed)))
    model = set(committed)
    for name, batch in operations:
        staging.add(name, columns(batch))
        for value, key in batch:
            if name == "delete":
                model.discard((value, key))
            else:
                model = {other for other in model if other[1] != key} | {(value, key)}
        if data.draw(st.booleans()):
            staging.present(columns([]))
    check(staging, committed, model)


def test_many_small_calls_settle_into_few_changes():
    staging = Staging(RelationVersion.empty(PLAIN, ARENA))
    for i in range(200):
        staging.add("insert" if i % 3 else "delete", columns([(i, 0)]))
        staging.present(columns([(i, 0)]))
    assert len(staging._resolved) <= 8
    assert staging.net().inserted == 133


def test_asking_for_the_net_change_twice_gives_it_twice():
    staging = Staging(RelationVersion.build(PLAIN, ARENA, columns([(1, 1)])))
    staging.add("insert", columns([(1, 1), (2, 2)]))
    assert rows(staging.net().inserts) == rows(staging.net().inserts) == [(2, 2)]


def test_rows_that_were_asked_for_are_looked_up_once(monkeypatch):
    committed = RelationVersion.build(PLAIN, ARENA, columns([(1, 1), (2, 2)]))
    staging = Staging(committed)
    asked = []
    looked_up = RelationVersion.contains
    monkeypatch.setattr(
        RelationVersion,
        "contains",
        lambda self, rows: asked.append(len(rows[0])) or looked_up(self, rows),
    )
    wanted = columns([(3, 3), (4, 4)])
    assert not staging.present(wanted).any()
    staging.add("insert", wanted)
    assert rows(staging.net().inserts) == [(3, 3), (4, 4)]
    assert asked.count(2) == 1


wide = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))


@given(st.sets(wide), st.sets(st.integers(0, 3)), st.sets(st.tuples(*[st.integers(0, 3)] * 2)))
def test_staged_rows_are_found_by_any_of_their_columns(there, firsts, pairs):
    """More of them than are looked through, so orders are made, and used again."""
    filling = {(-i, -i, -i) for i in range(1, 100)}
    inserts = [np.array(column, np.int64) for column in zip(*sorted(there | filling), strict=True)]
    change, staged = Delta(inserts, [column[:0] for column in inserts]), StagedRows()
    for place in range(3):
        for code in (0, 2):
            found = staged.having(change, {place: code, 2: 1})
            code = 1 if place == 2 else code
            assert rows(found) == sorted(r for r in there if r[place] == code and r[2] == 1)
        keys = [np.array(sorted(firsts), np.int64)]
        found = staged.with_keys(change, (place,), keys)
        assert rows(found) == sorted(r for r in there if r[place] in firsts)
    found = staged.with_keys(change, (2, 0), columns(sorted(pairs)))
    assert rows(found) == sorted(r for r in there if (r[2], r[0]) in pairs)


@pytest.mark.parametrize("between", ["nothing", "inserts", "upserts", "policies"])
def test_many_small_calls_take_work_in_proportion_to_their_number(monkeypatch, between):
    """Rows that are merged, sorted and looked through, and look-ups that are remembered."""
    work = 0
    then, sort = Delta.then, staged_rows.sort_order

    def counted(of, rows, result):
        nonlocal work
        work += rows
        return result(of)

    monkeypatch.setattr(
        Delta,
        "then",
        lambda self, other: counted(other, len(self) + len(other), partial(then, self)),
    )
    monkeypatch.setattr(
        staged_rows, "sort_order", lambda columns: counted(columns, len(columns[0]), sort)
    )
    monkeypatch.setattr(
        staging_module,
        "having",
        lambda rows, codes: counted(rows, len(rows[0]), partial(staged_rows.having, codes=codes)),
    )
    committed = RelationVersion.build(KEYED, ARENA, columns((i, i) for i in range(3000)))
    committed.tree((0, 1))

    def calls(number: int) -> int:
        nonlocal work
        work, staging = 0, Staging(committed)
        for i in range(number):
            row = columns([(5000 + i, 5000 + i)])
            if between == "policies":
                staging.refuse(row, True, lftj.types.dictionary.Dictionary())
            elif between == "upserts":
                staging.add("upsert", row)
            elif between == "inserts":
                staging.add("insert", row)
            staging.add("delete", staging.where({i % 2: i}))
            work += len(staging._asked)
        assert staging.net().erased == number
        return work

    assert calls(1200) < 2.5 * calls(600)


@pytest.mark.parametrize("verb", ["insert", "delete"])
@pytest.mark.parametrize("known", [0, 1, 50, 199, 200])
def test_what_is_applied_is_the_net_change_whatever_was_there(verb, known):
    there = {(i, i % 3) for i in range(0, 3 * known, 3)} | {(-i, 0) for i in range(1, 500)}
    asked = {(i, i % 3) for i in range(0, 600, 3)}
    start = there if verb == "insert" else there | asked
    committed = RelationVersion.build(PLAIN, ARENA, columns(start))
    staging = Staging(committed)
    staging.add(verb, columns(asked))
    if verb == "delete" and known:
        staging.add(verb, columns({(1000 + i, 0) for i in range(known)}))
    delta, after = staging.applied(committed)
    assert rows(delta.inserts) == (sorted(asked - start) if verb == "insert" else [])
    assert rows(delta.erases) == ([] if verb == "insert" else sorted(asked))
    assert rows(after.columns()) == sorted(start | asked if verb == "insert" else start - asked)


def test_rows_that_all_are_news_are_not_looked_up(monkeypatch):
    committed = RelationVersion.build(PLAIN, ARENA, columns({(i, 0) for i in range(2000)}))
    looked_up, asked = RelationVersion.contains, []
    monkeypatch.setattr(
        RelationVersion,
        "contains",
        lambda self, rows: asked.append(len(rows[0])) or looked_up(self, rows),
    )
    for verb, gone in (("insert", 1), ("delete", 0)):
        staging = Staging(committed)
        staging.add(verb, columns({(i, gone) for i in range(1000)}))
        assert len(staging.applied(committed)[0]) == 1000
    assert sum(asked) < 100


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("at", range(1, 6))
def test_what_fails_in_the_middle_loses_no_operation(monkeypatch, trouble, at):
    staging = Staging(RelationVersion.build(PLAIN, ARENA, columns([(0, 0), (0, 1)])))
    wanted = {(0, 0), (0, 1)}
    for name, batch in [
        ("insert", {(1, 1), (1, 2)}),
        ("delete", {(0, 0), (1, 2)}),
        ("insert", {(3, 3)}),
        ("delete", {(0, 1)}),
    ]:
        staging.add(name, columns(batch))
        wanted = wanted | batch if name == "insert" else wanted - batch
    left, calls = at, Delta.then

    def failing(change, other):
        nonlocal left
        left -= 1
        if left == 0:
            raise trouble
        return calls(change, other)

    monkeypatch.setattr(Delta, "then", failing)
    with suppress(trouble):
        staging.where({0: 1})
    check(staging, {(0, 0), (0, 1)}, wanted)


@pytest.mark.parametrize(
    ("value", "remedy"), [(None, "so no row has it"), (2.5, None)], ids=["NULL", "another type"]
)
def test_a_value_to_delete_by_that_no_row_can_have_is_told_with_its_column(
    value: object, remedy: str | None
):
    workspace = lftj.connect()
    workspace.relation("r", {"x": int, "s": str})
    with (
        workspace.transaction() as transaction,
        pytest.raises(lftj.LftjError, match="in column `x` of `r`") as caught,
    ):
        transaction.delete_where("r", x=value)
    assert remedy is None or remedy in str(caught.value)
