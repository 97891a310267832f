"""Recursion in rounds after deletions: what may be lost is taken away and derived again, and views
are what the reference says.
"""

from __future__ import annotations

import random
from math import inf
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed import stage_supersteps
from lftj.distributed.partitioning.cuts import part_of
from lftj.distributed.partitioning.steps import Move
from lftj.scantree import Tree
from lftj.syntax import tree
from lftj.syntax.parser import parse
from lftj.types import INT
from tests.depth import enough
from tests.distributed.inline import InlineExecutor, in_supersteps
from tests.oracle.pair import Pair
from tests.retuning import constants
from tests.strategies.histories import AddRule, Change, Transact
from tests.strategies.schemas import Spec

BASES = (
    Spec("e", ("int", "int")),
    Spec("n", ("int", "int")),
    Spec("q", ()),
    Spec("w", ("str", "str")),
)

PROGRAMS: dict[str, tuple[tuple[Spec, ...], str]] = {
    "two atoms of its own": (
        (Spec("t", ("int", "int")), Spec("m", ("int",))),
        """t(x, y) :- e(x, y).
           t(x, z) :- t(x, y), t(y, z).
           m(count()) :- t(x, x).""",
    ),
    "three atoms of its own, one of them twice": (
        (Spec("t", ("int", "int")),),
        """t(x, y) :- e(x, y).
           t(x, w) :- t(x, y), t(y, z), t(z, w).
           t(y, y) :- t(x, x), t(x, y).""",
    ),
    "negated below": (
        (Spec("t", ("int", "int")), Spec("alone", ("int", "int"))),
        """t(x, y) :- e(x, y), !n(x, y).
           t(x, z) :- t(x, y), t(y, z), !n(x, _).
           t(z, x) :- t(x, z), e(z, _), !n(_, _), !q().
           alone(x, y) :- e(x, y), !t(y, x).""",
    ),
    "two relations": (
        (Spec("a", ("int", "int")), Spec("b", ("int", "int"))),
        """a(x, y) :- e(x, y).
           b(x, z) :- a(x, y), e(y, z).
           a(z, x) :- b(x, z), !n(z, x).
           b(y, x) :- a(x, y), b(y, y).""",
    ),
    "same generation, read whole": (
        (Spec("s", ("int", "int")),),
        """s(x, y) :- e(z, x), e(z, y).
           s(x, y) :- e(a, x), s(a, b), e(b, y).
           s(x, x) :- s(x, y), s(z, z), y < z.""",
    ),
    "views below and above, in rounds as well": (
        (Spec("t", ("int", "int")), Spec("u", ("int", "int")), Spec("d", ("int", "int"))),
        """d(x, count()) :- e(x, _).
           t(x, y) :- e(x, y), d(x, k), k < 3.
           t(x, z) :- t(x, y), t(y, z).
           u(x, y) :- n(x, y), !t(x, y).
           u(x, z) :- u(x, y), u(y, z), !t(z, x).""",
    ),
    "constants, arithmetic and no columns": (
        (Spec("p", ("int", "int")), Spec("on", ())),
        """p(0, 0) :- q().
           p(y, k) :- p(x, j), e(x, y), k = j + 1, j < 4.
           p(y, 7) :- p(_, y), e(y, y), on().
           on() :- p(_, k), k > 2.
           on() :- on(), n(x, x), q().""",
    ),
    "words": (
        (Spec("v", ("str", "str")),),
        """v(x, y) :- w(x, y).
           v(x, z) :- v(x, y), v(y, z).
           v(x, "ü") :- v(x, x).""",
    ),
}


