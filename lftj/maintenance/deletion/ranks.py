"""Ranks of the rows of a recursive stratum.

The rank of a row is a number such that some derivation of the row uses rows of its stratum with
lower ranks alone. The iteration of semi-naïve evaluation that finds a row is one. Ranks tell which
rows do not rest on themselves, which is what iterations are for in [Elastic 3]; numbers of proofs
are not kept, and ranks need not be least. So a commit changes the ranks of those rows alone that it
brings back or adds: they come after all that there were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lftj.join.budget import Budget
from lftj.maintenance.cost.cost_model import change_of
from lftj.maintenance.deletion.supports import Supports, ranked_name, with_rank
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.storage.delta import Columns, Delta, no_rows
from lftj.storage.relation import RelationVersion, build_tree
from scantree import Arena
from scantree.frozen import frozen
from scantree.rows import sort_rows, sort_with

Iteration = Mapping[str, Columns]
"""The rows that an iteration found, by relation."""


@frozen
class Ranks:
    """The rows of each relation of a stratum with their ranks in a last column. `height`: a number
    that no rank exceeds; `used`: true once rows were deleted by them.
    """

    relations: Mapping[str, RelationVersion]
    supports: Supports
    height: int
    used: bool = False

    @staticmethod
    def of(
        schemas: Mapping[str, RelationSchema],
        rules: Sequence[NormalRule],
        arena: Arena,
        iterations: Sequence[Iteration],
    ) -> Ranks:
        """Ranks of rows by the iterations that found them. O(n log n) for n rows."""
        relations = {
            name: _built(
                with_rank(ranked_name(name), schema),
                arena,
                _joined(name, schema.arity + 1, iterations),
            )
            for name, schema in schemas.items()
        }
        return Ranks(relations, Supports(schemas, rules), len(iterations))

    def after(self, gone: Iteration, iterations: Sequence[Iteration], budget: Budget) -> Ranks:
        """The ranks without the rows that are `gone`, and with those that iterations found, one
        after the other. O(δ log n) for δ rows. Raises AllowanceSpentError.
        """
        relations = dict(self.relations)
        for name, ranked in self.relations.items():
            came = _joined(name, ranked.schema.arity, iterations, self.height + 1)
            went = self.rows(name, gone[name]) if name in gone else no_rows(len(came))
            changed = len(came[0]) + len(went[0])
            budget.charge(change_of(changed, ranked.count) * len(ranked.orders()))
            relations[name] = ranked.apply(Delta(sort_rows(came), went))
        height = self.height + len(iterations)
        return replace(self, relations=relations, height=height, used=self.used or bool(gone))

    def rows(self, name: str, rows: Columns) -> Columns:
        """Rows of a relation with their ranks. O(log n) each."""
        _, found, _ = self.relations[name].identity.edge_rows(rows)
        return found

    @property
    def bytes(self) -> int:
        """Bytes of the ranked rows in all key orders."""
        return sum(sum(ranked.memory().values()) for ranked in self.relations.values())


def _built(schema: RelationSchema, arena: Arena, ranked: Columns) -> RelationVersion:
    rows, ranks = sort_with(ranked[:-1], ranked[-1])
    tree = build_tree(arena, [*rows, ranks])
    return RelationVersion(schema, arena, {tuple(range(schema.arity)): tree})


def _joined(name: str, width: int, iterations: Sequence[Iteration], first: int = 0) -> Columns:
    """The rows that iterations found of a relation, with the number of the iteration."""
    found = [
        (number, each[name])
        for number, each in enumerate(iterations, first)
        if name in each and len(each[name][0])
    ]
    if not found:
        return no_rows(width)
    columns = [np.concatenate(some) for some in zip(*(rows for _, rows in found), strict=True)]
    numbers = np.array([number for number, _ in found])
    return [*columns, np.repeat(numbers, [len(rows[0]) for _, rows in found])]
