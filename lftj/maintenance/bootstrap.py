"""Semi-naïve evaluation of a recursive stratum from nothing [Elastic, Algorithm 2, without its
counts].

A stratum that falls apart is closed part by part; else rounds are run (`fixpoint`), in which a
candidate's way is: kernel → row set (is it new?) → next round's delta.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from lftj.join.context import Context
from lftj.join.run.evaluate import Columns, Relations
from lftj.maintenance.rules.full import derive
from lftj.maintenance.semi_naive.chosen_rows import ChosenRows
from lftj.maintenance.semi_naive.fixpoint import Fixpoint
from lftj.maintenance.semi_naive.packed_rows import Packed, PackedRows
from lftj.maintenance.semi_naive.prepared_rules import PreparedRules
from lftj.maintenance.semi_naive.row_set import RowSet
from lftj.maintenance.semi_naive.variants import recursive_atoms
from lftj.maintenance.separable.decomposable import decompose
from lftj.maintenance.separable.separable import close_parts
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import stored_width
from lftj.storage.relation import Bounds, RelationVersion
from lftj.storage.transient_relation import LooseRows
from lftj.types import Type
from scantree.rows import union

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
# What a relation's round finds is there for the next relation of the same pass already
# (Gauss-Seidel instead of Jacobi). A pass finds at least what a round over all deltas would, so
# there are never more passes than such rounds; in a long cycle of relations there are as many times
# fewer as it has relations, and each sorts more rows and joins them at once.


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


def bootstrap(
    schemas: Mapping[str, RelationSchema],
    rules: Sequence[NormalRule | FunctorRule],
    relations: Relations,
    context: Context,
    after_round: Callable[[int], None] | None = None,
) -> dict[str, Columns]:
    """The rows of all relations of one recursive stratum, from their base rows and the relations
    below. `after_round`: see `run_rounds`.
    """
    normal = [rule for rule in rules if isinstance(rule, NormalRule)]
    whole = len(normal) < len(rules) or any(schema.choice for schema in schemas.values())
    if not whole and (shape := decompose(schemas, normal)):
        seeds = [rule for rule in normal if not recursive_atoms(rule, schemas)]
        first = _round_0(schemas[shape.relation], seeds, relations, context)
        return {shape.relation: close_parts(shape, first, relations, context)}
    return _closed(_Rows(schemas, rules, relations, context), after_round)


def bootstrap_prepared(
    schemas: Mapping[str, RelationSchema],
    prepared: PreparedRules,
    relations: Relations,
    context: Context,
) -> dict[str, Columns]:
    """As `bootstrap`, by rounds and with what is kept for these rules."""
    return _closed(_Rows(schemas, prepared.rules, relations, context, prepared))


def _closed(
    fixpoint: _Rows, after_round: Callable[[int], None] | None = None
) -> dict[str, Columns]:
    try:
        fixpoint.run_rounds(after_round)
        return {name: fixpoint.found(name) for name in fixpoint.schemas}
    finally:
        fixpoint.release()


def _round_0(
    schema: RelationSchema, seeds: list[NormalRule], relations: Relations, context: Context
) -> Columns:
    """The base rows of a relation, and what its rules that read nothing of the stratum derive;
    sorted.
    """
    rows = derive(schema, seeds, relations, context)
    base = base_name(schema.name)
    return union(rows, relations[base].columns()) if base in relations else rows


class _Rows(Fixpoint[RowSet | ChosenRows[RowSet]]):
    """Finds rows alone."""

    def turns(self, rules: Sequence[NormalRule]) -> list[list[str]]:
        """One relation after another. Choice depends on what iteration a row is found in, and so
        needs rounds of all.
        """
        if any(schema.choice for schema in self.schemas.values()):
            return super().turns(rules)
        return [[name] for name in downstream(self.schemas, rules)]

    def first(self, schema: RelationSchema, seeds: list[NormalRule]) -> RowSet | ChosenRows[RowSet]:
        """The rows of round 0, in a set for the values that are to be expected."""
        ranges = ranges_of_types(
            self.lower.values(),
            {type for each in self.schemas.values() for _, type in each.columns},
        )
        lows, highs = np.array(
            [ranges.get(type, (0, 0)) for _, type in schema.columns] or [(0, 0)], np.int64
        ).T.copy()
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
        """What was fresh in some round, but for the last one if it may still be new."""
        rows = self.rows[name]
        return (
            rows.packed(but=int(older and name in self.deltas))
            if isinstance(rows, RowSet)
            else None
        )

    def release(self) -> None:
        """Give back what others can use; no more rounds are run."""
        for rows in self.rows.values():
            (rows.candidates if isinstance(rows, ChosenRows) else rows).release()

    def fresh(self, name: str, schema: RelationSchema) -> LooseRows:
        """Rows that need not be unpacked before they are sorted."""
        rows = self.rows[name]
        packed = rows.take_packed(self.ordered(name)) if isinstance(rows, RowSet) else None
        return (
            super().fresh(name, schema)
            if packed is None
            else PackedRows(schema, self.context.arena, packed)
        )
