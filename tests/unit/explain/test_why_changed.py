"""Rows that came or went by a commit, with the proofs that it made or broke."""

from __future__ import annotations

import random
from ast import literal_eval
from typing import Any

import pytest

import lftj
from tests.unit.explain.proven import PROGRAMS, history
from tests.unit.explain.small_programs import BASES, VALUES, worlds
from tests.unit.explain.test_explain import ACCESS


@pytest.fixture
def access() -> lftj.Workspace:
    workspace = lftj.connect()
    workspace.add_rules(ACCESS)
    workspace.load("member", [("ann", "dev"), ("dev", "staff"), ("bob", "dev")])
    workspace.load("grant", [("staff", "X"), ("dev", "repo")])
    workspace.load("deny", [("bob", "X")])
    return workspace


def changes(answer: lftj.ChangeExplanation) -> list[str]:
    return list(map(str, answer.changes))


def test_a_right_that_came_because_a_denial_went(access: lftj.Workspace) -> None:
    with access.transaction() as tx:
        tx.delete("deny", [("bob", "X")])
    answer = tx.explain_change("may", ("bob", "X"))
    assert (answer.sign, answer.version) == (1, tx.version)
    assert changes(answer) == ['−deny("bob", "X")']
    lines = str(answer).splitlines()
    assert lines[:3] == [
        'may("bob", "X") came with version 5',
        '    deny("bob", "X") went',
        '      −deny("bob", "X")',
    ]
    facts = {name: access[name].fetchall() for name in ("member", "grant", "deny")}
    lftj.check_proof(answer.proofs[0].proof, facts)
    access.load("member", [("eve", "dev")])  # the commit is explained after the next one, too
    assert changes(tx.explain_change("may('bob', 'X')")) == ['−deny("bob", "X")']


def test_a_right_that_went_had_proofs(access: lftj.Workspace) -> None:
    access.load("member", [("ann", "ops"), ("ops", "staff")])
    before = {name: access[name].fetchall() for name in ("member", "grant", "deny")}
    with access.transaction() as tx:
        tx.delete("member", [("dev", "staff"), ("ann", "ops")])
        open_answer = tx.explain_change("may", ("ann", "X"))  # before the commit
        assert access["may"].fetchall().count(("ann", "X")) == 1
    answer = tx.explain_change("may", ("ann", "X"))
    assert str(answer) == str(open_answer)
    assert answer.sign == -1
    assert not answer.more
    for each in answer.proofs:
        lftj.check_proof(each.proof, before)
        assert each.reasons
    assert set(changes(answer)) <= {'−member("dev", "staff")', '−member("ann", "ops")'}
    assert access.verify() == []


def test_what_came_below_a_negation_and_rules(access: lftj.Workspace) -> None:
    access.add_rules(
        ".decl banned(who: symbol) .decl flag(who: symbol) .decl fine(who: symbol)"
        " banned(x) :- flag(x). fine(x) :- member(x, _), !banned(x)."
    )
    with access.transaction() as tx:
        tx.insert("flag", [("ann",)])
    answer = tx.explain_change("fine", ("ann",))
    assert [reason.what for reason in answer.proofs[0].reasons] == ['banned("ann") came']
    assert changes(answer) == ['+flag("ann")']
    with access.transaction() as tx:
        added = tx.add_rule('may(u, "own") :- member(u, _).')
    came = tx.explain_change("may", ("bob", "own"))
    assert came.proofs[0].reasons[0].what.startswith("rule added: may(u, ")
    with access.transaction() as tx:
        tx.remove_rule(added)
    gone = tx.explain_change("may", ("bob", "own"))
    assert gone.proofs[0].reasons[0].what.startswith("rule removed: may(u, ")
    assert gone.to_dict()["sign"] == -1


