"""The journeys: small pieces of work, each after several of its kind, so that plans are laid out
and nothing is done for the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import lftj
from bench.deletions.workloads import points_to
from bench.engine import CLOSURE, connect, program
from bench.partition.payloads import CountingExecutor
from lftj.distributed.stored.checkpoints import at_once
from lftj.distributed.work.worker import forget

Travel = Callable[[Path], Iterator[None]]
"""Prepares everything, with an empty folder at hand, and yields; does what is counted, and yields;
then tidies up.
"""

EDGE = ".decl edge(x: number, y: number)\n"
REACHED = f"{CLOSURE}.decl reached(x: number, n: number)\nreached(x, count()) :- path(x, _).\n"
DEGREE = ".decl degree(x: number, n: number)\ndegree(x, count()) :- edge(x, _).\n"
TRIANGLES = (
    ".decl ring{0}(x: number, y: number, z: number)\n"
    "ring{0}(x, y, z) :- edge(x, y), edge(y, z), edge(z, x), x < {0}.\n"
)
NODES, EDGES = 300, 400
WARM = 4
"""Commits of its kind before the one that is counted."""


def _edges() -> list[tuple[int, int]]:
    drawn = np.random.default_rng(1).integers(0, NODES, (EDGES, 2))
    return [(int(x), int(y)) for x, y in np.unique(drawn, axis=0)]


def _change(workspace: lftj.Workspace, relation: str, out: Any = (), into: Any = ()) -> None:
    with workspace.transaction() as transaction:
        transaction.delete(relation, list(out))
        transaction.insert(relation, list(into))


def _with_rules(workspace: lftj.Workspace, rules: str) -> None:
    """Declare edges, load them and add rules; then insert some edges more, one by one."""
    workspace.add_rules(EDGE)
    workspace.load("edge", _edges())
    workspace.add_rules(rules)
    for number in range(WARM):
        _change(workspace, "edge", into=[(NODES + number, number)])


def insert(folder: Path) -> Iterator[None]:
    """The commit of an edge, below a closure and a count of its rows."""
    workspace = connect()
    _with_rules(workspace, REACHED)
    transaction = workspace.transaction()
    transaction.insert("edge", [(2 * NODES, 1)])
    yield
    transaction.commit()
    yield


def deletion(folder: Path) -> Iterator[None]:
    """The commit of a deletion in general recursion: a statement of a points-to analysis goes."""
    workspace, facts = connect(), points_to(NODES)
    workspace.add_rules(program("points_to"))
    for name, table in facts.items():
        workspace.load(name, table)
    moves = list(zip(*(column.to_pylist() for column in facts["move"].columns), strict=True))
    for move in moves[:WARM]:
        _change(workspace, "move", out=[move])
        _change(workspace, "move", into=[move])
    transaction = workspace.transaction()
    transaction.delete("move", [moves[WARM + 1]])
    yield
    transaction.commit()
    yield


def durable(folder: Path) -> Iterator[None]:
    """The commit of an edge in a workspace at a path, with a count."""
    workspace = connect(path=folder / "lftj")
    _with_rules(workspace, DEGREE)
    transaction = workspace.transaction()
    transaction.insert("edge", [(2 * NODES, 1)])
    yield
    transaction.commit()
    yield
    workspace.close()


def opening(folder: Path) -> Iterator[None]:
    """The opening of a workspace at a path, with a closure and a count, and the number of rows."""
    for _ in range(WARM):
        with connect(path=folder / "lftj") as workspace:
            if "edge" not in workspace.relations:
                _with_rules(workspace, REACHED)
            len(workspace["reached"])
    yield
    with connect(path=folder / "lftj") as workspace:
        len(workspace["reached"])
        yield


def rule(folder: Path) -> Iterator[None]:
    """A rule of three atoms, from its text to its rows."""
    workspace = connect()
    _with_rules(workspace, DEGREE)
    for number in range(WARM):
        workspace.add_rules(TRIANGLES.format(number))
    yield
    workspace.add_rules(TRIANGLES.format(NODES))
    yield


def over_parts(folder: Path) -> Iterator[None]:
    """The commit of an edge over three parts, below a join that is counted; tasks of all parts run
    in this process, and on this thread.
    """
    forget()
    executor: Any = CountingExecutor(folder, 3)
    with at_once(), lftj.connect(executor=executor) as workspace:
        _with_rules(workspace, DEGREE.replace("edge(x, _)", "edge(x, y), edge(y, _)"))
        transaction = workspace.transaction()
        transaction.insert("edge", [(2 * NODES, 1)])
        yield
        transaction.commit()
        yield
    forget()


TRAVELS: dict[str, Travel] = {
    "insert": insert,
    "deletion": deletion,
    "durable": durable,
    "opening": opening,
    "rule": rule,
    "over parts": over_parts,
}
"""All journeys by name."""
