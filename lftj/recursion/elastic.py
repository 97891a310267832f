"""A recursive stratum at a commit: updated or bootstrapped, whichever is expected to cost less [Elastic 5].

An update's share is `Context.fraction` of the last bootstrap that counted. One that is expected to need twice that, by the share of the
rows below that changed, or three times, by what earlier updates took for each changed row, is not started. One that runs is given up at
five times its share, by default what the bootstrap took, without trace, since states are immutable. Work is counted, not timed, so the
choice is the same on every machine.

Counting proofs costs a bootstrap a multiple, and many strata never change, or only as a whole. So the first bootstrap finds rows alone, and
the state is built when a small change comes: by a bootstrap on the new input that counts. Where updates keep being given up, more and more
changes go by before that is tried again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lftj.errors import ValueRangeError
from lftj.join.context import AllowanceSpentError, Context
from lftj.join.evaluate import Columns
from lftj.maintain.versions import Versions
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema, Stratum
from lftj.recursion.bootstrap import bootstrap
from lftj.recursion.candidates import decided_group_by_group
from lftj.recursion.decomposable import decompose
from lftj.recursion.effort import CHANGED, ROW_ALONE, STEP, TOUCHED
from lftj.recursion.elastic_bootstrap import elastic_bootstrap
from lftj.recursion.elastic_update import ElasticUpdate
from lftj.recursion.readiness import make_ready
from lftj.recursion.stratum_state import StratumState
from lftj.storage.database import base_name
from lftj.storage.delta import Delta

ALWAYS = 4_000_000
"""What an update may cost in any case (see `effort`): some twenty milliseconds."""
_RUN_ON = 5  # as many times its share an update may take once it runs: what it took is lost when a bootstrap follows
_BEYOND = 2  # how much more than it was allowed a given-up update is taken to need
_NO_LIMIT = 1 << 62
_MANY = 1000  # changed rows below which no share of a relation is too large
_USUAL = 0.01  # share of the rows that changes to make ready for are taken to move
_FEW_STEPS = 8  # kernel steps for a given row of a stratum up to which proofs are counted from the beginning
_WORTH = 2  # as many times its share a forecast may say, going by a bootstrap alone
_SEEN_WORTH = 3  # the same, going by earlier updates


STRATUM = "#stratum "
"""What the keys of strata among the states of relations begin with."""


@dataclass(frozen=True)
class RowsAlone:
    """What is kept of a stratum whose rows were found without counting.

    `failures`: updates in a row that were given up before; `patience`: commits to go without another try, twice as many at each failure.
    `work` and `steps`: what the bootstrap cost (see `effort`), and its kernel steps; 0 when nothing is known.
    """

    failures: int = 0
    patience: int = 0
    work: int = 0
    steps: int = 0


Kept = StratumState | RowsAlone
_NOTHING = RowsAlone()
_UNCOUNTABLE = RowsAlone(patience=1 << 20)


@dataclass(frozen=True)
class Followed:
    """A stratum after a commit: net changes of its relations, what is kept, the strategy (as in `RuleWork`), and counters."""

    deltas: dict[str, Delta]
    kept: Kept
    strategy: str
    changed: int = 0
    assignments: int = 0


def stratum_key(relations: Iterable[str]) -> str:
    """The name under which a stratum's state is kept among those of relations."""
    return STRATUM + " ".join(sorted(relations))


def follow(stratum: Stratum, schemas: Mapping[str, RelationSchema], kept: Kept | None, versions: Versions, context: Context) -> Followed:
    """Bring a recursive stratum up to date. Raises what evaluation raises; nothing given is changed."""
    rules = [rule for rule in stratum.rules if isinstance(rule, NormalRule)]
    if not decided_group_by_group(schemas):
        return _rows_alone(schemas, stratum.rules, versions, context, strategy="choice")
    if not context.keep or not context.fraction or not _countable(stratum):
        return _rows_alone(schemas, stratum.rules, versions, context)
    if not isinstance(kept, StratumState) and (rows := _newly_given(stratum, versions, first=kept is None)):
        context.allowance = _FEW_STEPS * rows
        try:
            return _counted(StratumState.empty(schemas, context.arena), rules, versions, context, "bootstrap", ready=True)
        except AllowanceSpentError:
            pass
        finally:
            context.allowance = None
    if kept is None:
        return _rows_alone(schemas, stratum.rules, versions, context)
    change = _changes(stratum, versions)
    large = change.rows > _MANY and change.share > context.fraction
    if isinstance(kept, StratumState):
        return _updated_or_not(kept, rules, versions, context, change, large)
    if large or (kept.work and change.effort(kept.steps) > max(ALWAYS, _WORTH * context.fraction * kept.work)):
        return _rows_alone(schemas, rules, versions, context, RowsAlone(kept.failures, kept.patience))
    if kept.patience and not math.isinf(context.fraction):
        return _rows_alone(schemas, rules, versions, context, RowsAlone(kept.failures, kept.patience - 1))
    return _counted(replace(StratumState.empty(schemas, context.arena), failures=kept.failures), rules, versions, context, "bootstrap")


