"""Semi-naïve evaluation of a recursive stratum from nothing [Elastic, Algorithm 2, without its
counts].

Iterations are run (`fixpoint`), in which a candidate's way is: kernel → row set (is it new?) → next
iteration's delta.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from lftj.join.run.evaluate import Columns
from lftj.maintenance.semi_naive.chosen_rows import ChosenRows
from lftj.maintenance.semi_naive.closure import Closure, iteration_0
from lftj.maintenance.semi_naive.fixpoint import Fixpoint
from lftj.maintenance.semi_naive.packed_rows import Packed, PackedRows
from lftj.maintenance.semi_naive.prepared_rules import PreparedRules
from lftj.maintenance.semi_naive.row_set import RowSet
from lftj.maintenance.semi_naive.variants import recursive_atoms
from lftj.maintenance.strategy import Exhausted, Strategy, Why
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import stored_width
from lftj.storage.relation import Bounds, RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.tuning.aids import EVALUATION_ORDER
from lftj.types import Type

# The ranges of values of each type in relations, by which row sets are laid out.


def ranges_of_types(
    relations: Iterable[RelationVersion], types: Collection[Type]
) -> dict[Type, Bounds]:
    """Two codes for each of these types that all codes of it lie between. O(columns), once the
    relations know their bounds.
    """
    found: dict[Type, Bounds] = {}
    for relation in relations:
        columns = relation.schema.columns
        if not any(type in types for _, type in columns):
            continue
        for (_, type), (low, high) in zip(columns, relation.bounds(), strict=False):
            if type in types:
                known = found.get(type, (low, high))
                found[type] = (min(known[0], low), max(known[1], high))
    return found


# In which order the relations of a stratum take turns, where rows are wanted and not the iterations
# that they are found in.
#
# What a relation's iteration finds is there for the next relation of the same pass already
# (Gauss-Seidel instead of Jacobi). A pass finds at least what an iteration over all deltas would,
# so there are never more passes than such iterations; in a long cycle of relations there are as
# many times fewer as it has relations, and each sorts more rows and joins them at once.


def downstream(schemas: Mapping[str, RelationSchema], rules: Sequence[NormalRule]) -> list[str]:
    """The relations of a stratum so that each is followed by those that read it, as far as cycles
    allow; a seeded one is first.
    """
    readers: dict[str, dict[str, None]] = {name: {} for name in schemas}
    for rule in rules:
        for number in recursive_atoms(rule, schemas):
            readers[rule.atoms[number].relation][rule.relation] = None
    seeded = {rule.relation for rule in rules if not recursive_atoms(rule, schemas)}
    seen: set[str] = set()
    finished: list[str] = []
    # the reverse of the order in which a depth-first search leaves the relations
    for start in sorted(schemas, key=lambda name: name not in seeded):
        finished += _left(start, readers, seen)
    return finished[::-1]


def _left(start: str, readers: Mapping[str, Mapping[str, None]], seen: set[str]) -> Iterator[str]:
    """The relations reached from `start` that were not `seen`, in the order in which a depth-first
    search leaves them.
    """
    if start in seen:
        return
    seen.add(start)
    path = [(start, iter(readers[start]))]
    while path:
        name, following = path[-1]
        entered = next((reader for reader in following if reader not in seen), None)
        if entered is None:
            path.pop()
            yield name
        else:
            seen.add(entered)
            path.append((entered, iter(readers[entered])))


class Iterations(Strategy[dict[str, Columns]]):
    """Iterations over all rows, for whatever rules: the way that always closes a stratum."""

    name = "iterations"
    needed = True
    change: Closure

    def run(self) -> dict[str, Columns] | Exhausted:
        """The rows of all relations; Exhausted where `after_iteration` ended the iterations."""
        closure = self.change
        fixpoint = _Rows(
            closure.schemas, closure.rules, closure.relations, closure.context, closure.prepared
        )
        try:
            if not fixpoint.run_iterations(closure.after_iteration):
                return Exhausted(Why.LONG_CHAIN, None)
            return {name: fixpoint.found(name) for name in fixpoint.schemas}
        finally:
            fixpoint.release()


class _Rows(Fixpoint[RowSet | ChosenRows[RowSet]]):
    """Finds rows alone."""

    def evaluation_order(self, rules: Sequence[NormalRule]) -> list[list[str]]:
        """One relation after another. Choice depends on what iteration a row is found in, and so
        needs iterations of all.
        """
        off = EVALUATION_ORDER in self.context.tuning.without
        if off or any(schema.choice for schema in self.schemas.values()):
            return super().evaluation_order(rules)
        return [[name] for name in downstream(self.schemas, rules)]

    def first(self, schema: RelationSchema, seeds: list[NormalRule]) -> RowSet | ChosenRows[RowSet]:
        """The rows of iteration 0, in a set for the values that are to be expected."""
        ranges = self._ranges
        lows, highs = np.array(
            [ranges.get(type, (0, 0)) for _, type in schema.columns] or [(0, 0)], np.int64
        ).T.copy()
        found = RowSet(
            stored_width(schema.arity), lows, highs, self.context.threads, self.context.tuning
        )
        if self.prepared is None:
            rows = iteration_0(schema, seeds, self.lower, self.context)
            found.add(np.array(rows, np.int64), np.arange(len(rows)))
        else:
            self._add_seeds(self.prepared, found, schema.name)
        return ChosenRows(found, schema, self.context.dictionary) if schema.choice else found

    @cached_property
    def _ranges(self) -> dict[Type, Bounds]:
        """The ranges of the values to be expected, by type."""
        types = {type for schema in self.schemas.values() for _, type in schema.columns}
        return ranges_of_types(self.lower.values(), types)

    def _add_seeds(self, prepared: PreparedRules, found: RowSet, name: str) -> None:
        """The rows of iteration 0, as they come."""
        base = base_name(name)
        if base in self.lower and self.lower[base].count:
            rows = np.array(self.lower[base].columns(), np.int64)
            found.add(rows, np.arange(len(rows)))
        for seed in prepared.seeds:
            if seed.rule.relation == name:
                for piece in prepared.seed(seed, self.lower, self.context).pieces(
                    self.lower, self.context
                ):
                    self.context.found += piece.shape[1]
                    found.add(*self.candidates(piece, seed))

    def found(self, name: str) -> Columns:
        """All rows of a relation, sorted."""
        rows = self.rows[name]
        if name in self.totals:
            return self.total(name).columns()
        return rows.columns()

    def looked_through(self, name: str, older: bool) -> Packed | None:
        """Rows that were fresh in some iteration, except the last one if it may still be new."""
        rows = self.rows[name]
        return (
            rows.packed(but=int(older and name in self.deltas))
            if isinstance(rows, RowSet)
            else None
        )

    def release(self) -> None:
        """Give back what others can use; no more iterations are run."""
        for rows in self.rows.values():
            (rows.candidates if isinstance(rows, ChosenRows) else rows).release()

    def fresh(self, name: str, schema: RelationSchema) -> TransientRelation:
        """Rows that need not be unpacked before they are sorted."""
        rows = self.rows[name]
        packed = rows.take_packed(self.ordered(name)) if isinstance(rows, RowSet) else None
        return (
            super().fresh(name, schema)
            if packed is None
            else PackedRows(schema, self.context.arena, packed)
        )
