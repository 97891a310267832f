"""Ctrl-C at every point where Python may handle it, from the start of a transaction to the last
callback.
"""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

import lftj
from tests.interrupting import heard, interrupted

WATCHED = (
    "writer_lock.py",
    "transaction_life.py",
    "transaction.py",
    "in_process.py",
    "engine.py",
    "subscription.py",
    "workspace.py",
)


@pytest.fixture
def told():
    """A workspace that gives up at once when it cannot write, and the change sets that a subscriber
    of `far` was given.
    """
    ws = lftj.connect(writer_timeout=0)
    ws.add_rules(
        ".decl edge(x: number, y: number)\n.decl far(x: number, y: number)\nfar(x, z) :- edge(x, "
        "y), edge(y, z)."
    )
    changes = []
    ws.subscribe("far", changes.append)
    return ws, changes


@pytest.mark.usefixtures("heeding_interrupts")
@pytest.mark.filterwarnings("ignore:a transaction was dropped")
def test_a_transaction_happens_whole_or_not_at_all_whenever_ctrl_c_comes(told):
    ws, changes = told
    number, transactions = 0, []

    def write():
        with ws.transaction() as tx:
            transactions.append(tx)
            tx.insert("edge", [(number, number + 1)])

    coming = True
    while coming:
        transactions.clear()
        number, before = number + 1, ws.version
        coming = interrupted(write, number - 1, WATCHED)
        happened = "committed" in repr(transactions[:1])
        assert ws.version == before + happened
        assert ((number, number + 1) in set(ws["edge"])) == happened
        transactions.clear()
        ws.load("edge", [(-number, number)])  # the lock is free
        assert heard(changes) == set(ws["far"])
    assert number > 30
    assert ws.verify() == []


@pytest.mark.usefixtures("heeding_interrupts")
def test_a_subscription_is_cancelled_when_ctrl_c_comes_before_anyone_has_it(told):
    ws, _ = told
    ws.load("edge", [(0, 1), (1, 2)])

    def interrupt(_changes):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ws.subscribe("far", interrupt, snapshot=True)
    ws.load("edge", [(2, 3)])  # nobody interrupts


def test_a_transaction_that_is_forgotten_gives_the_lock_back_where_warnings_are_errors(told):
    ws, _ = told
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", raising)
        patch.setattr(sys, "unraisablehook", lambda _: None)
        ws.transaction()
    assert ws.load("edge", [(0, 1)]) == 1


FIRST_FRAME = """
import signal, sys, lftj
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores it
ws = lftj.connect()
ws.relation("name", {"x": str})

class InTheMiddle:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "pandas.testing":
            sys.meta_path.remove(InTheMiddle)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, InTheMiddle)
ws.load("name", [("a",), ("b",)])
try:
    ws["name"].df()
except KeyboardInterrupt:
    print("interrupted", "pandas.testing" in sys.modules)
ws.load("name", [("c",), ("d",)])
print(len(ws["name"]), ws["name"].arrow().num_rows, ws["name"].df().x.tolist()[2:])
"""


def test_an_interrupt_while_pandas_is_imported_is_an_interrupt():
    run = subprocess.run([sys.executable, "-c", FIRST_FRAME], capture_output=True, text=True)
    assert run.stdout == "interrupted True\n4 4 ['c', 'd']\n", run.stderr


def raising(message, kind, **_rest):
    raise kind(message)


@pytest.mark.parametrize(
    "place",
    ["a commit", "a question", "verify", "a block", "an insert", "a delete", "a file", "a frame"],
)
def test_an_interrupt_that_arrives_as_an_error_of_the_system_is_an_interrupt(
    told, monkeypatch, place
):
    ws, changes = told

    def compiled_code(*_, **__):
        raise SystemError(
            "<kernel> returned a result with an exception set"
        ) from KeyboardInterrupt()

    def act():
        if place == "a block":
            with ws.transaction() as tx:
                tx.insert("edge", [(1, 2)])
                compiled_code()
        elif place == "a commit":
            ws.load("edge", [(1, 2)])
        elif place in ("an insert", "a delete"):
            tx = ws.transaction()  # and no block
            try:
                tx.insert("edge", [(1, 2)]) if place == "an insert" else tx.delete("edge", [(1, 2)])
            finally:
                tx.rollback()
        elif place in ("a file", "a frame"):
            ws["edge"].write_facts(io.StringIO()) if place == "a file" else ws["edge"].arrow()
        else:
            ws.query("far(x, y)") if place == "a question" else ws.verify()

    with monkeypatch.context() as patch:
        for name in (
            "engine.live.engine.carry_out",
            "engine.live.answers.refresh",
            "engine.live.verify.refresh",
            "engine.transaction.draft.Draft.framed",
            "frames.write_facts",
            "frames.to_arrow",
        ):
            if place != "a block":
                patch.setattr(f"lftj.{name}", compiled_code)
        with pytest.raises(KeyboardInterrupt):
            act()
    assert (len(ws["edge"]), changes, ws.load("edge", [(1, 2)])) == (0, [], 1)
