"""Values for the variables of an atom that is to come, where its rule leaves them open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from lftj.explain.literals import nearest, partly, rows_with
from lftj.explain.version import Goal, Version
from lftj.program.checked import CheckedAtom, CheckedLiteral
from lftj.program.normal_form import Apply, Expression, Filter, Ref, RuleVariable, Value
from lftj.types import FLOAT, STR, Type

_ROWS, _ENVS = 4, 40
"""Rows that values are taken from, and assignments that are guessed for one atom."""

Env = dict[int, int]


class Guesses:
    """Guesses for one rule and goal: values of near rows, of the goal, of the rule's comparisons;
    of whole numbers also those next to them.
    """

    def __init__(
        self,
        version: Version,
        variables: Sequence[RuleVariable],
        literals: Sequence[CheckedLiteral],
        goal: Goal,
    ):
        self._version, self._variables = version, variables
        columns = version.schema(goal.relation).columns
        known = [(type, code) for (_, type), code in zip(columns, goal.row, strict=True)]
        for each in literals:
            if isinstance(each, Filter):
                known += [
                    (value.type, version.encode(value.type, value.value))
                    for side in (each.left, each.right)
                    for value in _constants(side)
                ]
        self._known = known

    def of(self, atom: CheckedAtom, env: Env) -> Iterator[Env]:
        """Assignments with values for all variables of an atom; the one given where it has them."""
        known = partly(atom, env, self._version)
        lacking = {
            arg.variable: place
            for place, arg in enumerate(atom.args)
            if place not in known and isinstance(arg, Ref)
        }
        if any(isinstance(arg, Apply) for arg in atom.args):
            return  # an argument that is computed is left to other literals
        if not lacking:
            yield env
            return
        rows = nearest(self._version, atom.relation, known, _ROWS) if known else []
        rows += rows_with(self._version, atom.relation, {}, _ROWS)
        whole = [{variable: row[place] for variable, place in lacking.items()} for row in rows]
        single = [
            self._values(variable, [each[variable] for each in whole]) for variable in lacking
        ]
        mixed = (dict(zip(lacking, each, strict=True)) for each in product(*single))
        seen: list[Env] = []
        for each in islice((some for found in (whole, mixed) for some in found), 2 * _ENVS):
            if each not in seen:
                seen.append(each)
                yield {**env, **each}

    def _values(self, variable: int, seen: Sequence[int]) -> list[int]:
        type = self._variables[variable].type
        fitting = [code for other, code in self._known if other == type]
        near = [] if type in (STR, FLOAT) else [code + by for code in fitting for by in (1, -1)]
        found = dict.fromkeys([*seen[:_ROWS], *fitting, *near])
        return list(found) or [self._default(type)]

    def _default(self, type: Type) -> int:
        return self._version.encode(type, "") if type == STR else 0


def _constants(expression: Expression) -> Iterator[Value]:
    if isinstance(expression, Value):
        yield expression
    elif isinstance(expression, Apply):
        for arg in expression.args:
            yield from _constants(arg)
