"""Choice during an elastic update: from candidates that moved in an iteration to rows that are accepted, and rows no longer accepted.

Iterations are settled in ascending order, so what is accepted in iteration k follows from candidates that stand in k or before, all of
which are settled by then. A group of candidates is looked at when one of them is found or lost. The first of it by iteration and value

- stands before k: it was accepted there, and nothing happens;
- stands in k: it is accepted now. Whatever was accepted before leaves, from k or from a later iteration, with all that rests on it there;
- stands later, or is missing, since what was accepted here is lost: it leaves, and the group is looked at again in the iteration of the
  candidate that is first now, if that stands there still.
"""

from __future__ import annotations

import numpy as np

from lftj.dictionary import Dictionary
from lftj.program.normal_form import RelationSchema
from lftj.recursion.candidates import Candidates, domain_first, leading_values, ranking_rows
from lftj.recursion.choice import choose
from lftj.recursion.iterated_relation import IteratedRelation
from lftj.recursion.judge_kernels import NEVER
from lftj.recursion.moves import Moves
from lftj.recursion.standing import iterations_of
from lftj.storage.delta import Columns
from scantree import after_prefix
from scantree.rows import sort_rows, sort_with


class Choosing:
    """The candidates of one relation in an update. `rows` are kept up to date by it, what follows from their moves is told here."""

    def __init__(self, schema: RelationSchema, candidates: Candidates, dictionary: Dictionary):
        self.rows = candidates.rows
        self._began = candidates.rows
        self._ranking = candidates.ranking
        self._schema = schema
        self._dictionary = dictionary
        self._order = domain_first(schema)
        self._width = len(schema.choice[0])
        self._by_code = all(schema.columns[column][1].name != "str" for column in self._order[self._width :])
        self._open: dict[int, list[np.ndarray]] = {}
        self.due: list[int] = []
        """Iterations in which groups have to be looked at again, as of the last call of `accepted`."""

    @property
    def candidates(self) -> Candidates:
        """The candidates as they are now."""
        return Candidates(self.rows.with_orders_of(self._began), self._ranking)

    def accepted(self, before: IteratedRelation, moves: Moves | None, iteration: int) -> tuple[Moves, int]:
        """What an iteration's moves of candidates do to the rows accepted `before`, and how many groups were looked at. O(δ log n).

        Where strings are among the columns beside the domain, all that stand in the iteration are read of groups that change.
        """
        groups = self._groups(moves, iteration)
        if moves is not None:
            self._rank(moves, iteration)
        stands, first = self._first(groups, iteration)
        order = (*self._order, self._schema.arity)
        present, (*rows, words), _ = before.tree(order).edge_rows(groups)
        stood = np.where(present, iterations_of(words), NEVER)
        here = stands == iteration
        same = here & present
        for column, other in zip(first, rows, strict=True):
            same &= column == other
        self._look_again(groups, np.where(here, NEVER, stands), iteration)
        enters, leaves = here & ~(same & (stood == iteration)), present & (stands >= iteration) & ~same
        found, found_stood = self._back(first, np.where(same, stood, NEVER), enters)
        lost, left = self._back(rows, stood, leaves)
        return Moves(found, found_stood, lost, left), groups.shape[1]

    def _groups(self, moves: Moves | None, iteration: int) -> np.ndarray:
        """The values of the domain to look at, a matrix, ascending."""
        pieces = self._open.pop(iteration, [])
        if moves is not None:
            pieces += [leading_values(rows, self._schema.choice[0]) for rows in (moves.found, moves.lost)]
        every = np.concatenate([np.empty((self._width, 0), np.int64), *pieces], axis=1)
        return np.array(sort_rows(list(every))) if self._width else every[:, :1]

    def _rank(self, moves: Moves, iteration: int) -> None:
        again = moves.stood != NEVER
        gone = [np.concatenate([column[again], lost]) for column, lost in zip(moves.found, moves.lost, strict=True)]
        erases = ranking_rows(self._schema, gone, np.concatenate([moves.stood[again], moves.left]))
        inserts = ranking_rows(self._schema, moves.found, np.full(len(moves.stood), iteration))
        self._ranking = self._ranking.apply(sort_rows(inserts), sort_rows(erases))

    def _first(self, groups: np.ndarray, iteration: int) -> tuple[np.ndarray, Columns]:
        """Where the first candidate of each group stands, NEVER where there is none, and the candidate, its domain before the rest."""
        there, ranked, _ = self._ranking.edge_rows(groups)
        stands = np.where(there, ranked[self._width], NEVER)
        first = [*ranked[: self._width], *ranked[self._width + 1 :]]
        here = stands == iteration
        if self._by_code or not here.any():
            return stands, first
        ranks = np.vstack([groups[:, here], stands[here]]).T.tolist()
        pieces = [self._ranking.range(rank, after_prefix(rank)) for rank in ranks]
        rows = [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
        del rows[self._width]
        back = [rows[self._order.index(column)] for column in range(len(rows))]
        least = choose(self._schema, back, self._dictionary)
        for column, chosen in zip(first, sort_rows([least[place] for place in self._order]), strict=True):
            column[here] = chosen
        return stands, first

    def _look_again(self, groups: np.ndarray, stands: np.ndarray, iteration: int) -> None:
        """Let groups whose first candidate stands later be looked at then."""
        later = (stands > iteration) & (stands != NEVER)
        self.due = np.unique(stands[later]).tolist()
        for then in self.due:
            self._open.setdefault(then, []).append(groups[:, stands == then])

    def _back(self, columns: Columns, iterations: np.ndarray, which: np.ndarray) -> tuple[Columns, np.ndarray]:
        """The rows of these groups in the order of the schema's columns, ascending, with their iterations."""
        back = [columns[self._order.index(column)][which] for column in range(len(columns))]
        return sort_with(back, iterations[which])
