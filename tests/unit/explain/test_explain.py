"""Explanations of rows: all of them, after insertions and deletions, and how they are asked for."""

from __future__ import annotations

import itertools

import numpy
import pyarrow
import pytest

import lftj
from lftj.proofs.steps import Group
from tests.unit.explain.proven import PROGRAMS, history


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(4))
def test_every_row_has_proofs_that_the_checker_accepts(name: str, seed: int) -> None:
    for workspace, facts in history(name, seed):
        checker = lftj.ProofChecker(PROGRAMS[name], facts)
        for view in workspace.relations:
            for row in workspace[view]:
                first, *others = workspace.explain(view, row, proofs=4)
                assert (first.relation, first.row, first.smallest) == (view, row, True)
                heights = [proof.height for proof in (first, *others)]
                assert heights == sorted(heights)
                assert len({proof.steps for proof in (first, *others)}) == 1 + len(others)
                assert 1 + len(others) <= first.count()
                for proof in (first, *others):
                    checker.check(proof)


ACCESS = """
.decl member(who: symbol, of: symbol) .decl grant(who: symbol, what: symbol)
.decl deny(who: symbol, what: symbol) .decl within(who: symbol, of: symbol)
.decl may(who: symbol, what: symbol) .decl rights(who: symbol, n: number)
within(u, g) :- member(u, g).
within(u, h) :- within(u, g), member(g, h).
may(u, o) :- within(u, g), grant(g, o), !deny(u, o).
rights(u, count()) :- may(u, _).
"""


@pytest.fixture
def access() -> lftj.Workspace:
    workspace = lftj.connect()
    workspace.add_rules(ACCESS)
    workspace.load("member", [("ann", "dev"), ("dev", "staff"), ("bob", "dev"), ("dev", "all")])
    workspace.load("grant", [("staff", "X"), ("all", "X"), ("dev", "repo")])
    workspace.load("deny", [("bob", "X")])
    return workspace


def test_the_text_of_a_proof(access: lftj.Workspace) -> None:
    access.load("grant", [("staff", "X")])
    with access.transaction() as tx:
        tx.delete("grant", [("all", "X")])
    assert str(access.explain("may", ("ann", "X"))).splitlines() == [
        'may("ann", "X")',
        "  by may(u, o) :- within(u, g), grant(g, o), !deny(u, o)."
        '  with u = "ann", g = "staff", o = "X"',
        '  within("ann", "staff")',
        "    by within(u, h) :- within(u, g), member(g, h)."
        '  with u = "ann", g = "dev", h = "staff"',
        '    within("ann", "dev")',
        '      by within(u, g) :- member(u, g).  with u = "ann", g = "dev"',
        '      member("ann", "dev")  base fact',
        '    member("dev", "staff")  base fact',
        '  grant("staff", "X")  base fact',
        '  !deny("ann", "X"): no row matches',
    ]


def test_a_row_may_be_asked_for_in_many_ways(access: lftj.Workspace) -> None:
    may, snapshot = access.relations["may"], access.snapshot()
    expected = access.explain("may", ("ann", "X"))
    place = access["may"].fetchall().index(("ann", "X"))
    for asked in (
        access.explain("may('ann', 'X')"),
        access.explain('may("ann", "X").'),
        access.explain(may("ann", "X")),
        access.explain(may, ["ann", "X"]),
        access.explain(access["may"], place),
        access.explain(access["may"], ("ann", "X")),
        snapshot.explain("may", ("ann", "X")),
    ):
        assert asked == expected


def test_an_older_version_is_explained_by_its_snapshot(access: lftj.Workspace) -> None:
    old, result = access.snapshot(), access["may"]
    with access.transaction() as tx:
        tx.delete("member", [("ann", "dev")])
    assert old.explain("may", ("ann", "X")).facts["member"]
    with pytest.raises(lftj.ExplanationError, match="not a row of version"):
        access.explain("may", ("ann", "X"))
    assert old.explain(result, 0).row == result.fetchone()
    with pytest.raises(lftj.ExplanationError, match="the result is of version") as raised:
        access.explain(result, 0)
    assert raised.value.code == "E362"


@pytest.mark.parametrize(
    ("asked", "error", "code"),
    [
        (("may('ann', 'Y')",), lftj.ExplanationError, "E361"),
        (("may", ("ann",)), lftj.ArityError, "E120"),
        (("may", ("ann", 7)), lftj.ValueTypeError, "E210"),
        (("nay", ("ann", "X")), lftj.UnknownNameError, "E110"),
        (("may(x, y)",), lftj.ExplanationError, "E362"),
        (("may(u, o), deny(u, o)",), lftj.ExplanationError, "E362"),
    ],
)
def test_what_is_no_row_is_refused(
    access: lftj.Workspace, asked: tuple[object, ...], error: type[lftj.LftjError], code: str
) -> None:
    with pytest.raises(error) as raised:
        access.explain(*asked)
    assert raised.value.code == code


def test_a_row_number_that_is_not_there_is_refused(access: lftj.Workspace) -> None:
    for asked in ((access["may"], 99), (access.query("may(x, y)"), 0)):
        with pytest.raises(lftj.ExplanationError):
            access.explain(*asked)
    with pytest.raises(lftj.OptionError, match="rows"):
        access.explain("may", ("ann", "X"), rows=0)


