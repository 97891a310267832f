# SPDX-License-Identifier: Apache-2.0
"""Keys of relations that are altered: they hold at the end of the commit, whatever changed them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lftj
from lftj.cli import main
from lftj.errors import DeclarationError, KeyViolationError

NUMBER = {"n": "to_number(n)"}


@pytest.fixture(params=["memory", "path"])
def ws(request: Any, tmp_path: Path) -> Any:
    """A workspace with rows that differ in text and not in number."""
    path = tmp_path / "w.lftj" if request.param == "path" else None
    with lftj.connect(path, keep="all") if path else lftj.connect(keep="all") as ws:
        ws.relation("a", {"n": str, "v": int}, key="n")
        ws.load("a", [("007", 1), ("7", 2), ("8", 3)])
        yield ws


BREAKS: dict[str, Callable[[Any], object]] = {
    "computed": lambda ws: ws.alter("a", retype={"n": int}, compute=NUMBER),
    "computed of one type": lambda ws: ws.alter("a", retype={"n": str}, compute={"n": '"x"'}),
    "with the key": lambda ws: ws.alter("a", retype={"n": int}, compute=NUMBER, key="n"),
    "renamed": lambda ws: ws.alter(
        "a", rename={"n": "m"}, retype={"m": int}, compute={"m": "to_number(m)"}, to="b"
    ),
    "a column that is computed": lambda ws: ws.alter(
        "a", add={"k": int}, compute={"k": "to_number(n)"}, key="k"
    ),
    "a default": lambda ws: ws.alter("a", add={"k": int}, default={"k": 0}, key="k"),
}


@pytest.mark.parametrize("case", BREAKS)
def test_an_altered_key_is_checked(ws: Any, case: str) -> None:
    version = ws.version
    with pytest.raises(KeyViolationError) as error:
        BREAKS[case](ws)
    assert error.value.count == 1
    assert "tx.alter" in (error.value.hint or "")
    assert (ws.version, sorted(ws["a"])) == (version, [("007", 1), ("7", 2), ("8", 3)])
    assert ws.relations["a"].key == ("n",)
    assert ws.verify() == []


def test_a_part_of_a_key_is_checked() -> None:
    with lftj.connect() as ws:
        ws.relation("a", {"n": str, "m": int, "v": int}, key=["n", "m"])
        ws.load("a", [("007", 1, 1), ("7", 1, 2), ("07", 2, 1)])
        with pytest.raises(KeyViolationError, match="n, m"):
            ws.alter("a", retype={"n": int}, compute=NUMBER)
        with ws.transaction() as tx:
            tx.delete("a", [("7", 1, 2)])
        ws.alter("a", retype={"n": int}, compute=NUMBER)
        assert sorted(ws["a"]) == [(7, 1, 1), (7, 2, 1)]


def test_the_arguments_of_a_function_are_checked() -> None:
    with lftj.connect() as ws:
        ws.function("cost", {"x": str}, int)
        ws.load("cost", [("07", 1), ("7", 2)])
        with pytest.raises(KeyViolationError):
            ws.alter("cost", retype={"x": int}, compute={"x": "to_number(x)"})
        assert sorted(ws["cost"]) == [("07", 1), ("7", 2)]


def test_a_key_of_rows_beside_rules_is_checked(ws: Any) -> None:
    ws.add_rules(".decl b(n: symbol, v: number) b(n, v) :- a(n, v), v > 2.")
    ws.load("b", [("1", 1), ("1", 2)])
    with pytest.raises(KeyViolationError):
        ws.alter("b", key="n")
    with ws.transaction() as tx:
        tx.alter("b", key="n")
        tx.delete("b", [("1", 2)])
    assert sorted(ws["b"]) == [("1", 1), ("8", 3)]


# ── branches ──────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("alters", ["branch", "main"])
def test_a_key_is_checked_by_a_merge(ws: Any, alters: str) -> None:
    with ws.transaction() as tx:
        tx.delete("a", [("007", 1)])
    branch = ws.branch("b")
    altering, inserting = (branch, ws) if alters == "branch" else (ws, branch)
    altering.alter("a", retype={"n": int}, compute=NUMBER)
    inserting.load("a", [("007", 1)])
    before = sorted(ws["a"])
    with pytest.raises(KeyViolationError):
        ws.merge(branch)
    assert sorted(ws["a"]) == before
    assert ws.verify() == []


# ── rows of one key go in the same transaction ────────────────────────────────────────────────────
REPAIRS: dict[str, tuple[Callable[[Any], object], list[tuple[Any, ...]]]] = {
    "rows": (lambda tx: tx.delete("a", [(7, 2)]), [(7, 1), (8, 3)]),
    "a value": (lambda tx: tx.delete_where("a", v=1), [(7, 2), (8, 3)]),
    "a key": (lambda tx: tx.delete("a", keys=[7]), [(8, 3)]),
    "keys of a table": (lambda tx: tx.delete("a", keys=pa.table({"n": [7]})), [(8, 3)]),
    "upsert": (lambda tx: tx.upsert("a", [(7, 9)]), [(7, 9), (8, 3)]),
    "upsert of a row that is there": (lambda tx: tx.upsert("a", [(7, 2)]), [(7, 2), (8, 3)]),
    "sync": (lambda tx: tx.sync("a", [(7, 1), (9, 1)]), [(7, 1), (9, 1)]),
    "changes": (
        lambda tx: tx.apply_changes("a", [{"op": "u", "before": None, "after": {"n": 7, "v": 5}}]),
        [(7, 5), (8, 3)],
    ),
}


@pytest.mark.parametrize("case", REPAIRS)
def test_rows_of_one_key_go_with_the_key(ws: Any, case: str, tmp_path: Path) -> None:
    change, expected = REPAIRS[case]
    before = ws.version
    with ws.transaction() as tx:
        tx.alter("a", retype={"n": int}, compute=NUMBER)
        change(tx)
    assert sorted(ws["a"]) == expected
    assert ws.relations["a"].key == ("n",)
    assert ws.verify() == []
    assert len(list(ws.at(before)["a"])) == 3
    schema, rows = ws.changes("a", since=before, timeout=0)
    assert (schema.kind, rows.kind) == ("schema", "rows")
    ws.load("a", [(70, 1)])
    with pytest.raises(KeyViolationError):
        ws.load("a", [(70, 2)])


@pytest.mark.parametrize("computed", [False, True])
def test_a_key_comes_and_rows_go(ws: Any, computed: bool) -> None:
    ws.alter("a", key=None)
    ws.load("a", [("8", 4), ("8", 5)])
    with ws.transaction() as tx:
        if computed:
            tx.alter("a", add={"w": int}, compute={"w": "v * 2"})
        tx.alter("a", key="n")
        tx.delete("a", keys=["8"])
        tx.insert("a", [("8", 6, 12) if computed else ("8", 6)])
    assert [row[:2] for row in sorted(ws["a"])] == [("007", 1), ("7", 2), ("8", 6)]
    assert ws.verify() == []


def test_rows_of_one_key_are_gone_after_opening(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as ws:
        ws.relation("a", {"n": int, "v": int})
        ws.load("a", [(1, 1), (1, 2)])
        with ws.transaction() as tx:
            tx.alter("a", key="n")
            tx.delete("a", [(1, 1)])
    with lftj.connect(path) as ws:
        assert (sorted(ws["a"]), ws.relations["a"].key) == ([(1, 2)], ("n",))
    assert main(["check", str(path)]) == 0


def test_a_key_does_not_go_unsaid(ws: Any) -> None:
    with pytest.raises(DeclarationError, match="is in its key") as error:
        ws.alter("a", drop="n")
    assert "key=None" in (error.value.hint or "")
    ws.alter("a", drop="n", key="v")
    assert ws.relations["a"].key == ("v",)
    with pytest.raises(DeclarationError):
        ws.alter("a", drop="v", add={"w": int}, default={"w": 0})
    ws.alter("a", drop="v", add={"w": int}, default={"w": 0}, key=None)
    assert (list(ws["a"]), ws.relations["a"].key) == ([(0,)], None)


# ── checks ────────────────────────────────────────────────────────────────────────────────────────
def test_broken_keys_are_found(monkeypatch: Any, capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    monkeypatch.setattr("lftj.engine.commit.commit.check_altered_key", lambda *_: None)
    with lftj.connect(path) as ws:
        ws.relation("a", {"v": int, "n": str}, key="n")
        ws.load("a", [(1, "007"), (2, "7"), (3, "7x")])
        ws.alter("a", retype={"n": str}, compute={"n": "substr(n, strlen(n) - 1, 1)"})
        (found,) = ws.verify()
        assert found.relation == "a (key)"
        assert [(*row[:2], row[2]) for row in found.difference] == [(2, "7", -1)]
    assert main(["check", str(path)]) == 1
    assert "a (key) has several rows of one key" in "".join(capsys.readouterr())


ALTERATIONS: dict[str, tuple[Any, Any, list[dict[str, Any]]]] = {
    "a column of the key": (int, "x", [{"retype": {"x": int | None}}]),
    "a key with the column": (int | None, None, [{"key": "x"}]),
    "both at once": (int, None, [{"retype": {"x": int | None}, "key": "x"}]),
    "one after the other": (int, None, [{"key": "x"}, {"retype": {"x": int | None}}]),
}


@pytest.mark.parametrize("case", ALTERATIONS)
def test_no_column_of_a_key_becomes_optional(tmp_path: Path, case: str) -> None:
    type_, key, alterations = ALTERATIONS[case]
    with lftj.connect(tmp_path / "w.lftj") as ws:
        ws.relation("b", {"x": type_, "y": int}, key=key)
        ws.load("b", [(1, 2)])
        *before, last = alterations
        for each in before:
            ws.alter("b", **each)
        with pytest.raises(DeclarationError, match="is optional, and is in its key"):
            ws.alter("b", **last)
        ws.alter("b", retype={"x": int | None}, key=None)
    with lftj.connect(tmp_path / "w.lftj") as ws:
        assert ws["b"].fetchall() == [(1, 2)]


@pytest.mark.parametrize("here", [True, False])
def test_a_key_and_an_optional_column_of_two_branches_are_not_merged(here: bool) -> None:
    ws = lftj.connect()
    ws.relation("b", {"x": int, "y": int})
    ws.load("b", [(1, 2)])
    there = ws.branch("there")
    (ws if here else there).alter("b", key="x")
    (there if here else ws).alter("b", retype={"x": int | None})
    with pytest.raises(lftj.LftjError, match="E381"):
        ws.merge("there")
