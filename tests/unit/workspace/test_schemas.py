"""Schemas that change: what becomes of rows, rules, earlier versions, readers and branches."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lftj
from lftj.cli import main
from lftj.engine.live import altered_state
from lftj.errors import (
    BranchError,
    DeclarationError,
    ExpressionError,
    KeyViolationError,
    LftjError,
    MergeConflictError,
    OptionError,
    ParseError,
    SchemaInUseError,
    StillNeededError,
    TypeClashError,
    UnknownNameError,
    ValueTypeError,
)
from lftj.storage.widened_relation import WidenedRelation

ROWS = [(1, "ann", 10), (2, "bob", 20), (3, "ann", 30)]
VIEWS = """
.decl large(id: number)
large(id) :- item(id, _, price), price > 15.
.decl items(who: symbol, n: number)
items(who, count()) :- item(_, who, _).
"""


@pytest.fixture(params=["memory", "path"])
def opened(request: Any, tmp_path: Path) -> Any:
    """Opens the workspace, at a path again and again."""
    memory = lftj.connect(keep="all")

    @contextmanager
    def opening() -> Iterator[lftj.Workspace]:
        if request.param == "memory":
            yield memory
        else:
            with lftj.connect(tmp_path / "w.lftj", keep="all") as ws:
                yield ws

    with opening() as ws:
        ws.relation("item", {"id": int, "who": str, "price": int}, key="id")
        ws.load("item", ROWS)
        ws.add_rules(VIEWS)
    return opening


def rows(ws: Any, name: str = "item") -> list[tuple[Any, ...]]:
    assert ws.verify() == [] if hasattr(ws, "verify") else True
    return sorted(ws[name])


def entries(changes: Any) -> list[tuple[Any, ...]]:
    """Changes as (kind, version, steps or rows)."""
    return [
        (each.kind, each.version, each.steps)
        if each.kind == "schema"
        else (each.kind, each.version, sorted(row[:-1] for row in each))
        for each in changes
    ]


# ── columns ───────────────────────────────────────────────────────────────────────────────────────
def test_a_column_comes_with_a_default(opened: Any) -> None:
    with opened() as ws:
        before = ws.version
        assert ws.alter("item", add={"land": str}, default={"land": "FR"}).columns[-1] == "land"
        assert ws.version == before + 1
        ws.load("item", [(4, "cyd", 40, "IT")])
    with opened() as ws:
        assert rows(ws) == [*((*row, "FR") for row in ROWS), (4, "cyd", 40, "IT")]
        assert rows(ws, "large") == [(2,), (3,), (4,)]
        assert rows(ws, "items") == [("ann", 2), ("bob", 1), ("cyd", 1)]
        assert rows(ws.at(before)) == ROWS
        assert ws.at(before)["item"].columns == ("id", "who", "price")


def test_rows_with_the_default_go_and_come(opened: Any) -> None:
    with opened() as ws:
        ws.alter("item", add={"land": str, "level": float}, default={"land": "FR", "level": 0.5})
        with ws.transaction() as tx:
            tx.delete("item", [(1, "ann", 10, "FR", 0.5)], missing="error")
            tx.insert("item", [(9, "ann", 90, "FR", 0.5)])
            tx.delete("item", [(2, "bob", 20, "IT", 0.5)])
        assert rows(ws) == [
            (2, "bob", 20, "FR", 0.5),
            (3, "ann", 30, "FR", 0.5),
            (9, "ann", 90, "FR", 0.5),
        ]
        ws.alter("item", drop=["land"])
        assert [row[-1] for row in rows(ws)] == [0.5] * 3
        assert ws.query("item(i, _, 90, l)").fetchall() == [(9, 0.5)]
    with opened() as ws:
        with ws.transaction() as tx:
            assert tx.delete_where("item", who="ann") == 2
        assert rows(ws) == [(2, "bob", 20, 0.5)]


def test_a_default_is_in_no_page_until_a_row_differs(opened: Any) -> None:
    def kept(ws: Any) -> bool:
        return isinstance(ws._backend.state.database["wide"], WidenedRelation)

    with opened() as ws:
        ws.relation("wide", {"x": int, "y": int})
        ws.load("wide", [(x, -x) for x in range(5000)])
        taken = ws._backend.arena.bytes_in_use
        ws.alter("wide", add={"z": str}, default={"z": "new"})
        assert ws._backend.arena.bytes_in_use - taken < 10_000
        ws.load("wide", [(9000, 1, "new")])
        assert kept(ws)
        assert ws["wide"].head(2).fetchall() == [(0, 0, "new"), (1, -1, "new")]
    with opened() as ws:
        assert kept(ws)
        assert (len(ws["wide"]), {row[2] for row in ws["wide"]}) == (5001, {"new"})
        ws.load("wide", [(9000, 1, "other")])
        assert not kept(ws)
        assert len(ws["wide"]) == 5002
        assert ws.query('wide(x, _, "other")').fetchall() == [(9000,)]


def test_a_column_is_computed(opened: Any) -> None:
    with opened() as ws:
        x = lftj.vars("price")[0]
        ws.alter(
            "item", add={"twice": int, "say": str}, compute={"twice": x * 2, "say": 'cat(who, "!")'}
        )
        assert ws.log().fetchall()[-1][3] == "item +3 -3"
    with opened() as ws:
        assert rows(ws) == [(i, who, price, 2 * price, f"{who}!") for i, who, price in ROWS]


def test_columns_go_and_are_renamed(opened: Any) -> None:
    with opened() as ws:
        ws.remove_rule([rule for rule in ws.rules if "items" in str(rule)])
        with ws.transaction() as tx:
            item = tx.alter("item", drop="who", rename={"price": "cents"})
            tx.insert(item, [(7, 70)])
        assert ws.relations["item"].columns == ("id", "cents")
        assert ws.relations["item"].key == ("id",)
    with opened() as ws:
        assert rows(ws) == [(1, 10), (2, 20), (3, 30), (7, 70)]
        assert rows(ws, "large") == [(2,), (3,), (7,)]


def test_rows_that_differed_in_a_dropped_column_alone_are_one(opened: Any) -> None:
    with opened() as ws:
        ws.relation("pair", {"x": int, "y": int})
        ws.load("pair", [(1, 1), (1, 2), (2, 2)])
        ws.add_rules(
            ".decl n(n: number) n(count()) :- pair(_, _)."
            ".decl p(x: number) p(x) :- pair(x, _). .decl q(n: number) q(n) :- n(n)."
        )
        ws.alter("pair", drop="y")
    with opened() as ws:
        assert rows(ws, "pair") == rows(ws, "p") == [(1,), (2,)]
        assert rows(ws, "n") == rows(ws, "q") == [(2,)]
        ws.alter("item", add={"z": int}, default={"z": 1})
        ws.load("pair", [(3,)])
        assert rows(ws, "q") == [(3,)]


def test_columns_are_retyped(opened: Any) -> None:
    with opened() as ws:
        ws.relation("t", {"a": int, "b": str, "c": float})
        ws.load("t", [(1, "10", 1.5), (2, "20", 2.0)])
        ws.alter("t", retype={"a": float, "b": int}, rename={"c": "d"})
        assert rows(ws, "t") == [(1.0, 10, 1.5), (2.0, 20, 2.0)]
        ws.alter("t", retype={"d": int}, compute={"d": "b * 10"})
    with opened() as ws:
        assert rows(ws, "t") == [(1.0, 10, 100), (2.0, 20, 200)]
        assert [str(type) for type in ws["t"].types] == ["float", "int", "int"]
        with pytest.raises(LftjError, match="expected int"):
            ws.add_rules(".decl q(x: number) q(a) :- t(a, _, _).")


def test_defaults_of_all_types_outlive_the_process(opened: Any) -> None:
    values = {
        "i": (int, -3),
        "f": (float, 2.5),
        "s": (str, "é"),
        "b": (bool, True),
        "d": (datetime.date, datetime.date(2024, 2, 29)),
        "t": (datetime.datetime, datetime.datetime(2024, 2, 29, 1, 2, 3, 4)),
        "m": ("decimal(8,2)", Decimal("1.25")),
        "u": (lftj.UNSIGNED, 7),
    }
    with opened() as ws:
        types = {name: type for name, (type, _) in values.items()}
        ws.alter("item", add=types, default={name: value for name, (_, value) in values.items()})
    with opened() as ws:
        assert rows(ws)[0] == (*ROWS[0], *(value for _, value in values.values()))
        ws.load("item", [(5, "eve", 1, *(value for _, value in values.values()))])
        assert len(ws["item"]) == 4


# ── keys and names ────────────────────────────────────────────────────────────────────────────────
def test_a_key_comes_and_goes(opened: Any) -> None:
    with opened() as ws:
        with pytest.raises(KeyViolationError):
            ws.alter("item", key="who")
        ws.alter("item", key=None)
        ws.load("item", [(1, "ann", 11)])
        with pytest.raises(KeyViolationError):
            ws.alter("item", key="id")
        assert ws.relations["item"].key is None
        ws.alter("item", key=["id", "price"])
    with opened() as ws:
        assert ws.relations["item"].key == ("id", "price")
        with pytest.raises(KeyViolationError):
            ws.load("item", [(1, "bob", 11)])
        assert len(rows(ws)) == 4


def test_a_relation_gets_another_name(opened: Any) -> None:
    with opened() as ws:
        before = ws.version
        ws.alter("item", to="product")
        assert "item" not in ws.relations
        ws.load("product", [(4, "cyd", 40)])
        ws.relation("item", {"x": int})
        ws.load("item", [(1,)])
    with opened() as ws:
        assert (len(rows(ws, "product")), rows(ws)) == (4, [(1,)])
        assert rows(ws, "large") == [(2,), (3,), (4,)]
        assert rows(ws.at(before)) == ROWS


def test_a_derived_relation_gets_another_name(opened: Any) -> None:
    with opened() as ws:
        ws.add_rules(
            ".decl reach(x: number, y: number) reach(x, y) :- item(x, _, y)."
            "reach(x, z) :- reach(x, y), reach(y, z). .decl far(x: number) far(x) :- reach(x, _)."
        )
        ws.load("reach", [(30, 31)])
        ws.alter("reach", to="path", rename={"y": "z"})
    with opened() as ws:
        assert (3, 31) in rows(ws, "path")
        ws.load("path", [(31, 32)])
        assert (3, 32) in rows(ws, "path")
        assert rows(ws, "far") == [(1,), (2,), (3,), (30,), (31,)]


def test_a_relation_is_dropped(opened: Any) -> None:
    with opened() as ws:
        before = ws.version
        with pytest.raises(SchemaInUseError) as error:
            ws.drop_relation("item")
        assert len(error.value.rules) == 2
        with ws.transaction() as tx:
            tx.remove_rule(ws.rules)
            tx.drop_relation("item")
        assert sorted(ws.relations) == ["items", "large"]
    with opened() as ws:
        assert sorted(ws.relations) == ["items", "large"]
        assert rows(ws.at(before)) == ROWS
        ws.relation("item", {"other": str})
        ws.load("item", [("a",)])
    with opened() as ws:
        assert rows(ws) == [("a",)]


# ── what is refused ───────────────────────────────────────────────────────────────────────────────
def test_rules_that_name_a_column_forbid_its_end(opened: Any) -> None:
    with opened() as ws:
        ws.program(".decl of(p: number)\nof(p) :- item(_, _, p), ! item(p, _, _).", name="other")
        with pytest.raises(SchemaInUseError) as error:
            ws.alter("item", drop="price", add={"z": int}, default={"z": 1})
        assert len(error.value.rules) == 2
        assert ws.relations["item"].columns == ("id", "who", "price")
        with pytest.raises(SchemaInUseError):
            ws.alter("large", add={"z": int}, default={"z": 1})


REFUSED: dict[str, tuple[type[LftjError], Callable[[Any], object]]] = {
    "no default": (DeclarationError, lambda ws: ws.alter("item", add={"z": int})),
    "default of nothing": (DeclarationError, lambda ws: ws.alter("item", default={"z": 1})),
    "default of another type": (
        LftjError,
        lambda ws: ws.alter("item", add={"z": int}, default={"z": "a"}),
    ),
    "a column that is there": (
        DeclarationError,
        lambda ws: ws.alter("item", add={"who": int}, default={"who": 1}),
    ),
    "a name that is there": (DeclarationError, lambda ws: ws.alter("item", rename={"who": "id"})),
    "no such column": (UnknownNameError, lambda ws: ws.alter("item", drop="nobody")),
    "no such relation": (UnknownNameError, lambda ws: ws.alter("nothing", drop="x")),
    "a name of another": (DeclarationError, lambda ws: ws.alter("item", to="large")),
    "a loss": (DeclarationError, lambda ws: ws.alter("item", retype={"price": bool})),
    "no value": (
        ValueTypeError,
        lambda ws: ws.alter("item", add={"z": int}, compute={"z": "to_number(who)"}),
    ),
    "another type": (
        TypeClashError,
        lambda ws: ws.alter("item", add={"z": int}, compute={"z": "who"}),
    ),
    "no expression": (
        LftjError,
        lambda ws: ws.alter("item", add={"z": int}, compute={"z": "1. q(2)"}),
    ),
    "a function": (DeclarationError, lambda ws: ws.alter("cost", drop="x")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_changes_nothing(case: str) -> None:
    kind, change = REFUSED[case]
    with lftj.connect() as ws:
        ws.relation("item", {"id": int, "who": str, "price": int}, key="id")
        ws.function("cost", {"x": int}, int)
        ws.load("item", ROWS)
        ws.add_rules(VIEWS)
        version = ws.version
        with pytest.raises(kind) as error:
            change(ws)
        assert isinstance(error.value, LftjError)
        assert ws.version == version
        assert rows(ws) == ROWS


MEANT: dict[str, tuple[type[LftjError], str, Callable[[Any], object]]] = {
    "E171 add": (OptionError, "a dict of columns and types", lambda ws: ws.alter("e", add="z")),
    "E171 rename": (OptionError, "new names", lambda ws: ws.alter("e", rename=("x", "y"))),
    "E171 retype": (OptionError, "write retype=", lambda ws: ws.alter("e", retype=["x"])),
    "E171 default": (OptionError, "write default=", lambda ws: ws.alter("e", default="x")),
    "E171 compute": (OptionError, "write compute=", lambda ws: ws.alter("e", compute="x")),
    "E171 drop": (OptionError, "a list of columns", lambda ws: ws.alter("e", drop={"x": 1})),
    "E171 number": (OptionError, "a list of columns", lambda ws: ws.alter("e", drop=5)),
    "E171 key": (OptionError, "write key=", lambda ws: ws.alter("e", key=5)),
    "E171 to": (OptionError, "new name", lambda ws: ws.alter("e", to=5)),
    "E111": (
        UnknownNameError,
        r"no column `xx`, which xx \+ 1 names",
        lambda ws: ws.alter("e", add={"z": int}, compute={"z": "xx + 1"}),
    ),
    "E172 compute": (
        DeclarationError,
        "retype={'x': 'int'}",
        lambda ws: ws.alter("e", compute={"x": "x + 1"}),
    ),
    "E172 default": (
        DeclarationError,
        "no column `z`, and gains none",
        lambda ws: ws.alter("e", default={"z": 1}),
    ),
    "E103": (
        ParseError,
        r"'x \+ ' is no expression of columns: expected a term",
        lambda ws: ws.alter("e", add={"z": int}, compute={"z": "x + "}),
    ),
    "E103 condition": (
        ParseError,
        r"if\(x > 1, true, false\)",
        lambda ws: ws.alter("e", add={"z": bool}, compute={"z": "x > 1"}),
    ),
    "E103 optional": (
        ExpressionError,
        r"of the type int \| None",
        lambda ws: ws.relation("o", {"x": lftj.optional(int)}),
    ),
}


@pytest.mark.parametrize("case", MEANT)
def test_what_is_meant_is_said(case: str) -> None:
    kind, words, change = MEANT[case]
    with lftj.connect() as ws:
        ws.relation("e", {"x": int})
        ws.load("e", [(1,)])
        with pytest.raises(kind, match=words) as error:
            change(ws)
        assert error.value.code == case.split()[0]
        assert rows(ws, "e") == [(1,)]


def test_a_name_of_before_leads_to_that_of_now() -> None:
    with lftj.connect() as ws:
        ws.relation("e", {"x": int})
        ws.alter("e", to="f")
        with pytest.raises(UnknownNameError, match="version 1 renamed it: write `f`"):
            _ = ws["e"]
        ws.alter("f", to="g")
        with pytest.raises(UnknownNameError, match="write `g`"):
            _ = ws["f"]
        with pytest.raises(UnknownNameError, match="write `g`"):
            _ = ws["e"]
        with ws.transaction() as tx, pytest.raises(AttributeError, match=r"preview\['edge'\]"):
            tx.preview().changes("g")


def test_rows_come_after_the_schema() -> None:
    with lftj.connect() as ws:
        ws.relation("e", {"x": int})
        with ws.transaction() as tx:
            tx.insert("e", [(1,)])
            with pytest.raises(DeclarationError):
                tx.alter("e", add={"y": int}, default={"y": 0})
            with pytest.raises(DeclarationError):
                tx.drop_relation("e")
        assert rows(ws, "e") == [(1,)]


def test_what_is_declared_otherwise_names_the_change() -> None:
    with lftj.connect() as ws:
        ws.relation("e", {"x": int, "y": int})
        ws.load("e", [(1, 2)])
        with pytest.raises(DeclarationError) as error:
            ws.relation("e", {"x": int, "y": int, "z": str}, key="x")
        assert "ws.alter('e', add={'z': 'str'}, default={'z': …}, key=['x'])" in str(error.value)
        with pytest.raises(LftjError) as other:
            ws.add_rules(".decl e(x: number, y: float)")
        assert "ws.alter('e', retype={'y': 'float'})" in str(other.value)
        ws.program(".decl p(a: number, b: number)\n.decl q(a: number)\nq(a) :- p(a, _).")
        ws.load("p", [(1, 2)])
        with pytest.raises(StillNeededError) as needed:
            ws.program(".decl p(a: number)\n.decl q(a: number)\nq(a) :- p(a).")
        assert "ws.alter('p', drop=['b'])" in str(needed.value)


@pytest.mark.parametrize(
    ("after", "row"),
    [
        ("a: number?", (1, 2)),
        ("a: float", (1, 2.0)),
        ('a: number, b: symbol = "x"', (1, 2, "x")),
        ("a: number, b: number?", (1, 2, None)),
    ],
)
def test_a_text_alters_what_it_declares_otherwise(opened: Any, after: str, row: Any) -> None:
    text = ".decl p(id: number, a: number)\n.decl v(x: number)\nv(x) :- p(a=x).\n"
    new = text.replace("a: number", after)
    if "b:" not in after:
        new = new.replace("x: number", f"x: {after[3:]}")
    with opened() as ws:
        ws.program(text, name="own")
        ws.program(".decl w(id: number)\nw(i) :- p(id=i).", name="other")
        ws.load("p", [(1, 2)])
        with pytest.raises(StillNeededError, match="say alter=True, which does"):
            ws.program(new, name="own")
        found = ws.program(new, name="own", alter=True)
        assert any(each.startswith("p: ") for each in found.altered)
        assert (rows(ws, "p"), rows(ws, "v"), rows(ws, "w")) == ([row], [(row[1],)], [(1,)])
        assert rows(ws.at(ws.version - 1), "p") == [(1, 2)]
    with opened() as ws:
        assert not ws.program(new, name="own")
        assert (rows(ws, "p"), ws.verify()) == ([row], [])


def test_what_a_text_cannot_alter_is_refused(opened: Any) -> None:
    with opened() as ws:
        ws.program(".decl p(a: float)\n.decl v(a: float)\nv(a) :- p(a).", name="own")
        ws.load("p", [(1.5,)])
        there = len(ws.rules)
        other = ".decl p(a: number)\n.decl v(a: number)\nv(a) :- p(a)."
        with pytest.raises(DeclarationError, match="cannot be int without loss"):
            ws.program(other, name="own", alter=True)
        wider = ".decl p(a: float, b: symbol)"
        with pytest.raises(StillNeededError, match=r"go on with ws\.alter\(.*default=\{'b': …\}"):
            ws.program(wider, name="own", alter=True)
        assert (rows(ws, "p"), rows(ws, "v"), len(ws.rules)) == ([(1.5,)], [(1.5,)], there)
        ws.program("", name="own", drop=True)


# ── by the names of columns ──────────────────────────────────────────────────────────────────────
def test_atoms_name_columns(opened: Any) -> None:
    with opened() as ws:
        ws.add_rules(
            """
            .decl rich(who: symbol)
            rich(w) :- item(who=w, price=p), p > 15.
            .decl spent(who: symbol, n: number)
            spent(w, sum(p)) :- item(id=_, who=w, price=p).
            .decl alone(id: number)
            alone(i) :- item(i, who=w), 1 = count : { item(who=w) }, !item(i, price=10).
            item(4, price=7, who="dan").
            """
        )
        assert str(ws.rules[2]) == "rich(w) :- item(_, w, p), p > 15."
        assert rows(ws, "rich") == [("ann",), ("bob",)]
        assert rows(ws, "spent") == [("ann", 40), ("bob", 20), ("dan", 7)]
        assert rows(ws, "alone") == [(2,), (4,)]
        assert ws.query("item(price=p, id=?)", 2).fetchall() == [(20,)]
        ws.alter("item", add={"land": str}, default={"land": "FR"}, rename={"price": "cents"})
        ws.program('.decl fr(i: number)\nfr(i) :- item(id=i, land="FR").', name="p")
        before = ws.rules
        ws.program('.decl fr(i: number)\nfr(x) :- item(x, _, _, "FR").', name="p")
        assert ws.rules == before
    with opened() as ws:
        assert len(rows(ws, "fr")) == 4


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("large(i) :- item(idd=i).", "E111"),
        ("large(i) :- item(id=i, 1).", "E120"),
        ("large(i) :- item(id=i, id=2).", "E120"),
        ("large(i) :- item(i, id=i).", "E120"),
        ('large(i) :- item(id=i), x = strlen(s="a").', "E121"),
        ("large(i) :- nobody(id=i).", "E110"),
        ("item(id=1).", "E144"),
        ("large(i) :- cost[x=i] = _.", "E121"),
    ],
)
def test_names_of_columns_that_cannot_be(rule: str, code: str) -> None:
    with lftj.connect() as ws:
        ws.relation("item", {"id": int, "who": str, "price": int})
        ws.function("cost", {"x": int}, int)
        ws.view("large", {"id": int})
        with pytest.raises(LftjError) as error:
            ws.add_rules(rule)
        assert code in str(error.value)


def test_a_relation_has_the_columns_of_data(tmp_path: Path) -> None:
    dates = [datetime.date(2024, 1, day) for day in (1, 2)]
    table = pa.table(
        {"id": [1, 2], "who": ["a", "b"], "x": [0.5, 1.5], "d": dates, "b": [True, False]}
    )
    csv, parquet = tmp_path / "t.csv", tmp_path / "t.parquet"
    frame = table.to_pandas()
    frame.to_csv(csv, index=False)
    pq.write_table(table, parquet)
    with lftj.connect() as ws:
        for number, data in enumerate((table, csv, str(parquet), table.to_pylist())):
            relation = ws.relation(f"r{number}", data, key="id")
            assert list(map(str, relation.types)) == ["int", "str", "float", "date", "bool"]
            assert ws.load(relation, data) == 2
        assert ws.relation("s", ws["r0"]).columns == ("id", "who", "x", "d", "b")
        wrong = ([(1, 2)], 5, pa.table({"a": [[1]]}), [{"a": 1}, {"a": "b"}], [])
        for number, data in enumerate(wrong):
            with pytest.raises(DeclarationError):
                ws.relation(f"w{number}", data)


# ── files ─────────────────────────────────────────────────────────────────────────────────────────
def test_files_are_checked_dumped_and_copied(tmp_path: Path) -> None:
    path, copy, dump, loaded = (tmp_path / name for name in ("w", "copy", "dump", "loaded"))
    with lftj.connect(path, keep="all") as ws:
        ws.relation("item", {"id": int, "who": str, "price": int}, key="id")
        ws.load("item", ROWS)
        ws.add_rules(VIEWS)
        ws.alter("item", add={"land": str}, default={"land": "only a default"})
        ws.load("item", [(4, "cyd", 40, "only a default")])
        ws.compact()
        ws.alter("item", rename={"who": "name"})
        ws.backup(copy)
        found = rows(ws)
    for words in (("check", "--deep", path), ("dump", path, dump), ("load", dump, loaded)):
        assert main([str(word) for word in words]) == 0
    for each in (path, copy, loaded):
        with lftj.connect(each) as ws:
            assert rows(ws) == found
            assert rows(ws, "large") == [(2,), (3,), (4,)]


def test_rows_keep_the_version_that_brought_them(opened: Any) -> None:
    with opened() as ws:
        ws.load("item", [(5, "eve", 50)])
        came = ws.version
        ws.alter("item", add={"land": str}, default={"land": "FR"}, to="product")
        ws.load("product", [(4, "cyd", 40, "IT")])
        for row, version in (((5, "eve", 50, "FR"), came), ((4, "cyd", 40, "IT"), ws.version)):
            found = ws.explain("product", row).origins.values()
            assert [each.version for each in found] == [version]
    with opened() as ws:
        assert "product(2" in str(ws.explain("large", (2,)))


# ── who follows ───────────────────────────────────────────────────────────────────────────────────
def test_readers_of_changes_are_told_of_the_schema_first(opened: Any) -> None:
    seen: list[Any] = []
    with opened() as ws:
        start = ws.version
        ws.subscribe("item", seen.append)
        ws.consumer("c", "item")
        with ws.transaction() as tx:
            tx.alter("item", add={"land": str}, default={"land": "FR"})
            tx.insert("item", [(4, "cyd", 40, "IT")])
            assert str(tx.preview().rules) == "~ .decl item: + land: str = 'FR'"
            assert len(tx.preview()["item"]) == 1
        ws.alter("item", rename={"who": "name"}, to="product")
        ws.load("product", [(5, "dan", 50, "FR")])
        expected = [
            ("schema", start + 1, ("item: + land: str = 'FR'",)),
            ("rows", start + 1, [(4, "cyd", 40, "IT", 1)]),
            ("schema", start + 2, ("item: who → name", "item → product")),
            ("rows", start + 3, [(5, "dan", 50, "FR", 1)]),
        ]
        assert entries(seen) == expected
        assert seen[2].before["who"] == seen[2].after["name"]
    with opened() as ws:
        assert entries(ws.changes("product", since=start, timeout=0)) == expected
        history = ws.history("product", since=start)
        assert entries(history.commits()) == expected
        assert sorted(row[:-1] for row in history) == [
            (4, "cyd", 40, "IT", 1),
            (5, "dan", 50, "FR", 1),
        ]
        assert ws.log().fetchall()[-2][5] == "item: who → name, item → product"
        consumer = ws.consumer("c", "product", timeout=0)
        given = list(consumer)
        assert entries(given) == expected
        consumer.ack(given[0])
        assert entries(ws.consumer("c", "product", timeout=0)) == expected
        consumer.ack(given[1])
        assert entries(ws.consumer("c", "product", timeout=0)) == expected[2:]


def test_a_stream_of_a_dropped_relation_ends() -> None:
    with lftj.connect(keep="all") as ws:
        ws.relation("e", {"x": int})
        ws.load("e", [(1,)])
        stream, seen = ws.changes("e"), list[Any]()
        ws.subscribe("e", seen.append)
        ws.drop_relation("e")
        for found in (list(stream), seen):
            told: list[Any] = list(found)
            assert told[0].after is None
            assert entries(told) == [("schema", 2, ("e is dropped",))]


def test_a_reader_in_another_process_follows(tmp_path: Path) -> None:
    with lftj.connect(tmp_path / "w.lftj") as ws:
        ws.relation("e", {"x": int})
        ws.load("e", [(1,)])
        with lftj.connect(tmp_path / "w.lftj", read_only=True) as reader:
            seen: list[Any] = []
            reader.subscribe("e", seen.append)
            ws.load("e", [(2,)])
            ws.alter("e", add={"y": int}, default={"y": 0})
            ws.alter("e", to="f")
            ws.load("f", [(3, 1)])
            reader.refresh()
            assert rows(reader, "f") == [(1, 0), (2, 0), (3, 1)]
            assert [(each.kind, sorted(row[:3] for row in each)) for each in seen] == [
                ("schema", []),
                ("rows", [(2, 0, 1), (3, 1, 1)]),
            ]


# ── branches ──────────────────────────────────────────────────────────────────────────────────────
def test_branches_that_both_altered_a_relation_are_compared(opened: Any) -> None:
    with opened() as ws:
        one, other = ws.branch("one"), ws.branch("other")
        one.alter("item", add={"land": str}, default={"land": "FR"})
        one.load("item", [(4, "dan", 40, "DE")])
        other.alter("item", rename={"price": "cents"}, add={"n": "int?"}, to="product")
        with other.transaction() as tx:
            tx.delete("product", [(1, "ann", 10, None)])
        other.alter("product", add={"land": str}, default={"land": "FR"})
    with opened() as ws:
        for name in ("item", "product"):
            found = ws.diff("one", "other", name)
            columns = ["id", "who", "cents", "n", "land", "__diff__", "__version__"]
            assert sorted(found.columns) == sorted(columns)
            apart = {
                tuple(row[found.columns.index(each)] for each in columns[:-1]) for row in found
            }
            assert apart == {(1, "ann", 10, None, "FR", -1), (4, "dan", 40, None, "DE", -1)}
            assert len(ws.diff("other", "one", name)) == 2
            assert len(ws.diff("one", "one", "item")) == 0
        assert [row[:2] for row in ws.diff("one", "other", "large")] == [(4, -1)]
        with pytest.raises(UnknownNameError):
            ws.diff("one", "other", "nobody")
        ws.branch("one").alter("item", rename={"price": "price_of"})
        with pytest.raises(BranchError, match="both rename the column `price`") as refused:
            ws.diff("one", "other", "item")
        assert "ws.branch('one')['item']" in str(refused.value.hint)


def test_a_branch_from_before_is_merged(opened: Any) -> None:
    with opened() as ws:
        branch = ws.branch("b")
        ws.alter("item", add={"land": str}, default={"land": "FR"})
        with branch.transaction() as tx:
            tx.insert("item", [(4, "cyd", 40)])
            tx.delete("item", [(1, "ann", 10)])
            tx.add_rule('large(0) :- item(_, "cyd", _).')
        apart = {(1, "ann", 10, "FR", -1), (4, "cyd", 40, "FR", 1)}
        assert {row[:-1] for row in ws.diff("main", "b", "item")} == apart
        assert {(*row[:-2], -row[-2]) for row in ws.diff("b", "main", "item")} == apart
        ws.alter("item", add={"twice": int}, compute={"twice": "price * 2"}, to="product")
        ws.merge("b")
    with opened() as ws:
        assert rows(ws, "product") == [
            (2, "bob", 20, "FR", 40), (3, "ann", 30, "FR", 60), (4, "cyd", 40, "FR", 80)
        ]  # fmt: skip
        assert rows(ws, "large") == [(0,), (2,), (3,), (4,)]
        branch = ws.branch("b")
        branch.merge("main")
        assert rows(branch, "product") == rows(ws, "product")


def test_a_branch_that_alters_is_merged(opened: Any) -> None:
    with opened() as ws:
        branch = ws.branch("b")
        branch.alter("item", rename={"price": "cents"}, add={"land": str}, default={"land": "FR"})
        branch.relation("spare", {"x": int})
        ws.load("item", [(4, "cyd", 40)])
        ws.merge("b")
        assert rows(ws)[-1] == (4, "cyd", 40, "FR")
        branch.drop_relation("spare")
        ws.merge("b")
    with opened() as ws:
        assert sorted(ws.relations) == ["item", "items", "large"]
        assert len(rows(ws)) == 4


def test_a_merge_that_cannot_replay_names_the_version(opened: Any) -> None:
    with opened() as ws:
        branch = ws.branch("b")
        branch.add_rules(".decl spy(p: symbol) spy(w) :- item(_, w, 30).")
        ws.remove_rule(ws.rules)
        ws.alter("item", drop="who")
        with pytest.raises(MergeConflictError) as error:
            ws.merge("b")
        assert f"version {ws.version}, item: - who" in str(error.value)
        branch.alter("item", key=None)
        with pytest.raises(MergeConflictError):
            ws.merge("b")
        assert rows(ws) == [(1, 10), (2, 20), (3, 30)]


def test_facts_of_programs_are_altered(opened: Any) -> None:
    with opened() as ws:
        text = (
            ".decl part(x: number)\npart(1). part(2).\n.decl half(x: number)\nhalf(x) :- part(x)."
        )
        ws.program(text, name="p")
        ws.alter("part", add={"y": int, "z": int}, default={"y": 5}, compute={"z": "x + 1"})
        assert rows(ws, "part") == [(1, 5, 2), (2, 5, 3)]
    with opened() as ws:
        with ws.transaction() as tx:
            tx.remove_rule([rule for rule in ws.rules if "part" in str(rule)])
        ws.program("", name="p")
        assert "part" not in ws.relations


def test_values_of_another_type_are_computed_once(monkeypatch: Any) -> None:
    asked: list[str] = []
    real = altered_state.computed

    def counting(engine: Any, relation: Any, alteration: Any) -> Any:
        asked.append(alteration.expression)
        return real(engine, relation, alteration)

    monkeypatch.setattr(altered_state, "computed", counting)
    with lftj.connect() as ws:
        ws.relation("e", {"x": int, "y": str})
        ws.load("e", [(n, str(n)) for n in range(100)])
        ws.alter("e", retype={"x": float})
        assert asked == ["to_float(x)", "to_number(x)"]
        assert len(rows(ws, "e")) == 100


def test_a_renamed_relation_leaves_its_name_to_another_one() -> None:
    ws = lftj.connect()
    ws.program(".decl a(x: number, y: number)\n.decl p(x: number)\np(x) :- a(x, _).")
    ws.load("a", [(1, 2)])
    with ws.transaction() as tx:
        tx.alter("a", to="old")
        tx.program(
            ".decl old(x: number, y: number)\n.decl a(x: number, y: symbol)\n"
            '.decl p(x: number)\np(x) :- old(x, _).\na(7, "a").'
        )
    assert ws["a"].fetchall() == [(7, "a")]
    assert (ws["old"].fetchall(), ws["p"].fetchall()) == ([(1, 2)], [(1,)])
    assert ws.verify() == []


def test_the_log_of_a_relation_that_was_declared_anew_and_altered() -> None:
    ws = lftj.connect()
    ws.program(".decl a(x: number, y: number)\n.decl p(x: number)\np(x) :- a(x, _).")
    with ws.transaction() as tx:
        tx.program(".decl a(u: number)\n.decl p(x: number)\np(x) :- a(x).", drop=True)
        tx.alter("a", rename={"u": "v"})
    assert ws.relations["a"].columns == ("v",)
    assert len(ws.log()) == ws.version
    assert ws.verify() == []
