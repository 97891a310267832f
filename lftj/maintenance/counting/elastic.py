"""A recursive stratum at a commit: updated or bootstrapped, whichever is expected to cost less
[Elastic 5].

An update's share is `Context.fraction` of the last bootstrap that counted. One that is expected to
need twice that, by the share of the rows below that changed, or three times, by what earlier
updates took for each changed row, is not started. One that runs is given up at five times its
share, by default what the bootstrap took, without trace. Work is counted, not timed, so the choice
is the same everywhere.

Counting proofs costs a bootstrap a multiple, and many strata never change, or only as a whole. So
the first bootstrap finds rows alone, and the state is built when a small change comes that cannot
be followed by these alone (`dred`): by a bootstrap on the new input that counts. Where
updates keep being given up, more and more changes go by before that is tried again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from lftj.errors import ValueRangeError
from lftj.join.context import AllowanceSpentError, Context
from lftj.join.run.evaluate import Columns
from lftj.maintenance.bootstrap import bootstrap
from lftj.maintenance.cost.cost_model import Meter
from lftj.maintenance.counting.choosing import decided_group_by_group
from lftj.maintenance.counting.elastic_bootstrap import elastic_bootstrap
from lftj.maintenance.counting.elastic_update import ElasticUpdate
from lftj.maintenance.counting.forecast import (
    Change,
    allowance,
    changes_below,
    disappointed,
    make_ready,
)
from lftj.maintenance.counting.long_chains import LongChainError, Patience, updated_from_nothing
from lftj.maintenance.counting.stratum_state import StratumState
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.separable.decomposable import decompose
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema, Stratum
from lftj.storage.database import base_name
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion

_MANY = 1000  # rows below which nothing is tried at once
_FEW_STEPS = (
    8  # kernel steps for a given row of a stratum up to which proofs are counted from the beginning
)


@dataclass(frozen=True)
class RowsAlone:
    """What is kept of a stratum whose rows were found without counting.

    `failures`: updates in a row that were given up before; `patience`: commits to go without
    another try, twice as many at each failure. `work` and `steps`: what the bootstrap cost (see
    `effort`), and its kernel steps; 0 when nothing is known. `counting`: what one that counts is
    expected to cost. `regret`: what changes have taken since then that counts would have saved.
    `rounds`: what the rounds of an evaluation of parts cost, however little they found.
    """

    failures: int = 0
    patience: int = 0
    work: int = 0
    steps: int = 0
    counting: int = 0
    regret: int = 0
    rounds: int = 0
    bytes = 0
    """Kept beside the rows."""


Kept = StratumState | RowsAlone
_NOTHING = RowsAlone()
UNCOUNTABLE = RowsAlone(patience=1 << 20)
"""Of a stratum in which a row has more proofs than can be counted."""


@dataclass(frozen=True)
class Followed:
    """A stratum after a commit: net changes of its relations, what is kept, the strategy (as in
    `RuleWork`), and counters.

    `versions`: the relations after it, where they are made already.
    """

    deltas: dict[str, Delta]
    kept: Kept
    strategy: str
    changed: int = 0
    assignments: int = 0
    versions: Mapping[str, RelationVersion] = field(default_factory=dict)


def follow(
    stratum: Stratum,
    schemas: Mapping[str, RelationSchema],
    kept: Kept | None,
    versions: Versions,
    context: Context,
) -> Followed:
    """Bring a recursive stratum up to date. Raises what evaluation raises; nothing given is
    changed.
    """
    rules = [rule for rule in stratum.rules if isinstance(rule, NormalRule)]
    if isinstance(kept, StratumState) and kept.lattices:
        kept = None  # it kept the best of each group until now
    if not decided_group_by_group(schemas):
        return rows_alone(
            schemas, stratum.rules, versions, context, strategy="choice", long_chains=True
        )
    if not context.keep or not context.fraction or not countable(stratum):
        found = rows_alone(
            schemas, stratum.rules, versions, context, long_chains=not countable(stratum)
        )
        return (
            found if isinstance(found.kept, RowsAlone) else replace(found, kept=_NOTHING)
        )  # a state that nobody asked for
    if not isinstance(kept, StratumState) and (
        rows := _newly_given(stratum, versions, first=kept is None)
    ):
        context.allowance = _FEW_STEPS * rows
        try:
            return _counted(
                StratumState.empty(schemas, context.arena),
                rules,
                versions,
                context,
                "bootstrap",
                ready=True,
            )
        except AllowanceSpentError:
            pass
        finally:
            context.allowance = None
    if kept is None:
        return rows_alone(schemas, stratum.rules, versions, context)
    change = changes_below(stratum, versions)
    if isinstance(kept, StratumState):
        return _updated_or_not(kept, rules, versions, context, change)
    if (later := put_off(kept, change, context)) is not None:
        return rows_alone(schemas, rules, versions, context, later)
    return _counted(
        replace(StratumState.empty(schemas, context.arena), failures=kept.failures),
        rules,
        versions,
        context,
        "bootstrap",
    )


def put_off(kept: RowsAlone, change: Change, context: Context) -> RowsAlone | None:
    """What is kept where no state is built at this change; None where one is."""
    if change.large(context) or (kept.work and change.hopeless(kept.work, kept.steps, context)):
        return kept
    return (
        replace(kept, patience=kept.patience - 1)
        if kept.patience and not math.isinf(context.fraction)
        else None
    )


def given_up(failures: int) -> RowsAlone:
    """What is kept after so many updates in a row were given up."""
    return RowsAlone(failures, (1 << failures) - 1)


class Update(Protocol):
    """An update of a stratum that counts what it does. None for the state: from there it cannot be
    updated again.
    """

    assignments: int

    def run(self) -> tuple[StratumState | None, dict[str, Delta]]:
        """The new state, and the net changes. Raises what evaluation raises."""
        ...


class GivenUp(NamedTuple):
    """Why a stratum is evaluated anew, as strategies say it, and the state there was,
    knowing that.
    """

    strategy: str
    kept: StratumState

    @property
    def alone(self) -> RowsAlone:
        """What is kept if rows are all that is found then."""
        return given_up(self.kept.failures + (self.strategy == "fallback"))


def try_update(
    kept: StratumState, begin: Callable[[], Update], context: Context, change: Change
) -> Followed | GivenUp:
    """A stratum after an update, which is begun if it is worth it, and given up when it takes more
    than it may.
    """
    allowed = allowance(kept, change, context)
    if allowed is None:
        return GivenUp("forecast", kept)
    update = begin()
    context.allowance = allowed
    try:
        state, deltas = update.run()
        spent = allowed - (context.allowance or 0)
    except AllowanceSpentError:
        return GivenUp("fallback", disappointed(kept, allowed, change))
    except (ValueRangeError, OverflowError):
        # Rows that exist in no version may be looked at on the way, such as one that an erased and
        # an inserted row make together, and their values may leave their types: evaluation from
        # nothing decides about failures.
        return GivenUp("fallback", kept)
    finally:
        context.allowance = None
    after = (
        given_up(kept.failures + 1)
        if state is None
        else replace(state.experienced(spent, change.rows), used=True, failures=0)
    )
    return Followed(deltas, after, "update", change.rows, update.assignments)


def _updated_or_not(
    kept: StratumState,
    rules: list[NormalRule],
    versions: Versions,
    context: Context,
    change: Change,
) -> Followed:
    tried = try_update(kept, lambda: ElasticUpdate(kept, rules, versions, context), context, change)
    if isinstance(tried, Followed):
        return tried
    # Where one large change follows another nothing is counted; one among small ones is counted at
    # once.
    if tried.kept.used:
        return _counted(tried.kept, rules, versions, context, tried.strategy)
    return rows_alone(kept.schemas, rules, versions, context, tried.alone, tried.strategy)


def countable(stratum: Stratum) -> bool:
    """Whether proofs by a stratum's rules can be counted: by rules whose joins tell all there is to
    know.
    """
    return not any(isinstance(rule, FunctorRule) or rule.aggregates for rule in stratum.rules)


def _newly_given(stratum: Stratum, versions: Versions, first: bool) -> int:
    """How many rows were given to the stratum's own relations, if that is most of what it reads and
    most of them are new; else 0.

    Where little follows from what is given, changes are cheap to follow and counting costs little
    beside storing the rows: so it is tried at once, and given up when more follows.
    """
    own = [name for name in map(base_name, stratum.relations) if name in versions]
    rows = sum(versions[name].count for name in own)
    new = (
        rows
        if first
        else sum(versions.deltas[name].inserted for name in own if name in versions.deltas)
    )
    others = sum(versions[name].count for name in stratum.reads - {*stratum.relations, *own})
    return rows if rows > max(others, _MANY) and 2 * new > rows else 0


def _counted(
    kept: StratumState,
    rules: list[NormalRule],
    versions: Versions,
    context: Context,
    strategy: str,
    *,
    ready: bool = False,
) -> Followed:
    try:
        state = elastic_bootstrap(
            kept.schemas, kept.queries_of(rules), versions, context, Patience(context).after_round
        )
    except OverflowError:
        return rows_alone(
            kept.schemas, rules, versions, context, UNCOUNTABLE, strategy, long_chains=True
        )
    except LongChainError:
        return _by_moves(kept.schemas, rules, versions, context, kept, strategy)
    if ready:
        make_ready(state, rules, versions, context)
    state = replace(state, spent=kept.spent, changes=kept.changes, failures=kept.failures)
    return _stored(state, versions, strategy)


def rows_alone(
    schemas: Mapping[str, RelationSchema],
    rules: Sequence[NormalRule | FunctorRule],
    versions: Versions,
    context: Context,
    kept: RowsAlone = _NOTHING,
    strategy: str = "bootstrap",
    *,
    long_chains: bool = False,
) -> Followed:
    """The rows of a stratum from nothing, by rounds that count nothing, and `kept` with what they
    took.

    `long_chains`: whether rounds are run to the end, however long they are.
    """
    meter = Meter(context)
    try:
        found = bootstrap(
            schemas,
            rules,
            versions,
            context,
            None if long_chains else Patience(context).after_round,
        )
    except LongChainError:
        rules = [rule for rule in rules if isinstance(rule, NormalRule)]
        return _by_moves(schemas, rules, versions, context, kept, strategy)
    normal = [rule for rule in rules if isinstance(rule, NormalRule)]
    spent = meter.spent(
        sum(len(columns[0]) for columns in found.values()), decompose(schemas, normal) is not None
    )
    kept = replace(kept, **spent._asdict())
    return Followed(_net(found, versions), kept, strategy)


def _by_moves(
    schemas: Mapping[str, RelationSchema],
    rules: list[NormalRule],
    versions: Versions,
    context: Context,
    kept: Kept,
    strategy: str,
) -> Followed:
    """From nothing, where rounds would take long."""
    try:
        state = updated_from_nothing(schemas, rules, versions, context)
    except (ValueRangeError, OverflowError):  # evaluation by rounds decides about failures
        return rows_alone(
            schemas, rules, versions, context, given_up(kept.failures), strategy, long_chains=True
        )
    if isinstance(kept, StratumState):
        state = replace(state, spent=kept.spent, changes=kept.changes)
    return _stored(replace(state, failures=kept.failures), versions, strategy)


def _stored(state: StratumState, versions: Versions, strategy: str) -> Followed:
    rows = {name: relation.rows() for name, relation in state.relations.items()}
    return Followed(_net(rows, versions), state, strategy)


def _net(rows: Mapping[str, Columns], versions: Versions) -> dict[str, Delta]:
    return {name: versions[name].change_to(columns) for name, columns in rows.items()}
