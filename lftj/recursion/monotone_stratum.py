"""A recursive stratum with `min` or `max` at a commit: continued after insertions, evaluated anew after anything else."""

from __future__ import annotations

from collections.abc import Mapping

from lftj.join.context import Context
from lftj.maintain.versions import Versions
from lftj.program.monotone import lattices
from lftj.program.normal_form import NormalRule, RelationSchema, Stratum
from lftj.recursion.elastic import Followed, Kept, RowsAlone
from lftj.recursion.monotone import MonotoneFixpoint
from lftj.storage.database import base_name
from lftj.storage.delta import Delta, no_rows
from lftj.storage.relation import RelationVersion
from scantree.rows import difference


def follow_monotone(
    stratum: Stratum, schemas: Mapping[str, RelationSchema], kept: Kept | None, versions: Versions, context: Context, *, same_rules: bool
) -> Followed | None:
    """Bring such a stratum up to date; None for one without such a relation. `same_rules`: they are those that made the present rows.

    Raises what evaluation raises; nothing given is changed.
    """
    found = lattices(stratum.rules)
    if not found:
        return None
    rules = [rule for rule in stratum.rules if isinstance(rule, NormalRule)]
    fixpoint = MonotoneFixpoint(schemas, found, rules, versions, context)
    old = {name: versions[name] for name in schemas}
    changed = {name: versions.deltas[name] for name in {*stratum.reads, *map(base_name, schemas)} & versions.deltas.keys()}
    strategy = "update" if kept is not None and same_rules and _grown(rules, changed) else "bootstrap"
    if strategy == "update":
        fixpoint.go_on(old, {name: delta.inserts for name, delta in changed.items()})
    else:
        fixpoint.start()
    rows = fixpoint.finish()
    deltas = {name: rows[name].difference(old[name]) if strategy == "update" else _net(old[name], rows[name]) for name in schemas}
    return Followed(deltas, RowsAlone(), strategy, sum(map(len, changed.values())))


def _grown(rules: list[NormalRule], changed: Mapping[str, Delta]) -> bool:
    """Can these changes only have added to what the rules derive?"""
    negated = {atom.relation for rule in rules for atom in rule.negated}
    return negated.isdisjoint(changed) and not any(delta.erased for delta in changed.values())


def _net(old: RelationVersion, new: RelationVersion) -> Delta:
    """The change from one set of rows to another that did not come from it. O(n)."""
    if not old.count:
        return Delta(new.columns(), no_rows(old.schema.arity))
    before, after = old.columns(), new.columns()
    return Delta(difference(after, before), difference(before, after))
