"""Key orders that wait: the same rows as those brought forward at every change, read late, early or
never.
"""

from __future__ import annotations

import threading

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.program.normal_form import RelationSchema
from lftj.scantree.tree import Arena, Tree
from lftj.storage import index
from lftj.storage.delta import Delta
from lftj.storage.index import LazyIndex
from lftj.storage.relation import RelationVersion
from lftj.types import INT

PAIR = RelationSchema("r", (("a", INT), ("b", INT)))
BACK = (1, 0)
ARENA = Arena()
row = st.tuples(st.integers(0, 5), st.integers(0, 5))


def columns(of) -> list[np.ndarray]:
    return list(np.array(sorted(of), dtype=np.int64).reshape(-1, 2).T.copy())


def rows(tree: Tree) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in tree.columns()), strict=True))


def backwards(of) -> list[tuple[int, int]]:
    return sorted((b, a) for a, b in of)


def version_of(of) -> RelationVersion:
    version = RelationVersion.build(PAIR, ARENA, columns(of))
    version.tree(BACK)
    return version


@settings(max_examples=60, deadline=None)
@given(
    st.sets(row, min_size=8),
    st.lists(st.tuples(st.sets(row), st.sets(row)), min_size=1, max_size=8),
    st.data(),
)
def test_every_version_has_its_rows_in_whatever_sequence_they_are_read(start, steps, data):
    model = set(start)
    history = [(version_of(model), set(model))]
    for wanted, unwanted in steps:
        new, gone = wanted - model, (unwanted & model) - wanted
        model = (model | new) - gone
        history.append((history[-1][0].apply(Delta(columns(new), columns(gone))), set(model)))
        if data.draw(st.booleans()):
            version, then = data.draw(st.sampled_from(history))
            assert rows(version.tree(BACK)) == backwards(then)
    for version, then in data.draw(st.permutations(history)):
        assert rows(version.tree(BACK)) == backwards(then)


def test_an_order_that_no_one_reads_is_not_brought_forward_but_still_listed(monkeypatch):
    version = version_of({(i, -i) for i in range(100)})
    applied = []
    apply = Tree.apply
    monkeypatch.setattr(
        Tree, "apply", lambda self, *given: applied.append(self) or apply(self, *given)
    )
    for i in range(100, 110):
        version = version.apply(Delta.insertion(columns({(i, -i)})))
    assert len(applied) == 10  # the identity alone
    assert version.orders() == ((0, 1), BACK)
    assert version.memory() == {(0, 1): 8 * 110 * 2, BACK: 8 * 110 * 2}
    assert rows(version.tree(BACK)) == backwards({(i, -i) for i in range(110)})
    assert len(applied) == 11
    assert version.tree(BACK) is version.tree(BACK)


def test_what_waits_is_bounded(monkeypatch):
    monkeypatch.setattr(index, "WAITING", 20)
    version = version_of({(i, -i) for i in range(100)})
    most = 0
    for i in range(100, 150):
        version = version.apply(Delta.insertion(columns({(i, -i), (i, 1000 + i)})))
        most = max([most, *(waiting.rows for waiting in version._waiting.values())])
    assert 10 < most <= 20
    assert len(version.tree(BACK)) == 200


def test_versions_read_after_newer_ones_share_what_they_find():
    first = version_of({(i, -i) for i in range(100)})
    second = first.apply(Delta.insertion(columns({(200, 1)})))
    third = second.apply(Delta.deletion(columns({(200, 1)})))
    assert rows(third.tree(BACK)) == rows(first.tree(BACK))
    assert (1, 200) in rows(second.tree(BACK))
    fourth = second.apply(Delta.insertion(columns({(300, 2)})))
    assert {(1, 200), (2, 300)} <= set(rows(fourth.tree(BACK)))


