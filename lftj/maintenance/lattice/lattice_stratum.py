"""A recursive stratum with `min` or `max` at a commit: updated, continued from its rows, or
evaluated anew.

Rows alone are enough to go on from after insertions, and where rules came. The first change that
may take rows away is therefore the one at which proofs are counted, those of the rows that there
were before it, if such changes are expected to be cheap to follow. It and later ones, insertions
too, are then updates (`lattice_update`), started and given up as those of other recursive strata
are (`elastic`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lftj.join.context import Context
from lftj.join.run.evaluate import Relations
from lftj.maintenance.cost.cost_model import ITERATION, ROW_ALONE, STEP
from lftj.maintenance.counting.elastic import (
    UNCOUNTABLE,
    Followed,
    Kept,
    RowsAlone,
    given_up,
    put_off,
    try_update,
)
from lftj.maintenance.counting.forecast import changes_below
from lftj.maintenance.counting.rule_change import RuleChange
from lftj.maintenance.counting.stratum_state import StratumState
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.lattice.lattice_fixpoint import MonotoneFixpoint
from lftj.maintenance.lattice.lattice_update import MonotoneUpdate, prove
from lftj.program.monotone import Lattice, lattices
from lftj.program.normal_form import NormalRule, RelationSchema, Stratum
from lftj.storage.database import base_name


def follow_monotone(
    stratum: Stratum,
    schemas: Mapping[str, RelationSchema],
    kept: Kept | None,
    versions: Versions,
    context: Context,
    rule_change: RuleChange | None,
) -> Followed | None:
    """Bring such a stratum up to date; None for one without such a relation.

    `rule_change`: how its rules are others than those that its rows follow from; None where that
    cannot be told. Raises what evaluation raises; nothing given is changed.
    """
    found = lattices(stratum.rules)
    return (
        _Commit(stratum, schemas, found, versions, context, rule_change).followed(kept)
        if found
        else None
    )


class _Commit:
    """One stratum at one commit."""

    def __init__(
        self,
        stratum: Stratum,
        schemas: Mapping[str, RelationSchema],
        found: Mapping[str, Lattice],
        versions: Versions,
        context: Context,
        rule_change: RuleChange | None,
    ):
        self._schemas, self._found = schemas, found
        self._versions, self._context = versions, context
        self._rules = [rule for rule in stratum.rules if isinstance(rule, NormalRule)]
        self._change = changes_below(stratum, versions)
        read = {*stratum.reads, *map(base_name, schemas)}
        self._changed = {name: versions.deltas[name] for name in read & versions.deltas.keys()}
        negated = {atom.relation for rule in self._rules for atom in rule.negated}
        erased = any(delta.erased for delta in self._changed.values())
        self._came = rule_change.came if rule_change else ()
        self._same_rules = rule_change is not None and not rule_change
        self._only_grows = rule_change is not None and not (
            rule_change.went or erased or negated & self._changed.keys()
        )

    def followed(self, kept: Kept | None) -> Followed:
        """The stratum after the commit."""
        context = self._context
        counts = context.keep and context.fraction > 0
        if isinstance(kept, StratumState):
            if counts and kept.lattices == self._found:
                return self._updated_or_not(kept)
            kept = None
        if kept is None:
            return self._derived(RowsAlone())
        if self._only_grows:
            return self._derived(kept, "update", go_on=True)
        later = put_off(kept, self._change, context) if counts else kept
        if later is not None:
            return self._derived(later)
        empty = replace(
            StratumState.empty(self._schemas, context.arena),
            lattices=self._found,
            failures=kept.failures,
        )
        return (
            self._counted_as_it_was(empty, kept.work) if self._same_rules else None
        ) or self._derived(kept, counted=empty)

    def _counted_as_it_was(self, like: StratumState, work: int) -> Followed | None:
        """The stratum after an update of the state that its rows had, `work` being what they took:
        they are not found again to be counted.

        None where they have no state.
        """
        old = self._versions.old
        before = self._proven(like, {name: old[name] for name in self._schemas}, work, old)
        if not isinstance(before, StratumState):
            return None
        done = self._updated_or_not(before)
        kept = replace(done.kept, used=False) if isinstance(done.kept, StratumState) else done.kept
        return replace(done, kept=kept, strategy="bootstrap")

    def _updated_or_not(self, kept: StratumState) -> Followed:
        tried = try_update(
            kept,
            lambda: MonotoneUpdate(kept, self._rules, self._versions, self._context),
            self._context,
            self._change,
        )
        if isinstance(tried, Followed):
            return tried
        alone = replace(tried.alone, work=tried.kept.work, steps=tried.kept.steps)
        return self._derived(
            alone,
            tried.strategy,
            go_on=self._only_grows,
            counted=tried.kept if tried.kept.used else None,
        )

    def _derived(
        self,
        kept: RowsAlone,
        strategy: str = "bootstrap",
        *,
        go_on: bool = False,
        counted: StratumState | None = None,
    ) -> Followed:
        """All rows by rounds, from nothing or from those there are; and the state like `counted`,
        if there is one.
        """
        before = self._context.work
        fixpoint = MonotoneFixpoint(
            self._schemas, self._found, self._rules, self._versions, self._context
        )
        old = {name: self._versions[name] for name in self._schemas}
        if go_on:
            fixpoint.go_on(
                old, {name: delta.inserts for name, delta in self._changed.items()}, self._came
            )
        else:
            fixpoint.start()
        rows = fixpoint.finish()
        deltas = {
            name: rows[name].difference(old[name])
            if go_on
            else old[name].change_to(rows[name].columns())
            for name in rows
        }
        steps = self._context.work - before
        work = (
            STEP * steps
            + ITERATION * fixpoint.rounds
            + fixpoint.few.effort
            + ROW_ALONE * sum(version.count for version in rows.values())
        )
        known = sum(version.count for version in old.values())
        most = not go_on or 2 * known < sum(version.count for version in rows.values())
        after: Kept = replace(kept, work=work, steps=steps) if most else kept
        if counted is not None:
            after = self._proven(counted, rows, work, self._versions) or after
        return Followed(deltas, after, strategy, self._change.rows)

    def _proven(
        self, like: StratumState, rows: Relations, work: int, below: Relations
    ) -> Kept | None:
        """The state with these rows over relations `below`, `work` being what they took: less than
        evaluation from nothing if there were rows to go on from.
        """
        try:
            state = prove(like, self._rules, rows, below, self._context)
        except OverflowError:
            return UNCOUNTABLE
        if state is None:
            return given_up(like.failures + 1)
        return replace(
            state,
            work=max(like.work, state.work + work),
            spent=like.spent,
            changes=like.changes,
            failures=like.failures,
        )
