# SPDX-License-Identifier: Apache-2.0
"""Columns that get another type: each value comes back by the reverse, or nothing changes."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.errors import DeclarationError, LftjError, MergeConflictError, TypeClashError

VALUES: dict[str, list[Any]] = {
    "int": [0, -1, 7, 2**53, 2**53 + 1, 2**63 - 1, -(2**63) + 1, 10**17, None],
    "unsigned": [0, 7, 2**53 + 1, 2**63 - 1, None],
    "float": [0.0, 1.5, -0.1, 1e300, 5e-324, 2.0**53, 1e17, 1e16, -3.0, float("inf"), None],
    "str": ["7", "007", "+7", " 7", "-0", "0x7", "1.0", "1.50", "1e3", "true", "", "a", "7 ", None],
    "bool": [True, False, None],
    "date": [datetime.date(2024, 2, 29), None],
    "timestamp": [datetime.datetime(2024, 2, 29, 1, 2, 3, 4), None],
    "decimal(9,2)": [Decimal("7.00"), Decimal("-0.05"), None],
}


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize(("before", "after"), permutations(VALUES, 2))
def test_values_come_back_or_stay(before: str, after: str, optional: bool) -> None:
    """Each value by itself, so that one that is refused hides no other."""
    mark = "?" * optional
    with lftj.connect() as ws:
        ws.relation("a", {"n": int, "v": before + mark})
        for value in VALUES[before]:
            if value is None and not optional:
                continue
            ws.load("a", [(1, value)])
            version = ws.version
            try:
                ws.alter("a", retype={"v": after + mark})
            except LftjError:
                assert ws.version == version
                assert list(ws["a"]) == [(1, value)]
            else:
                try:
                    ws.alter("a", retype={"v": before + mark})
                except DeclarationError as error:
                    assert "no conversion" in error.message  # noqa: PT017
                    ws.alter("a", drop="v", add={"v": before + mark}, default={"v": value})
                assert list(ws["a"]) == [(1, value)]
                assert type(next(iter(ws["a"]))[1]) is type(value)
            with ws.transaction() as tx:
                tx.delete_where("a")


# ── all pairs of types ────────────────────────────────────────────────────────────────────────────
TYPES = {
    **VALUES,
    "decimal(9,2)": [Decimal(each) for each in ("7.00", "-0.05", "0.10", "9999999.99", "86.40")],
    "decimal(18,4)": [
        Decimal(each)
        for each in ("7.0000", "0.1000", "0.0001", "99999999999999.9999", "-12345678901234.5600")
    ],
    "decimal(3,1)": [Decimal(each) for each in ("7.0", "-99.9", "0.1")],
    "decimal(18,0)": [Decimal(each) for each in ("7", str(2**53 + 1), str(10**17), "-999")],
    "float": [*VALUES["float"], 0.1, 7.25, 99.99, 1e15 + 0.125, 99999999999999.98, 1 / 3, 2.0**62],
    "str": [*VALUES["str"], "-0.05", "7.00", "false", "2024-02-29", "2024-02-29 00:00:00",
            "2024-02-30", "2024-02-29T01:02:03", "2024-02-29 01:02:03.000004", "1e+300", "inf"],
    "timestamp": [*VALUES["timestamp"], datetime.datetime(1969, 12, 31), datetime.datetime.max],
    "date": [*VALUES["date"], datetime.date.min, datetime.date.max],
}  # fmt: skip
NONE = object()


def written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        found = repr(value).removesuffix(".0")
        return str(int(value)) if found.endswith("e+16") else found
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def number(value: Any, kind: str) -> Any:
    """The nearest number of a type; NONE where that is out of its range."""
    if kind == "float":
        return float(value)
    if value in (float("inf"), -float("inf")):
        return NONE
    digits, places = (19, 0) if "(" not in kind else map(int, re.findall(r"\d+", kind))
    found = round(Fraction(value) * 10**places)
    least, most = 1 - 10**digits, 10**digits - 1
    if "decimal" not in kind:
        least, most = (0 if kind == "unsigned" else -(2**63) + 1), 2**63 - 1
    if not least <= found <= most:
        return NONE
    return found if "decimal" not in kind else Decimal(f"{found}e-{places}")


def of_text(text: str, kind: str) -> Any:
    try:
        if kind == "bool":
            return {"true": True, "false": False}[text]
        if kind in ("date", "timestamp"):
            python = datetime.date if kind == "date" else datetime.datetime
            return python.fromisoformat(text)
        return number(float(Fraction(text)) if kind == "float" else Fraction(text), kind)
    except (ValueError, LookupError):
        return NONE


def there(value: Any, before: str, after: str) -> Any:
    """The value in a column of another type; NONE where it has none, and LookupError where types
    share no values.
    """
    numbers = ("int", "unsigned", "float")
    if after == "str":
        return written(value)
    if before == "str":
        return of_text(value, after)
    if {before, after} == {"date", "timestamp"}:
        return (
            value.date() if after == "date" else datetime.datetime.combine(value, datetime.time.min)
        )
    if all(each in numbers or "decimal" in each for each in (before, after)):
        return number(value, after)
    raise LookupError(before, after)


def model(value: Any, before: str, after: str) -> Any:
    """The value after retyping; NONE where it is refused."""
    if value is None:
        return None
    found = there(value, before, after)
    return found if found is not NONE and there(found, after, before) == value else NONE


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize(("before", "after"), permutations(TYPES, 2))
def test_all_types_are_converted_as_a_plain_model_does(
    before: str, after: str, optional: bool
) -> None:
    mark, values = "?" * optional, [each for each in TYPES[before] if each is not None or optional]
    with lftj.connect() as ws:
        ws.relation("a", {"n": int, "v": before + mark})
        try:
            expected = [model(value, before, after) for value in values]
        except LookupError:
            ws.load("a", [(0, values[0])])
            with pytest.raises(DeclarationError, match="no conversion makes it") as error:
                ws.alter("a", retype={"v": after + mark})
            follow(ws, error.value.hint or "", after + mark)
            return
        good = [(n, value) for n, value in enumerate(values) if expected[n] is not NONE]
        for n, value in enumerate(values):
            if expected[n] is NONE:
                ws.load("a", [(n, value)])
                with pytest.raises(LftjError) as error:
                    ws.alter("a", retype={"v": after + mark})
                assert sorted(ws["a"]) == [(n, value)]
                if (before, after) not in NAMED_BY_FUNCTIONS:
                    assert f"in the row ({n}, {value!r})" in error.value.message
                with ws.transaction() as tx:
                    tx.delete_where("a")
        ws.load("a", good)
        ws.alter("a", retype={"v": after + mark})
        found = [(n, type(value), value) for n, value in sorted(ws["a"], key=lambda row: row[0])]
        assert found == [(n, type(expected[n]), expected[n]) for n, _ in good]
        ws.alter("a", retype={"v": before + mark})
        assert sorted(ws["a"], key=lambda row: row[0]) == good


NAMED_BY_FUNCTIONS = {
    *product(("int", "float"), ("float", "str", "int")),
    *product(("str",), ("int", "float")),
}
"""Types that functions of rules convert, whose errors name the value that has none."""


def follow(ws: Any, hint: str, after: str) -> None:
    """Do what a hint says, where it has an expression."""
    if said := re.search(r"compute=(\{.*?\})", hint):
        ws.alter("a", retype={"v": after}, compute=eval(said[1]))
        assert len(list(ws["a"])) == 1


def test_a_hint_says_what_may_be_lost() -> None:
    with lftj.connect() as ws:
        ws.relation("a", {"n": int, "p": "decimal(9,2)", "t": datetime.datetime})
        ws.load("a", [(1, Decimal("7.25"), datetime.datetime(2024, 2, 29, 1))])
        for column, kind, value in (
            ("t", "date", datetime.date(2024, 2, 29)),
            ("p", "decimal(9,1)", Decimal("7.3")),
            ("p", "int", 7),
        ):
            with pytest.raises(DeclarationError) as error:
                ws.alter("a", retype={column: kind})
            (said,) = re.findall(r"compute=(\{.*?\})", error.value.hint or "")
            ws.alter("a", retype={column: kind}, compute=eval(said))
            assert ws["a"].to_dicts()[0][column] == value


def test_what_is_computed_becomes_a_decimal_where_it_fits() -> None:
    with lftj.connect() as ws:
        ws.relation("a", {"p": int, "s": str, "d": "decimal(4,2)"})
        ws.load("a", [(5, "0.1", Decimal("1.50"))])
        kinds = {"x": "decimal(10,2)", "y": "decimal(3,1)?", "z": "decimal(6,4)", "w": bool}
        ways = {"x": "p", "y": "to_float(s)", "z": "d * d", "w": "if(p > 4, true, false)"}
        ws.alter("a", add=kinds, compute=ways)
        row = (Decimal("5.00"), Decimal("0.1"), Decimal("2.2500"), True)
        assert [each[3:] for each in ws["a"]] == [row]
        ws.alter("a", retype={"d": "decimal(10,2)"}, compute={"d": 'd * decimal("1")'})
        for way in ("p * 1000", "to_float(s) / 3.0"):
            with pytest.raises(DeclarationError, match=r"cannot be decimal\(4,2\)"):
                ws.alter("a", add={"v": "decimal(4,2)"}, compute={"v": way})
        with pytest.raises(TypeClashError, match=r"to_number\(…\)"):
            ws.alter("a", add={"v": int}, compute={"v": "d"})


def test_a_conditional_outlives_the_process_and_a_merge(tmp_path: Path) -> None:
    with lftj.connect(tmp_path / "w", keep="all") as ws:
        ws.program(".decl a(n: number, v: bool = true) a(n=1).")
        ws.load("a", [(2, False)])
        branch, before = ws.branch("b"), ws.version
        way = {"v": "1 + if(v = true, 1, 0)"}
        ws.alter("a", retype={"v": "decimal(5,1)"}, compute=way, default={"v": None})
        branch.alter("a", rename={"n": "m"})
        branch.load("a", [(3, True)])
        ws.merge("b")
    with lftj.connect(tmp_path / "w") as ws:
        assert sorted(ws["a"]) == [(1, Decimal("2.0")), (2, Decimal("1.0")), (3, Decimal("2.0"))]
        ws.alter("a", retype={"v": int})
        assert sorted(ws["a"]) == [(1, 2), (2, 1), (3, 2)]
        assert sorted(ws.at(before)["a"]) == [(1, True), (2, False)]
        assert ws.verify() == []


def test_defaults_and_facts_are_converted_with_their_column(tmp_path: Path) -> None:
    with lftj.connect(tmp_path / "w", keep="all") as ws:
        ws.program('.decl a(n: number, p: number = 5, d: date = date("2024-02-29")) a(n=1).')
        ws.load("a", [{"n": 2, "p": 7}])
        branch = ws.branch("b")
        branch.load("a", [{"n": 3}])
        ws.alter("a", retype={"p": "decimal(9,2)", "d": datetime.datetime})
        ws.merge("b")
    with lftj.connect(tmp_path / "w", keep="all") as ws:
        ws.load("a", [{"n": 4}])
        day = datetime.datetime(2024, 2, 29)
        wanted = [(1, 5), (2, 7), (3, 5), (4, 5)]
        assert sorted(ws["a"]) == [(n, Decimal(p), day) for n, p in wanted]
        changes = [row[:4] for row in ws.history("a", since=1) if row[3] > 0]
        assert [(n, p) for n, p, _, _ in sorted(changes)] == [(2, 7), (3, 5), (4, 5)]
        moment = 'timestamp = timestamp("2024-02-29T00:00:00")'
        new = f'.decl a(n: number, p: decimal(9,2) = decimal("5.00"), d: {moment})'
        ws.program(new + " a(n=1).", alter=True)
        ws.program(new)
        assert [n for n, _, _ in sorted(ws["a"])] == [2, 3, 4]


WORKS = [
    ("int", "float", 2**53),
    ("int", "str", -7),
    ("float", "int", 3.0),
    ("float", "str", 1.5),
    ("str", "int", "7"),
    ("str", "float", "1.5"),
    ("bool", "str", True),
]
RESULTS = {2**53: 2.0**53, -7: "-7", 3.0: 3, 1.5: "1.5", "7": 7, "1.5": 1.5, True: "true"}


@pytest.mark.parametrize(("before", "after", "value"), WORKS)
def test_what_loses_nothing_is_converted(before: str, after: str, value: object) -> None:
    with lftj.connect() as ws:
        ws.relation("a", {"v": before})
        ws.load("a", [(value,)])
        ws.alter("a", retype={"v": after})
        ((found,),) = ws["a"]
        assert found == RESULTS[value]


def test_rows_that_would_become_one_are_named() -> None:
    with lftj.connect() as ws:
        ws.relation("a", {"n": int, "v": int})
        ws.load("a", [(1, 2**53), (1, 2**53 + 1), (2, 2**53 + 1), (3, 5)])
        with pytest.raises(DeclarationError) as error:
            ws.alter("a", retype={"v": float}, rename={"n": "m"})
        lost = "9007199254740993 would be 9007199254740992.0, and 1 more row would lose"
        assert lost in error.value.message
        assert "compute={'v': \"to_float(v)\"}" in (error.value.hint or "")
        assert (ws["a"].columns, len(list(ws["a"]))) == (("n", "v"), 4)
        ws.alter("a", retype={"v": float}, compute={"v": "to_float(v)"})
        assert len(list(ws["a"])) == 3


def test_a_computed_column_loses_nothing_in_its_transaction() -> None:
    with lftj.connect() as ws:
        ws.relation("a", {"v": int})
        ws.load("a", [(2**52,)])
        with ws.transaction() as tx:
            tx.alter("a", add={"w": int}, compute={"w": "v + v + 1"})
            with pytest.raises(DeclarationError):
                tx.alter("a", retype={"w": float})
            tx.alter("a", retype={"w": str})
        assert list(ws["a"]) == [(2**52, str(2**53 + 1))]


def test_a_merge_loses_nothing() -> None:
    with lftj.connect() as ws:
        ws.relation("a", {"v": str})
        ws.load("a", [("7",)])
        branch = ws.branch("b")
        ws.alter("a", retype={"v": int})
        branch.load("a", [("007",)])
        with pytest.raises(MergeConflictError, match="'007' would be 7"):
            ws.merge("b")
        with pytest.raises(MergeConflictError, match="'007' would be 7"):
            branch.merge("main")
        assert list(ws["a"]) == [(7,)]


def test_names_of_columns_do_not_matter() -> None:
    with lftj.connect() as ws:
        for name, other in product(["old_", "v", "old_x"], ["old_value_", "x"]):
            ws.relation("a", {other: int, name: str})
            ws.load("a", [(1, "5"), (0, "6")])
            ws.alter("a", retype={name: int})
            assert sorted(ws["a"]) == [(0, 6), (1, 5)]
            ws.drop_relation("a")


# ── names and values of columns ───────────────────────────────────────────────────────────────────
RENAMES = [
    {"m": "n", "n": "m"},
    {"m": "n", "n": "k", "k": "m"},
    {"m": "n", "n": "k", "k": "x"},
    {"m": "m", "n": "k", "k": "n"},
    {"k": "aside_aside_k", "m": "n", "n": "m"},
]


@pytest.mark.parametrize("rename", RENAMES)
def test_names_are_exchanged(rename: dict[str, str]) -> None:
    with lftj.connect() as ws:
        ws.relation("a", {"m": int, "n": int, "k": int}, key=["m", "k"])
        ws.load("a", [(1, 2, 3)])
        ws.add_rules(".decl b(x: number, y: number) b(x, y) :- a(m=x, n=y).")
        ws.alter("a", rename=rename)
        assert ws.relations["a"].columns == tuple(rename.get(name, name) for name in "mnk")
        assert (list(ws["a"]), list(ws["b"])) == ([(1, 2, 3)], [(1, 2)])
        assert ws.relations["a"].key == (rename.get("m", "m"), rename.get("k", "k"))
        ws.alter("a", rename={now: was for was, now in rename.items()})
        assert ws.relations["a"].columns == ("m", "n", "k")


@pytest.mark.parametrize("rename", [{"m": "k"}, {"m": "x", "n": "x"}, {"m": "n", "n": "k"}])
def test_a_name_is_of_one_column(rename: dict[str, str]) -> None:
    with lftj.connect() as ws:
        ws.relation("a", {"m": int, "n": int, "k": int})
        with pytest.raises(DeclarationError, match="already"):
            ws.alter("a", rename=rename)
        assert ws.relations["a"].columns == ("m", "n", "k")


@pytest.mark.parametrize("default", [{}, {"email": None}])
def test_a_column_without_a_value_is_optional(default: dict[str, object]) -> None:
    with lftj.connect() as ws:
        ws.relation("a", {"m": int})
        ws.load("a", [(1,)])
        with pytest.raises(DeclarationError) as error:
            ws.alter("a", add={"email": str}, default=default)
        assert "add={'email': 'str?'}" in (error.value.hint or "")
        ws.alter("a", add={"email": "str?"}, default=default)
        assert list(ws["a"]) == [(1, None)]
