# SPDX-License-Identifier: Apache-2.0
"""Values for the variables of an atom that is to come, where its rule leaves them open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product

from lftj.errors import LftjError
from lftj.explain.derivations.literals import nearest, partly, rows_with
from lftj.explain.derivations.version import Goal, Version
from lftj.program import (
    Apply,
    CheckedAtom,
    CheckedLiteral,
    Expression,
    Filter,
    Ref,
    RuleVariable,
    Value,
)
from lftj.types import DATE, INT, NULL_CODE, TIMESTAMP, UNSIGNED, Type, code_of

_ROWS, _ENVS = 4, 80
"""Rows that values are taken from, and assignments that are guessed for one atom."""

Env = dict[int, int]
WHOLE = (INT, UNSIGNED, DATE, TIMESTAMP)
"""Types of which a value has one next to it."""
Constants = frozenset[tuple[Type, int]]
"""Values, in codes, with their types."""


def constants_of(version: Version, goals: Iterable[Goal]) -> Constants:
    """The values of some rows."""
    return frozenset(
        (type, code)
        for goal in goals
        for (_, type), code in zip(version.schema(goal.relation).columns, goal.row, strict=True)
    )


class Guesses:
    """Guesses for one rule and goal: values of near rows, of the goal, of the rule's comparisons,
    and `constants`; of whole numbers also those next to them. `cut_short`: of the last atom there
    were more.
    """

    def __init__(
        self,
        version: Version,
        variables: Sequence[RuleVariable],
        literals: Sequence[CheckedLiteral],
        goal: Goal,
        constants: Constants,
    ):
        self._version, self._variables = version, variables
        known = dict.fromkeys(constants_of(version, [goal]))
        for each in literals:
            if isinstance(each, Filter):
                for side in (each.left, each.right):
                    for value in _constants(side):
                        known[value.type, version.encode(value.type, value.value)] = None
        self._equations = [each for each in literals if isinstance(each, Filter)]
        self._own = list(known)
        self._known = [*known, *sorted(constants - known.keys(), key=lambda each: each[1])]
        self.cut_short = False

    def beside(self, goals: Iterable[Goal]) -> Guesses:
        """The guesses for what is lacking beside some rows that are to come."""
        more = [each for each in constants_of(self._version, goals) if each not in self._known]
        if not more:
            return self
        made = object.__new__(Guesses)
        made._version, made._variables, made._own = self._version, self._variables, self._own
        made._equations = self._equations
        made._known, made.cut_short = [*self._known, *more], False
        return made

    def of(self, atom: CheckedAtom, env: Env) -> Iterator[Env]:
        """Assignments with values for all variables of an atom; the one given where it has them."""
        self.cut_short = False
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
            self._values(variable, [each[variable] for each in whole], env) for variable in lacking
        ]
        mixed = (dict(zip(lacking, each, strict=True)) for each in product(*single))
        seen: list[Env] = []
        for each in islice((some for found in (whole, mixed) for some in found), 2 * _ENVS):
            if each not in seen:
                seen.append(each)
                yield {**env, **each}
        self.cut_short = next(mixed, None) is not None

    def _values(self, variable: int, seen: Sequence[int], env: Env) -> list[int]:
        type = self._variables[variable].type
        if type.name == "bool":
            return [0, 1]
        fitting = [code for other, code in self._known if other == type]
        own = [code for other, code in self._own if other == type] if type in WHOLE else []
        if type in WHOLE:
            own += [code for each, code in env.items() if self._variables[each].type == type]
        own = [code for code in own if code != NULL_CODE]
        near = [code + by for code in own for by in (1, -1) if self._is_value(type, code + by)]
        if type.name == "float":
            near = [code for each in fitting for code in self._floats_beside(type, each)]
        solved = [
            code
            for each in self._equations
            if (code := solution(each, variable, env, self._variables)) is not None
        ]
        found = dict.fromkeys([*solved, *seen[:_ROWS], *fitting, *near])
        return list(found) or [self._default(type)]

    def _is_value(self, type: Type, code: int) -> bool:
        if not -(1 << 63) <= code < 1 << 63:
            return False
        try:
            code_of(type, self._version.decode(type, code))
        except (LftjError, OverflowError, ValueError):
            return False
        return True

    def _floats_beside(self, type: Type, code: int) -> list[int]:
        value = self._version.decode(type, code)
        if value is None:
            return []
        return [self._version.encode(type, value + by) for by in (1.0, -1.0)]

    def _default(self, type: Type) -> int:
        return self._version.encode(type, "") if type.name == "str" else 0


def solution(
    equation: Filter, variable: int, env: Env, variables: Sequence[RuleVariable]
) -> int | None:
    """The value of a variable by an equation `known = variable + constant`, of plain integers."""
    match equation:
        case Filter("=", Ref(known), Apply("+" | "-" as operator, (left, right))) if (
            known in env and variables[known].type == INT
        ):
            value = env[known]
        case _:
            return None
    match left, right:
        case Ref(found), Value(value=int(constant)) if found == variable:
            code = value - constant if operator == "+" else value + constant
        case Value(value=int(constant)), Ref(found) if found == variable:
            code = value - constant if operator == "+" else constant - value
        case _:
            return None
    return code if -(1 << 63) <= code < 1 << 63 else None


def _constants(expression: Expression) -> Iterator[Value]:
    if isinstance(expression, Value):
        yield expression
    elif isinstance(expression, Apply):
        for arg in expression.args:
            yield from _constants(arg)
