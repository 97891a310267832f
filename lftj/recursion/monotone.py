"""Recursive strata with relations that keep the least or greatest value of each group: semi-naïve evaluation with improvement.

A round's delta has the rows that are new, and of a relation that keeps one value per group the groups whose value became better, with that
value. Rules are evaluated as in `recursion.bootstrap`, each once for every atom that may match the delta; the best of what they offer a
group is compared with what it has. So a round costs in proportion to what improved, times the logarithm of the relation.

The rows are all there is to know: after insertions alone evaluation goes on from the rows there were, with what the inserted rows offer.
After anything else it begins from nothing, since what rested on a lost row cannot be told from the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lftj.heads.aggregate import AggregateCall, aggregate
from lftj.heads.values import by_value
from lftj.join.context import Context
from lftj.join.evaluate import Columns, Relations, evaluate, plan_rule, run_plan
from lftj.program.monotone import Lattice
from lftj.program.normal_form import AggregateTerm, NormalRule, PositiveAtom, Ref, RelationSchema
from lftj.recursion.variants import Variant, delta_name, older_name, recursive_atoms, variants
from lftj.storage.database import base_name
from lftj.storage.delta import Delta, no_rows
from lftj.storage.loose_rows import LooseRows
from lftj.storage.relation import RelationVersion
from scantree.rows import difference, sort_rows

_REPLAN = 8  # growth or shrinkage of a delta after which a variable order is chosen anew
_SMALL = 1000  # deltas for which no order is so bad that choosing another pays


class MonotoneFixpoint:
    """`totals` are the rows so far; `relations` are those below, and the base rows of relations that have any."""

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        found: Mapping[str, Lattice],
        rules: list[NormalRule],
        relations: Relations,
        context: Context,
    ):
        self.schemas = schemas
        self.lattices = found
        self.context = context
        self.rules = [_as_rows(rule) for rule in rules]
        self.variants = [variant for rule in self.rules for variant in variants(rule, schemas)]
        read = {name for rule in rules for name in rule.reads} | set(map(base_name, schemas))
        self.lower = {name: relations[name] for name in read - set(schemas) if name in relations}
        self.totals = {name: RelationVersion.empty(schema, context.arena) for name, schema in schemas.items()}
        self.older = dict(self.totals)
        self.deltas: dict[str, LooseRows] = {}
        self._offers: dict[str, list[Columns]] = {name: [] for name in schemas}

    # ── beginnings ────────────────────────────────────────────────────────────────────────────────────────────────────
    def begin(self) -> None:
        """From nothing: base rows, and the rules that read nothing of the stratum."""
        for name in self.schemas:
            if base_name(name) in self.lower:
                self._offers[name].append(self.lower[base_name(name)].columns())
        for rule in self.rules:
            if not recursive_atoms(rule, self.schemas):
                self._offer(rule, self.lower)
        self._next_round()

    def go_on(self, rows: Relations, inserted: Mapping[str, Columns]) -> None:
        """From the rows of a fixpoint, to which rows were `inserted` below that are in `relations` already."""
        self.totals = {name: rows[name] for name in self.schemas}
        for name in self.schemas:
            if base_name(name) in inserted:
                self._offers[name].append(inserted[base_name(name)])
        for rule in self.rules:
            for number, atom in enumerate(rule.atoms):
                if atom.relation in inserted:
                    changed = PositiveAtom(delta_name(atom.relation), atom.args)
                    rows_of = self._loose(self.lower[atom.relation].schema, inserted[atom.relation])
                    one = replace(rule, atoms=(*rule.atoms[:number], changed, *rule.atoms[number + 1 :]))
                    self._offer(one, {**self.lower, **self.totals, changed.relation: rows_of})
        self._next_round()

    def run(self) -> dict[str, RelationVersion]:
        """Rounds until nothing improves."""
        while any(delta.count for delta in self.deltas.values()):
            deltas = {delta_name(name): delta for name, delta in self.deltas.items()}
            older = {older_name(name): rows for name, rows in self.older.items()}
            readable = {**self.lower, **self.totals, **older, **deltas}
            for variant in self.variants:
                if all(readable[atom.relation].count for atom in variant.rule.atoms):
                    self._run(variant, readable)
            self._next_round()
        return self.totals

    # ── rounds ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def _run(self, variant: Variant, readable: Relations) -> None:
        size = self.deltas[variant.source].count
        few, many = sorted((size, variant.planned_for))
        if variant.plan is None or (many > few * _REPLAN and many > _SMALL):
            variant.plan = plan_rule(variant.rule, readable, self.context, needed=variant.needed, count=False)
            variant.planned_for = size
            for name, order in variant.plan.key_orders():
                # older rows are all rows of the round before: an order that they need has to be there by then
                if name.removesuffix(older_name("")) in self.totals:
                    self.totals[name.removesuffix(older_name(""))].tree(order)
        columns, counts = run_plan(variant.plan, readable, self.context)
        self._take(variant.rule, [columns[pick] for pick in variant.picks], len(counts))

    def _offer(self, rule: NormalRule, relations: Relations) -> None:
        head = [term.variable for term in rule.head if isinstance(term, Ref)]
        needed = tuple(dict.fromkeys(head))
        columns, counts = evaluate(rule, relations, self.context, needed=needed, count=False)
        self._take(rule, [columns[needed.index(variable)] for variable in head], len(counts))

    def _take(self, rule: NormalRule, columns: Columns, rows: int) -> None:
        if rows:
            self._offers[rule.relation].append(columns or [np.zeros(1, np.int64)])

    def _next_round(self) -> None:
        """Make what improved the deltas, and bring the totals forward."""
        self.context.spend(0)
        for name, schema in self.schemas.items():
            pieces, self._offers[name] = self._offers[name], []
            self.older[name] = self.totals[name]
            delta = Delta.empty(schema.arity)
            if pieces:
                offered = [np.concatenate(column) for column in zip(*pieces, strict=True)]
                delta = self._improvement(name, offered)
            self.totals[name] = self.totals[name].apply(delta)
            self.deltas[name] = self._loose(schema, delta.inserts)

    def _loose(self, schema: RelationSchema, rows: Columns) -> LooseRows:
        return LooseRows(replace(schema, name=delta_name(schema.name), key=None), self.context.arena, rows)

    # ── the best of each group ────────────────────────────────────────────────────────────────────────────────────────
    def _improvement(self, name: str, offered: Columns) -> Delta:
        """What rows in any order change in a relation. O(m log n) for m rows."""
        schema, total = self.schemas[name], self.totals[name]
        if name not in self.lattices:
            rows = sort_rows(offered)
            present = total.contains(rows)
            return Delta([column[~present] for column in rows], no_rows(schema.arity))
        column = self.lattices[name].column
        group, best = self._best(name, offered)
        order = (*(place for place in range(schema.arity) if place != column), column)
        found, row, _ = total.tree(order).edge_rows(np.array(group, np.int64).reshape(len(group), len(best)))
        better = ~found | self._better(name, best, np.where(found, row[-1], best))
        inserts, erases = [*group, best], row
        back = [order.index(place) for place in range(schema.arity)]
        return Delta(
            sort_rows([inserts[place][better] for place in back]),
            sort_rows([erases[place][better & found] for place in back]),
        )

    def _best(self, name: str, offered: Columns) -> tuple[Columns, np.ndarray]:
        """The groups of rows, sorted and distinct, and the best value of each."""
        lattice, types = self.lattices[name], [type for _, type in self.schemas[name].columns]
        values, type = offered[lattice.column], types.pop(lattice.column)
        group = [column for place, column in enumerate(offered) if place != lattice.column]
        call = AggregateCall(lattice.function, [values], [type], type)
        groups, (best,) = aggregate(group, [call], np.ones(len(values), np.int64), self.context.dictionary, group_types=types)
        return groups, best

    def _better(self, name: str, offered: np.ndarray, present: np.ndarray) -> np.ndarray:
        lattice = self.lattices[name]
        keys, _ = by_value(np.concatenate((offered, present)), self.schemas[name].columns[lattice.column][1], self.context.dictionary)
        new, old = np.split(keys, 2)
        return new < old if lattice.direction < 0 else new > old


def _as_rows(rule: NormalRule) -> NormalRule:
    """The rule without its aggregate: its head rows are what it offers to the groups."""
    head = tuple(term.args[0] if isinstance(term, AggregateTerm) else term for term in rule.head)
    return replace(rule, head=head)


def net_change(old: RelationVersion, new: RelationVersion) -> Delta:
    """The change from one set of rows to another that did not come from it. O(n)."""
    if not old.count:
        return Delta(new.columns(), no_rows(old.schema.arity))
    before, after = old.columns(), new.columns()
    return Delta(difference(after, before), difference(before, after))
