# SPDX-License-Identifier: Apache-2.0
"""Terms to typed expressions: variables become numbers, constants get the type of their place,
constant parts are computed.

A body aggregate or string functor inside a term becomes a literal of its own, appended to the
innermost body around it (`literals`), and the term its result variable. Problems are collected; a
term with a problem becomes None.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from lftj.errors import (
    ArityError,
    LftjError,
    Span,
    TypeClashError,
    UnknownNameError,
    UnsafeRuleError,
)
from lftj.functions import FUNCTIONS, FUNCTORS, Functor, conversion_of, functor_of
from lftj.functions.aggregates import AGGREGATES
from lftj.program import arithmetic
from lftj.program.checked import CheckedLiteral, FunctorCall
from lftj.program.checks.inference import Inference, constant_type
from lftj.program.checks.overloads import arithmetic_overload, no_conversion, rounding_overload
from lftj.program.normal_form import Apply, Expression, Ref, RuleVariable, Value
from lftj.program.schema import Catalog, FunctionSignature
from lftj.program.scope import user_name
from lftj.program.signatures import (
    KNOWN_FUNCTORS,
    ROUNDINGS,
    Guess,
    common_type,
    constant_hint,
    conversion_hint,
    places_of,
    same_type,
    unknown_functor_hint,
)
from lftj.syntax import functors, tree
from lftj.types import BOOL, DATE, FLOAT, INT, UNSIGNED, Type, Unsigned, code_of, plain


def unknown_aggregate(name: str, catalog: Catalog) -> UnknownNameError:
    """The error (E112) for a call that is of no aggregate and of no function."""
    known = [*AGGREGATES, *catalog.aggregates]
    functions = [*sorted(functors.FUNCTORS), *catalog.functions]
    listed = f"aggregates are {', '.join(known)}; functions are {', '.join(functions)}"
    return UnknownNameError(
        f"unknown aggregate or function `{name}`",
        code="E112",
        hint=functors.unknown_hint(name, [*known, *functions], listed),
    )


def _unknown_function(name: str, catalog: Catalog) -> UnknownNameError:
    """The error (E112) for a call inside a term, where no aggregate can stand."""
    functions = [*sorted(functors.FUNCTORS), *catalog.functions]
    listed = f"an atom is a condition of its own; functions are {', '.join(functions)}"
    hint = functors.unknown_hint(name, functions, listed, quote="")
    return UnknownNameError(f"unknown function {name}(…)", code="E112", hint=hint)


def constant(value: object, expected: Type | None, where: str = "") -> Value:
    """A constant in a place of type `expected`; integers are welcome as floats and decimals while
    they are exact. Raises LftjError.
    """
    value = plain(value)
    own = constant_type(value)
    wanted = expected or own
    admitted = (
        same_type(own, wanted)
        or (own == INT and wanted.numeric)
        or own.name == wanted.name == "decimal"
    )
    if not admitted:
        shown = f'"{value}"' if isinstance(value, str) else str(value)
        message = (
            f"expected {wanted}{where}, found the {own if own.unsigned else own.name} constant "
            f"{shown}"
        )
        raise TypeClashError(message, hint=constant_hint(value, wanted))
    if wanted.name == "str":
        return Value(value, wanted)
    value = int(value) if isinstance(value, Unsigned) else value
    code_of(wanted, value)
    if wanted == FLOAT:
        return Value(float(value) + 0.0, wanted)  # type: ignore[arg-type]
    return Value(arithmetic.scaled(value, wanted) if wanted.name == "decimal" else value, wanted)


class Expressions(ABC):
    """Makes the expressions of one rule. `literals` is the body that a lifted functor call or
    aggregate is added to.
    """

    def __init__(self, inference: Inference, catalog: Catalog):
        self.inference = inference
        self.catalog = catalog
        self.errors: list[LftjError] = []
        self.variables: list[RuleVariable] = []
        self.literals: list[CheckedLiteral] = []
        self.complete = True
        self._numbers: dict[str, int] = {}

    # ── variables ─────────────────────────────────────────────────────────────────────────────────
    def new_variable(self, name: str, type: Type) -> int:
        """The number of one more variable."""
        self.variables.append(RuleVariable(name, type))
        return len(self.variables) - 1

    def number(self, name: str) -> int | None:
        """The number of a variable of the rule; None when nothing gave it a type, which is an error
        reported elsewhere.
        """
        if name not in self._numbers:
            if (type := self.inference.types.get(name)) is None:
                self.complete = False
                return None
            self._numbers[name] = self.new_variable(user_name(name), type)
        return self._numbers[name]

    # ── terms ─────────────────────────────────────────────────────────────────────────────────────
    def term(
        self, term: tree.Term, expected: Type | None, where: str, span: Span | None
    ) -> Expression | None:
        """The expression of a term where `expected` is asked for; `where` ends the sentence
        "expected int …".
        """
        try:
            return self._term(term, expected, where, term.span or span)
        except LftjError as error:
            self.errors.append(located(error, term.span or span))
            return None

    def _term(
        self, term: tree.Term, expected: Type | None, where: str, span: Span | None
    ) -> Expression | None:
        match term:
            case tree.Variable():
                return self._variable(term, expected, where)
            case tree.Constant():
                return constant(term.value, expected, where)
            case tree.Call():
                made = self._call(term, expected, span)
                if (
                    isinstance(made, Value)
                    and expected is not None
                    and expected.name == "decimal"
                    and made.type.name in ("int", "decimal")
                ):
                    return constant(made.value, expected, where)
                return made and self._fits(
                    made,
                    expected,
                    f"`{term.functor}(…)`" if term.functor.isalpha() else "this expression",
                    where,
                )
            case tree.Aggregate():
                return self._fits(
                    self.aggregate(term, expected, span), expected, f"`{term.function}`", where
                )
            case tree.HeadAggregate():
                if term.function not in {*AGGREGATES, *self.catalog.aggregates}:
                    raise _unknown_function(term.function, self.catalog)
                hint = f"write it in the head; in a body: n = {term.function} : {{ … }}"
                raise TypeClashError(
                    f"the aggregate `{term.function}(…)` stands in a body",
                    code="E131",
                    hint=hint,
                )
            case tree.Wildcard():
                raise UnsafeRuleError(
                    "`_` has no value here",
                    code="E144",
                    hint="name the variable and bind it with a positive atom",
                )
        raise TypeClashError(f"{term!r} is not a term of the language")

    @abstractmethod
    def aggregate(
        self, aggregate: tree.Aggregate, expected: Type | None, span: Span | None
    ) -> Expression | None:
        """The result of a body aggregate, which becomes a literal. What an aggregate's body means
        is the checks' affair.
        """

    def _variable(
        self, variable: tree.Variable, expected: Type | None, where: str
    ) -> Expression | None:
        number = self.number(variable.name)
        if number is None:
            return None
        shown = f"`{user_name(variable.name)}`"
        reason = self.inference.reasons.get(variable.name)
        return self._fits(Ref(number), expected, shown, where, f" ({reason})" if reason else "")

    def type_of(self, expression: Expression) -> Type:
        """The type of an expression made here."""
        return (
            self.variables[expression.variable].type
            if isinstance(expression, Ref)
            else expression.type
        )

    def _fits(
        self,
        made: Expression | None,
        expected: Type | None,
        what: str,
        where: str,
        reason: str = "",
    ) -> Expression | None:
        if made is None or expected is None or same_type(found := self.type_of(made), expected):
            return made
        raise TypeClashError(
            f"expected {expected}{where}, but {what} is {found}{reason}",
            hint=conversion_hint(found, expected),
        )

    # ── calls ─────────────────────────────────────────────────────────────────────────────────────
    def _call(self, call: tree.Call, expected: Type | None, span: Span | None) -> Expression | None:
        name = call.functor
        if name == "as":
            return self._as(call, span)
        if (user := self.catalog.functions.get(name)) is not None:
            return self._user_function(user, call, span)
        if name not in KNOWN_FUNCTORS:
            raise UnknownNameError(
                f"unknown functor `{name}`", code="E112", hint=unknown_functor_hint(name)
            )
        least, most = FUNCTIONS[name].arity
        if len(call.args) < least or (most is not None and len(call.args) > most):
            wanted = str(least) if most == least else f"{least} or more"
            raise ArityError(
                f"`{name}` takes {wanted} argument{'s' if wanted != '1' else ''}, found "
                f"{len(call.args)}",
                code="E121",
            )
        guesses = [self.inference.guess(arg) for arg in call.args]
        if moves := FUNCTIONS[name].moves:
            return self._times(call, moves["timestamp"], span)
        if guesses[0] and (found := conversion_of(name, guesses[0].type)):
            operator, result = found
            if operator is None:
                return self.term(call.args[0], result, f" for `{name}`", span)
            return self._apply(call, operator.name, [guesses[0].type], result, span)
        if name in ROUNDINGS:
            return self._rounded(call, guesses[0], span)
        kind = _of_range(guesses, expected) if name == "range" else common_type(guesses)
        if (functor := functor_of(name, kind)) is not None:
            return self._functor(functor, call.args, span, name)
        if not FUNCTIONS[name].conversions:
            if guesses[0] is not None and guesses[0].type == DATE:
                call = _of_days(call)
            return self._apply(call, *arithmetic_overload(call, guesses, expected), span)
        if guesses[0] is None:
            return self.term(call.args[0], None, "", span)
        raise no_conversion(name, guesses[0].type)

    def _rounded(
        self, call: tree.Call, guess: Guess | None, span: Span | None
    ) -> Expression | None:
        """`round`, `floor` or `ceil`: of decimals an operator, of floats a functor."""
        if guess is None:
            return self.term(call.args[0], None, "", span)
        chosen = rounding_overload(call, guess)
        places = tree.Constant(places_of(call), span=call.span)  # type: ignore[arg-type]
        call = replace(call, args=(call.args[0], places)[: len(chosen.types)])
        if chosen.result == FLOAT:
            return self._functor(FUNCTIONS[call.functor].functors[0], call.args, span, call.functor)
        return self._apply(call, *chosen, span)

    def _times(self, call: tree.Call, factor: int, span: Span | None) -> Expression | None:
        """A duration, as its number times how long one is."""
        times = tree.Constant(factor, span=call.span)
        return self._apply(replace(call, args=(*call.args, times)), "*", [INT, INT], INT, span)

    def _as(self, call: tree.Call, span: Span | None) -> Expression | None:
        """`as(x, T)`: a value as it is, where T is another name of its type, or both are integers.
        Codes of other types are never read.
        """
        value, name = call.args
        assert isinstance(name, tree.Constant)
        wanted, found = self.catalog.type(str(name.value), name.span), self.inference.guess(value)
        if found and found.firm and {found.type, wanted} == {INT, UNSIGNED}:
            call = tree.Call("as", (value,), span=call.span)
            operator = "as_unsigned" if wanted.unsigned else "as_int"
            return self._apply(call, operator, [found.type], wanted, span)
        return self.term(value, wanted, " for `as`", span)

    def _apply(
        self, call: tree.Call, operator: str, types: Sequence[Type], result: Type, span: Span | None
    ) -> Expression | None:
        where = f" for `{call.functor}`"
        args = [
            self.term(arg, type, where, span) for arg, type in zip(call.args, types, strict=True)
        ]
        made = [arg for arg in args if arg is not None]
        if len(made) < len(args):
            return None
        folded = made[0]
        many = call.functor in FUNCTIONS and FUNCTIONS[call.functor].arity[1] is None
        for rest in [[arg] for arg in made[1:]] if many else [made[1:]]:
            folded = fold(Apply(operator, (folded, *rest), result))
        return folded

    # ── string functors ───────────────────────────────────────────────────────────────────────────
    def _functor(
        self, known: Functor, args: tuple[tree.Term, ...], span: Span | None, written: str
    ) -> Expression | None:
        """A string functor: computed at once on constants, else a literal of its own and its result
        variable.
        """
        where = f" for `{written}`"
        made = [
            self.term(arg, type, where, span)
            for arg, type in zip(args, known.argument_types(len(args)), strict=True)
        ]
        given = tuple(arg for arg in made if arg is not None)
        if len(given) < len(made):
            return None
        if known.check is not None and isinstance(given[0], Value):
            with _placed(args[0].span):
                known.check(str(given[0].value))
        if all(isinstance(arg, Value) for arg in given) and not known.many:
            return Value(
                known.evaluate(*(arg.value for arg in given if isinstance(arg, Value))),
                known.result or BOOL,
            )
        types = tuple(self.type_of(arg) for arg in given)
        result = None if known.result is None else self.new_variable("_", known.result)
        self.literals.append(FunctorCall(known.name, given, types, result, known.result))
        return None if result is None else Ref(result)

    def _user_function(
        self, user: FunctionSignature, call: tree.Call, span: Span | None
    ) -> Expression | None:
        """A user's function: a literal of its own and its result variable, of constants too."""
        types = user.argument_types
        if len(call.args) != len(types):
            wanted = f"{len(types)} argument{'s' if len(types) != 1 else ''}"
            raise ArityError(f"`{user.name}` takes {wanted}, found {len(call.args)}", code="E121")
        where = f" for `{user.name}`"
        made = [
            self.term(arg, type, where, span) for arg, type in zip(call.args, types, strict=True)
        ]
        given = tuple(arg for arg in made if arg is not None)
        if len(given) < len(made):
            return None
        result = self.new_variable("_", user.result_type.required)
        self.literals.append(FunctorCall(user.name, given, types, result, user.result_type))
        return Ref(result)

    def predicate(self, name: str, args: tuple[tree.Term, ...], span: Span | None) -> bool | None:
        """Append the literal of `contains` or `match`; on constants, append nothing and say whether
        it holds.
        """
        try:
            made = self._functor(FUNCTORS[name], args, span, name)
        except LftjError as error:
            self.errors.append(located(error, span))
            return None
        return bool(made.value) if isinstance(made, Value) else None


