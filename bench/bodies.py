"""Random bodies beside DuckDB on one thread: no plan of ours may be a relative of the cross
product.

Up to eight atoms over relations of a thousand rows, with constants, repeated variables, atoms that
only have to exist, negation, comparisons, and heads that keep few variables. Each body is evaluated
once, then a row of one of its relations goes and comes back. DuckDB evaluates the body as
`lftj.to_sql` writes it, again after the change.
"""

from __future__ import annotations

import contextlib
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

import lftj
from bench import split_bodies
from bench.clock import processor_seconds
from bench.engine import connect
from bench.figure import Report, require_equal

BODIES = {"s": 20, "m": 1_000, "l": 10_000}
ROWS = 1_000
FEW = 0.0025  # seconds below which theirs count as so many: 20 times that is 50 ms
PATIENCE = 1.0  # processor seconds of one query of DuckDB's
AGAIN = 10  # a ratio above this is taken again: a full collection takes as long as ten bodies
OURS = 20.0  # seconds that what is stopped by these limits counts as
LIMITS = {"work": 2_000_000_000, "memory": 4 << 30}
EACH = 500  # bodies between two lines that say how far it is

_COLUMNS = {"a": 1, "b": 2, "c": 2, "d": 3, "e": 3}
_DECLARED = "\n".join(
    f".decl {name}({', '.join(f'c{place}: number' for place in range(width))})"
    for name, width in _COLUMNS.items()
)


def tables(seed: int = 1) -> dict[str, pa.Table]:
    """The relations: uniform, with hubs, and dense ones."""
    chance = np.random.default_rng(seed)
    hubs = chance.zipf(1.5, (ROWS, 2)) % 500
    made = {
        "a": chance.choice(5 * ROWS, (ROWS, 1), replace=False) % 1_500,
        "b": chance.integers(0, 400, (ROWS, 2)),
        "c": hubs,
        "d": chance.integers(0, 60, (ROWS, 3)),
        "e": np.column_stack([chance.integers(0, 400, ROWS), hubs]),
    }
    return {
        name: pa.table({f"c{place}": rows[:, place] for place in range(rows.shape[1])})
        for name, rows in made.items()
    }


@dataclass(frozen=True)
class Body:
    """A rule for `found`, and a row of a relation that it reads."""

    rule: str
    width: int
    relation: str
    row: tuple[int, ...]

    @property
    def declared(self) -> str:
        """The declaration of the head."""
        columns = ", ".join(f"c{place}: number" for place in range(self.width))
        return f".decl found({columns})"


def bodies(count: int, relations: dict[str, pa.Table], seed: int = 1) -> Iterator[Body]:
    """So many random bodies."""
    rows = {
        name: list(zip(*table.to_pydict().values(), strict=True))
        for name, table in relations.items()
    }
    chance = random.Random(seed)
    for _ in range(count):
        yield _body(chance, rows)


def _body(chance: random.Random, rows: dict[str, list[tuple[int, ...]]]) -> Body:
    names = [chance.choice(list(_COLUMNS)) for _ in range(chance.randint(1, 8))]
    pool = [f"x{place}" for place in range(chance.randint(1, len(names) + 2))]
    constant, wildcard = chance.choice([0, 0, 0.05, 0.15]), chance.choice([0, 0.1, 0.3])
    bound: dict[str, None] = {}

    def term(value: int, known: list[str]) -> str:
        if chance.random() < constant:
            return str(value)
        return "_" if not known or chance.random() < wildcard else chance.choice(known)

    def atom(name: str, known: list[str]) -> str:
        return f"{name}({', '.join(term(value, known) for value in chance.choice(rows[name]))})"

    literals = []
    for name in names:
        literals.append(written := atom(name, pool))
        bound.update(dict.fromkeys(each for each in pool if each in _words(written)))
    known = list(bound)
    for _ in range(chance.choice([0, 0, 1, 2])):
        literals.append("!" + atom(chance.choice(list(_COLUMNS)), known))
    for _ in range(chance.choice([0, 0, 1, 2]) if known else 0):
        other = chance.choice([*known, str(chance.randrange(400))])
        literals.append(
            f"{chance.choice(known)} {chance.choice(['<', '<', '<=', '!=', '!=', '='])} {other}"
        )
    head = chance.sample(known, min(len(known), chance.choice([1, 1, 1, 2, 2, 3]))) or ["1"]
    chance.shuffle(literals)
    changed = chance.choice(names)
    rule = f"found({', '.join(head)}) :- {', '.join(literals)}."
    return Body(rule, len(head), changed, chance.choice(rows[changed]))


def _words(atom: str) -> set[str]:
    return set(atom.partition("(")[2].rstrip(")").split(", "))


