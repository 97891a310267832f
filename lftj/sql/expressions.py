# SPDX-License-Identifier: Apache-2.0
"""Terms as SQL: arithmetic and functors over the SQL of the variables.

A result that its type cannot hold is an error, as in rules: integers and decimals fail by
themselves, division by zero and unsigned numbers below zero are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lftj.errors import LftjError
from lftj.functions import (
    AGGREGATES,
    OPERATORS,
    USERS,
    AtShare,
    Sql,
    StateKind,
    functor_named,
    translated,
)
from lftj.program import Apply, Expression, FunctorCall, Ref, RuleVariable, Value, is_null, type_of
from lftj.sql.dialects import Dialect, cannot_say
from lftj.types import Type

Names = Mapping[int, str]
"""The SQL of each variable that is bound."""

_MOST_FACTORS = 64
_COMPARED = {"!=": "<>"}


def _of_values(args: Sequence[str]) -> str:
    """The clause that leaves out rows with NULL."""
    return f" FILTER (WHERE {' AND '.join(f'{each} IS NOT NULL' for each in args)})"


def _keys(args: Sequence[str], constant: Sequence[bool]) -> str:
    """Keys that order rows. A constant orders nothing, and databases take a number for a
    column's place.
    """
    return ", ".join(arg for arg, same in zip(args, constant, strict=True) if not same)


class Terms:
    """Terms of one rule in one dialect."""

    def __init__(self, dialect: Dialect, variables: Sequence[RuleVariable]):
        self.dialect = dialect
        self.variables = variables

    # ── expressions ───────────────────────────────────────────────────────────────────────────────
    def of(self, term: Expression, names: Names) -> str:
        """The SQL of a term whose variables are all bound. Raises SqlError (E370)."""
        match term:
            case Ref(variable=variable):
                return names[variable]
            case Value(value=value, type=type):
                return self.dialect.constant(value, type)
            case Apply(operator=operator, args=args, type=type):
                return self._apply(operator, args, type, names)

    def compared(self, operator: str, left: Expression, right: Expression, names: Names) -> str:
        """A comparison; those with NULL ask whether there is a value."""
        if is_null(right):
            missing = "IS NULL" if operator in ("=", "<=") else "IS NOT NULL"
            return f"{self.of(left, names)} {missing}"
        sides = self.of(left, names), self.of(right, names)
        return f"{sides[0]} {_COMPARED.get(operator, operator)} {sides[1]}"

    def typed(self, term: Expression, type: Type, names: Names) -> str:
        """A term as the value of a column: constants get the column's type."""
        written = self.of(term, names)
        if isinstance(term, Ref) or type.name in ("bool", "date", "timestamp"):
            return written
        return f"CAST({written} AS {self.dialect.type(type)})"

    def _apply(self, operator: str, args: tuple[Expression, ...], type: Type, names: Names) -> str:
        written = [self.of(arg, names) for arg in args]
        if operator in ("+", "-") and self._type(args[0]).name in ("date", "timestamp"):
            return self._moved(operator, args, written)
        if operator in ("min", "max") and type.optional:  # which databases have ignore NULL
            plain = self._apply(operator, args, type.required, names)
            there = " AND ".join(f"{each} IS NOT NULL" for each in written)
            return f"CASE WHEN {there} THEN {plain} END"
        if operator in ("/", "%"):
            return self._divided(operator, args[1], written, type)
        if operator == "^":
            return self._power(args, written, type)
        if operator == "round":
            return self._to_places(written[0], written[1], type)
        known = OPERATORS.get(operator)
        if known is None or known.sql is None:
            raise cannot_say(f"the operator `{operator}`", self.dialect.name)
        result = self._filled(known.sql, written)
        if type.unsigned and known.below:
            return self._not_negative(result, "a difference" if operator == "-" else "a number")
        if type.name == "decimal" and operator in ("+", "-", "*", "floor", "ceil"):
            return f"CAST({result} AS {self.dialect.type(type)})"
        return result

    def _filled(self, sql: Sql, args: Sequence[str], **more: str) -> str:
        """A function's SQL in the dialect, with these arguments."""
        text = sql if isinstance(sql, str) else sql[self.dialect.name]
        return text.format(*args, args=", ".join(args), **more)

    def _type(self, term: Expression) -> Type:
        return type_of(term, self.variables)

    def _not_negative(self, written: str, what: str) -> str:
        failure = self.dialect.error(f"{what} is below zero, where it is unsigned")
        return f"CASE WHEN {written} < 0 THEN {failure} ELSE {written} END"

    def _to_places(self, value: str, places: str, type: Type) -> str:
        return f"CAST(round({value}, CAST({places} AS INTEGER)) AS {self.dialect.type(type)})"

    def _moved(self, operator: str, args: tuple[Expression, ...], written: list[str]) -> str:
        """Dates and timestamps, moved by days and microseconds, or how far they lie apart."""
        moment, other = written
        if self._type(args[1]).name == self._type(args[0]).name:
            between = "days" if self._type(args[0]).name == "date" else "microseconds"
            return self.function(between, moment, other)
        if self._type(args[0]).name == "timestamp":
            moved = self.function("later", moment, other if operator == "+" else f"(-({other}))")
        else:
            moved = self.function("other day", moment, operator, other)
        failure = self.dialect.error(f"a {self._type(args[0])} beyond the years 1 to 9999")
        return f"CASE WHEN year({moved}) BETWEEN 1 AND 9999 THEN {moved} ELSE {failure} END"

    def _divided(self, operator: str, divisor: Expression, written: list[str], type: Type) -> str:
        left, right = written
        if type.name == "int":
            quotient = (
                self.function("//", left, right) if operator == "/" else f"({left} % {right})"
            )
        elif type.name == "float":
            quotient = f"({left} {operator} {right})"
        else:
            raise cannot_say(f"`{operator}` on {type}", self.dialect.name)
        if isinstance(divisor, Value) and divisor.value not in (0, -1):
            return quotient
        failure = self.dialect.error(f"division by zero in {operator}")
        # Databases divide first, and the least integer has no quotient by −1.
        whole = operator == "%" and type.name == "int"
        none = f" WHEN {right} = -1 THEN 0" if whole else ""
        return f"CASE WHEN {right} = 0 THEN {failure}{none} ELSE {quotient} END"

    def _power(self, args: tuple[Expression, ...], written: list[str], type: Type) -> str:
        if type.name == "float":
            return f"power({written[0]}, {written[1]})"
        exponent = args[1].value if isinstance(args[1], Value) else None
        if not isinstance(exponent, int) or not 0 <= exponent <= _MOST_FACTORS:
            raise cannot_say("an integer to a power that is no constant", self.dialect.name)
        return f"({' * '.join([written[0]] * exponent)})" if exponent else "1"

    # ── aggregates ────────────────────────────────────────────────────────────────────────────────
    def aggregate(
        self, function: str, args: Sequence[str], type: Type, constant: Sequence[bool] = ()
    ) -> str:
        """An aggregate of the rows of a group; `constant` marks the arguments that order nothing.
        Where its `type` is optional, rows with NULL are left out, which databases take for values
        and keys in order. Raises SqlError (E370).
        """
        known = AGGREGATES.get(function)
        if known is None:
            raise cannot_say(f"the aggregate `{function}`", self.dialect.name)
        if known.state is StateKind.COUNT and args:
            return f"count({args[0]})"
        read = known.in_order
        if isinstance(read, AtShare) and read.between and type.name == "decimal":
            what = f"the {function} of decimals, which is rounded half to even,"
            raise cannot_say(what, self.dialect.name)
        if known.sql is not None:
            return self._filled(known.sql, args, type=self.dialect.type(type))
        in_order = read is not None and read.end is not None
        if known.state is not StateKind.TEXTS and not in_order:
            raise cannot_say(f"the aggregate `{function}`", self.dialect.name)
        if read is not None:
            by = _keys((*args[1:], args[0]), (*constant[1:], constant[0]))
            found = self.function("last" if read.end else "first", args[0], order=by or args[0])
            return found + _of_values(args) * type.optional
        separator = args[1] if args[1:] else "''"
        by = _keys((*args[2:], args[0]), (*constant[2:], constant[0]))
        name = "concat" if by else "concat of equals"
        found = self.function(name, args[0], separator, order=by)
        return found + _of_values(args) * type.optional

    def number(self, value: int, type: Type) -> str:
        """A whole number as a value of a type: the sum of nothing."""
        return f"CAST({value} AS {self.dialect.type(type)})"

    # ── functors ──────────────────────────────────────────────────────────────────────────────────
    def function(self, name: str, *args: str, **more: str) -> str:
        """A function that the dialects call differently."""
        return self.dialect.functions[name].format(*args, **more)

    def functor(self, call: FunctorCall, names: Names) -> str:
        """The value, or the truth, of a string functor. Raises SqlError (E370)."""
        args = [self.of(arg, names) for arg in call.args]
        functor = functor_named(call.functor)
        if functor is USERS:
            raise cannot_say(f"the user's function `{call.functor}`", self.dialect.name)
        if call.functor == "to_string":
            return self._to_string(args[0], call.types[0])
        if call.functor in ("to_number", "to_unsigned"):
            return self._number(args[0], call.functor)
        if functor.sql is None:
            raise cannot_say(f"the functor `{call.functor}`", self.dialect.name)
        if functor.check is not None and isinstance(call.args[0], Value):
            args[0] = self._pattern(str(call.args[0].value))
        return self._filled(functor.sql, args)

    def _to_string(self, value: str, type: Type) -> str:
        if type.name in ("float", "timestamp"):
            return self.function(f"{type.name} text", value)
        return f"CAST({value} AS {self.dialect.types['str']})"

    def _number(self, text: str, functor: str) -> str:
        number = f"CAST(trim({text}) AS BIGINT)"
        if functor == "to_unsigned":
            number = self._not_negative(number, "a number")
        failure = self.dialect.error(f"{functor}: not an integer in decimal digits")
        return f"CASE WHEN {self.function('number text', text)} THEN {number} ELSE {failure} END"

    def _pattern(self, pattern: str) -> str:
        try:
            return self.dialect.text(translated(pattern))
        except LftjError as problem:
            raise cannot_say(str(problem), self.dialect.name) from None
