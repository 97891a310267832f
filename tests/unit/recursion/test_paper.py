"""The running example of "Towards Elastic Incrementalization for Datalog" [Elastic]: the multisets
of its iterations, and its deletions.

The eight facts stand in section 2.2, the multisets N0, N1 and N2 in section 3.1, the two deletions
in section 2.3. Figure 3 is not in the text at hand: the rules r1 to r3 follow from the
instantiations that section 2.2 prints; that alias leaves out pairs of one variable follows from
section 2.3, where a deletion that leaves vpt(c, L3) and vpt(d, L4) empties alias.
"""

from __future__ import annotations

from typing import Any

import pytest

import lftj
from tests.unit.recursion.stratum import check, counted_at_once, rows_of, states

PROGRAM = """
.decl new(var: symbol, obj: symbol)
.decl assign(to: symbol, from: symbol)
.decl store(base: symbol, field: symbol, from: symbol)
.decl load(to: symbol, base: symbol, field: symbol)
.decl vpt(var: symbol, obj: symbol)
.decl alias(var1: symbol, var2: symbol)

vpt(v, o) :- new(v, o).
vpt(v, o) :- assign(v, w), vpt(w, o).
vpt(v, o) :- load(v, b, f), store(c, f, w), vpt(w, o), vpt(b, p), vpt(c, p).
alias(v, w) :- vpt(v, o), vpt(w, o), v != w.
"""
N0 = {
    "new": [("a", "L1"), ("c", "L3"), ("d", "L4")],
    "assign": [("a", "b"), ("b", "a")],
    "store": [("c", "f", "a")],
    "load": [("e", "d", "f"), ("b", "c", "f")],
}
N1 = {("a", "L1"): 1, ("c", "L3"): 1, ("d", "L4"): 1}
N2 = {("b", "L1"): 2}
L6_REMOVED = {"load": [("e", "d", "f")]}
L1_REMOVED = {"new": [("a", "L1")]}
Multisets = list[dict[tuple[str, ...], int]]


def multisets(workspace: Any) -> Multisets:
    """The multisets of vpt, N1 first: an iteration is counted from 0 here, since the facts are a
    stratum below.
    """
    (state,) = states(workspace)
    decode = workspace._backend.dictionary.decode
    found: Multisets = []
    for row, (iteration, proofs) in rows_of(state)["vpt"].items():
        found.extend({} for _ in range(len(found), iteration + 1))
        found[iteration][tuple(decode(list(row)).to_pylist())] = proofs
    return found


def commit(
    workspace: Any,
    inserted: dict[str, list[Any]] | None = None,
    deleted: dict[str, list[Any]] | None = None,
) -> None:
    with counted_at_once(), workspace.transaction() as transaction:
        for name, rows in (deleted or {}).items():
            transaction.delete(name, rows)
        for name, rows in (inserted or {}).items():
            transaction.insert(name, rows)


@pytest.fixture(params=[0.2, 1e9], ids=["elastic", "always updated"])
def counted(request: pytest.FixtureRequest) -> Any:
    """The eight facts, with proofs counted: a ninth and its deletion make the first update of a
    stratum, which bootstraps its counts.
    """
    workspace = lftj.connect(elastic=request.param)
    workspace.add_rules(PROGRAM)
    for name, rows in N0.items():
        workspace.load(name, rows)
    commit(workspace, inserted={"assign": [("e", "a")]})
    commit(workspace, deleted={"assign": [("e", "a")]})
    return workspace


def test_3_1_bootstrap_counts_the_proofs_of_each_iteration(counted: Any) -> None:
    assert sum(len(rows) for rows in N0.values()) == 8
    assert multisets(counted) == [
        N1,
        N2,
    ]  # vpt(b, L1) has a proof by r2 and one by r3; iteration 3 finds nothing new
    assert set(counted["alias"]) == {("a", "b"), ("b", "a")}
    assert check(counted) == 1


def test_2_3_a_deletion_of_small_impact_changes_no_multiset(counted: Any) -> None:
    commit(counted, deleted=L6_REMOVED)
    assert multisets(counted) == [N1, N2]
    assert set(counted["alias"]) == {("a", "b"), ("b", "a")}
    assert check(counted) == 1


@pytest.mark.parametrize("at_once", [True, False], ids=["one update", "two updates"])
def test_2_3_a_deletion_of_large_impact_takes_half_of_vpt_and_all_of_alias(
    counted: Any, at_once: bool
) -> None:
    for deleted in [{**L6_REMOVED, **L1_REMOVED}] if at_once else [L6_REMOVED, L1_REMOVED]:
        commit(counted, deleted=deleted)
    assert set(counted["vpt"]) == {
        ("c", "L3"),
        ("d", "L4"),
    }  # a and b assigned to each other hold nothing up
    assert list(counted["alias"]) == []
    assert multisets(counted) == [{("c", "L3"): 1, ("d", "L4"): 1}]
    assert check(counted) == 1
    assert counted.verify() == []


def test_3_2_what_is_deleted_comes_back_in_its_iteration_with_its_proofs() -> None:
    """Theorem 3.5 on the example: after an update the multisets are those of a bootstrap on the
    changed input.
    """
    workspace = lftj.connect(elastic=1e9)
    workspace.add_rules(PROGRAM)
    for name, rows in N0.items():
        workspace.load(name, rows)
    commit(workspace, deleted={"assign": [("b", "a")]})
    assert multisets(workspace) == [N1, {("b", "L1"): 1}]  # r3 alone
    commit(workspace, inserted={"assign": [("b", "a")]})
    assert multisets(workspace) == [N1, N2]
    commit(workspace, deleted=L1_REMOVED)
    assert multisets(workspace) == [{("c", "L3"): 1, ("d", "L4"): 1}]
    commit(workspace, inserted={"new": [("a", "L1")]})
    assert multisets(workspace) == [N1, N2]
    assert check(workspace) == 1
