"""Missing rows: how far rules get, and changes that bring the row, each judged by the naive
engine.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from datetime import date
from typing import Any

import pytest

import lftj
from lftj.proofs.check import World
from lftj.proofs.program import FunctionConflict
from lftj.proofs.terms import ArithmeticFailure
from tests.depth import enough
from tests.unit.explain.proven import PROGRAMS, history
from tests.unit.explain.small_programs import BASES, Facts, SmallProgram, rows_of, worlds
from tests.unit.explain.test_explain import ACCESS


@pytest.fixture
def access() -> lftj.Workspace:
    workspace = lftj.connect()
    workspace.add_rules(ACCESS)
    workspace.load("member", [("ann", "dev"), ("dev", "staff"), ("bob", "dev")])
    workspace.load("grant", [("staff", "X"), ("dev", "repo")])
    workspace.load("deny", [("bob", "X")])
    return workspace


def fixes(answer: lftj.WhyNot) -> list[str]:
    return [", ".join(map(str, fix)) for fix in answer.fixes]


def test_a_denied_right(access: lftj.Workspace) -> None:
    assert str(access.why_not("may('bob', 'X')")).splitlines() == [
        'may("bob", "X") is not there',
        "  may(u, o) :- within(u, g), grant(g, o), !deny(u, o).",
        '    holds: within("bob", "staff")',
        '    holds: grant("staff", "X")',
        "    fails: !deny(u, o)",
        '      !deny("bob", "X")  with u = "bob", g = "staff", o = "X"',
        '        there is deny("bob", "X")',
        "  it would be there with",
        '    −deny("bob", "X")',
    ]


def test_what_is_lacking_below_other_rules(access: lftj.Workspace) -> None:
    answer = access.why_not("may", ("carl", "repo"), rows=1)
    (attempt,) = answer.attempts
    assert (attempt.satisfied, attempt.fails, attempt.relation) == ((), "within(u, g)", "within")
    assert '+member("carl", "dev")' in fixes(answer)
    both = access.why_not("may", ("zed", "new"))
    assert {len(fix) for fix in both.fixes} == {2}
    assert access.why_not("may", ("zed", "new"), changes=1).fixes == ()
    assert "no change of up to 1 base fact" in str(access.why_not("may", ("z", "n"), changes=1))


def test_values_of_groups(access: lftj.Workspace) -> None:
    more = access.why_not("rights", ("bob", 2))
    assert fixes(more)[0] == '−deny("bob", "X")'
    assert more.attempts[0].cases[0].nearest == (("bob", 1),)
    assert '−grant("dev", "repo")' in fixes(access.why_not("rights", ("ann", 1)))


def test_the_nearest_rows_and_plain_data(access: lftj.Workspace) -> None:
    answer = access.why_not("may", ("ann", "repo2"))
    assert answer.attempts[0].cases[0].nearest[0] == ("dev", "repo")
    data = answer.to_dict()
    assert data["attempts"][0]["cases"][0]["bindings"]["u"] == "ann"
    assert data["fixes"][0][0].keys() == {"sign", "relation", "row"}


def test_a_dry_run_leaves_no_trace(access: lftj.Workspace) -> None:
    before, asked = access.version, access.snapshot()
    for row in itertools.product(("ann", "bob", "eve"), ("X", "repo", "new")):
        if row not in access["may"].fetchall():
            access.why_not("may", row)
    assert access.version == before
    assert access.verify() == []
    assert "eve" not in str(access["may"].fetchall())
    with access.transaction() as tx:
        tx.delete("deny", [("bob", "X")])
        assert asked.why_not("may", ("bob", "X")).fixes  # inside a transaction of this thread
    assert fixes(asked.why_not("may", ("bob", "X"))) == ['−deny("bob", "X")']
    assert access.explain("may", ("bob", "X")).height == 3
    assert access.verify() == []


def test_changes_that_a_key_forbids_are_no_fix() -> None:
    workspace = lftj.connect()
    boss = workspace.relation("boss", {"who": str, "of": str}, key="who")
    workspace.add_rules(".decl over(who: symbol, of: symbol) over(x, y) :- boss(x, y).")
    workspace.load(boss, [("ann", "cleo")])
    assert fixes(workspace.why_not("over", ("ann", "dan"))) == [
        '−boss("ann", "cleo"), +boss("ann", "dan")'
    ]
    assert fixes(workspace.why_not("over", ("bob", "dan"))) == ['+boss("bob", "dan")']


def test_a_row_that_takes_the_place_of_another_one_of_its_key_is_one_change() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        """
        .decl item(id: number, status: symbol, price: number) key(id)
        .decl open(id: number)
        open(i) :- item(i, "open", _).
        .decl both(i: number, j: number)
        both(i, j) :- open(i), open(j).
        """
    )
    workspace.load("item", [(1, "closed", 50), (2, "closed", 70)])
    answer = workspace.why_not("open", (1,), changes=1)
    first = '    replace item(1, "closed", 50) by item(1, "open", 50)'
    assert str(answer).splitlines()[-len(answer.fixes)] == first
    gone, came = answer.fixes[0]
    assert (gone.sign, came.sign) == (-1, 1)
    assert answer.to_dict()["fixes"][0][1]["replaces"] == [1, "closed", 50] == list(gone.row)
    assert workspace.why_not("both", (1, 2), changes=1).fixes == ()
    text = str(workspace.why_not("both", (1, 2)))
    with workspace.transaction() as tx:
        tx.upsert("item", [came.row])
    assert workspace["open"].fetchall() == [(1,)]
    assert f'{first}, replace item(2, "closed", 70) by item(2, "open", 70)\n' in text


def test_bad_questions(access: lftj.Workspace) -> None:
    with pytest.raises(lftj.ExplanationError, match="is a row of version") as raised:
        access.why_not("may", ("ann", "X"))
    assert "ws.explain('may', ('ann', 'X'))" in (raised.value.hint or "")
    with pytest.raises(lftj.ExplanationError) as raised:
        access.explain("may", ("bob", "X"))
    assert "ws.why_not('may', ('bob', 'X'))" in (raised.value.hint or "")
    with pytest.raises(lftj.UnknownNameError):
        access.why_not("nay", ("ann", "X"))
    with pytest.raises(lftj.ArityError):
        access.why_not("may", ("ann",))
    with pytest.raises(lftj.ValueTypeError):
        access.why_not("may", ("ann", 3))
    for changes in (-1, 5, True, 1.0, None):
        with pytest.raises(lftj.OptionError, match="changes"):
            access.why_not("may", ("bob", "X"), changes=changes)  # type: ignore[arg-type]


def relations_after(name: str, read: str, rows: set[tuple[int, ...]]) -> dict[str, Any]:
    """The relations that the naive engine derives from other base facts."""
    try:
        return dict(World(PROGRAMS[name], {read: rows}, {}).relations)
    except FunctionConflict:
        return {}


def missing_rows(workspace: lftj.Workspace, read: str, seed: int) -> list[Any]:
    """Rows of views that are not there, with values that are."""
    chosen, found = random.Random(seed), []
    for view in sorted(set(workspace.relations) - {read}):
        have = workspace[view].fetchall()
        columns = list(zip(*have, strict=True))
        if columns:  # values that are there, in another combination, or whole numbers
            row = tuple(chosen.choice([*values, *([1] * isinstance(values[0], int))])
                        for values in columns)  # fmt: skip
            found += [(view, row)] * (row not in have)
    return found


@pytest.mark.parametrize(
    "name", ["mutual", "shortest", "choice", "choice of facts", "inner bodies", "branches"]
)
def test_every_fix_brings_the_row(name: str) -> None:
    asked = 0
    for seed in range(5):
        *_, (workspace, facts) = history(name, seed, commits=2)
        ((read, rows),) = facts.items()
        for view, row in missing_rows(workspace, read, seed):
            answer = workspace.why_not(view, row, changes=1)
            assert len(answer.attempts) > 0
            for fix in answer.fixes:
                after = set(rows)
                for change in fix:
                    (after.add if change.sign > 0 else after.discard)(change.row)
                assert row in relations_after(name, read, after)[view], (row, fix)
            asked += 1
        assert workspace.verify() == []
    assert asked


_REACHED = "v(y, x) :- w(z), w(x), e(z, y). w(x) :- e(x, _). w(y) :- w(x), e(x, y)."
_TWICE = "v(x, y) :- w(x), w(y), f(0). w(x) :- e(x, _). w(y) :- e(_, y)."
_ONE_FOR_ALL = """.decl e(x: number, y: number) .decl f(x: number)
    .decl v(x: number, y: number) .decl w(x: number) .decl u(x: number)
