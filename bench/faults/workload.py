"""A program with a view of each kind, commits and branches by number; all that may be there after
each.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import lftj

PROGRAM = """
.decl edge(x: symbol, y: symbol)
.decl weight(x: symbol, c: float)
.decl reach(x: symbol, y: symbol)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
.decl degree(x: symbol, n: number)
degree(x, count()) :- edge(x, _).
.decl total(x: symbol, t: float)
total(x, sum(c)) :- weight(x, c).
.decl least(x: symbol, c: float)
least(x, min(c)) :- weight(x, c), edge(x, _).
.decl lone(x: symbol)
lone(x) :- weight(x, _), !edge(x, _).
.decl note(x: symbol)
"""
NOTES = 20
"""Strings of a commit that no row has any more after the next one."""
BRANCH = "trial"
Rows = dict[str, list[tuple[Any, ...]]]
Step = Callable[[Any, int], None]


def commit(workspace: Any, number: int) -> None:
    """The commit of this number: the first one has the program, each third of five a rule more."""
    with workspace.transaction() as tx:
        if number == 1:
            tx.add_rules(PROGRAM)
        elif number % 5 == 3:
            tx.add_rules(f'.decl far{number}(y: symbol) far{number}(y) :- reach("n1", y).')
        tx.insert("edge", [(f"n{number % 7}", f"n{number * 3 % 11}"), (f"n{number}", "n1")])
        tx.insert("weight", [(f"n{number % 9}", number * 0.1)])
        if number > 4:
            tx.delete("edge", [(f"n{number - 3}", "n1")])
        tx.insert("note", [(f"note {number}.{each}",) for each in range(NOTES)])
        tx.delete("note", [(f"note {number - 1}.{each}",) for each in range(NOTES)])


def step(workspace: Any, number: int) -> None:
    """The step of this number, one commit of the log: as `commit`, but that each second of six
    begins a branch, the next one commits to it, the fifth merges it and the sixth drops it.
    """
    match number % 6:
        case 2:
            workspace.branch(BRANCH)
        case 3:
            commit(workspace.branches[BRANCH], number)
        case 5:
            workspace.merge(BRANCH)
        case 0:
            workspace.branches[BRANCH].drop()
        case _:
            commit(workspace, number)


def rows(workspace: Any) -> Rows:
    """All rows of all relations, of branches under their names; of a snapshot its own."""
    branches = getattr(workspace, "branches", {"main": workspace})
    return {
        (name if branch == "main" else f"{branch}: {name}"): sorted(each[name].fetchall())
        for branch, each in branches.items()
        for name in each.relations
    }


def expected(commits: int, step: Step = commit) -> list[Rows]:
    """All rows after none, one, two … steps."""
    with lftj.connect() as workspace:
        found = [rows(workspace)]
        for number in range(1, commits + 1):
            step(workspace, number)
            found.append(rows(workspace))
    return found


def committed(workspace: Any, known: list[Rows]) -> int:
    """The number of steps that are there. Asserts that they are there whole, and no more."""
    found = rows(workspace)
    assert found in known, f"not what any step leaves: version {workspace.version}"
    for branch in workspace.branches.values():
        assert branch.verify() == []
    return known.index(found)


def pages_of(path: Path) -> list[Path]:
    """The files of pages and strings of a workspace."""
    return sorted((path / "pages").iterdir())
