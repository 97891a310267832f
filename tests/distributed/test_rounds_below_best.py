"""Recursion with `min` and `max` in rounds, through random histories: after deletions too, all is
as the reference engine has it.
"""

from __future__ import annotations

import random
from math import inf
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed import stage_supersteps
from lftj.syntax import tree
from lftj.syntax.parser import parse
from tests.depth import enough
from tests.distributed.inline import InlineExecutor, in_supersteps
from tests.oracle.pair import Pair
from tests.retuning import constants
from tests.strategies.histories import AddRule, Change, Transact
from tests.strategies.schemas import Spec

BASES = (
    Spec("s", ("int", "int")),
    Spec("e", ("int", "int", "int")),
    Spec("n", ("int", "int")),
    Spec("f", ("int", "int", "float")),
    Spec("t", ("str", "str", "int")),
)

PROGRAMS: dict[str, tuple[tuple[Spec, ...], str]] = {
    "shortest paths": (
        (Spec("d", ("int", "int")), Spec("far", ("int", "int"))),
        """d(x, min(v)) :- s(x, v).
           d(y, min(v + w)) :- d(x, v), e(x, y, w).
           far(max(v), count()) :- d(_, v).""",
    ),
    "shortest paths of all pairs, some forbidden": (
        (Spec("d", ("int", "int", "int")),),
        """d(x, y, min(w)) :- e(x, y, w), !n(x, _).
           d(x, z, min(v + w)) :- d(x, y, v), d(y, z, w), !n(x, z).""",
    ),
    "least labels": (
        (Spec("l", ("int", "int")), Spec("roots", ("int",))),
        """l(x, min(x)) :- e(x, _, _).
           l(y, min(y)) :- e(_, y, _).
           l(y, min(k)) :- l(x, k), e(x, y, _).
           l(x, min(k)) :- l(y, k), e(x, y, _).
           roots(count()) :- l(x, x).""",
    ),
    "widest paths, in a bound that is below": (
        (Spec("b", ("int", "int")), Spec("top", ("int",))),
        """top(max(v)) :- s(_, v).
           b(x, max(v)) :- s(x, v).
           b(y, max(min(v, w))) :- b(x, v), e(x, y, w), top(t), v > t - 7, !n(y, x).""",
    ),
    "one direction by the other": (
        (Spec("lo", ("int", "int")), Spec("up", ("int", "int"))),
        """lo(x, min(v)) :- s(x, v).
           up(x, max(0 - v)) :- lo(x, v).
           lo(y, min(w - u)) :- up(x, u), e(x, y, w).""",
    ),
    "nothing in the group, and read whole": (
        (Spec("least", ("int",)), Spec("d", ("int", "int"))),
        """least(min(v)) :- d(x, v), n(x, _).
           d(x, min(v)) :- s(x, v).
           d(y, min(v + 0)) :- least(v), n(_, y).
           d(y, min(v + 1)) :- d(x, v), n(x, y).""",
    ),
    "labels of names, along edges that are there several times": (
        (Spec("l", ("str", "str")),),
        """l(x, min(x)) :- t(x, _, _).
           l(y, min(k)) :- l(x, k), t(x, y, _).
           l(x, min(k)) :- l(y, k), t(x, y, w), w > 2.""",
    ),
    "groups of two, one of which is a name": (
        (Spec("h", ("int", "str", "int")),),
        """h(v, x, min(0)) :- s(_, v), t(x, _, v).
           h(v, y, min(d + w)) :- h(v, x, d), t(x, y, w).
           h(u, x, min(d)) :- h(v, x, d), n(v, u).""",
    ),
    "floats that are said not to be negative": (
        (Spec("g", ("int", "float")),),
        """g(x, min(w)) :- f(x, x, w).
           g(y, min(v + w)) :- g(x, v), f(x, y, w), w >= 0.0.""",
    ),
}
FREE = {
    "floats": """g(x, min(w)) :- f(x, x, w).
                 g(y, min(v + w)) :- g(x, v), f(x, y, w).""",
    "values that reach a bound": """b(x, min(v)) :- s(x, v).
                                    b(y, min(max(v - 1, 0))) :- b(x, v), n(x, y).""",
}
"""Programs in which best values may rest on others that were worse."""


