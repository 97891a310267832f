"""Recursion in rounds: what parts find and tell each other is what one process finds, after every
change, and when a round fails.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, SupportsIndex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.distributed.files.entry import Entry
from lftj.distributed.partitioning.placement import Partitioner
from lftj.distributed.partitioning.steps import Move
from tests.depth import enough
from tests.distributed.inline import InlineExecutor, require_equal
from tests.distributed.test_histories import pair_over
from tests.strategies.histories import History, histories

PROGRAMS = {
    "two atoms of its own": """
.decl t(x: number, y: number)
t(x, y) :- e(x, y).
t(x, z) :- t(x, y), t(y, z).
.decl loops(n: number)
loops(count()) :- t(x, x).
""",
    "two relations and a negation": """
.decl a(x: number, y: number)
.decl b(x: number, y: number)
a(x, y) :- e(x, y).
b(x, z) :- a(x, y), e(y, z).
a(z, x) :- b(x, z), !e(z, x).
b(y, x) :- a(x, y), b(y, y).
""",
    "same generation, read whole": """
.decl s(x: number, y: number)
s(x, y) :- e(z, x), e(z, y).
s(x, y) :- e(a, x), s(a, b), e(b, y).
s(x, x) :- s(x, y), s(z, z), y < z.
""",
    "least labels": """
.decl label(x: number, l: number)
label(x, min(x)) :- e(x, _).
label(x, min(x)) :- e(_, x).
label(y, min(l)) :- label(x, l), e(x, y).
label(x, min(l)) :- label(y, l), e(x, y).
.decl components(n: number)
components(count()) :- label(x, x).
""",
}


def edges(nodes: int, count: int, seed: int) -> list[tuple[int, int]]:
    """Random edges, few enough that paths are long."""
    draw = random.Random(seed)
    return sorted({(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(count)})


def pair(
    folder: Path, parts: int, rules: str, rows: list[tuple[int, int]], elastic: float = 0.2
) -> tuple[Any, Any, InlineExecutor]:
    """The same in parts and in one process."""
    executor = InlineExecutor(folder, parts, 2)
    both = (lftj.connect(executor=executor, elastic=elastic), lftj.connect())
    for workspace in both:
        workspace.relation("e", {"x": int, "y": int})
        workspace.load("e", rows)
        workspace.add_rules(rules)
    return *both, executor


@pytest.mark.parametrize("parts", enough([1, 3], [1, 2, 7]))
@pytest.mark.parametrize("name", PROGRAMS)
def test_parts_find_in_rounds_what_one_process_finds(tmp_path: Path, name: str, parts: int) -> None:
    rows = edges(30, 36, seed=3)
    many, one, executor = pair(tmp_path, parts, PROGRAMS[name], rows)
    require_equal(many, one)
    assert (many.profile(last=1)["rounds"].iloc[0] > 1) == (parts > 1)
    draw = random.Random(parts)
    for number in range(4):
        came, gone = edges(30, 2, seed=number + 50), draw.sample(rows, 2) if number % 2 else []
        for workspace in (many, one):
            with workspace.transaction() as tx:
                tx.insert("e", came)
                tx.delete("e", gone)
        require_equal(many, one)
    assert not list((tmp_path / "rows").glob("*news*"))  # what parts told each other is gone
    executor.forget()
    many.load("e", [(0, 29), (29, 0)])
    one.load("e", [(0, 29), (29, 0)])
    require_equal(many, one)


def test_an_insertion_goes_on_from_what_there_is(tmp_path: Path) -> None:
    rows = [(n, n + 1) for n in range(40)]
    many, one, executor = pair(tmp_path, 4, PROGRAMS["two atoms of its own"], rows)
    executor.tasks.clear()
    whole = many.profile(last=1).iloc[0]
    with many.transaction() as tx:
        tx.insert("e", [(41, 42)])
    moves = [task.steps[-1].move for task in executor.tasks]
    assert Move.ANEW not in moves
    assert moves.count(Move.BEGIN) <= 2
    report = many.profile(last=1).iloc[0]
    assert report["steps"] < whole["steps"] / 20
    assert sorted(tx.changes("t").fetchall()) == [(41, 42, 1, tx.version)]
    one.load("e", [(41, 42)])
    require_equal(many, one)


def test_parts_close_what_they_hold_before_they_tell(tmp_path: Path) -> None:
    """A path inside one part takes one round, however long it is; there are no more rounds than
    iterations anywhere.
    """
    many, _, _ = pair(
        tmp_path / "one", 1, PROGRAMS["two atoms of its own"], [(n, n + 1) for n in range(60)]
    )
    assert many.profile(last=1)["rounds"].iloc[0] == 1
    many, _, _ = pair(
        tmp_path / "several", 3, PROGRAMS["two atoms of its own"], [(n, n + 1) for n in range(60)]
    )
    assert many.profile(last=1)["rounds"].iloc[0] <= 8  # the length doubles, at least, in each


def test_what_parts_are_told_they_do_not_tell_again(tmp_path: Path) -> None:
    many, _, _ = pair(
        tmp_path, 3, PROGRAMS["two atoms of its own"], [(n, (n + 1) % 12) for n in range(12)]
    )
    paths, loops = 12 * 12, 3 + 1  # and what each part counts of them
    assert (
        many.profile(last=1)["rows"].iloc[0] <= 3 * paths + loops
    )  # written once, and told by those two who hold it


@pytest.mark.parametrize("move", [move for move in Move if move is not Move.WHOLE])
def test_a_commit_that_fails_in_a_round_has_not_been(tmp_path: Path, move: Move) -> None:
    rows = edges(20, 24, seed=4)
    many, one, executor = pair(
        tmp_path, 3, PROGRAMS["two relations and a negation"], rows, 0 if move is Move.ANEW else 0.2
    )
    version = many.version

    def fail(task: Any) -> None:
        if task.steps[-1].move is move and task.part != 0:
            raise RuntimeError("a fault")

    executor.before = fail
    tx = many.transaction()
    tx.insert("e", [(1, 28), (28, 5)])
    tx.delete("e", rows[:2])
    with pytest.raises(RuntimeError, match="a fault"):
        tx.commit()
    executor.before = lambda task: None
    assert many.version == version
    require_equal(many, one)
    for workspace in (many, one):
        with workspace.transaction() as tx:
            tx.insert("e", [(28, 5), (2, 27)])
            tx.delete("e", rows[1:3])
    require_equal(many, one)


def test_strings_and_keys_in_rounds(tmp_path: Path) -> None:
    rules = """
