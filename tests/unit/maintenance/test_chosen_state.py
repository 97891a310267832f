"""Choice with one domain is kept true by what changes among the candidates."""

from __future__ import annotations

import random
from typing import Any

import pytest

import lftj

PLAIN = ".decl a(x: number, y: number)\n.decl b(x: number, y: number)\n"
NUMBERS = (
    PLAIN
    + ".decl r(x: number, y: number) choice-domain {}\nr(x, y) :- a(x, y). r(x, y) :- b(y, x), "
    "!a(x, x).\n"
)
WORDS = (
    ".decl a(x: number, y: symbol)\n.decl r(x: number, y: symbol) choice-domain {}\nr(x, y) :- "
    "a(x, y).\n"
)


def change(
    workspace: Any,
    inserted: dict[str, list[tuple[Any, ...]]],
    deleted: dict[str, list[tuple[Any, ...]]],
) -> None:
    with workspace.transaction() as transaction:
        for name, rows in deleted.items():
            transaction.delete(name, rows)
        for name, rows in inserted.items():
            transaction.insert(name, rows)


def least(rows: set[tuple[Any, ...]], domain: tuple[int, ...]) -> set[tuple[Any, ...]]:
    """The least row of each group, by the definition."""
    first: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row in sorted(rows):
        first.setdefault(tuple(row[column] for column in domain), row)
    return set(first.values())


@pytest.mark.parametrize(
    ("by", "domain"), [("x", (0,)), ("y", (1,)), ("(x, y)", (0, 1)), ("(y, x)", (0, 1))]
)
def test_random_changes_leave_the_least_candidate_of_each_group(by: str, domain: tuple[int, ...]):
    draw = random.Random(by)
    facts: dict[str, set[tuple[int, int]]] = {"a": set(), "b": set(), "r": set()}
    with lftj.connect() as ws:
        ws.add_rules(NUMBERS.format(by))
        for _ in range(60):
            gone = {
                name: draw.sample(sorted(rows), min(len(rows), draw.randrange(4)))
                for name, rows in facts.items()
            }
            new = {
                name: [(draw.randrange(5), draw.randrange(5)) for _ in range(draw.randrange(4))]
                for name in facts
            }
            change(ws, new, gone)
            for name, rows in facts.items():
                rows.difference_update(gone[name])
                rows.update(new[name])
            derived = {(x, y) for y, x in facts["b"] if (x, x) not in facts["a"]}
            assert set(ws["r"].fetchall()) == least(facts["a"] | facts["r"] | derived, domain)
        assert ws.verify() == []


def test_strings_go_by_their_characters_not_by_their_arrival():
    with lftj.connect() as ws:
        ws.add_rules(WORDS.format("x"))
        ws.load("a", [(1, "zoo"), (1, "yak"), (1, "ant"), (2, "yak"), (1, "bee")])
        change(ws, {}, {"a": [(1, "ant")]})
        assert set(ws["r"].fetchall()) == {(1, "bee"), (2, "yak")}
        change(ws, {"a": [(1, "ape"), (3, "cow")]}, {"a": [(1, "bee"), (2, "yak")]})
        assert set(ws["r"].fetchall()) == {(1, "ape"), (3, "cow")}
        change(ws, {}, {"a": [(1, "ape")]})
        assert set(ws["r"].fetchall()) == {(1, "yak"), (3, "cow")}
        assert ws.verify() == []


@pytest.mark.parametrize("type", ["number", "symbol"])
def test_one_row_of_all_is_the_least(type: str):
    rows: list[tuple[object]] = [(3,), (1,), (2,)] if type == "number" else [("c",), ("a",), ("b",)]
    with lftj.connect() as ws:
        ws.add_rules(f".decl a(x: {type})\n.decl r(x: {type})\nr(x) :- a(x), choice((), (x)).")
        for place, least_now in ((0, rows[0]), (2, rows[2]), (1, rows[1])):
            ws.load("a", [rows[place]])
            assert ws["r"].fetchall() == [least_now]
            assert "choice" not in set(ws.profile(last=1)["outcome"])
        for place, left in ((1, [rows[2]]), (0, [rows[2]]), (2, [])):
            with ws.transaction() as tx:
                tx.delete("a", [rows[place]])
            assert ws["r"].fetchall() == left
        assert ws.verify() == []


def test_a_commit_looks_at_the_candidates_that_change():
    with lftj.connect() as ws:
        ws.add_rules(NUMBERS.format("x"))
        ws.load("a", [(x, y) for x in range(200) for y in range(1, 50)])
        full = int(ws.profile(last=1)["steps"].sum())
        for inserted, deleted, first in (
            ([(7, 0)], [], 0),
            ([], [(7, 0)], 1),
            ([], [(7, 1)], 2),
            ([], [(7, 30)], 2),
        ):
            change(ws, {"a": inserted}, {"a": deleted})
            profile = ws.profile(last=1)
            assert set(profile["outcome"]) == {"update"}
            assert profile["steps"].sum() < full / 100
            assert ws.query(f"r({7}, y)").fetchall() == [(first,)]


def test_several_domains_choose_anew():
    with lftj.connect() as ws:
        ws.add_rules(NUMBERS.format("x, y"))
        ws.load("a", [(x, y) for x in range(5) for y in range(5)])
        change(ws, {}, {"a": [(0, 0)]})
        assert ws.profile(last=1)["outcome"].tolist() == ["choice"]
        assert set(ws["r"].fetchall()) == {(0, 1), (1, 0), (2, 2), (3, 3), (4, 4)}


def test_rules_and_rows_of_its_own_come_and_go():
    with lftj.connect() as ws:
        ws.add_rules(PLAIN + ".decl r(x: number, y: number) choice-domain x\n")
        ws.load("r", [(1, 5), (1, 4)])
        assert set(ws["r"].fetchall()) == {(1, 4)}
        (rule,) = ws.add_rules("r(x, y) :- a(x, y).")
        change(ws, {"a": [(1, 3), (2, 2)]}, {})
        assert set(ws["r"].fetchall()) == {(1, 3), (2, 2)}
        ws.remove_rule(rule)
        assert set(ws["r"].fetchall()) == {(1, 4)}
        change(ws, {}, {"r": [(1, 4)]})
        assert set(ws["r"].fetchall()) == {(1, 5)}
        change(ws, {}, {"r": [(1, 5)]})
        assert ws["r"].fetchall() == []
