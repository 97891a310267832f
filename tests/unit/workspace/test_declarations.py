from __future__ import annotations

import datetime
import importlib.metadata
import math
import pickle

import pytest

import lftj
from tests.unit.workspace.reading import rows


def test_a_relation_is_declared_once_and_found_again(ws):
    acct = ws.relation(
        "acct", {"id": int, "since": datetime.date, "owed": "decimal(10,2)"}, key="id"
    )
    assert (
        ws.relation(
            "acct", {"id": int, "since": "date", "owed": "decimal(10,2)"}, key=["id"]
        ).schema
        == acct.schema
    )
    assert (acct.columns, acct.key) == (("id", "since", "owed"), ("id",))
    assert repr(acct) == "<Relation acct(id: int, since: date, owed: decimal(10,2)) key(id)>"
    assert list(ws.relations) == ["acct"]
    assert "acct" in ws
    assert acct in ws
    assert "other" not in ws


def test_another_declaration_of_the_name_is_an_error(ws):
    ws.relation("p", {"x": int})
    with pytest.raises(lftj.DeclarationError, match="`p` is declared twice, differently"):
        ws.relation("p", {"x": float})
    with pytest.raises(lftj.DeclarationError, match="`p` is declared as a relation already"):
        ws.view("p", {"x": int})
    assert ws.relations["p"].types == (lftj.INT,)


def test_another_key_is_told_of(ws):
    ws.relation("p", {"x": int, "y": int}, key="x")
    with pytest.raises(lftj.DeclarationError) as caught:
        ws.relation("p", {"x": int, "y": int})
    assert (
        caught.value.hint
        == "keep one of the two declarations; the first is p(x: int, y: int) key(x); "
        "ws.alter('p', key=None) makes it the second"
    )
    ws.relation("q", {"x": int})
    with pytest.raises(lftj.DeclarationError) as caught:
        ws.relation("q", {"x": int}, key="x")
    assert (
        caught.value.hint
        == "keep one of the two declarations; the first is q(x: int) without a key; "
        "ws.alter('q', key=['x']) makes it the second"
    )


@pytest.mark.parametrize(
    "domains", [{"key": 0}, {"key": [0]}, {"choice": 0}, {"choice": [("x", 0)]}]
)
def test_columns_of_keys_are_named(ws, domains):
    with pytest.raises(lftj.UnknownNameError, match="relation `p` has no column `0`"):
        ws.relation("p", {"x": int}, **domains)


def test_an_argument_is_not_called_as_the_value_is(ws):
    with pytest.raises(
        lftj.DeclarationError, match="relation `f` has two columns `value`"
    ) as caught:
        ws.function("f", {"value": int}, int)
    assert caught.value.code == "E164"
    assert "f" not in ws


def test_names_that_differ_in_case_are_the_nearest(ws):
    ws.add_rules(".decl reachable(x: number)\n.decl ReachBy(x: number)\n.decl p(x: number)")
    for wrong, right in (("reachby", "ReachBy"), ("P", "p"), ("REACHABLE", "reachable")):
        with pytest.raises(lftj.UnknownNameError, match=f"did you mean `{right}`"):
            ws[wrong]


def test_a_key_must_be_columns(ws):
    with pytest.raises(lftj.UnknownNameError, match="no column `idd`") as caught:
        ws.relation("acct", {"id": int, "c": str}, key="idd")
    assert caught.value.code == "E111"


@pytest.mark.parametrize("name", ["a#b", "1a", "", "reach'"])
def test_a_name_that_rules_could_not_write_is_refused(ws, name):
    with pytest.raises(lftj.LftjError):
        ws.relation(name, {"x": int})
    assert not ws.relations


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("p", [("x", int)], "columns are a dict of names and types, found list"),
        ("p", {"x": complex}, "complex is not a column type"),
        ("p", {"": int}, "'' is not a name for a column"),
        ("p", {3: int}, "3 is not a name for a column"),
        ("p", {"x\ud800": int}, "is not a name for a column"),
    ],
)
def test_other_declarations_are_refused(ws, name, columns, message):
    with pytest.raises(lftj.DeclarationError, match=message):
        ws.relation(name, columns)


def test_a_function_has_one_value_per_argument(ws):
    price = ws.function("price", {"item": str}, float)
    cheap = ws.view("cheap", {"item": str})
    x, y = lftj.vars("x y")
    ws.add_rule(cheap(x) <= (price[x] == y) & (y < 2.0))
    ws.load(price, [("tea", 1.5), ("cake", 3.0)])
    assert rows(ws, "cheap") == {("tea",)}
    with pytest.raises(lftj.KeyViolationError):
        ws.load(price, [("tea", 1.75)])
    assert ws[price].columns == ("item", "value")


def test_unknown_names_suggest_the_nearest(graph):
    with pytest.raises(lftj.UnknownNameError, match="did you mean `reach`") as caught:
        graph["raech"]
    assert caught.value.code == "E110"
    with pytest.raises(KeyError):
        graph.load("egde", [(1, 2)])
    with pytest.raises(lftj.UnknownNameError, match="expected a relation or its name, found 3"):
        graph[3]


