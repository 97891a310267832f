"""Functors and divisions that fail for rows which another condition excludes: no evaluator computes
them, in any order of the body.
"""

from __future__ import annotations

from typing import Any

import pytest

import lftj

DECLARED = """
.decl r(x: number, t: symbol, f: float)
.decl ok(x: number)
.decl bad(x: number)
.decl v(x: number, y: number)
"""
FACTS: dict[str, list[tuple[Any, ...]]] = {
    "bad": [(0,)],
    "r": [(0, "x", -1.0), (1, "5", 4.0), (2, "7", 9.0)],
    "ok": [(1,), (2,)],
}
GUARDED = [(1, 5), (2, 7)]
BODIES = (
    "r(x, t, _), y = to_number(t), x > 0",
    "r(x, t, _), y = to_number(t), x * 2 > 1",
    "r(x, t, _), y = to_number(t), !bad(x)",
    "r(x, t, _), y = to_number(t), !(bad(z), z + 0 = x)",
    'r(x, t, _), y = to_number(t), cat(t, "a") != "xa"',
    "r(x, t, _), y = to_number(t), 1 = count : { ok(x) }",
    "r(x, t, f), y = to_number(t), f > 0.0, sqrt(f) > 0.0",
    "ok(x), y = sum to_number(t) : { r(x, t, _) }",
    "r(x, _, _), x > 0, y = max z : { r(x, t, _), z = to_number(t) }",
    'r(x, _, _), !bad(x), y = sum z : { r(x, t, _), (z = to_number(t) ; z = 0, t = "y") }',
    "ok(x), !(r(x, t, _), to_number(t) > 9), r(x, s, _), y = to_number(s)",
    "r(x, s, _), x > 0, !(r(x, _, _), z = 6 / x, z > 9), y = to_number(s)",
)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("by", ["triejoin", "substitution"])
def test_what_another_condition_excludes_does_not_fail(by: str, body: str) -> None:
    found = lftj.evaluate(f"{DECLARED}v(x, y) :- {body}.", FACTS, by=by)
    assert sorted(found["v"].fetchall()) == GUARDED


@pytest.mark.parametrize("body", BODIES)
def test_nor_does_it_while_rows_come_and_go(body: str) -> None:
    with lftj.connect() as workspace:
        workspace.add_rules(f"{DECLARED}v(x, y) :- {body}.")
        for name in ("bad", "r", "ok"):
            workspace.load(name, FACTS[name])
        with workspace.transaction() as tx:
            tx.insert("r", [(0, "x", -2.0), (3, "9", 9.0)])
            tx.insert("ok", [(3,)])
        assert sorted(workspace["v"].fetchall()) == [*GUARDED, (3, 9)]
        with workspace.transaction() as tx:
            tx.delete("r", [(0, "x", -2.0), (3, "9", 9.0)])
            tx.delete("ok", [(3,)])
        assert sorted(workspace["v"].fetchall()) == GUARDED


@pytest.mark.parametrize("body", ["ok(x), y = sum to_number(t) : { r(x, t, _) }"])
def test_what_nothing_excludes_fails(body: str) -> None:
    with lftj.connect() as workspace:
        workspace.add_rules(f"{DECLARED}v(x, y) :- {body}.")
        workspace.load("r", FACTS["r"])
        with pytest.raises(lftj.LftjError) as caught:
            workspace.load("ok", [(0,)])
        assert caught.value.code == "E210"
