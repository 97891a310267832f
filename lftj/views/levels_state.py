# SPDX-License-Identifier: Apache-2.0
"""State of a stratum that is followed by levels (`lftj.views.levels_node`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from lftj.heads.aggregate_shape import AggregateShape
from lftj.heads.aggregate_state import AggregateState
from lftj.program.additive import Addition, additions
from lftj.program.normal_form import (
    AggregateTerm,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    RuleVariable,
)
from lftj.scantree import Arena, Tree
from lftj.scantree.frozen import frozen
from lftj.storage.relation import RelationVersion
from lftj.views.contribution import Contribution


@frozen
class LevelsState:
    """One version of what a summed stratum keeps: sums and levels by relation, and a level that
    none is above. `possible`: where rules judge values, the groups that may be there
    (`lftj.views.possible_groups`); None where these form a cycle, or are not known.
    """

    rules: tuple[NormalRule, ...]
    contributions: tuple[Contribution, ...]
    sums: Mapping[str, AggregateState]
    levels: Mapping[str, Tree]
    highest: int = 0
    work: int = 0
    possible: Possible | None = None

    @staticmethod
    def begun(rules: tuple[NormalRule, ...]) -> LevelsState:
        """The state of these rules before anything was evaluated."""
        known = additions(rules)
        return LevelsState(rules, tuple(Contribution(rule, known) for rule in rules), {}, {})

    @cached_property
    def additions(self) -> dict[str, Addition]:
        """The additions by relation."""
        return additions(self.rules)

    @cached_property
    def groups(self) -> int:
        """The number of groups."""
        return sum(map(len, self.sums.values()))

    @cached_property
    def bytes(self) -> int:
        """Bytes that are kept beside the rows."""
        sums = sum(sum(each.memory.values()) for each in self.sums.values())
        if self.possible is not None:
            sums += self.possible.bytes
        return sums + sum(8 * len(each) * (each.key_width + 1) for each in self.levels.values())


@frozen
class Possible:
    """The state and the relations of possible groups, which form no cycle."""

    state: LevelsState
    relations: Mapping[str, RelationVersion]

    @property
    def bytes(self) -> int:
        """Bytes that are kept."""
        return self.state.bytes + sum(
            sum(each.memory().values()) for each in self.relations.values()
        )


def no_levels(schema: RelationSchema, arena: Arena) -> Tree:
    """Levels of no groups of a relation."""
    return Tree.empty(arena, max(1, schema.arity - 1), 1)


def sum_shape(schema: RelationSchema, addition: Addition) -> AggregateShape:
    """The shape of a relation's head, over rows of its group and of what is added."""
    at = addition.column
    key = [column for place, column in enumerate(schema.columns) if place != at]
    result = schema.columns[at][1]
    types = addition.types if addition.of_users else (result,)
    variables = [RuleVariable(name, type_) for name, type_ in key]
    variables += [RuleVariable("_", type_) for type_ in types]
    args = tuple(Ref(len(key) + place) for place in range(len(types)))
    function = addition.function if addition.of_users else "sum"
    head: list[Ref | AggregateTerm] = [Ref(place) for place in range(len(key))]
    head.insert(at, AggregateTerm(function, args, result))
    atom = PositiveAtom(schema.name, tuple(Ref(place) for place in range(len(variables))))
    shape = AggregateShape.of(NormalRule(0, schema.name, tuple(head), tuple(variables), (atom,)))
    assert shape.needed == tuple(range(len(variables)))
    return shape
