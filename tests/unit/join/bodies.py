"""Conjunctive rules from few words, and relations of given sizes for them to be planned over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lftj.program.normal_form import (
    Apply,
    Assignment,
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
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.types import INT

Argument = str | int | None
Term = str | int | tuple[str, str | int, str | int] | None
"""An argument, or an operator with two operands."""

Literal = tuple[str, Sequence[Argument]]


class Body:
    """A rule over the variables of `names`: arguments are variable names, integers as constants,
    None for a wildcard under negation.
    """

    def __init__(
        self,
        names: str,
        atoms: Sequence[Literal],
        negated: Sequence[Literal] = (),
        assignments: Sequence[tuple[str, Expression]] = (),
        filters: Sequence[tuple[str, Term, Term]] = (),
    ):
        self.names = names.split()
        self.rule = NormalRule(
            1,
            "r",
            (),
            tuple(RuleVariable(name, INT) for name in self.names),
            tuple(
                PositiveAtom(name, tuple(map(self.term, arguments))) for name, arguments in atoms
            ),
            tuple(
                NegatedAtom(name, tuple(None if a is None else self.term(a) for a in arguments))
                for name, arguments in negated
            ),
            tuple(
                Assignment(self.names.index(name), expression) for name, expression in assignments
            ),
            tuple(
                Filter(operator, self.expression(left), self.expression(right))
                for operator, left, right in filters
            ),
        )

    def term(self, argument: Argument) -> Ref | Value:
        """A variable or a constant."""
        return (
            Ref(self.names.index(argument)) if isinstance(argument, str) else Value(argument, INT)
        )

    def expression(self, term: Term) -> Expression:
        """A variable, a constant or arithmetic."""
        return (
            Apply(term[0], (self.term(term[1]), self.term(term[2])), INT)
            if isinstance(term, tuple)
            else self.term(term)
        )

    def numbers(self, names: str) -> tuple[int, ...]:
        """The numbers of variables."""
        return tuple(self.names.index(name) for name in names.split())


def graph_rule(atoms: Sequence[tuple[int, int]]) -> NormalRule:
    """A rule of atoms of `e`, each between two variables given by their numbers: `(0, 1), (1, 2),
    (0, 2)` are triangles.
    """
    variables = tuple(RuleVariable(f"v{i}", INT) for i in range(1 + max(map(max, atoms))))
    return NormalRule(
        1, "r", (), variables, tuple(PositiveAtom("e", (Ref(a), Ref(b))) for a, b in atoms)
    )


def relations(
    sizes: Mapping[str, Sequence[int]], arena: Arena | None = None
) -> dict[str, RelationVersion]:
    """Relations by name: (rows, distinct values of each column …). Columns are spread evenly;
    combinations are not made distinct first.
    """
    arena = arena or Arena()
    found = {}
    for name, (rows, *distinct) in sizes.items():
        schema = RelationSchema(name, tuple((f"c{i}", INT) for i in range(len(distinct))))
        numbers = np.arange(rows)
        columns = [
            (numbers * 7919 // max(1, rows // most)) % most if most < rows else numbers
            for most in distinct
        ]
        found[name] = RelationVersion.build(
            schema, arena, columns or [np.zeros(min(rows, 1), np.int64)]
        )
    return found
