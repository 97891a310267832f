"""Rules in which no variable leads, so that nothing tells which part has what they find: aggregates
count it once all the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lftj
from tests.distributed.inline import InlineExecutor, require_equal

TABLES = ".decl flag() .decl none() .decl e(x: number, y: number)"
EDGES = [(n, n % 5 + 1) for n in range(20)]
RULES = {
    "a relation without columns": ".decl v(n: number) v(count()) :- flag().",
    "two of them": ".decl v(n: number, s: number) v(count(), sum(1)) :- flag(), !none().",
    "in braces": ".decl v(n: number) v(n) :- n = count : { flag() }.",
    "beside others": ".decl v(n: number, x: number) v(n, x) :- e(x, _), n = count : { flag() }.",
    "of constants": ".decl v(s: number, m: float) v(s, m) :- s = sum y : { flag(), y = 3 }, m = "
    "mean y : { flag(), y = 3 }.",
    "a row of constants": ".decl v(n: number) v(n) :- n = count : { e(1, 2) }.",
    "two rows of constants": ".decl v(n: number) v(count()) :- e(1, 2), e(2, 3), flag().",
    "numbers of a range": ".decl v(s: number) v(sum(i)) :- flag(), i = range(0, 5).",
    "a row that many derive": ".decl w() w() :- e(_, _). .decl v(n: number) v(count()) :- w().",
    "below recursion": ".decl v(x: number) v(n) :- n = count : { flag(), e(1, 2) }. v(y) :- v(x), "
    "e(x, y).",
}


def workspaces(folder: Path, parts: int, rules: str) -> list[Any]:
    found: list[Any] = [lftj.connect(), lftj.connect(executor=InlineExecutor(folder, parts))]
    for workspace in found:
        workspace.add_rules(TABLES)
        workspace.load("e", EDGES)
        workspace.load("flag", [()])
        workspace.add_rules(rules)
    return found


@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
def test_what_no_variable_cuts_is_counted_once(tmp_path: Path, parts: int, rules: str) -> None:
    one, many = workspaces(tmp_path, parts, rules)
    require_equal(many, one)
    for relation, row in (("flag", ()), ("e", (1, 2)), ("none", ())):
        for verb in ("delete", "insert"):
            for workspace in (one, many):
                with workspace.transaction() as tx:
                    getattr(tx, verb)(relation, [row])
            require_equal(many, one)


def test_so_are_answers(tmp_path: Path) -> None:
    one, many = workspaces(tmp_path, 3, RULES["a row of constants"])
    for question in (
        "n = count : { flag() }",
        "n = count : { e(1, 2) }",
        "n = count : { e(1, 2), flag() }",
        "s = sum y : { flag(), y = 3 }",
    ):
        assert many.query(question).fetchall() == one.query(question).fetchall(), question


def test_a_row_of_constants_is_looked_for_where_it_lies(tmp_path: Path) -> None:
    _, many = workspaces(tmp_path, 7, RULES["a row of constants"])
    sent = many.plan().places().df()
    assert not sent["how"].str.contains("whole|first part").loc[sent["relation"] == "e"].any()