def test_bad_questions(access: lftj.Workspace) -> None:
    with access.transaction() as tx:
        tx.insert("grant", [("dev", "new")])
    with pytest.raises(lftj.ExplanationError, match="neither before nor after") as raised:
        tx.explain_change("may", ("zed", "X"))
    assert "why_not" in (raised.value.hint or "")
    with pytest.raises(lftj.ExplanationError, match="before and after"):
        tx.explain_change("may", ("ann", "X"))
    with pytest.raises(lftj.UnknownNameError):
        tx.explain_change("nay", ("ann",))
    tx = access.transaction()
    tx.rollback()
    with pytest.raises(lftj.TransactionError):
        tx.explain_change("may", ("ann", "X"))


@pytest.mark.parametrize("name", ["mutual", "shortest", "choice domain", "inner bodies", "heads"])
def test_every_change_of_random_histories_has_a_reason(name: str) -> None:
    asked = 0
    for seed in range(2):
        workspace, facts = next(history(name, seed, commits=1))
        ((read, rows),) = facts.items()
        with workspace.transaction() as tx:
            tx.delete(read, sorted(rows)[:2])
            tx.insert(read, [(1, 3, 1)[: len(next(iter(rows)))]])
        before = lftj.ProofChecker(PROGRAMS[name], facts)
        after = lftj.ProofChecker(PROGRAMS[name], {read: workspace[read].fetchall()})
        for view in set(tx.changes()) - {read}:
            for *row, sign, _ in tx.changes(view).fetchall():
                answer = tx.explain_change(view, row)
                assert answer.sign == sign
                for each in answer.proofs:
                    (after if sign > 0 else before).check(each.proof)
                    assert each.reasons, (view, row)
                asked += 1
    assert asked


_DECLARED = """.decl e(x: number, y: number) .decl f(x: number) .decl a(x: number)
    .decl v(x: number) .decl m(s: number, x: number)
"""
_NO_PARTNER = _DECLARED + "v(x) :- a(x), !(e(x, y), f(y))."
_ALL_PARTNERS = _DECLARED + "v(x) :- a(x), !(e(x, y), !f(y))."


@pytest.mark.parametrize(
    ("rules", "facts", "changed", "row", "named", "what"),
    [
        (_NO_PARTNER, {"f": [(2,)]}, ["+e(1, 2)"], "v(1)", ["+e(1, 2)"], "e(1, 2), f(2) came"),
        (_ALL_PARTNERS, {"f": [(3,)]}, ["+e(1, 2)"], "v(1)", ["+e(1, 2)"], "e(1, 2), !f(2) came"),
        (
            _ALL_PARTNERS,
            {"f": [(2,)], "e": [(1, 2)]},
            ["-f(2)", "+e(7, 7)"],
            "v(1)",
            ["−f(2)"],
            "e(1, 2), !f(2) came",
        ),
        (
            _DECLARED + "v(x) :- a(x), !(e(z, _), (f(z) ; z < x)).",
            {"e": [(1, 2)]},
            ["+f(1)", "+f(7)"],
            "v(1)",
            ["+f(1)"],
            "e(1, 2), (f(1) ; 1 < 1) came",
        ),
        (
            _DECLARED + "v(x) :- a(x), !(f(n), n < count : { e(_, y), y > 1 }).",
            {"f": [(1,)], "e": [(1, 2)]},
            ["+e(1, 7)", "+e(1, 0)"],
            "v(1)",
            ["+e(1, 7)"],
            "f(1), 1 < count : { e(_, y), y > 1 } came",
        ),
        (
            _DECLARED + "m(count(), x) :- a(x), !(e(z, y), x <= z).",
            {},
            ["+e(1, 2)"],
            "m(1, 1)",
            ["+e(1, 2)"],
            "e(1, 2), 1 <= 1 came",
        ),
        (
            _DECLARED + "m(sum(y), x) :- a(x), e(x, y).",
            {"e": [(1, y) for y in range(9)]},
            ["-e(1, 2)", "+e(7, 7)"],
            "m(34, 1)",
            ["−e(1, 2)"],
            "the group changed",
        ),
    ],
)
def test_base_facts_behind_bodies_of_several_literals(
    rules: str,
    facts: dict[str, list[tuple[int, ...]]],
    changed: list[str],
    row: str,
    named: list[str],
    what: str,
) -> None:
    workspace = lftj.connect()
    workspace.add_rules(rules)
    for name, rows in {"a": [(1,)], **facts}.items():
        workspace.load(name, rows)
    with workspace.transaction() as tx:
        for sign, fact in ((each[0], each[1:]) for each in changed):
            (tx.insert if sign == "+" else tx.delete)(fact[0], [literal_eval(f"{fact[1:-1]},)")])
    answer = tx.explain_change(row)
    assert changes(answer) == named
    assert what in [reason.what for reason in answer.proofs[0].reasons]


