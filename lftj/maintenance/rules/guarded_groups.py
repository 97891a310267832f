"""Parts of a view that come and go as a whole, because a guard of its rules did.

In flown(d, t) :- watched(d), flight(f, d), tail(f, t). all rows of a day go when it is watched no
longer: they are the rows of the view that begin with it, and nobody has to join for them. None were
there of a day that is watched from now on, so what its flights and tails change is not asked for
either: what is new in the guard finds all of it. For the rules that read the view its own parts
then come and go.

Why the sum is right: take first the parts that go out of the guard, then make all other changes,
and those of the guard last. In between the guard has none of these parts, so a changed row that
belongs to one of them finds nothing and need not be looked at; of rows that do not say to which
part they belong, what they find in parts that went does not count. The sum over the steps is
exactly new − old, as in `delta_query`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from lftj.heads.support_state import SupportState
from lftj.join.context import Context
from lftj.join.run.evaluate import Columns
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Parts, Versions, elsewhere
from lftj.maintenance.rules.delta_query import DeltaQuery, delta_queries
from lftj.program.normal_form import NormalRule, Ref
from lftj.scantree import after_prefix
from lftj.scantree.columns import Lines, as_matrix
from lftj.scantree.frozen import frozen
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion

GUARDED_GROUPS = "guarded groups"
"""The name of the strategy: without it no part is looked for."""
Pieces = list[tuple[Columns, np.ndarray]]


class GuardedRule:
    """One rule whose head begins with a variable that some column of an atom, the guard, has too.

    `queries`: its delta queries with that atom's turn last, each with the column of its relation
    that has the variable, if one has. `place`: where the variable is among the values that come
    out.
    """

    def __init__(self, rule: NormalRule, needed: tuple[int, ...], atom: int):
        value = rule.head[0]
        assert isinstance(value, Ref)
        self.column = rule.atoms[atom].args.index(value)
        self.place = needed.index(value.variable)
        self.queries = [
            (query, query.column(value.variable))
            for query in delta_queries(rule, needed, last=atom)
        ]


@frozen(slots=True)
class PartedRule:
    """A rule at a commit at which `parts` of its guard come or go."""

    guarded: GuardedRule
    parts: Parts

    def signed_assignments(self, versions: Versions, context: Context, work: RuleWork) -> Pieces:
        """The change of a rule's satisfying assignments, as `signed_assignments` has it, without
        those of parts that go.
        """
        pieces: Pieces = []
        for query, change, direct in self._changes(versions):
            work.surgeries += len(change)
            if len(change):
                columns, signed = query.run(versions, change, context)
                pieces.append((columns, signed) if direct else self._staying(columns, signed))
        work.regions = work.surgeries
        return pieces

    def expected(self, versions: Versions, seen: int) -> float:
        """Kernel steps that this will take, going by those of before."""
        return sum(
            query.expected(len(change), seen) for query, change, _ in self._changes(versions)
        )

    def _changes(self, versions: Versions) -> Iterator[tuple[DeltaQuery, Delta, bool]]:
        """The delta queries of what changed, each with the rows to look at, and whether these say
        to which part they belong.
        """
        gone = self.parts.gone
        every = gone + self.parts.new
        guard, _ = self.guarded.queries[-1]
        for query, column in self.guarded.queries:
            if query.relation in versions.deltas:
                without = None if column is None else (column, gone if query is guard else every)
                yield (
                    query,
                    versions.change(query.relation, query.bound, without),
                    column is not None,
                )

    def _staying(self, columns: Columns, signed: np.ndarray) -> tuple[Columns, np.ndarray]:
        """Signed assignments without those of parts that go."""
        kept = elsewhere(columns[self.guarded.place], self.parts.gone)
        return (
            ([column[kept] for column in columns], signed[kept])
            if not kept.all()
            else (columns, signed)
        )


@frozen(slots=True)
class PartedHead:
    """A relation of whose rows `parts` come and go as a whole, and how its rules have them, by the
    identity of what is kept of each.
    """

    parts: Parts
    rules: dict[int, PartedRule]

    def of(self, rule: Guarded) -> PartedRule:
        """One of its rules."""
        return self.rules[id(rule)]

    def lost(
        self,
        support: SupportState | None,
        relation: RelationVersion,
        context: Context,
        work: RuleWork,
    ) -> Columns | None:
        """The rows of parts that go, ascending, whatever supported them. O(log n + rows); paths to
        them count as kernel steps.

        They stand with the work of one rule, as nobody asks which of them derived a row.
        """
        if not self.parts.gone:
            return None
        tree = support.tree if support is not None else relation.identity
        pieces = [
            tree.range((value,), after_prefix((value,)))[: tree.key_width]
            for value in sorted(self.parts.gone)
        ]
        rows = (
            pieces[0]
            if len(pieces) == 1
            else [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
        )
        steps = (tree.height + 1) * len(pieces)
        context.budget.spend(steps)
        work.steps += steps
        work.assignments += len(rows[0])
        work.head_changes += len(rows[0])
        return rows


class Guards:
    """The guards that a rule may have: an atom for each that has the variable with which the head
    begins.
    """

    def __init__(self, rule: NormalRule, needed: tuple[int, ...]):
        self._rule, self._needed = rule, needed
        first = rule.head[0] if rule.head and not rule.aggregates else None
        self._atoms = [
            (number, atom.relation)
            for number, atom in enumerate(rule.atoms)
            if first is not None and first in atom.args
        ]
        self._guarded: dict[int, GuardedRule] = {}

    def at(self, versions: Versions) -> PartedRule | None:
        """The first of them of which parts come or go at this commit, that are such of the head."""
        for number, relation in self._atoms:
            if (parts := versions.parts.get(relation)) is not None:
                if number not in self._guarded:
                    self._guarded[number] = GuardedRule(self._rule, self._needed, number)
                if self._guarded[number].column == parts.column:
                    return PartedRule(self._guarded[number], parts)
        return None


class Guarded(Protocol):
    """State of a rule, as far as it matters here."""

    @property
    def guards(self) -> Guards | None:
        """The guards of a rule that delta queries maintain and that has no aggregates."""
        ...


def parted_head(rules: Sequence[Guarded], versions: Versions) -> PartedHead | None:
    """Change of a relation by whole groups, given all rules that derive it: the groups that come
    and go for every rule.
    """
    found: list[PartedRule] = []
    for each in rules:
        rule = each.guards.at(versions) if each.guards is not None else None
        if rule is None:
            return None
        found.append(rule)
    if not found:
        return None
    gone, new = found[0].parts.gone, found[0].parts.new
    for rule in found[1:]:
        gone, new = (
            tuple(filter(others.__contains__, own))
            for own, others in ((gone, rule.parts.gone), (new, rule.parts.new))
        )
    parted = [PartedRule(rule.guarded, rule.parts._replace(gone=gone)) for rule in found]
    return PartedHead(
        Parts(0, gone, new), {id(each): rule for each, rule in zip(rules, parted, strict=True)}
    )


def with_parts(rows: Columns, parts: Columns) -> Columns:
    """Rows, ascending, with whole parts of them, ascending too: rows of which the first column has
    values that none of the others has.
    """
    if not len(rows[0]) or not len(parts[0]):
        return parts if len(parts[0]) else rows
    pieces, start = [], 0
    one, two = as_matrix(rows, len(rows)), as_matrix(parts, len(rows))
    starts = [0, *(np.flatnonzero(np.diff(two[0])) + 1).tolist(), two.shape[1]]
    for first, end in pairwise(starts):
        place = int(np.searchsorted(one[0], two[0, first]))
        pieces += [one[:, start:place], two[:, first:end]]
        start = place
    return Lines(np.concatenate([*pieces, one[:, start:]], axis=1))
