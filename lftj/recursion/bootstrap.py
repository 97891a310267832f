"""Semi-naïve evaluation of a recursive stratum from nothing [Elastic, Algorithm 2, without its counts].

Each round evaluates every recursive rule once per atom of the stratum, that atom reading only the rows that were new in the round before.
A candidate's way is: kernel → row set (is it new?) → next round's delta. The whole relation is kept as a tree only where some rule joins it
with a delta.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from lftj.join.context import Context
from lftj.join.evaluate import Columns, Relations, chunks, plan_rule
from lftj.join.plan import RulePlan
from lftj.maintain.full import derive
from lftj.program.normal_form import NormalRule, PositiveAtom, Ref, RelationSchema
from lftj.recursion.decomposable import decompose
from lftj.recursion.parts import close_parts
from lftj.recursion.row_set import RowSet
from lftj.storage.database import base_name
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion
from scantree import Arena
from scantree.rows import union

_REPLAN = 8  # growth or shrinkage of a delta after which a variable order is chosen anew


class FreshRows(RelationVersion):
    """The rows of one round. Read once or twice, so no key order exists until one is asked for, and then all cost the same."""

    def __init__(self, schema: RelationSchema, arena: Arena, rows: Columns):
        super().__init__(schema, arena, {})
        self._rows = rows

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self._rows[0])

    def columns(self) -> Columns:
        """All rows, in no particular order."""
        return self._rows

    def orders(self) -> tuple[tuple[int, ...], ...]:
        """Every key order, since none has to be kept."""
        width = len(self._rows)
        return tuple(permutations(range(width))) if width <= 4 else (tuple(range(width)),)

    def sample(self, rows: int) -> Columns:
        """About `rows` rows at equal distances."""
        return [column[:: max(1, len(column) // rows)] for column in self._rows]


@dataclass
class _Variant:
    """A recursive rule with one of its atoms reading the delta."""

    rule: NormalRule
    source: str  # the relation whose delta it reads
    picks: np.ndarray
    needed: tuple[int, ...]
    plan: RulePlan | None = None
    planned_for: int = 0


def delta_name(relation: str) -> str:
    """The name under which a rule reads the rows that were new in the last round."""
    return f"{relation}#delta"


def bootstrap(schemas: Mapping[str, RelationSchema], rules: list[NormalRule], relations: Relations, context: Context) -> dict[str, Columns]:
    """The rows of all relations of one recursive stratum, from their base rows and the relations below."""
    if shape := decompose(schemas, rules):
        seeds = [rule for rule in rules if not _recursive_atoms(rule, schemas)]
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
        below = {*_read(rules), *map(base_name, schemas)} - set(schemas)
        self.lower = {name: relations[name] for name in below if name in relations}
        self.seeds = [rule for rule in rules if not _recursive_atoms(rule, schemas)]
        self.variants = [variant for rule in rules for variant in _variants(rule, schemas)]
        # relations that some variant reads whole: all but the delta's own occurrence
        self.whole = {atom.relation for variant in self.variants for atom in variant.rule.atoms if atom.relation in schemas}
        self.rows: dict[str, RowSet] = {}
        self.deltas: dict[str, FreshRows] = {}
        self.totals: dict[str, RelationVersion] = {}

    @property
    def active(self) -> bool:
        return any(delta.count for delta in self.deltas.values())

    def start(self) -> None:
        """Round 0: base rows and the rules that read nothing of the stratum."""
        for name, schema in self.schemas.items():
            seeds = [rule for rule in self.seeds if rule.relation == name]
            self.rows[name] = self._row_set(schema, _round_0(schema, seeds, self.lower, self.context))
        self._next_round()

    def _row_set(self, schema: RelationSchema, first: Columns) -> RowSet:
        """A set with ranges from what is known: the columns of the same type in everything below."""
        lows, highs = [], []
        for position, column in enumerate(first):
            values = self._range_of_type(schema.columns[position][1]) if schema.arity else (0, 0)
            if len(column):
                values = (min(values[0], int(column.min())), max(values[1], int(column.max())))
            lows.append(values[0] if values[0] <= values[1] else 0)
            highs.append(values[1] if values[0] <= values[1] else 0)
        rows = RowSet(len(first), np.array(lows, np.int64), np.array(highs, np.int64))
        rows.add(np.array(first, np.int64), np.arange(len(first)))
        return rows

    def _range_of_type(self, wanted: object) -> tuple[int, int]:
        low, high = 1 << 62, -(1 << 62)
        for relation in self.lower.values():
            for position, (_, type) in enumerate(relation.schema.columns):
                if type == wanted and relation.count and (bounds := _ends(relation, position)):
                    low, high = min(low, bounds[0]), max(high, bounds[1])
        return low, high

    def _next_round(self) -> None:
        """Make the fresh rows the deltas, and add them to the totals that are read."""
        for name, schema in self.schemas.items():
            fresh = self.rows[name].take_fresh()
            self.deltas[name] = FreshRows(replace(schema, name=delta_name(name), key=None), self.context.arena, fresh)
            if name in self.whole:
                total = self.totals.get(name) or RelationVersion.empty(schema, self.context.arena)
                self.totals[name] = total.apply(Delta.insertion(fresh))

    def round(self) -> None:
        """One iteration."""
        readable = {**self.lower, **self.totals, **{delta_name(name): delta for name, delta in self.deltas.items()}}
        for variant in self.variants:
            size = self.deltas[variant.source].count
            if not size:
                continue
            plan = self._plan(variant, readable, size)
            target = self.rows[variant.rule.relation]
            for piece in chunks(plan, readable, self.context):
                target.add(piece if len(variant.picks) else np.zeros((1, 1), np.int64), variant.picks if len(variant.picks) else _FIRST)
        self._next_round()

    def _plan(self, variant: _Variant, readable: Relations, size: int) -> RulePlan:
        stale = size > variant.planned_for * _REPLAN or size * _REPLAN < variant.planned_for
        if variant.plan is None or stale:
            variant.plan = plan_rule(variant.rule, readable, self.context, needed=variant.needed, count=False)
            variant.planned_for = size
        return variant.plan


_FIRST = np.zeros(1, np.int64)


def _ends(relation: RelationVersion, position: int) -> tuple[int, int] | None:
    columns = relation.columns()
    return int(columns[position].min()), int(columns[position].max())


def _read(rules: list[NormalRule]) -> set[str]:
    return {atom.relation for rule in rules for atom in (*rule.atoms, *rule.negated)}


def _recursive_atoms(rule: NormalRule, schemas: Mapping[str, RelationSchema]) -> list[int]:
    return [i for i, atom in enumerate(rule.atoms) if atom.relation in schemas]


def _variants(rule: NormalRule, schemas: Mapping[str, RelationSchema]) -> list[_Variant]:
    variants = []
    head = [term.variable for term in rule.head if isinstance(term, Ref)]
    needed = tuple(dict.fromkeys(head))
    picks = np.array([needed.index(variable) for variable in head], np.int64)
    for number in _recursive_atoms(rule, schemas):
        atom = rule.atoms[number]
        atoms = list(rule.atoms)
        atoms[number] = PositiveAtom(delta_name(atom.relation), atom.args)
        variants.append(_Variant(replace(rule, atoms=tuple(atoms)), atom.relation, picks, needed))
    return variants
