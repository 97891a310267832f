"""Rows that came or went by a commit, with the proofs that it made or broke."""

from __future__ import annotations

import pytest

import lftj
from tests.unit.explain.proven import PROGRAMS, history
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
