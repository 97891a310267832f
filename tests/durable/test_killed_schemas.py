"""Kill −9 during changes of schemas: the old schema or the new one is there afterwards, with all
rows, views and programs, and the workspace goes on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lftj
from bench.faults.hooks import watched
from bench.faults.killing import Killing

Change = Callable[[Any], object]
CHANGES: list[Change] = [
    lambda ws: ws.alter("item", add={"land": str}, default={"land": "FR"}),
    lambda ws: ws.load("item", [(9000, "new", 1, "FR"), (9001, "other", 2, "IT")]),
    lambda ws: ws.alter("item", add={"twice": int}, compute={"twice": "price * 2"}, drop="who"),
    lambda ws: ws._backend.durable.checkpoint(),
    lambda ws: ws.alter("item", to="product", rename={"price": "cents"}, retype={"cents": float}),
    lambda ws: ws.alter("product", key=None),
    lambda ws: ws.drop_relation("spare"),
    lambda ws: ws.compact(),
]


def begin(path: Path) -> None:
    """A workspace with rows, some of them in pages, and views."""
    with lftj.connect(path) as workspace:
        workspace.relation("item", {"id": int, "who": str, "price": int}, key="id")
        workspace.relation("spare", {"x": int})
        workspace.load("item", [(x, f"w{x % 9}", x % 50) for x in range(3000)])
        workspace.program(
            ".decl c(p: number, n: number)\nc(p, count()) :- item(_, _, p).", name="p"
        )
        workspace.remove_rule(workspace.rules)
        workspace.add_rules(".decl ids(x: number) ids(x) :- item(x, _, _).")
        workspace.load("spare", [(1,)])


def shown(workspace: Any) -> Any:
    """All that may be seen of a version."""
    relations = {
        name: (relation.columns, relation.key, sorted(workspace[name]))
        for name, relation in workspace.relations.items()
    }
    return relations, sorted(map(str, workspace.rules)), workspace.programs


def change(path: Path, moment: int) -> int:
    """Make all changes, and die before the call of this number that changes a file."""
    killing = Killing(moment)
    killing.calls = -100_000
    with watched(killing), lftj.connect(path) as workspace:
        killing.calls = 0
        for each in CHANGES:
            each(workspace)
        return killing.calls


def states(path: Path) -> list[Any]:
    """All that may be there: after none of the changes, one, two …"""
    found: list[Any] = []
    with lftj.connect(path, copy=True) as workspace:
        found.append(shown(workspace))
        for each in CHANGES:
            if each not in (CHANGES[3], CHANGES[-1]):
                each(workspace)
            found.append(shown(workspace))
    return found


def main(folder: Path) -> None:
    """Kill one child after the other."""
    begin(folder / "first.lftj")
    known = states(folder / "first.lftj")
    begin(folder / "counted.lftj")
    last = change(folder / "counted.lftj", 0)
    reached = set[int]()
    for moment in [*range(1, last, max(1, last // 10)), last]:
        path = folder / f"{moment}.lftj"
        begin(path)
        if (pid := os.fork()) == 0:
            try:
                change(path, moment)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        with lftj.connect(path) as workspace:
            there = shown(workspace)
            assert there in known, moment
            assert workspace.verify() == []
            place = known.index(there)
            reached.add(place)
            for each in CHANGES[place:]:
                each(workspace)
            assert shown(workspace) == known[-1]
    print(last, sorted(reached))
    assert len(reached) > 2


def test_a_change_of_a_schema_that_is_killed_is_there_or_not(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.durable.test_killed_schemas", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    main(Path(sys.argv[1]))
