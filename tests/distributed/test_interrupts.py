"""Ctrl-C at every point of a transaction over parts where Python may handle it."""

from __future__ import annotations

import pytest

import lftj
from tests.distributed.inline import InlineExecutor
from tests.interrupting import heard, interrupted

WATCHED = (
    "writer_lock.py",
    "transaction_life.py",
    "api/transaction.py",
    "distributed/store.py",
    "subscription.py",
)
RULES = (
    ".decl edge(x: number, y: number)\n.decl far(x: number, y: number)\nfar(x, z) :- edge(x, "
    "y), edge(y, z)."
)


@pytest.mark.usefixtures("heeding_interrupts")
@pytest.mark.filterwarnings("ignore:a transaction was dropped")
def test_a_transaction_happens_whole_or_not_at_all_whenever_ctrl_c_comes(tmp_path):
    executor = InlineExecutor(tmp_path, 2)
    number, transactions, changes = 0, [], []
    with lftj.connect(executor=executor, writer_timeout=0) as ws:
        ws.add_rules(RULES)
        ws.subscribe("far", changes.append)

        def write():
            with ws.transaction() as tx:
                transactions.append(tx)
                tx.insert("edge", [(number, number + 1)])

        coming, before = True, ws.version
        while coming:
            transactions.clear()
            number += 1
            coming = interrupted(write, number - 1, WATCHED)
            happened = "committed" in repr(transactions[:1])
            assert ws.version == before + happened
            transactions.clear()
            ws.load("edge", [(-number, number)])  # the lock is free
            before += happened + 1
        assert number > 60
        assert heard(changes) == set(ws["far"])
        assert ws.verify() == []
        rows = set(ws["edge"])
    with lftj.connect(executor=executor) as ws:
        assert set(ws["edge"]) == rows


def test_a_commit_whose_changes_cannot_be_read_has_not_happened(tmp_path, monkeypatch):
    with lftj.connect(executor=InlineExecutor(tmp_path, 2)) as ws:
        ws.add_rules(RULES)
        changes = []
        ws.subscribe("far", changes.append)
        before = ws.version
        with monkeypatch.context() as patch:
            patch.setattr("lftj.distributed.changes.change_rows", failing)
            with pytest.raises(lftj.DistributedError, match="no space"):
                ws.load("edge", [(1, 2), (2, 3)])
        assert (ws.version, set(ws["edge"]), changes) == (before, set(), [])
        ws.load("edge", [(1, 2), (2, 3)])
        assert heard(changes) == {(1, 3)}


def failing(*_arguments):
    raise OSError("no space")


def insert(ws):
    tx = ws.transaction()  # and no block
    try:
        tx.insert("edge", [(7, 8)])
    finally:
        tx.rollback()


PLACES = {
    "an insert": ("lftj.distributed.draft.frames.read", insert),
    "a commit": ("lftj.distributed.sending.write_entry", lambda ws: ws.load("edge", [(7, 8)])),
    "a question": (
        "lftj.distributed.result.read_entries",
        lambda ws: ws.query("edge(x, y), far(y, z)"),
    ),
    "rows": ("lftj.distributed.result.read_entries", lambda ws: ws["far"].fetchall()),
    "verify": ("lftj.distributed.verify.Commit", lambda ws: ws.verify()),
}


@pytest.mark.parametrize("place", PLACES)
def test_an_interrupt_that_arrives_as_an_error_of_the_system_is_an_interrupt(
    tmp_path, monkeypatch, place
):
    def compiled_code(*_, **__):
        raise SystemError(
            "<kernel> returned a result with an exception set"
        ) from KeyboardInterrupt()

    with lftj.connect(executor=InlineExecutor(tmp_path, 2), writer_timeout=0) as ws:
        ws.add_rules(RULES)
        ws.load("edge", [(1, 2), (2, 3)])
        name, act = PLACES[place]
        with monkeypatch.context() as patch:
            patch.setattr(name, compiled_code)
            with pytest.raises(KeyboardInterrupt):
                act(ws)
        assert (set(ws["far"]), ws.load("edge", [(3, 4)]), ws.verify()) == ({(1, 3)}, 1, [])
