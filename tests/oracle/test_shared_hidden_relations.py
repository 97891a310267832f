"""Rules with equal braces share the hidden relations of these: whoever comes and goes, in branches,
previews and after opening, views are what a new workspace derives from the same rules and rows.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.errors import ProgramErrors

DECLARED = ".decl e(x: number, y: number) .decl s(x: number) .decl t(x: number) " + " ".join(
    f".decl v{number}(x: number, n: number)" for number in range(6)
)
BODIES = [
    "(x, n) :- s(x), n = count : { e(x, _) }.",
    "(a, b) :- s(a), b = count : { e(a, _) }.",
    "(x, n) :- e(x, _), n = sum y : { e(x, y) }, n < 9.",
    "(x, y) :- e(x, y), !( e(y, z), t(z) ).",
    "(x, x) :- s(x), !( e(x, y), t(y) ).",
    "(x, n) :- t(x), n = count : { e(x, y), t(y) }.",
    "(x, n) :- s(x), n = max y : { e(x, y), y < 3 }.",
    "(x, n) :- s(x), n = max u : { e(x, u), u < 3 }.",
    "(x, y) :- v5(x, y), !( e(x, z), e(z, y) ).",
    "(x, z) :- v5(x, y), e(y, z), !( e(y, z), e(z, y) ).",
    "(x, z) :- s(x), e(x, y), ( e(y, z), !( e(z, u), t(u) ) )?, z != NULL.",
    "(x, y) :- s(x), e(x, y), range(1, y, n), to_string(n) != to_string(x).",
]
ROW = st.tuples(st.integers(0, 4), st.integers(0, 4))
RULE = st.one_of(
    st.builds(lambda n, body: f"v{n}{body}", st.integers(0, 5), st.sampled_from(BODIES)),
    st.builds("t(x) :- v{}(x, _).".format, st.integers(0, 5)),
)
STEP = st.tuples(
    st.lists(RULE, max_size=2),
    st.integers(0, 3),
    st.sets(ROW, max_size=4),
    st.sets(ROW, max_size=3),
    st.sampled_from(["commit", "commit", "preview", "open", "branch", "merge"]),
)


def derived(ws: Any) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of all relations."""
    return {name: sorted(ws[name].fetchall()) for name in ws.relations}


def same_in_a_new_workspace(ws: Any) -> None:
    """Compare with a workspace that is given the rules and rows of one."""
    new = lftj.connect()
    new.add_rules(DECLARED)
    new.add_rules("\n".join(str(handle.rule) for handle in ws.rules))
    with new.transaction() as tx:
        tx.insert("e", ws["e"].fetchall())
        tx.insert("s", ws["s"].fetchall())
    assert derived(ws) == derived(new)
    assert ws.verify() == []


def step(ws: Any, change: Any, *, keep: bool = True) -> None:
    """Rules and rows that come and go, unless the rules would close a cycle that none may be."""
    rules, gone, edges, less, _ = change
    try:
        with ws.transaction() as tx:
            for handle in [*ws.rules][:: 1 + len(edges)][:gone]:
                tx.remove_rule(handle)
            tx.insert("e", sorted(edges))
            tx.delete("e", sorted(less))
            tx.insert("s", sorted({(x,) for x, _ in edges}))
            for rule in rules:
                tx.add_rules(rule)
            if not keep:
                tx.preview()
                raise InterruptedError
    except (ProgramErrors, InterruptedError):
        pass


@settings(max_examples=max(4, settings().max_examples // 8), deadline=None)
@given(st.lists(STEP, min_size=3, max_size=7))
def test_rules_with_equal_braces_come_and_go(steps: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ws, branch = lftj.connect(folder), None
        ws.add_rules(DECLARED)
        for change in steps:
            match change[-1]:
                case "preview":
                    step(ws, change, keep=False)
                case "open":
                    ws.close()
                    ws = lftj.connect(folder)
                    branch = ws.branches["b"] if branch is not None else None
                case "branch" if branch is None:
                    branch = ws.branch("b")
                    step(branch, change)
                case "merge" if branch is not None:
                    step(branch, change)
                    with suppress(lftj.MergeConflictError, ProgramErrors):
                        ws.merge("b")
                case _:
                    step(ws, change)
            same_in_a_new_workspace(ws)
            if branch is not None:
                same_in_a_new_workspace(branch)
        ws.close()


def test_a_hidden_relation_stays_as_long_as_one_rule_reads_it(tmp_path: Any) -> None:
    with lftj.connect(tmp_path / "w") as ws:
        ws.add_rules(DECLARED)
        ws.load("e", [(1, 2), (1, 3)])
        ws.load("s", [(1,), (4,)])
        first, second, third = (
            ws.add_rule(f"v{n}(x, n) :- s(x), n = count : {{ e(x, _) }}.") for n in range(3)
        )
        assert "rule1#count1" in str(ws.plan(second))
        ws.remove_rule(first)
        ws.load("e", [(4, 2)])
        assert sorted(ws["v1"].fetchall()) == [(1, 2), (4, 1)]
    with lftj.connect(tmp_path / "w") as ws:
        assert ws.rules == [second, third]
        assert "rule1#count1" in str(ws.plan(third))
        fourth = ws.add_rule("v3(a, b) :- e(a, _), b = count : { e(a, _) }.")
        assert "rule1#count1" in str(ws.plan(fourth))
        for handle in (second, third):
            ws.remove_rule(handle)
        ws.load("e", [(4, 1)])
        assert sorted(ws["v3"].fetchall()) == [(1, 2), (4, 2)]
        ws.remove_rule(fourth)
        ws.add_rule("v3(a, b) :- e(a, _), b = count : { e(a, _) }.")
        assert "rule1#" not in str(ws.plan(ws.rules[0]))
        assert ws.verify() == []


def test_a_cycle_through_a_shared_hidden_relation_is_that_of_the_rule_that_closes_it() -> None:
    ws = lftj.connect()
    ws.add_rules(DECLARED)
    ws.add_rule("v0(x, x) :- s(x), !( e(x, y), t(y) ).")
    with pytest.raises(ProgramErrors, match=r"(?s)E150.*t\(x\) :- s\(x\), !\( e") as caught:
        ws.add_rule("t(x) :- s(x), !( e(x, y), t(y) ).")
    assert "v0" not in str(caught.value)