# ── both sides ────────────────────────────────────────────────────────────────────────────────────
class Theirs:
    """DuckDB with the relations, on one thread."""

    def __init__(self, relations: dict[str, pa.Table]):
        self.connection = duckdb.connect()
        self.connection.execute("set threads = 1")
        for name, table in relations.items():
            self.connection.register("source", table)
            self.connection.execute(f'create table "{name}" as select distinct * from source')

    def view(self, body: Body) -> None:
        """Write the body as a view."""
        self.connection.execute("drop view if exists found")
        self.connection.execute(str(lftj.to_sql(f"{_DECLARED}\n{body.declared}\n{body.rule}")))

    def seconds(self) -> float | None:
        """Processor seconds of one evaluation; None where it takes too long."""
        started, ended = time.process_time(), threading.Event()

        def watch() -> None:
            while not ended.wait(PATIENCE / 20):
                if time.process_time() - started > PATIENCE:
                    self.connection.interrupt()

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            return processor_seconds(
                lambda: self.connection.execute("create or replace table rows as from found")
            )
        except duckdb.InterruptException:
            return None
        finally:
            ended.set()
            watching.join()

    def rows(self) -> list[tuple[int, ...]]:
        """The rows of the last evaluation."""
        return sorted(self.connection.execute("from rows").fetchall())

    def change(self, body: Body, *, back: bool) -> None:
        """Remove the body's row, or bring it back."""
        table = f'"{body.relation}"'
        if back:
            self.connection.execute(f"insert into {table} values {_values(body.row)}")
        else:
            tests = " and ".join(f"c{place} = {value}" for place, value in enumerate(body.row))
            self.connection.execute(f"delete from {table} where {tests}")


def _values(row: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, row))})"


def ours(relations: dict[str, pa.Table]) -> lftj.Workspace:
    """A workspace with the relations."""
    workspace = connect()
    workspace.add_rules(_DECLARED)
    for name, table in relations.items():
        workspace.load(name, table)
    return workspace


def _change(workspace: lftj.Workspace, body: Body, *, back: bool) -> None:
    with workspace.transaction() as transaction:
        (transaction.insert if back else transaction.delete)(body.relation, [body.row])


def compare(body: Body, relations: dict[str, pa.Table], theirs: Theirs) -> dict[str, float]:
    """Our seconds over theirs, of the first evaluation and of the commits of one row; nothing for
    what takes both too long. Where they were too slow once they are not asked again.
    """
    workspace, found = ours(relations), dict[str, float]()
    workspace.add_rules(body.declared)
    theirs.view(body)
    asked = True

    def take(name: str, work: Callable[[], object]) -> bool:
        nonlocal asked
        other = theirs.seconds() if asked else None
        asked, seconds = other is not None, OURS
        with contextlib.suppress(lftj.LimitError), workspace.limits(**LIMITS):
            seconds = processor_seconds(work)
            if other is not None:
                rows = sorted(workspace["found"].fetchall())
                require_equal(f"{body.rule} {name}", rows, theirs.rows())
        if other is not None or seconds < OURS:
            found[name] = seconds / max(other or PATIENCE, FEW)
        return seconds < OURS

    if take("first", lambda: workspace.add_rules(body.rule)):
        theirs.change(body, back=False)
        take("delete", lambda: _change(workspace, body, back=False))
        theirs.change(body, back=True)
        take("insert", lambda: _change(workspace, body, back=True))
    workspace.close()
    return found


def measure(report: Report, _: Path | None) -> None:
    """Compare so many bodies; `detail` has the worst, and the long ones."""
    if report.wants("split_worst", "split_commit_worst"):
        split_bodies.measure(report)
    if not report.wants("bodies_worst"):
        return
    relations = tables()
    theirs = Theirs(relations)
    for body in bodies(3, relations, seed=0):
        compare(body, relations, theirs)
    worst: list[tuple[float, str, str]] = []
    too_long: list[str] = []
    for number, body in enumerate(bodies(BODIES[report.size], relations)):
        if number and not number % EACH:
            print(f"{number} bodies, the worst {worst[0][0]:.1f}: {worst[0][2]}", file=sys.stderr)
        found = compare(body, relations, theirs)
        if found and max(found.values()) > AGAIN:
            again = compare(body, relations, theirs)
            found = {name: min(ratio, again.get(name, ratio)) for name, ratio in found.items()}
        too_long += [] if found else [body.rule]
        worst += [(ratio, name, body.rule) for name, ratio in found.items()]
        worst = sorted(worst, reverse=True)[:20]
    for ratio, name, rule in worst:
        report.note(ratio=ratio, what=name, rule=rule)
    report.note(too_long_for_both=len(too_long), rules=too_long[:20])
    report.add("bodies_worst", worst[0][0])
