# SPDX-License-Identifier: Apache-2.0
"""Re-derivation: the rows that may have lost a derivation and have another one, found before any of
them is deleted [DRed].

Most of them stay, and deleting a row and inserting it again changes a page in every key order. So
relations do not change during the search, and rules read them without the `gone` rows, through a
negated atom: at first all rows that may be deleted, then fewer from iteration to iteration. A
re-derived row drives the next iteration, which searches for rows that are gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from lftj.join.context import Context
from lftj.join.rent_or_buy import NOTHING_LOST, Rent
from lftj.join.run.evaluate import Columns
from lftj.maintenance.cost.cost_model import ITERATION, LOOK_UP
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.rules.full_evaluation import head_rows
from lftj.maintenance.semi_naive.packed_rows import Iteration
from lftj.program.normal_form import NegatedAtom, NormalRule, PositiveAtom, RelationSchema
from lftj.scantree.frozen import record
from lftj.scantree.rows import difference, sort_rows
from lftj.storage.database import base_name
from lftj.storage.delta import Delta, no_rows
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.types.sources import Role, Source

Found = dict[str, Columns]
_REDERIVE_GONE = 4096
"""Rows that are gone up to which they are looked up one by one."""
_REDERIVE_LASTING = 1000
"""Rows of the stratum for each that may be gone from which on a search is worth key orders of its
own.
"""
_REDERIVE_TURN = 50_000
"""Steps that led to nothing after which a search for rows that return goes the other way."""
_REDERIVE_STEPS = 16
"""Steps for each row that drives such a search or is found; what is beyond led to nothing."""


@record
class _Search:
    """Direction of a rule's search for gone rows: by a join with these, or `forward`, which finds
    all heads, some of which are gone.

    The join takes the less the fewer are gone, forward the fewer rows drive it. The better one is
    hard to predict, as whole groups of rows that belong together go and return; so a search that
    found little changes direction.
    """

    forward: bool = False
    _rent: Rent = NOTHING_LOST

    def took(self, steps: int, rows: int) -> None:
        """Note the kernel steps of a search, and the rows that drove it or were found."""
        self._rent = self._rent.plus(steps - _REDERIVE_STEPS * rows)
        if self._rent.due(_REDERIVE_TURN):
            self.forward, self._rent = not self.forward, self._rent.paid()


class Returning:
    """One commit: `run` gives what is gone for good of the rows that were `lost`, as far as rows
    that come do not bring it back. `trail`: where the rows that return are noted, iteration by
    iteration.
    """

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        rules: list[NormalRule],
        lost: Mapping[str, Columns],
        versions: Versions,
        context: Context,
        trail: list[Iteration] | None = None,
    ):
        self._schemas, self._rules = schemas, rules
        self._trail = trail
        self._versions, self._context = versions, context
        self._gone = {
            name: self._are_gone(name, rows) for name, rows in lost.items() if len(rows[0])
        }
        rows = sum(versions[name].count for name in schemas if name in versions)
        self._searches: dict[NormalRule, _Search] = {}
        most = sum(len(rows[0]) for rows in lost.values())
        self._lasting = most * _REDERIVE_LASTING < rows

    @property
    def gone(self) -> Found:
        """Rows that are gone by now, by relations that have such rows. O(n) for n of them."""
        return {name: rows.columns() for name, rows in self._gone.items()}

    def are_gone(self, name: str) -> bool:
        """Test for a relation with rows that are gone."""
        return name in self._gone

    def among_gone(self, name: str, rows: Columns) -> Columns:
        """Select the rows of a relation, sorted and distinct, that are gone."""
        there = self._gone[name].contains(rows)
        return [column[there] for column in rows]

    def run(self) -> Found:
        """Iterate until no row returns. Raises what evaluation raises, and AllowanceSpentError."""
        self.follow(self._resolved(self._given(), self._derived({})))
        return self.gone

    def follow(self, fresh: Found) -> None:
        """Iterations until no row returns, after these did."""
        while fresh:
            fresh = self._resolved(self._derived(fresh))

    def back(self, found: Found) -> Found:
        """Bring found rows back; return them by the relations where rules read them."""
        if self._trail is not None:
            self._trail.append(found)
        for name, rows in found.items():
            self._context.budget.charge(LOOK_UP * len(rows[0]))
            gone = self._gone[name]
            loose = isinstance(gone, TransientRelation)
            left = (
                self._transient(name, Role.DELETED, difference(gone.columns(), rows))
                if loose
                else gone.apply(Delta(no_rows(len(rows)), rows))
            )
            if left.count:
                self._gone[name] = left
            else:
                del self._gone[name]
        return found

    def _given(self) -> Iterator[tuple[str, Columns]]:
        """Rows that are gone, and were given to the stratum beside what it derives."""
        for name, gone in self._gone.items():
            base = self._versions.get(base_name(name))
            if base is not None:
                rows = gone.columns()
                there = base.contains(rows)
                yield name, [column[there] for column in rows]

    def _derived(self, fresh: Found) -> Iterator[tuple[str, Columns]]:
        """Rows that the rules derive, from a row among those that came back just now if there are
        any.
        """
        relations = {name: self._versions[name] for rule in self._rules for name in rule.reads}
        relations |= {Source(name, Role.DELETED): rows for name, rows in self._gone.items()}
        relations |= {
            Source(name, Role.REDERIVED): self._transient(name, Role.REDERIVED, rows)
            for name, rows in fresh.items()
        }
        for rule in self._rules:
            if rule.relation in self._gone:
                for driven in self._driven(rule, fresh):
                    yield rule.relation, self._found(driven, relations)

    def _driven(self, rule: NormalRule, fresh: Found) -> Iterator[NormalRule]:
        """The rule, for rows that are gone: over what is not, or driven by each atom of which rows
        came back.
        """
        if not fresh:
            yield self._without_gone(rule, -1)
        for number, atom in enumerate(rule.atoms):
            if atom.relation in fresh:
                yield self._without_gone(rule, number)

    def _without_gone(self, rule: NormalRule, driver: int) -> NormalRule:
        atoms, negated = list(rule.atoms), list(rule.negated)
        for number, atom in enumerate(rule.atoms):
            if number == driver:
                atoms[number] = PositiveAtom(Source(atom.relation, Role.REDERIVED), atom.args)
            elif atom.relation in self._gone:
                negated.append(NegatedAtom(Source(atom.relation, Role.DELETED), atom.args))
        sought = rule.head_in(Source(rule.relation, Role.DELETED))
        return replace(rule, atoms=(sought, *atoms), negated=tuple(negated))

    def _found(self, rule: NormalRule, relations: Mapping[str, RelationVersion]) -> Columns:
        search, before = self._searches.setdefault(rule, _Search()), self._context.budget.work
        asked = replace(rule, atoms=rule.atoms[1:]) if search.forward else rule
        self._context.budget.charge(ITERATION)
        rows = head_rows(asked, relations, self._context, lasting=self._lasting)
        self._context.budget.found += len(rows[0])
        search.took(
            self._context.budget.work - before,
            len(rows[0]) + min(relations[atom.relation].count for atom in rule.atoms),
        )
        return self.among_gone(rule.relation, sort_rows(rows)) if asked is not rule else rows

    def _resolved(self, *found: Iterator[tuple[str, Columns]]) -> Found:
        """Bring rows `back` that are found."""
        self._context.budget.charge(ITERATION)
        return self.back(distinct(each for some in found for each in some))

    def _are_gone(self, name: str, rows: Columns) -> RelationVersion:
        """Rows of a relation, sorted, that are gone. Many have key orders that iterations bring
        forward; few are sorted anew in each.
        """
        loose = self._transient(name, Role.DELETED, rows)
        return (
            loose
            if len(rows[0]) <= _REDERIVE_GONE
            else RelationVersion.build(loose.schema, self._context.resources.arena, rows)
        )

    def _transient(self, name: str, role: Role, rows: Columns) -> TransientRelation:
        return TransientRelation(
            replace(self._schemas[name], name=Source(name, role), key=None),
            self._context.resources.arena,
            rows,
        )


def distinct(found: Iterable[tuple[str, Columns]]) -> Found:
    """All rows found by one name together, each once, in ascending order; no name without any."""
    pieces: dict[str, list[Columns]] = {}
    for name, rows in found:
        if len(rows[0]):
            pieces.setdefault(name, []).append(rows)
    return {
        name: sort_rows([np.concatenate(columns) for columns in zip(*rows, strict=True)])
        for name, rows in pieces.items()
    }
