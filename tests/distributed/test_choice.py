"""Choice over parts: rows that agree on a domain meet in one part, and what is chosen is what one
process chooses.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed.partitioning.cuts import ONE
from lftj.distributed.partitioning.part_planner import plan_of
from tests.distributed.inline import InlineExecutor

PROGRAMS = {
    "several rules": ".decl v(x: symbol, y: symbol) choice-domain y v(x, y) :- e(x, z), e(z, y). "
    'v(y, x) :- e(x, y). v("n1", "m").',
    "two domains": ".decl v(x: symbol, y: symbol) choice-domain x, y v(x, y) :- e(x, y).",
    "three columns": ".decl v(x: symbol, y: symbol, z: symbol) choice-domain (x, y), (y, z) v(x, "
    "y, z) :- e(x, y), e(y, z).",
    "a forest": ".decl v(r: symbol, x: symbol, y: symbol) choice-domain (r, y) "
    'v(r, r, r) :- e(r, _), r < "n3". v(r, x, y) :- v(r, _, x), e(x, y).',
    "a tree": '.decl v(x: symbol, y: symbol) choice-domain y v("n0", "n0"). v(x, y) :- v(_, x), '
    "e(x, y).",
    "in a rule": ".decl v(x: symbol, y: symbol) v(x, y) :- e(x, z), e(z, y), choice((x), (y)), "
    "choice((y), (x)).",
    "read by others": ".decl w(x: symbol, y: symbol) choice-domain x .decl v(x: symbol, n: number) "
    "w(x, y) :- e(x, y), !e(y, x). v(y, count()) :- w(_, y).",
}


@pytest.mark.parametrize("rules", PROGRAMS.values(), ids=PROGRAMS)
def test_parts_choose_what_one_process_chooses(tmp_path: Path, rules: str) -> None:
    draw = random.Random(rules)
    edges = {(f"n{draw.randrange(9)}", f"n{draw.randrange(9)}") for _ in range(30)}
    executor = InlineExecutor(tmp_path, 3)
    workspaces: list[Any] = [lftj.connect(executor=executor), lftj.connect()]
    for each in workspaces:
        each.relation("e", {"x": str, "y": str})
        each.load("e", sorted(edges))
        each.add_rules(rules)
    for step in range(4):
        new = {(f"n{draw.randrange(9)}", f"n{draw.randrange(9)}") for _ in range(3)} - edges
        old = set(draw.sample(sorted(edges), 3))
        edges = (edges | new) - old
        changes = []
        for each in workspaces:
            before = set(each["v"])
            with each.transaction() as tx:
                tx.insert("e", sorted(new))
                tx.delete("e", sorted(old))
            after = set(each["v"])
            changes.append((after, after - before, before - after))
        assert changes[0] == changes[1]
        if step == 1:
            executor.forget()


@pytest.mark.parametrize(
    ("domains", "home"),
    [
        ([[0]], 0),
        ([[1]], 1),
        ([[0], [1]], ONE),
        ([[0, 1]], 0),
        ([[0, 1], [1, 2]], 1),
        ([[1, 2], [2, 0]], 2),
    ],
)
def test_rows_that_agree_on_a_domain_lie_in_one_part(domains: list[list[int]], home: int) -> None:
    columns = [["x", "int"], ["y", "int"], ["z", "int"]]
    edge: dict[str, Any] = {
        "name": "e",
        "columns": columns,
        "key": None,
        "functional": False,
        "view": False,
    }
    view = {**edge, "name": "v", "choice": domains, "view": True}
    plan = plan_of({"relations": [edge, view], "rules": ["v(x, y, z) :- e(x, y, z)."], "sizes": {}})
    assert plan.homes["v"] == home
