"""The types of a rule's variables: from the columns they stand in, then along equations until
nothing new is found.

Nothing is reported here: a variable takes the type of its first column, and whoever later asks for
another type reports the clash. A variable that equals constants only takes the type of the head
column it stands in, or else the constant's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from lftj.errors import LftjError
from lftj.program.functors import RANGES, STRING_FUNCTORS
from lftj.program.schema import UNKNOWN, Catalog
from lftj.program.signatures import (
    Guess,
    aggregate_type,
    common_type,
    operand_types,
    result_type,
    rounded_type,
)
from lftj.syntax import tree
from lftj.syntax.functors import PREFIX
from lftj.types import BOOL, DATE, FLOAT, INT, STR, UNSIGNED, Type, type_of_value

_OF_CLASS = {int: INT, float: FLOAT, str: STR, bool: BOOL}


class Inference:
    """The types found for a rule whose variables are renamed apart: `types` by name, `reasons` in
    words for messages.
    """

    def __init__(self, rule: tree.Rule, catalog: Catalog):
        self.types: dict[str, Type] = {}
        self.reasons: dict[str, str] = {}
        self._catalog = catalog
        self._equations: list[tuple[tree.Term, tree.Term]] = []
        for head in rule.heads:
            for term in head.terms:
                self._visit_term(term)
        self._visit_body(rule.body)
        self._solve()
        if len(self._equations) and any(self._open_variables()):
            for head in rule.heads:
                self._visit_atom(head)
            self._solve()
            self._take_constants()

    # ── what is known of a term ───────────────────────────────────────────────────────────────────
    def guess(self, term: tree.Term | None) -> Guess | None:
        """The type of a term, as far as it is known by now."""
        match term:
            case tree.Variable():
                return Guess(self.types[term.name], True) if term.name in self.types else None
            case tree.Constant():
                return _guess_constant(term.value)
            case tree.Call():
                return self._guess_call(term)
            case tree.Aggregate():
                target = self.guess(term.target)
                found = aggregate_type(term.function, target.type if target else None)
                return (
                    Guess(
                        found, target is None or target.firm or term.function in ("count", "mean")
                    )
                    if found
                    else None
                )
        return None

    def _guess_call(self, call: tree.Call) -> Guess | None:
        name = call.functor
        if name == "as":
            return self._guess_named(call)
        if (
            name == "range"
            and (kind := common_type([self.guess(arg) for arg in call.args])) in RANGES
        ):
            name = RANGES[kind]
        if (known := STRING_FUNCTORS.get(name)) is not None and known.result is not None:
            return Guess(known.result, True)
        guesses = [self.guess(arg) for arg in call.args]
        if name == "round" and len(guesses) == 2 and guesses[0] is not None:
            found = rounded_type(guesses[0].type, getattr(call.args[1], "value", None))
            return Guess(found, True) if found else None
        if name == "to_date":
            return Guess(DATE, True)
        if name in ("neg", "min", "max"):
            found = common_type(guesses)
            return (
                Guess(found, any(guess is not None and guess.firm for guess in guesses))
                if found and None not in guesses
                else None
            )
        if len(guesses) == 1:
            same = name in PREFIX and guesses[0] is not None and guesses[0].type.unsigned
            return Guess(UNSIGNED if same or name == "to_unsigned" else INT, True)
        if len(guesses) != 2 or (operands := operand_types(name, guesses[0], guesses[1])) is None:
            return None
        firm = any(guess is not None and guess.firm for guess in guesses)
        if not firm and None in guesses:
            return None
        result = result_type(name, *operands)
        return Guess(result, firm) if result else None

    def _guess_named(self, call: tree.Call) -> Guess | None:
        """`as(x, T)`: T, where there is such a type."""
        try:
            return Guess(self._catalog.type(str(getattr(call.args[1], "value", ""))), True)
        except LftjError:
            return self.guess(call.args[0])

    # ── collecting ────────────────────────────────────────────────────────────────────────────────
    def _visit_body(self, body: tree.Body) -> None:
        for literal in body.literals:
            match literal:
                case tree.Atom():
                    self._visit_atom(literal)
                case tree.Comparison():
                    self._visit_term(literal.left)
                    self._visit_term(literal.right)
                    if literal.operator == "=":
                        self._equations.append((literal.left, literal.right))
                case tree.Negation():
                    self._visit_body(literal.body)
                case tree.Disjunction():
                    for branch in literal.branches:
                        self._visit_body(branch)

    def _visit_atom(self, atom: tree.Atom) -> None:
        schema = self._catalog.relations.get(atom.relation)
        fits = schema is not None and schema.arity == len(
            atom.terms
        )  # else nobody knows which argument is meant for which column
        columns = schema.columns if schema is not None and fits else ()
        for position, term in enumerate(atom.terms):
            if not isinstance(term, tree.Variable):
                self._visit_term(term)
            elif (
                position < len(columns)
                and term.name not in self.types
                and columns[position][1] != UNKNOWN
            ):
                column, self.types[term.name] = columns[position]
                self.reasons[term.name] = f"column `{column}` of `{atom.relation}`"

    def _visit_term(self, term: tree.Term | None) -> None:
        match term:
            case tree.Call() | tree.HeadAggregate():
                for arg in term.args:
                    self._visit_term(arg)
            case tree.Aggregate():
                self._visit_body(term.body)
                self._visit_term(term.target)

    # ── solving ───────────────────────────────────────────────────────────────────────────────────
    def _sides(self) -> Iterator[tuple[tree.Variable, tree.Term]]:
        for left, right in self._equations:
            if isinstance(left, tree.Variable) and left.name not in self.types:
                yield left, right
            if isinstance(right, tree.Variable) and right.name not in self.types:
                yield right, left

    def _open_variables(self) -> Iterator[str]:
        return (variable.name for variable, _ in self._sides())

    def _solve(self) -> None:
        size = -1
        while size != (size := len(self.types)):
            for variable, other in self._sides():
                guess = self.guess(other)
                if guess is not None and guess.firm:
                    self._take(variable, guess)
            # so that chains of equations settle in two passes, whichever way they are written
            self._equations.reverse()

    def _take(self, variable: tree.Variable, guess: Guess) -> None:
        self.types[variable.name] = guess.type
        self.reasons[variable.name] = "by an equation"

    def _take_constants(self) -> None:
        """Give variables that equal constants only the constants' own types, one at a time."""
        while (
            found := next(
                ((v, g) for v, other in self._sides() if (g := self.guess(other)) is not None), None
            )
        ) is not None:
            self._take(*found)
            self._solve()


def _guess_constant(value: object) -> Guess | None:
    try:
        found = constant_type(value)
    except LftjError:
        return None
    return Guess(found, found.unsigned or found.name not in ("int", "decimal"))


def constant_type(value: object) -> Type:
    """The type of a constant by itself. Raises LftjError for what is no value of the language."""
    return _OF_CLASS.get(type(value)) or type_of_value(value)