def _updated_or_not(
    kept: StratumState, rules: list[NormalRule], versions: Versions, context: Context, change: _Change, large: bool
) -> Followed:
    share = _NO_LIMIT if math.isinf(context.fraction) else int(context.fraction * kept.work)
    allowed = max(_WORTH * ALWAYS, _RUN_ON * share)
    strategy = "forecast"
    expected = kept.expected(change.rows)
    least = max(ALWAYS, share)
    hopeless = change.effort(kept.steps) > _WORTH * least if expected is None else expected > _SEEN_WORTH * least
    if not large and not hopeless:
        strategy = "fallback"
        try:
            return _updated(kept, rules, versions, context, allowed, change.rows)
        except AllowanceSpentError:
            kept = kept.experienced(_BEYOND * allowed, change.rows)
        except (ValueRangeError, OverflowError):
            # A row that only an erased and an inserted row make together exists in no version: a bootstrap decides about failures.
            pass
    # Where one large change follows another nothing is counted; one among small ones is counted at once.
    if kept.used:
        return _counted(kept, rules, versions, context, strategy)
    failures = kept.failures + (strategy == "fallback")
    return _rows_alone(kept.schemas, rules, versions, context, RowsAlone(failures, (1 << failures) - 1), strategy)


def _countable(stratum: Stratum) -> bool:
    return not any(isinstance(rule, FunctorRule) or rule.aggregates for rule in stratum.rules)


def _newly_given(stratum: Stratum, versions: Versions, first: bool) -> int:
    """How many rows were given to the stratum's own relations, if that is most of what it reads and most of them are new; else 0.

    Where little follows from what is given, changes are cheap to follow and counting costs little beside storing the rows: so it is tried
    at once, and given up when more follows.
    """
    own = [name for name in map(base_name, stratum.relations) if name in versions]
    rows = sum(versions[name].count for name in own)
    new = rows if first else sum(versions.deltas[name].inserted for name in own if name in versions.deltas)
    others = sum(versions[name].count for name in stratum.reads - {*stratum.relations, *own})
    return rows if rows > max(others, _MANY) and 2 * new > rows else 0


@dataclass(frozen=True)
class _Change:
    """What changed below a stratum: how many rows, the largest share of a relation that they are, and the sum of these shares."""

    rows: int
    share: float
    shares: float

    def effort(self, steps: int) -> float:
        """What an update will cost, going by a bootstrap of so many steps: rows that change took part in as many of them as other rows."""
        return CHANGED * self.rows + TOUCHED * steps * self.shares


def _changes(stratum: Stratum, versions: Versions) -> _Change:
    """What changed of what the stratum reads."""
    changed, share, shares = 0, 0.0, 0.0
    for name in {*stratum.reads, *map(base_name, stratum.relations)} & versions.deltas.keys():
        delta, rows = len(versions.deltas[name]), versions[name].count
        changed += delta
        share = max(share, delta / max(rows, delta))
        shares += delta / max(rows, delta)
    return _Change(changed, share, shares)


def _updated(kept: StratumState, rules: list[NormalRule], versions: Versions, context: Context, allowed: int, changed: int) -> Followed:
    """Raises AllowanceSpentError."""
    update = ElasticUpdate(kept, rules, versions, context)
    context.allowance = allowed
    try:
        state, deltas = update.run()
        spent = allowed - (context.allowance or 0)
    finally:
        context.allowance = None
    state = replace(state.experienced(spent, changed), used=True, failures=0)
    return Followed(deltas, state, "update", changed, update.assignments)


def _counted(
    kept: StratumState, rules: list[NormalRule], versions: Versions, context: Context, strategy: str, *, ready: bool = False
) -> Followed:
    try:
        state = elastic_bootstrap(kept.schemas, kept.queries_of(rules), versions, context)
    except OverflowError:
        return _rows_alone(kept.schemas, rules, versions, context, _UNCOUNTABLE, strategy)
    if ready:
        make_ready(state, rules, versions, context, _USUAL)
    state = replace(state, spent=kept.spent, changes=kept.changes, failures=kept.failures)
    rows = {name: relation.rows() for name, relation in state.relations.items()}
    return Followed(_net(rows, versions), state, strategy)


def _rows_alone(
    schemas: Mapping[str, RelationSchema],
    rules: Sequence[NormalRule | FunctorRule],
    versions: Versions,
    context: Context,
    kept: RowsAlone = _NOTHING,
    strategy: str = "bootstrap",
) -> Followed:
    before = context.work
    found = bootstrap(schemas, rules, versions, context)
    steps = context.work - before
    rows = sum(len(columns[0]) for columns in found.values())
    normal = [rule for rule in rules if isinstance(rule, NormalRule)]
    work = ROW_ALONE * rows + steps * (1 if decompose(schemas, normal) else STEP)
    return Followed(_net(found, versions), replace(kept, work=work, steps=steps), strategy)


def _net(rows: Mapping[str, Columns], versions: Versions) -> dict[str, Delta]:
    return {name: versions[name].change_to(columns) for name, columns in rows.items()}