def test_the_largest_contributors_of_a_sum_are_shown() -> None:
    workspace = lftj.connect()
    text = ".decl a(x: number, v: number) .decl t(s: number) t(sum(v)) :- a(_, v)."
    workspace.add_rules(text)
    rows = [(place, place * (-1) ** place) for place in range(50)]
    workspace.load("a", rows)
    proof = workspace.explain("t", workspace["t"].fetchall()[0], rows=2)
    (group,) = proof.steps[-1].premises
    assert isinstance(group, lftj.proofs.proof.Group)
    assert (group.value, group.size) == (sum(v for _, v in rows), 50)
    assert [dict(each.bindings)["v"] for each in group.shown] == [-49, 48]
    lftj.check_proof(proof, {"a": rows})


def test_a_proof_may_be_higher_than_pythons_stack(capsys: pytest.CaptureFixture[str]) -> None:
    workspace, many = lftj.connect(), 3000
    workspace.add_rules(
        ".decl e(x: number, y: number) .decl s(x: number) .decl r(x: number)"
        " r(x) :- s(x). r(y) :- r(x), e(x, y)."
    )
    workspace.load("e", [(place, place + 1) for place in range(many)])
    workspace.load("s", [(0,)])
    proof = workspace.explain("r", (many,))
    assert (proof.height, len(proof), proof.smallest) == (many + 1, 2 * many + 2, True)
    lftj.check_proof(proof, proof.facts)
    assert len(str(proof).splitlines()) <= 101
    assert len(proof.to_dict()["steps"]) == len(proof)


def test_an_explanation_costs_as_much_as_its_proof() -> None:
    steps = []
    for many in (2_000, 20_000):
        workspace = lftj.connect()
        workspace.add_rules(
            ".decl e(x: number, y: number) .decl r(x: number, y: number)"
            " r(x, y) :- e(x, y). r(x, z) :- r(x, y), e(y, z)."
        )
        edges = [
            (10 * i + j, 10 * i + j + 1) for i, j in itertools.product(range(many // 10), range(9))
        ]
        workspace.load("e", edges)
        with workspace.transaction() as tx:  # so that both orders of e are there
            tx.delete("e", [(0, 1)])
        state = workspace.snapshot()
        proof = state.explain("r", (10, 19))
        assert proof.height == 9
        orders = [len(state._version.state.relation(name).orders()) for name in ("e", "r")]
        with workspace.limits(work=3_000):
            assert state.explain("r", (10, 19)) == proof
        assert orders == [len(state._version.state.relation(name).orders()) for name in ("e", "r")]
        steps.append(proof.height)
    assert steps == [9, 9]


def test_a_large_group_is_not_gone_through_row_by_row() -> None:
    workspace, many = lftj.connect(), 20_000
    workspace.add_rules(
        ".decl a(g: number, v: number) .decl c(g: number, n: number) .decl s(g: number, n: number)"
        " .decl m(g: number, n: number) .decl q(n: number)"
        " c(g, count()) :- a(g, _). s(g, sum(v)) :- a(g, v). m(g, min(v)) :- a(g, v)."
        " q(n) :- n = sum v : { a(_, v) }."
    )
    values = numpy.arange(many) - 12_000
    workspace.load("a", pyarrow.table({"g": numpy.ones(many, numpy.int64), "v": values}))
    for view, shown in (("s", [-12_000, -11_999]), ("m", [-12_000]), ("q", [-12_000, -11_999])):
        proof = workspace.explain(view, workspace[view].fetchall()[0], rows=2)
        (group,) = [each for each in proof.steps[-1].premises if isinstance(each, Group)]
        assert group.size == many
        assert [dict(each.bindings)["v"] for each in group.shown] == shown
        assert len(proof) == len(shown) + 1
    (row,) = workspace["c"].fetchall()
    assert len(workspace.explain("c", row)) == 4


def test_groups_whose_keys_are_computed() -> None:
    """Assignments of one group may differ in each variable of its key."""
    workspace = lftj.connect()
    workspace.add_rules("""
        .decl a(x: number, y: number)  .decl b(x: number, y: number)
        .decl by_sum(k: number, n: number)  .decl by_ten(k: number, n: number)
        .decl greater(k: number?, n: number)  .decl both(k: number, n: number)
        by_sum(x + y, count()) :- a(x, y).
        by_ten(x / 10, sum(x)) :- a(x, _).
        greater(max(x, y), max(z)) :- a(x, z), (b(z, y))?.
        both(x - y, sum(x)) :- a(x, y).
        both(x - y, sum(y)) :- b(x, y).
    """)
    facts = {"a": [(1, 2), (2, 1), (11, 3), (12, 2), (13, 1)], "b": [(1, 4), (12, 11), (5, 4)]}
    for name, rows in facts.items():
        workspace.load(name, rows)
    for view in ("by_sum", "by_ten", "greater", "both"):
        for row in workspace[view].fetchall():
            proof = workspace.explain(view, row)
            lftj.check_proof(proof, facts)
    proof = workspace.explain("by_sum", (3, 2))
    assert sorted(str(proof).splitlines()[1:]) == [
        "      a(1, 2)  base fact",
        "      a(2, 1)  base fact",
        "    with x = 1, y = 2",
        "    with x = 2, y = 1",
        "  by by_sum(x + y, count()) :- a(x, y).",
        "  count() = 2, over 2 assignments",
    ]
