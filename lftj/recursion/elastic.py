"""A recursive stratum at a commit: updated or bootstrapped, whichever is expected to cost less [Elastic 5].

An update may take `Context.fraction` of the kernel steps of the last counted bootstrap; one that needs more is given up without trace,
since states are immutable. One that is expected to need more, by the share of the rows below that changed or by what earlier updates took
for each changed row, is not started. Work is counted, not timed, so the choice is the same on every machine.

Counting proofs costs a bootstrap a multiple, and many strata never change, or only as a whole. So the first bootstrap finds rows alone, and
the state is built when a small change comes: by a bootstrap on the new input that counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

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
from lftj.storage.relation import RelationVersion
from scantree.rows import difference

ALWAYS = 20_000
"""Kernel steps that an update may take in any case."""


STRATUM = "#stratum "
"""What the keys of strata among the states of relations begin with."""


@dataclass(frozen=True)
class RowsAlone:
    """What is kept of a stratum whose rows were found without counting: the kernel steps it took."""

    work: int


Kept = StratumState | RowsAlone


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
    if not context.keep or kept is None or not _countable(stratum):
        return _rows_alone(schemas, rules, versions, context, "bootstrap")
    changed, share = _changes(stratum, versions)
    if isinstance(kept, RowsAlone):
        if share * kept.work > max(ALWAYS, context.fraction * kept.work):
            return _rows_alone(schemas, rules, versions, context, "bootstrap")
        return _counted(StratumState.empty(schemas, context.arena), rules, versions, context, "bootstrap")
    allowed = max(ALWAYS, int(context.fraction * kept.work))
    strategy = "forecast"
    if max(share * kept.work, kept.expected(changed)) <= allowed:
        before = context.work
        strategy = "fallback"
        try:
            return _updated(kept, rules, versions, context, allowed, changed)
        except AllowanceSpentError:
            kept = kept.experienced(context.work - before, changed)
        except ValueRangeError:
            # A row that only an erased and an inserted row make together exists in no version: a bootstrap decides about failures.
            pass
    # Where large changes follow one another nothing is counted; one among small ones is counted at once.
    return (_counted if kept.used else _rows_alone_of)(kept, rules, versions, context, strategy)


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
    before = context.work
    update = ElasticUpdate(kept, rules, versions, context)
    context.allowance = allowed
    try:
        state, deltas = update.run()
    finally:
        context.allowance = None
    state = replace(state.experienced(context.work - before, changed), used=True)
    return Followed(deltas, state, "update", changed, update.assignments)


def _counted(kept: StratumState, rules: list[NormalRule], versions: Versions, context: Context, strategy: str) -> Followed:
    queries = kept.queries_of(rules)
    state = elastic_bootstrap(kept.schemas, queries, versions, context)
    state = replace(state, steps=kept.steps, changes=kept.changes)
    rows = {name: relation.rows() for name, relation in state.relations.items()}
    return Followed(_net(rows, versions), state, strategy)


def _rows_alone_of(kept: StratumState, rules: list[NormalRule], versions: Versions, context: Context, strategy: str) -> Followed:
    return _rows_alone(kept.schemas, rules, versions, context, strategy)


def _rows_alone(
    schemas: Mapping[str, RelationSchema], rules: list[NormalRule], versions: Versions, context: Context, strategy: str
) -> Followed:
    before = context.work
    rows = bootstrap(schemas, rules, versions, context)
    return Followed(_net(rows, versions), RowsAlone(context.work - before), strategy)


def _net(rows: Mapping[str, Columns], versions: Versions) -> dict[str, Delta]:
    return {name: _change(versions[name], columns) for name, columns in rows.items()}


def _change(old: RelationVersion, rows: Columns) -> Delta:
    if not old.count:
        return Delta(rows, [np.empty(0, np.int64) for _ in rows])
    before = old.columns()
    return Delta(difference(rows, before), difference(before, rows))
