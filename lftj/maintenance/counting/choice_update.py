# SPDX-License-Identifier: Apache-2.0
"""Choice during an elastic update: from candidates that moved in an iteration to rows that are
accepted, and rows no longer accepted.

Iterations are finished in ascending order, so the rows accepted in iteration k follow from
candidates of iterations up to k, which are all finished by then. A group of candidates is looked at
when one of them is found or lost. Its first candidate by iteration and value

- has an iteration before k: it was accepted there, and nothing happens;
- has iteration k: it is accepted now. The row accepted before is rejected, in k or in a later
  iteration, and with it all rows that rest on it there;
- has a later iteration, or does not exist, since the row accepted here is lost: that row is
  rejected, and the present first candidate is due in its iteration, with no proofs, so that the
  group is looked at again there.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lftj.heads.choice import choose
from lftj.maintenance.counting.apply_iteration_kernels import NEVER
from lftj.maintenance.counting.derivation_count import iterations_of
from lftj.maintenance.counting.elastic_query import Proofs
from lftj.maintenance.counting.iterated_relation import IteratedRelation
from lftj.maintenance.counting.moves import Moves
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena, Tree, after_prefix
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import sort_rows, sort_with
from lftj.storage.delta import Columns
from lftj.storage.relation import Order
from lftj.types.dictionary import Dictionary

# What is kept of a recursive relation with one choice domain beside the rows that are accepted: all
# candidates for being one [Choice].
#
# A candidate stands, as the row of any recursive relation does, in the iteration that first derives
# it, with its number of proofs there. Of those that agree on the domain the least is accepted: by
# iteration, then by value. A ranking has them in that order, group by group.


@frozen
class Candidates:
    """One immutable version. `rows`: the candidates with their standings; `ranking`: domain,
    iteration and the other columns.
    """

    rows: IteratedRelation
    ranking: Tree

    @staticmethod
    def of(
        schema: RelationSchema,
        arena: Arena,
        rows: Columns,
        iterations: np.ndarray,
        proofs: np.ndarray,
    ) -> Candidates:
        """Build the candidates from these rows, sorted and distinct. O(n log n)."""
        ranked = sort_rows(ranking_rows(schema, rows, iterations))
        ranking = Tree.build(arena, ranked) if len(iterations) else Tree.empty(arena, len(ranked))
        return Candidates(IteratedRelation.of(schema, arena, rows, iterations, proofs), ranking)

    @property
    def bytes(self) -> int:
        """Bytes of the candidates in both orders."""
        return sum(self.rows.memory().values()) + 8 * self.ranking.count * self.ranking.key_width


def decided_group_by_group(schemas: Mapping[str, RelationSchema]) -> bool:
    """Test for a stratum in which no relation has more than one choice domain: groups of candidates
    do not meet then.
    """
    return all(len(schema.choice) <= 1 for schema in schemas.values())


def domain_first(schema: RelationSchema) -> Order:
    """The key order that begins with the columns of the choice domain."""
    domain = schema.choice[0]
    return (*domain, *(column for column in range(schema.arity) if column not in domain))


def ranking_rows(schema: RelationSchema, rows: Columns, iterations: np.ndarray) -> Columns:
    """Arrange rows as the ranking has them, unsorted."""
    width = len(schema.choice[0])
    columns = [rows[column] for column in domain_first(schema)]
    return [*columns[:width], iterations, *columns[width:]]


class Choosing:
    """The candidates of one relation in an update. `rows` are kept up to date by it, their
    `ranking` by `accepted`.

    `width`: columns of the domain; `by_domain`: the key order of the rows accepted that begins with
    it; `by_code`: whether the other columns order as their codes do.
    """

    def __init__(
        self,
        schema: RelationSchema,
        candidates: Candidates,
        dictionary: Dictionary,
    ):
        self.rows = candidates.rows
        self._began = candidates.rows
        self.ranking = candidates.ranking
        self._schema = schema
        self._dictionary = dictionary
        self._order = domain_first(schema)
        self.by_domain: Order = (*self._order, schema.arity)
        self.width = len(schema.choice[0])
        self.by_code = all(
            schema.columns[column][1].name != "str" for column in self._order[self.width :]
        )

    @property
    def candidates(self) -> Candidates:
        """The candidates as they are now."""
        return Candidates(self.rows.with_orders_of(self._began), self.ranking)

    def become(self, rows: Tree, ranking: Tree) -> None:
        """Go on with these candidates, in the order of their columns and ranked."""
        if rows is not self.rows.identity:
            self.rows = self.rows.followed_by({tuple(range(rows.key_width + 1)): rows})
        self.ranking = ranking

    def accepted(
        self, before: IteratedRelation, due: Columns, moves: Moves | None, iteration: int
    ) -> tuple[Moves, Proofs]:
        """Moves of the rows accepted `before`, by an iteration's moves of candidates, which were
        `due`; and the candidates that are due again. O(δ log n).

        Where strings are among the columns beside the domain, all rows of the iteration are read of
        groups that change.
        """
        groups = self._groups(due)
        if moves is not None:
            self._rank(moves, iteration)
        stands, first = self._first(groups, iteration)
        present, (*rows, words), _ = before.tree(self.by_domain).edge_rows(groups)
        stood = np.where(present, iterations_of(words), NEVER)
        here = stands == iteration
        same = here & present
        for column, other in zip(first, rows, strict=True):
            same &= column == other
        later = (stands > iteration) & (stands != NEVER)
        rows_again, then = self._back(first, stands, later)
        enters, leaves = (
            here & ~(same & (stood == iteration)),
            present & (stands >= iteration) & ~same,
        )
        found, found_stood = self._back(first, np.where(same, stood, NEVER), enters)
        lost, left = self._back(rows, stood, leaves)
        return Moves(found, found_stood, lost, left), Proofs(rows_again, then, np.zeros_like(then))

    def _groups(self, due: Columns) -> np.ndarray:
        """The values of the domain to look at, a matrix, ascending."""
        if not self.width:
            return np.empty((0, min(1, len(due[0]))), np.int64)
        return np.array(sort_rows([due[column] for column in self._order[: self.width]]))

    def _rank(self, moves: Moves, iteration: int) -> None:
        again = moves.stood != NEVER
        gone = [
            np.concatenate([column[again], lost])
            for column, lost in zip(moves.found, moves.lost, strict=True)
        ]
        erases = ranking_rows(self._schema, gone, np.concatenate([moves.stood[again], moves.left]))
        inserts = ranking_rows(self._schema, moves.found, np.full(len(moves.stood), iteration))
        self.ranking = self.ranking.apply(sort_rows(inserts), sort_rows(erases))

    def _first(self, groups: np.ndarray, iteration: int) -> tuple[np.ndarray, Columns]:
        """First candidate of each group: its iteration, NEVER where there is none, and the row, its
        domain before the rest.
        """
        there, ranked, _ = self.ranking.edge_rows(groups)
        stands = np.where(there, ranked[self.width], NEVER)
        first = [*ranked[: self.width], *ranked[self.width + 1 :]]
        here = stands == iteration
        if self.by_code or not here.any():
            return stands, first
        ranks = np.vstack([groups[:, here], stands[here]]).T.tolist()
        pieces = [self.ranking.range(rank, after_prefix(rank)) for rank in ranks]
        rows = [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
        del rows[self.width]
        back = [rows[self._order.index(column)] for column in range(len(rows))]
        least = choose(self._schema, back, self._dictionary)
        for column, chosen in zip(
            first, sort_rows([least[place] for place in self._order]), strict=True
        ):
            column[here] = chosen
        return stands, first

    def _back(
        self, columns: Columns, iterations: np.ndarray, which: np.ndarray
    ) -> tuple[Columns, np.ndarray]:
        """The rows of these groups in the order of the schema's columns, ascending, with their
        iterations.
        """
        back = [columns[self._order.index(column)][which] for column in range(len(columns))]
        return sort_with(back, iterations[which])
