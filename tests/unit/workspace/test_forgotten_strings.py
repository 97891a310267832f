"""Strings that no version holds any more are forgotten, and nobody who has rows sees it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import lftj
from lftj.types import dictionary as dictionary_module

VISITS = """
.decl visit(day: number, who: symbol, page: symbol)
.decl seen(who: symbol, pages: symbol)
.decl first(day: number, who: symbol)
.decl title(page: symbol, shown: symbol)
.decl staff(who: symbol)
seen(w, concat(p, " ", p)) :- visit(_, w, p).
first(d, min(w)) :- visit(d, w, _), w != "nobody".
title(p, cat("<", p, ">")) :- visit(_, _, p).
staff(w) :- visit(_, w, "admin").
"""


@pytest.fixture
def workspace(monkeypatch: pytest.MonkeyPatch) -> lftj.Workspace:
    """One that forgets at the end of every commit, and whose codes no number in a row is mistaken
    for.
    """
    monkeypatch.setattr(dictionary_module, "_FEW", np.inf)
    monkeypatch.setattr(dictionary_module, "_ROOM", -(1 << 60))
    workspace = lftj.connect()
    workspace._backend.dictionary.encode([f"(unused {number})" for number in range(1000)])
    workspace.add_rules(VISITS)
    return workspace


def day(number: int) -> list[tuple[int, str, str]]:
    """The visits of a day."""
    return [
        (number, f"guest {number}", f"page {number}"),
        (number, "owner", f"page {number}"),
        (number, "owner", "admin"),
    ]


def turn(workspace: lftj.Workspace, number: int) -> lftj.Transaction:
    """A new day comes, the one before goes."""
    with workspace.transaction() as transaction:
        transaction.insert("visit", day(number))
        transaction.delete("visit", day(number - 1))
    return transaction


def test_views_follow_and_strings_go(workspace):
    for number in range(1, 30):
        turn(workspace, number)
        assert sorted(workspace["visit"]) == sorted(day(number))
        assert sorted(workspace["seen"]) == [
            (f"guest {number}", f"page {number}"),
            ("owner", f"admin page {number}"),
        ]
        assert workspace["first"].fetchall() == [(number, f"guest {number}")]
        assert sorted(workspace["title"]) == [
            ("admin", "<admin>"),
            (f"page {number}", f"<page {number}>"),
        ]
        assert workspace["staff"].fetchall() == [("owner",)]
    assert workspace.verify() == []
    dictionary = workspace._backend.dictionary
    assert len(dictionary) > 29 * 5
    assert not [
        text
        for number in range(27)
        for text in (f"admin page {number}", f"<page {number}>")
        if text in dictionary
    ]
    assert {row[0]: row[2] for row in workspace.memory()}["(dictionary)"] == dictionary.strings


def test_a_string_comes_back(workspace):
    for number in (1, 5, 1, 5, 1):
        with workspace.transaction() as transaction:
            transaction.delete("visit", workspace["visit"])
            transaction.insert("visit", day(number))
        assert sorted(workspace["visit"]) == sorted(day(number))
        assert sorted(workspace["title"]) == [
            ("admin", "<admin>"),
            (f"page {number}", f"<page {number}>"),
        ]
    assert workspace.verify() == []


def test_results_changes_and_snapshots_stay(workspace):
    first = turn(workspace, 1)
    told = []
    workspace.subscribe("visit", told.append)
    read, unread, snapshot = workspace["title"], workspace["seen"], workspace.snapshot()
    asked = workspace.query('visit(d, "owner", p), t = cat(p, "!")')
    shown = read.fetchall()
    for number in range(2, 6):
        turn(workspace, number)
    assert read.fetchall() == shown
    assert sorted(unread) == [("guest 1", "page 1"), ("owner", "admin page 1")]
    assert sorted(row[:-1] for row in first.changes("visit")) == [
        (*row, 1) for row in sorted(day(1))
    ]
    assert sorted(asked) == [(1, "admin", "admin!"), (1, "page 1", "page 1!")]
    assert [sorted(row[:-1] for row in changes) for changes in told] == [
        sorted([*((*row, 1) for row in day(number)), *((*row, -1) for row in day(number - 1))])
        for number in range(2, 6)
    ]
    assert sorted(snapshot["visit"]) == sorted(day(1))
    assert snapshot.query('visit(d, "guest 1", p)').fetchall() == [(1, "page 1")]
    assert snapshot.verify() == []


def test_rows_that_were_read_are_loaded_again(workspace):
    turn(workspace, 1)
    kept, changes = workspace["visit"], workspace["visit"].fetchall()
    turn(workspace, 2)
    turn(workspace, 3)
    workspace.load("visit", kept)
    assert sorted(workspace["visit"]) == sorted([*day(3), *changes])
    workspace.load("visit", workspace["visit"])
    assert len(workspace["visit"]) == 6
    assert workspace.verify() == []


def test_a_rule_goes_and_comes_with_its_constant(workspace):
    (rule,) = workspace.add_rules('.decl odd(p: symbol)\nodd(p) :- visit(_, "guest 3", p).')
    turn(workspace, 1)
    workspace.remove_rule(rule)
    turn(workspace, 2)
    workspace.add_rule('odd(p) :- visit(_, "guest 3", p).')
    turn(workspace, 3)
    assert workspace["odd"].fetchall() == [("page 3",)]


def test_what_questions_name_goes(workspace):
    turn(workspace, 1)
    for number in range(50):
        assert not workspace.query(f'visit(d, "stranger {number}", p)')
    assert workspace.query('visit(d, "guest 1", p)').fetchall() == [(1, "page 1")]
    turn(workspace, 2)
    dictionary = workspace._backend.dictionary
    assert not [number for number in range(50) if f"stranger {number}" in dictionary]
    assert workspace.query('visit(d, "guest 2", p), p != "stranger 3"').fetchall() == [
        (2, "page 2")
    ]
    assert "nobody" in dictionary, "a rule names it"


def test_what_is_rolled_back_leaves_no_strings(workspace):
    turn(workspace, 1)
    before = workspace._backend.dictionary.strings
    for number in range(5):
        transaction = workspace.transaction()
        transaction.insert("visit", [(9, f"never {number}", f"nowhere {number}")])
        transaction.rollback()
    turn(workspace, 1)
    assert workspace._backend.dictionary.strings <= before
    assert sorted(workspace["visit"]) == sorted(day(1))


def test_questions_in_other_threads(workspace):
    turn(workspace, 1)
    wrong: list[object] = []
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            snapshot = workspace.snapshot()
            ((number, guest),) = snapshot["first"].fetchall()
            found = snapshot.query(
                f'visit({number}, "{guest}", p), t = cat(p, " of ", "{guest}")'
            ).fetchall()
            if found != [(f"page {number}", f"page {number} of guest {number}")]:
                wrong.append(found)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(2, 60):
        turn(workspace, number)
    over.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert workspace.verify() == []


def test_long_texts_do_not_pile_up():
    workspace = lftj.connect()
    workspace.add_rules(VISITS)
    workspace.load(
        "visit",
        [(0, "robot", f"a page with a longer name, number {number}") for number in range(3000)],
    )
    (start,) = (row[3] for row in workspace.memory() if row[0] == "(dictionary)")
    for number in range(1, 120):
        turn(workspace, number)
        with workspace.transaction() as transaction:
            transaction.insert("visit", [(number, "robot", f"new {number}")])
    (end,) = (row[3] for row in workspace.memory() if row[0] == "(dictionary)")
    assert len(workspace["seen"]) == 3
    assert end - start < 2 * (16 << 20), "119 texts of 120 kB, each kept twice, would be 28 MB"


def test_facts_whose_strings_were_forgotten_are_removed_all_the_same(workspace):
    facts = workspace.add_rules('visit(1, "a guest", "a page").')[0]
    with workspace.transaction() as tx:
        tx.delete("visit", [(1, "a guest", "a page")])
    del tx
    workspace._backend.dictionary.forget(
        lambda n: np.zeros(n, np.bool_)
    )  # there are no rows at all
    assert "a page" not in workspace._backend.dictionary
    workspace.load("visit", [(1, "a guest", "a page"), (2, "a guest", "a page")])
    workspace.remove_rule(facts)
    assert (1, "a guest", "a page") not in workspace["visit"].fetchall()
    assert (2, "a guest", "a page") in workspace["visit"].fetchall()
