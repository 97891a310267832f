"""A recursive stratum after a change, from its rows alone: what follows from rows that came, without what rested on rows that went [DRed].

After insertions semi-naïve rounds go on from the rows there are. Where something went below, whatever may have lost a derivation is found
first (`over_deletion`); what is left has a derivation that nothing touched, so it is true now. What follows from that alone is left too
(`returning`). The rest goes, and rounds go on from what came. A rule that went may have taken every row that it derived; what one that
came derives is added to what came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lftj.join.context import Context
from lftj.maintain.versions import Versions
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.recursion.best.monotone import MonotoneFixpoint
from lftj.recursion.effort import ITERATION, ROW_ALONE, change_of, charge, laid_into
from lftj.recursion.rederivation.over_deletion import keep_orders, losing, taken_below, takes_and_adds
from lftj.recursion.rederivation.returning import Returning
from lftj.recursion.update.rule_change import NO_CHANGE, RuleChange
from lftj.recursion.update.rule_queries import LOST
from lftj.storage.database import base_name
from lftj.storage.delta import Columns, Delta, no_rows
from lftj.storage.relation import RelationVersion


class _Rounds(MonotoneFixpoint):
    """Rounds for few rows among many, which are charged with what they take."""

    lasting = True

    def _next_round(self) -> None:
        super()._next_round()
        found = {name: delta.count for name, delta in self.deltas.items() if delta.count}
        due = sum(variant.source in found for variant in self.variants)
        charge(self.context, ITERATION * (1 + due))
        for name, rows in found.items():
            charge(self.context, ROW_ALONE * rows + laid_into(rows, self.totals[name].count) * len(self.totals[name].orders()))


class Rederivation:
    """One commit. `taken`: how many rows may have lost a derivation; `returned`: how many of them have another one."""

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        rules: list[NormalRule],
        versions: Versions,
        context: Context,
        rule_change: RuleChange = NO_CHANGE,
    ):
        self.taken = self.returned = 0
        self._schemas, self._rules, self._rule_change = schemas, rules, rule_change
        self._versions, self._context = versions, context
        self._own = {base_name(name): name for name in schemas}
        read = {name for rule in rules for name in rule.reads}.union(self._own)
        self._below = [name for name in read - set(schemas) if name in versions]
        self._changed = {name: versions.deltas[name] for name in self._below if name in versions.deltas}
        self.only_grows = not (rule_change.went or takes_and_adds(rules, self._own, self._changed)[0])

    def run(self) -> dict[str, RelationVersion]:
        """The relations as they are now. Raises what evaluation raises, and AllowanceSpentError; nothing given is changed."""
        lost = {} if self.only_grows else self._over_deleted()
        gone = Returning(self._schemas, self._rules, lost, self._versions, self._context).run() if lost else lost
        self.taken = sum(len(rows[0]) for rows in lost.values())
        self.returned = self.taken - sum(len(rows[0]) for rows in gone.values())
        rounds = _Rounds(self._schemas, {}, self._rules, self._versions, self._context)
        rounds.resume({name: self._without(name, gone.get(name)) for name in self._schemas})
        rounds.offer_opened(self._versions)
        rounds.offer(self._rule_change.came)
        rounds.proceed({name: delta.inserts for name, delta in self._changed.items()})
        return rounds.finish()

    def _over_deleted(self) -> dict[str, Columns]:
        """The rows of each relation that may have lost a derivation."""
        schemas = {name + LOST: replace(schema, name=name + LOST, key=None) for name, schema in self._schemas.items()}
        rules = [each for rule in self._rules for each in losing(rule, rule.relation + LOST, self._lost)]
        went = [replace(rule, relation=rule.relation + LOST) for rule in self._rule_change.went]
        taken = taken_below(self._rules, self._lost, self._changed, self._versions, self._context.arena)
        read = dict.fromkeys((*self._below, *self._schemas, *(name for rule in went for name in rule.reads)))
        before = {name: self._versions.before(name) for name in read}
        rounds = _Rounds(schemas, {}, [*rules, *went], before | taken, self._context)
        rounds.resume({name: RelationVersion.empty(schema, self._context.arena) for name, schema in schemas.items()})
        rounds.offer(went)
        rounds.proceed({name: rows.columns() for name, rows in taken.items()})
        found = rounds.finish()
        keep_orders(self._changed, before, self._versions)
        return {name: rows.columns() for name in self._schemas if (rows := found[name + LOST]).count}

    def _lost(self, name: str) -> str:
        """The name for what a relation lost."""
        return base_name(self._own[name] + LOST) if name in self._own else name + LOST

    def _without(self, name: str, rows: Columns | None) -> RelationVersion:
        version = self._versions[name]
        if rows is None:
            return version
        charge(self._context, change_of(len(rows[0]), version.count))
        return version.apply(Delta(no_rows(len(rows)), rows))