def _of_days(call: tree.Call) -> tree.Call:
    """The call, in which a date is moved by the days of a duration. Raises TypeClashError."""
    for arg in call.args[1:]:
        moves = FUNCTIONS[arg.functor].moves if isinstance(arg, tree.Call) else {}
        if isinstance(arg, tree.Call) and moves:
            if "date" not in moves:
                message, hint = f"`{arg.functor}` does not move a date", "move it by days(n)"
                raise TypeClashError(message, code="E132", span=arg.span, hint=hint)
            return replace(call, args=(call.args[0], *arg.args))
    return call


def _of_range(guesses: list[Guess | None], expected: Type | None) -> Type | None:
    """The type of a range's numbers: what is expected of them where all ends are constants."""
    loose = all(guess is not None and not guess.firm for guess in guesses)
    return expected if loose and expected is not None else common_type(guesses)


def fold(expression: Apply) -> Expression:
    """The value of arithmetic on constants; anything else as it is. Raises ValueRangeError."""
    if not all(isinstance(arg, Value) for arg in expression.args):
        return expression
    values = tuple(arg.value for arg in expression.args if isinstance(arg, Value))
    return Value(arithmetic.evaluate(expression.operator, values, expression.type), expression.type)


@contextmanager
def _placed(span: Span | None) -> Iterator[None]:
    """Errors of the block that have no place get this one."""
    try:
        yield
    except LftjError as error:
        raise located(error, span) from None


def located(error: LftjError, span: Span | None) -> LftjError:
    """The error, with a place if it had none."""
    if error.span is None:
        error.span = span
    return error
