# SPDX-License-Identifier: Apache-2.0
"""A recursive stratum with `min` or `max` after a change: from its state to the state that
evaluation from nothing would give.

The state has the rows and, for the program of `optimal_support`, the iteration and the number of
proofs of each row. Three steps:

1. *Rows that stay.* An elastic update of that program by the changes below, with the finished rows
   as they were. A row stays exactly if it still has a proof from rows that stay: a row whose value
   comes only from rows that rest on it in turn loses its iteration like any row without proofs, so
   a cut-off cycle of weight zero is deleted. Offers worse than the value of their group play no
   part.
2. *Better values.* Rules offer groups without a value what they derive from the rows that stay, and
   all groups what they derive from rows inserted below; iterations of improvement follow
   (`lattice_fixpoint`). The rows that stay are derived under the new input, and so lie below its
   fixpoint; that is why iterations from there end in it.
3. *New proofs.* An elastic update of the program of `optimal_support` by the change of the finished
   rows.

Not all programs prove every finished row from finished rows: in best(min(max(b - 1, 0))) :-
best(b). a value may improve until it rests only on itself. A state is kept only where every row was
proven, which counting shows; without one, a deletion is an evaluation from nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lftj.join.context import Context
from lftj.join.run.evaluate import Columns, Relations
from lftj.maintenance.cost.cost_model import ITERATION, change_of
from lftj.maintenance.counting.elastic_bootstrap import elastic_bootstrap
from lftj.maintenance.counting.elastic_update import ElasticUpdate
from lftj.maintenance.counting.patience import Patience, updated_from_nothing
from lftj.maintenance.counting.stratum_state import StratumState
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.lattice.lattice_fixpoint import MonotoneFixpoint
from lftj.maintenance.lattice.optimal_support import WithBest, offering, support_rule
from lftj.program.normal_form import NormalRule
from lftj.scantree.frozen import frozen
from lftj.storage.delta import Delta, no_rows
from lftj.storage.relation import RelationVersion
from lftj.types.sources import Role, Source

# Iterations of improvement from rows that are known to be derived: after a change, and after what
# lost its proofs has gone.
#
# An instantiation that was there before and reads rows that were there before offers nothing new,
# but to groups that lost what they had. So what is offered at first is what these groups are
# offered now, and what instantiations offer that read something new.


@frozen
class Offers:
    """Sources of further rows of a stratum.

    `new`: rows found in it; `gone`: those of groups without a value now; `added`: rules that came;
    `versions`: changes below.
    """

    new: Mapping[str, Columns]
    gone: Mapping[str, Columns]
    added: list[NormalRule]
    versions: Versions

    def any(self, rules: Sequence[NormalRule]) -> bool:
        """Test for anything to look at for these rules, which are all of the stratum."""
        deltas = self.versions.deltas
        won = any(
            deltas[atom.relation].inserted
            for rule in rules
            for atom in rule.atoms
            if atom.relation in deltas
        )
        opened = any(
            deltas[atom.relation].erased
            for rule in rules
            for atom in rule.negated
            if atom.relation in deltas
        )
        return bool(self.new or self.gone or self.added or won or opened)


class Improvement(MonotoneFixpoint):
    """One run of iterations, which counts as effort."""

    def run_from(
        self, stayed: Mapping[str, RelationVersion], offers: Offers
    ) -> dict[str, RelationVersion]:
        """All rows, after iterations from those that `stayed`."""
        self.resume(stayed)
        for name, rows in offers.new.items():
            self.rows[name].add_columns(rows)
        self.offer_inserted({name: delta.inserts for name, delta in offers.versions.deltas.items()})
        self.offer_opened(offers.versions)
        for rule in self.rules:
            if rule.relation in offers.gone:
                self.offer_again(rule, offers.gone[rule.relation])
        for rule in offers.added:
            self._offer(offering(rule), {**self.lower, **self.all()}, self.rows[rule.relation])
        self._next_iteration()
        return self.finish()

    def _next_iteration(self) -> None:
        super()._next_iteration()
        self.context.budget.charge(
            ITERATION
            + sum(
                change_of(delta.count, self.total(name).count)
                for name, delta in self.deltas.items()
            ),
        )


Finished = Mapping[str, RelationVersion]


def prove(
    like: StratumState,
    rules: list[NormalRule],
    finished: Finished,
    below: Relations,
    context: Context,
    *,
    patient: bool = True,
) -> StratumState | None:
    """The state of a stratum with these `finished` rows, over relations `below`; None where some
    cannot be proven from finished rows. `patient`: where iterations find little for long, an update
    from nothing takes their place.

    `like`: a state without rows or rules, or an earlier one whose plans serve. OverflowError: a row
    has too many proofs to count.
    """
    plain = [support_rule(rule, like.lattices) for rule in rules]
    relations = WithBest(below, finished, like.lattices)
    after_iteration = Patience(context).after_iteration if patient else None
    queries = like.queries_of(plain)
    state = elastic_bootstrap(like.schemas, queries, relations, context, after_iteration)
    if state is None:
        state = updated_from_nothing(like.schemas, plain, relations, context)
    return replace(state, lattices=like.lattices) if _proven(state, finished) else None


def _proven(state: StratumState, finished: Finished) -> bool:
    return all(relation.count == finished[name].count for name, relation in state.relations.items())


class MonotoneUpdate:
    """One update. `run` gives the new state and the net changes; nothing given is changed.
    `assignments` counts proofs won and lost.
    """

    def __init__(
        self, state: StratumState, rules: list[NormalRule], versions: Versions, context: Context
    ):
        self.assignments = 0
        self._state = state
        self._rules = rules
        self._versions = versions
        self._context = context
        self._old: Finished = {name: versions[name] for name in state.schemas}

    def run(self) -> tuple[StratumState | None, dict[str, Delta]]:
        """None for the state where some row cannot be proven from finished rows. Raises what
        evaluation raises.
        """
        versions = self._versions
        before, now = self._with_best(versions.old, self._old), self._with_best(versions, self._old)
        state, moved = self._elastic(
            self._state, Versions(before, now, versions.deltas, self._context.resources.arena)
        )
        offers = self._offers(state, moved)
        if not offers.any(self._rules):
            return state, moved
        stayed = {
            name: self._old[name].apply(Delta(no_rows(len(each.erases)), each.erases))
            for name, each in moved.items()
        }
        rows = Improvement(
            state.schemas, state.lattices, self._rules, versions, self._context
        ).run_from(stayed, offers)
        deltas = {name: version.difference(self._old[name]) for name, version in rows.items()}
        best: dict[str, Delta] = {
            Source(name, Role.BEST): deltas[name] for name in state.lattices if len(deltas[name])
        }
        if best:
            before, now = self._with_best(versions, self._old), self._with_best(versions, rows)
            state, _ = self._elastic(
                state, Versions(before, now, best, self._context.resources.arena)
            )
        self._keep_orders(rows)
        return (state if _proven(state, rows) else None), deltas

    def _with_best(self, relations: Mapping[str, RelationVersion], finished: Finished) -> WithBest:
        return WithBest(relations, finished, self._state.lattices)

    def _elastic(
        self, state: StratumState, versions: Versions
    ) -> tuple[StratumState, dict[str, Delta]]:
        update = ElasticUpdate(
            state,
            [support_rule(rule, state.lattices) for rule in self._rules],
            versions,
            self._context,
        )
        found = update.run()
        self.assignments += update.assignments
        return found

    def _offers(self, state: StratumState, moved: Mapping[str, Delta]) -> Offers:
        """Sources of further rows beside those that stayed."""
        known = set(map(id, self._state.rules))
        return Offers(
            {name: each.inserts for name, each in moved.items() if each.inserted},
            {name: moved[name].erases for name in state.lattices if moved[name].erased},
            [
                rule
                for rule, queries in zip(self._rules, state.rules, strict=True)
                if id(queries) not in known
            ],
            self._versions,
        )

    def _keep_orders(self, rows: Finished) -> None:
        """Key orders that were built on the way are not lost, or they would be built at each
        update.
        """
        for name, version in rows.items():
            for order in version.orders():
                if order not in self._old[name].orders():
                    self._old[name].tree(order)
