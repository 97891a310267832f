# SPDX-License-Identifier: Apache-2.0
"""A part's fixpoint in one superstep of what a stratum may have lost.

Where a relation keeps one value per group, what the rules of `Supersteps.over_deletion` find is
what groups were offered, and are offered no more. A group may have lost its value if it was that
one: where its row lay is known whether it was. So an offer is told to who would hold such a row,
and there it is one that may be lost, or nothing. Where rows have witnesses, an offer is not lost if
rules still make it with the same one: of an edge that is there twice, one may go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from lftj.distributed.partitioning.supersteps import Supersteps, collected_lost
from lftj.distributed.parts.part_supersteps import PartFixpoint
from lftj.distributed.parts.shuffle import News
from lftj.join import AllowanceSpentError, Context
from lftj.join.run import Relations, chunks, plan_rule
from lftj.maintenance.lattice import offering
from lftj.maintenance.rules import head_picks
from lftj.program import NormalRule, Ref, RelationSchema
from lftj.scantree import differences, sort_rows
from lftj.storage import Columns, TransientRelation, no_rows
from lftj.types import Role, Source


class PartOverDelete(PartFixpoint):
    """`follow`, then `finish` and `news`, of a stratum in `supersteps`. `relations`: as they were,
    and what was lost so far.

    `now`: relations as they are, but for those of the stratum. `most`: rows that may be lost here;
    for more, AllowanceSpentError.
    """

    def __init__(
        self,
        supersteps: Supersteps,
        relations: Relations,
        now: Relations,
        context: Context,
        number: int,
        parts: int,
        most: int,
    ):
        super().__init__(supersteps.over_deletion, relations, context, number, parts)
        self._now = now
        self._made_of_more = [
            offering(rule)
            for rule in supersteps.rules
            if supersteps.plain and _reads_more(rule, supersteps.below)
        ]
        held = [name for relation in supersteps.lattices for name in supersteps.local(relation)]
        self._had = {supersteps.lost(name): relations[name] for name in held}
        homes = [supersteps.lost(supersteps.local(relation)[0]) for relation in supersteps.lattices]
        self._counted = homes or [
            Source(relation, Role.NEWS) for relation in supersteps.over_deletion.cuts
        ]
        self._most = most
        self._so_far = {home: relations[home] for home in homes}
        self._sought_in = dict(zip(homes, supersteps.sought_in.items(), strict=False))

    def proceed(self, inserted: Mapping[str, Columns]) -> None:
        """As any fixpoint; of offers that others tell only those count that were taken here."""
        super().proceed(
            {
                name: [column[self.stands(name, rows)] for column in rows]
                for name, rows in inserted.items()
            }
        )

    def offer_inserted(self, inserted: Mapping[str, Columns]) -> None:
        """Offer the rows made of rows that are lost below, unless others make them too."""
        super().offer_inserted(inserted)
        for rule in self._made_of_more:
            lost = collected_lost(rule.relation)
            offers = sort_rows(list(self.rows[lost].take_offers()))
            if len(offers[0]):
                self.rows[lost].add_columns(
                    differences(offers, self._still_made(rule, self.schemas[lost], offers))[0]
                )

    def _still_made(self, rule: NormalRule, schema: RelationSchema, offers: Columns) -> Columns:
        """Select the offers that a rule still makes."""
        relations = {
            **self._now,
            schema.name: TransientRelation(schema, self.context.resources.arena, offers),
        }
        rule = replace(rule, atoms=(rule.head_in(schema.name), *rule.atoms))
        needed, picks = head_picks(rule)
        plan = plan_rule(rule, relations, self.context, needed=needed, count=False, lasting=True)
        pieces = [piece[picks] for piece in chunks(plan, relations, self.context)]
        return sort_rows(list(np.concatenate(pieces, axis=1))) if pieces else no_rows(schema.arity)

    def stands(self, local: str, rows: Columns) -> np.ndarray:
        """Mark the found rows, which lie here by this local name, that are rows of the relation."""
        return (
            self._had[local].contains(rows) if local in self._had else super().stands(local, rows)
        )

    def seeking(self) -> dict[str, News]:
        """Lost groups that live here, for parts that do not hold them and may offer them
        something.
        """
        found: dict[str, News] = {}
        for home, (name, cuts) in self._sought_in.items():
            fresh = self.total(home).difference(self._so_far[home])
            if cuts and fresh.inserted:
                found[Source(name, Role.NEWS)] = News(self.schemas[home], cuts, fresh)
        return found

    def _next_iteration(self) -> None:
        super()._next_iteration()
        if sum(self.total(name).count for name in self._counted) > self._most:
            raise AllowanceSpentError


def _reads_more(rule: NormalRule, below: Collection[str]) -> bool:
    """Test for a rule that reads more of relations `below` than its head, which has the witness,
    shows.
    """
    said = {term.variable for term in rule.head if isinstance(term, Ref)}
    said |= {
        each.expression.variable
        for each in rule.assignments
        if each.variable in said and isinstance(each.expression, Ref)
    }
    terms = (term for atom in rule.atoms if atom.relation in below for term in atom.args)
    return any(isinstance(term, Ref) and term.variable not in said for term in terms)
