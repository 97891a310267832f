"""A program with a view of each kind, and commits by number; all that may be there after each."""

from __future__ import annotations

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
"""
Rows = dict[str, list[tuple[Any, ...]]]


def commit(workspace: Any, number: int) -> None:
    """The commit of this number: the first one has the program, each fifth a rule more."""
    with workspace.transaction() as tx:
        if number == 1:
            tx.add_rules(PROGRAM)
        elif number % 5 == 0:
            tx.add_rules(f'.decl far{number}(y: symbol) far{number}(y) :- reach("n1", y).')
        tx.insert("edge", [(f"n{number % 7}", f"n{number * 3 % 11}"), (f"n{number}", "n1")])
        tx.insert("weight", [(f"n{number % 9}", number * 0.1)])
        if number > 4:
            tx.delete("edge", [(f"n{number - 3}", "n1")])


def rows(workspace: Any) -> Rows:
    """All rows of all relations."""
    return {name: sorted(workspace[name].fetchall()) for name in workspace.relations}


def expected(commits: int) -> list[Rows]:
    """All rows after none, one, two … commits."""
    with lftj.connect() as workspace:
        found = [rows(workspace)]
        for number in range(1, commits + 1):
            commit(workspace, number)
            found.append(rows(workspace))
    return found


def committed(workspace: Any, known: list[Rows]) -> int:
    """The number of commits that are there. Asserts that they are there whole, and no more."""
    version = workspace.version
    assert rows(workspace) == known[version], f"not what version {version} has"
    assert workspace.verify() == []
    return version


def pages_of(path: Path) -> list[Path]:
    """The files of pages and strings of a workspace."""
    return sorted((path / "pages").iterdir())
