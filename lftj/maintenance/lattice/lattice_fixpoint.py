# SPDX-License-Identifier: Apache-2.0
"""Recursive strata with relations that keep the least or greatest value of each group: semi-naïve
evaluation with improvement.

An iteration's delta has the rows that are new. Of a relation that keeps one value per group it has
the groups whose value became better, with that value. Iterations are those of
`semi_naive.fixpoint`; a value that they offer a group is compared with the group's value. So an
iteration costs in proportion to the offers, times the logarithm of the relation. Of many offers the
best are taken first (`best_rows`).

Between commits the rows are the whole state. After a commit that only inserts, evaluation continues
from the existing rows with the offers of the inserted ones. After any other commit the rows do not
show which of them rested on a lost row: `lattice_update` keeps counts of proofs for this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from lftj.join.context import Context
from lftj.join.run.evaluate import Columns, Relations, chunks, plan_for_long, plan_rule
from lftj.maintenance.inputs.versions import CHANGE, Versions
from lftj.maintenance.lattice.best_rows import BestRows
from lftj.maintenance.lattice.compiled_lattice import CompiledLattice
from lftj.maintenance.lattice.group_order import GroupOrder, order_groups
from lftj.maintenance.lattice.optimal_support import offering
from lftj.maintenance.rules.full_evaluation import head_picks
from lftj.maintenance.semi_naive.fixpoint import Fixpoint
from lftj.maintenance.semi_naive.packed_rows import PackedRows
from lftj.maintenance.semi_naive.variants import delta_name
from lftj.program.monotone import Lattice
from lftj.program.normal_form import NormalRule, PositiveAtom, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.tuning.aids import BEST_FIRST
from lftj.types.sources import Role, Source

_AGAIN = 2
"""Times that a group is taken in the mean before an order of groups is looked for: time lost on
offers that are bettered against an evaluation in vain.
"""
_FEW_TAKEN = 1 << 12
"""Groups taken up to which no order is looked for."""
_ITERATION_TAKEN = 64
"""Groups that compiled code takes in the time of an iteration outside, in which an order is looked
for.
"""


class MonotoneFixpoint(Fixpoint[BestRows]):
    """`relations` are those below; `found` says which of the stratum keep one value per group.
    `start` or `go_on`, then `finish`.
    """

    best_first = True
    """True when an iteration may leave some of many offers to later ones."""
    compiled = True
    """True when iterations of few offers may be left to compiled code."""

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        found: Mapping[str, Lattice],
        rules: list[NormalRule],
        relations: Relations,
        context: Context,
    ):
        self.rules = [offering(rule) for rule in rules]
        super().__init__(schemas, self.rules, relations, context)
        self._lattices = found
        self.iterations = 0
        self.few = CompiledLattice(schemas, found, self.variants, context)
        self._ordering = self.best_first and BEST_FIRST not in context.tuning.without
        self._taken_groups, self._patience, self._exploring = 0, _AGAIN, False

    def first(self, schema: RelationSchema, seeds: list[NormalRule]) -> BestRows:
        """The base rows, and what the rules offer that read nothing of the stratum."""
        rows = self._table(schema.name)
        if base_name(schema.name) in self.lower:
            rows.add_columns(self.lower[base_name(schema.name)].columns())
        for rule in seeds:
            self._offer(rule, self.lower, rows)
        return rows

    def go_on(
        self, rows: Relations, inserted: Mapping[str, Columns], came: Iterable[NormalRule] = ()
    ) -> None:
        """Begin with the rows of a fixpoint, after which rows were `inserted` below, where they are
        already, or into the stratum.

        `came`: rules that have to do with all rows, not only these.
        """
        self.resume(rows)
        self.offer(came)
        self.proceed(inserted)

    def proceed(self, inserted: Mapping[str, Columns]) -> None:
        """Begin the first iteration with what is offered so far, and what rows `inserted` below or
        into the stratum offer.
        """
        for name in self.schemas:
            for source in inserted.keys() & {name, base_name(name)}:
                self.rows[name].add_columns(inserted[source])
        self.offer_inserted(inserted)
        self._next_iteration()

    def resume(self, rows: Relations) -> None:
        """Begin with these rows, to which what is offered then adds."""
        self.rows = {name: self._table(name, rows[name]) for name in self.schemas}
        self.totals = {name: rows[name] for name in self.kept}

    def offer(self, rules: Iterable[NormalRule]) -> None:
        """Offer the heads of rules, from all existing rows."""
        for rule in rules:
            self._offer(offering(rule), {**self.lower, **self.all()}, self.rows[rule.relation])

    def offer_inserted(self, inserted: Mapping[str, Columns]) -> None:
        """Offer the heads of rules that read rows `inserted` below."""
        for rule in self.rules:
            for number, atom in enumerate(rule.atoms):
                if atom.relation in inserted and atom.relation not in self.schemas:
                    changed = PositiveAtom(delta_name(atom.relation), atom.args)
                    one = replace(
                        rule, atoms=(*rule.atoms[:number], changed, *rule.atoms[number + 1 :])
                    )
                    self.offer_driven(
                        one,
                        changed.relation,
                        self._transient(self.lower[atom.relation].schema, inserted[atom.relation]),
                    )

    def offer_again(self, rule: NormalRule, gone: Columns) -> None:
        """Offer the heads of one of `rules` to the groups of rows that are gone."""
        schema, lattice = self.schemas[rule.relation], self._lattices[rule.relation]
        group = lattice.group(schema.arity)
        open_ = RelationSchema(
            Source(schema.name, Role.OPEN), tuple(schema.columns[column] for column in group)
        )
        groups = [gone[column] for column in group] or [gone[lattice.column][:1] * 0]
        head = rule.head_in(rule.relation).args
        sought = PositiveAtom(open_.name, tuple(head[column] for column in group))
        self.offer_driven(
            replace(rule, atoms=(sought, *rule.atoms)),
            open_.name,
            TransientRelation(open_, self.context.resources.arena, groups),
        )

    def offer_opened(self, versions: Versions) -> None:
        """Offer the heads of rules that negate rows which went below."""
        for rule in self.rules:
            for atom in rule.negated:
                if atom.relation in versions.deltas:
                    bound = atom.bound_columns
                    rows = versions.with_change(
                        atom.relation, bound, versions.presence(atom.relation, bound).erases
                    )[CHANGE]
                    self.offer_driven(
                        replace(rule, atoms=(atom.bound_in(CHANGE), *rule.atoms)), CHANGE, rows
                    )

    def finish(self) -> dict[str, RelationVersion]:
        """Iterations until nothing improves. Endless where values improve for ever, but for the
        limits of the context.
        """
        self.go_through()
        return self.all()

    def total(self, name: str) -> RelationVersion:
        """All rows of a relation so far."""
        return self.rows[name].total

    def all(self) -> dict[str, RelationVersion]:
        """All rows of each relation so far."""
        return {name: rows.total for name, rows in self.rows.items()}

    def _table(self, name: str, rows: RelationVersion | None = None) -> BestRows:
        """A table that begins with these rows, or none."""
        return BestRows(
            rows or RelationVersion.empty(self.schemas[name], self.context.resources.arena),
            self._lattices.get(name),
            self.context.resources.dictionary,
            best_first=self._ordering,
            read=name in self.kept,
        )

    def _offer(self, rule: NormalRule, relations: Relations, rows: BestRows) -> None:
        needed, picks = head_picks(rule)
        planning = plan_for_long if self.lasting else plan_rule
        plan = planning(rule, relations, self.context, needed=needed, count=False)
        for piece in chunks(plan, relations, self.context):
            self.context.budget.found += piece.shape[1]
            rows.add(
                *((piece, picks) if needed else (np.zeros((1, 1), np.int64), np.zeros(1, np.int64)))
            )

    def offer_driven(self, rule: NormalRule, driver: str, rows: RelationVersion) -> None:
        """Add what a rule offers that has an atom more, which reads `rows` by the name `driver`."""
        if rows.count:
            self._offer(rule, {**self.lower, **self.all(), driver: rows}, self.rows[rule.relation])

    def _next_iteration(self) -> None:
        """Make what improved the deltas, and bring the totals forward. An iteration counts as work,
        however little it finds.
        """
        if self.compiled and self.few.worth_trying(
            sum(rows.offered for rows in self.rows.values())
        ):
            self._do_compiled()
        if not self._exploring and self._rising and self._often(self._best(), self.few.taken):
            self._explore()
        self.context.budget.spend(1)
        self.context.budget.check_memory(sum([rows.bytes for rows in self.rows.values()]))
        self.iterations += 1
        self.older = dict(self.totals)
        self.deltas = self._first_offers()
        self._taken_groups += sum(self.deltas[name].count for name in self._lattices)
        self.totals = {name: self.total(name) for name in self.kept}

    def _first_offers(self) -> dict[str, TransientRelation]:
        """The rows that are new or better, of groups that have an order those that come first."""
        while True:
            ranks = [rank for rows in self.rows.values() if (rank := rows.rank) is not None]
            if ranks:
                for rows in self.rows.values():
                    rows.choose(min(ranks))
            found = {name: self._taken(name) for name in self.schemas}
            if any(each.count for each in found.values()):
                return found
            if self._exploring:
                self._take_in_order()
            elif not ranks:
                return found

    @property
    def _rising(self) -> bool:
        """True where values may have been taken too early; of compiled code nobody knows."""
        return self.few.taken > 0 or any(rows.rising for rows in self.rows.values())

    def _best(self) -> dict[str, RelationVersion]:
        """The rows so far of relations that keep best values."""
        return {name: self.rows[name].total for name in self._lattices}

    def _often(self, totals: Relations, compiled: int) -> bool:
        """Test for groups that are taken so often that an order of them is looked for. `compiled`:
        how many compiled code has taken.
        """
        groups = sum([totals[name].count for name in self._lattices])
        most = _FEW_TAKEN + self._patience * groups + _ITERATION_TAKEN * self.few.iterations
        return self._ordering and compiled + self._taken_groups > most

    def _explore(self) -> None:
        """Let all groups come before better values do, if an order of those that are there is of
        use.
        """
        self._exploring = self._order() is not None
        if self._exploring:
            self.compiled = False
            for name in self._lattices:
                self.rows[name].explore()
        else:
            self._begin_again(2 * self._patience)

    def _take_in_order(self) -> None:
        """Take groups in their order from now on: all are there."""
        orders = self._order()
        self._exploring, self.compiled = False, orders is None
        for name in self._lattices:
            self.rows[name].arrange(orders[name] if orders else None)
        self._begin_again(self._patience if orders else 2 * self._patience)

    def _order(self) -> dict[str, GroupOrder] | None:
        return order_groups(self.rules, self.all(), self._lattices, self.lower, self.context)

    def _begin_again(self, patience: int) -> None:
        self._patience, self._taken_groups = patience, -self.few.taken

    def _taken(self, name: str) -> TransientRelation:
        """The rows of a relation that are new or better."""
        rows, schema = self.rows[name], self._delta_schemas[name]
        packed, arena = rows.take_packed(), self.context.resources.arena
        if packed is not None:
            return PackedRows(schema, arena, packed)
        return TransientRelation(schema, arena, rows.take_fresh())

    def _do_compiled(self) -> None:
        """Iterations of few offers, up to one that is for others."""
        offers = {name: rows.take_offers() for name, rows in self.rows.items()}
        totals = self.all()
        left = self.few.go(totals, self.lower, offers, self._plans, self._often)
        for name, rows in self.rows.items():
            rows.total = totals[name]
            rows.add(left[name], np.arange(len(left[name])))

    def _transient(self, schema: RelationSchema, rows: Columns) -> TransientRelation:
        return TransientRelation(
            replace(schema, name=delta_name(schema.name), key=None),
            self.context.resources.arena,
            rows,
        )
