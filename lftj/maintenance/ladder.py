"""A recursive stratum at a commit: the ways to follow it, in the order in which they are tried.

Best values have a way of their own (`lattice`). Other strata are followed by their rows alone
(`dred`), where that is expected to do; or the parts that the change touches are evaluated
anew (`affected_partitions`); what is left keeps counts of proofs, or begins anew (`elastic`).
"""

from __future__ import annotations

from collections.abc import Mapping

from lftj.join.context import Context
from lftj.maintenance.affected_partitions import TouchedParts, touched_parts
from lftj.maintenance.counting.elastic import Followed, Kept, RowsAlone, follow
from lftj.maintenance.counting.rule_change import NO_CHANGE, RuleChange
from lftj.maintenance.dred.by_rows import follow_by_rows, taken_over
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.lattice.lattice_stratum import follow_monotone
from lftj.program.normal_form import NormalRule, RelationSchema, Stratum
from lftj.program.stratification import Stratification


def follow_stratum(
    stratum: Stratum,
    schemas: Mapping[str, RelationSchema],
    kept: Kept | None,
    versions: Versions,
    context: Context,
    changed_rules: frozenset[str],
    was: Stratification | None,
) -> Followed:
    """Bring a recursive stratum up to date. Raises what evaluation raises; nothing given is
    changed.

    `kept`: what it was maintained with. `changed_rules`: relations that won or lost a rule, `was`:
    the strata that the rows there are follow from; without it a stratum of other rules begins anew.
    """
    rules = _rule_change(stratum, kept, context, changed_rules, was)
    known = taken_over(versions, schemas) if kept is None and rules is not None else kept
    if followed := follow_monotone(stratum, schemas, known, versions, context, rules):
        return followed
    parts = _parts(stratum, schemas, kept, versions, context) if rules is NO_CHANGE else None
    if rules is not None:
        share, told = (parts.share, parts.told) if parts else (1.0, True)
        followed = follow_by_rows(stratum, schemas, known, versions, context, share, rules, told)
    if followed is None and parts is not None and isinstance(kept, RowsAlone):
        followed = parts.evaluated(kept, versions, context)
    return followed or follow(stratum, schemas, kept, versions, context)


def _rule_change(
    stratum: Stratum,
    kept: Kept | None,
    context: Context,
    changed_rules: frozenset[str],
    was: Stratification | None,
) -> RuleChange | None:
    """How the rules of a stratum are others than those that its rows follow from; None where that
    cannot be told.
    """
    if kept is not None and changed_rules.isdisjoint(stratum.relations):
        return NO_CHANGE
    return RuleChange.of(stratum, was) if was is not None and context.keep else None


def _parts(
    stratum: Stratum,
    schemas: Mapping[str, RelationSchema],
    kept: Kept | None,
    versions: Versions,
    context: Context,
) -> TouchedParts | None:
    """The parts of a stratum that keeps no counts which a change can touch; None where it has no
    such parts.
    """
    rules = [rule for rule in stratum.rules if isinstance(rule, NormalRule)]
    if any(schema.choice for schema in schemas.values()) or len(rules) < len(stratum.rules):
        return None
    if not context.fraction or not isinstance(kept, RowsAlone):
        return None
    return touched_parts(schemas, rules, versions, context)
