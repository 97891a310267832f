"""Strata that keep no counts, followed by their rows alone: what is right, what it costs, and when
proofs are counted instead.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

import lftj
from lftj.join.plan import index_advisor
from lftj.join.run import evaluate
from lftj.maintenance import affected_partitions
from lftj.maintenance.dred import rederive
from lftj.maintenance.lattice import best_rows
from tests.retuning import constants, retuned
from tests.unit.recursion.following import (
    CLOSURE,
    EDGES,
    RING,
    change,
    steps,
    strategies,
    workspace,
)
from tests.unit.recursion.proofs import Row
from tests.unit.recursion.stratum import states
from tests.unit.recursion.test_elastic_proofs import PROGRAMS, WIDTHS, expected, fact, text
from tests.unit.recursion.test_elastic_proofs import change as commit

pytestmark = pytest.mark.usefixtures("unsearched")

BLOCKS = [(i, i + 1) for block in range(200) for i in range(20 * block, 20 * block + 19)]


def loaded(program: str, facts: dict[str, list[tuple[Any, ...]]], **options: Any) -> Any:
    """A workspace with these rules and rows, after which nothing was changed."""
    tuning = options.pop("tuning", lftj.Tuning())
    found = lftj.connect(**options, tuning=replace(tuning, without={*tuning.without, "counting"}))
    found.add_rules(program)
    change(found, facts, {})
    return found


BY_ROWS = lftj.Tuning(
    rows_steps=1 << 60, rows_least=1 << 60, rows_begun=1 << 60, elastic_steps=1 << 60
)
"""Nothing is too much for following by rows."""


FALLS_APART = {"closure", "mirrored closure", "negation"}
"""Programs in which every change touches parts that can be told."""


# ── right ─────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_and_what_changed_are_right_after_every_change(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
):
    tuning = replace(BY_ROWS, without={"counting"})
    if seed % 2:  # rows that come are told from others by a set
        monkeypatch.setattr(best_rows, "_SET_LEAST", 0)
    if seed > 2:  # what returns is searched for in both ways in turn
        monkeypatch.setattr(rederive, "_REDERIVE_TURN", 0)
        monkeypatch.setattr(rederive, "_REDERIVE_STEPS", 0)
    if seed > 5:  # parts that are touched are evaluated, where there are some, or everything
        anew = {"rederivation", "counting"}
        monkeypatch.setattr(affected_partitions, "_AFFECTED_SHARE", 1.0)
        tuning = replace(tuning, without=anew)
    rules, rnd = PROGRAMS[name], random.Random(f"{name} {seed}")
    used = sorted({atom[0] for rule in rules for atom in (rule.head, *rule.atoms, *rule.negated)})
    heads = sorted({rule.head[0] for rule in rules})
    facts: dict[str, set[Row]] = {relation: set() for relation in WIDTHS}
    workspace = lftj.connect(tuning=tuning)
    workspace.add_rules(text(rules, name))
    ways: list[str] = []
    for _ in range(8):
        present = sorted((relation, row) for relation, rows in facts.items() for row in rows)
        gone = [each for each in present if rnd.random() < 0.2]
        new = [fact(rnd, used, 3 if seed % 2 else 5) for _ in range(rnd.randrange(0, 5))]
        before = {head: set(workspace[head].fetchall()) for head in heads}
        transaction = commit(workspace, facts, gone, new)
        should = expected(rules, set(heads), facts)
        for head in heads:
            rows = (
                set(should.get(head, {})) if WIDTHS[head] else {()} if should.get(head) else set()
            )
            assert set(workspace[head].fetchall()) == rows
            changes = {(row[:-2], row[-2]) for row in transaction.changes(head).fetchall()}
            assert changes == {(row, 1) for row in rows - before[head]} | {
                (row, -1) for row in before[head] - rows
            }
        assert workspace.verify() == []
        ways += strategies(workspace)
    assert states(workspace) == []
    assert ("parts" in ways or name not in FALLS_APART) if seed > 5 else "update" in ways


def test_a_cycle_that_loses_its_way_in_does_not_keep_itself_alive():
    ring = loaded(
        EDGES + ".decl s(x: number)\n.decl r(x: number)\nr(x) :- s(x). r(y) :- r(x), e(x, y).",
        {"e": RING[:15], "s": [(0,), (7,)]},
        tuning=BY_ROWS,
    )
    change(ring, {"e": [(15, 0)]}, {"s": [(7,)]})
    assert (len(ring["r"]), strategies(ring), states(ring)) == (16, ["update"], [])
    change(ring, {}, {"s": [(0,)]})
    assert (ring["r"].fetchall(), strategies(ring), states(ring)) == ([], ["update"], [])


def test_a_failure_of_an_expression_leaves_everything_as_it_was():
    quotients = loaded(
        ".decl d(x: number)\n.decl e(x: number)\n.decl t(x: number)\nt(x) :- e(x). t(x / y) :- "
        "t(x), d(y), x < 100.\n",
        {"d": [(0,), (1,)], "e": [(100,), (200,)]},
    )
    change(quotients, {"e": [(5,)]}, {"d": [(0,)]})
    assert sorted(quotients["t"].fetchall()) == [(5,), (100,), (200,)]
    with pytest.raises(lftj.ValueRangeError):
        change(quotients, {"d": [(0,)]}, {})
    assert sorted(quotients["t"].fetchall()) == [(5,), (100,), (200,)]
    assert quotients.verify() == []


def test_a_relation_that_is_read_and_negated_in_part_may_change():
    program = (
        EDGES
        + ".decl s(x: number)\n.decl r(x: number)\nr(x) :- s(x). r(y) :- r(x), e(x, y), x < y. "
        "r(0) :- r(x), x > 5, !e(_, x).\n"
    )
    both = loaded(program, {"s": [(9,)], "e": [(1, 2), (2, 3)]})
    assert sorted(both["r"].fetchall()) == [(0,), (9,)]
    change(both, {"e": [(8, 9), (9, 12), (12, 9)]}, {})
    assert (sorted(both["r"].fetchall()), strategies(both)) == ([(9,), (12,)], ["update"])
    change(both, {}, {"e": [(8, 9), (12, 9)]})
    assert (sorted(both["r"].fetchall()), strategies(both)) == ([(0,), (9,), (12,)], ["update"])
    assert both.verify() == []


# ── what it costs ─────────────────────────────────────────────────────────────────────────────────
def test_the_first_changes_of_a_large_closure_cost_little_and_count_nothing():
    closure = loaded(CLOSURE, {"e": BLOCKS})
    evaluated = steps(closure)
    for block in range(3):
        edge = (20 * block + 18, 20 * block + 19)
        change(closure, {}, {"e": [edge]})
        assert (strategies(closure), len(closure["t"])) == (["update"], 200 * 190 - 19)
        change(closure, {"e": [edge]}, {})
        assert (strategies(closure), len(closure["t"])) == (["update"], 200 * 190)
    assert steps(closure) < 500 < evaluated / 10
    assert states(closure) == []
    assert closure.verify() == []


def test_key_orders_that_a_change_needs_are_kept_for_the_next():
    closure = loaded(CLOSURE, {"e": BLOCKS})
    for row in [(18, 19)], [(38, 39)]:
        change(closure, {}, {"e": row})
    orders = {row[0]: row[1] for row in closure.memory().fetchall() if row[0] == "t"}
    assert steps(closure) < 500
    change(closure, {}, {"e": [(58, 59)]})
    assert {row[0]: row[1] for row in closure.memory().fetchall() if row[0] == "t"} == orders


def flows() -> Any:
    """Pairs that are carried along the steps of eight functions, in a hundred and more rounds."""
    points = [range(1000 * function, 1000 * function + 120) for function in range(8)]
    steps_ = [
        (n, n + far)
        for each in points
        for n in each
        for far in (1, 2)
        if n + far in each and n % far == 0 and (n, far) != (3010, 1)
    ]
    pairs = [(each[0] + i, each[0] + i + 1, each[0]) for each in points for i in range(16)]
    program = """
        .decl pair(a: number, b: number, n: number)  .decl step(n: number, m: number)
        .decl s(a: number, b: number, n: number)
        s(a, b, n) :- pair(a, b, n).  s(a, c, n) :- s(a, b, n), s(b, c, n), a != c.  s(a, b,
            m) :- s(a, b, n), step(n, m).
    """
    return loaded(program, {"step": steps_, "pair": pairs}, tuning=lftj.Tuning(rows_tried=0.5))


def test_what_a_part_of_many_rounds_loses_is_followed():
    found = flows()
    evaluated, rows = steps(found), len(found["s"])
    for verb in ("lost", "won"):
        change(found, *(({"step": [(3010, 3012)]}, {})[:: 1 if verb == "won" else -1]))
        assert (strategies(found), abs(len(found["s"]) - rows)) == (
            ["update"],
            108 * 136 * (verb == "lost"),
        )
        assert steps(found) < evaluated / 4
    assert states(found) == []
    assert found.verify() == []


# ── when proofs are counted instead ───────────────────────────────────────────────────────────────
def dense(**options: Any) -> Any:
    edges = [(x, (x * 7 + y) % 300) for x in range(300) for y in range(1, 9)]
    return loaded(CLOSURE, {"e": edges}, **options)


MUTUAL = """
.decl e(x: number, y: number)  .decl p(x: number, y: number)  .decl q(x: number, y: number)
p(x, y) :- e(x, y).
p(x, z) :- q(x, y), e(y, z).
q(x, z) :- p(x, y), e(y, z).
"""
A_LITTLE = lftj.Tuning(rows_steps=1_000_000)


def test_what_takes_too_much_is_given_up_without_a_trace():
    closure = dense(tuning=A_LITTLE)
    change(closure, {}, {"e": [(0, 1)]})
    assert (strategies(closure), states(closure)) == (["fallback"], []), (
        "everything would have gone and come back"
    )
    assert closure.verify() == []


def test_what_only_adds_and_what_changes_much_is_no_reason_to_count():
    closure = loaded(CLOSURE, {"e": BLOCKS})
    middles = [(20 * block + 9, 20 * block + 10) for block in range(100)]
    with retuned(closure, rows_steps=1000, rows_least=1000, rows_tried=0.0):
        for _ in range(4):
            change(closure, {}, {"e": middles})
            assert strategies(closure) == ["forecast"], "a quarter of the rows go"
            change(closure, {"e": middles}, {})
            assert strategies(closure) == ["update"]
    change(closure, {}, {"e": [(18, 19)]})
    assert (strategies(closure), states(closure)) == (["update"], [])
    assert steps(closure) < 500
    assert closure.verify() == []


def test_rows_that_come_are_followed_to_the_end():
    tuning = lftj.Tuning(rows_steps=1000, rows_least=1000, rows_begun=1000)
    mutual = loaded(MUTUAL, {"e": [(0, 1), (1, 2), *BLOCKS[40:]]}, tuning=tuning)
    evaluated = steps(mutual)
    change(mutual, {"e": [(x, x + 1) for x in range(2, 100)]}, {})
    assert strategies(mutual) == ["update"], "some thousand rows come to more than thirty thousand"
    anew = loaded(MUTUAL, {"e": [(x, x + 1) for x in range(100)] + BLOCKS[40:]}, tuning=tuning)
    assert evaluated < steps(anew)
    assert steps(mutual) < steps(anew)
    assert mutual.verify() == []


def test_a_deletion_of_much_is_not_begun():
    tuning = lftj.Tuning(elastic_steps=1, rows_least=1, rows_steps=1 << 60)
    closure = loaded(CLOSURE, {"e": BLOCKS}, tuning=tuning)
    anew = steps(closure)
    middles = [(20 * block + 9, 20 * block + 10) for block in range(100)]
    outcomes: list[str] = []
    for _ in range(2):
        change(closure, {}, {"e": middles})
        outcomes += strategies(closure)
        assert steps(closure) < 1.05 * anew
        change(closure, {"e": middles}, {})
    assert outcomes == ["forecast", "forecast"]
    assert closure.verify() == []


STATEMENTS = """
    .decl alloc(v: number, o: number)  .decl move(v: number, w: number)
    .decl fetch(v: number, b: number)  .decl store(b: number, w: number)
