"""Semi-naïve evaluation of a recursive stratum from nothing [Elastic, Algorithm 2, without its counts].

A stratum that falls apart is closed part by part; else rounds are run (`fixpoint`), in which a candidate's way is: kernel → row set (is it
new?) → next round's delta.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lftj.join.context import Context
from lftj.join.evaluate import Columns, Relations
from lftj.maintain.full import derive
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.recursion.by_parts.decomposable import decompose
from lftj.recursion.by_parts.parts import close_parts
from lftj.recursion.rounds.chosen_rows import ChosenRows
from lftj.recursion.rounds.fixpoint import Fixpoint
from lftj.recursion.rounds.packed_rows import Packed, PackedRows
from lftj.recursion.rounds.prepared_rules import PreparedRules
from lftj.recursion.rounds.ranges import ranges_of_types
from lftj.recursion.rounds.row_set import RowSet
from lftj.recursion.rounds.turns import downstream
from lftj.recursion.rounds.variants import recursive_atoms
from lftj.storage.database import base_name
from lftj.storage.delta import stored_width
from lftj.storage.loose_rows import LooseRows
from scantree.rows import union


def bootstrap(
    schemas: Mapping[str, RelationSchema],
    rules: Sequence[NormalRule | FunctorRule],
    relations: Relations,
    context: Context,
    after_round: Callable[[int], None] | None = None,
) -> dict[str, Columns]:
    """The rows of all relations of one recursive stratum, from their base rows and the relations below. `after_round`: see `run_rounds`."""
    normal = [rule for rule in rules if isinstance(rule, NormalRule)]
    whole = len(normal) < len(rules) or any(schema.choice for schema in schemas.values())
    if not whole and (shape := decompose(schemas, normal)):
        seeds = [rule for rule in normal if not recursive_atoms(rule, schemas)]
        first = _round_0(schemas[shape.relation], seeds, relations, context)
        return {shape.relation: close_parts(shape, first, relations, context)}
    return _closed(_Rows(schemas, rules, relations, context), after_round)


def bootstrap_prepared(
    schemas: Mapping[str, RelationSchema], prepared: PreparedRules, relations: Relations, context: Context
) -> dict[str, Columns]:
    """As `bootstrap`, by rounds and with what is kept for these rules."""
    return _closed(_Rows(schemas, prepared.rules, relations, context, prepared))


def _closed(fixpoint: _Rows, after_round: Callable[[int], None] | None = None) -> dict[str, Columns]:
    try:
        fixpoint.run_rounds(after_round)
        return {name: fixpoint.found(name) for name in fixpoint.schemas}
    finally:
        fixpoint.release()


def _round_0(schema: RelationSchema, seeds: list[NormalRule], relations: Relations, context: Context) -> Columns:
    """The base rows of a relation, and what its rules that read nothing of the stratum derive; sorted."""
    rows = derive(schema, seeds, relations, context)
    base = base_name(schema.name)
    return union(rows, relations[base].columns()) if base in relations else rows


class _Rows(Fixpoint[RowSet | ChosenRows[RowSet]]):
    """Finds rows alone."""

    def turns(self, rules: Sequence[NormalRule]) -> list[list[str]]:
        """One relation after another. Choice depends on what iteration a row is found in, and so needs rounds of all."""
        if any(schema.choice for schema in self.schemas.values()):
            return super().turns(rules)
        return [[name] for name in downstream(self.schemas, rules)]

    def first(self, schema: RelationSchema, seeds: list[NormalRule]) -> RowSet | ChosenRows[RowSet]:
        """The rows of round 0, in a set for the values that are to be expected."""
        ranges = ranges_of_types(self.lower.values(), {type for each in self.schemas.values() for _, type in each.columns})
        lows, highs = np.array([ranges.get(type, (0, 0)) for _, type in schema.columns] or [(0, 0)], np.int64).T.copy()
        found = RowSet(stored_width(schema.arity), lows, highs, self.context.threads)
        if self.prepared is None:
            rows = _round_0(schema, seeds, self.lower, self.context)
            found.add(np.array(rows, np.int64), np.arange(len(rows)))
        else:
            self._add_seeds(self.prepared, found, schema.name)
        return ChosenRows(found, schema, self.context.dictionary) if schema.choice else found

    def _add_seeds(self, prepared: PreparedRules, found: RowSet, name: str) -> None:
        """The rows of round 0, as they come."""
        base = base_name(name)
        if base in self.lower and self.lower[base].count:
            rows = np.array(self.lower[base].columns(), np.int64)
            found.add(rows, np.arange(len(rows)))
        for seed in prepared.seeds:
            if seed.rule.relation == name:
                for piece in prepared.seed(seed, self.lower, self.context).pieces(self.lower, self.context):
                    self.context.found += piece.shape[1]
                    found.add(*self.candidates(piece, seed))

    def found(self, name: str) -> Columns:
        """All rows of a relation, sorted."""
        rows = self.rows[name]
        if name in self.totals:
            return self.total(name).columns()
        return rows.columns()

    def looked_through(self, name: str, older: bool) -> Packed | None:
        """What was fresh in some round, but for the last one if it may still be new."""
        rows = self.rows[name]
        return rows.packed(but=int(older and name in self.deltas)) if isinstance(rows, RowSet) else None

    def release(self) -> None:
        """Give back what others can use; no more rounds are run."""
        for rows in self.rows.values():
            (rows.candidates if isinstance(rows, ChosenRows) else rows).release()

    def fresh(self, name: str, schema: RelationSchema) -> LooseRows:
        """Rows that need not be unpacked before they are sorted."""
        rows = self.rows[name]
        packed = rows.take_packed(self.ordered(name)) if isinstance(rows, RowSet) else None
        return super().fresh(name, schema) if packed is None else PackedRows(schema, self.context.arena, packed)
