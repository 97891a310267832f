# SPDX-License-Identifier: Apache-2.0
"""A part's fixpoint in one superstep of a stratum that all parts derive together.

What the rules derive here is collected under one name. What is new of it goes, by the value in each
cut, into what this part holds in that cut, where it derives more; and what some other part has to
hold is news for the superstep after. Parts hold in a cut exactly the rows that belong to them, so
what they read of other relations in the same cut, negated ones too, is all there is.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lftj.distributed.partitioning.supersteps import Supersteps
from lftj.distributed.parts.shuffle import News, Shuffle
from lftj.join import Context
from lftj.join.run import Relations
from lftj.maintenance.lattice import MonotoneFixpoint
from lftj.program import Lattice, RelationSchema
from lftj.storage import Columns, Delta, base_name
from lftj.types import Role, Source


class PartFixpoint(MonotoneFixpoint):
    """`anew`, `follow`, or what a fixpoint offers, then `finish`; `news` gives the rows to send to
    other parts.

    `relations` are those of part `number` of `parts`. `lasting`: as of any fixpoint.
    """

    best_first = False
    """Rows found of a relation are taken twice in a superstep, to be sent and to continue from:
    none may wait in between.
    """
    compiled = False
    """False: each iteration sends its new rows to other parts, which compiled iterations do not."""

    def __init__(
        self,
        supersteps: Supersteps,
        relations: Relations,
        context: Context,
        number: int,
        parts: int,
        *,
        lasting: bool = True,
    ):
        self.lasting = lasting
        self._supersteps, self._relations = supersteps, relations
        schemas: dict[str, RelationSchema] = {}
        found: dict[str, Lattice] = {}
        for relation in supersteps.cuts:
            names = [Source(relation, Role.NEWS), *supersteps.local(relation)]
            schemas |= {name: relations[name].schema for name in names}
            if relation in supersteps.lattices:
                found |= dict.fromkeys(names, supersteps.lattices[relation])
        self._shuffle = Shuffle(supersteps, schemas, context.resources.dictionary, number, parts)
        super().__init__(schemas, found, list(supersteps.rules), relations, context)

    def anew(self) -> None:
        """Begin with nothing but the relations below and own rows."""
        self.rows = {name: self._table(name) for name in self.schemas}
        for rule in self.seeds:
            self._offer(rule, self.lower, self.rows[rule.relation])
        for relation in self._supersteps.cuts:
            if (base := self._supersteps.base(relation)) in self.lower:
                self.rows[Source(relation, Role.NEWS)].add_columns(self.lower[base].columns())
        self._next_iteration()

    def follow(self, inserted: Mapping[str, Columns]) -> None:
        """Go on from what there is: rows were inserted into relations below, or other parts told
        them.
        """
        self.resume(self._relations)
        self.proceed(inserted)

    def proceed(self, inserted: Mapping[str, Columns]) -> None:
        """As any fixpoint; but the stratum's own rows are found, like what rules derive."""
        renamed = {
            self._supersteps.base(relation): base_name(Source(relation, Role.NEWS))
            for relation in self._supersteps.cuts
        }
        super().proceed({renamed.get(name, name): rows for name, rows in inserted.items()})

    def news(self) -> dict[str, News]:
        """Rows to be sent to other parts, by relation in the role `NEWS`; of values that became
        better twice the last.
        """
        found = self._shuffle.news()
        for name, news in found.items():
            lasting = self.total(name).contains(news.rows.inserts)
            found[name] = news._replace(
                rows=Delta.insertion([column[lasting] for column in news.rows.inserts])
            )
        return found

    def stands(self, local: str, rows: Columns) -> np.ndarray:
        """Mark the found rows, which lie here by this local name, that are rows of the relation."""
        return np.ones(len(rows[0]), bool)

    def _next_iteration(self) -> None:
        for relation in self._supersteps.cuts:
            fresh = self.rows[Source(relation, Role.NEWS)].take_fresh()
            if len(fresh[0]):
                self._hand_out(relation, fresh)
        super()._next_iteration()

    def _hand_out(self, relation: str, fresh: Columns) -> None:
        """New rows into the cuts of this part, and to the others. A row that is here already was
        sent by the part that found it first.
        """
        held, leaves = self._shuffle.out(relation, fresh)
        for local, here in held.items():
            own = [column[here] for column in fresh]
            stands = self.stands(local, own)
            leaves[here] &= stands & ~self.total(local).contains(own)
            self.rows[local].add_columns([column[stands] for column in own])
        self._shuffle.tell(relation, [column[leaves] for column in fresh])
