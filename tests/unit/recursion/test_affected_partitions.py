from __future__ import annotations

import random

import pytest

import lftj
from lftj.maintenance.counting import stratum_change
from lftj.tuning import DEFAULT
from tests.retuning import constants

PROGRAMS = {
    "kept first": "r(d, x, y) :- e(d, x, y).\nr(d, x, z) :- r(d, x, y), e(d, y, z).",
    "kept last": "r(x, y, d) :- e(d, x, y).\nr(x, z, d) :- r(x, y, d), e(d, y, z), !f(d, x).",
    "mutual": "r(d, x, y) :- e(d, x, y).\nr(d, x, z) :- s(x, y, d), e(d, y, z).\n"
    ".decl s(x: number, y: number, d: number)\ns(x, y, d) :- r(d, x, y).",
    "with rows of its own": "r(d, x, z) :- r(d, x, y), r(d, y, z).\nr(d, x, x) :- f(d, x).",
}  # fmt: skip
DECLARED = (
    ".decl e(d: number, x: number, y: number)\n.decl f(d: number, x: number)\n.decl r(a: "
    "number, b: number, c: number)\n"
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_parts_that_changed_are_evaluated_and_no_others(name):
    chooser = random.Random(name)
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + PROGRAMS[name])
    own = "r" if "own" in name else "e"

    def row(width):
        return tuple(chooser.randrange(6) for _ in range(width))

    with workspace.transaction() as tx:
        tx.insert(own, [row(3) for _ in range(120)])
    strategies = set()
    for _ in range(12):
        with workspace.transaction() as tx:
            for relation, width in ((own, 3), ("f", 2)):
                tx.insert(relation, [row(width)])
                tx.delete(relation, [row(width)])
        profile = workspace.profile(last=1)
        strategies |= set(profile["outcome"])
        assert workspace.verify() == []
    assert "parts" in strategies


def test_a_change_that_tells_no_part_is_not_answered_by_parts():
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + "r(d, x, y) :- e(d, x, y).\nr(d, x, z) :- r(d, x, y), f(y, z).")
    workspace.load("e", [(d, d, d + 1) for d in range(20)])
    workspace.load("f", [(3, 9), (9, 12)])
    assert set(workspace.profile(last=1)["outcome"]) != {"parts"}
    assert workspace.verify() == []


def test_rules_that_come_and_go_are_not_answered_by_parts():
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + PROGRAMS["kept first"])
    workspace.load("e", [(d, x, x + 1) for d in range(8) for x in range(4)])
    with workspace.transaction() as tx:
        tx.add_rule("r(d, x, x) :- f(d, x).")
        tx.insert("f", [(d, 7) for d in range(8)])
        tx.insert("e", [(0, 9, 10)])
    assert workspace.verify() == []


# ── parts that are large ──────────────────────────────────────────────────────────────────────────
GUARDED = "r(d, x, y) :- f(d, 0), e(d, x, y).\nr(d, x, z) :- r(d, x, y), e(d, y, z)."


def in_four_large_parts(
    edges: list[tuple[int, int]], tuning: lftj.Tuning = DEFAULT
) -> lftj.Workspace:
    workspace = lftj.connect(tuning=tuning)
    workspace.add_rules(DECLARED + GUARDED)
    with workspace.transaction() as tx:
        tx.insert("e", [(d, x, y) for d in range(4) for x, y in edges])
        tx.insert("f", [(d, 0) for d in range(4)])
    return workspace


def followed(workspace: lftj.Workspace, name: str, row: tuple[int, ...]) -> list[tuple[str, int]]:
    """Strategies and steps for the deletion of a row and its return; both are verified."""
    found: list[tuple[str, int]] = []
    for change in "delete", "insert":
        with workspace.transaction() as tx:
            getattr(tx, change)(name, [row])
        profile = workspace.profile(last=1)
        found.append((profile["outcome"][0], int(profile["steps"].sum())))
        assert workspace.verify() == []
    return found


def test_a_small_change_of_a_large_part_is_followed_by_rows():
    blocks = in_four_large_parts(
        [(i, i + 1) for block in range(400) for i in range(20 * block, 20 * block + 19)]
    )
    whole = int(blocks.profile(last=1)["steps"].sum())
    (went, took), (came, needed) = followed(blocks, "e", (2, 18, 19))
    assert (went, came) == ("update", "update")
    assert max(took, needed) < whole / 39