"""


@pytest.mark.parametrize(
    ("rules", "row", "fix"),
    [
        ("v(x, y) :- w(y), u(x), e(x, y). w(y) :- e(_, y). u(x) :- e(x, _).", (1, 2), "+e(1, 2)"),
        ("v(x, y) :- w(x), u(y). w(x) :- e(x, _). u(y) :- e(_, y).", (1, 2), "+e(1, 2)"),
        (_REACHED, (3, 3), "+e(3, 3)"),
        (_TWICE, (1, 2), "+e(1, 2), +f(0)"),
        ("v(x, y) :- e(x, y), !(f(n), n > 1, w(n)). w(n) :- f(n).", (1, 2), "−f(7), +e(1, 2)"),
        ("v(y, 10 / x) :- e(x, y), x != 0.", (1, 5), "+e(2, 1)"),
        ("v(y, x + 40) :- e(x, y).", (1, 5), "+e(-35, 1)"),
    ],
)
def test_one_fact_may_serve_several_needs(rules: str, row: tuple[int, int], fix: str) -> None:
    workspace = lftj.connect()
    workspace.add_rules(_ONE_FOR_ALL + rules)
    if "−f(7)" in fix:
        workspace.load("f", [(7,)])
    answer = workspace.why_not("v", row)
    assert fixes(answer)[0] == fix
    assert workspace.verify() == []


def test_functors_that_fail_for_guessed_values() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        _ONE_FOR_ALL + "v(y, 10 / x) :- e(x, y), x >= 0. w(z) :- e(x, _), z = 10 / x, f(x)."
    )
    assert not workspace.why_not("v", (1, 4)).searched
    workspace.load("f", [(5,)])
    assert fixes(workspace.why_not("w", (2,)))[0].startswith("+e(5, ")


def test_what_was_not_tried_is_said(access: lftj.Workspace) -> None:
    access.add_rules(".decl few(u: symbol) few(u) :- member(u, _), 5 = count : { may(u, _) }.")
    answer = access.why_not("few", ("ann",), changes=1)
    assert not answer.searched
    assert str(answer).splitlines()[-3:] == [
        "  no change of up to 1 base fact was found",
        "    there may be one all the same, as not all was tried:",
        "      values of aggregates and choices were tried, not worked out",
    ]
    assert answer.to_dict()["given_up"] == list(answer.given_up)
    assert access.why_not("may", ("bob", "X")).given_up == ()


_UNIVERSE = [(name, row) for name, arity in BASES.items() for row in rows_of(arity)]


def toggled(program: SmallProgram, facts: Facts, rows: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The relations that the naive engine derives once some rows come or go."""
    now = {name: set(some) for name, some in facts.items()}
    for name, row in rows:
        now[name] ^= {row}
    try:
        return dict(World(program.text, now, {}).relations)
    except ArithmeticFailure:
        return {}


