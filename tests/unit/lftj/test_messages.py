"""Messages of errors: suggestions in them, their length, and what making them costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import lftj
from lftj.errors import LftjError, ProgramErrors, Span, base
from lftj.errors.nearest import closest
from lftj.errors.shortening import shortened
from lftj.program.program import Program
from lftj.syntax import tree


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("edgs", "edges"),
        ("egdes", "edges"),
        ("Edges", "edges"),
        ("edge", "edges"),
        ("sun", "sum"),
        ("flight_delays", "FlightDelays"),
        ("constrained_by", "constraind_yb"),
    ],
)
def test_a_slip_of_the_hand_is_mended(name: str, known: str):
    assert closest(name, ["other", known, "words"]) == known


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("median", "mean"),
        ("mother", "father"),
        ("step1", "step2"),
        ("left_a", "left_b"),
        ("maximum", "minimum"),
        ("increase", "decrease"),
        ("to_date", "today"),
        ("p", "q"),
        ("x" * 1_000_000, "x" * 999_999),
    ],
)
def test_words_of_another_meaning_are_not_suggested(name: str, known: str):
    assert closest(name, [known]) is None


@pytest.mark.parametrize(
    ("term", "hint"),
    [
        ("variance(y)", "aggregates are"),
        ("months(7)", "aggregates are"),
        (
            "match(y)",
            "a condition of its own: write match(pattern, text); as a value: if(match(…), ",
        ),
        ("strlne(y)", "did you mean `strlen`?"),
    ],
)
def test_functions_are_suggested_by_what_they_do(term: str, hint: str):
    with pytest.raises(ProgramErrors) as caught:
        lftj.connect().add_rules(f".decl e(y: symbol)\n.decl r(x: number)\nr({term}) :- e(y).")
    assert (caught.value.errors[0].hint or "").startswith(hint)


def deleted(ws: lftj.Workspace, **options: Any) -> None:
    with ws.transaction() as tx:
        tx.delete("k", [(1, WORDS)], **options)


LONG = "n" * 1_000_000
WORDS = "some words " * 100_000


@pytest.mark.parametrize(
    "mistake",
    [
        lambda ws: ws.query(f"{LONG}(x)"),
        lambda ws: ws[LONG],
        lambda ws: ws.add_rules(f"{LONG}(x) :- e(x, _)."),
        lambda ws: ws.add_rules(f"v({LONG}) :- e(x, _)."),
        lambda ws: ws.add_rules(f"v({LONG}(x)) :- e(x, _)."),
        lambda ws: ws.add_rules(f"v(x) :- {LONG}.{LONG}(x)."),
        lambda ws: ws.add_rules(f".decl w(a: {LONG})"),
        lambda ws: ws.add_rules(f".decl w(a: number) {LONG}"),
        lambda ws: ws.add_rules(f".{LONG} e"),
        lambda ws: ws.add_rules(f'v("{LONG}").'),
        lambda ws: ws.add_rules(f'v(date("{LONG}")).'),
        lambda ws: ws.add_rules("v(x) :- " + ", ".join(f"e(y{i}, _)" for i in range(3000)) + "."),
        lambda ws: ws.load(LONG, [(1,)]),
        lambda ws: ws.load("e", [(LONG, "x")]),
        lambda ws: ws.load("e", [(WORDS, "x")]),
        lambda ws: ws.load("e", [], **{LONG: 1}),
        lambda ws: ws.load("e", f"{LONG}.csv"),
        lambda ws: ws.load("k", [(1, LONG), (1, WORDS)]),
        lambda ws: deleted(ws, missing="error"),
        lambda ws: deleted(ws, missing=LONG),
        lambda ws: ws.relation("w", {LONG: "number", "b": LONG}),
    ],
)
def test_a_message_is_short_whatever_the_user_wrote(mistake: Callable[[lftj.Workspace], object]):
    ws = lftj.connect()
    ws.add_rules(".decl e(a: number, s: symbol)\n.decl v(a: number)\nv(x) :- e(x, _).")
    ws.relation("k", {"a": lftj.INT, "s": lftj.STR}, key="a")
    with pytest.raises(LftjError) as caught:
        mistake(ws)
    assert len(str(caught.value)) < 3_000


def test_what_is_left_of_a_long_text_is_its_ends():
    assert shortened("as it is " * 200) == "as it is " * 200
    word = shortened(f"no `{'x' * 500}y` here")
    assert word.startswith("no `xxx")
    assert word.endswith("xxxy` here")
    text = shortened(f"first {WORDS} last")
    assert text.startswith("first some words")
    assert text.endswith("words  last")
    assert len(text) <= 2_000
    assert shortened(text) == text
    long = f"{WORDS}{LONG}"
    assert shortened(shortened(long)) == shortened(long)


def test_what_is_added_to_a_message_later_is_short_too():
    error = LftjError("too large")
    error.message += f", in the rule {LONG}"
    assert len(str(error)) < 400


def test_many_errors_show_the_first_and_tell_how_many_there_are(monkeypatch: pytest.MonkeyPatch):
    """The text is cut into lines once, and not for each."""
    cut = 0

    class Text(str):
        def splitlines(self, keepends: bool = False) -> list[str]:
            nonlocal cut
            cut += 1
            return super().splitlines(keepends)

    base.lines_of.cache_clear()
    text = Text("\n".join(f"p{i}(x)." for i in range(1000)))
    errors = [LftjError(f"no p{i}", span=Span(i + 1, 1, i + 1, 3, None, text)) for i in range(1000)]
    for error in errors:
        assert "^^" in str(error)
    shown = str(ProgramErrors(errors))
    assert cut == 1
    assert shown.endswith("1000 errors in the program; the first 20 are shown")
    assert "no p19" in shown
    assert "no p20" not in shown


def test_a_declaration_compares_each_column_a_few_times():
    compared = 0

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)  # pyright: ignore[reportArgumentType]

    columns = tuple(tree.Column(Name(f"c{i}"), "number") for i in range(10_000))
    choice = tuple((Name(f"c{i}"),) for i in range(10_000))
    wide = tree.Declaration("wide", columns, False, (), choice)
    with pytest.raises(ProgramErrors, match="230 is the most"):
        Program().add(tree.ParsedProgram((wide,)))
    assert compared < 100_000
