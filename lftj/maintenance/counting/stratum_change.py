# SPDX-License-Identifier: Apache-2.0
"""A recursive stratum at a commit, as its strategies see it: what changed, and what they leave.

Several strategies need the same facts about a change: its size, the rules that came and went, the
partitions of the stratum that it affects. Each fact is found once, when a strategy first reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Protocol, TypeVar

from lftj.join.context import Context
from lftj.join.run.evaluate import Columns
from lftj.join.strategy import Exhausted, Why
from lftj.maintenance.affected_partitions import AffectedParts, find_affected
from lftj.maintenance.cost.cost_model import FEW, ROW_ALONE, STEP
from lftj.maintenance.counting.choice_update import decided_group_by_group
from lftj.maintenance.counting.forecast import ELASTIC_GIVEN_UP, Change, changes_below
from lftj.maintenance.counting.rule_change import NO_CHANGE, RuleChange
from lftj.maintenance.counting.stratum_state import (
    ELASTIC_DOUBTING,
    NOTHING_KNOWN,
    Kept,
    StratumState,
    Uncounted,
)
from lftj.maintenance.counting.trail import Trail
from lftj.maintenance.deletion.over_delete import takes_and_adds
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.semi_naive.closure import Closure
from lftj.maintenance.separable.decomposable import Decomposition, walkable
from lftj.program.monotone import Lattice, lattices
from lftj.program.normal_form import RelationSchema, Stratum
from lftj.scantree.frozen import found_once, frozen
from lftj.storage.database import base_name
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion

_PARTS_SMALL = 1_000_000
"""Cost of evaluating partitions for which nothing else is tried: some five milliseconds."""
_ELASTIC_RUNNING = 2.5
"""Times its share that an update may take once it runs."""
_Kept = TypeVar("_Kept", StratumState, Uncounted)


@frozen
class Followed:
    """A stratum after a commit: net changes of its relations, what is kept, and counters.

    `outcome` as in `RuleWork`; `strategy`: its name. `versions`: the relations after it, where they
    are made already.
    """

    deltas: dict[str, Delta]
    kept: Kept
    outcome: str
    changed: int = 0
    assignments: int = 0
    versions: Mapping[str, RelationVersion] = field(default_factory=dict)
    strategy: str = ""


class Close(Protocol):
    """The ladder of ways to close rules from nothing, which strategies get as an argument."""

    def __call__(self, closure: Closure, /) -> dict[str, Columns] | Exhausted: ...


class StratumChange:
    """A recursive stratum at one commit. `rule_change`: how its rules are others than those that
    its rows follow from; None where that cannot be told.

    `close` finds the rows of rules from nothing. `patient`: whether a strategy for long chains is
    to be had, for which iterations may be given up. `tried`: what gave up last, for a reason.
    """

    def __init__(
        self,
        stratum: Stratum,
        schemas: Mapping[str, RelationSchema],
        versions: Versions,
        context: Context,
        rule_change: RuleChange | None,
        close: Close,
        *,
        patient: bool = True,
    ):
        self.stratum, self.schemas = stratum, schemas
        self.versions, self.context = versions, context
        self.rule_change, self.close, self.patient = rule_change, close, patient
        self.rules, self.countable = stratum.joins, stratum.countable
        self.tried: Exhausted | None = None
        self.outcome = "bootstrap" if self.decided else "choice"
        """The word for an evaluation from nothing, by what was tried before it."""
        self.proven = False
        """True where the state was made for the rows as they were, at this very commit."""
        self.begun: dict[str, Columns] = {}
        """Rows of iteration 0 that a strategy which gave up leaves to the next."""

    def note(self, exhausted: Exhausted) -> None:
        """Take notice of a strategy that gave up."""
        why = exhausted.why
        if why is not Why.PASS:
            if why in _OUTCOMES and not self.gave_up(Why.LONG_CHAIN) and not self.proven:
                self.outcome = _OUTCOMES[why]
            self.tried = exhausted

    def gave_up(self, *whys: Why) -> bool:
        """Tell whether what gave up last did so for one of these reasons."""
        return self.tried is not None and self.tried.why in whys

    # ── facts of the stratum ──────────────────────────────────────────────────────────────────────
    @cached_property
    def lattices(self) -> Mapping[str, Lattice]:
        """The relations that keep the least or greatest value of each group."""
        return _lattices(self.stratum)

    @cached_property
    def choice(self) -> bool:
        """Tell whether some relation has a choice domain."""
        return any(schema.choice for schema in self.schemas.values())

    @cached_property
    def least(self) -> bool:
        """Tell whether ranks have to be least, those of iterations: rows are chosen by them."""
        return self.choice

    @cached_property
    def decided(self) -> bool:
        """Tell whether choices are decided group by group."""
        return not self.choice or decided_group_by_group(self.schemas)

    @property
    def keeps_counts(self) -> bool:
        """Tell whether this workspace counts proofs for updates to come."""
        return self.context.keep and self.context.fraction > 0

    # ── facts of the change ───────────────────────────────────────────────────────────────────────
    @cached_property
    def below(self) -> Change:
        """The changes of what the stratum reads."""
        return changes_below(self.stratum, self.versions)

    @cached_property
    def takes(self) -> bool:
        """Tell whether rows may have lost a derivation."""
        if self.rule_change is not None and self.rule_change.went:
            return True
        own = {base_name(name) for name in self.schemas}
        read = {name for rule in self.rules for name in rule.reads} | own
        deltas = self.versions.deltas
        changed = {name: deltas[name] for name in read & deltas.keys()}
        return takes_and_adds(self.rules, own, changed)[0]

    @cached_property
    def walk(self) -> Decomposition | None:
        """The decomposition of a closure, whose rows are found by walks; None for other strata."""
        return _walk(self.stratum)

    @cached_property
    def steps(self) -> int:
        """The number of rows that the steps of a closure read; 0 for other strata."""
        if self.walk is None:
            return 0
        read = {name for rule in self.walk.steps for name in rule.reads}
        return sum([self.versions[name].count for name in read])

    @property
    def many_steps(self) -> bool:
        """Tell whether the steps of a closure outnumber its rows, so that to read them, which a
        search begins with, is most of an evaluation, and takes more than it may in any case.
        """
        return self.steps > max(self.before, self.context.tuning.searched_least)

    @cached_property
    def before(self) -> int:
        """The number of rows before it."""
        return sum([self.versions.before(name).count for name in self.schemas])

    @property
    def some_partitions(self) -> bool:
        """Tell whether only some partitions would be evaluated instead of following."""
        return self.partitions is not None and self.partitions.share < 1

    @cached_property
    def partitions(self) -> AffectedParts | None:
        """The partitions that the change touches; None where the stratum has none, or too many are
        touched.
        """
        if (
            not self.before
            or self.rule_change is not NO_CHANGE
            or not self.context.fraction
            or self.choice
        ):
            return None
        if len(self.rules) < len(self.stratum.rules):
            return None
        return find_affected(self.schemas, self.rules, self.versions, self.context)

    # ── what is kept ──────────────────────────────────────────────────────────────────────────────
    def known(self, state: Kept | None) -> Kept | None:
        """The state, or what is known of rows that were derived by others until now."""
        if state is not None or self.rule_change is None:
            return state
        return Uncounted(work=(ROW_ALONE + STEP) * self.before)

    def trail(self, state: Kept | None) -> Trail | None:
        """The trail of the rows, from which a change of rules and rows can be followed; None where
        none is known, or there were no rows.
        """
        if not isinstance(state, Uncounted) or self.rule_change is None or not self.before:
            return None
        return state.trail

    def instead(self, kept: Kept) -> int:
        """The cost of evaluation from nothing, of the partitions that changed or of all."""
        if not isinstance(kept, Uncounted) or self.lattices or not self.some_partitions:
            return kept.work
        assert self.partitions is not None
        return int(self.partitions.share * (kept.work - kept.iterations)) + kept.iterations

    def parts_are_soon(self, kept: Kept) -> bool:
        """Tell whether the change itself named partitions that are evaluated in little time."""
        if not self.some_partitions:
            return False
        assert self.partitions is not None
        return self.partitions.direct and self.instead(kept) <= _PARTS_SMALL

    def hopeless(self, kept: Kept, most: float, *, seen: bool = False) -> bool:
        """Tell whether following the change is expected to cost more than `most`, by its share of
        what is read and by earlier changes, or by what was `seen` of these alone.
        """
        below = self.below
        forecast = 0.0 if seen else below.cost(kept.steps)
        expected = kept.expected(below.rows, forecast)
        return expected > self.context.tuning.elastic_forecast * most

    def allowed(self, kept: Kept, share: float, least: int) -> int | None:
        """Cost that following may have, lost where an evaluation follows: this share of one but for
        what the commit lost in other strata, or `least`; None where it is expected to cost more.
        Few rows, which may be unlike others, are tried for a little until that was in vain.
        """
        tuning, instead, lost = self.context.tuning, self.instead(kept), self.context.budget.lost
        most = max(least, int(share * instead) - lost)
        if not self.hopeless(kept, most):
            return most
        tried = min(most, max(least, int(tuning.rows_tried * instead) - lost))
        few = self.below.rows <= FEW and not self.hopeless(kept, 2 * tried, seen=True)
        return tried if few else None

    @property
    def share(self) -> float:
        """Share of an evaluation that an update of counts may cost; half as much for rules, whose
        cost nothing foretells.
        """
        times = _ELASTIC_RUNNING / 2 if self.rule_change else _ELASTIC_RUNNING
        return times * self.context.fraction

    def disappointed(self, kept: _Kept, allowed: int) -> _Kept:
        """The state, knowing that following was given up."""
        rows = self.below.rows
        took = ELASTIC_GIVEN_UP * max(allowed, int(min(kept.expected(rows), kept.work)))
        return kept.experienced(took, rows)

    def uncounted(self, state: Kept | None) -> Uncounted:
        """State kept of rows that are found from nothing, but for what that takes."""
        if not self.decided or not self.keeps_counts or not self.countable or state is None:
            return NOTHING_KNOWN
        return self.with_experience(Uncounted(rules=state.rules), state)

    def with_experience(self, kept: Uncounted, state: Kept) -> Uncounted:
        """The same, knowing what changes cost by this state; less surely where this one was
        expected to cost too much, so that another is tried some time.
        """
        left = ELASTIC_DOUBTING if self.gave_up(Why.FORECAST) else 1
        return replace(kept, spent=state.spent * left, changes=state.changes)

    def replaced(self, rows: Mapping[str, Columns], kept: Kept) -> Followed:
        """The stratum with these rows, found from nothing, in place of those before the commit."""
        deltas, old = self.net(rows), self.versions
        versions = {name: old[name].apply(deltas[name], rows=rows[name]) for name in rows}
        return Followed(deltas, kept, self.outcome, versions=versions)

    def net(self, rows: Mapping[str, Columns]) -> dict[str, Delta]:
        """The change from the rows before the commit to these."""
        return {name: self.versions[name].change_to(columns) for name, columns in rows.items()}

    def stored(self, state: StratumState) -> Followed:
        """The stratum with a state that was built from nothing."""
        rows = {name: relation.rows() for name, relation in state.relations.items()}
        kept = state if self.keeps_counts else NOTHING_KNOWN  # one that nobody asked for
        return Followed(self.net(rows), kept, self.outcome)


@found_once
def _lattices(stratum: Stratum) -> Mapping[str, Lattice]:
    return lattices(stratum.rules)


@found_once
def _walk(stratum: Stratum) -> Decomposition | None:
    return walkable(stratum.relations, stratum.joins)


_OUTCOMES = {Why.FORECAST: "forecast", Why.BUDGET: "fallback", Why.VALUES: "fallback"}
