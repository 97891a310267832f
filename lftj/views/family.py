# SPDX-License-Identifier: Apache-2.0
"""Families: joins whose bodies differ in constants alone, followed as one join over a relation of
their constants.

A thousand standing questions `v_i(x, y) :- e(i, x), e(x, y)` read the same relations. Each change
is joined once with all constants, and only the views are visited whose constants come out. Where
each of them reads a hidden relation of its own, as for `!( e(y, z), e(z, i) )`, the rest of their
bodies is joined so, and what comes out is asked for its change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from lftj.join.context import Context
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import (
    Expression,
    Filter,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    RuleVariable,
    Value,
)
from lftj.scantree.rows import equal_runs
from lftj.storage.transient_relation import TransientRelation
from lftj.types.codes import encode_constant
from lftj.types.sources import Role, Source, is_hidden
from lftj.views.delta_query import DeltaQuery, delta_queries, signed_assignments
from lftj.views.join_node import NOT_MADE, Assignments, Join, body_of, digest, joined

FAMILY = 4
"""Joins from which on they are followed together."""

Constants = tuple[object, ...]
_Keys: TypeAlias = dict[tuple[int, ...], Sequence[str]]


class Pattern:
    """The body of a join with variables in place of its constants, and these. `key` is equal for
    joins that differ in constants alone. `screens`: it lacks atoms, so assignments of it only tell
    that the join's may change.
    """

    def __init__(self, join: Join, rule: NormalRule, values: Sequence[Value], *, screens: bool):
        self.rule, self.screens = rule, screens
        self.values: Constants = tuple(value.value for value in values)
        self.types = tuple(value.type for value in values)
        self.apart, self.needed = join.apart, () if screens else join.needed

    @staticmethod
    def of(join: Join) -> tuple[Pattern, ...]:
        """The patterns of a join, made once: that of the whole body, then that of a body without
        hidden relations, which may differ in constants too. None where no positive atom has a
        constant, nor the comparisons of a single one.
        """
        if join.pattern is NOT_MADE:
            rule, screen = join.rule, _without_hidden(join.rule)
            found = [Pattern._made(join, rule, screens=False)]
            if screen is not None:
                found.append(Pattern._made(join, screen, screens=True))
            join.pattern = tuple([each for each in found if each is not None])
        assert isinstance(join.pattern, tuple)
        return join.pattern

    @staticmethod
    def _made(join: Join, rule: NormalRule, *, screens: bool) -> Pattern | None:
        first = len(rule.variables)
        values: list[Value] = []
        atoms: list[PositiveAtom] = []

        def replaced(argument: Ref | Value) -> Ref | Value:
            if not isinstance(argument, Value):
                return argument
            values.append(argument)
            return Ref(first + len(values) - 1)

        def compared(side: Expression) -> Expression:
            if isinstance(side, Value) and side.type.name == "int":
                return replaced(side)
            return side

        for atom in rule.atoms:
            atoms.append(PositiveAtom(atom.relation, tuple([replaced(each) for each in atom.args])))
        if not values and (len(rule.atoms) > 1 or rule.negated):
            return None  # a trace may serve better than delta queries
        filters = [Filter(t.operator, compared(t.left), compared(t.right)) for t in rule.filters]
        if not values:
            return None
        negated = [
            NegatedAtom(atom.relation, tuple([each and replaced(each) for each in atom.args]))
            for atom in rule.negated
        ]
        more = [RuleVariable(f"constant{n}", value.type) for n, value in enumerate(values)]
        pattern = replace(
            rule,
            variables=(*rule.variables, *more),
            atoms=tuple(atoms),
            negated=tuple(negated),
            filters=tuple(filters),
        )
        return Pattern(join, pattern, values, screens=screens)

    @cached_property
    def queries(self) -> list[DeltaQuery]:
        """The delta queries of the pattern joined with a relation of constants: one per atom that
        may change.
        """
        first = len(self.rule.variables) - len(self.types)
        refs = tuple(Ref(first + number) for number in range(len(self.types)))
        needed = (*(ref.variable for ref in refs), *self.needed)
        atom = PositiveAtom(self.constants, refs)
        return delta_queries(replace(self.rule, atoms=(atom, *self.rule.atoms)), needed)[1:]

    @property
    def constants(self) -> str:
        """The name of the relation of constants."""
        return Source(self.key, Role.PARAMETERS)

    @cached_property
    def key(self) -> str:
        """A digest of the body and of what is needed of it."""
        return digest(repr((self.apart, self.needed, self.screens, body_of(self.rule))))


def _without_hidden(rule: NormalRule) -> NormalRule | None:
    """The atoms over relations that users know, and the comparisons of their variables: whatever
    satisfies the body satisfies these. None where that is the whole body, or one atom.
    """
    atoms = [each for each in rule.atoms if not is_hidden(each.relation)]
    numbers: dict[int, int] = {}
    for atom in atoms:
        for arg in atom.args:
            if isinstance(arg, Ref):
                numbers.setdefault(arg.variable, len(numbers))
    hidden = any(map(is_hidden, rule.reads))
    if not hidden or len(atoms) < 2:
        return None

    def placed(argument: Ref | Value) -> Ref | Value:
        return Ref(numbers[argument.variable]) if isinstance(argument, Ref) else argument

    def bound(*arguments: object) -> bool:
        return all(
            isinstance(each, Value) or (isinstance(each, Ref) and each.variable in numbers)
            for each in arguments
            if each is not None
        )

    return replace(
        rule,
        head=(),
        variables=tuple(rule.variables[number] for number in numbers),
        atoms=tuple(PositiveAtom(a.relation, tuple(map(placed, a.args))) for a in atoms),
        negated=tuple(
            NegatedAtom(a.relation, tuple(arg and placed(arg) for arg in a.args))
            for a in rule.negated
            if not is_hidden(a.relation) and bound(*a.args)
        ),
        assignments=(),
        filters=tuple(
            Filter(test.operator, placed(test.left), placed(test.right))
            for test in rule.filters
            if isinstance(test.left, Ref | Value)
            and isinstance(test.right, Ref | Value)
            and bound(test.left, test.right)
        ),
        lead=None,
    )


class Family:
    """Joins of one pattern. `members`: their keys by their constants, of rules with and without
    aggregates; `views`: for each of these keys the relations that it helps to derive. `reads`: the
    relations of which it follows the changes; `screens`: it tells who may change, and not how.
    """

    def __init__(
        self,
        pattern: Pattern,
        members: Mapping[Constants, Sequence[str]],
        views: Mapping[str, Sequence[str]],
    ):
        self.members, self.views = members, views
        self.reads, self.screens = frozenset(pattern.rule.reads), pattern.screens
        self._pattern, self._types = pattern, pattern.types
        self._known: tuple[TransientRelation, _Keys] | None = None

    @property
    def rule(self) -> NormalRule:
        """A rule that stands for all: the body of one, with variables for constants."""
        return self._pattern.rule

    def shown(self, key: str) -> tuple[str, str]:
        """The relation of a member, and a rule of the family, for reports."""
        return self.views[key][0], f"#{self._pattern.rule.source}"

    def delta(self, versions: Versions, context: Context, work: RuleWork) -> dict[str, Assignments]:
        """The change of the assignments of each member that has one, by its key; of one that
        screens those of its pattern. Costs what the changed rows join, whatever the number of
        members.
        """
        constants, keys = self._constants(context)
        readable = versions.with_rows(self._pattern.constants, constants)
        columns, signed = joined(signed_assignments(self._pattern.queries, readable, context, work))
        work.assignments += len(signed)
        return dict(self._divided(columns, signed, keys))

    def _divided(
        self,
        columns: Sequence[np.ndarray],
        signed: np.ndarray,
        keys: Mapping[tuple[int, ...], Sequence[str]],
    ) -> Iterable[tuple[str, Assignments]]:
        """Assignments by the member whose constants they have."""
        if not len(signed):
            return
        width = len(self._types)
        order = np.lexsort(tuple(columns[number] for number in reversed(range(width))))
        rows = [column[order] for column in columns]
        signed = signed[order]
        starts = equal_runs(rows, width).tolist()
        for first, last in zip(starts, [*starts[1:], len(signed)], strict=True):
            codes = tuple(int(column[first]) for column in rows[:width])
            for key in keys[codes]:
                yield key, ([each[first:last] for each in rows[width:]], signed[first:last])

    def _constants(self, context: Context) -> tuple[TransientRelation, _Keys]:
        """The relation of all constants, and the members of each; made once."""
        if self._known is None:
            dictionary = context.resources.dictionary
            keys: _Keys = {
                tuple(
                    [
                        encode_constant(type, value, dictionary)
                        for type, value in zip(self._types, values, strict=True)
                    ]
                ): joins
                for values, joins in self.members.items()
            }
            columns = tuple((f"constant{n}", type) for n, type in enumerate(self._types))
            rows = np.array(sorted(keys), np.int64).T.copy()
            schema = RelationSchema(self._pattern.constants, columns)
            self._known = TransientRelation(schema, context.resources.arena, rows), keys
        return self._known
