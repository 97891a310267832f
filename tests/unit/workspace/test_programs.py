"""Programs by name: `ws.program(text)` is the program of its name, whatever was there before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.errors import (
    DeclarationError,
    MergeConflictError,
    ParseError,
    ProgramErrors,
    StillNeededError,
    UnknownNameError,
)

TEXT = """
.decl edge(x: number, y: number)
edge(1, 2). edge(2, 3).
.decl reach(x: number, y: number)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
"""
RULES = ("reach(x, y) :- edge(x, y).", "reach(x, z) :- reach(x, y), edge(y, z).")
OTHER = ".decl far(x: number)\nfar(y) :- reach(1, y), y > 2.\n"


@pytest.fixture
def ws() -> Any:
    with lftj.connect(keep="all") as workspace:
        workspace.program(TEXT)
        yield workspace


def rules(workspace: Any) -> list[str]:
    return sorted(map(str, workspace.rules))


def rows(workspace: Any, name: str) -> list[tuple[Any, ...]]:
    return sorted(workspace[name])


# ── what comes, goes and stays ────────────────────────────────────────────────────────────────────
def test_a_text_brings_declarations_rules_and_facts(ws: Any) -> None:
    assert rules(ws) == sorted(RULES)
    assert rows(ws, "reach") == [(1, 2), (1, 3), (2, 3)]
    assert ws.programs == {"main": TEXT}
    assert ws.version == 1


def test_the_same_text_again_makes_no_version(ws: Any) -> None:
    before = ws.rules
    assert not ws.program(TEXT)
    assert (ws.version, ws.rules) == (1, before)


def test_an_edited_text_takes_and_gives_in_one_commit(ws: Any) -> None:
    kept = next(each for each in ws.rules if str(each) == RULES[0])
    changed = ws.program(
        TEXT.replace("edge(2, 3)", "edge(2, 4)").replace("edge(y, z).", "edge(y, z), z < 4.")
    )
    assert changed.went == (RULES[1],)
    assert changed.came == ("reach(x, z) :- reach(x, y), edge(y, z), z < 4.",)
    assert (rows(ws, "edge"), rows(ws, "reach")) == ([(1, 2), (2, 4)], [(1, 2), (2, 4)])
    assert kept in ws.rules, "a rule that stays is not made anew"
    assert ws.version == 2
    assert not ws.verify()


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("\n", "\n\n").replace(", ", " ,  "),
        f"// a comment\n{TEXT.replace('reach(x, y) :-', '/* another */ reach(x, y) :-')}",
        TEXT.replace(
            "reach(x, z) :- reach(x, y), edge(y, z)", "reach(a, c) :- reach(a, b), edge(b, c)"
        ),
        TEXT.replace("reach(x, y), edge(y, z)", "edge(y, z), reach(x, y)"),
        "".join(f"{line}\n" for line in (*TEXT.splitlines()[:4], *reversed(RULES))).replace(
            "edge(1, 2). edge(2, 3).", "edge(2, 3). edge(1, 2)."
        ),
        f".type Id = number {TEXT}",
    ],
    ids=["layout", "comments", "names of variables", "order in a body", "order", "another type"],
)
def test_what_says_nothing_changes_no_rule(ws: Any, text: str) -> None:
    before = ws.rules
    with ws.transaction() as tx:
        assert not tx.program(text)
    assert ws.rules == before
    assert (tx.changes(), tx.work) == ([], 0)
    assert ws.programs["main"] == text
    assert ws.at(1).program() == TEXT, "a text belongs to its version"


def test_a_rule_is_another_one_with_another_constant_or_variable() -> None:
    with lftj.connect() as ws:
        head = ".decl e(x: number, y: number) .decl r(x: number)\n"
        ws.program(head + "r(x) :- e(x, y), y > 3.")
        assert ws.program(head + "r(x) :- e(x, y), y > 4.")
        assert ws.program(head + "r(x) :- e(y, x), y > 4.")
        assert ws.program(head + "r(x) :- e(x, x), x > 4.")
        assert not ws.program(head + "r(a) :- a > 4, e(a, a).")


def test_an_edited_aggregate_takes_the_place_of_the_old_one() -> None:
    with lftj.connect() as ws:
        text = (
            ".decl e(x: number) .decl n(x: number)\nn(count()) :- e(x), x > 1.\ne(1). e(2). e(3)."
        )
        ws.program(text)
        ws.program(text.replace("x > 1", "x > 2"))
        assert rows(ws, "n") == [(1,)]
        ws.program(text.replace("n(count()) :- e(x), x > 1.", "n(7)."))
        assert rows(ws, "n") == [(7,)]
        ws.program(text)
        assert rows(ws, "n") == [(2,)]


def test_an_empty_text_ends_a_program(ws: Any) -> None:
    changed = ws.program("")
    assert changed.dropped == ("edge", "reach")
    assert (ws.relations, ws.rules, ws.programs) == ({}, [], {})
    ws.program(TEXT)
    assert rows(ws, "reach") == [(1, 2), (1, 3), (2, 3)]


def test_faulty_texts_change_nothing(ws: Any) -> None:
    for text in (TEXT + "reach(x) :- edge(x, _).", TEXT + "reach(x, y :-", TEXT + "lost(1)."):
        with pytest.raises(ProgramErrors) as caught:
            ws.program(text, file="a.dl")
        assert "a.dl:7" in str(caught.value)
    with pytest.raises(ProgramErrors) as caught:  # edge is not declared any more
        ws.program(TEXT.replace(".decl edge(x: number, y: number)", ""))
    assert "unknown relation `edge`" in str(caught.value)
    assert (ws.version, ws.programs, rules(ws)) == (1, {"main": TEXT}, sorted(RULES))


def test_a_clause_that_stands_twice_goes_with_the_last_of_both(ws: Any) -> None:
    ws.program(TEXT + "edge(1, 2). reach(a, b) :- edge(a, b).")
    assert len(ws.rules) == 2
    ws.program(
        TEXT.replace("reach(x, y) :- edge(x, y).", "").replace("edge(1, 2).", "")
        + "edge(1, 2). reach(a, b) :- edge(a, b)."
    )
    assert (len(ws.rules), rows(ws, "edge")) == (2, [(1, 2), (2, 3)])
    ws.program(TEXT)
    assert (len(ws.rules), rows(ws, "edge")) == (2, [(1, 2), (2, 3)])


def test_names_and_texts_are_looked_at(ws: Any) -> None:
    with pytest.raises(DeclarationError):
        ws.program(TEXT, name="")
    with pytest.raises(ParseError):
        ws.program(Path("rules.dl"))
    with pytest.raises(UnknownNameError, match="no program 'billing'"):
        ws.snapshot().program("billing")


# ── what a program owns ───────────────────────────────────────────────────────────────────────────
def test_rows_that_came_otherwise_stay(ws: Any, tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("5\t6\n")
    ws.load("edge", [(1, 2), (9, 9)])
    ws.program(TEXT + ".input edge\n", facts=tmp_path)
    ws.program(TEXT.replace("edge(1, 2). edge(2, 3).", ""))
    assert rows(ws, "edge") == [(1, 2), (5, 6), (9, 9)]


def test_rows_that_were_there_before_stay() -> None:
    with lftj.connect() as ws:
        ws.relation("edge", {"x": int, "y": int})
        ws.load("edge", [(1, 2)])
        ws.program(TEXT)
        ws.program("")
        assert rows(ws, "edge") == [(1, 2)], "neither the row nor the relation is the program's"


def test_rows_that_were_upserted_or_added_as_facts_stay() -> None:
    with lftj.connect() as ws:
        ws.relation("price", {"item": str, "cents": int}, key="item")
        text = 'price("tea", 3). price("pie", 5). price("jam", 7).'
        ws.program(text)
        ws.add_rules('price("pie", 5).')
        with ws.transaction() as tx:
            tx.upsert("price", [("tea", 4), ("jam", 7)])
        ws.program("")
        assert rows(ws, "price") == [("jam", 7), ("pie", 5), ("tea", 4)]


def test_what_was_taken_from_a_program_comes_back_with_its_text(ws: Any) -> None:
    with ws.transaction() as tx:
        tx.delete("edge", [(1, 2)])
        tx.remove_rule([each for each in ws.rules if str(each) == RULES[1]])
    assert rows(ws, "reach") == [(2, 3)]
    ws.program(TEXT)
    assert rows(ws, "reach") == [(1, 2), (1, 3), (2, 3)]
    with ws.transaction() as tx:
        assert tx.delete_where("edge", x=1) == 1
    ws.load("edge", [(1, 2)])
    ws.program(TEXT.replace("edge(1, 2). edge(2, 3).", ""))
    assert rows(ws, "edge") == [(1, 2)], "the row is the user's since"


def test_rules_of_two_programs_stay_until_both_let_them_go(ws: Any) -> None:
    ws.program(TEXT, name="other")
    assert len(ws.rules) == 2
    ws.program("")
    assert (rules(ws), rows(ws, "edge")) == (sorted(RULES), [(1, 2), (2, 3)])
    ws.program("", name="other")
    assert ws.relations == {}


def test_rules_that_were_there_before_stay() -> None:
    with lftj.connect() as ws:
        ws.add_rules(TEXT)
        ws.program(TEXT)
        assert len(ws.rules) == 2
        ws.program(TEXT, name="other")
        ws.program("")
        ws.program("", name="other")
        assert rules(ws) == sorted(RULES)
        assert rows(ws, "reach") == [(1, 2), (1, 3), (2, 3)]


# ── declarations ──────────────────────────────────────────────────────────────────────────────────
def test_a_declaration_that_rules_of_others_need_is_refused(ws: Any) -> None:
    ws.program(OTHER, name="other")
    ws.add_rule("far(x) :- edge(x, x).")
    with pytest.raises(StillNeededError) as caught:
        ws.program("")
    assert caught.value.needed == {
        "edge": ["the rule  far(x) :- edge(x, x)."],
        "reach": ["the rule  far(y) :- reach(1, y), y > 2."],
    }
    assert (ws.version, rows(ws, "far")) == (3, [(3,)])
    ws.program("", drop=True)
    assert (rules(ws), list(ws.relations), rows(ws, "far")) == ([], ["far"], [])
    ws.program(TEXT)
    ws.program(OTHER, name="other")
    assert rows(ws, "far") == [(3,)], "the other program's rule came back with its text"


def test_a_declaration_that_rows_need_is_refused(ws: Any) -> None:
    ws.load("edge", [(1, 2), (7, 8)])
    with pytest.raises(StillNeededError, match="2 rows that came otherwise"):
        ws.program("")
    ws.program("", drop=True)
    assert ws.relations == {}


def test_a_declaration_becomes_another_one(ws: Any) -> None:
    ws.program(OTHER, name="other")
    kept = [each for each in ws.rules if "far" in str(each)]
    text = TEXT.replace("edge(x: number, y: number)", "edge(x: symbol, y: symbol)")
    text = text.replace("edge(1, 2). edge(2, 3).", 'edge("a", "b").')
    with pytest.raises(StillNeededError, match="declared otherwise"):
        ws.program(text.replace("reach(x: number, y: number)", "reach(x: symbol, y: symbol)"))
    ws.program("", name="other")
    ws.program(text.replace("reach(x: number, y: number)", "reach(x: symbol, y: symbol)"))
    assert rows(ws, "reach") == [("a", "b")]
    assert rows(ws.at(1), "reach") == [(1, 2), (1, 3), (2, 3)]
    assert kept
    assert not ws.verify()
    ws.load("edge", [("b", "c")])
    assert rows(ws, "reach") == [("a", "b"), ("a", "c"), ("b", "c")]
    changes = ws.history("reach", since=1).fetchall()
    assert sorted(row[:3] for row in changes) == [("a", "b", 1), ("a", "c", 1), ("b", "c", 1)]


def test_a_view_becomes_wider_and_what_reads_it_follows() -> None:
    with lftj.connect() as ws:
        text = ".decl e(x: number, y: number)\n.decl v(x: number)\n.decl w(x: number)\n"
        ws.program(text + "e(1, 2). e(3, 4). v(x) :- e(x, _). w(x) :- v(x), x > 1.")
        wide = text.replace("v(x: number)", "v(x: number, y: number)")
        ws.program(wide + "e(1, 2). e(3, 4). v(x, y) :- e(x, y). w(x) :- v(x, _), x > 1.")
        assert (rows(ws, "v"), rows(ws, "w")) == ([(1, 2), (3, 4)], [(3,)])
        ws.load("e", [(5, 6)])
        assert (rows(ws, "w"), ws.verify()) == ([(3,), (5,)], [])


KEYED = ".decl price(id: number, n: number) key(id)\n.decl low(n: number)\nlow(n) :- price(_, n).\n"
UNKEYED = KEYED.replace(" key(id)", "")
TWO_OF_ONE = [(1, 10), (1, 11)]


def test_a_text_that_gains_or_loses_a_key_changes_the_schema(tmp_path: Path) -> None:
    with lftj.connect(tmp_path / "w", keep="all") as ws:
        ws.program(UNKEYED)
        ws.load("price", TWO_OF_ONE)
        with pytest.raises(StillNeededError, match=r"(?s)no key → key id.*alter=True"):
            ws.program(KEYED)
        with pytest.raises(lftj.KeyViolationError):
            ws.program(KEYED, alter=True)
        assert ws["price"].fetchall() == TWO_OF_ONE
        with ws.transaction() as tx:
            tx.delete("price", TWO_OF_ONE[1:])
        before = ws.version
        assert str(ws.program(KEYED, alter=True)) == "~ .decl price: key id"
        assert next(ws.changes("price", since=before)).kind == "schema"
    with lftj.connect(tmp_path / "w") as ws:
        assert not ws.program(KEYED)
        with pytest.raises(lftj.KeyViolationError):
            ws.load("price", TWO_OF_ONE)
        with pytest.raises(StillNeededError, match="key id → no key"):
            ws.program(UNKEYED)
        assert str(ws.program(UNKEYED, alter=True)) == "~ .decl price: no key"
        ws.load("price", TWO_OF_ONE)
        assert ws["low"].sort().fetchall() == [(10,), (11,)]
        assert ws.verify() == []


def test_a_key_that_facts_of_the_new_text_have_takes_the_place_of_none() -> None:
    with lftj.connect() as ws:
        ws.program(UNKEYED + "price(1, 10). price(1, 11).\n")
        with pytest.raises(lftj.KeyViolationError):
            ws.program(KEYED + "price(1, 10). price(1, 11).\n")
        ws.program(KEYED + "price(1, 10). price(2, 11).\n")
        assert ws["price"].sort().fetchall() == [(1, 10), (2, 11)]
        assert ws.relation("price", {"id": int, "n": int}, key="id").key == ("id",)


def test_a_key_of_a_branch_comes_with_its_merge() -> None:
    with lftj.connect(keep="all") as ws:
        ws.program(UNKEYED)
        branch = ws.branch("keyed")
        branch.program(KEYED)
        ws.load("price", TWO_OF_ONE[:1])
        ws.merge("keyed")
        assert ws.relation("price", {"id": int, "n": int}, key="id").key == ("id",)
        assert ws.programs["main"] == KEYED


def test_keys_are_told_in_declarations_that_differ(ws: Any) -> None:
    ws.relation("price", {"id": int, "n": int}, key="id")
    ws.add_rules(".decl price(id: number, n: number) key(id)")
    with pytest.raises(ProgramErrors, match=r"is price\(id: int, n: int\) key\(id\); ws.alter"):
        ws.add_rules(".decl price(id: number, n: number)")
    with pytest.raises(ProgramErrors, match="no column `x` for its key"):
        ws.add_rules(".decl other(id: number) key(x)")
    with pytest.raises(ProgramErrors, match="column `id` of `other` is optional"):
        ws.add_rules(".decl other(id: number?) key(id)")


def test_types_of_a_program_change_with_it() -> None:
    with lftj.connect() as ws:
        text = ".type Id <: number\n.decl e(x: Id)\n.decl f(x: Id)\ne(1). f(x) :- e(x)."
        ws.program(text)
        ws.program(text.replace(".type Id <: number", ".type Id = number"))
        ws.program(text.replace("<: number", "<: symbol").replace("e(1)", 'e("a")'))
        assert rows(ws, "f") == [("a",)]
        ws.add_rules(".decl g(x: Id)")
        with pytest.raises(ProgramErrors, match="E165"):
            ws.program(text)


def test_choices_of_rows_come_and_go() -> None:
    with lftj.connect() as ws:
        text = ".decl e(x: number, y: number) choice-domain x\ne(1, 2). e(1, 3)."
        ws.program(text)
        assert len(ws["e"]) == 1
        ws.program(text.replace(" choice-domain x", ""))
        assert len(ws["e"]) == 2
        ws.program(text)
        assert (len(ws["e"]), ws.verify()) == (1, [])
        ws.program("")
        assert (ws.relations, ws.verify()) == ({}, [])


# ── preview and log ───────────────────────────────────────────────────────────────────────────────
def test_a_preview_shows_rows_and_rules(ws: Any) -> None:
    with ws.transaction() as tx:
        tx.program(TEXT.replace(RULES[1], ""))
        preview = tx.preview()
        assert list(preview) == ["reach"]
        assert preview["reach"].fetchall() == [(1, 3, -1, 2)]
        assert (preview.rules.came, preview.rules.went) == ((), (RULES[1],))
        assert repr(preview) == "<Preview of changes to reach, rules -1>"
        tx.rollback()
    assert ws.version == 1


def test_the_log_tells_changes_of_rules(ws: Any) -> None:
    handle = ws.add_rule("reach(x, x) :- edge(x, _).")
    ws.remove_rule(handle)
    ws.program(TEXT.replace(RULES[1], ""))
    ws.program(f"// other layout {TEXT}", name="b")
    for declared in "number", "symbol":
        ws.program(f".decl lone(x: {declared})", name="c", drop=True)
    told = [row[5] for row in ws.log()]
    assert told == [
        "main: rules +2, relations +2",
        "rules +1",
        "rules -1",
        "main: rules -1",
        "b: rules +1",
        "c: relations +1",
        "c: relations +1 -1",
    ]


# ── where it lasts ────────────────────────────────────────────────────────────────────────────────
def test_programs_last_with_the_files(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path, keep="all") as ws:
        ws.program(TEXT)
        ws.load("edge", [(1, 2), (3, 4)])
    for checkpoint in (False, True):
        with lftj.connect(path, keep="all") as ws:
            assert ws.programs == {"main": TEXT}
            version = ws.version
            assert not ws.program(TEXT)
            assert ws.version == version
            if checkpoint:
                ws.compact()
    with lftj.connect(path, keep="all") as ws:
        ws.program(TEXT.replace("edge(1, 2). edge(2, 3).", "") + OTHER)
        assert rows(ws, "edge") == [(1, 2), (3, 4)], "a row that was loaded too stays"
        assert ws.at(1).program() == TEXT
    with lftj.connect(path, keep="all") as ws:
        assert [row[5] for row in ws.log()][-1] == "main: rules +1, relations +1"
        assert ws.at(1).program() == TEXT
        assert not ws.verify()


def test_relations_that_were_dropped_are_reopened_so(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    text = TEXT.replace("number", "symbol").replace("edge(1, 2). edge(2, 3).", 'edge("a", "b").')
    with lftj.connect(path, keep="all") as ws:
        ws.program(TEXT)
        ws.program(text)
        ws.load("edge", [("b", "c")])
    for _ in range(2):
        with lftj.connect(path, keep="all") as ws:
            assert rows(ws, "reach") == [("a", "b"), ("a", "c"), ("b", "c")]
            assert rows(ws.at(1), "reach") == [(1, 2), (1, 3), (2, 3)]
            assert str(ws.explain("edge", ("b", "c")))
            assert not ws.verify()
            ws.compact()
    with lftj.connect(path, keep="all") as ws:
        ws.program("", drop=True)
        ws.program(TEXT)
    with lftj.connect(path, read_only=True) as ws:
        assert rows(ws, "reach") == [(1, 2), (1, 3), (2, 3)]


def test_a_reader_follows_programs(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as ws:
        ws.program(TEXT)
        with lftj.connect(path, read_only=True) as reader:
            got: list[Any] = []
            reader.subscribe("reach", got.append)
            ws.program(
                TEXT.replace("number", "symbol")
                .replace("1, 2", '"a", "b"')
                .replace("2, 3", '"b", "c"')
            )
            ws.load("edge", [("c", "d")])
            reader.refresh()
            assert len(rows(reader, "reach")) == 6
            assert [(each.kind, len(each)) for each in got] == [("schema", 0), ("rows", 6)]
            assert reader.programs == ws.programs


def test_a_branch_has_programs_of_its_own(ws: Any) -> None:
    branch = ws.branch("try")
    text = TEXT.replace("edge(2, 3)", "edge(2, 4)") + OTHER
    branch.program(text)
    assert ws.programs == {"main": TEXT}
    ws.load("edge", [(3, 5)])
    ws.merge("try")
    assert ws.programs == {"main": text}
    assert rows(ws, "reach") == [(1, 2), (1, 4), (2, 4), (3, 5)]
    assert rows(ws, "far") == [(4,)]
    ws.program("", name="main", drop=True)
    assert ws.relations == {}


def test_programs_that_became_two_texts_are_a_conflict(ws: Any) -> None:
    branch = ws.branch("try")
    branch.program(TEXT.replace("edge(2, 3)", "edge(2, 4)"))
    ws.program(TEXT.replace("edge(2, 3)", "edge(2, 5)"))
    with pytest.raises(MergeConflictError, match="the program 'main'"):
        ws.merge("try")
    ws.program(branch.programs["main"])
    ws.merge("try")
    assert rows(ws, "edge") == [(1, 2), (2, 4)]


def test_a_program_that_ended_in_a_branch_ends_by_a_merge(ws: Any) -> None:
    ws.program(OTHER, name="other")
    ws.load("edge", [(7, 8)])
    branch = ws.branch("try")
    branch.program("", name="other")
    branch.program("", drop=True)
    ws.merge("try")
    assert (ws.relations, ws.programs) == ({}, {})


def test_a_dump_has_programs(ws: Any, tmp_path: Path) -> None:
    from lftj.cli.workspace_files import dump, load

    ws.load("edge", [(1, 2)])
    ws.save_as(tmp_path / "a.lftj")
    ws.close()
    assert dump(tmp_path / "a.lftj", tmp_path / "dump", salvage=False, branch="main")
    load(tmp_path / "dump", tmp_path / "b.lftj")
    with lftj.connect(tmp_path / "b.lftj") as again:
        assert again.programs == {"main": TEXT}
        version = again.version
        assert not again.program(TEXT)
        assert again.version == version
        again.program(TEXT.replace("edge(1, 2). edge(2, 3).", ""))
        assert rows(again, "edge") == [(1, 2)]