def test_hidden_relations_are_nobodys_business(graph):
    with pytest.raises(lftj.UnknownNameError):
        graph["reach#base"]
    with pytest.raises(lftj.UnknownNameError):
        graph.load("reach#base", [(1, 1)])


def test_load_says_how_many_rows_were_new(graph, tmp_path):
    assert graph.load("edge", [(2, 3), (3, 4), (3, 4)]) == 1
    assert graph.load("reach", [(8, 9), (1, 2)]) == 2  # rows of its own, derived or not
    path = tmp_path / "edge.csv"
    path.write_text("dst,src\n7,6\n")
    assert graph.load("edge", path) == 1
    assert (6, 7) in rows(graph, "reach")


def test_columns_and_nulls_are_passed_to_the_reader(ws):
    import pandas as pd

    ws.relation("p", {"x": int, "s": str})
    frame = pd.DataFrame({"number": [1, 2], "name": ["a", None]})
    assert ws.load("p", frame, columns={"x": "number", "s": "name"}, nulls="drop") == 1
    with pytest.raises(lftj.NullValueError, match="row 1"):
        ws.load("p", frame, columns={"x": "number", "s": "name"})
    assert rows(ws, "p") == {(1, "a")}


def test_a_relation_without_columns_is_true_or_false(ws):
    rainy = ws.relation("rainy", {})
    wet = ws.view("wet", {})
    ws.add_rule(wet() <= rainy())
    assert not ws["wet"]
    assert ws.load(rainy, [()]) == 1
    assert ws["wet"].fetchall() == [()]
    assert ws.query("wet()")
    with ws.transaction() as tx:
        tx.delete(rainy, [()])
    assert tx.changes("wet").fetchall() == [(-1, tx.version)]
    assert not ws.query("rainy()")


@pytest.mark.parametrize("column", ["__diff__", "__version__"])
def test_columns_of_change_sets_are_no_columns_of_relations(ws, column):
    with pytest.raises(lftj.DeclarationError, match=f"`{column}` is a column of change sets"):
        ws.relation("r", {"x": int, column: int})
    with pytest.raises(lftj.ProgramErrors) as caught:
        ws.add_rules(f".decl r(x: number, {column}: number)")
    assert [(error.code, error.span.column) for error in caught.value.errors] == [("E160", 20)]


def test_a_subscriber_that_cannot_be_called(ws):
    ws.relation("r", {"x": int})
    with pytest.raises(lftj.TransactionError, match="3 cannot be called") as caught:
        ws.subscribe("r", 3)
    assert caught.value.code == "E326"


@pytest.mark.parametrize(
    "options", [{"trace_budget": "1GB"}, {"trace_budget": -1}, {"executor": 3}]
)
def test_what_workspaces_cannot_be_made_with(options):
    with pytest.raises(lftj.DeclarationError) as caught:
        lftj.connect(**options)
    assert caught.value.hint


def test_an_option_that_load_does_not_have(ws):
    ws.relation("r", {"x": int})
    with pytest.raises(lftj.OptionError) as caught:
        ws.load("r", [(1,)], nuls="drop")
    assert (caught.value.code, caught.value.hint) == ("E170", "did you mean nulls=?")


def test_the_version_is_that_of_the_distribution():
    assert lftj.__version__ == importlib.metadata.version("lftj")


def test_errors_of_a_program_survive_pickling(ws):
    with pytest.raises(lftj.ProgramErrors) as caught:
        ws.add_rules("p(x) :- q(x).")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.args, [error.code for error in again.errors]) == (
        str(caught.value),
        caught.value.args,
        ["E110", "E110"],
    )


@pytest.mark.parametrize("value", [-1, math.nan, "x", None, True])
@pytest.mark.parametrize("option", ["writer_timeout", "elastic"])
def test_options_of_connect_are_amounts(option, value):
    with pytest.raises(
        lftj.DeclarationError, match=f"{option} is a .* of at least 0, found {value!r}"
    ):
        lftj.connect(**{option: value})
    assert lftj.connect(**{option: math.inf}).version == 0


def test_a_progress_that_cannot_be_called():
    with pytest.raises(lftj.DeclarationError, match="progress cannot be called: 5"):
        lftj.connect(progress=5)


def test_a_head_that_keeps_more_than_fits_beside_a_group_is_refused_at_its_rule(ws):
    columns = ", ".join(f"c{number}: float" for number in range(90))
    means = ", ".join(f"mean(x + {number})" for number in range(90))
    rules = f".decl p(x: number)\n.decl v({columns})\nv({means}) :- p(x)."
    with pytest.raises(
        lftj.DeclarationError, match="in a rule for `v` more is kept than fits beside a group"
    ) as caught:
        ws.add_rules(rules)
    assert (caught.value.code, caught.value.span.line) == ("E168", 3)
    assert not ws.rules
    ws.add_rules(
        rules.replace(means, ", ".join(f"min(x + {number})" for number in range(90))).replace(
            "float", "number"
        )
    )
    ws.load("p", [(1,), (2,)])
    assert ws["v"].fetchall() == [tuple(range(1, 91))]