def some(name: str, count: int, draw: random.Random) -> list[tuple[Any, ...]]:
    """Rows of a relation. Edges have weights of any sign, often none in a circle, and no circle has
    less than none.
    """
    height = [3, -1, 0, 0, 5, 2, -4, 0]
    rows = set[tuple[Any, ...]]()
    for _ in range(count):
        x, y, slack = draw.randrange(8), draw.randrange(8), draw.choice((0, 0, 0, 1, 2, 3))
        made = {
            "s": (x, slack),
            "e": (x, y, slack + height[y] - height[x]),
            "n": (x, y),
            "f": (x, y, slack / 10),
            "t": ("hgfedcba"[x], "hgfedcba"[y], slack),
        }
        rows.add(made[name])
    return sorted(rows)


def history(
    executor: InlineExecutor,
    views: tuple[Spec, ...],
    text: str,
    elastic: float,
    seed: int,
    steps: int = 9,
    **options: Any,
) -> Pair:
    """A program, rows, and changes of all that it reads, each step against the reference."""
    draw = random.Random(seed)
    workspace: Any = lftj.connect(executor=executor, elastic=elastic, **options)
    pair = Pair((*BASES, *views), workspace)
    many = {"s": 3, "e": 14, "n": 7, "f": 14, "t": 14}
    pair.step(
        Transact(
            tuple(
                Change("insert", name, tuple(some(name, count, draw)))
                for name, count in many.items()
            )
        )
    )
    rules = [clause for clause in parse(text).clauses if isinstance(clause, tree.Rule)]
    pair.step(Transact(tuple(map(AddRule, rules))))
    read = [name for name in many if any(f"{name}(" in str(rule) for rule in rules)]
    for _ in range(steps):
        actions = []
        for _ in range(draw.randint(1, 2)):
            name = draw.choice(read)
            present = sorted(pair.model.relations[name])
            gone = draw.random() < 0.65 and present
            rows = (
                draw.sample(present, min(len(present), draw.randint(1, 3)))
                if gone
                else some(name, draw.randint(1, 3), draw)
            )
            actions.append(Change("delete" if gone else "insert", name, tuple(rows)))
        pair.step(Transact(tuple(actions)))
    return pair


@pytest.mark.parametrize("parts", enough([1, 3], [1, 5, 7]))
@pytest.mark.parametrize("name", PROGRAMS)
def test_oracle_histories_with_deletions(tmp_path: Path, name: str, parts: int) -> None:
    with in_supersteps():
        pair = history(InlineExecutor(tmp_path, parts, 2), *PROGRAMS[name], inf, seed=len(name))
    profile = pair.workspace.profile()
    assert profile["overdeleted"].sum() > 0
    assert (
        profile["anew"].sum() == profile["anew"].max()
    )  # when the rules came: everything else was followed
    assert not list((tmp_path / "rows").glob("*news*"))


@pytest.mark.parametrize("name", FREE)
def test_oracle_values_that_may_rest_on_worse_ones_are_derived_anew(
    tmp_path: Path, name: str
) -> None:
    views = (Spec("g", ("int", "float")), Spec("b", ("int", "int")))
    with in_supersteps():
        pair = history(InlineExecutor(tmp_path, 3), views, FREE[name], inf, seed=3)
    profile = pair.workspace.profile()
    assert profile["overdeleted"].sum() == 0
    assert profile["given_up"].sum() > 0


@pytest.mark.parametrize("name", ["shortest paths of all pairs, some forbidden", "least labels"])
def test_oracle_workers_that_die_between_steps(tmp_path: Path, name: str) -> None:
    executor, draw = InlineExecutor(tmp_path, 3, 2), random.Random(5)
    executor.before = lambda task: executor.forget() if draw.random() < 0.2 else None
    with in_supersteps():
        pair = history(executor, *PROGRAMS[name], inf, seed=12)
        assert pair.workspace.verify() == []
    assert pair.workspace.profile()["overdeleted"].sum() > 0


@pytest.mark.parametrize("elastic", [0, 0.4])
@constants(stage_supersteps, _OVER_DELETED_ROWS=0)
def test_oracle_some_deletions_are_given_up(tmp_path: Path, elastic: float) -> None:
    with in_supersteps():
        pair = history(
            InlineExecutor(tmp_path, 3, 2),
            *PROGRAMS["shortest paths of all pairs, some forbidden"],
            elastic,
            seed=4,
            steps=12,
        )
    profile = pair.workspace.profile()
    followed = profile[(profile["overdeleted"] > 0) & (profile["anew"] == 0)]
    assert profile["given_up"].sum() > 0
    assert (len(followed) > 0) == (elastic > 0)
