"""Long bodies beside the same bodies split by hand: chains, trees and grids of up to 40 atoms.

Each is one rule here, and a program of hidden relations as somebody would write it who knows that a
join should not list all assignments: hop by hop, by halves, arm by arm, or column by column,
whichever of these takes the fewest kernel steps. Rows of both are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import lftj
from bench.clock import processor_seconds
from bench.engine import connect
from bench.figure import Report, require_equal

LONGEST = {"s": 8, "m": 24, "l": 39}  # atoms of a chain, without those of its ends
EDGES, NODES, GROUPS = 2_000, 500, 10
MOST = 400_000_000  # kernel steps of one evaluation
FEW, FEW_OF_COMMIT = 30_000, 1_000  # steps below which those by hand count as so many

_DECLARED = """
.decl e(x: number, y: number)
.decl h(x: number, y: number)
.decl in(x: number, g: number)
"""


class Split(NamedTuple):
    """A body under a head, and programs that derive `found` in steps."""

    name: str
    rule: str
    by_hand: Sequence[str]

    @property
    def atoms(self) -> int:
        """The atoms of the body."""
        return self.rule.partition(":-")[2].count("(")


def relations(seed: int = 1) -> dict[str, pa.Table]:
    """Even edges, edges with hubs, and nodes in groups."""
    chance = np.random.default_rng(seed)
    even, hubs = chance.integers(0, NODES, (EDGES, 2)), chance.zipf(1.5, (EDGES, 2)) % NODES
    nodes = np.arange(NODES)
    return {
        "e": pa.table({"x": even[:, 0], "y": even[:, 1]}),
        "h": pa.table({"x": hubs[:, 0], "y": hubs[:, 1]}),
        "in": pa.table({"x": nodes, "g": nodes % GROUPS}),
    }


def splits(longest: int) -> Iterator[Split]:
    """The bodies of one size."""
    for edge in ("e", "h"):
        for hops in sorted({4, 8, longest - 2}):
            yield _chain(edge, hops)
        for hops in (4, 8):
            yield _counted(edge, hops)
        yield _negated(edge, min(longest, 12))
        for arms, length in ((3, 2), (4, min(4, longest // 4)), (5, min(7, longest // 5))):
            yield _tree(edge, arms, length)
    for rows, columns in ((2, 4), (2, min(13, longest // 3)), (3, min(5, longest // 5))):
        if columns > 1:
            yield _grid(rows, columns)


def _hops(edge: str, hops: int) -> str:
    return ", ".join(f"{edge}(x{n}, x{n + 1})" for n in range(hops))


def _chain(edge: str, hops: int) -> Split:
    """Groups of both ends of paths."""
    body = f"in(x0, f), {_hops(edge, hops)}, in(x{hops}, t)"
    by_hop = [".decl s0(f: number, x: number)", "s0(f, x) :- in(x, f)."]
    for n in range(hops):
        by_hop += [f".decl s{n + 1}(f: number, x: number)"]
        by_hop += [f"s{n + 1}(f, y) :- s{n}(f, x), {edge}(x, y)."]
    by_hop += [f"found(f, t) :- s{hops}(f, x), in(x, t)."]
    return Split(f"chain of {hops} {edge}", f"found(f, t) :- {body}.", ["\n".join(by_hop)])


def _counted(edge: str, hops: int) -> Split:
    """Numbers of paths by the group of one end and by the other end."""
    body = f"in(x0, f), {_hops(edge, hops)}"
    by_hop = [".decl s0(f: number, x: number, n: number)", "s0(f, x, count()) :- in(x, f)."]
    for n in range(hops - 1):
        by_hop += [f".decl s{n + 1}(f: number, x: number, n: number)"]
        by_hop += [f"s{n + 1}(f, y, sum(n)) :- s{n}(f, x, n), {edge}(x, y)."]
    by_hop += [f"counted(f, y, sum(n)) :- s{hops - 1}(f, x, n), {edge}(x, y)."]
    rule = f"counted(f, x{hops}, count()) :- {body}."
    return Split(f"counts of {hops} {edge}", rule, ["\n".join(by_hop)])


def _negated(edge: str, hops: int) -> Split:
    """Pairs of groups without a path."""
    chain = _chain(edge, hops)
    body = chain.rule.partition(":-")[2].strip(" .")
    rule = f"found(f, t) :- in(a, f), in(b, t), f != t, !( {body} )."
    steps = chain.by_hand[0].replace("found(", "met(")
    end = "found(f, t) :- in(a, f), in(b, t), f != t, !met(f, t)."
    by_hand = f".decl met(f: number, t: number)\n{steps}\n{end}"
    return Split(f"no chain of {hops} {edge}", rule, [by_hand])


def _tree(edge: str, arms: int, length: int) -> Split:
    """Ends of two arms of a tree that has others, which only have to exist."""
    arm = "{0}(r, a{1}_1)" + "".join(
        f", {{0}}(a{{1}}_{n}, a{{1}}_{n + 1})" for n in range(1, length)
    )
    body = ", ".join(arm.format(edge, number) for number in range(arms))
    ends = f"in(a0_{length}, f), in(a1_{length}, t)"
    exist = [".decl o0(x: number)", f"o0(x) :- {edge}(x, _)."]
    reach = [".decl s0(x: number, f: number)", "s0(x, f) :- in(x, f)."]
    for n in range(length):
        reach += [f".decl s{n + 1}(x: number, f: number)"]
        reach += [f"s{n + 1}(x, f) :- {edge}(x, y), s{n}(y, f)."]
    for n in range(1, length):
        exist += [f".decl o{n}(x: number)", f"o{n}(x) :- {edge}(x, y), o{n - 1}(y)."]
    end = f"found(f, t) :- s{length}(r, f), s{length}(r, t), o{length - 1}(r)."
    rule = f"found(f, t) :- {body}, {ends}."
    return Split(f"tree {arms} x {length} {edge}", rule, ["\n".join([*exist, *reach, end])])


def _grid(rows: int, columns: int) -> Split:
    """Opposite corners of a grid."""
    right = [f"e(g{r}_{c}, g{r}_{c + 1})" for r in range(rows) for c in range(columns - 1)]
    down = [f"e(g{r}_{c}, g{r + 1}_{c})" for r in range(rows - 1) for c in range(columns)]
    body = ", ".join([*right, *down])
    names, nexts = [f"a{r}" for r in range(rows)], [f"b{r}" for r in range(rows)]
    below = ", ".join(f"e({nexts[r]}, {nexts[r + 1]})" for r in range(rows - 1))
    columns_of = ", ".join(f"{name}: number" for name in ("s", *names))
    first = ", ".join(f"e({names[r]}, {names[r + 1]})" for r in range(rows - 1))
    steps = [f".decl s0({columns_of})", f"s0(a0, {', '.join(names)}) :- {first}."]
    for n in range(columns - 1):
        across = ", ".join(f"e({names[r]}, {nexts[r]})" for r in range(rows))
        steps += [f".decl s{n + 1}({columns_of})"]
        steps += [
            f"s{n + 1}(s, {', '.join(nexts)}) :- s{n}(s, {', '.join(names)}), {across}, {below}."
        ]
    others = ", ".join("_" * (rows - 1))
    steps += [f"found(s, t) :- s{columns - 1}(s, {others}, t)."]
    rule = f"found(g0_0, g{rows - 1}_{columns - 1}) :- {body}."
    return Split(f"grid {rows} x {columns}", rule, ["\n".join(steps)])


# ── both sides ────────────────────────────────────────────────────────────────────────────────────
class Taken(NamedTuple):
    """The work of a program: kernel steps and processor seconds of the commit that adds it, and
    steps of one that takes an edge away.
    """

    steps: int
    seconds: float
    commit: int
    rows: list[tuple[int, ...]]


def taken(program: str, head: str, tables: dict[str, pa.Table]) -> Taken:
    """The work of a program. Raises LimitError for what takes too long."""
    workspace = connect()
    workspace.add_rules(_DECLARED)
    for name, table in tables.items():
        workspace.load(name, table)
    workspace.add_rules(
        ".decl found(f: number, t: number)\n.decl counted(f: number, t: number, n: number)"
    )
    with workspace.limits(work=MOST):
        seconds = processor_seconds(lambda: workspace.add_rules(program))
    steps = sum(workspace.profile(last=1)["steps"])
    rows = sorted(workspace[head].fetchall())
    edge = "h" if " h(" in program else "e"
    row = tuple(column[EDGES // 2].as_py() for column in tables[edge].columns)
    with workspace.transaction() as transaction:
        transaction.delete(edge, [row])
    commit = sum(workspace.profile(last=1)["steps"])
    workspace.close()
    return Taken(steps, seconds, commit, rows)


def measure(report: Report) -> None:
    """Compare the bodies with their splits; `detail` has each."""
    tables, worst, commits = relations(), 0.0, 0.0
    for each in splits(LONGEST[report.size]):
        head = each.rule.partition("(")[0]
        by_hand = [taken(program, head, tables) for program in each.by_hand]
        best = min(by_hand, key=lambda other: other.steps)
        try:
            ours = taken(each.rule, head, tables)
        except lftj.LimitError:
            ours = best._replace(steps=MOST, commit=MOST)
        require_equal(each.name, ours.rows, best.rows)
        worst = max(worst, ours.steps / max(best.steps, FEW))
        commits = max(commits, ours.commit / max(best.commit, FEW_OF_COMMIT))
        report.note(
            body=each.name,
            atoms=each.atoms,
            steps=ours.steps,
            by_hand=best.steps,
            seconds=ours.seconds,
            by_hand_seconds=best.seconds,
            commit=ours.commit,
            by_hand_commit=best.commit,
        )
    report.add("split_worst", worst)
    report.add("split_commit_worst", commits)
