"""Rows of parts are explained as those of one process are: same heights, proofs that the checker
accepts, the same changes, and the same bindings.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.proofs.check import ProofChecker
from tests.distributed.inline import InlineExecutor

RULES = """
.decl member(who: symbol, group: symbol)
.decl grant(group: symbol, object: symbol)
.decl deny(who: symbol, object: symbol)
.decl in(who: symbol, group: symbol)
.decl may(who: symbol, object: symbol)
.decl rights(who: symbol, n: number)
.decl lonely(who: symbol)
.decl desk(who: symbol, object: symbol) choice-domain who
in(u, g) :- member(u, g).
in(u, h) :- in(u, g), member(g, h).
may(u, o) :- in(u, g), grant(g, o), !deny(u, o).
rights(u, count()) :- may(u, _).
lonely(u) :- member(u, _), !(member(u, g), grant(g, _)).
desk(u, o) :- may(u, o).
"""
BASE = ("member", "grant", "deny")


def _filled(ws: lftj.Workspace) -> lftj.Workspace:
    rng = random.Random(5)
    ws.add_rules(RULES)
    people = [f"p{number}" for number in range(20)]
    groups = [f"g{number}" for number in range(8)]
    ws.load("member", [(groups[number], groups[number // 2]) for number in range(1, 8)])
    ws.load("member", [(each, rng.choice(groups)) for each in people])
    ws.load("grant", [(each, f"o{number % 3}") for number, each in enumerate(groups[::2])])
    ws.load("deny", [(rng.choice(people), f"o{rng.randrange(3)}") for _ in range(8)])
    ws.load("in", [("guest", "g0")])
    return ws


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[lftj.Workspace, lftj.Workspace]:
    """A workspace over parts and one of one process, with the same rows."""
    executor = InlineExecutor(tmp_path_factory.mktemp("parts"))
    return _filled(lftj.connect(executor=executor)), _filled(lftj.connect())


def test_every_row_has_a_proof_of_the_same_height(both) -> None:
    parts, one = both
    facts = {name: one[name].fetchall() for name in BASE} | {"in": [("guest", "g0")]}
    for name in ("in", "may", "rights", "lonely", "member"):
        for row in sorted(one[name].fetchall()):
            proof = parts.explain(name, row)
            assert proof.height == one.explain(name, row).height, (name, row)
            ProofChecker(proof.program, facts).check(proof)
    with pytest.raises(lftj.ExplanationError) as caught:
        parts.explain("may", ("nobody", "o1"))
    assert caught.value.code == "E361"
    assert len(list(parts.explain("in", ("guest", "g0"), proofs=3))) == 1


def test_chosen_rows_are_explained(both) -> None:
    parts, _ = both
    for row in parts["desk"].fetchall()[:5]:
        assert parts.explain("desk", row).row == row


def test_changes_that_bring_missing_rows_are_right(both) -> None:
    parts, one = both
    there = set(one["may"].fetchall())
    rows = [(who, what) for who in ("p0", "p1", "p2", "p3") for what in ("o0", "o1", "o2")]
    for row in [row for row in rows if row not in there][:4]:
        ours, theirs = (ws.why_not("may", row, changes=1) for ws in (parts, one))
        assert [len(fix) for fix in ours.fixes] == [len(fix) for fix in theirs.fixes]
        for fix in ours.fixes:
            assert _brings(one, fix, row), (fix, row)
        assert [each.fails for each in ours.attempts] == [each.fails for each in theirs.attempts]
    with pytest.raises(lftj.ExplanationError):
        parts.why_not("may", sorted(there)[0])


def _brings(ws: lftj.Workspace, fix: Any, row: tuple[str, str]) -> bool:
    tx = ws.transaction()
    for change in fix:
        (tx.insert if change.sign > 0 else tx.delete)(change.relation, [change.row])
    found = (*row, 1) in {each[:3] for each in tx.preview()["may"].fetchall()}
    tx.rollback()
    return found


def test_levels_have_the_same_bindings(both) -> None:
    parts, one = both
    for ours, theirs in zip(parts.rules, one.rules, strict=True):
        found, expected = (
            ws.explain_plan(str(rule), analyze=True) for ws, rule in ((parts, ours), (one, theirs))
        )
        assert [each.assignments for each in found.bodies] == [
            each.assignments for each in expected.bodies
        ]
        assert parts.explain_plan(ours, analyze=True).seeks == found.seeks
    asked = 'may(u, o), in(u, "g0")'
    assert parts.explain_plan(asked, analyze=True).bodies[-1].assignments == len(one.query(asked))


def test_a_snapshot_and_the_next_version_explain_their_own(tmp_path: Path) -> None:
    ws = _filled(lftj.connect(executor=InlineExecutor(tmp_path)))
    before = ws.snapshot()
    ws.load("grant", [("g7", "vault")])
    holder = next(who for who, group in ws["in"].fetchall() if group == "g7")
    assert ws.explain("may", (holder, "vault")).height > 0
    assert '+grant("g7", "vault")' in str(before.why_not("may", (holder, "vault"), changes=1))
    assert ws.explain("may", (holder, "vault")).facts["grant"] == [("g7", "vault")]


def test_the_page_about_parts_explains_its_samples(tmp_path: Path) -> None:
    ws = _filled(lftj.connect(executor=InlineExecutor(tmp_path / "parts")))
    text = ws.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "by may(u, o) :- in(u, g), grant(g, o), !deny(u, o)." in text


def test_limits_hold_for_explanations(tmp_path: Path) -> None:
    ws = _filled(lftj.connect(executor=InlineExecutor(tmp_path)))
    with ws.limits(memory=1), pytest.raises(lftj.LimitError):
        ws.explain("may", sorted(ws.snapshot()["may"].fetchall())[0])


def _told(answer: lftj.ChangeExplanation) -> tuple[int, set[str], list[int], bool]:
    """Parts of an explanation that do not depend on which proof was found."""
    heights = sorted(each.proof.height for each in answer.proofs)
    return answer.sign, set(map(str, answer.changes)), heights, answer.more


OWN = 'may(u, "own") :- member(u, _).'
HISTORY: list[Any] = [
    lambda ws, tx: tx.delete("deny", [("p3", "o1")]) or tx.insert("deny", [("p5", "o0")]),
    lambda ws, tx: tx.delete("member", [("g3", "g1")]),
    lambda ws, tx: tx.insert("member", [("g3", "g1"), ("p20", "g7")]),
    lambda ws, tx: tx.delete_where("grant", group="g0"),
    lambda ws, tx: tx.add_rule(OWN) and tx.insert("grant", [("g0", "o0")]),
    lambda ws, tx: tx.remove_rule(next(each for each in ws.rules if str(each.rule) == OWN)),
]


def test_every_row_that_came_or_went_is_explained(tmp_path: Path) -> None:
    parts = _filled(lftj.connect(executor=InlineExecutor(tmp_path)))
    one = _filled(lftj.connect())
    asked = 0
    for change in HISTORY:
        with one.transaction() as theirs:
            change(one, theirs)
        rows = {
            view: [row[:-2] for row in theirs.changes(view).fetchall()]
            for view in ("may", "lonely", "rights", "in")
        }
        ours = parts.transaction()
        change(parts, ours)
        asking = [(view, row) for view, listed in rows.items() for row in sorted(listed)[:2]]
        inside = [_told(ours.explain_change(*each)) for each in asking]
        ours.commit()
        parts.compact()  # the files of the version before stay, as the transaction is held
        assert [_told(ours.explain_change(*each)) for each in asking] == inside
        assert [_told(theirs.explain_change(*each)) for each in asking] == inside
        asked += len(asking)
        for view in ("may", "in"):
            assert sorted(parts[view].fetchall()) == sorted(one[view].fetchall())
    assert asked > 20


def test_changes_that_are_none_are_told(tmp_path: Path) -> None:
    ws = _filled(lftj.connect(executor=InlineExecutor(tmp_path)))
    with ws.transaction() as tx:
        tx.insert("grant", [("g7", "vault")])
        with pytest.raises(lftj.ExplanationError, match="neither before nor after"):
            tx.explain_change("may", ("nobody", "vault"))
    with pytest.raises(lftj.ExplanationError, match="before and after"):
        tx.explain_change("member", ("g1", "g0"))
    with pytest.raises(lftj.UnknownNameError):
        tx.explain_change("nay", ("p1",))
    answer = tx.explain_change('grant("g7", "vault")')
    assert (answer.version, list(map(str, answer.changes))) == (
        tx.version,
        ['+grant("g7", "vault")'],
    )