"""
POINTS = """
    .decl points(v: number, o: number)
    points(v, o) :- alloc(v, o).
    points(v, o) :- move(v, w), points(w, o).
    points(v, o) :- fetch(v, b), points(b, p), store(p, w), points(w, o).
"""


def statements() -> dict[str, list[tuple[int, int]]]:
    """Statements of a program: many moves, few stores and fetches."""
    rnd = random.Random(3)
    pairs = {"alloc": 60, "move": 600, "store": 20, "fetch": 20}
    return {
        name: sorted({(rnd.randrange(300), rnd.randrange(300)) for _ in range(many)})
        for name, many in pairs.items()
    }


def test_one_fact_of_few_is_followed_although_its_share_is_large():
    """Deleting it loses little; evaluations would have been all that is tried."""
    facts = statements()
    tuning = lftj.Tuning(elastic_steps=1)
    rows = loaded(STATEMENTS, facts, tuning=tuning)
    rows.add_rules(POINTS)
    anew = steps(rows)
    taken: list[int] = []
    for name in ("fetch", "store"):
        for row in facts[name]:
            change(rows, {}, {name: [row]})
            taken.append(steps(rows))
            change(rows, {name: [row]}, {})
    assert sorted(taken)[len(taken) // 2] < anew / 20
    assert rows.verify() == []


def test_where_counting_was_given_up_what_only_adds_is_followed_all_the_same():
    closure = workspace(CLOSURE, {"e": BLOCKS}, elastic=1e-6)
    with retuned(closure, elastic_steps=1_000):
        for row in BLOCKS[10:13]:
            change(closure, {}, {"e": [row]})
    assert states(closure) == []
    change(closure, {"e": [(19, 3990)]}, {})
    assert (strategies(closure), states(closure)) == (["update"], [])
    assert steps(closure) < 500
    assert closure.verify() == []


@pytest.mark.parametrize("elastic", [0.0, float("inf")])
def test_elastic_0_never_follows_and_infinity_always_counts(elastic: float):
    closure = lftj.connect(elastic=elastic)
    closure.add_rules(CLOSURE)
    change(closure, {"e": BLOCKS}, {})
    change(closure, {}, {"e": [(18, 19)]})
    assert strategies(closure) == ["update" if elastic else "bootstrap"]
    assert len(states(closure)) == (elastic > 0)


def test_a_deletion_that_takes_nearly_all_costs_little_more_than_to_find_it_anew():
    ring = lftj.connect()
    ring.add_rules(".decl e(x: number, y: number)")
    ring.load("e", [(x, (x + step) % 20_000) for x in range(20_000) for step in (1, 7, 1000)])
    ring.add_rules(".decl r(x: number)\nr(0). r(y) :- r(x), e(x, y).")
    anew = steps(ring)
    change(ring, {}, {"e": [(0, 1)]})
    assert steps(ring) < 1.5 * anew
    assert ring.verify() == []


def test_where_rows_alone_take_too_much_the_parts_that_were_touched_are_evaluated():
    """Six graphs in which everybody reaches everybody: a lost edge may have been on the way of any
    row of one of them.
    """
    edges = [
        (300 * g + x, 300 * g + (x * 7 + y) % 300)
        for g in range(6)
        for x in range(300)
        for y in range(1, 9)
    ]
    closure = loaded(CLOSURE, {"e": edges})
    evaluated, rows = steps(closure), len(closure["t"])
    assert rows == 6 * 300 * 300
    change(closure, {}, {"e": [edges[2500]]})
    assert (strategies(closure), len(closure["t"])) == (["parts"], rows)
    change(closure, {}, {"e": [edges[2501], edges[20]]})
    assert strategies(closure) == ["parts"]
    assert steps(closure) < evaluated / 2
    change(closure, {"e": [edges[20]]}, {})
    assert strategies(closure) == ["update"], "what is only won is followed by rows"
    assert (states(closure), closure.verify()) == ([], [])


@constants(evaluate, _SOON_MADE=1_000)
@constants(index_advisor, ADVISED_ORDER_COST=0)
def test_a_key_order_is_made_once_changes_that_lacked_it_took_as_long():
    """A fifth of all pairs are reached: for each edge that comes, who reaches its beginning is
    found without a key order by the end, until that took as long as making one.
    """
    program = """
        .decl e(x: number, y: number)  .decl even(x: number, y: number)
        .decl odd(x: number, y: number)
        odd(x, y) :- e(x, y).  even(x, z) :- odd(x, y), e(y, z).  odd(x, z) :- even(x, y), e(y, z).
    """
    chain = [(x, x + 1) for x in range(60)]
    workspace = loaded(program, {"e": [*chain, *((x, x + 100) for x in range(60))]})
    made = []
    for number in range(120):
        change(workspace, {"e": [(number % 60, 1_000 + number)]}, {})
        made.append(len(workspace._backend.state.database["odd"].orders()) - 1)
    assert made[0] == 0
    assert made[-1] == 1
    assert workspace.verify() == []
