"""A relation that does not depend on itself, at a commit: updated, or evaluated in full, whichever
is expected to cost less [Elastic].

It is evaluated in full when there is no state to start from, and when an update costs more than
`Context.fraction` of the last full evaluation; work is counted in kernel steps, so the choice is
the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lftj.errors import ValueRangeError
from lftj.heads.choice import choose
from lftj.join.context import AllowanceSpentError, Context
from lftj.join.run.evaluate import Columns
from lftj.maintenance.inputs.rule_work import RuleWork, moment
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.rules.chosen_state import ChosenState, change_of_choice, one_domain
from lftj.maintenance.rules.commit_heads import CommitHeads
from lftj.maintenance.rules.full import derive
from lftj.maintenance.rules.initial_evaluation import establish
from lftj.maintenance.rules.rule_state import RelationState
from lftj.maintenance.rules.update import ForecastError, update
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import Delta
from scantree.rows import union

_FOLD = 1e6  # as much as no update needs
_ALWAYS = 20_000  # kernel steps that an update may take in any case: less than a millisecond
# and so many while they are less than `_SHARE` of a full evaluation, which also has to sort and
# compare all rows
_SOON = 60_000
_SHARE = 0.7


class Maintained(NamedTuple):
    """A relation after a commit: the net change of its rows, its state (None where nothing is
    kept), and what was done.
    """

    delta: Delta
    state: RelationState | None = None
    works: Sequence[RuleWork] = ()


Rules = tuple[NormalRule | FunctorRule, ...]


def maintain(
    schema: RelationSchema,
    rules: Rules,
    state: RelationState | None,
    versions: Versions,
    context: Context,
    heads: CommitHeads,
) -> Maintained:
    """Bring a relation with these rules up to date, from `state`. Raises what evaluation raises;
    nothing given is changed.
    """
    if schema.choice and not (context.keep and one_domain(schema)):
        return _chosen(schema, rules, versions, context)
    if not context.keep:
        return Maintained(
            versions[schema.name].change_to(_all_rows(schema, rules, versions, context))
        )
    if isinstance(state, ChosenState) != bool(schema.choice):
        state = None
    before = context.work
    strategy = "full"
    if state is not None:
        allowed = _allowed(sum(rule.work for rule in state.rules), context.fraction)
        try:
            delta, after, works = update(schema, state, rules, versions, context, heads, allowed)
        except (AllowanceSpentError, ValueRangeError):
            # A row that only an erased and an inserted row make together exists in no version: full
            # evaluation decides about failures.
            strategy = "fallback"
        except ForecastError:
            strategy = "forecast"
        else:
            if not isinstance(state, ChosenState):
                return Maintained(delta, after, works)
            kept = state.after(after, delta)
            return Maintained(
                _change_of_choice(schema, kept, delta, versions, context), kept, works
            )
    spent = context.work - before
    rows, after, works = establish(schema, rules, versions, context, heads, strategy, state)
    if works:
        works[0].steps += spent
    if schema.choice:
        after = ChosenState.of(schema, rows, after, context.arena)
        rows = choose(schema, rows, context.dictionary)
    return Maintained(versions[schema.name].change_to(rows), after, works)


def _allowed(full: int, fraction: float) -> int:
    """Kernel steps that an update may take where full evaluation took `full`."""
    return (
        max(_ALWAYS, int(min(fraction, _FOLD) * full), min(_SOON, int(_SHARE * full)))
        if fraction
        else _ALWAYS
    )


def _all_rows(
    schema: RelationSchema, rules: Rules, versions: Versions, context: Context
) -> Columns:
    """Full evaluation that keeps nothing."""
    rows = derive(schema, rules, versions, context)
    base = base_name(schema.name)
    return union(rows, versions[base].columns()) if base in versions else rows


def _change_of_choice(
    schema: RelationSchema, kept: ChosenState, delta: Delta, versions: Versions, context: Context
) -> Delta:
    """The change of the rows chosen by one choice domain, after a change of its candidates."""
    return (
        change_of_choice(schema, versions[schema.name], kept.candidates, delta, context.dictionary)
        if len(delta)
        else delta
    )


def _chosen(
    schema: RelationSchema, rules: Rules, versions: Versions, context: Context
) -> Maintained:
    """A relation with several choice domains: all candidates anew, and the choice among them."""
    started, before = moment(), context.work
    candidates = _all_rows(schema, rules, versions, context)
    delta = versions[schema.name].change_to(choose(schema, candidates, context.dictionary))
    work = RuleWork(schema.name, "", "choice", steps=context.work - before, head_changes=len(delta))
    work.assignments = len(candidates[0])
    work.since(started)
    return Maintained(delta, works=(work,))
