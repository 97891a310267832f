# SPDX-License-Identifier: Apache-2.0
"""Elaboration of the heads and bodies of the syntax tree, renamed apart, to checked ones: names
looked up, arities counted, types resolved.

Every problem is reported here but unbound variables, which `safety` reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lftj.errors import (
    ArityError,
    DeclarationError,
    LftjError,
    Span,
    TypeClashError,
    UnknownNameError,
    UnsafeRuleError,
    ValueRangeError,
    ValueTypeError,
)
from lftj.errors.nearest import closest
from lftj.functions.aggregates import AGGREGATES, IN_BRACES, listed, takes
from lftj.program.arithmetic import holds
from lftj.program.checked import (
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedChoice,
    CheckedDisjunction,
    CheckedHead,
    CheckedHeadAggregate,
    CheckedLiteral,
    CheckedNegation,
)
from lftj.program.checks.expressions import Expressions, located, unknown_aggregate
from lftj.program.normal_form import Expression, Filter, Ref, RelationSchema, Value
from lftj.program.schema import UNKNOWN, describe
from lftj.program.scope import direct_names, negated_atom, term_aggregates
from lftj.program.signatures import (
    Guess,
    aggregate_type,
    common_type,
    conversion_hint,
    same_type,
    widest,
)
from lftj.syntax import tree
from lftj.syntax.functors import PREDICATES
from lftj.types import INT, Type

# Aggregates in rule heads: which there are, what they take, what type they give.


def head_aggregate(
    expressions: Expressions, term: tree.HeadAggregate, expected: Type | None, where: str
) -> CheckedHeadAggregate | None:
    """The aggregate in a head column of type `expected`; None after a problem with an argument.
    Raises LftjError.
    """
    if any(term_aggregates(arg) or _has_head_aggregate(arg) for arg in term.args):
        hint = "compute the inner one in a relation of its own and read that"
        raise TypeClashError(
            f"`{term.function}(…)` contains another aggregate", code="E131", hint=hint
        )
    wanted = _argument_types(expressions, term, expected)
    given = [
        expressions.term(arg, type, f" for `{term.function}`", term.span)
        for arg, type in zip(term.args, wanted, strict=True)
    ]
    args = tuple(arg for arg in given if arg is not None)
    if len(args) < len(given):
        return None
    result = _result_type(expressions, term, args)
    if expected is not None and not same_type(result, expected):
        message = f"expected {expected}{where}, but `{term.function}` gives {result}"
        raise TypeClashError(
            message,
            hint=conversion_hint(result, expected)
            if expected.name == "str"
            else f"declare the column {result}" + _rounding(term.function, result, expected),
        )
    return CheckedHeadAggregate(term.function, args, result)


def _rounding(function: str, found: Type, expected: Type) -> str:
    """Hint for decimals of another scale: in a cycle their places would grow without end."""
    if not found.name == expected.name == "decimal" or found.scale == expected.scale:
        return ""
    return f", or write {function}(round(…, {expected.scale}))"


def _argument_types(
    expressions: Expressions, term: tree.HeadAggregate, expected: Type | None
) -> list[Type | None]:
    """The types that the arguments should have, None where any type will do. Raises
    UnknownNameError or ArityError.
    """
    function, count = term.function, len(term.args)
    if (user := expressions.catalog.aggregates.get(function)) is not None:
        if count != len(user.argument_types):
            raise ArityError(
                f"`{function}` takes {len(user.argument_types)} arguments, found {count}",
                code="E121",
            )
        return list(user.argument_types)
    if (built_in := AGGREGATES.get(function)) is None:
        raise unknown_aggregate(function, expressions.catalog)
    if not built_in.takes(count):
        raise ArityError(
            f"`{function}` takes {built_in.wanted}, found {count}",
            code="E121",
            hint=f"write {built_in.form}",
        )
    if built_in.types:
        return [*built_in.types, *[None] * count][:count]
    guesses = [expressions.inference.guess(arg) for arg in term.args]
    constants_only = all(guess is not None and not guess.firm for guess in guesses)
    value = expected if constants_only and built_in.alike and expected else None
    return [value if value is not None and value.numeric else None, *[None] * count][:count]


def _result_type(
    expressions: Expressions, term: tree.HeadAggregate, args: tuple[Expression, ...]
) -> Type:
    if (user := expressions.catalog.aggregates.get(term.function)) is not None:
        return user.result_type
    if AGGREGATES[term.function].constant is not None:
        check_constant(term.function, args)
    argument = expressions.type_of(args[0]) if args else None
    result = aggregate_type(term.function, argument)
    if result is None:
        raise TypeClashError(
            f"`{term.function}` does not take {argument}",
            code="E132",
            hint=takes(term.function),
        )
    return result


def check_constant(function: str, args: Sequence[Expression]) -> None:
    """Check the argument that has to be a constant. Raises TypeClashError (E132)."""
    known = AGGREGATES[function]
    if known.constant is None or len(args) <= known.constant:
        return
    given, name = args[known.constant], known.arguments[known.constant].strip("[]")
    if not isinstance(given, Value):
        message = f"the {name} of `{function}` is not a constant"
        raise TypeClashError(message, code="E132", hint=_CONSTANT_HINTS[name])
    if name == "share" and not 0 <= float(str(given.value)) <= 1:
        message = f"the share of `{function}` is {given.value}"
        raise TypeClashError(message, code="E132", hint=_CONSTANT_HINTS[name])


_CONSTANT_HINTS = {
    "separator": 'write the separator in quotes; order keys come after it: concat(s, ", ", key)',
    "share": "write it as a number from 0 to 1: quantile(x, 0.95)",
}


def _has_head_aggregate(term: tree.Term) -> bool:
    if isinstance(term, tree.Call):
        return any(_has_head_aggregate(arg) for arg in term.args)
    return isinstance(term, tree.HeadAggregate)


_FALSE = CheckedDisjunction(())
_NO_VALUE = (ValueRangeError, ValueTypeError)


def _is_false(literal: CheckedLiteral) -> bool:
    """Test for a condition on constants that does not hold."""
    return isinstance(literal, CheckedDisjunction) and all(
        any(map(_is_false, branch.literals)) for branch in literal.branches
    )


class Elaborator(Expressions):
    """Elaborates one rule."""

    # ── heads ─────────────────────────────────────────────────────────────────────────────────────
    def head(self, head: tree.Atom) -> CheckedHead | None:
        """One head with the literals that its terms need; None after a problem."""
        outer, self.literals = self.literals, []
        args = [self._head_term(head, term, *place) for term, place in self._places(head)]
        literals, self.literals = tuple(self.literals), outer
        given = tuple(arg for arg in args if arg is not None)
        return CheckedHead(head.relation, given, literals) if len(given) == len(args) else None

    def _head_term(
        self, head: tree.Atom, term: tree.Term, type: Type | None, where: str
    ) -> Expression | CheckedHeadAggregate | None:
        if isinstance(term, tree.Wildcard):
            message, hint = (
                f"`_` in the head of `{head.relation}` has no value",
                "write a variable that the body binds, or a constant",
            )
            self.errors.append(
                UnsafeRuleError(message, code="E144", span=term.span or head.span, hint=hint)
            )
            return None
        if not isinstance(term, tree.HeadAggregate):
            return self.term(term, type, where, head.span)
        try:
            return head_aggregate(self, term, type, where)
        except LftjError as error:
            self.errors.append(located(error, term.span or head.span))
            return None

    # ── atoms ─────────────────────────────────────────────────────────────────────────────────────
    def _places(self, atom: tree.Atom) -> list[tuple[tree.Term, tuple[Type | None, str]]]:
        """Each argument with its column's type and the words for it; types are None after a problem
        with the atom itself.
        """
        columns: Sequence[tuple[str | None, Type | None]] = [(None, None)] * len(atom.terms)
        try:
            schema = self.catalog.relation(atom.relation, atom.span)
            check_form(atom, schema)
            columns = schema.columns
        except LftjError as error:
            self.errors.append(located(error, atom.span))
        where = [f" for column `{name}` of `{atom.relation}`" for name, _ in columns]
        types = [None if type in (UNKNOWN, None) else type.required for _, type in columns]
        return list(zip(atom.terms, zip(types, where, strict=True), strict=True))

    def _atom(self, atom: tree.Atom, negated: bool) -> CheckedAtom:
        args: list[Expression | None] = []
        for term, (type, where) in self._places(atom):
            if not isinstance(term, tree.Wildcard):
                args.append(self.term(term, type, where, atom.span))
            else:
                args.append(None if negated else Ref(self.new_variable("_", type or INT)))
        return CheckedAtom(atom.relation, tuple(args))

    # ── bodies ────────────────────────────────────────────────────────────────────────────────────
    def block(self, body: tree.Body) -> Block:
        """A body inside the one being read. Its local variables are those that the bodies around it
        do not have.
        """
        outer, self.literals = self.literals, []
        first_new = len(self.variables)
        self.read(body)
        made, self.literals = tuple(self.literals), outer
        return Block(made, frozenset(range(first_new, len(self.variables))))

    def read(self, body: tree.Body) -> None:
        """Append the literals of a body. Its variables get their numbers first, so that what an
        inner body adds is local to that.
        """
        for name in direct_names(body.literals):
            self.number(name)
        for literal in body.literals:
            known = len(self.errors)
            self._literal(literal)
            # Behind what never holds nothing is computed.
            if len(self.errors) > known and any(map(_is_false, self.literals)):
                kept = [each for each in self.errors[known:] if not isinstance(each, _NO_VALUE)]
                self.errors[known:] = kept

    def _literal(self, literal: tree.Literal) -> None:
        match literal:
            case tree.Atom():
                self.literals.append(self._atom(literal, negated=False))
            case tree.Truth(value=False):
                self.literals.append(_FALSE)
            case tree.Comparison():
                self._comparison(literal)
            case tree.Choice():
                determining, determined = map(
                    self._variables, (literal.determining, literal.determined)
                )
                self.literals.append(CheckedChoice(determining, determined))
            case tree.Negation() if (atom := negated_atom(literal)) is not None:
                self.literals.append(CheckedNegation(Block((self._atom(atom, negated=True),))))
            case tree.Negation():
                known, block = len(self.errors), self.block(literal.body)
                fails = not block.literals and len(self.errors) == known
                self.literals.append(_FALSE if fails else CheckedNegation(block))
            case tree.Disjunction():
                self.literals.append(
                    CheckedDisjunction(tuple(self.block(branch) for branch in literal.branches))
                )

    def _variables(self, terms: tuple[tree.Term, ...]) -> tuple[Ref, ...]:
        """The numbers of variables; what is none is reported by `choice_errors`."""
        numbers = [self.number(term.name) for term in terms if isinstance(term, tree.Variable)]
        return tuple(Ref(number) for number in numbers if number is not None)

    def _comparison(self, literal: tree.Comparison) -> None:
        if literal.operator == "is_null":
            value = self.term(literal.left, None, " for `is_null`", literal.span)
            if value is not None:
                null = Value(None, self.type_of(value).or_null)
                self.literals.append(Filter("=", value, null))
            return
        if literal.operator in PREDICATES:
            if (
                self.predicate(literal.operator, (literal.left, literal.right), literal.span)
                is False
            ):
                self.literals.append(_FALSE)
            return
        guesses = [self.inference.guess(term) for term in (literal.left, literal.right)]
        type = common_type(guesses) or INT
        if type.name == "bool" and literal.operator not in ("=", "!="):
            message = f"`{literal.operator}` does not take bool"
            self.errors.append(
                TypeClashError(message, code="E132", span=literal.span, hint="use = or !=")
            )
        decimals = "decimal" in [guess.type.name for guess in guesses if guess is not None]
        if decimals and (wider := self._wider(literal, guesses)) is not None:
            literal, type = wider
        where = f" beside `{literal.operator}`"
        left, right = (
            Ref(self.new_variable("_", type))
            if literal.operator == "=" and isinstance(term, tree.Wildcard) and other != term
            else self.term(term, type, where, literal.span)
            for term, other in (
                (literal.left, literal.right),
                (literal.right, literal.left),
            )
        )
        if isinstance(left, Value) and isinstance(right, Value):
            if not holds(literal.operator, left.value, right.value):
                self.literals.append(_FALSE)
        elif left is not None and right is not None:
            self.literals.append(Filter(literal.operator, left, right))

    def _wider(
        self, literal: tree.Comparison, guesses: list[Guess | None]
    ) -> tuple[tree.Comparison, Type] | None:
        """A comparison of decimals of different scales as one of the larger scale, with that type;
        None for any other. A variable that the equation may bind stays as it is.
        """
        if (type := widest(guesses)) is None:
            return None
        sides: list[tree.Term] = []
        for term, guess in zip((literal.left, literal.right), guesses, strict=True):
            narrow = guess is not None and guess.firm and not same_type(guess.type, type)
            tied = narrow and literal.operator == "="
            if tied and isinstance(term, tree.Variable) and not self.inference.binds(term.name):
                return None
            places = tree.Constant(type.scale or 0, span=term.span)
            sides.append(tree.Call("round", (term, places), span=term.span) if narrow else term)
        return replace(literal, left=sides[0], right=sides[1]), type

    # ── body aggregates ───────────────────────────────────────────────────────────────────────────
    def aggregate(
        self, aggregate: tree.Aggregate, expected: Type | None, span: Span | None
    ) -> Expression | None:
        """The result variable of a body aggregate, which becomes a literal of the body
        being read.
        """
        check_body_aggregate(aggregate)
        function = aggregate.function
        outer, self.literals = self.literals, []
        first_new = len(self.variables)
        self.read(aggregate.body)
        wanted = self._argument_types(aggregate, expected)
        given = [
            self.term(arg, type, "", span) for arg, type in zip(aggregate.args, wanted, strict=True)
        ]
        block = Block(tuple(self.literals), frozenset(range(first_new, len(self.variables))))
        self.literals = outer
        args = tuple(arg for arg in given if arg is not None)
        if len(args) < len(given):
            return None
        if AGGREGATES[function].constant is not None:
            check_constant(function, args)
        argument = self.type_of(args[0]) if args else None
        type = aggregate_type(function, argument)
        if type is None:
            raise TypeClashError(
                f"`{function}` does not take {argument}",
                code="E132",
                hint=takes(function),
            )
        result = self.new_variable("_", type)
        self.literals.append(CheckedAggregate(function, args, block, result, type))
        return Ref(result)

    def _argument_types(
        self, aggregate: tree.Aggregate, expected: Type | None
    ) -> list[Type | None]:
        """The types that arguments should have. A target made of constants only has the one that is
        expected, so that `x = sum 1 : { … }` may be a float.
        """
        known, count = AGGREGATES[aggregate.function], len(aggregate.args)
        guess = self.inference.guess(aggregate.target)
        alike = guess is not None and not guess.firm and known.alike
        types = known.types or ((expected if alike else None),)
        return [*types, *[None] * count][:count]


def check_form(atom: tree.Atom, schema: RelationSchema) -> None:
    """Functions are written F[x] = y and relations a(x), with as many arguments as columns. Raises
    DeclarationError or ArityError.
    """
    name = atom.relation
    if schema.functional and atom.value is None:
        inner = ", ".join(column for column, _ in schema.columns[:-1])
        raise DeclarationError(
            f"`{name}` is a function",
            code="E162",
            hint=f"write {name}[{inner}] = {schema.columns[-1][0]}",
        )
    if not schema.functional and atom.value is not None:
        inner = ", ".join(column for column, _ in schema.columns)
        hint = f"write {name}({inner}), or declare a function: .decl {name}[…]: …"
        raise DeclarationError(f"`{name}` is not a function", code="E162", hint=hint)
    if len(atom.terms) != schema.arity:
        expected, found = schema.arity - schema.functional, len(atom.args)
        message = f"`{name}` takes {expected} argument{'s' if expected != 1 else ''}, found {found}"
        raise ArityError(message, hint=f"it is declared as {describe(schema)}")


def check_body_aggregate(aggregate: tree.Aggregate) -> None:
    """Check that the function is known. Raises UnknownNameError."""
    function = aggregate.function
    if (known := IN_BRACES.get(function)) is None:
        near = closest(function, IN_BRACES)
        hint = (
            f"did you mean `{near}`?"
            if near
            else f"body aggregates are {listed(IN_BRACES)}; others go into rule heads"
        )
        raise UnknownNameError(f"unknown aggregate `{function}` in a body", code="E112", hint=hint)
    if not known.takes_in_braces(len(aggregate.args)):
        wanted = "one target" if known.of_values and known.takes(1) else known.wanted
        raise ArityError(
            f"`{function}` takes {wanted}",
            code="E121",
            hint=f"write {known.in_braces}",
        )
