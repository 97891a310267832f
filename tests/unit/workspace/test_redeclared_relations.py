"""Relations that a program's text declares otherwise than they are: a plain text changes nothing
that others need, `alter` loses no value, and nothing is taken for something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

import lftj
from lftj.errors import DeclarationError, SchemaInUseError, StillNeededError

OLD = ".decl c(id: number, fax: symbol)"
ROW = (1, "555-1")
REPLACED = {
    '.decl c(id: number, email: symbol = "none")': (1, "none"),
    ".decl c(id: number, email: symbol?)": (1, None),
    ".decl c(id: number)": (1,),
    '.decl c(id: number, n: number = 7, email: symbol = "")': (1, 7, ""),
    '.decl c(key: number = 3, email: symbol = "") key(key)': (3, ""),
}


def workspace(old: str = OLD, *rows: tuple[Any, ...], rules: str = "") -> Any:
    ws = lftj.connect(keep="all")
    ws.program(old + rules)
    ws.load("c", list(rows or [ROW]))
    return ws


def refused(ws: Any, text: str, **flags: bool) -> str:
    """The help of the error for a text; nothing has changed by it."""
    before = ws.version, sorted(ws["c"]), ws["c"].columns, ws.rules, ws.programs
    with pytest.raises(StillNeededError) as error:
        ws.program(text, **flags)
    assert (ws.version, sorted(ws["c"]), ws["c"].columns, ws.rules, ws.programs) == before
    return str(error.value)


def calls(told: str) -> Iterator[str]:
    """The calls that a message names, as they are to be typed."""
    for call in re.findall(r"(?:ws|tx)\.alter\((?:[^()]|\([^()]*\))*\)", told):
        if "…" not in call:
            yield call


# ── no renaming is guessed ────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("text", REPLACED)
def test_a_column_that_went_is_not_one_that_came(text: str) -> None:
    for flags in ({}, {"alter": True}):
        assert "`fax`" in refused(workspace(), text, **flags)
    ws = workspace()
    before = ws.version
    ws.program(text, alter=True, drop=True)
    assert sorted(ws["c"]) == [REPLACED[text]]
    assert sorted(ws.at(before)["c"]) == [ROW]
    assert not ws.program(text)
    assert ws.verify() == []


@pytest.mark.parametrize("rules", ["", "\n.decl v(x: symbol)\nv(x) :- c(_, x)."])
def test_both_readings_of_a_column_are_named(rules: str) -> None:
    new = '.decl c(id: number, email: symbol = "none")'
    told = refused(workspace(OLD, rules=rules), new + rules, alter=True)
    renaming, replacing = calls(told)
    assert renaming == "ws.alter('c', rename={'fax': 'email'}, default={'email': 'none'})"
    assert "drop=['fax'], add={'email': 'str'}" in replacing
    kept = workspace(OLD, rules=rules)
    eval(renaming, {"ws": kept})
    assert not kept.program(new + rules)
    assert sorted(kept["c"]) == [ROW]
    if not rules:
        other = workspace()
        eval(replacing, {"ws": other})
        assert not other.program(new)
        assert sorted(other["c"]) == [(1, "none")]


def test_columns_of_one_type_do_not_take_each_others_names() -> None:
    old, new = ".decl c(first: symbol, last: symbol)", ".decl c(surname: symbol, given: symbol)"
    ws = workspace(old, ("Ann", "Lee"))
    for flags in ({}, {"alter": True}, {"alter": True, "drop": True}):
        told = refused(ws, new, **flags)
        assert list(calls(told)) == ["ws.alter('c', rename={'first': 'surname', 'last': 'given'})"]
        assert "default={'surname': …, 'given': …}" in told
    ws.alter("c", rename={"first": "given", "last": "surname"})
    told = refused(ws, new, alter=True, drop=True)
    assert "(the order surname, given)" in told
    assert "declare  .decl c(given: symbol, surname: symbol)" in told


def test_two_declarations_of_python_name_both_readings() -> None:
    with workspace() as ws, pytest.raises(DeclarationError) as error:
        ws.relation("c", {"id": int, "email": "str?"})
    assert list(calls(str(error.value))) == [
        "ws.alter('c', drop=['fax'], add={'email': 'str?'})",
        "ws.alter('c', rename={'fax': 'email'}, retype={'email': 'str?'})",
    ]


def test_a_relation_of_another_name_is_told() -> None:
    ws, new = workspace(), OLD.replace("c(", "d(")
    told = refused(ws, new, alter=True)
    (renaming,) = calls(told)
    assert renaming == "ws.alter('c', to='d')"
    with ws.transaction() as tx:
        eval(renaming, {"ws": tx})
        tx.program(new)
    assert sorted(ws["d"]) == [ROW]
    assert "c" not in ws.relations
    assert "renamed" not in refused(workspace(), ".decl d(id: number, fax: number)")


# ── no value goes unsaid ──────────────────────────────────────────────────────────────────────────
def test_a_column_that_was_added_by_hand_stays() -> None:
    old = ".decl c(id: number, who: symbol) key(id)"
    ws = workspace(old, (1, "ann"))
    ws.alter("c", add={"email": "str?"}, default={"email": "a@x"})
    ws.load("c", [(2, "bob", "b@x")])
    for flags in ({}, {"alter": True}):
        told = refused(ws, old, **flags)
        assert "(- email: str?), but needed by 2 rows that came otherwise" in told
        assert "drop=True" in told
    (kept,) = re.findall(r"declare  (.*)", told)
    assert kept == '.decl c(id: number, who: symbol, email: str? = "a@x") key(id)'
    assert not ws.program(kept)
    assert sorted(ws["c"]) == [(1, "ann", "a@x"), (2, "bob", "b@x")]
    assert str(ws.program(old, alter=True, drop=True)) == "~ .decl c: - email"
    assert sorted(ws["c"]) == [(1, "ann"), (2, "bob")]


def test_a_column_of_no_rows_but_facts_goes_at_once() -> None:
    ws = lftj.connect()
    ws.program('.decl c(id: number, fax: symbol) c(1, "a").')
    ws.program(".decl w(x: number) w(x) :- c(x, _).", name="other")
    new = ".decl c(id: number) c(1)."
    with pytest.raises(StillNeededError, match="alter=True, which does"):
        ws.program(new)
    ws.program(new, alter=True)
    assert (sorted(ws["c"]), sorted(ws["w"]), ws.verify()) == ([(1,)], [(1,)], [])


def test_rules_of_others_keep_a_column() -> None:
    ws = workspace()
    ws.program(".decl w(x: symbol) w(x) :- c(_, x).", name="other")
    with pytest.raises(SchemaInUseError, match="w"):
        ws.program(".decl c(id: number)", alter=True, drop=True)
    assert sorted(ws["w"]) == [("555-1",)]


@pytest.mark.parametrize(
    ("new", "told", "remedy"),
    [
        (
            ".decl c(fax: symbol, id: number)",
            "the order fax, id",
            "columns keep their order: declare  .decl c(id: number, fax: symbol)",
        ),
        (
            '.decl c(id: number, x: symbol = "q", fax: symbol)',
            "+ x: str = 'q', the order id, x, fax",
            'new ones come last: declare  .decl c(id: number, fax: symbol, x: symbol = "q")',
        ),
        (
            ".decl c(id: number, fax: symbol) choice-domain id",
            "no choice-domain → choice-domain (id)",
            "declare `c` anew under another name",
        ),
        (".decl c[id: number]: symbol", "no key → a function", "declare `c` anew under"),
        (
            ".decl c(id: number, fax: symbol, n: number)",
            "+ n: int",
            "go on with ws.alter('c', add={'n': 'int'}, default={'n': …}) before: then rows stay",
        ),
    ],
)
def test_what_alter_cannot_do_is_told_and_loses_no_row(new: str, told: str, remedy: str) -> None:
    ws = workspace()
    for flags in ({}, {"alter": True}, {"alter": True, "drop": True}):
        found = refused(ws, new, **flags)
        assert told in found
        assert remedy in found
    ws.program(new, drop=True)
    assert sorted(ws["c"]) == []


def test_types_that_share_no_values_are_refused_with_the_call() -> None:
    ws = workspace(".decl c(id: number, ok: bool)", (1, True))
    new = ".decl c(id: number, ok: number)"
    for flags in ({}, {"alter": True}, {"alter": True, "drop": True}):
        (call,) = calls(refused(ws, new, **flags))
    assert call == "ws.alter('c', retype={'ok': 'int'}, compute={'ok': 'if(ok = true, 1, 0)'})"
    eval(call, {"ws": ws})
    assert not ws.program(new)
    assert sorted(ws["c"]) == [(1, 1)]


def test_a_value_that_the_new_type_has_not_is_named() -> None:
    ws = workspace(".decl c(id: number, p: decimal(9,2))", (1, Decimal(7)), (2, Decimal(12345)))
    new = ".decl c(id: number, p: decimal(4,2))"
    with pytest.raises(DeclarationError, match=r"in the row \(2, Decimal\('12345.00'\)\)"):
        ws.program(new, alter=True)
    with ws.transaction() as tx:
        tx.delete_where("c", id=2)
    ws.program(new, alter=True)
    assert sorted(ws["c"]) == [(1, Decimal("7.00"))]


# ── one rule for columns, keys and defaults ───────────────────────────────────────────────────────
CHANGES = {
    "a column that comes": (".decl c(id: number, fax: symbol, n: number?)", "+ n: int?"),
    "a column that takes NULL": (".decl c(id: number, fax: symbol?)", "fax: str → str?"),
    "another type": (".decl c(id: decimal(9,2), fax: symbol)", "id: int → decimal(9,2)"),
    "a key": (".decl c(id: number, fax: symbol) key(id)", "no key → key id"),
    "a default": ('.decl c(id: number, fax: symbol = "-")', "fax by default '-'"),
    "a type of one's own": (".type Id <: number .decl c(id: Id, fax: symbol)", "id: int → Id"),
    "all": (
        ".type Id <: number\n"
        + ".decl c(id: decimal(9,2), fax: symbol?, n: Id = 7, day: date?) key(id, n)",
        "+ n: int = 7, + day: date?, id: int → decimal(9,2), fax: str → str?, no key → key id, n",
    ),
}


@pytest.mark.parametrize("case", CHANGES)
@pytest.mark.parametrize("needed", ["rows", "rules"])
def test_a_text_changes_what_others_need_where_that_is_said(case: str, needed: str) -> None:
    new, told = CHANGES[case]
    ws = lftj.connect()
    ws.program(OLD)
    if needed == "rows":
        ws.load("c", [ROW])
    else:
        ws.program(".decl w(x: number) w(2) :- c(_, _).", name="other")
    assert f"({told})" in refused(ws, new)
    ws.program(new, alter=True)
    assert not ws.program(new)
    assert [row[:2] for row in ws["c"]] == ([ROW] if needed == "rows" else [])
    assert "declared twice" not in str(ws.add_rules(new))
    assert ws.verify() == []


@pytest.mark.parametrize("case", CHANGES)
def test_a_text_changes_what_nobody_needs(case: str) -> None:
    for facts in ("", '\nc(1, "555-1").'):
        ws = lftj.connect()
        ws.program(OLD + facts)
        ws.program(CHANGES[case][0])
        assert sorted(ws["c"]) == []
        assert ws.verify() == []


def test_rows_stay_with_another_key_where_they_might_go() -> None:
    ws = workspace()
    assert str(ws.program(CHANGES["a key"][0], drop=True)) == "~ .decl c: key id"
    assert sorted(ws["c"]) == [ROW]
    with pytest.raises(lftj.KeyViolationError):
        ws.load("c", [(1, "other")])


# ── the change in words ───────────────────────────────────────────────────────────────────────────
PROGRAM = """.decl p(id: number, a: number) key(id)
.decl v(x: number)
v(x) :- p(_, x), x > 0.
.decl w(x: number)
w(x) :- v(x).
"""
WORDS = {
    "a column": (
        PROGRAM.replace("a: number", 'a: number, b: symbol = "q"').replace("p(_, x)", "p(_, y, _)")
        .replace("v(x) :-", "v(y) :-").replace("x > 0", "y > 0"),
        ["~ .decl p: + b: str = 'q'"],
        "the schema of p: + b: str = 'q'",
    ),
    "NULL": (
        PROGRAM.replace("a: number", "a: number, b: date?").replace("p(_, x)", "p(a=x)"),
        ["~ .decl p: + b: date?"],
        "the schema of p: + b: date?",
    ),
    "a type": (
        PROGRAM.replace("a: number", "a: float").replace("x: number", "x: float")
        .replace("x > 0", "x > 0.0"),
        [
            "- v(x) :- p(_, x), x > 0.",
            "~ .decl p: a: float",
            "-/+ .decl v: x: int → float",
            "-/+ .decl w: x: int → float",
            "+ v(x) :- p(_, x), x > 0.0.",
        ],
        "v, w, rules +1 -1, the schema of p: a: float",
    ),
    "a key": (PROGRAM.replace(" key(id)", ""), ["~ .decl p: no key"], "the schema of p: no key"),
}  # fmt: skip


@pytest.mark.parametrize("case", WORDS)
def test_the_change_is_told_in_its_own_words(case: str) -> None:
    new, words, preview = WORDS[case]
    ws = lftj.connect()
    ws.program(PROGRAM)
    ws.load("p", [(1, 2)])
    ws.add_rules(".decl o(x: number)\no(x) :- p(x, _).")
    with ws.transaction() as tx:
        assert str(tx.program(new, alter=True)).splitlines() == words
        assert str(tx.preview().rules).splitlines() == words
        assert repr(tx.preview()) == f"<Preview of changes to {preview}>"
    assert ("rules" in ws.log().fetchall()[-1][5]) == ("rules" in preview)
    assert (sorted(ws["v"]), sorted(ws["o"]), ws.verify()) == ([(2,)], [(1,)], [])
