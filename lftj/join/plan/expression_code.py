# SPDX-License-Identifier: Apache-2.0
"""Compiler from expressions to the code of the kernel's stack machine (`expression_kernels`)."""

from __future__ import annotations

from lftj.functions import OPERATORS
from lftj.functions.conditional import IF
from lftj.functions.nulls import KEEP_NULL, NO_NULL
from lftj.join.kernels import operation_kernels as code
from lftj.join.kernels.layout_kernels import LAST_BIT
from lftj.join.plan.plan import Leveled
from lftj.join.plan.variable_orders import variables_of
from lftj.program.arithmetic import operator_may_fail
from lftj.program.normal_form import Apply, Expression, Filter, Ref, Value, is_null, type_of
from lftj.types import INT64_MAX, NULL_CODE, Type, code_range, encode_constant
from lftj.types.dictionary import Dictionary

_WHOLE = {
    name: getattr(code, operator.kernel) for name, operator in OPERATORS.items() if operator.kernel
} | {"mirror": code.BIT_NOT}
_FLOAT = {
    name: getattr(code, operator.float_kernel)
    for name, operator in OPERATORS.items()
    if operator.float_kernel
} | {"mirror": code.BIT_NOT}
"""Operations by operators, of results that are no floats and of floats."""

_OF_DECIMALS = {
    "to_float": code.SCALED_TO_FLOAT,
    "to_int": code.DIVIDE,
    "floor": code.FLOOR,
    "ceil": code.CEILING,
}
"""Operations of a decimal and the power of ten of its scale."""

_AS_IT_IS = frozenset(OPERATORS) - frozenset(_WHOLE)
_OF_DAYS = frozenset(name for name, operator in OPERATORS.items() if operator.of_days)
COMPARISONS = {
    "=": code.EQUAL, "!=": code.NOT_EQUAL, "<": code.LESS, "<=": code.LESS_EQUAL, ">": code.GREATER,
    ">=": code.GREATER_EQUAL,
}  # fmt: skip
"""Operations of comparisons of integers, by their operators."""


class ExpressionCode:
    """The code of a plan's expressions, one after the other in `words`. `stack`: how many words its
    evaluation needs.
    """

    def __init__(self, plan: Leveled, dictionary: Dictionary):
        self._plan = plan
        self._dictionary = dictionary
        self.words: list[int] = []
        self.stack = 0

    def encode(self, value: Value) -> int:
        """A constant as it is stored."""
        return encode_constant(value.type, value.value, self._dictionary)

    def levels_read(self, *expressions: Expression) -> int:
        """The levels whose bindings these expressions read, as a set of bits; levels beyond the
        last bit are left out.
        """
        variables = set().union(*(variables_of(expression) for expression in expressions))
        levels = self._plan.levels[: LAST_BIT + 1]
        return sum(
            1 << number for number, level in enumerate(levels) if level.variable in variables
        )

    def compute(self, expression: Expression) -> int:
        """Add the code of an expression; where it starts."""
        start = len(self.words)
        self._emit(expression, 1)
        self.words.append(code.END_CODE)
        return start

    def test(self, condition: Filter) -> int:
        """Add the code of a comparison, which gives 1 or 0; where it starts."""
        start = len(self.words)
        self._compare(condition.operator, condition.left, condition.right, 1)
        self.words.append(code.END_CODE)
        return start

    def _compare(self, operator: str, left: Expression, right: Expression, depth: int) -> None:
        self._emit(left, depth)
        self._emit(right, depth + 1)
        operation = COMPARISONS[operator]
        if operation < code.LESS or is_null(right):
            pass
        elif type_of(left, self._plan.rule.variables).name == "str":
            operation += code.TEXT_LESS - code.LESS
        self.words.append(operation)

    def _choose(
        self, condition: Expression, one: Expression, other: Expression, depth: int
    ) -> None:
        """Add the code of a condition and of two values, of which one is skipped."""
        self._emit(condition, depth)
        self.words += [code.SKIP_UNLESS, 0]
        first = len(self.words)
        self._emit(one, depth)
        self.words += [code.SKIP, 0]
        second = len(self.words)
        self.words[first - 1] = second - first
        self._emit(other, depth)
        self.words[second - 1] = len(self.words) - second

    def _emit(self, expression: Expression, depth: int) -> None:
        self.stack = max(self.stack, depth)
        if isinstance(expression, Ref):
            level = next(
                i
                for i, level in enumerate(self._plan.levels)
                if level.variable == expression.variable
            )
            self.words += [code.PUSH_BINDING, level]
        elif isinstance(expression, Value):
            self.words += [code.PUSH_CONSTANT, self.encode(expression)]
        elif expression.operator == IF.name:
            condition, one, other = expression.args
            self._choose(condition, one, other, depth)
        elif expression.operator in COMPARISONS:
            left, right = expression.args
            self._compare(expression.operator, left, right, depth)
        else:
            # one operand or two: normalisation nests min and max of several in pairs
            operand = type_of(expression.args[0], self._plan.rule.variables)
            lifts = expression.type.optional and expression.operator not in KEEP_NULL
            lifted = code.LIFTED if lifts and expression.operator != NO_NULL else 0
            if (scaling := _scaling(expression, operand)) is not None:
                self._emit(expression.args[0], depth)
                self.stack = max(self.stack, depth + 1)
                self.words += [code.PUSH_CONSTANT, scaling[0], scaling[1] + lifted]
            else:
                for i, argument in enumerate(expression.args):
                    self._emit(argument, depth + i)
                if operand.name == "timestamp" and expression.operator in _OF_DAYS:
                    self.words.append(code.DAY_OF_TIME + lifted)
                if expression.operator not in _AS_IT_IS:
                    self.words.append(_operation(expression) + lifted)
            if (bounds := _bounds(expression)) is not None:
                self.stack = max(self.stack, depth + 1)
                self.words += [code.PUSH_CONSTANT, bounds[0], code.AT_LEAST + lifted]
                self.words += [code.PUSH_CONSTANT, bounds[1], code.AT_MOST + lifted]


def _bounds(expression: Apply) -> tuple[int, int] | None:
    """The codes that a result may have, where it may leave them."""
    if expression.operator == NO_NULL:
        return NULL_CODE + 1, INT64_MAX
    if operator_may_fail(expression.operator, expression.type):
        return code_range(expression.type)
    return None


def _operation(expression: Apply) -> int:
    return (_FLOAT if expression.type.name == "float" else _WHOLE)[expression.operator]


def _scaling(expression: Apply, operand: Type) -> tuple[int, int] | None:
    """The power of ten, and the operation with it, that a conversion from or to a decimal is; None
    for anything else.
    """
    scale = operand.scale or 0
    if expression.operator == "round":
        places = expression.type.scale or 0
        return (
            (10 ** (places - scale), code.MULTIPLY)
            if places >= scale
            else (10 ** (scale - places), code.ROUNDING)
        )
    if operand.name != "decimal":
        return None
    operation = _OF_DECIMALS.get(expression.operator)
    return None if operation is None else (10**scale, operation)
