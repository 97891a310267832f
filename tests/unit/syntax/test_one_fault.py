"""One fault in a text gives one message, at the clause that has it."""

from __future__ import annotations

import re

import pytest

from lftj.engine.questions.question import question_body
from lftj.errors import LftjError, ProgramErrors
from lftj.syntax.parser import parse

_CLAUSES = (
    ".type Id <: number",
    ".decl e(a: number, b: symbol)",
    ".decl f[k: Id]: Id output",
    'e(1, "one").',
    "p(x, y + 1) :- e(x, y), !q(x, _), x < 5.",
    "p(x, c) :-\n    e(x, y),\n    c = count : { q(x, z), z != y },\n    (a(x) ; b(x), c(y)).",
    "f[x] = min(y) :- e(x, y).",
    "t(x, n) :- agg<<n = sum(a)>> e(x, a).",
    "r(x) :-\n    e(x, y),\n    y = x * 2 band 7,\n    choice((x), (y)),\n    e(y, x).\n"
    ".plan 0:(1,2)",
)
_FAULTS = (
    *("lib.next(x, z)", "lib.T", "lib.a.b(x)", "@f(x)", "$", "$A(x)", "[a, b]", "nil", "=="),
    *("&&", "'s'", "%", "#", "..", "...", "1x", "1..5", "not x", "}", ":", '"', ".init a = B"),
)
_TOKEN = re.compile(
    r'"[^"]*"|\.[a-z]+(?!\w)|[A-Za-z_]\w*|[0-9]+|:-|<=|!=|<<|>>|<:|\s+|.', re.DOTALL
)


def _errors(text: str) -> list[LftjError]:
    try:
        parse(text)
    except ProgramErrors as caught:
        return caught.errors
    return []


@pytest.mark.parametrize("clause", _CLAUSES, ids=lambda clause: clause.split("(")[0])
def test_one_fault_has_one_message(clause: str):
    """Whatever is put before a token, or in its place; also a token that is left out."""
    pieces = _TOKEN.findall(clause)
    wrong: list[str] = []
    for place, piece in enumerate(pieces):
        if piece.isspace():
            continue
        before, after = "".join(pieces[:place]), "".join(pieces[place + 1 :])
        for fault in (*(f"{fault} {piece}" for fault in _FAULTS), *_FAULTS, "", f"{piece} {piece}"):
            text = f"{before}{fault}{after}"
            found = _errors(f"a(1).\n{text}\nlast(x) :- a(x).\n")
            lines = {error.span.line for error in found if error.span is not None}
            last = text.count("\n") + 3  # where a final dot is missed
            if len(found) > 1 or not lines <= set(range(2, last + 1)):
                wrong.append(f"{text}\n{[str(error) for error in found]}")
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b(y) :- a(x), lib.next(x, z), a(z), y = z + 1.", "relations of components (`lib.next`)"),
        ("b(y) :- a(x), y = lib.next(x), a(y).", "relations of components (`lib.next`)"),
        ("b(n) :- n = sum x : { x = lib.f(z) }.", "relations of components (`lib.f`)"),
        ("lib.b(y), a(y) :- y = 1, a(y).", "relations of components (`lib.b`)"),
        ("!lib.b(y).", "expected a clause"),
        (".output lib.b", "relations of components (`lib.b`)"),
        (".decl key(k: box.Key)", "types of components (`box.Key`)"),
        (".decl key[k: number]: a.b.Key", "types of components (`a.b.Key`)"),
        (".type A <: box.Key", "types of components (`box.Key`)"),
        (".type A = B | box.Key", "types of components (`box.Key`)"),
        ("a(as(x, box.Key)) :- b(x).", "types of components (`box.Key`)"),
        ("a(x) :- b(x), x.id = 3.", "`x.id` is not a term"),
        ("a(x.id) :- b(x).", "`x.id` is not a term"),
    ],
)
def test_a_name_with_a_dot_is_told_as_what_it_stands_for(text: str, message: str):
    (error,) = _errors(f"{text}\nok(1).\n")
    assert error.message.startswith(message)
    assert error.hint or error.code == "E100"


def test_a_dot_between_two_clauses_needs_no_space():
    assert (
        _errors("a(x):-b(x),x=y.r(x):-s(x).q(1).\n.decl s(x: number) output.decl q(x: number)")
        == []
    )


@pytest.mark.parametrize(
    "rule",
    [
        "r(x) :- e(x, lib.next(1, 2).",
        "r(x) :- e(x, y), .",
        "r(x) :- e(x, y) e(y, x). // and\n/* more */",
        "r(x, n) :- agg<<n = sum(y)>> e(x, y], y.",
        "r(x), x < 1.",
    ],
)
def test_the_plan_of_a_rule_that_is_left_is_left_too(rule: str):
    found = _errors(f"{rule}\n.plan 0:(1,2),\n    1:(2,1)\na(x) :- b(x,).\n")
    assert [error.span.line for error in found if error.span is not None] == [
        1,
        4 + rule.count("\n"),
    ]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("r(x", "expected `,` or `)`, found the end of the text"),
        ("r(x,", "expected a term, found the end of the text"),
        ("r(x),", "expected a condition, found the end of the text"),
        ("", "expected a condition, found the end of the text"),
        ("r(x) y", "expected the end of the text, `,` or `;`, found `y`"),
        ('r("a', "the string is not closed on its line"),
    ],
)
def test_what_a_question_lacks_is_told_by_what_stands_there(question: str, message: str):
    with pytest.raises(ProgramErrors) as caught:
        question_body(question)
    (error,) = caught.value.errors
    assert error.message == message
    assert error.span is not None
    assert error.span.end_column <= len(question) + 1
    assert "dot" not in (error.hint or "")


def test_a_question_may_end_with_a_comment():
    assert len(question_body("r(x), x > 1 // only these").literals) == 2
