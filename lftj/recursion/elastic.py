"""A recursive stratum at a commit: updated or bootstrapped, whichever is expected to cost less [Elastic 5].

An update may cost `Context.fraction` of the last bootstrap that counted; one that needs more is given up without trace,
since states are immutable. One that is expected to need more, by the share of the rows below that changed or by what earlier updates took
for each changed row, is not started. Work is counted, not timed, so the choice is the same on every machine.

Counting proofs costs a bootstrap a multiple, and many strata never change, or only as a whole. So the first bootstrap finds rows alone, and
the state is built when a small change comes: by a bootstrap on the new input that counts. Where updates keep being given up, more and more
changes go by before that is tried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lftj.errors import ValueRangeError
from lftj.join.context import AllowanceSpentError, Context
from lftj.join.evaluate import Columns
from lftj.maintain.versions import Versions
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema, Stratum
from lftj.recursion.bootstrap import bootstrap
from lftj.recursion.elastic_bootstrap import elastic_bootstrap
from lftj.recursion.elastic_update import ElasticUpdate
from lftj.recursion.stratum_state import StratumState
from lftj.storage.database import base_name
from lftj.storage.delta import Delta

ALWAYS = 1_000_000
"""What an update may cost in any case (see `effort`): some milliseconds."""
_BEYOND = 2  # how much more than it was allowed a given-up update is taken to need
_MANY = 1000  # changed rows below which an update is always tried


STRATUM = "#stratum "
"""What the keys of strata among the states of relations begin with."""


@dataclass(frozen=True)
class RowsAlone:
    """What is kept of a stratum whose rows were found without counting.

    `failures`: updates in a row that were given up before; `patience`: commits to go without another try, twice as many at each failure.
    """

    failures: int = 0
    patience: int = 0


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
    if any(schema.choice for schema in schemas.values()):
        return _rows_alone(schemas, stratum.rules, versions, context, strategy="choice")
    if not context.keep or kept is None or not _countable(stratum):
        return _rows_alone(schemas, stratum.rules, versions, context)
    changed, share = _changes(stratum, versions)
    large = changed > _MANY and share > context.fraction
    if isinstance(kept, StratumState):
        return _updated_or_not(kept, rules, versions, context, changed, large)
    if large:
        return _rows_alone(schemas, rules, versions, context, RowsAlone(kept.failures, kept.patience))
    if kept.patience:
        return _rows_alone(schemas, rules, versions, context, RowsAlone(kept.failures, kept.patience - 1))
    return _counted(replace(StratumState.empty(schemas, context.arena), failures=kept.failures), rules, versions, context, "bootstrap")


def _updated_or_not(
    kept: StratumState, rules: list[NormalRule], versions: Versions, context: Context, changed: int, large: bool
) -> Followed:
    allowed = max(ALWAYS, int(context.fraction * kept.work))
    strategy = "forecast"
    if changed <= _MANY or not (large or kept.expected(changed) > allowed):
        strategy = "fallback"
        try:
            return _updated(kept, rules, versions, context, allowed, changed)
        except AllowanceSpentError:
            kept = kept.experienced(_BEYOND * allowed, changed)
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


def _changes(stratum: Stratum, versions: Versions) -> tuple[int, float]:
    """How many rows changed of what the stratum reads, and the largest share of a relation that did."""
    changed, share = 0, 0.0
    for name in {*stratum.reads, *map(base_name, stratum.relations)} & versions.deltas.keys():
        delta, rows = len(versions.deltas[name]), versions[name].count
        changed += delta
        share = max(share, delta / max(rows, delta))
    return changed, share


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


def _counted(kept: StratumState, rules: list[NormalRule], versions: Versions, context: Context, strategy: str) -> Followed:
    try:
        state = elastic_bootstrap(kept.schemas, kept.queries_of(rules), versions, context)
    except OverflowError:
        return _rows_alone(kept.schemas, rules, versions, context, _UNCOUNTABLE, strategy)
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
    return Followed(_net(bootstrap(schemas, rules, versions, context), versions), kept, strategy)


def _net(rows: Mapping[str, Columns], versions: Versions) -> dict[str, Delta]:
    return {name: versions[name].change_to(columns) for name, columns in rows.items()}
