# SPDX-License-Identifier: Apache-2.0
"""State of a recursive stratum between commits [Elastic 4]: every row with its iteration and its
number of proofs in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Self

from lftj.maintenance.cost.cost_model import FEW
from lftj.maintenance.counting.choice_update import Candidates
from lftj.maintenance.counting.iterated_relation import IteratedRelation
from lftj.maintenance.counting.rule_queries import RuleQueries
from lftj.maintenance.counting.trail import Trail
from lftj.program.monotone import Lattice
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.scantree import Arena
from lftj.scantree.frozen import frozen
from lftj.storage.delta import no_rows
from lftj.storage.relation import RelationVersion

ELASTIC_FORGETTING = 0.9
"""Weight of earlier updates at each later one: stable against quick to learn."""
ELASTIC_DOUBTING = 0.98
"""The same at each change that is expected to cost too much."""


@frozen
class _Experienced:
    """State that knows what past changes cost: `spent` in all, for so many `changes` of rows below;
    recent ones weigh more.
    """

    spent: float = field(default=0.0, kw_only=True)
    changes: float = field(default=0.0, kw_only=True)

    def experienced(self, spent: int, changes: int) -> Self:
        """The same state, knowing what one more change took; one of rules alone tells nothing of
        rows.
        """
        if not changes:
            return self
        left = ELASTIC_FORGETTING
        return replace(self, spent=self.spent * left + spent, changes=self.changes * left + changes)

    def expected(self, changes: int, forecast: float = 0.0) -> float:
        """Expected cost of so many changed rows below: by those before, and by a `forecast` for
        them, which counts as a few rows.
        """
        seen = self.spent * changes + FEW * forecast
        return seen / (self.changes + FEW) if changes else 0.0


@frozen
class StratumState(_Experienced):
    """One immutable version. `work`: what the last evaluation cost (see `cost_model`), `steps`: the
    kernel steps of it.

    `candidates`: of relations with a choice domain, with their proofs; of those `relations` have
    the rows that are accepted. `spent` and `changes`: what past updates cost, and the changed rows
    below that they were for; recent ones weigh more. `lattices`: which relations keep the least or
    greatest value of each group; then `rules` are those of `optimal_support`.

    Invariant: the support of a row is the number of its derivations from rows of lower ranks, or
    not counted yet; each row has one. Where ranks are `least`, `relations` are also what a
    bootstrap on the same input gives, iteration by iteration and count by count [Theorem 3.5].
    """

    schemas: Mapping[str, RelationSchema]
    relations: Mapping[str, IteratedRelation]
    rules: tuple[RuleQueries, ...]
    work: int = 0
    steps: int = 0
    candidates: Mapping[str, Candidates] = field(default_factory=dict)
    lattices: Mapping[str, Lattice] = field(default_factory=dict)
    least: bool = False

    @staticmethod
    def empty(schemas: Mapping[str, RelationSchema], arena: Arena) -> StratumState:
        """No rules and no rows."""
        relations = {
            name: IteratedRelation.of(schema, arena, no_rows(schema.arity), *no_rows(2))
            for name, schema in schemas.items()
        }
        chosen = {
            name: Candidates.of(schema, arena, no_rows(schema.arity), *no_rows(2))
            for name, schema in schemas.items()
            if schema.choice
        }
        return StratumState(schemas, relations, (), candidates=chosen)

    @staticmethod
    def ranked(
        schemas: Mapping[str, RelationSchema],
        arena: Arena,
        trail: Trail,
        now: Mapping[str, RelationVersion],
    ) -> StratumState:
        """The rows as they are `now`, each with the rank that the trail tells and a support that is
        not counted. O(n log n).
        """
        relations: dict[str, IteratedRelation] = {}
        for name, schema in schemas.items():
            tree = trail.tree(name, schema.arity, arena, now[name])
            relations[name] = IteratedRelation.of_tree(schema, arena, tree)
        return StratumState(schemas, relations, ())

    def queries_of(self, rules: Iterable[NormalRule]) -> tuple[RuleQueries, ...]:
        """The queries of these rules: those of a rule that was here, with their plans,
        or new ones.
        """
        members = frozenset(self.schemas)
        left = list(self.rules)
        found: list[RuleQueries] = []
        for rule in rules:
            known = next(
                (queries for queries in left if queries.rule is rule or queries.rule == rule), None
            )
            if known is not None:
                left.remove(known)
            found.append(known or RuleQueries(rule, members))
        return tuple(found)

    @property
    def bytes(self) -> int:
        """Bytes of the rows in all key orders, iterations and counts included, but for what the
        views share: the rows in one order.
        """
        relations = self.relations.values()
        shared = sum(
            8 * relation.count * (len(relation.schema.columns) - 1) for relation in relations
        )
        candidates = sum(kept.bytes for kept in self.candidates.values())
        return sum(sum(relation.memory().values()) for relation in relations) - shared + candidates


@frozen
class Uncounted(_Experienced):
    """State kept of a stratum whose rows were found without counting.

    `work` and `steps`: what the evaluation cost (see `cost_model`), and its kernel steps; 0 when
    nothing is known. `iterations`: what of that, or of an evaluation of parts, the iterations cost,
    however little they found. `spent` and `changes`: what past deletions cost, and the changed rows
    below that they were for. `trail`: the iterations of the rows, where they are known; `rules`:
    queries of earlier updates, whose plans serve.
    """

    work: int = 0
    steps: int = 0
    iterations: int = 0
    trail: Trail | None = None
    rules: tuple[RuleQueries, ...] = ()

    @property
    def bytes(self) -> int:
        """Bytes that are kept beside the rows."""
        return 0 if self.trail is None else self.trail.bytes


Kept = StratumState | Uncounted
NOTHING_KNOWN = Uncounted()
UNCOUNTABLE = Uncounted(spent=math.inf, changes=1.0)
"""State of a stratum in which a row has more proofs than can be counted."""
