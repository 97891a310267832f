"""Questions with parameters: the answers of the same question with constants, on every kind of
version; errors with their places.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest

import lftj
from lftj.engine.questions import bound_search
from lftj.engine.questions.bound_search import BoundSearch
from tests.distributed.inline import InlineExecutor

PROGRAM = """
.decl edge(x: number, y: number)
.decl name(x: number, n: symbol)
.decl price(x: number, p: float)
.decl reach(x: number, y: number)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
"""
EDGES = [(1, 2), (2, 3), (3, 4), (4, 2), (5, 1), (7, 7)]
QUESTIONS: list[tuple[str, tuple[object, ...]]] = [
    ("reach(?, y)", (1,)),
    ("reach(x, ?)", (2,)),
    ("reach(?, ?)", (1, 4)),
    ("reach(x, y), x < ?, y >= ?", (4, 3)),
    ("edge(x, y), !edge(y, ?)", (2,)),
    ("edge(x, y), !(edge(y, z), z > ?)", (2,)),
    ("s = sum z : { edge(z, y), z > ? }", (1,)),
    ("edge(x, y), c = count : { edge(y, z), z != ? }", (2,)),
    ("edge(?, y) ; edge(y, ?)", (1, 2)),
    ("name(x, ?), reach(x, y)", ("five",)),
    ("name(x, ?)", ("nobody has this name",)),
    ("name(x, n), m = cat(n, ?)", ("!",)),
    ("price(x, p), p > ?", (1.5,)),
    ("edge(x, _), y = as(?, number) + x", (10,)),
    ("edge(?, y), edge(?, y), x = y", (1, 1)),
    ("edge(x, y), reach(y, ?), x != y", (2,)),
]


def filled(ws: lftj.Workspace) -> lftj.Workspace:
    """A workspace with the rows that the questions are about."""
    ws.add_rules(PROGRAM)
    with ws.transaction() as tx:
        tx.insert("edge", EDGES)
        tx.insert("name", [(1, "one"), (5, "five")])
        tx.insert("price", [(1, 1.5), (2, 2.5)])
    return ws


def spelt(question: str, values: Sequence[object]) -> str:
    """The question with constants in the place of its parameters."""
    for value in values:
        text = f'"{value}"' if isinstance(value, str) else str(value)
        question = question.replace("?", text, 1)
    return question


def same(reader: lftj.Workspace | lftj.Snapshot, question: str, values: Sequence[object]) -> None:
    """Compare the answers, asked in each way, with those of constants."""
    expected = reader.query(spelt(question, values))
    prepared = reader.prepare_query(question)
    for found in (reader.query(question, *values), prepared(*values), prepared(*values)):
        assert found.columns == expected.columns
        assert found.types == expected.types
        assert sorted(found.fetchall()) == sorted(expected.fetchall())
        assert bool(found) == bool(expected)
        assert found.version == reader.version


@pytest.mark.parametrize("cost", [1e6, 0.0])
def test_parameters_mean_what_constants_mean(cost: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound_search, "_BOUND_SEARCH_COST", cost)
    ws = filled(lftj.connect())
    for question, values in QUESTIONS:
        same(ws, question, values)


def test_most_questions_are_one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    ws, made = filled(lftj.connect()), []
    begin = BoundSearch.__init__

    def counting(*args: object) -> None:
        made.append(args)
        begin(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(BoundSearch, "__init__", counting)
    ask = ws.prepare_query("reach(?, y)")
    assert [len(ask(node)) for node in range(1, 8)] == [3, 3, 3, 3, 4, 0, 1]
    ws.load("edge", [(6, 1)])
    assert len(ask(6)) == 4
    assert len(made) == 1, "neither another value nor a small change makes another plan"
    ws.load("edge", [(each, each + 1) for each in range(100, 400)])
    assert len(ask(390)) == 10
    assert len(made) == 2, "relations of another size are planned for anew"


def test_a_prepared_question_follows_data_and_rules() -> None:
    ws = filled(lftj.connect(keep="all"))
    ask = ws.prepare_query("reach(?, y)")
    of_before = ws.snapshot().prepare_query("reach(?, y)")
    assert sorted(ask(7).fetchall()) == [(7,)]
    handle = ws.add_rule("reach(x, 0) :- edge(x, x).")
    assert sorted(ask(7).fetchall()) == [(0,), (7,)]
    ws.remove_rule(handle)
    with ws.transaction() as tx:
        tx.delete("edge", [(7, 7)])
    assert ask(7).fetchall() == []
    assert sorted(of_before(7).fetchall()) == [(7,)]
    for number in range(1, ws.version + 1):
        same(ws.at(number), "reach(?, y)", (7,))
    branch = ws.branch("other")
    branch.load("edge", [(7, 1)])
    same(branch, "reach(?, y)", (7,))
    assert len(branch.query("reach(?, y)", 7)) == 4
    assert ask(7).fetchall() == []


def test_questions_in_python() -> None:
    ws = filled(lftj.connect())
    x, y = lftj.vars("x y")
    reach, name = ws.relations["reach"], ws.relations["name"]
    ask = ws.prepare_query(reach(lftj.parameter, y) & (y != lftj.parameter))
    assert repr(ask) == "<PreparedQuery reach(?, y), y != ?>"
    assert ask.parameters == 2
    assert sorted(ask(1, 3).fetchall()) == [(2,), (4,)]
    assert ws.query(name(x, lftj.parameter), "five").fetchall() == [(5,)]
    assert ws.prepare_query(name(x, "one"))().fetchall() == [(1,)]


def test_at_a_path_and_in_parts(tmp_path: Path) -> None:
    with lftj.connect(tmp_path / "w.lftj", durability="off") as ws:
        filled(ws)
        same(ws, "name(x, ?), reach(x, y)", ("five",))
    with lftj.connect(tmp_path / "w.lftj") as ws:
        same(ws, "name(x, ?), reach(x, y)", ("five",))
    with lftj.connect(executor=InlineExecutor(tmp_path / "parts")) as big:
        filled(big)
        for question, values in QUESTIONS:
            same(big, question, values)
        with pytest.raises(lftj.ValueTypeError, match="for parameter 1 of the question"):
            big.query("reach(?, y)", "a")
        with pytest.raises(lftj.TypeClashError, match="type of parameter 1"):
            big.prepare_query("edge(x, y), ? = ?")


def test_dates_and_other_types() -> None:
    ws = lftj.connect()
    on = ws.relation("on", {"day": datetime.date, "paid": "decimal(8,2)", "open": bool})
    day = datetime.date(2026, 2, 3)
    ws.load(on, [(day, Decimal("1.50"), True), (datetime.date(2026, 2, 4), Decimal("2.5"), False)])
    assert len(ws.query("on(?, p, o)", day)) == 1
    assert len(ws.query("on(d, p, ?)", True)) == 1
    assert len(ws.query("on(d, ?, o)", Decimal("2.50"))) == 1
    assert len(ws.query("on(d, p, _), d > ?", day)) == 1
    with pytest.raises(lftj.ValueTypeError, match="for parameter 1 of the question"):
        ws.query("on(?, p, o)", "2026-02-03")


def test_any_number_of_threads_ask() -> None:
    ws = filled(lftj.connect())
    ask, wrong = ws.prepare_query("reach(?, y)"), []
    expected = {node: len(ws.query(f"reach({node}, y)")) for node in range(1, 8)}

    def asking() -> None:
        for number in range(100):
            node = number % 7 + 1
            if len(ask(node)) != expected[node]:
                wrong.append(node)

    threads = [threading.Thread(target=asking) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("question", "values", "error", "said", "place"),
    [
        ("reach(?, y)", (), lftj.ArityError, "has 1 parameter, found 0 values", 7),
        ("reach(?, ?)", (1,), lftj.ArityError, "has 2 parameters, found 1 value", 10),
        ("reach(?, y)", (1, 2), lftj.ArityError, "has 1 parameter, found 2 values", 7),
        ("reach(1, y)", (1,), lftj.ArityError, "has 0 parameters, found 1 value", None),
        ("reach(?, ?)", (1, "a"), lftj.ValueTypeError, "for parameter 2 of the question", 10),
        ("reach(?, y)", (None,), lftj.NullValueError, "for parameter 1 of the question", 7),
        ("reach(?, y)", (2**63,), lftj.ValueRangeError, "for parameter 1 of the question", 7),
        ("edge(x, y), ? = ?", (1, 1), lftj.TypeClashError, "the type of parameter 1", 13),
    ],
)
def test_errors_have_places_and_remedies(
    question: str,
    values: tuple[object, ...],
    error: type[lftj.LftjError],
    said: str,
    place: int | None,
) -> None:
    with pytest.raises(error, match=said) as raised:
        filled(lftj.connect()).query(question, *values)
    assert raised.value.hint
    assert (raised.value.span.column if raised.value.span else None) == place


def test_what_is_no_question_is_refused_when_it_is_prepared() -> None:
    ws = filled(lftj.connect())
    with pytest.raises(lftj.UnknownNameError):
        ws.prepare_query("nothing(?, y)")
    with pytest.raises(lftj.ProgramErrors):
        ws.prepare_query("reach(?, y")
    ask = ws.prepare_query("reach(?, y)")
    ws.close()
    with pytest.raises(lftj.LftjError, match="closed"):
        ask(1)
