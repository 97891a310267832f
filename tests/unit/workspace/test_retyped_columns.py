# SPDX-License-Identifier: Apache-2.0
"""Columns that get another type: each value comes back by the reverse, or nothing changes."""

from __future__ import annotations

import datetime
from decimal import Decimal
from itertools import permutations, product
from typing import Any

import pytest

import lftj
from lftj.errors import DeclarationError, LftjError, MergeConflictError

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
