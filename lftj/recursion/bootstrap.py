"""Semi-naïve evaluation of a recursive stratum from nothing [Elastic, Algorithm 2, without its counts].

Each round evaluates every recursive rule once per atom of the stratum, that atom reading only the rows that were new in the round before,
atoms of the stratum before it only older rows, those after it all rows: so an instantiation is found once, by its first new row.
A candidate's way is: kernel → row set (is it new?) → next round's delta. The whole relation is kept as a tree only where some rule joins it
with a delta.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lftj.join.context import Context
from lftj.join.evaluate import Columns, Relations, chunks, plan_rule
from lftj.join.plan import RulePlan
from lftj.maintain.full import derive
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.recursion.decomposable import decompose
from lftj.recursion.parts import close_parts
from lftj.recursion.ranges import ranges_of_types
from lftj.recursion.row_set import RowSet
from lftj.recursion.variants import Variant, delta_name, older_name, recursive_atoms, variants
from lftj.storage.database import base_name
from lftj.storage.delta import Delta, no_rows
from lftj.storage.loose_rows import AnyOrder, LooseRows
from lftj.storage.relation import RelationVersion
from scantree.rows import union

_REPLAN = 8  # growth or shrinkage of a delta after which a variable order is chosen anew
_SMALL = 1000  # deltas for which no order is so bad that choosing another pays
_STEPS_PER_ROW = 4  # kernel steps for a row of the delta or of the output; what is beyond went into rows that were of no use
_ORDER_COST = 4  # kernel steps that a row costs in a new key order
_PLAN_COST = 50_000  # kernel steps in the time that choosing a variable order takes


def bootstrap(schemas: Mapping[str, RelationSchema], rules: list[NormalRule], relations: Relations, context: Context) -> dict[str, Columns]:
    """The rows of all relations of one recursive stratum, from their base rows and the relations below."""
    if shape := decompose(schemas, rules):
        seeds = [rule for rule in rules if not recursive_atoms(rule, schemas)]
        first = _round_0(schemas[shape.relation], seeds, relations, context)
        return {shape.relation: close_parts(shape, first, relations, context)}
    fixpoint = _Fixpoint(schemas, rules, relations, context)
    fixpoint.start()
    while fixpoint.active:
        fixpoint.round()
    return {name: rows.columns() for name, rows in fixpoint.rows.items()}


def _round_0(schema: RelationSchema, seeds: list[NormalRule], relations: Relations, context: Context) -> Columns:
    """The base rows of a relation, and what its rules that read nothing of the stratum derive; sorted."""
    rows = derive(schema, seeds, relations, context)
    base = base_name(schema.name)
    return union(rows, relations[base].columns()) if base in relations else rows


class _Fixpoint:
    def __init__(self, schemas: Mapping[str, RelationSchema], rules: list[NormalRule], relations: Relations, context: Context):
        self.schemas = schemas
        self.context = context
        below = {name for rule in rules for name in rule.reads} | set(map(base_name, schemas))
        self.lower = {name: relations[name] for name in below - set(schemas) if name in relations}
        self.seeds = [rule for rule in rules if not recursive_atoms(rule, schemas)]
        self.variants = [variant for rule in rules for variant in variants(rule, schemas)]
        read = {atom.relation for variant in self.variants for atom in variant.rule.atoms}
        # relations that are read whole, not just their deltas
        self.kept = [name for name in schemas if name in read or older_name(name) in read]
        self.total_of = {older_name(name): name for name in self.kept}
        self.rows: dict[str, RowSet] = {}
        self.deltas: dict[str, LooseRows] = {}
        self.older: dict[str, RelationVersion] = {}
        self.totals = {name: RelationVersion.empty(schemas[name], context.arena) for name in self.kept}

    @property
    def active(self) -> bool:
        return any(delta.count for delta in self.deltas.values())

    def start(self) -> None:
        """Round 0: base rows and the rules that read nothing of the stratum."""
        ranges = ranges_of_types(self.lower.values(), {type for schema in self.schemas.values() for _, type in schema.columns})
        for name, schema in self.schemas.items():
            seeds = [rule for rule in self.seeds if rule.relation == name]
            first = _round_0(schema, seeds, self.lower, self.context)
            expected = [ranges.get(type, (0, 0)) for _, type in schema.columns] or [(0, 0)]
            lows, highs = np.array(expected, np.int64).T.copy()
            self.rows[name] = RowSet(len(first), lows, highs)
            self.rows[name].add(np.array(first, np.int64), np.arange(len(first)))
        self._next_round()

    def _next_round(self) -> None:
        """Make the fresh rows the deltas, and add them to the totals."""
        for name, schema in self.schemas.items():
            fresh = self.rows[name].take_fresh(ordered=name in self.totals)
            self.deltas[name] = LooseRows(replace(schema, name=delta_name(name), key=None), self.context.arena, fresh)
        for name in self.kept:
            self.older[name] = self.totals[name]
            self.totals[name] = self.older[name].apply(Delta(self.deltas[name].columns(), no_rows(self.schemas[name].arity)))

    def round(self) -> None:
        """One iteration."""
        deltas = {delta_name(name): delta for name, delta in self.deltas.items()}
        readable = {**self.lower, **self.totals, **{older_name(name): older for name, older in self.older.items()}, **deltas}
        for variant in self.variants:
            if not all(readable[atom.relation].count for atom in variant.rule.atoms):
                continue
            self._run(variant, readable)
        self._next_round()

    def _run(self, variant: Variant, readable: Relations) -> None:
        """Add what one variant derives to the rows of its head."""
        plan = self._plan(variant, readable)
        target = self.rows[variant.rule.relation]
        before, found = self.context.work, 0
        for piece in chunks(plan, readable, self.context):
            found += piece.shape[1]
            target.add(piece if len(variant.picks) else np.zeros((1, 1), np.int64), variant.picks if len(variant.picks) else _FIRST)
        useful = _STEPS_PER_ROW * (self.deltas[variant.source].count + found)
        variant.wasted += max(0, self.context.work - before - useful)

    def _plan(self, variant: Variant, readable: Relations) -> RulePlan:
        """The plan of a variant; a new one when the delta is another size than before, or when the old one cost as much as a key order."""
        size = self.deltas[variant.source].count
        few, many = sorted((size, variant.planned_for))
        stale = many > few * _REPLAN and many > _SMALL
        seen = readable
        own = [name for name in variant.rule.reads if name not in self.lower]
        price = max(_PLAN_COST, _ORDER_COST * sum(readable[name].count for name in own))
        if variant.wasted > price << variant.tries:
            seen = {**readable, **{name: AnyOrder(readable[name]) for name in own if name != delta_name(variant.source)}}
            stale, variant.wasted = True, 0
            variant.tries += 1
        if variant.plan is None or stale:
            variant.plan = plan_rule(variant.rule, seen, self.context, needed=variant.needed, count=False)
            variant.planned_for = size
            self._keep_orders(variant.plan)
        return variant.plan

    def _keep_orders(self, plan: RulePlan) -> None:
        """Older rows are all rows of the round before: an order that they need has to be there by then."""
        for name, order in plan.key_orders():
            if name in self.total_of:
                self.totals[self.total_of[name]].tree(order)


_FIRST = np.zeros(1, np.int64)
