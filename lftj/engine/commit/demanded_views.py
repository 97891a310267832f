# SPDX-License-Identifier: Apache-2.0
"""Refresh of all views at a commit, again while a cycle asks aggregates or negations for values of
its own.

`p(y, s) :- p(x, k), e(x, y), s = sum z : { w(x, z), z > k }` needs the sum for each `k` that the
cycle finds. The sums are kept for the values of a hidden relation without rules; the program names
the derived relation whose values are asked for (`Program.asked`). When the cycle is up to date,
these are put there, and the cycle is gone on with, until it asks for no others [a table of calls,
as in Chen and Warren, Tabled Evaluation with Delaying for General Logic Programs, 1996].

More values only make more rows of the cycle, since all that it reads of them are the aggregates of
values that it asks for. So its rows in the end are those of the least fixpoint. Strata that read it
wait for that: they would evaluate, or fail on, rows that there are not in the end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from lftj.join.context import Context
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.program.normal_form import Stratum
from lftj.program.program import Program
from lftj.program.stratification import Stratification
from lftj.scantree.frozen import record
from lftj.storage.database import Database
from lftj.storage.delta import Delta
from lftj.views.graph import Apart, together
from lftj.views.runner import Refreshed, refresh
from lftj.views.states import ViewStates, stratum_key


def refresh_as_asked(
    program: Program,
    before: Database,
    database: Database,
    deltas: Mapping[str, Delta],
    states: ViewStates,
    context: Context,
    *,
    changed_rules: frozenset[str],
    was: Stratification | None,
) -> Refreshed:
    """Bring every affected view of a program up to date: `views.runner.refresh`, as often as
    its cycles ask for more. Raises what that raises; nothing given is changed.
    """
    way = _Refresh(program, before, database, deltas, states, context, changed_rules, was)
    return way.run()


@record
class _Refresh:
    """A commit's way through the views. `before`: all rows before the commit; `database`, `states`
    and `deltas`: what it has come to.
    """

    program: Program
    before: Database
    database: Database
    deltas: Mapping[str, Delta]
    states: ViewStates
    context: Context
    changed_rules: frozenset[str]
    was: Stratification | None

    def run(self) -> Refreshed:
        """Bring every view up to date."""
        if not self.program.asked:
            return self._refresh(self.before, self.deltas, self.changed_rules)
        base, done = {*self.deltas}, frozenset[int]()
        self.deltas, self.works = dict(self.deltas), list[RuleWork]()
        self._order = self.program.stratified.order
        for last, asking in sorted(self._asking().items()):
            ahead = frozenset((*range(last + 1), *asking))
            self._pass(self.before, self.deltas, ahead - done, self.changed_rules)
            while asked := self._asked_in(asking):
                now = self.database
                self.database = now.replace({each: now[each].apply(asked[each]) for each in asked})
                self._note(asked)
                self._pass(now, asked, ahead, frozenset())
            done |= ahead
        rest = frozenset(range(len(self._order.strata))) - done
        self._pass(self.before, self.deltas, rest, self.changed_rules)
        found = {name: delta for name, delta in self.deltas.items() if name not in base}
        return Refreshed(self.database, found, self.states, self.works)

    def _asking(self) -> dict[int, set[int]]:
        """The places of the strata of values that are asked for, by the last place of what they
        read.
        """
        found: dict[int, set[int]] = {}
        for name in self.program.asked.values():
            place = self._order.place[name]
            reads = self._order.strata[place].reads
            places = [self._order.place[read] for read in reads if read in self._order.place]
            found.setdefault(max(places, default=-1), set()).add(place)
        return found

    def _asked_in(self, asking: Collection[int]) -> dict[str, Delta]:
        """Changes of the values that are asked for in the strata of these places."""
        changes = {
            name: self.database[domain].difference(self.database[name])
            for name, domain in self.program.asked.items()
            if self._order.place[domain] in asking
        }
        return {name: delta for name, delta in changes.items() if len(delta)}

    def _pass(
        self,
        old: Database,
        deltas: Mapping[str, Delta],
        places: frozenset[int],
        changed_rules: frozenset[str],
    ) -> None:
        """Bring the strata of some places up to date. States of others are of other rows, so they
        are not looked at.
        """
        keys = [key for place in places for key in _keys(self._order.strata[place])]
        made = self._refresh(old, deltas, changed_rules, self.states.of(keys), places)
        self.database, self.states = made.database, self.states.beside(made.states, keys)
        self.works += made.works
        self._note(made.deltas)

    def _refresh(
        self,
        old: Database,
        deltas: Mapping[str, Delta],
        changed_rules: frozenset[str],
        states: ViewStates | None = None,
        places: frozenset[int] | None = None,
    ) -> Refreshed:
        return refresh(
            self.program.stratified,
            old,
            self.database,
            deltas,
            self.states if states is None else states,
            self.context,
            changed_rules=changed_rules,
            was=self.was if changed_rules else self.program.stratified.order,
            places=places,
            apart=apart_in(self.program),
        )

    def _note(self, deltas: Mapping[str, Delta]) -> None:
        """Note changes; of a relation that changed before in this commit, both together."""
        noted = dict(self.deltas)
        for name, delta in deltas.items():
            if name in noted and name in self.before:
                delta = self.database[name].difference(self.before[name])
            elif name in noted:
                delta = Delta.insertion(self.database[name].columns())
            noted[name] = delta
        self.deltas = noted


def apart_in(program: Program) -> Apart:
    """The tag that keeps equal nodes of a program apart. Where cycles ask for values, relations are
    brought up to date at different times, so each has its nodes for itself.
    """
    return str if program.asked else together


def _keys(stratum: Stratum) -> Iterable[str]:
    """The keys of a stratum's states."""
    return (*stratum.relations, stratum_key(stratum.relations))
