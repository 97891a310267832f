"""Strategies that count proofs: an update of existing counts, and the evaluations from nothing that
make counts [Elastic 5].

The share of an update is `Context.fraction` of the last bootstrap that counted. An update is not
started if it is expected to need twice its share, by the share of the rows below that changed, or
three times its share, by the cost of earlier updates for each changed row. A running update is
given up at five times its share, by default the cost of the bootstrap, and leaves no trace. Costs
are counted, not timed, so the choice is the same on every machine.

Counting proofs costs several times a bootstrap without counts, and many strata never change, or
only as a whole. So the first bootstrap finds rows without counts. The counts are made, by a
bootstrap on the new input, at a small change for which over-deletion, re-derivation and ranks
(`dred`) cost too much. If updates are given up again and again, more and more changes pass before
counts are made again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from lftj.join.strategy import Cost, Exhausted, Strategy, Why
from lftj.maintenance.counting.counted_update import CountedUpdate, Update
from lftj.maintenance.counting.forecast import make_ready
from lftj.maintenance.counting.patience import Patience
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import UNCOUNTABLE, StratumState, Uncounted
from lftj.storage.database import base_name

_GIVEN_STEPS = 8
"""Steps for each given row up to which they are."""


class CountingUpdate(CountedUpdate):
    """An update of a stratum whose proofs are counted."""

    name = "counting"
    gate = "recursion.chain"

    def applies(self) -> bool:
        """Tell whether proofs are counted, of these rules and no best values."""
        return self.counted and self.change.countable and not self.state.lattices

    def begin(self) -> Update:
        """The update of the counts."""
        from lftj.maintenance.counting.elastic_update import ElasticUpdate

        change = self.change
        return ElasticUpdate(self.state, change.rules, change.versions, change.context)


class _Counted(Strategy[Followed]):
    """An evaluation from nothing that counts."""

    change: StratumChange

    @property
    def _possible(self) -> bool:
        change = self.change
        return change.keeps_counts and change.countable and change.decided

    def _state(self, kept: StratumState) -> StratumState | Exhausted:
        from lftj.maintenance.counting.elastic_bootstrap import elastic_bootstrap

        change = self.change
        after_iteration = Patience(change.context).after_iteration if change.patient else None
        try:
            state = elastic_bootstrap(
                change.schemas,
                kept.queries_of(change.rules),
                change.versions,
                change.context,
                after_iteration,
            )
        except OverflowError:
            return Exhausted(Why.PROOFS, UNCOUNTABLE)
        if state is None:
            return Exhausted(Why.LONG_CHAIN, kept)
        return replace(
            state,
            alone=kept.alone,
            spent=kept.spent,
            changes=kept.changes,
            failures=kept.failures,
        )

    @property
    def _empty(self) -> StratumState:
        return StratumState.empty(self.change.schemas, self.change.context.resources.arena)


class CountedAtOnce(_Counted):
    """An evaluation that counts from the beginning, where most of what a stratum reads was given to
    it: where little follows from that, counting costs little beside storing the rows.
    """

    name = "counting at once"
    gate = "university"

    def applies(self) -> bool:
        """Tell whether most rows below are given, and new, and no counts are kept."""
        counted = isinstance(self.state, StratumState) and not self.state.lattices
        return self._possible and not counted and self.change.tried is None and self._given > 0

    @cached_property
    def _given(self) -> int:
        """The number of rows given to the stratum's own relations, if that is most of what it
        reads, most of them are new, and they are many; else 0.
        """
        change, versions = self.change, self.change.versions
        own = [name for name in map(base_name, change.stratum.relations) if name in versions]
        rows = sum(versions[name].count for name in own)
        new = sum(versions.deltas[name].inserted for name in own if name in versions.deltas)
        if not isinstance(self.state, Uncounted):
            new = rows
        read = change.stratum.reads - {*change.stratum.relations, *own}
        others = sum(versions[name].count for name in read)
        least = change.context.tuning.given_rows
        return rows if rows > max(others, least) and 2 * new > rows else 0

    def forecast(self) -> Cost:
        """Some steps for each given row, beyond which more follows."""
        return Cost(allowed=_GIVEN_STEPS * self._given)

    def run(self) -> Followed | Exhausted:
        """The stratum with counts, ready for updates."""
        change = self.change
        state = self._state(self._empty)
        if isinstance(state, Exhausted):
            return state
        make_ready(state, change.rules, change.versions, change.context)
        return change.stored(state)

    def stopped(self, allowed: int) -> Exhausted:
        """Exhausted: others begin as if it had not been tried."""
        return Exhausted(Why.PASS, self.state)


class CountedFromNothing(_Counted):
    """An evaluation that counts, at a change for which rows alone will not do, or where an update
    among others that succeeded was given up.
    """

    name = "counting from nothing"
    gate = "recursion.chosen"

    def applies(self) -> bool:
        """Tell whether counts are worth their cost."""
        if not self._possible:
            return False
        if isinstance(self.state, StratumState) and not self.state.lattices:
            return self._again
        return (
            isinstance(self.state, Uncounted)
            and self.change.tried is None
            and self.change.put_off(self.state) is None
        )

    @property
    def _again(self) -> bool:
        """Tell whether counts that an update of this commit did without are made again in it: where
        they served, and nothing was lost yet that would add to a dear evaluation.
        """
        kept, most = self.state, self.change.context.tuning.rows_counted
        if not kept.used or self.change.tried is None:
            return False
        return not kept.alone or (
            self.change.gave_up(Why.FORECAST) and kept.work <= most * kept.alone
        )

    def run(self) -> Followed | Exhausted:
        """The stratum with counts."""
        kept = self.state
        if isinstance(kept, Uncounted):
            kept = replace(self._empty, failures=kept.failures, alone=kept.work)
        state = self._state(kept)
        return state if isinstance(state, Exhausted) else self.change.stored(state)
