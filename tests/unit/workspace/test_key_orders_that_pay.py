"""Key orders that no single evaluation is worth are made once many have done without."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import lftj

ROWS = 40_000
VALUES = 10_000
PER_VALUE = ROWS // VALUES


@pytest.fixture
def ws():
    """`r` and `s`, in which each value has a few partners; only the columns' own key
    orders exist.
    """
    random = np.random.default_rng(5)
    ws = lftj.connect(executor=lftj.ThreadExecutor(threads=1))
    for name in ("r", "s"):
        ws.relation(name, {"a": int, "b": int})
        pairs = {
            "a": np.repeat(np.arange(VALUES), PER_VALUE),
            "b": random.permutation(ROWS) % VALUES,
        }
        ws.load(name, pa.table(pairs))
    return ws


def orders(ws, name: str) -> set[str]:
    return {order for relation, order, *_ in ws.memory().fetchall() if relation == name}


def expected(ws, value: int) -> set[tuple[int, int, int]]:
    of_s = {a for a, b in ws["s"].fetchall() if b == value}
    return {(a, b, value) for a, b in ws["r"].fetchall() if b in of_s}


def question(value: int) -> str:
    return f"r(x, y), s(y, z), z = {value}"


def test_a_question_asked_again_and_again_reads_less_in_the_end(ws):
    with ws.limits(work=2_000), pytest.raises(lftj.LimitError):
        ws.query(question(0))
    answers = [set(ws.query(question(value))) for value in range(40)]
    assert "b, a" in orders(ws, "s")
    with ws.limits(work=2_000):
        answers.append(set(ws.query(question(40))))
    assert answers == [expected(ws, value) for value in range(41)]


def test_few_questions_make_no_key_order(ws):
    ws.query(question(0))
    assert orders(ws, "r") | orders(ws, "s") == {"a, b"}


def test_of_many_rules_with_one_need_only_the_first_do_without(ws):
    steps = []
    for value in range(40):
        ws.add_rules(
            f".decl view{value}(x: number, y: number, z: number)\nview{value}(x, y, z) :- "
            f"{question(value)}."
        )
        steps.append(sum(work["steps"] for work in ws.profile(last=1).to_dict("records")))
    assert max(steps[-10:]) < 2_000 < min(steps[:2])
    assert set(ws["view39"]) == expected(ws, 39)


def test_what_was_made_is_kept_true(ws):
    for value in range(40):
        ws.query(question(value))
    ws.load("s", [(7, VALUES + 1)])
    with ws.transaction() as tx:
        tx.delete_where("r", b=8)
    with ws.limits(work=2_000):
        assert set(ws.query(question(VALUES + 1))) == expected(ws, VALUES + 1)
    assert ws.verify() == []
