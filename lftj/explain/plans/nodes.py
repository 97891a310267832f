# SPDX-License-Identifier: Apache-2.0
"""Nodes of the graph of views, as plans, profiles and pictures show them: each once, whichever
rules it serves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from lftj.engine.versions import Result, State
from lftj.explain.plans.analysis import size
from lftj.maintenance.counting import StratumState
from lftj.program import FunctorRule, NormalRule, Stratum
from lftj.proofs import Drawing, Edge, Table
from lftj.storage import base_name
from lftj.types import INT, STR, Role, is_hidden, without_role
from lftj.views import (
    Arm,
    Family,
    GroupArm,
    GroupState,
    JoinArm,
    JoinState,
    LevelsState,
    UnionState,
    stratum_key,
)

COLUMNS = (
    ("node", STR),
    ("kind", STR),
    ("reads", STR),
    ("relations", STR),
    ("rules", STR),
    ("kept_by", STR),
    ("rows", INT),
    ("bytes", INT),
)

STRATA = ("fixpoint", "levels")
"""Kinds of nodes that are whole strata."""


@dataclass(frozen=True)
class Node:
    """A node of the graph of views.

    `kind`: "table", "join", "family" (joins that differ in constants alone), "group", "extremes"
    (groups that are read off a key order), "bounds" (counts and sums up to a bound), "functor",
    "union", "choice", "fixpoint" or "levels" (sums in cycles, and of several rules). `reads`: names
    of the nodes that it reads; `relations`: those that it helps to derive; `rules`: the numbers of
    the rules of the user's that it serves; `kept_by`: how a commit brings it up to date. `rows`: of
    the relation, or groups, None of a node without; `bytes`: that it keeps.
    """

    name: str
    kind: str
    reads: tuple[str, ...]
    relations: tuple[str, ...]
    rules: tuple[int, ...]
    kept_by: str = ""
    rows: int | None = None
    bytes: int = 0

    @property
    def served(self) -> str:
        """The rules that it serves, as `#1, #2`."""
        return ", ".join(f"#{number}" for number in self.rules)


class Nodes:
    """The nodes of one version, in an order in which each comes after those that it reads."""

    def __init__(self, state: State):
        """O(rules and nodes)."""
        self._state, self._graph = state, state.view_states.graph
        self._numbers: dict[str, int] = {}
        self._named: dict[int | str, str] = {}
        """Names of nodes by key, and of the nodes of rules by the rule's identity."""
        self._readers: dict[str, list[NormalRule | FunctorRule]] = {}
        for union in self._graph.unions.values():
            for arm in union.arms:
                self._readers.setdefault(arm.node_key, []).append(arm.rule)
        self.all: dict[str, Node] = {}
        for name in state.program.catalog.relations:
            if state.program.order.stratum_of(name) is None:
                self._add(Node(name, "table", (), (name,), (), "", *self._rows(name)))
        for stratum in state.program.order.strata:
            self._add_stratum(stratum)

    def of(self, rule: NormalRule | FunctorRule) -> Node | None:
        """The node that finds the rows of a rule, if one is known."""
        return self.all.get(self._named.get(id(rule), ""))

    @cached_property
    def by_work(self) -> Mapping[tuple[str, str], Node]:
        """Nodes by relation and rule, as the works of commits name these: of recursive strata
        without a rule.
        """
        found: dict[tuple[str, str], Node] = {}
        for stratum in self._state.program.order.strata:
            for rule in stratum.rules:
                node = self.of(rule)
                if node is not None and node.kind in STRATA:
                    found[node.name, ""] = node
                elif node is not None:
                    found.setdefault((rule.relation, f"#{rule.source}"), node)
        return found

    # ── the nodes ─────────────────────────────────────────────────────────────────────────────────
    def _add_stratum(self, stratum: Stratum) -> None:
        if not stratum.recursive:
            for name in stratum.relations:
                self._add_union(name, [rule for rule in stratum.rules if rule.relation == name])
            return
        names = tuple(stratum.relations)
        kept = self._state.view_states.get(stratum_key(names))
        shown = ", ".join(name for name in names if not is_hidden(name)) or names[0]
        rows = sum(self._state.database[name].count for name in names if not is_hidden(name))
        node = Node(
            shown,
            "levels" if stratum.summed else "fixpoint",
            self._read(stratum.rules, names),
            names,
            self._served(stratum.rules),
            "levels: a group once those below it are done"
            if stratum.summed
            else "the strategies of recursion",
            rows,
            kept.bytes if isinstance(kept, StratumState | LevelsState) else 0,
        )
        self._add(node)
        self._named |= {id(rule): shown for rule in stratum.rules} | dict.fromkeys(names, shown)

    def _add_union(self, name: str, rules: Sequence[NormalRule | FunctorRule]) -> None:
        """The union of a relation, after the nodes that it reads."""
        union = self._graph.unions.get(name)
        if union is None:  # it has been evaluated by nobody yet
            reads = self._read(rules, ())
        else:
            reads = tuple(dict.fromkeys(self._arm(arm) for arm in union.arms))
        if base_name(name) in self._state.database and union is not None:
            reads = (*reads, *self._base(name))
        schema = self._state.program.stratified.relations[name]
        state = self._state.view_states.get(name)
        rows, kept = self._rows(name)
        if isinstance(state, UnionState) and state.support is not None:
            kept += state.support.memory
        kind = "choice" if schema.choice else "union"
        self._add(Node(name, kind, reads, (name,), self._served(rules), "its rules", rows, kept))

    def _base(self, name: str) -> Iterator[str]:
        """The table of the base rows of a relation with rules, where there are some."""
        rows, kept = self._rows(base_name(name))
        if rows:
            shown = f"base rows of {name}"
            yield self._add(Node(shown, "table", (), (name,), (), "", rows, kept))

    def _arm(self, arm: Arm) -> str:
        """The name of the node that an arm reads; the node is added once."""
        key = arm.node_key
        if key not in self._named:
            family = self._graph.families.get(key)
            if family is not None and isinstance(arm, JoinArm):
                self._named[key] = self._family(family)
            else:
                self._named[key] = self._add(self._inner(arm, key))
        self._named[id(arm.rule)] = self._named[key]
        return self._named[key]

    def _inner(self, arm: Arm, key: str) -> Node:
        """The node behind an arm, which all arms of this key read."""
        rules = self._readers[key]
        found, rows, kept_by = self._state.view_states.get(key), None, arm.kept_by
        join = found.join if isinstance(found, GroupState) else found
        reads = self._read(rules, ())
        if isinstance(arm, GroupArm):
            rows = len(found.aggregate) if isinstance(found, GroupState) else 0
            family = self._graph.families.get(key)
            reads = reads if family is None else (self._family(family),)
        if isinstance(join, JoinState) and join.trace is not None:
            kept_by = "its trace"
        names = tuple(dict.fromkeys(rule.relation for rule in rules))
        kept = found.bytes if isinstance(found, GroupState | JoinState) else 0
        name, numbers = self._next(arm.kind), self._served(rules)
        return Node(name, arm.kind, reads, names, numbers, kept_by, rows, kept)

    def _family(self, family: Family) -> str:
        """The name of the node of a family, added once."""
        key = id(family)
        if key not in self._named:
            names = tuple(dict.fromkeys(name for key in family.views for name in family.views[key]))
            rules = [rule for key in family.views for rule in self._readers[key]]
            kept_by = f"{JoinArm.kept_by}, with {len(family.members):,} constants at once"
            reads = tuple(dict.fromkeys(self._shown(name) for name in family.rule.reads))
            node = Node(self._next("family"), "family", reads, names, self._served(rules), kept_by)
            self._named[key] = self._add(node)
        return self._named[key]

    def _read(
        self, rules: Iterable[NormalRule | FunctorRule], own: Sequence[str]
    ) -> tuple[str, ...]:
        """The nodes of the relations that rules read, but for those of their own cycle."""
        names = (name for rule in rules for name in sorted(rule.reads))
        shown = (self._shown(name) for name in names if without_role(name, Role.BASE) not in own)
        return tuple(dict.fromkeys(shown))

    def _shown(self, name: str) -> str:
        relation = without_role(name, Role.BASE)
        return self._named.get(relation, relation)

    def _rows(self, name: str) -> tuple[int, int]:
        version = self._state.database.get(name)
        return (0, 0) if version is None else (version.count, sum(version.memory().values()))

    def _next(self, kind: str) -> str:
        self._numbers[kind] = self._numbers.get(kind, 0) + 1
        return f"{kind} {self._numbers[kind]}"

    def _add(self, node: Node) -> str:
        self.all[node.name] = node
        return node.name

    def _served(self, rules: Iterable[NormalRule | FunctorRule]) -> tuple[int, ...]:
        """The numbers of the user's rules that these are parts of."""
        found, hidden = set[int](), self._state.program.hidden
        for rule in rules:
            found |= hidden.holders(rule.relation) or {rule.source}
        return tuple(sorted(found))

    # ── showing ───────────────────────────────────────────────────────────────────────────────────
    def result(self, nodes: Iterable[Node]) -> Result:
        """One row for each of these, −1 rows where it has none."""
        rows = [
            (
                node.name,
                node.kind,
                ", ".join(node.reads),
                ", ".join(node.relations),
                node.served,
                node.kept_by,
                -1 if node.rows is None else node.rows,
                node.bytes,
            )
            for node in nodes
        ]
        return Result.of_rows(COLUMNS, rows, version=self._state.version, name="nodes")

    def table(self, nodes: Iterable[Node]) -> Table:
        """A table of these for people."""
        cells = [
            (
                node.name,
                node.kind,
                ", ".join(node.reads),
                node.served,
                node.kept_by,
                "" if node.rows is None else f"{node.rows:,}",
                size(node.bytes) if node.bytes else "",
            )
            for node in nodes
        ]
        return Table(("node", "kind", "reads", "rules", "kept by", "rows", "memory"), cells)

    def drawing(self, seconds: Mapping[str, float] | None = None) -> Drawing:
        """The nodes as a graph, from what is read to what is derived; with `seconds` of nodes."""
        nodes: dict[str, dict[str, Any]] = {}
        for node in self.all.values():
            label = [node.name, *([f"{node.rows:,} rows"] if node.rows is not None else [])]
            about = asdict(node) | {"filled": node.kind == "table"}
            if seconds is not None and node.name in seconds:
                about["seconds"] = seconds[node.name]
                label.append(f"{seconds[node.name] * 1e3:,.1f} ms")
            nodes[node.name] = about | {"label": "\n".join(label)}
        edges: list[Edge] = [
            (read, node.name, {}) for node in self.all.values() for read in node.reads
        ]
        return Drawing("views", nodes, [edge for edge in edges if edge[0] in nodes])
