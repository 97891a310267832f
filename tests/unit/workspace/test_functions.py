"""Functions of users in rules: where they stand, how often they are called, and how they fail."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lftj
from lftj.proofs.kinds import of_users
from lftj.syntax.parser import parse
from tests.reference import evaluate

CALLS: list[tuple[object, ...]] = []


@pytest.fixture(autouse=True)
def no_calls() -> None:
    CALLS.clear()


def slug(text: str) -> str:
    """A text in small letters with dashes; some texts have none."""
    CALLS.append((text,))
    if text == "bad":
        raise ValueError("no slug")
    return None if text == "none" else text.lower().replace(" ", "-")  # type: ignore[return-value]


def collatz(number: int) -> int:
    """The next number of a sequence."""
    CALLS.append(("collatz", number))
    return number // 2 if number % 2 == 0 else 3 * number + 1


def even(number: int) -> bool:
    """True for an even number."""
    CALLS.append(("even", number))
    return number % 2 == 0


def weighed(number: int, weight: float) -> float:
    """A product."""
    CALLS.append((number, weight))
    return number * weight


FUNCTIONS = [lftj.UserFunction(each) for each in (slug, collatz, even, weighed)]
PROGRAM = """
.decl p(x: symbol) .decl n(x: number, w: float) .decl start(x: number)
.decl body(x: symbol, y: symbol)
body(x, y) :- p(x), y = slug(x).
.decl head(y: symbol)
head(slug(x)) :- p(x).
.decl compared(x: symbol)
compared(x) :- p(x), slug(x) != x, x != "none", strlen(slug(x)) > 1.
.decl counted(y: symbol, c: number)
counted(y, count()) :- p(x), y = slug(x).
.decl totalled(x: number, s: float)
totalled(x, sum(weighed(x, w))) :- n(x, w).
.decl inner(x: number, m: number)
inner(x, m) :- n(x, _), m = max collatz(z) : { n(z, _), z <= x }.
.decl evens(x: number) .decl odds(x: number)
evens(x) :- n(x, _), even(x).
odds(x) :- n(x, _), !even(x).
.decl next(x: number)
next(x) :- start(x).
next(collatz(x)) :- next(x), x != 1.
.decl constant(y: symbol)
constant(slug("A B")) :- start(_).
.decl nested(y: symbol)
nested(slug(cat(slug(x), " Z"))) :- p(x).
"""
NAMES = [line.split()[1].partition("(")[0] for line in PROGRAM.splitlines() if ".decl" in line]
FACTS: dict[str, list[tuple[Any, ...]]] = {
    "p": [("A b",), ("a B",), ("c",)],
    "n": [(1, 0.5), (1, 1.5), (2, 2.0), (7, 1.0)],
    "start": [(6,), (7,)],
}


def registered(*functions: lftj.UserFunction) -> lftj.Workspace:
    workspace = lftj.connect()
    for function in functions or FUNCTIONS:
        assert workspace.function(function) is function
    return workspace


def expected(facts: dict[str, list[tuple[Any, ...]]]) -> dict[str, set[tuple[Any, ...]]]:
    """Relations as the reference engine finds them, whose calls are not ours."""
    calls = list(CALLS)
    found = evaluate(parse(PROGRAM), facts, functions=of_users(FUNCTIONS))
    CALLS[:] = calls
    return found


def check(workspace: lftj.Workspace, facts: dict[str, list[tuple[Any, ...]]]) -> None:
    wanted = expected(facts)
    for name in NAMES:
        assert set(workspace[name].fetchall()) == wanted[name], name
    calls = list(CALLS)
    assert workspace.verify() == []
    assert calls == CALLS


# ── where they stand, how often they are called ───────────────────────────────────────────────────
def test_functions_stand_wherever_terms_do_and_views_follow():
    workspace = registered()
    workspace.add_rules(PROGRAM)
    facts = {name: list(rows) for name, rows in FACTS.items()}
    for name, rows in facts.items():
        workspace.load(name, rows)
    check(workspace, facts)
    for name, row, there in [
        ("p", ("D e",), True), ("p", ("A b",), False), ("n", (8, 0.25), True),
        ("n", (1, 0.5), False), ("start", (6,), False), ("start", (27,), True),
        ("p", ("A b",), True), ("start", (27,), False), ("n", (1, 0.5), True),
    ]:  # fmt: skip
        with workspace.transaction() as tx:
            (tx.insert if there else tx.delete)(name, [row])
        (facts[name].append if there else facts[name].remove)(row)
        check(workspace, facts)
    assert len(CALLS) == len(set(CALLS)), "a function was called again"


def test_python_expressions_call_functions_too():
    workspace = registered()
    x, y = lftj.vars("x y")
    p = workspace.relation("p", {"x": str})
    q = workspace.view("q", {"x": str, "y": str})
    r = workspace.view("r", {"y": str, "n": int})
    named = FUNCTIONS[0]
    workspace.add_rule(q(x, y) <= p(x) & (y == named(x)))
    workspace.add_rule(r(named(x), lftj.count()) <= p(x) & (named(x) != "c"))
    workspace.load(p, FACTS["p"])
    assert sorted(q_row[1] for q_row in workspace["q"].fetchall()) == ["a-b", "a-b", "c"]
    assert workspace["r"].fetchall() == [("a-b", 2)]
    assert workspace.query(p(x) & (named(x) == "c")).fetchall() == [("c",)]
    assert sorted(CALLS) == [("A b",), ("a B",), ("c",)]
    with pytest.raises(lftj.ArityError, match="takes 1 arguments, found 2"):
        named(x, y)
    assert named.function("A") == "a"


def test_a_rule_that_comes_later_and_questions_use_the_results_that_there_are():
    workspace = registered()
    workspace.add_rules(".decl p(x: symbol) .decl q(y: symbol) q(slug(x)) :- p(x).")
    workspace.load("p", FACTS["p"])
    known = list(CALLS)
    workspace.add_rules('.decl r(x: symbol) r(x) :- p(x), x != "c", slug(x) = "a-b".')
    assert len(workspace.query("p(x), y = slug(x)")) == 3
    assert len(workspace.prepare_query("p(x), slug(x) = ?")("a-b")) == 2
    assert workspace.prepare_query("y = slug(?)")("c").fetchall() == [("c",)]
    assert known == CALLS
    assert workspace.query('y = slug("New one")').fetchall() == [("new-one",)]
    assert [*known, ("New one",)] == CALLS


def test_a_function_is_not_called_for_what_the_rest_of_a_body_rejects():
    workspace = registered()
    workspace.add_rules(
        ".decl p(x: symbol) .decl ok(x: symbol) .decl q(y: symbol) "
        'q(y) :- p(x), y = slug(x), ok(x), x != "bad".'
    )
    workspace.load("p", [("bad",), ("A",), ("B",)])
    workspace.load("ok", [("bad",), ("A",)])
    assert workspace["q"].fetchall() == [("a",)]
    assert CALLS == [("A",)]


def test_results_that_nothing_reads_any_more_are_forgotten():
    workspace = registered(FUNCTIONS[1])
    workspace.add_rules(
        ".decl n(x: number) .decl q(x: number, y: number) q(x, collatz(x)) :- n(x)."
    )
    workspace.load("n", [(number,) for number in range(4000)])
    (name,) = [each for each in workspace._backend.state.database if "results" in each]  # type: ignore[attr-defined]
    with workspace.transaction() as tx:
        tx.delete("n", [(number,) for number in range(10, 4000)])
    assert workspace._backend.state.database[name].count == 10  # type: ignore[attr-defined]
    assert workspace.verify() == []
    CALLS.clear()
    workspace.load("n", [(5,), (20,)])
    assert CALLS == [("collatz", 20)]


# ── whole columns ─────────────────────────────────────────────────────────────────────────────────
def _arrow(texts: pa.Array) -> pa.Array:
    CALLS.append((len(texts),))
    values = texts.to_pylist()
    if "bad" in values:
        raise ValueError("no slug")
    if "short" in values:
        return texts[:1]
    lower = [None if text == "none" else text.lower() for text in values]
    return pa.array(lower, pa.string())


def _numpy(numbers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    CALLS.append((len(numbers),))
    return numbers * weights


def test_functions_of_whole_columns():
    workspace = lftj.connect()
    workspace.function(name="low", argument_types=(str,), result_type=str, columns="arrow")(_arrow)
    workspace.function(
        name="times", argument_types=(int, float), result_type=float, columns="numpy"
    )(_numpy)
    workspace.add_rules(
        ".decl p(x: symbol) .decl q(y: symbol) q(low(x)) :- p(x). .decl n(x: number, w: float) "
        ".decl s(x: number, y: float) s(x, times(x, w)) :- n(x, w)."
    )
    workspace.load("p", [("A",), ("B",), ("a",)])
    workspace.load("n", [(2, 1.5), (3, 0.5)])
    assert sorted(workspace["q"].fetchall()) == [("a",), ("b",)]
    assert sorted(workspace["s"].fetchall()) == [(2, 3.0), (3, 1.5)]
    assert CALLS == [(3,), (2,)]
    workspace.load("p", [("C",)])
    assert CALLS == [(3,), (2,), (1,)]


@pytest.mark.parametrize("columns", [None, "arrow", "numpy"])
def test_values_of_all_types_go_through(columns: Any):
    values: list[tuple[Any, Any]] = [
        (lftj.INT, -3), (lftj.UNSIGNED, 3), (lftj.FLOAT, 1.5), (lftj.STR, "ü"), (lftj.BOOL, True),
        (lftj.DATE, datetime.date(2020, 2, 29)), (lftj.TIMESTAMP, datetime.datetime(2020, 1, 2, 3)),
        (lftj.decimal(8, 2), Decimal("1.25")),
    ]  # fmt: skip
    for type_, value in values:
        workspace = lftj.connect()
        workspace.relation("p", {"x": type_})
        workspace.view("q", {"x": type_})
        same = lftj.UserFunction(lambda x: x, (type_,), type_, columns, "same")
        workspace.function(same)
        workspace.add_rule("q(same(x)) :- p(x).")
        workspace.load("p", [(value,)])
        assert workspace["q"].fetchall() == [(value,)], type_


# ── failures ──────────────────────────────────────────────────────────────────────────────────────
def _failing(function: Callable[..., Any], **options: Any) -> lftj.Workspace:
    workspace = lftj.connect()
    workspace.function(**{"name": "slug", "argument_types": (str,), "result_type": str} | options)(
        function
    )
    workspace.add_rules(".decl p(x: symbol) .decl q(x: symbol, y: symbol) q(x, slug(x)) :- p(x).")
    workspace.load("p", [("A",)])
    return workspace


@pytest.mark.parametrize(
    ("options", "row", "message"),
    [
        ({}, "bad", r"`slug` raised ValueError: no slug, for slug\('bad'\)"),
        ({}, "none", r"`slug` gave None, no str, for slug\('none'\)"),
        ({"columns": "arrow"}, "bad", r"`slug` raised ValueError: no slug, for slug\('bad'\)"),
        ({"columns": "arrow"}, "none", r"`slug` gave None, no str, for slug\('none'\)"),
        ({"columns": "arrow"}, "short", r"`slug` gave a StringArray of 1 for columns of 3 rows"),
    ],
)
def test_a_failure_names_function_and_row_and_the_commit_has_not_happened(
    options: dict[str, Any], row: str, message: str
):
    workspace = _failing(_arrow if options else slug, **options)
    version = workspace.version
    with pytest.raises(lftj.UserFunctionError, match=message) as caught:
        workspace.load("p", [("x",), (row,), ("y",)])
    assert caught.value.code == "E223"
    assert caught.value.hint
    if row == "bad":
        assert isinstance(caught.value.__cause__, ValueError)
    assert (workspace.version, workspace["p"].fetchall()) == (version, [("A",)])
    workspace.load("p", [("x",), ("y",)])
    assert len(workspace["q"]) == 3
    assert workspace.verify() == []


@pytest.mark.parametrize(
    ("result", "type_", "given"),
    [
        (lambda _: 1, str, "gave 1, no str"),
        (lambda _: "1", int, "gave '1', no int"),
        (lambda _: 2**63, int, "gave 9223372036854775808, no int"),
        (lambda _: float("nan"), float, "gave nan, no float"),
        (lambda _: True, int, "gave True, no int"),
        (lambda _: -1, lftj.UNSIGNED, "gave -1, no unsigned"),
    ],
)
def test_a_result_of_another_type_is_refused(result: Any, type_: Any, given: str):
    workspace = lftj.connect()
    workspace.function(name="f", argument_types=(int,), result_type=type_)(result)
    name = {str: "symbol", int: "number", float: "float"}.get(type_, "unsigned")
    workspace.add_rules(f".decl p(x: number) .decl q(y: {name}) q(f(x)) :- p(x).")
    with pytest.raises(lftj.UserFunctionError, match=rf"`f` {given}, for f\(7\)"):
        workspace.load("p", [(7,)])


def test_an_array_of_another_type_is_refused():
    workspace = _failing(lambda texts: texts, columns="arrow")
    numbers = lftj.UserFunction(
        lambda texts: np.arange(len(texts)), (lftj.STR,), lftj.STR, "arrow", "numbered"
    )
    workspace.function(numbers)
    with pytest.raises(lftj.UserFunctionError, match=r"`numbered` gave 0, no str, for numb"):
        workspace.add_rules(".decl r(y: symbol) r(numbered(x)) :- p(x).")


def test_an_interrupt_and_a_limit_leave_the_state_usable():
    def stopped(text: str) -> str:
        if text == "stop":
            raise KeyboardInterrupt
        return text

    workspace = _failing(stopped)
    with pytest.raises(KeyboardInterrupt):
        workspace.load("p", [("B",), ("stop",)])
    assert workspace["p"].fetchall() == [("A",)]
    rows = [(f"row {number}",) for number in range(1000)]
    with workspace.limits(work=1000), pytest.raises(lftj.LimitError):
        workspace.load("p", rows)
    workspace.load("p", rows)
    assert len(workspace["q"]) == 1001
    assert workspace.verify() == []


def test_declarations_that_cannot_be_are_refused():
    workspace = registered()
    workspace.relation("r", {"x": int})
    for made, message in [
        (lambda: lftj.UserFunction(lambda x: x), "has types that are not known"),
        (lambda: lftj.UserFunction(lambda: 1), "has no argument"),
        (lambda: lftj.UserFunction(3), "is no function"),  # type: ignore[arg-type]
        (lambda: lftj.UserFunction(even, columns="pandas"), "no kind of array"),  # type: ignore[arg-type]
        (lambda: workspace.function(name="count")(even), "is a built-in aggregate"),
        (lambda: workspace.function(name="strlen")(even), "cannot name a function"),
        (lambda: workspace.function(name="r")(even), "is a relation already"),
        (lambda: workspace.function(name="slug")(even), r"takes \(str\) and gives str already"),
        (lambda: workspace.relation("slug", {"x": int}), "is a function of yours already"),
    ]:
        with pytest.raises(lftj.DeclarationError, match=message) as caught:
            made()
        assert caught.value.code == "E160"
    with pytest.raises(lftj.ProgramErrors, match="expected str for `slug`") as typed:
        workspace.add_rules(".decl q(y: symbol) q(slug(x)) :- r(x).")
    assert [error.code for error in typed.value.errors] == ["E130"]
    with pytest.raises(lftj.ProgramErrors, match="`slug` takes 1 argument, found 2"):
        workspace.add_rules('.decl q(y: symbol) q(slug(y, y)) :- r(_), y = "a".')
    with pytest.raises(lftj.ProgramErrors, match="the functor `collatz`"):
        workspace.add_rules(
            ".decl d(x: number, n: number) d(x, min(0)) :- r(x). "
            "d(x, min(n)) :- d(y, m), r(x), n = collatz(m), y < x."
        )


# ── another function of the same name ─────────────────────────────────────────────────────────────
def test_views_are_derived_anew_by_a_function_with_other_code():
    def first(text: str) -> str:
        CALLS.append((text,))
        return text.lower()

    def again(text: str) -> str:
        CALLS.append((text,))
        return text.lower()

    def second(text: str) -> str:
        CALLS.append((text,))
        return text.upper()

    workspace = lftj.connect()
    workspace.function(name="slug")(first)
    workspace.add_rules(
        ".decl p(x: symbol) .decl q(y: symbol) q(slug(x)) :- p(x). "
        ".decl c(n: number) c(count()) :- q(_). "
        ".decl r(x: symbol) r(x) :- p(x). r(slug(x)) :- r(x)."
    )
    workspace.load("p", [("A",), ("b",), ("B",)])
    version, calls = workspace.version, len(CALLS)
    changes: list[lftj.Result] = []
    workspace.subscribe("q", changes.append)
    workspace.function(name="slug")(again)
    assert (workspace.version, len(CALLS)) == (version, calls)
    workspace.function(name="slug")(second)
    assert sorted(workspace["q"].fetchall()) == [("A",), ("B",)]
    assert sorted(workspace["r"].fetchall()) == [("A",), ("B",), ("b",)]
    assert workspace.version == version + 1
    assert sorted(row[:2] for row in changes[0].fetchall()) == [
        ("A", 1), ("B", 1), ("a", -1), ("b", -1),
    ]  # fmt: skip
    assert workspace.verify() == []
    workspace.function(name="slug", version="3")(second)
    assert workspace.version == version + 2
    assert len(changes) == 1, "the results are the same"


# ── proofs, SQL ───────────────────────────────────────────────────────────────────────────────────
def test_a_proof_shows_the_call_and_its_stored_result():
    workspace = registered()
    workspace.add_rules(PROGRAM)
    for name, rows in FACTS.items():
        workspace.load(name, rows)
    calls = list(CALLS)
    proof = workspace.explain("body", ("A b", "a-b"))
    assert 'y = slug(x): "a-b" = slug("A b")' in str(proof)
    for name, row in [
        ("counted", ("a-b", 2)), ("totalled", (1, 2.0)), ("inner", (7, 22)), ("odds", (7,)),
        ("next", (10,)), ("constant", ("a-b",)), ("nested", ("a-b-z",)),
    ]:  # fmt: skip
        made = workspace.explain(name, row)
        assert calls == CALLS, "explaining calls no function"
        lftj.check_proof(made, FACTS, PROGRAM, functions=FUNCTIONS)
        CALLS[:] = calls
    assert "slug" in str(workspace.why_not("body", ("A b", "other")))
    assert calls == CALLS
    with pytest.raises(lftj.ProofError):
        lftj.check_proof(proof, proof.facts)


def test_sql_refuses_a_function_by_name():
    program = ".decl p(x: symbol) .decl q(y: symbol) q(slug(x)) :- p(x)."
    with pytest.raises(lftj.SqlError, match="the user's function `slug`") as caught:
        lftj.to_sql(program, functions=FUNCTIONS)
    assert caught.value.code == "E370"


def test_a_function_may_be_given_with_its_types() -> None:
    ws = lftj.connect()

    def doubled(x):  # type: ignore[no-untyped-def]
        return x * 2

    ws.function(doubled, argument_types=(int,), result_type=int, columns="numpy")
    ws.add_rules(".decl a(x: number) .decl b(x: number) b(doubled(x)) :- a(x).")
    ws.load("a", [(1,), (2,)])
    assert sorted(ws["b"].fetchall()) == [(2,), (4,)]


def test_a_function_takes_values_alone() -> None:
    workspace = lftj.connect()
    with pytest.raises(lftj.DeclarationError, match="argument 2 of function `band`") as caught:

        @workspace.function
        def band(low: int, high: int | None) -> str:
            return f"{low} {high}"

    assert "band(coalesce(x, …))" in str(caught.value.hint)


def half(number: int) -> int | None:
    """Half of an even number."""
    return None if number % 2 else number // 2


def halves(numbers: Any) -> Any:
    """The same of an Arrow array."""
    return pa.array([half(each) for each in numbers.to_pylist()], pa.int64())


def listed(numbers: Any) -> Any:
    """The same of a NumPy array."""
    return np.array([half(each) for each in numbers.tolist()], dtype=object)


OF_NULL = """
.decl n(x: number) .decl m(x: number?)
.decl head(x: number?, y: number?)
head(x, half(x)) :- m(x).
.decl bound(x: number, y: number)
bound(x, y) :- n(x), y = half(x).
.decl given(x: number, y: number)
given(x, coalesce(half(x), -1)) :- n(x).
.decl absent(x: number)
absent(x) :- n(x), is_null(half(x)).
.decl twice(x: number, y: number?)
twice(x, half(half(x))) :- n(x).
.decl grouped(y: number?, n: number, s: number?)
grouped(half(x), count(), sum(half(x))) :- n(x).
.decl compared(x: number)
compared(x) :- n(x), half(x) != 3.
.decl cycle(x: number?)
cycle(x) :- n(x).
cycle(half(x)) :- cycle(x), x > 0.
"""


@pytest.mark.parametrize("columns", [None, "arrow", "numpy"])
def test_a_function_may_give_null(columns: Any) -> None:
    functions = {None: half, "arrow": halves, "numpy": listed}
    workspace = lftj.connect()
    function = workspace.function(
        argument_types=(int,), result_type=int | None, columns=columns, name="half"
    )(functions[columns])
    workspace.add_rules(OF_NULL)
    facts: dict[str, list[tuple[Any, ...]]] = {
        "n": [(n,) for n in range(9)], "m": [(None,), (3,), (4,)],
    }  # fmt: skip
    for name, rows in facts.items():
        workspace.load(name, rows)
    with workspace.transaction() as tx:
        tx.delete("n", [(2,)])
        tx.insert("n", [(12,)])
    facts["n"] = [(n,) for n in (0, 1, 3, 4, 5, 6, 7, 8, 12)]
    wanted = evaluate(parse(OF_NULL), facts, functions=of_users([lftj.UserFunction(half)]))
    for name, rows in wanted.items():
        assert set(workspace[name].fetchall()) == rows
        for row in rows if columns is None else ():
            lftj.check_proof(workspace.explain(name, row), facts, functions=[function])


def test_a_function_has_no_name_of_a_functor() -> None:
    with pytest.raises(lftj.DeclarationError, match="`least` is a name") as caught:

        @lftj.connect().function
        def least(number: int) -> int:  # pyright: ignore[reportUnusedFunction]
            return number

    assert caught.value.code == "E160"


def test_what_may_be_null_of_a_function_needs_an_optional_column() -> None:
    workspace = lftj.connect()
    workspace.function(half)
    with pytest.raises(lftj.ProgramErrors, match="may be NULL here") as caught:
        workspace.add_rules(".decl n(x: number) .decl v(y: number) v(half(x)) :- n(x).")
    assert caught.value.errors[0].code == "E134"


def test_the_integer_that_stands_for_null_is_no_result() -> None:
    workspace = lftj.connect()

    def lowest(number: int) -> int | None:
        return -(2**63) if number else None

    workspace.function(lowest)
    workspace.add_rules(".decl n(x: number) .decl v(y: number?) v(lowest(x)) :- n(x).")
    with pytest.raises(lftj.UserFunctionError, match="gave -9223372036854775808"):
        workspace.load("n", [(1,)])