@constants(stratum_change, _PARTS_SMALL=10_000)
def test_a_part_that_comes_or_goes_is_evaluated_however_large():
    blocks = in_four_large_parts(
        [(i, i + 1) for block in range(100) for i in range(20 * block, 20 * block + 19)],
        lftj.Tuning(elastic_steps=1000),
    )
    assert [strategy for strategy, _ in followed(blocks, "f", (2, 0))] == ["parts", "parts"]


@constants(stratum_change, _PARTS_SMALL=10_000)
def test_a_large_part_is_evaluated_where_following_takes_too_much():
    dense = in_four_large_parts(
        [(x, (x * 7 + y) % 100) for x in range(100) for y in range(1, 9)],
        lftj.Tuning(elastic_steps=10_000),
    )
    assert followed(dense, "e", (2, 0, 1))[0][0] == "parts"


# ── parts of many rounds ──────────────────────────────────────────────────────────────────────────
LIVE = """
.decl next(a: number, b: number)     .decl sets(n: number, v: number)    .decl uses(n: number,
    v: number)
.decl before(n: number, v: number)   .decl after(n: number, v: number)
before(n, v) :- uses(n, v).
before(n, v) :- after(n, v), !sets(n, v).
after(n, v) :- next(n, m), before(m, v).
"""


def test_parts_of_few_rows_and_many_rounds_are_followed_by_rows():
    """Live variables: a part is all that is derived for one of eight variables, in as many
    iterations as the longest block has nodes.
    """
    workspace = lftj.connect()
    workspace.add_rules(LIVE)
    with workspace.transaction() as tx:
        tx.insert("next", [(i, i + 1) for i in range(4000) if i % 50 != 49])
        tx.insert("sets", [(i, i % 8) for i in range(0, 4000, 3)])
        tx.insert("uses", [(i, i // 7 % 8) for i in range(0, 4000, 2)])
    done = []
    for i in range(0, 3000, 300):
        for change in "delete", "insert":
            with workspace.transaction() as tx:
                getattr(tx, change)("sets", [(i, i % 8)])
            done.append(int(workspace.profile(last=1)["steps"].sum()))
    assert max(done) < 200, "the first evaluation tells how many rounds a part takes"
    assert workspace.verify() == []


def test_a_row_that_joins_no_part_goes_and_changes_nothing():
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl g(x: number, l: number, y: number)\n.decl d(q: number, l: number, r: number)\n.decl "
        "w(x: number, y: number, q: number)\n"
        "w(x, x, 0) :- g(x, _, _).\nw(x, z, r) :- w(x, y, q), g(y, l, z), d(q, l, r)."
    )
    with workspace.transaction() as tx:
        tx.insert("g", [(x, 0, y) for x in range(40) for y in range(40)])
        tx.insert("d", [(0, 0, 0), *((q, 0, q) for q in range(2, 12))])
    with workspace.transaction() as tx:  # more than are looked up one by one
        tx.delete("d", [(q, 0, q) for q in range(2, 12)])
    assert "parts" in set(workspace.profile(last=1)["outcome"])
    assert len(workspace["w"]) == 1600
    assert workspace.verify() == []


# ── iteration 0 that is derived ───────────────────────────────────────────────────────────────────
MEMBERS = """
.decl has(x: number, p: number)
.decl of(p: number, c: number)
.decl below(c: number, d: number)
.decl member(x: number, c: number)
member(x, c) :- has(x, p), of(p, c).
member(x, d) :- member(x, c), below(c, d).
"""


@pytest.mark.parametrize("many", [1, 1_200])
def test_parts_that_changes_name_are_evaluated_before_iteration_0_is_derived(many: int) -> None:
    """Of a closure over a join; also where they are more than are looked up one by one."""
    workspace = lftj.connect()
    workspace.add_rules(MEMBERS)
    workspace.load("of", [(p, p) for p in range(20)])
    workspace.load("below", [(c, c // 2) for c in range(1, 20)])
    workspace.load("has", [(x, (x * k) % 20) for x in range(8_000) for k in (3, 7)])
    for verb in "delete", "insert":
        with workspace.transaction() as tx:
            getattr(tx, verb)("has", [(x, (x * 3) % 20) for x in range(many)])
        (work,) = workspace.profile(last=1).to_dict("records")
        assert (work["strategy"], work["outcome"]) == ("affected partitions", "parts")
    assert workspace.verify() == []
    with workspace.transaction() as tx:
        tx.delete("below", [(9, 4)])
    assert workspace.profile(last=1)["strategy"].tolist() == ["reachability"]
    assert workspace.verify() == []
