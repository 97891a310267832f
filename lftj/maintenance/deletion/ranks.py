"""Ranks of the rows of a recursive stratum.

The rank of a row is a number such that some derivation of the row uses, of its stratum, only rows
with lower ranks. The number of the iteration of semi-naïve evaluation that finds a row is one.
Ranks show which rows do not rest on themselves, the purpose of iterations in [Elastic 3]; but there
are no counts of proofs, and ranks need not be least. So a commit changes only the ranks of the rows
that it re-derives or adds: these get ranks above all existing ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lftj.join.budget import Budget
from lftj.maintenance.cost.cost_model import change_of
from lftj.maintenance.deletion.supports import Supports, ranked_name, with_rank
from lftj.maintenance.deletion.trail import Trail
from lftj.maintenance.semi_naive.packed_rows import Iteration
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.scantree import Arena
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import sort_rows
from lftj.storage.delta import Columns, Delta, no_rows
from lftj.storage.relation import RelationVersion


@frozen
class Ranks:
    """The rows of each relation of a stratum with their ranks in a last column. `height`: a number
    that no rank exceeds.
    """

    relations: Mapping[str, RelationVersion]
    supports: Supports
    height: int

    @staticmethod
    def of(
        schemas: Mapping[str, RelationSchema],
        rules: Sequence[NormalRule],
        arena: Arena,
        trail: Trail,
        now: Mapping[str, RelationVersion],
    ) -> Ranks:
        """Ranks of the rows, as they are `now`, by the iterations that found them. O(n log n) for n
        rows.
        """
        relations = {
            name: trail.ranked(name, with_rank(ranked_name(name), schema), arena, now[name])
            for name, schema in schemas.items()
        }
        return Ranks(relations, Supports(schemas, rules), trail.height)

    def after(
        self, gone: Mapping[str, Columns], iterations: Sequence[Iteration], budget: Budget
    ) -> Ranks:
        """The ranks without the rows that are `gone`, and with those that iterations found, one
        after the other. O(δ log n) for δ rows. Raises AllowanceSpentError.
        """
        relations = dict(self.relations)
        trail = Trail.of(relations, iterations, self.height + 1)
        for name, ranked in self.relations.items():
            came = trail.unordered(name, ranked.schema.arity)
            went = self.rows(name, gone[name]) if name in gone else no_rows(len(came))
            changed = len(came[0]) + len(went[0])
            budget.charge(change_of(changed, ranked.count) * len(ranked.orders()))
            relations[name] = ranked.apply(Delta(sort_rows(came), went))
        return replace(self, relations=relations, height=trail.height)

    def rows(self, name: str, rows: Columns) -> Columns:
        """Rows of a relation with their ranks. O(log n) each."""
        _, found, _ = self.relations[name].identity.edge_rows(rows)
        return found

    @property
    def bytes(self) -> int:
        """Bytes of the ranked rows in all key orders."""
        return sum(sum(ranked.memory().values()) for ranked in self.relations.values())
