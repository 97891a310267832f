"""Proofs that are checked before they are shown, and rows that have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.explain.derivations import conjunction_steps
from lftj.explain.present import checking
from lftj.proofs.steps import Chosen
from tests.unit.explain.small_programs import worlds

_RIGHTS = """.decl grant(u: symbol) .decl admin(u: symbol) .decl alarm(n: number)
    .decl may(u: symbol)
    may(u) :- grant(u), (!( alarm(n), n > 0 ) ; admin(u))."""
_CUT_OFF = """.decl e(x: number, y: number) .decl d(x: number, v: number) .decl q(x: number)
    d(x, max(0)) :- e(x, _).  d(y, max(min(v + 1, 5))) :- d(x, v), e(x, y).  q(x) :- d(x, 5)."""


@pytest.fixture
def rights() -> lftj.Workspace:
    workspace = lftj.connect()
    workspace.add_rules(_RIGHTS)
    workspace.load("grant", [("ann",), ("bob",)])
    workspace.load("admin", [("ann",)])
    workspace.load("alarm", [(7,)])
    return workspace


def test_a_negated_body_without_variables_of_its_surroundings(rights: lftj.Workspace) -> None:
    proof = rights.explain("may", ("ann",))
    (*_, branch) = proof.steps[-1].premises
    assert (branch.number, proof.count()) == (1, 1)  # type: ignore[union-attr]
    facts = {name: rights[name].fetchall() for name in ("grant", "admin", "alarm")}
    lftj.check_proof(proof, facts)
    attempts = rights.why_not("may", ("bob",)).attempts
    assert [each.fails for each in attempts] == ["!(alarm(n), n > 0)", "admin(u)"]
    assert attempts[0].cases[0].nearest == ((7,),)


def test_every_row_of_small_programs_has_a_proof_that_holds() -> None:
    asked, circular = 0, []
    for workspace, program, facts in worlds(range(120)):
        checker = lftj.ProofChecker(program.text, facts)
        for view in program.views:
            for row in workspace[view].fetchall():
                try:
                    found = [workspace.explain(view, row), *workspace.explain(view, row, proofs=3)]
                except lftj.ExplanationError as problem:
                    circular.append((problem.code, "(v + 1, 2)" in program.text))
                    continue
                for proof in found:
                    checker.check(proof)
                    asked += 1
    assert asked > 300
    assert set(circular) == {("E363", True)}


def test_a_proof_that_does_not_hold_is_not_shown(
    rights: lftj.Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def all_pass(_: Any, pieces: Any, version: Any) -> Any:
        return pieces

    monkeypatch.setattr(conjunction_steps.NegationStep, "through", all_pass)
    with pytest.raises(lftj.ProofError, match="does not hold") as raised:
        rights.explain("may", ("ann",))
    assert (raised.value.code, raised.value.step) == ("E364", 1)
    with pytest.raises(lftj.ProofError):
        next(rights.explain("may", ("ann",), proofs=2))
    monkeypatch.setattr(checking, "STEPS", 0)
    assert rights.explain("may", ("ann",)).steps


def test_a_check_ends_after_so_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl e(x: number, y: number) .decl r(x: number) .decl n(x: number)"
        " r(x) :- e(0, x). r(y) :- r(x), e(x, y). n(x) :- r(x), !( e(x, y), y > 500 )."
    )
    workspace.load("e", [(place, place + 1) for place in range(400)])
    looked_at: list[int] = []
    checked = checking.check_step
    monkeypatch.setattr(checking, "STEPS", 300)
    monkeypatch.setattr(
        checking, "check_step", lambda *given: looked_at.append(given[2]) or checked(*given)
    )
    assert len(workspace.explain("n", (200,)).steps) == 401
    assert looked_at == list(range(101, 401))  # and `e` is not read for the negation


def test_aggregates_of_the_user_are_not_folded_again() -> None:
    workspace = lftj.connect()
    workspace.add_aggregate(
        lftj.UserAggregate(
            "times", 1, int, lambda a, b: a * b, argument_types=(lftj.INT,), result_type=lftj.INT
        )
    )
    workspace.add_rules(".decl e(x: number) .decl p(x: number) p(times(x)) :- e(x).")
    workspace.load("e", [(2,), (3,)])
    assert workspace.explain("p", (6,)).height == 1


def test_a_row_that_rests_on_itself(tmp_path: Path) -> None:
    workspace = lftj.connect()
    workspace.add_rules(_CUT_OFF)
    with workspace.transaction() as tx:
        tx.insert("e", [(1, 1), (1, 2)])
    assert workspace["d"].fetchall() == [(1, 5), (2, 5)]
    with pytest.raises(lftj.ExplanationError, match=r"d\(1, 5\) rests on itself") as raised:
        workspace.explain("d", (1, 5))
    assert raised.value.code == "E363"
    with pytest.raises(lftj.ExplanationError, match=r"q\(2\) rests on d\(1, 5\), which rests"):
        workspace.explain("q", (2,))
    assert workspace.why_not("d", (1, 4)).attempts
    with pytest.raises(lftj.ExplanationError, match="rests on itself"):
        tx.explain_change("d", (1, 5))
    assert workspace.why_not("d", (2, 0), changes=1).attempts
    workspace.report(tmp_path / "page.html")
    assert "data" in (tmp_path / "page.html").read_text()


def test_candidates_of_rows_with_aggregates_are_those_of_groups() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl e(x: number, y: number, z: number)"
        " .decl v(x: number, y: number, s: number) choice-domain x"
        " .decl w(x: number, c: symbol) choice-domain c"
        ' v(x, y, sum(z)) :- e(x, y, z).  w(x, concat(to_string(z), "-", z)) :- e(x, _, z).'
    )
    workspace.load("e", [(1, 1, 1), (1, 2, 5), (1, 2, 3), (2, 1, 4), (3, 1, 4)])
    (chosen,) = workspace.explain("v", (1, 1, 1)).steps[-1].premises[-1:]
    assert chosen == Chosen((("x", 1),), 2, ((1, 2, 8),))
    (chosen,) = workspace.explain("w", (2, "4")).steps[-1].premises[-1:]
    assert chosen == Chosen((("c", "4"),), 2, ((3, "4"),))