def test_many_threads_bring_an_order_forward_once():
    before = version_of({(i, -i) for i in range(1000)})
    waiting = LazyIndex(before.tree(BACK), Delta.insertion(columns({(2000, 0)})), BACK)
    found: list[Tree] = []
    threads = [threading.Thread(target=lambda: found.append(waiting.tree())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1
    assert waiting.rows == 0


def test_of_a_large_relation_more_may_wait(monkeypatch):
    monkeypatch.setattr(index, "WAITING", 2)
    version = version_of({(i, -i) for i in range(1000)})
    for i in range(100):
        version = version.apply(Delta.insertion(columns({(i, i + 2000)})))
    assert [waiting.rows for waiting in version._waiting.values()] == [100]
    assert len(version.tree(BACK)) == 1100


def test_an_order_that_no_one_reads_while_most_rows_change_goes(monkeypatch):
    monkeypatch.setattr(index, "WAITING", 20)
    version = version_of({(i, -i) for i in range(30)})
    for i in range(30, 60):
        version = version.apply(Delta(columns({(i, -i)}), columns({(i - 30, 30 - i)})))
    assert version.orders() == ((0, 1),)
    assert rows(version.tree(BACK)) == backwards({(i, -i) for i in range(30, 60)})


def test_an_order_that_someone_else_keeps_is_asked_for_once(monkeypatch):
    version = version_of({(i, -i) for i in range(100)})
    asked: list[int] = []
    after = version.identity.apply(columns({(200, 0)}))
    late = index.OrderElsewhere(lambda: asked.append(1) or after, 101)
    delta = Delta.insertion(columns({(200, 0)}))
    changed = version.apply(delta, {(0, 1): late})
    assert (changed.count, changed.orders(), asked) == (101, ((0, 1), BACK), [])
    unchanged = changed.apply(Delta.empty(2), {BACK: changed.tree(BACK)})
    assert changed.identity is after
    assert changed.apply(Delta.insertion(columns({(300, 0)}))).count == 102
    assert asked == [1]
    assert unchanged.identity is after
    alone = RelationVersion.build(PAIR, ARENA, columns({(1, 1)})).apply(delta, {(0, 1): late})
    assert (alone.count, alone.orders(), alone.identity) == (101, ((0, 1),), after)


def test_an_order_is_made_from_an_identity_that_no_one_has_read_yet():
    after = RelationVersion.build(PAIR, ARENA, columns({(1, 5), (2, 4)})).identity
    before = RelationVersion.build(PAIR, ARENA, columns({(1, 5)}))
    changed = before.apply(
        Delta.insertion(columns({(2, 4)})), {(0, 1): index.OrderElsewhere(lambda: after, 2)}
    )
    found: list[Tree] = []
    # a thread of its own, so that the test fails where it would wait for ever
    reader = threading.Thread(target=lambda: found.append(changed.tree(BACK)), daemon=True)
    reader.start()
    reader.join(60)
    assert [rows(tree) for tree in found] == [[(4, 2), (5, 1)]]
    assert changed.identity is after


def changed(version: RelationVersion, times: int, *, read: bool) -> RelationVersion:
    """The version after so many changes of 30 rows each."""
    for i in range(times):
        new, gone = range(2000 + 30 * i, 2030 + 30 * i), range(30 * i, 30 * i + 30)
        version = version.apply(
            Delta(columns({(j, -j) for j in new}), columns({(j, -j) for j in gone}))
        )
        if read:
            version.tree(BACK)
    return version


def test_an_order_that_is_brought_forward_for_no_one_goes(monkeypatch):
    monkeypatch.setattr(index, "WAITING", 20)
    version = version_of({(i, -i) for i in range(1000)})
    few = changed(version, 2, read=False)
    assert few.orders() == ((0, 1), BACK)
    assert rows(few.tree(BACK)) == backwards(
        {(i, -i) for i in (*range(60, 1000), *range(2000, 2060))}
    )
    assert changed(version, 12, read=False).orders() == ((0, 1),)
    assert changed(version, 12, read=True).orders() == ((0, 1), BACK)


def test_an_order_that_is_read_now_and_then_while_a_relation_grows_is_not_built_again(monkeypatch):
    """A recursion reads the version before, too, after the next one was made of it."""
    monkeypatch.setattr(index, "WAITING", 20)
    version = version_of({(i, -i) for i in range(1000)})
    version.tree(BACK)
    before = version
    for i in range(60):
        before, version = (
            version,
            version.apply(
                Delta.insertion(columns({(j, -j) for j in range(1000 + 30 * i, 1030 + 30 * i)}))
            ),
        )
        assert version.orders() == ((0, 1), BACK)
        if i % 3 == 2:
            assert before.tree(BACK).count == 1000 + 30 * i


def test_many_changes_are_one_for_orders_that_no_one_read_meanwhile():
    old = version_of({(i, -i) for i in range(1000)})
    unread, read = changed(old, 2, read=False), changed(old, 2, read=True)
    for version, waits in (unread, True), (read, False):
        since = version.since(old, version.difference(old))
        late = [each for each in since._waiting.values() if isinstance(each, LazyIndex)]
        assert [each.changes for each in late] == [1] * waits
        assert (BACK in since._waiting, since.orders()) == (waits, ((0, 1), BACK))
        assert rows(since.tree(BACK)) == rows(version.tree(BACK))
        assert rows(since.identity) == rows(version.identity)