def smallest_change(program: SmallProgram, facts: Facts, view: str, row: Any, below: int) -> int:
    """The least number of changes over the small domain that bring a row, if it is below a bound;
    else that bound.
    """
    for size in range(1, below):
        for rows in itertools.combinations(_UNIVERSE, size):
            if row in toggled(program, facts, rows).get(view, ()):
                return size
    return below


def test_what_is_said_of_changes_holds_against_all_changes() -> None:
    asked = found = none = 0
    for seed, (workspace, program, facts) in enumerate(worlds(range(300, enough(332, 400)))):
        chosen = random.Random(seed)
        views = [
            (view, row)
            for view, arity in program.views.items()
            for row in set(rows_of(arity)) - set(workspace[view].fetchall())
        ]
        for view, row in chosen.sample(sorted(views), min(2, len(views))):
            answer = workspace.why_not(view, row, changes=chosen.choice((1, 2)))
            for fix in answer.fixes:
                rows = [(change.relation, change.row) for change in fix]
                assert row in toggled(program, facts, rows)[view], (program.text, facts, fix)
                assert all((c.row in facts[c.relation]) == (c.sign < 0) for c in fix)
            size = len(answer.fixes[0]) if answer.fixes else answer.changes + 1
            if answer.searched:
                assert smallest_change(program, facts, view, row, size) == size, (
                    program.text, facts, view, row,
                )  # fmt: skip
                none += not answer.fixes
            found += bool(answer.fixes)
            asked += 1
    assert asked > 40
    assert found > asked / 3
    assert none > asked / 10  # of many rows it is certain that nothing brings them


@pytest.mark.parametrize(
    ("type", "row", "fix"),
    [
        ("number", 2**63 - 1, None),
        ("number", 5, "+e(5, 6)"),
        ("unsigned", 7, "+e(7, 8)"),
        ("float", 0.5, "+e(0.5, 1.5)"),
        ("date", date(9999, 12, 31), None),
        ("date", date(2024, 1, 1), '+e(date("2024-01-01"), date("2024-01-02"))'),
        ("bool", False, "+e(false, true)"),
    ],
)
def test_values_that_are_guessed_are_values_of_their_type(
    type: str, row: object, fix: str | None
) -> None:
    workspace = lftj.connect()
    sign = "!=" if type == "bool" else ">"
    workspace.add_rules(
        f".decl e(x: {type}, y: {type}) .decl v(x: {type}) v(x) :- e(x, y), y {sign} x."
    )
    assert fixes(workspace.why_not("v", (row,)))[:1] == ([] if fix is None else [fix])


def test_no_unsigned_number_is_below_zero() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl e(x: unsigned, y: unsigned) .decl v(x: unsigned) v(x) :- e(x, y), y < x."
    )
    answer = workspace.why_not("v", (0,))
    assert (answer.fixes, answer.searched) == ((), True)


def test_a_functor_that_fails_for_the_text_of_a_row() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl e(x: symbol) .decl v(x: symbol, n: number) v(x, to_number(x)) :- e(x)."
    )
    assert workspace.why_not("v", ("zz", 3)).fixes == ()
    assert fixes(workspace.why_not("v", ("4", 4))) == ['+e("4")']


def test_a_gap_beside_optional_floats() -> None:
    workspace = lftj.connect()
    workspace.add_rules("""
        .decl f(x: number, y: float?)  .decl s(x: number?)  .decl v(a: float?, b: number?)
        v(median(x), max(z)) :- f(1, y), s(x), f(z, _), coalesce(y, 1.0) > 0.0.
    """)
    workspace.load("f", [(1, None), (0, 1.0)])
    workspace.load("s", [(5,), (None,)])
    answer = workspace.why_not("v", (None, 1))
    assert "it would be there with\n    −s(5)" in str(answer)
    assert str(workspace.why_not("v", (5.5, 1)))
