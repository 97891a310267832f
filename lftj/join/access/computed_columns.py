# SPDX-License-Identifier: Apache-2.0
"""Computations and comparisons by arithmetic, or by the order of texts, on rows that found all
their partners.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from lftj.scantree.jit import address
from lftj.types import INT64_MAX, INT64_MIN

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


_MOST_KNOWN = 1 << 20  # results that are remembered: 9 MiB
_REPEATED = 2  # rows for each value that may occur, from which on results are remembered


class _Known:
    """Results by the code they are computed from, each computed when it is met first: dates, and
    texts of few kinds, stand in many rows, and take longer to compute with than to look up.
    """

    def __init__(self, most: int):
        """`most`: codes that the results may span, at least 1; of which the largest power of two is
        taken, so that a code's last bits are its place.
        """
        self._mask = (1 << (most.bit_length() - 1)) - 1
        self._low, self._high = INT64_MAX, INT64_MIN
        self._results = np.empty(self._mask + 1, np.int64)
        self._met = np.zeros(self._mask + 1, np.bool_)

    def takes(self, codes: np.ndarray) -> bool:
        """Test for codes, some, that lie close together and to those before."""
        self._low = min(self._low, int(codes.min()))
        self._high = max(self._high, int(codes.max()))
        return self._high - self._low <= self._mask

    def of(
        self, codes: np.ndarray, compute: Callable[[np.ndarray], np.ndarray | None]
    ) -> np.ndarray | None:
        """The results for codes that it takes; None where `compute` has none for some."""
        places = codes & self._mask
        if not (met := self._met.take(places)).all():
            fresh = ~met
            missing = places[fresh]
            if (found := compute(codes[fresh])) is None:
                return None
            self._results[missing], self._met[missing] = found, True
        return self._results.take(places)


class Computation:
    """One of them, ready to be run, on `rows` rows at most in all."""

    def __init__(self, computed: Computed, rule: NormalRule, context: Context, rows: int):
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
        alone = len(self._inputs) == 1
        most = min(_MOST_KNOWN, rows // _REPEATED) if alone else 0
        self._known = _Known(most) if most else None

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
        if self._known is not None and rows:
            (codes,) = [found[variable] for variable in self._inputs]
            if self._known.takes(codes):
                return self._known.of(codes, self._each)
            self._known = None
        return self._each(*[found[variable] for variable in self._inputs], rows=rows)

    def _each(self, *columns: np.ndarray, rows: int | None = None) -> np.ndarray | None:
        """As `run`, row by row."""
        rows = len(columns[0]) if rows is None else rows
        inputs = np.array(columns, np.int64).reshape(len(columns), rows)
        values = np.empty(rows, np.int64)
        offsets, text = map(address, self._text)
        whole = compute_rows(
            address(self._words), address(self._state), self._levels, inputs, offsets, text, values
        )
        return values if whole else None