def test_every_change_of_small_programs_names_base_facts() -> None:
    asked, turned, circular = 0, 0, []
    for seed, (workspace, program, facts) in enumerate(worlds(range(100))):
        chosen, delta = random.Random(seed), set[tuple[int, str, tuple[int, ...]]]()
        for name, rows in sorted(facts.items()):
            new = tuple(chosen.choice(VALUES) for _ in range(BASES[name]))
            delta |= {(-1, name, row) for row in sorted(rows) if chosen.random() < 0.3}
            delta |= {(1, name, new)} if new not in rows else set()
        try:
            tx = changed_by(workspace, delta)
        except lftj.ValueRangeError:
            continue
        for view in sorted(set(tx.changes()) & set(program.views)):
            for *row, sign, _ in tx.changes(view).fetchall():
                try:
                    answer = tx.explain_change(view, row)
                except lftj.ExplanationError as problem:
                    circular.append(problem.code)
                    continue
                named = {tuple(change) for change in answer.changes}
                assert answer.sign == sign
                assert named
                assert named <= delta
                asked += 1
                turned += not answer.more and there(workspace, view, row, named) == (sign < 0)
    assert asked > 80
    assert set(circular) <= {"E363"}
    assert turned > asked * 0.9  # without what is named the row is as it was


def changed_by(workspace: lftj.Workspace, delta: set[Any]) -> lftj.Transaction:
    with workspace.transaction() as tx:
        for sign, name, row in sorted(delta):
            (tx.insert if sign > 0 else tx.delete)(name, [row])
    return tx


def there(workspace: lftj.Workspace, view: str, row: list[int], taken_back: set[Any]) -> bool:
    """True where a view has a row once changes are taken back."""
    try:
        changed_by(workspace, {(-sign, *fact) for sign, *fact in taken_back})
    except lftj.ValueRangeError:
        return False
    found = tuple(row) in workspace[view].fetchall()
    changed_by(workspace, taken_back)
    return found


def test_null_in_negations_and_groups() -> None:
    workspace = lftj.connect()
    workspace.add_rules("""
        .decl b(x: number, y: number?)  .decl n(x: number)  .decl c(x: number, y: number?)
        .decl free(x: number, y: number?)  .decl few(y: number?, n: number)
        .decl tens(k: number, n: number)
        free(x, y) :- b(x, y), !n(y).
        few(y, sum(m)) :- b(_, y), m = count : { c(z, u), u < y }.
        tens(x / 10, count()) :- b(x, _).
    """)
    workspace.load("n", [(2,)])
    workspace.load("c", [(1, 1), (2, None)])
    with workspace.transaction() as tx:
        tx.insert("b", [(1, None), (2, 2), (3, 3), (12, 5)])
    assert changes(tx.explain_change("free", (1, None))) == ["+b(1, NULL)"]
    assert changes(tx.explain_change("few", (None, 0))) == ["+b(1, NULL)"]
    with workspace.transaction() as tx:
        tx.delete("n", [(2,)])
        tx.insert("b", [(4, None), (14, 2), (15, 3)])
    assert changes(tx.explain_change("free", (2, 2))) == ["−n(2)"]
    assert changes(tx.explain_change("free", (4, None))) == ["+b(4, NULL)"]
    assert changes(tx.explain_change("tens", (1, 3))) == ["+b(14, 2)", "+b(15, 3)"]
    assert changes(tx.explain_change("tens", (0, 3))) == ["+b(4, NULL)"]
    assert not workspace.verify()
