"""One front over several evaluators, and the least program and history that tells two apart."""

from __future__ import annotations

from typing import Any

import pytest

import lftj
from lftj.evaluators import compare as comparing
from lftj.syntax import tree
from lftj.syntax.user_function import UserFunction

PROGRAM = """
.decl e(x: number, y: number)
.decl t(x: number, y: number)
t(x, y) :- e(x, y).
t(x, z) :- t(x, y), e(y, z).
.decl n(x: number, c: number)
n(x, count()) :- t(x, _).
.decl unrelated(x: number)
unrelated(x + 1) :- e(x, _).
"""
HISTORY = [
    {"insert": {"e": [(1, 2), (2, 3), (7, 8), (8, 9)]}},
    {"delete": {"e": [(1, 2)]}, "insert": {"e": [(3, 4), (4, 2)]}},
    {"delete": {"e": [(4, 2), (7, 8)]}},
]
ALL = ("triejoin", "substitution", "sql-duckdb")


def test_all_evaluators_agree_along_a_history() -> None:
    assert lftj.compare(PROGRAM, HISTORY, by=ALL) is None


def test_all_refuse_a_transaction_that_breaks_a_key_and_go_on() -> None:
    program = ".decl F[x: number]: number .decl v(x: number) v(y) :- F[_] = y."
    history = [
        {"insert": {"F": [(1, 2)]}},
        {"insert": {"F": [(1, 3), (2, 2)]}},
        {"insert": {"F": [(2, 5)]}},
    ]
    assert lftj.compare(program, history, by=ALL) is None


def test_a_difference_is_minimised(monkeypatch: pytest.MonkeyPatch) -> None:
    """An evaluator that loses a row wherever 4 reaches something."""
    honest = comparing.evaluate

    def lossy(
        program: tree.ParsedProgram, facts: Any, *, by: str, functions: Any
    ) -> dict[str, lftj.Result]:
        found = honest(program, facts, by=by)
        rows = {name: result.fetchall() for name, result in found.items()}
        rows["t"] = [row for row in rows["t"] if row[0] != 4]
        plain = ".decl e(x: number, y: number) .decl t(x: number, y: number)"
        return found | {"t": honest(plain, {"t": rows["t"]}, by="triejoin")["t"]}

    monkeypatch.setattr(comparing, "evaluate", lossy)
    found = lftj.compare(PROGRAM, HISTORY, by=("triejoin", "substitution"))
    assert found is not None
    assert found.relation == "t"
    assert found.history == (lftj.Step({"e": [(4, 2)]}, {"e": []}),)
    assert found.only == {"triejoin": [(4, 2)], "substitution": []}
    assert "t(x, y) :- e(x, y)." in found.program
    assert "unrelated(" not in found.program.replace(".decl unrelated(x: number)", "")
    assert "count" not in found.program
    assert "differ after step 0" in str(found)


def test_a_change_set_that_is_not_the_difference_of_states_is_a_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An engine that does not report the rows that `n` lost."""
    honest = lftj.Transaction.changes

    def lossy(self: lftj.Transaction, relation: Any = None) -> Any:
        found = honest(self, relation)
        if relation != "n":
            return found

        class Kept:
            def fetchall(self) -> list[tuple[Any, ...]]:
                return [row for row in found.fetchall() if row[-2] > 0]

        return Kept()

    monkeypatch.setattr(lftj.Transaction, "changes", lossy)
    found = lftj.compare(PROGRAM, HISTORY)
    assert found is not None
    assert (found.relation, found.step) == ("n", 1)
    assert not found.only["changes"]
    assert len(found.only["states"]) == 1  # type: ignore[arg-type]
    assert "changes and states differ after step 1" in str(found)


@pytest.mark.parametrize(
    ("by", "message"), [(("triejoin",), "two evaluators"), (("triejoin", "guess"), "'guess'")]
)
def test_bad_evaluators_are_refused(by: tuple[str, ...], message: str) -> None:
    with pytest.raises(lftj.OptionError, match=message):
        lftj.compare(PROGRAM, HISTORY, by=by)


def test_a_misspelt_part_of_a_step_is_refused() -> None:
    with pytest.raises(lftj.OptionError, match="inserts"):
        lftj.compare(PROGRAM, [{"inserts": {}}])


def test_an_unknown_relation_is_an_error_of_every_evaluator() -> None:
    for by in ALL:
        with pytest.raises(lftj.UnknownNameError):
            lftj.evaluate(PROGRAM, {"f": [(1, 2)]}, by=by)


CALLED = """
.decl title(t: symbol)
.decl at(t: symbol, s: symbol)
at(t, s) :- title(t), s = slug_of(t).
"""


def test_functions_of_the_users_are_called_by_two_evaluators_and_have_no_sql() -> None:
    def slug(text: str) -> str:
        return text.lower().replace(" ", "-")

    function = UserFunction(slug, (str,), str, name="slug_of")
    facts = {"title": [("A B",), ("C",)]}
    for by in ("triejoin", "substitution"):
        found = lftj.evaluate(CALLED, facts, by=by, functions=[function])
        assert set(found["at"].fetchall()) == {("A B", "a-b"), ("C", "c")}
    with pytest.raises(lftj.SqlError, match="functions of Python: `slug_of`"):
        lftj.evaluate(CALLED, facts, by="sql-duckdb", functions=[function])
    with pytest.raises(lftj.ProgramErrors, match="slug_of"):
        lftj.evaluate(CALLED, facts)
    history = [{"insert": facts}, {"delete": {"title": [("C",)]}}]
    assert lftj.compare(CALLED, history, functions=[function]) is None
