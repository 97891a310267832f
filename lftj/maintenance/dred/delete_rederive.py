# SPDX-License-Identifier: Apache-2.0
"""A recursive stratum after a change, from its rows: without the rows that rested on deleted rows,
and with the rows that follow from inserted ones [DRed].

After insertions semi-naïve iterations continue from the existing rows. If rows below were deleted,
the rows that may have lost a derivation are found first (`over_delete`). The other rows are true
now. A row of the first kind that follows from the other rows stays too (`rederive`). The rest is
deleted, and iterations continue from the inserted rows. A removed rule may lose every row that it
derived; the rows that an added rule derives count as inserted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from lftj.join.context import Context
from lftj.join.run.evaluate import Relations
from lftj.maintenance.cost.cost_model import (
    ITERATION,
    ROW_ALONE,
    change_of,
    joins_alone,
)
from lftj.maintenance.counting.rule_change import NO_CHANGE, RuleChange
from lftj.maintenance.counting.trail import Trail
from lftj.maintenance.deletion.over_delete import (
    deleted_name,
    keep_orders,
    lost_name,
    over_deleting,
    taken_below,
    takes_and_adds,
)
from lftj.maintenance.dred.rederive import Returning
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.lattice.best_rows import BestRows
from lftj.maintenance.lattice.lattice_fixpoint import MonotoneFixpoint
from lftj.maintenance.semi_naive.packed_rows import Iteration, noted
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.scantree.rows import differences
from lftj.storage.database import base_name
from lftj.storage.delta import Columns, Delta, no_rows
from lftj.storage.relation import RelationVersion


class _Iterations(MonotoneFixpoint):
    """Iterations for few rows among many, which are charged with what they take. `trail`: what each
    of them found, where that is asked for. `grows`: an evaluation instead would find their rows,
    too; what it would take for them is allowed beside.
    """

    lasting = True

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        rules: list[NormalRule],
        relations: Mapping[str, RelationVersion],
        context: Context,
        trail: list[Iteration] | None = None,
        *,
        grows: bool = False,
    ):
        super().__init__(schemas, {}, rules, relations, context)
        self._trail, self._grows = trail, grows
        self.few.trail = trail
        self._before = context.budget.work, context.budget.found

    def _offer(self, rule: NormalRule, relations: Relations, rows: BestRows) -> None:
        self.context.budget.charge(ITERATION)
        super()._offer(rule, relations, rows)

    def _next_iteration(self) -> None:
        super()._next_iteration()
        found = {name: delta.count for name, delta in self.deltas.items() if delta.count}
        due = sum(variant.source in found for variant in self.variants)
        laid = sum(ROW_ALONE * rows + self.rows[name].laid(rows) for name, rows in found.items())
        budget = self.context.budget
        if self._grows:
            budget.extend(laid + self._joined_anew())
        budget.charge(ITERATION * (1 + due) + laid)
        if self._trail is not None:
            self._trail.append({name: noted(self.deltas[name]) for name in found})

    def _joined_anew(self) -> int:
        """Cost, in an evaluation from nothing, of the joins since it was asked last."""
        budget, (work, found) = self.context.budget, self._before
        self._before = budget.work, budget.found
        return joins_alone(budget.work - work, budget.found - found)


class Rederivation:
    """One commit. `trail`: of the rows before it, and once it ran of those after it, where one is
    known.
    """

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        rules: list[NormalRule],
        versions: Versions,
        context: Context,
        rule_change: RuleChange = NO_CHANGE,
        trail: Trail | None = None,
    ):
        self.trail = trail
        self._schemas, self._rules, self._rule_change = schemas, rules, rule_change
        self._versions, self._context = versions, context
        self._own = {base_name(name) for name in schemas}
        read = {name for rule in rules for name in rule.reads}.union(self._own)
        self._below = [name for name in read - set(schemas) if name in versions]
        self._changed = {
            name: versions.deltas[name] for name in self._below if name in versions.deltas
        }
        self.only_grows = not (
            rule_change.went or takes_and_adds(rules, self._own, self._changed)[0]
        )

    def run(self) -> tuple[dict[str, RelationVersion], dict[str, Delta]]:
        """The relations as they are now, and how they changed. Raises what evaluation raises, and
        AllowanceSpentError; nothing given is changed.
        """
        lost = {} if self.only_grows else self._over_deleted()
        trail: list[Iteration] | None = None if self.trail is None else []
        gone = lost
        if lost:
            gone = Returning(
                self._schemas, self._rules, lost, self._versions, self._context, trail
            ).run()
        iterations = _Iterations(
            self._schemas,
            self._rules,
            self._versions,
            self._context,
            trail,
            grows=self.only_grows,
        )
        iterations.resume({name: self._without(name, gone.get(name)) for name in self._schemas})
        iterations.offer_opened(self._versions)
        iterations.offer(self._rule_change.came)
        iterations.proceed({name: delta.inserts for name, delta in self._changed.items()})
        found = iterations.finish()
        if self.trail is not None:
            rows = sum(relation.count for relation in found.values())
            self.trail = self.trail.after(lost, trail or (), rows)
        return found, {name: self._change(name, iterations, gone.get(name)) for name in found}

    def _change(self, name: str, iterations: _Iterations, gone: Columns | None) -> Delta:
        """The net change of a relation."""
        rows = iterations.rows[name]
        # what rules that came would have derived counts as lost, though it never was there
        if (came := rows.came) is None or self._rule_change.came:
            return rows.total.difference(self._versions[name])
        if gone is None:
            return Delta(came, no_rows(len(came)))
        return Delta(*differences(came, gone))

    def _over_deleted(self) -> dict[str, Columns]:
        """The rows of each relation that may have lost a derivation."""
        rules = [
            each
            for rule in self._rules
            for each in over_deleting(rule, deleted_name(rule.relation), self._lost)
        ]
        went = [
            replace(rule, relation=deleted_name(rule.relation)) for rule in self._rule_change.went
        ]
        before, taken = self._inputs(name for rule in went for name in rule.reads)
        schemas = {
            name: replace(schema, name=name, key=None)
            for name, schema in self._deleted_schemas().items()
        }
        iterations = _Iterations(schemas, [*rules, *went], before | taken, self._context)
        return self._taken(iterations, before, taken, went)

    def _deleted_schemas(self) -> dict[str, RelationSchema]:
        return {deleted_name(name): schema for name, schema in self._schemas.items()}

    def _inputs(
        self, more: Iterable[str] = ()
    ) -> tuple[dict[str, RelationVersion], dict[str, RelationVersion]]:
        """Relations as they were, and what they lost, that rules of over-deletion read."""
        taken = taken_below(
            self._rules, self._lost, self._changed, self._versions, self._context.resources.arena
        )
        read = dict.fromkeys((*self._below, *self._schemas, *more))
        return {name: self._versions.before(name) for name in read}, taken

    def _taken(
        self,
        iterations: _Iterations,
        before: Mapping[str, RelationVersion],
        taken: Mapping[str, RelationVersion],
        went: Iterable[NormalRule] = (),
    ) -> dict[str, Columns]:
        """The rows that iterations of over-deletion find, from what went below."""
        iterations.resume(
            {
                name: RelationVersion.empty(schema, self._context.resources.arena)
                for name, schema in iterations.schemas.items()
            }
        )
        iterations.offer(went)
        iterations.proceed({name: rows.columns() for name, rows in taken.items()})
        found = iterations.finish()
        keep_orders(self._changed, before, self._versions)
        return {
            name: rows.columns()
            for name in self._schemas
            if (rows := found[deleted_name(name)]).count
        }

    def _lost(self, name: str) -> str:
        return lost_name(name, self._own)

    def _without(self, name: str, rows: Columns | None) -> RelationVersion:
        version = self._versions[name]
        if rows is None:
            return version
        self._context.budget.charge(change_of(len(rows[0]), version.count))
        return version.apply(Delta(no_rows(len(rows)), rows))
