from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lftj
from lftj.engine.staging import Staging
from lftj.program.normal_form import RelationSchema
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion
from lftj.types import INT
from scantree.tree import Arena

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