.decl rank[s: symbol]: number
.decl up(s: symbol, t: symbol)
up(s, t) :- link(s, t).
up(s, u) :- up(s, t), up(t, u).
rank["a"] = 0 :- up(_, _).
rank[t] = n :- rank[s] = n, twin(s, t), up(t, t).
rank[s] = n :- rank[t] = n, rank[s] = n, twin(s, t).
"""
    many, one = lftj.connect(executor=InlineExecutor(tmp_path, 3)), lftj.connect()
    for workspace in (many, one):
        for name in ("link", "twin"):
            workspace.relation(name, {"s": str, "t": str})
        workspace.add_rules(rules)
        workspace.load("link", [("a", "b"), ("b", "ü"), ("ü", "a"), ("x", "a")])
        workspace.load("twin", [("a", "b"), ("b", "ü"), ("ü", "x")])
    require_equal(many, one)
    assert len(many["rank"]) == 3


@given(histories(), st.sampled_from([1, 2, 7]))
@settings(max_examples=settings().max_examples // 4)
def test_oracle_rounds_equal_the_reference(history: History, parts: int) -> None:
    """All recursion that can be done in rounds is done in rounds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Partitioner, "_kept", lambda self, stratum: None)
        with pair_over(history, lambda path: InlineExecutor(path, parts, 2)) as (model, _):
            for step in history.steps:
                model.step(step)
            model.workspace.close()


def test_what_rounds_found_is_packed_once_however_many_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, made = 40, list[Entry]()
    workspace: Any = lftj.connect(executor=InlineExecutor(tmp_path, 4))
    workspace.add_rules(
        ".decl e(x: number, y: number) .decl s(x: number) .decl r(x: number) r(x) :- s(x). r(y) :- "
        "r(x), e(x, y)."
    )
    workspace.load("e", [(node, node + 1) for node in range(count)])

    def counted(entry: Entry, version: SupportsIndex) -> Any:
        made.append(entry)
        return object.__reduce_ex__(entry, version)

    monkeypatch.setattr(Entry, "__reduce_ex__", counted)
    workspace.load("s", [(0,)])
    rounds = workspace.profile(last=1).iloc[0]["rounds"]
    assert len(workspace["r"]) == count + 1
    assert rounds > count / 2
    assert len(made) < 4 * rounds