def edges(nodes: int, count: int, draw: random.Random) -> list[tuple[Any, ...]]:
    """Random pairs, few enough that ways are long."""
    return sorted({(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(count)})


def some(spec: Spec, draw: random.Random) -> list[tuple[Any, ...]]:
    """A few rows of a relation."""
    kinds: dict[str, Any] = {"int": lambda: draw.randrange(9), "str": lambda: draw.choice("abcdeü")}
    return sorted({tuple(kinds[kind]() for kind in spec.types) for _ in range(draw.randint(1, 3))})


def history(
    executor: InlineExecutor,
    name: str,
    elastic: float,
    seed: int,
    steps: int = 9,
    **options: Any,
) -> Pair:
    """A program, rows, and changes of all that may be changed, each step against the reference."""
    draw = random.Random(seed)
    views, text = PROGRAMS[name]
    workspace: Any = lftj.connect(executor=executor, elastic=elastic, **options)
    pair = Pair((*BASES, *views), workspace)
    first = Change("insert", "e", tuple(edges(9, 14, draw)))
    words = Change("insert", "w", (("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")))
    pair.step(
        Transact(
            (
                first,
                words,
                Change("insert", "n", tuple(edges(9, 4, draw))),
                Change("insert", "q", ((),)),
            )
        )
    )
    pair.step(
        Transact(
            tuple(
                AddRule(clause) for clause in parse(text).clauses if isinstance(clause, tree.Rule)
            )
        )
    )
    read = {
        atom
        for each in parse(text).clauses
        if isinstance(each, tree.Rule)
        for atom in BASES
        if f"{atom.name}(" in str(each)
    }
    own = [
        view for view in views if view.name not in ("m", "d", "alone")
    ]  # which may hold rows of their own
    changeable = [
        *sorted(read, key=lambda spec: spec.name),
        *sorted(read, key=lambda spec: spec.name),
        *own,
    ]
    for _ in range(steps):
        actions = []
        for _ in range(draw.randint(1, 2)):
            spec = draw.choice(changeable)
            present = sorted(pair.model.relations[spec.name])
            gone = draw.random() < 0.7 and present and spec not in own
            rows = (
                draw.sample(present, min(len(present), draw.randint(1, 2)))
                if gone
                else some(spec, draw)
            )
            actions.append(
                Change(
                    "delete" if gone or draw.random() < 0.3 else "insert", spec.name, tuple(rows)
                )
            )
        pair.step(Transact(tuple(actions)))
    return pair


@pytest.mark.parametrize("parts", enough([1, 3], [1, 5, 7]))
@pytest.mark.parametrize("name", PROGRAMS)
def test_oracle_histories_with_deletions(tmp_path: Path, name: str, parts: int) -> None:
    with in_supersteps():
        pair = history(InlineExecutor(tmp_path, parts, 2), name, inf, seed=len(name))
    profile = pair.workspace.profile()
    assert profile["overdeleted"].sum() > 0
    assert (
        profile["anew"].sum() == profile["anew"].max()
    )  # when the rules came: everything else was followed
    assert not list((tmp_path / "rows").glob("*news*"))


@pytest.mark.parametrize("name", ["negated below", "two relations"])
def test_oracle_workers_that_die_between_steps(tmp_path: Path, name: str) -> None:
    executor, draw = InlineExecutor(tmp_path, 3, 2), random.Random(5)
    executor.before = lambda task: executor.forget() if draw.random() < 0.2 else None
    with in_supersteps():
        pair = history(executor, name, inf, seed=2)
        assert pair.workspace.verify() == []
    assert pair.workspace.profile()["overdeleted"].sum() > 0


@pytest.mark.parametrize("elastic", [0, 0.2])
@constants(stage_supersteps, _OVER_DELETED_ROWS=0)
def test_oracle_some_deletions_are_given_up(tmp_path: Path, elastic: float) -> None:
    with in_supersteps():
        pair = history(
            InlineExecutor(tmp_path, 3, 2),
            "two atoms of its own",
            elastic,
            seed=4,
            steps=12,
        )
    profile = pair.workspace.profile()
    followed = profile[(profile["overdeleted"] > 0) & (profile["anew"] == 0)]
    assert profile["given_up"].sum() > 0
    assert (len(followed) > 0) == (elastic > 0)


def closure(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Rows of "two atoms of its own", by another way: from each node on."""
    after = {x: {z for y, z in edges if y == x} for x, _ in edges}
    found = set[tuple[int, int]]()
    for start in after:
        waiting = [start]
        while waiting:
            for y in after.get(waiting.pop(), ()):
                if (start, y) not in found:
                    found.add((start, y))
                    waiting.append(y)
    return found


def closing(
    folder: Path, parts: int, rows: set[tuple[int, int]], **options: float
) -> tuple[Any, InlineExecutor]:
    executor = InlineExecutor(folder, parts, 2)
    workspace = lftj.connect(executor=executor, **options)
    workspace.relation("e", {"x": int, "y": int})
    workspace.view("t", {"x": int, "y": int})
    workspace.load("e", sorted(rows))
    workspace.add_rules("t(x, y) :- e(x, y). t(x, z) :- t(x, y), t(y, z).")
    executor.tasks.clear()
    return workspace, executor


def cut(workspace: Any, rows: set[tuple[int, int]], *gone: tuple[int, int]) -> Any:
    """Delete edges, look whether all is right, and give what it took."""
    with workspace.transaction() as tx:
        tx.delete("e", list(gone))
    before, after = closure(rows), closure(rows - set(gone))
    assert set(workspace["t"].fetchall()) == after
    assert sorted(row[:3] for row in tx.changes("t").fetchall()) == sorted(
        (*row, -1) for row in before - after
    )
    return workspace.profile(last=1).iloc[0]


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_cycles_that_are_cut_hold_nothing_up(tmp_path: Path, parts: int) -> None:
    """Rows of a cycle are reasons for one another: cut off from where they came, or cut through,
    none may stay for that.
    """
    ring = {(n, (n + 1) % 12) for n in range(12)}
    rows = ring | {(50, 0), (6, 60), (60, 61), (3, 3)}
    workspace, _ = closing(tmp_path, parts, rows)
    report = cut(workspace, rows, (50, 0))
    assert (report["overdeleted"], report["anew"]) == (14, 0)
    report = cut(workspace, rows - {(50, 0)}, (11, 0))
    assert report["overdeleted"] > 12 * 12
    assert report["anew"] == 0


def test_rows_of_one_column_come_back_where_there_is_another_way(tmp_path: Path) -> None:
    workspace: Any = lftj.connect(executor=InlineExecutor(tmp_path, 3))
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", [(0, 1), (1, 2), (2, 3), (0, 4), (4, 2), (3, 5)])
    with in_supersteps():
        workspace.add_rules(".decl r(x: number) r(0) :- e(0, _). r(y) :- r(x), e(x, y).")
        with workspace.transaction() as tx:
            tx.delete("e", [(1, 2), (3, 5)])
    assert sorted(workspace["r"].fetchall()) == [(n,) for n in range(5)]
    assert workspace.profile(last=1)["anew"].iloc[0] == 0


def test_a_deletion_in_a_large_closure_is_followed(tmp_path: Path) -> None:
    chains = {(100 * chain + n, 100 * chain + n + 1) for chain in range(60) for n in range(12)} | {
        (9000, 9001),
        (9001, 9002),
    }
    workspace, executor = closing(tmp_path, 7, chains)
    whole = workspace.profile(last=1).iloc[0]
    report = cut(workspace, chains, (9001, 9002))
    assert (report["overdeleted"], report["anew"]) == (2, 0)
    assert report["steps"] < whole["steps"] / 100
    moves = [task.steps[-1].move for task in executor.tasks]
    assert moves.count(Move.BEGIN) <= 2
    assert moves.count(Move.OVERDELETE) <= 3  # the parts of three nodes
    assert (
        moves.count(Move.REDERIVE) <= 3
    )  # of nodes that lost rows led over, among all that the leading variable may be
    assert moves.count(Move.TELL) <= 3  # one that lost nothing is only asked
    report = cut(workspace, chains - {(9001, 9002)}, (305, 306), (2500, 2501))
    assert (report["overdeleted"], report["anew"]) == (6 * 7 + 12, 0)
    assert report["steps"] < whole["steps"] / 50


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_what_returns_is_neither_taken_away_nor_put_back(
    tmp_path: Path, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Layers of nodes, each with edges to five of the next ten: nearly every row that rests on an
    edge has another derivation.
    """
    draw = random.Random(1)
    layers = {
        (100 * layer + n, 100 * layer + 100 + m)
        for layer in range(7)
        for n in range(10)
        for m in draw.sample(range(10), 5)
    }
    workspace, _ = closing(tmp_path, parts, layers, elastic=inf)
    middle = sorted(layers)[len(layers) // 2]
    cut(workspace, layers, middle)  # builds the key orders that are read
    written, apply = list[int](), Tree.apply

    def counted(tree: Tree, inserts: Any, erases: Any = ()) -> Tree:
        written.append(len(inserts[0]) + (len(erases[0]) if len(erases) else 0))
        return apply(tree, inserts, erases) if len(erases) else apply(tree, inserts)

    monkeypatch.setattr(Tree, "apply", counted)
    rows, gone = layers - {middle}, sorted(layers)[len(layers) // 2 - 40]
    with workspace.transaction() as tx:
        tx.delete("e", [gone])
    assert set(workspace["t"].fetchall()) == closure(rows - {gone})
    report = workspace.profile(last=1).iloc[0]
    assert report["overdeleted"] > 500
    assert len(tx.changes("t").fetchall()) < 5
    assert (
        sum(written) < report["overdeleted"] / 5
    )  # trees of each part, and of the part that is over-deleted


@pytest.mark.parametrize("parts", [2, 32])
def test_oracle_few_rows_in_many_parts(tmp_path: Path, parts: int) -> None:
    with in_supersteps():
        pair = history(InlineExecutor(tmp_path, parts, 2), "negated below", inf, seed=11, steps=4)
    assert pair.workspace.profile()["overdeleted"].sum() > 0


def test_who_lost_nothing_is_asked_where_a_row_had_another_derivation(tmp_path: Path) -> None:
    """From 1 to 3 by way of 4, or of 2, whose part loses nothing; parts of other nodes are not
    asked.
    """
    rows = {(1, 2), (2, 3), (1, 4), (4, 3)} | {(n, n + 1) for n in range(100, 140)}
    workspace, executor = closing(tmp_path, 13, rows)
    executor.tasks.clear()
    report = cut(workspace, rows, (4, 3))
    assert (report["overdeleted"], report["anew"]) == (2, 0)
    of = {part_of(n, INT, 13): n for n in (1, 2, 3, 4)}
    assert len(of) == 4
    ran = {
        move: {
            of.get(task.part)
            for task in executor.tasks
            if task.steps and task.steps[-1].move is move
        }
        for move in Move
    }
    assert 2 not in ran[Move.BEGIN] | ran[Move.OVERDELETE]
    assert ran[Move.REDERIVE] == {1, 2, 3, 4}


def test_what_loses_too_much_is_derived_anew(tmp_path: Path) -> None:
    ring = {(n, (n + 1) % 50) for n in range(50)}
    workspace, executor = closing(tmp_path / "a", 3, ring)
    report = cut(workspace, ring, (20, 21))
    assert (report["anew"], report["given_up"]) == (1, 1)
    assert Move.REDERIVE not in [task.steps[-1].move for task in executor.tasks]
    workspace, _ = closing(tmp_path / "b", 3, ring, elastic=inf)
    report = cut(workspace, ring, (20, 21))
    assert (report["anew"], report["given_up"], report["overdeleted"]) == (0, 0, 2500)
