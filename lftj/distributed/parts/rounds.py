"""A part's fixpoint in one round of a stratum that all parts derive together.

What the rules derive here is collected under one name. What is new of it goes, by the value in each cut, into what this part holds in that
cut, where it derives more; and what some other part has to hold is news for the round after. Parts hold in a cut exactly the rows that
belong to them, so what they read of other relations in the same cut, negated ones too, is all there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lftj.distributed.placing.cuts import ALL, parts_of
from lftj.distributed.placing.rounds import NEWS_SUFFIX, Rounds
from lftj.join.context import AllowanceSpentError, Context
from lftj.join.evaluate import Relations
from lftj.program.monotone import Lattice
from lftj.program.normal_form import RelationSchema
from lftj.recursion.best.monotone import MonotoneFixpoint
from lftj.storage.database import base_name
from lftj.storage.delta import Columns, Delta
from lftj.types import Type


class News(NamedTuple):
    """Rows that other parts have to hold, in these cuts, and are not known to."""

    schema: RelationSchema
    cuts: tuple[int, ...]
    rows: Delta


class PartFixpoint(MonotoneFixpoint):
    """`anew`, `follow`, or what a fixpoint offers, then `finish`; `news` gives what others have to be told.

    `relations` are those of part `number` of `parts`. `lasting`: as of any fixpoint. `most`: rows that may be found here; for more,
    AllowanceSpentError.
    """

    best_first = False
    """What is found of a relation is taken twice in a round, to be handed out and to go on from: nothing may wait in between."""
    compiled = False
    """Nor may any round pass by without handing out."""

    def __init__(
        self,
        rounds: Rounds,
        relations: Relations,
        context: Context,
        number: int,
        parts: int,
        *,
        lasting: bool = True,
        most: int | None = None,
    ):
        self.lasting = lasting
        self._rounds, self._relations = rounds, relations
        self._number, self._parts, self._most = number, parts, most
        schemas: dict[str, RelationSchema] = {}
        found: dict[str, Lattice] = {}
        for relation in rounds.cuts:
            names = [relation + NEWS_SUFFIX, *rounds.local(relation)]
            schemas |= {name: relations[name].schema for name in names}
            if relation in rounds.lattices:
                found |= dict.fromkeys(names, rounds.lattices[relation])
        self._leaving: dict[str, list[Columns]] = {relation: [] for relation in rounds.cuts}
        super().__init__(schemas, found, list(rounds.rules), relations, context)

    def anew(self) -> None:
        """Begin with nothing but the relations below and own rows."""
        self.rows = {name: self._table(name) for name in self.schemas}
        for rule in self.seeds:
            self._offer(rule, self.lower, self.rows[rule.relation])
        for relation in self._rounds.cuts:
            if (base := self._rounds.base(relation)) in self.lower:
                self.rows[relation + NEWS_SUFFIX].add_columns(self.lower[base].columns())
        self._next_round()

    def follow(self, inserted: Mapping[str, Columns]) -> None:
        """Go on from what there is: rows were inserted into relations below, or other parts told them."""
        self.resume(self._relations)
        self.proceed(inserted)

    def proceed(self, inserted: Mapping[str, Columns]) -> None:
        """As any fixpoint; but the stratum's own rows are found, like what rules derive."""
        renamed = {self._rounds.base(relation): base_name(relation + NEWS_SUFFIX) for relation in self._rounds.cuts}
        super().proceed({renamed.get(name, name): rows for name, rows in inserted.items()})

    def news(self) -> dict[str, News]:
        """By relation with `NEWS_SUFFIX`, what other parts are to be told; of values that became better twice the last."""
        found: dict[str, News] = {}
        for relation, pieces in self._leaving.items():
            if not pieces:
                continue
            name, cuts = relation + NEWS_SUFFIX, (*self._rounds.cuts[relation], *self._rounds.further.get(relation, ()))
            rows = Delta.insertion([np.concatenate(columns) for columns in zip(*pieces, strict=True)]).inserts
            lasting = self.totals[name].contains(rows)
            found[name] = News(self.schemas[name], cuts, Delta.insertion([column[lasting] for column in rows]))
        return found

    def _next_round(self) -> None:
        for relation in self._rounds.cuts:
            fresh = self.rows[relation + NEWS_SUFFIX].take_fresh()
            if len(fresh[0]):
                self._hand_out(relation, fresh)
        super()._next_round()
        if self._most is not None and sum(self.totals[relation + NEWS_SUFFIX].count for relation in self._rounds.cuts) > self._most:
            raise AllowanceSpentError

    def _hand_out(self, relation: str, fresh: Columns) -> None:
        """New rows into the cuts of this part, and to the others. A row that is here already was told by whoever found it first."""
        types = [type for _, type in self.schemas[relation + NEWS_SUFFIX].columns]
        known, leaves = np.zeros(len(fresh[0]), bool), np.zeros(len(fresh[0]), bool)
        for cut, local in zip(self._rounds.cuts[relation], self._rounds.local(relation), strict=True):
            here = self._here(fresh, types, cut)
            leaves |= self._parts > 1 if cut == ALL else ~here
            own = [column[here] for column in fresh]
            known[here] |= self.totals[local].contains(own)
            self.rows[local].add_columns(own)
        for cut in self._rounds.further.get(relation, ()):
            leaves |= self._parts > 1 if cut == ALL else ~self._here(fresh, types, cut)
        leaves &= ~known
        if leaves.any():
            self._leaving[relation].append([column[leaves] for column in fresh])

    def _here(self, rows: Columns, types: list[Type], cut: int) -> np.ndarray:
        """Which rows this part holds in a cut."""
        if cut == ALL:
            return np.ones(len(rows[0]), bool)
        return parts_of(rows, types, cut, self.context.dictionary, self._parts) == self._number
