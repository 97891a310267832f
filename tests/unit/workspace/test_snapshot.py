from __future__ import annotations

import threading

import pytest

import lftj

RULES = """
.decl item(k: number, v: number)
.decl double(k: number, v: number)
.decl total(n: number, s: number)
double(k, v + v) :- item(k, v).
total(count(), sum(v)) :- item(_, v).
"""


@pytest.fixture
def ws() -> lftj.Workspace:
    ws = lftj.connect()
    ws.add_rules(RULES)
    return ws


def test_a_snapshot_stays_as_it_was(ws):
    ws.load("item", [(i, i) for i in range(100)])
    snapshot, result = ws.snapshot(), ws["double"]
    with ws.transaction() as tx:
        tx.delete("item", [(i, i) for i in range(90)])
        tx.add_rules(".decl more(k: number)\nmore(k) :- item(k, _).")
    assert (len(snapshot["item"]), len(ws["item"])) == (100, 10)
    assert snapshot["total"].fetchall() == [(100, 4950)]
    assert len(result.fetchall()) == 100
    assert (snapshot.version, ws.version) == (2, 3)
    assert "more" not in snapshot
    assert "more" in ws
    assert [str(rule) for rule in snapshot.rules] == [str(rule) for rule in ws.rules[:2]]
    assert snapshot.query("double(k, 198)").fetchall() == [(99,)]
    assert snapshot.verify() == []
    assert repr(snapshot) == "<Snapshot of version 2, 3 relations>"
    with pytest.raises(lftj.UnknownNameError):
        snapshot["more"]


def test_readers_see_whole_commits_while_a_writer_commits(ws):
    """Every commit keeps the sum of all values at zero, so a reader that sees another sum has seen
    half a commit.
    """
    stop, problems, read = threading.Event(), [], []

    def reader():
        try:
            while not stop.is_set():
                snapshot = ws.snapshot()
                total, rows = snapshot["total"].fetchall(), snapshot["item"].fetchall()
                doubled = sorted(snapshot.query("double(k, v)").fetchall())
                assert total == ([(len(rows), 0)] if rows else [])
                assert doubled == sorted((k, 2 * v) for k, v in rows)
                read.append(snapshot.version)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=reader) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(1000):
        if i >= 40 and (len(read) >= 10 or problems):
            break
        with ws.transaction() as tx:
            tx.insert("item", [(i, 7), (i, -7), (-i - 1, i), (-i - 1, -i)])
            tx.delete("item", [(i - 5, 7), (i - 5, -7)])
    stop.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert read


def test_threads_take_turns_writing(ws):
    def writer(number):
        for i in range(10):
            ws.load("item", [(number, i)])

    threads = [threading.Thread(target=writer, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ws["total"].fetchall() == [(40, 180)]
    assert ws.version == 41
