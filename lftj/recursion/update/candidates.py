"""What is kept of a recursive relation with one choice domain beside the rows that are accepted: all candidates for being one [Choice].

A candidate stands, as the row of any recursive relation does, in the iteration that first derives it, with its number of proofs there.
Of those that agree on the domain the least is accepted: by iteration, then by value. A ranking has them in that order, group by group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lftj.program.normal_form import RelationSchema
from lftj.recursion.update.iterated_relation import IteratedRelation
from lftj.storage.delta import Columns
from lftj.storage.relation import Order
from scantree import Arena, Tree
from scantree.rows import sort_rows


@dataclass(frozen=True)
class Candidates:
    """One immutable version. `rows`: the candidates with their standings; `ranking`: domain, iteration and the other columns."""

    rows: IteratedRelation
    ranking: Tree

    @staticmethod
    def of(schema: RelationSchema, arena: Arena, rows: Columns, iterations: np.ndarray, proofs: np.ndarray) -> Candidates:
        """These sorted, distinct candidates. O(n log n)."""
        ranked = sort_rows(ranking_rows(schema, rows, iterations))
        ranking = Tree.build(arena, ranked) if len(iterations) else Tree.empty(arena, len(ranked))
        return Candidates(IteratedRelation.of(schema, arena, rows, iterations, proofs), ranking)

    @property
    def bytes(self) -> int:
        """Bytes of the candidates in both orders."""
        return sum(self.rows.memory().values()) + 8 * self.ranking.count * self.ranking.key_width


def decided_group_by_group(schemas: Mapping[str, RelationSchema]) -> bool:
    """Whether no relation of a stratum has more than one choice domain: groups of candidates do not meet then."""
    return all(len(schema.choice) <= 1 for schema in schemas.values())


def domain_first(schema: RelationSchema) -> Order:
    """The key order that begins with the columns of the choice domain."""
    domain = schema.choice[0]
    return (*domain, *(column for column in range(schema.arity) if column not in domain))


def ranking_rows(schema: RelationSchema, rows: Columns, iterations: np.ndarray) -> Columns:
    """These rows as the ranking has them, unsorted."""
    width = len(schema.choice[0])
    columns = [rows[column] for column in domain_first(schema)]
    return [*columns[:width], iterations, *columns[width:]]
