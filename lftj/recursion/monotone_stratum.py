"""A recursive stratum with `min` or `max` at a commit: continued after insertions, evaluated anew after anything else."""

from __future__ import annotations

from collections.abc import Mapping

from lftj.join.context import Context
from lftj.maintain.versions import Versions
from lftj.program.monotone import lattices
from lftj.program.normal_form import NormalRule, RelationSchema, Stratum
from lftj.recursion.elastic import Followed, Kept, RowsAlone
from lftj.recursion.monotone import MonotoneFixpoint, net_change
from lftj.storage.database import base_name


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
    before = {name: versions[name] for name in schemas}
    names = {*stratum.reads, *map(base_name, schemas)} & versions.deltas.keys()
    changed = sum(len(versions.deltas[name]) for name in names)
    if kept is None or not same_rules or not _grown(rules, names, versions):
        fixpoint.begin()
        rows = fixpoint.run()
        return Followed({name: net_change(before[name], rows[name]) for name in schemas}, RowsAlone(), "bootstrap", changed)
    fixpoint.go_on(before, {name: versions.deltas[name].inserts for name in names})
    rows = fixpoint.run()
    return Followed({name: rows[name].difference(before[name]) for name in schemas}, RowsAlone(), "update", changed)


def _grown(rules: list[NormalRule], names: set[str], versions: Versions) -> bool:
    """Can the change of these relations only have added to what the rules derive?"""
    negated = {atom.relation for rule in rules for atom in rule.negated}
    return negated.isdisjoint(names) and not any(versions.deltas[name].erased for name in names)
