# SPDX-License-Identifier: Apache-2.0
"""One committed version as proofs are searched in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lftj.engine.commit import begin_calls
from lftj.engine.versions import State
from lftj.program import RelationSchema
from lftj.proofs import OfUser, kind_named
from lftj.storage import base_name
from lftj.types import Type, decode_scalar, encode_constant

if TYPE_CHECKING:
    from lftj.engine.live import Engine

Codes = tuple[int, ...]


class Goal(NamedTuple):
    """A row of a relation, in codes."""

    relation: str
    row: Codes


class Version:
    """Rows and rules of one version, with the surroundings of searches, of which nothing is kept.

    Use while the dictionary is `in_use`.
    """

    def __init__(self, engine: Engine, state: State):
        self.state = state
        self.context = engine.passing_context(state.aggregates)
        self.relations = state.database
        begin_calls(state, self.context)

    def of_function(self, name: str, *values: object) -> Any:
        """The result of a user's function for these values: the stored one, where there is one."""
        signature, resources = self.state.program.catalog.functions[name], self.context.resources
        arguments = [
            np.array([self.encode(type, value)], np.int64)
            for type, value in zip(signature.argument_types, values, strict=True)
        ]
        (code,) = resources.called.codes(name, arguments, self.context).tolist()
        return self.decode(signature.result_type, code)

    @cached_property
    def functions(self) -> Mapping[str, OfUser]:
        """Functions of users as the checker of proofs knows them, with stored results."""
        return {
            name: OfUser(
                [kind_named(str(type)) for type in each.argument_types],
                kind_named(str(each.result_type)),
                partial(self.of_function, name),
            )
            for name, each in self.state.program.catalog.functions.items()
        }

    def schema(self, relation: str) -> RelationSchema:
        """The schema of a relation, hidden ones included."""
        return self.relations.schema(relation)

    def encode(self, type: Type, value: object) -> int:
        """The code of a value."""
        return encode_constant(type, value, self.context.resources.dictionary)

    def decode(self, type: Type, code: int) -> Any:
        """The value of a code."""
        return decode_scalar(type, code, self.context.resources.dictionary)

    def goal(self, relation: str, values: Sequence[object]) -> Goal:
        """A row of the user's in codes, whether it is there or not."""
        columns = self.schema(relation).columns
        pairs = zip(columns, values, strict=True)
        return Goal(relation, tuple(self.encode(type, value) for (_, type), value in pairs))

    def values(self, relation: str, row: Codes) -> tuple[Any, ...]:
        """The values of a row."""
        columns, dictionary = self.schema(relation).columns, self.context.resources.dictionary
        return tuple(
            [
                decode_scalar(each[1], code, dictionary)
                for each, code in zip(columns, row, strict=True)
            ]
        )

    @cached_property
    def derived(self) -> frozenset[str]:
        """The relations that some rule derives."""
        rules = (source.rule for source in self.state.program.sources.values())
        return frozenset(head.relation for rule in rules for head in rule.heads)

    def base(self, relation: str, rows: Sequence[Codes]) -> list[bool]:
        """For each of these rows, which the relation has, whether it is a base fact."""
        if relation not in self.derived and base_name(relation) not in self.relations:
            return [True] * len(rows)
        if base_name(relation) not in self.relations:
            return [False] * len(rows)
        return self.has(base_name(relation), rows)

    def is_base(self, goal: Goal) -> bool:
        """True for a row that is a base fact, whether its relation has taken it or not."""
        name = base_name(goal.relation)
        known = name if name in self.relations else goal.relation
        if known == goal.relation and known in self.derived:
            return False
        return self.has(known, [goal.row])[0]

    def has(self, relation: str, rows: Sequence[Codes]) -> list[bool]:
        """For each of these rows whether the relation has it."""
        version = self.relations[relation]
        if not version.schema.arity:
            return [version.count > 0] * len(rows)
        if not rows or not version.count:
            return [False] * len(rows)
        order = sorted(range(len(rows)), key=rows.__getitem__)
        ascending = matrix([rows[place] for place in order], version.schema.arity)
        found = version.contains(list(ascending))
        answers = [False] * len(rows)
        for place, here in zip(order, found.tolist(), strict=True):
            answers[place] = here
        return answers


def matrix(rows: Iterable[Codes], width: int) -> np.ndarray:
    """Rows as a matrix of columns × rows."""
    listed = list(rows)
    made = np.array(listed, np.int64).reshape(len(listed), width)
    return np.ascontiguousarray(made.T)
