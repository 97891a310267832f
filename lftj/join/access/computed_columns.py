"""Computations and comparisons by arithmetic, or by the order of texts, on rows that found all
their partners.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lftj.join.access.atom_read import CodeTest, code_test
from lftj.join.access.column_expressions import by_columns, column_values
from lftj.join.context import Context
from lftj.join.kernels import layout_kernels as at
from lftj.join.kernels.lookup_kernels import compute_rows
from lftj.join.plan.expression_code import ExpressionCode
from lftj.join.plan.plan import Level
from lftj.join.plan.variable_orders import variables_of
from lftj.program.normal_form import Assignment, Filter, NormalRule, Ref
from scantree.jit import address

Computed = Assignment | Filter
"""A variable and its value; or a comparison."""


def computations(rule: NormalRule, bound: frozenset[int]) -> tuple[list[CodeTest], list[Computed]]:
    """List the comparisons and computations that are left once these variables are bound:
    comparisons of codes first, then the rest in this order.

    An assignment of a variable that has a value is a comparison.
    """
    tests: list[CodeTest] = []
    computed: list[Computed] = []
    known, left = set(bound), list(rule.assignments)
    while left:
        # normalisation has made sure that there is one
        ready = next(each for each in left if variables_of(each.expression) <= known)
        left.remove(ready)
        computed.append(
            Filter("=", Ref(ready.variable), ready.expression) if ready.variable in known else ready
        )
        known.add(ready.variable)
    for condition in rule.filters:
        test = code_test(condition, rule) if reads(condition) <= bound else None
        if test is None:
            computed.append(condition)
        else:
            tests.append(test)
    return tests, computed


def reads(computed: Computed) -> frozenset[int]:
    """The variables that it is computed from."""
    if isinstance(computed, Assignment):
        return frozenset(variables_of(computed.expression))
    return frozenset(variables_of(computed.left) | variables_of(computed.right))


class _Numbered(NamedTuple):
    """The variables of a rule as they are numbered, each a level."""

    rule: NormalRule
    levels: Sequence[Level]


class Computation:
    """One of them, ready to be run."""

    def __init__(self, computed: Computed, rule: NormalRule, context: Context):
        numbered = enumerate(rule.variables)
        plan = _Numbered(rule, [Level(variable.name, number) for number, variable in numbered])
        code = ExpressionCode(plan, context.resources.dictionary)
        self.target = computed.variable if isinstance(computed, Assignment) else None
        start = (
            code.compute(computed.expression)
            if isinstance(computed, Assignment)
            else code.test(computed)
        )
        assert start == 0
        self._inputs = tuple(sorted(reads(computed)))
        self._levels = np.array(self._inputs, np.int64)
        self._words = np.array(code.words, np.int64)
        self._by_columns = code.words if by_columns(code.words) else None
        self._state = np.zeros(at.STATE_HEADER + len(plan.levels) + code.stack, np.int64)
        self._state[at.BINDINGS] = at.STATE_HEADER
        self._state[at.STACK] = at.STATE_HEADER + len(plan.levels)
        self._text = context.resources.dictionary.flat()

    def run(self, found: Mapping[int, np.ndarray], rows: int) -> np.ndarray | None:
        """The value for each of so many rows, of a comparison whether it holds; None where some row
        has none.
        """
        if self._by_columns is not None and rows:
            bindings = dict(
                zip(self._levels.tolist(), [found[each] for each in self._inputs], strict=True)
            )
            if (whole := column_values(self._by_columns, bindings, rows)) is not None:
                return whole
        inputs = np.array([found[variable] for variable in self._inputs], np.int64).reshape(
            len(self._inputs), rows
        )
        values = np.empty(rows, np.int64)
        offsets, text = map(address, self._text)
        whole = compute_rows(
            address(self._words), address(self._state), self._levels, inputs, offsets, text, values
        )
        return values if whole else None
