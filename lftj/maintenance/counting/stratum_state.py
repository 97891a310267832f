"""State of a recursive stratum between commits [Elastic 4]: every row with its iteration and its
number of proofs in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Self

from lftj.join.rent_or_buy import Rent
from lftj.maintenance.counting.choice_update import Candidates
from lftj.maintenance.counting.iterated_relation import IteratedRelation
from lftj.maintenance.counting.rule_queries import RuleQueries
from lftj.maintenance.deletion.ranks import Ranks
from lftj.maintenance.deletion.trail import Trail
from lftj.program.monotone import Lattice
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.scantree import Arena
from lftj.scantree.frozen import frozen
from lftj.storage.delta import no_rows
from lftj.tuning import Tuning

ELASTIC_FORGETTING = 0.9
"""Weight of earlier updates at each later one: stable against quick to learn."""
ROWS_ITERATIONS = 64
"""Iterations of an evaluation beyond which neither is done: both take as many."""


@frozen
class _Experienced:
    """State that knows what past changes cost: `spent` in all, for so many `changes` of rows below;
    recent ones weigh more.
    """

    spent: float = field(default=0.0, kw_only=True)
    changes: float = field(default=0.0, kw_only=True)

    def experienced(self, spent: int, changes: int) -> Self:
        """The same state, knowing what one more change took."""
        left = ELASTIC_FORGETTING
        return replace(self, spent=self.spent * left + spent, changes=self.changes * left + changes)


@frozen
class StratumState(_Experienced):
    """One immutable version. `work`: what the last bootstrap cost (see `cost_model`), `steps`: the
    kernel steps of it; `alone`: what one without counts cost, 0 where that is not known; `used`:
    whether an update has succeeded since, and `failures`: how many were given up in a row.

    `candidates`: of relations with a choice domain, with their proofs; of those `relations` have
    the rows that are accepted. `spent` and `changes`: what past updates cost, and the changed rows
    below that they were for; recent ones weigh more. `lattices`: which relations keep the least or
    greatest value of each group; then `rules` are those of `optimal_support`. Invariant [Theorem
    3.5]: `relations` are what a bootstrap on the same input gives, iteration by iteration and count
    by count.
    """

    schemas: Mapping[str, RelationSchema]
    relations: Mapping[str, IteratedRelation]
    rules: tuple[RuleQueries, ...]
    work: int = 0
    steps: int = 0
    alone: int = 0
    used: bool = False
    failures: int = 0
    candidates: Mapping[str, Candidates] = field(default_factory=dict)
    lattices: Mapping[str, Lattice] = field(default_factory=dict)

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

    def expected(self, changes: int, seen: int) -> float | None:
        """Expected cost of an update for so many changed rows, by those before; None when too few
        were seen.
        """
        return self.spent / self.changes * changes if self.changes >= seen else None

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

    `failures`: updates in a row that were given up before; `patience`: commits to go without
    another try, twice as many at each failure. `work` and `steps`: what the bootstrap cost (see
    `cost_model`), and its kernel steps; 0 when nothing is known. `counting`: what one that counts
    is expected to cost. `regret`: what changes have taken since then that counts would have saved.
    `iterations`: what of that, or of an evaluation of parts, the iterations cost, however little
    they found.
    `spent` and `changes`: what past deletions cost, and the changed rows below that they were for.
    `ranks` of the rows, or the trail of which they are made, where one is known.
    """

    failures: int = 0
    patience: int = 0
    work: int = 0
    steps: int = 0
    counting: int = 0
    regret: int = 0
    iterations: int = 0
    ranks: Ranks | Trail | None = None

    def expected(self, changes: int) -> float:
        """Expected cost of a deletion of so many rows below, by those before; 0 where there were
        none.
        """
        return self.spent / self.changes * changes if self.changes else 0.0

    def counts_pay(self, tuning: Tuning) -> bool:
        """Tell whether what changes have cost comes to the price of counting. Where it takes many
        evaluations each row has many proofs; updates of counts, which move these, are as dear. So
        the price is as many times as high as it takes more than `rows_counted` evaluations.
        """
        cheap = tuning.rows_counted * self.work
        price = self.counting * max(1.0, self.counting / cheap if cheap else 1.0)
        return Rent(self.regret).due(max(tuning.rows_steps, price))

    @property
    def bytes(self) -> int:
        """Bytes that are kept beside the rows."""
        return 0 if self.ranks is None else self.ranks.bytes


Kept = StratumState | Uncounted
NOTHING_KNOWN = Uncounted()
UNCOUNTABLE = Uncounted(patience=1 << 20)
"""State of a stratum in which a row has more proofs than can be counted."""
