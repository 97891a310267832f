"""A part's fixpoint in one round of a stratum that all parts derive together.

What the rules derive here is collected under one name. What is new of it goes, by the value in each cut, into what this part holds in that
cut, where it derives more; and what some other part has to hold is news for the round after. Parts hold in a cut exactly the rows that
belong to them, so what they read of other relations in the same cut, negated ones too, is all there is.

After insertions the fixpoint goes on from what there is. After anything else all parts begin anew, since a row that was told by another
part may rest on the lost one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lftj.distributed.placing.cuts import ALL, parts_of
from lftj.distributed.placing.plan import NEWS_SUFFIX, Rounds
from lftj.join.context import Context
from lftj.join.evaluate import Relations
from lftj.program.monotone import Lattice
from lftj.program.normal_form import RelationSchema
from lftj.recursion.best.monotone import MonotoneFixpoint
from lftj.storage.database import base_name
from lftj.storage.delta import Columns, Delta


def only_grows(rounds: Rounds, changed: Mapping[str, Delta]) -> bool:
    """Whether changes of what the rules read can only have added to what they derive."""
    negated = {atom.relation for rule in rounds.rules for atom in rule.negated}
    return negated.isdisjoint(changed) and not any(delta.erased for delta in changed.values())


class PartFixpoint(MonotoneFixpoint):
    """`anew` or `follow`, then `finish`; `news` gives what others have to be told. `relations` are those of part `number` of `parts`."""

    best_first = False
    """What is found of a relation is taken twice in a round, to be handed out and to go on from: nothing may wait in between."""

    def __init__(self, rounds: Rounds, relations: Relations, context: Context, number: int, parts: int):
        self._rounds, self._relations = rounds, relations
        self._number, self._parts = number, parts
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
        renamed = {self._rounds.base(relation): base_name(relation + NEWS_SUFFIX) for relation in self._rounds.cuts}
        self.go_on(self._relations, {renamed.get(name, name): rows for name, rows in inserted.items()})

    def news(self) -> dict[str, Delta]:
        """Per relation what other parts have to hold and are not known to; of values that became better twice the last."""
        found: dict[str, Delta] = {}
        for relation, pieces in self._leaving.items():
            if not pieces:
                continue
            rows = Delta.insertion([np.concatenate(columns) for columns in zip(*pieces, strict=True)]).inserts
            lasting = self.totals[relation + NEWS_SUFFIX].contains(rows)
            found[relation] = Delta.insertion([column[lasting] for column in rows])
        return found

    def _next_round(self) -> None:
        for relation in self._rounds.cuts:
            fresh = self.rows[relation + NEWS_SUFFIX].take_fresh()
            if len(fresh[0]):
                self._hand_out(relation, fresh)
        super()._next_round()

    def _hand_out(self, relation: str, fresh: Columns) -> None:
        """New rows into the cuts of this part, and to the others. A row that is here already was told by whoever found it first."""
        types = [type for _, type in self.schemas[relation + NEWS_SUFFIX].columns]
        known, leaves = np.zeros(len(fresh[0]), bool), np.zeros(len(fresh[0]), bool)
        for cut, local in zip(self._rounds.cuts[relation], self._rounds.local(relation), strict=True):
            here = np.ones(len(known), bool)
            if cut == ALL:
                leaves |= self._parts > 1
            else:
                here = parts_of(fresh, types, cut, self.context.dictionary, self._parts) == self._number
                leaves |= ~here
            own = [column[here] for column in fresh]
            known[here] |= self.totals[local].contains(own)
            self.rows[local].add_columns(own)
        leaves &= ~known
        if leaves.any():
            self._leaving[relation].append([column[leaves] for column in fresh])
