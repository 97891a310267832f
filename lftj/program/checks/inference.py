# SPDX-License-Identifier: Apache-2.0
"""The types of a rule's variables: from the columns they stand in, and from what they are compared,
computed and aggregated with.

Nothing is reported here: a variable takes the type of its first column, and whoever later asks for
another type reports the clash. What only constants and ranges bind is of the type that its use asks
for: of what it is compared or computed with; else of the head's column that it goes into; else of
the constants' own.
"""

from __future__ import annotations

from collections.abc import Iterator

from lftj.errors import LftjError
from lftj.functions import FUNCTIONS, FUNCTORS, functor_of
from lftj.functions.aggregates import AGGREGATES, EXTREMES
from lftj.program.checks.type_classes import TypeClasses
from lftj.program.schema import UNKNOWN, Catalog
from lftj.program.scope import direct_names
from lftj.program.signatures import (
    ARITHMETIC,
    BITWISE,
    ROUNDINGS,
    Guess,
    aggregate_type,
    common_type,
    operand_types,
    places_of,
    result_type,
    rounded_type,
)
from lftj.syntax import tree
from lftj.syntax.functors import PREDICATES, PREFIX
from lftj.types import BOOL, FLOAT, INT, STR, UNSIGNED, Type, type_of_value
from lftj.types.sources import is_hidden

_OF_CLASS = {int: INT, float: FLOAT, str: STR, bool: BOOL}
_ALIKE = {each.name for each in FUNCTIONS.values() if each.alike is not None}
_OF_ONE_TYPE = BITWISE | _ALIKE | {"range"}
"""Functors whose arguments and result are of one type."""
_CONVERTED = {
    each.name: next(iter(each.conversions.values()))[1]
    for each in FUNCTIONS.values()
    if each.conversions
}
Column = tuple[str, Type | None]


class Inference:
    """The types found for a rule whose variables are renamed apart: `types` by name, `reasons` in
    words for messages.
    """

    def __init__(self, rule: tree.Rule, catalog: Catalog):
        self.types: dict[str, Type] = {}
        self.reasons: dict[str, str] = {}
        self._catalog = catalog
        terms = [term for head in rule.heads for term in head.terms]
        for atom in _atoms(rule.body, terms):
            self._take_columns(atom)
        self._classes = TypeClasses()
        self._numbers = {name: self._classes.new(type) for name, type in self.types.items()}
        self._asked_last: list[tuple[int, Type]] = []
        self._compared: list[tuple[int, int]] = []
        self._body = rule.body
        places = [place for head in rule.heads for place in self._head_places(head)]
        self._visit_body(rule.body)
        self._classes.solve()
        for left, right in self._compared:  # after equations, which tell the places of decimals
            self._classes.join(left, right)
        self._classes.solve()
        self._take_types()
        for head in rule.heads:
            self._take_columns(head)
        for number, type in (*places, *self._asked_last):
            self._classes.ask(number, type)
        self._classes.solve()
        self._classes.take_defaults()
        self._take_types()

    def binds(self, name: str) -> bool:
        """Test for a variable that an atom of the rule's body binds, outside of any inner body."""
        atoms = [each for each in self._body.literals if isinstance(each, tree.Atom)]
        return name in direct_names(atoms)

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
                        found, target is None or target.firm or not AGGREGATES[term.function].alike
                    )
                    if found
                    else None
                )
        return None

    def _guess_call(self, call: tree.Call) -> Guess | None:
        name = call.functor
        if name == "as":
            return self._guess_named(call)
        if (user := self._catalog.functions.get(name)) is not None:
            return Guess(user.result_type.required, True)
        guesses = [self.guess(arg) for arg in call.args]
        if name in ROUNDINGS:
            found = guesses[0] and rounded_type(name, guesses[0].type, places_of(call))
            return Guess(found, True) if found else None
        known = functor_of(name, common_type(guesses))
        if known is not None and known.result is not None:
            firm = not known.many or any(guess is None or guess.firm for guess in guesses)
            return Guess(known.result, firm)
        if name in _CONVERTED:
            return Guess(_CONVERTED[name], True)
        if name in _ALIKE:
            found = common_type(guesses)
            return (
                Guess(found, any(guess is not None and guess.firm for guess in guesses))
                if found and None not in guesses
                else None
            )
        if len(guesses) == 1:
            same = name in PREFIX and guesses[0] is not None and guesses[0].type.unsigned
            return Guess(UNSIGNED if same else INT, True)
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

    # ── columns ───────────────────────────────────────────────────────────────────────────────────
    def _columns(self, atom: tree.Atom) -> list[Column]:
        """The columns of an atom's terms, without types where nobody knows which argument is meant
        for which column.
        """
        schema = self._catalog.relations.get(atom.relation)
        if schema is None or schema.arity != len(atom.terms):
            return [("", None)] * len(atom.terms)
        return [(name, None if type == UNKNOWN else type.required) for name, type in schema.columns]

    def _take_columns(self, atom: tree.Atom) -> None:
        """Give variables without types those of an atom's columns."""
        for term, (column, type) in zip(atom.terms, self._columns(atom), strict=True):
            if isinstance(term, tree.Variable) and term.name not in self.types and type:
                self.types[term.name] = type
                if not is_hidden(atom.relation):
                    self.reasons[term.name] = f"column `{column}` of `{atom.relation}`"

    def _head_places(self, head: tree.Atom) -> list[tuple[int, Type]]:
        """The classes of a head's terms, of aggregates those of their arguments, with the types
        that these have if nothing else says what they are.
        """
        found: list[tuple[int, Type | None]] = []
        for term, (_, type) in zip(head.terms, self._columns(head), strict=True):
            if isinstance(term, tree.HeadAggregate):
                types = self._argument_types(term, type)
                found += zip(map(self._visit, term.args), types, strict=False)
            else:
                found.append((self._visit(term), type))
        return [(number, type) for number, type in found if type is not None]

    def _argument_types(
        self, term: tree.HeadAggregate, type: Type | None
    ) -> tuple[Type | None, ...]:
        if (user := self._catalog.aggregates.get(term.function)) is not None:
            return user.argument_types
        known = AGGREGATES.get(term.function)
        if known is not None and known.types:
            return known.types
        return (type if known is not None and known.alike else None,)

    def _take_types(self) -> None:
        """Give variables without types those of their classes."""
        for name, number in self._numbers.items():
            if name not in self.types and (type := self._classes.type_of(number)) is not None:
                self.types[name], self.reasons[name] = type, "by an equation"

    # ── terms that are of one type ────────────────────────────────────────────────────────────────
    def _visit_body(self, body: tree.Body) -> None:
        for literal in body.literals:
            match literal:
                case tree.Atom():
                    for term, (_, type) in zip(literal.terms, self._columns(literal), strict=True):
                        number = self._visit(term)
                        if type is not None:
                            self._classes.ask(number, type)
                case tree.Comparison():
                    left, right = self._visit(literal.left), self._visit(literal.right)
                    if literal.operator == "is_null":
                        self._visit(literal.left)
                        continue
                    if literal.operator in PREDICATES:
                        self._classes.ask(left, STR)
                        self._classes.ask(right, STR)
                    elif literal.operator == "=":
                        self._classes.join(left, right)
                    else:
                        self._compared.append((left, right))
                case tree.Negation():
                    self._visit_body(literal.body)
                case tree.Disjunction():
                    for branch in literal.branches:
                        self._visit_body(branch)

    def _visit(self, term: tree.Term) -> int:
        """The class of a term."""
        match term:
            case tree.Variable(name):
                if name not in self._numbers:
                    self._numbers[name] = self._classes.new()
                return self._numbers[name]
            case tree.Constant(value):
                guess = _guess_constant(value)
                if guess is None:
                    return self._classes.new()
                return self._classes.new(
                    guess.type if guess.firm else None,
                    None if guess.firm else guess.type,
                    open=False,
                )
            case tree.Call():
                return self._visit_call(term)
            case tree.Aggregate():
                return self._visit_aggregate(term)
            case tree.HeadAggregate():
                for arg in term.args:
                    self._visit(arg)
        return self._classes.new()

    def _visit_call(self, call: tree.Call) -> int:
        name, args = call.functor, [self._visit(arg) for arg in call.args]
        if name == "as":
            return self._visit_named(call, args[0])
        if name in _OF_ONE_TYPE:
            result = self._classes.new(open=False)
            for arg in args:
                self._classes.join(result, arg)
            return result
        if name in ARITHMETIC and len(args) == 2:
            return self._classes.operate(name, *args)
        if name in ROUNDINGS and args:
            return self._classes.operate(name, args[0], args[0], places_of(call))
        if name in FUNCTIONS and FUNCTIONS[name].moves:
            self._classes.ask(args[0], INT)
            return self._classes.new(INT)
        if (user := self._catalog.functions.get(name)) is not None:
            for arg, type in zip(args, user.argument_types, strict=False):
                self._classes.ask(arg, type)
            return self._classes.new(user.result_type.required)
        known = FUNCTORS.get(name)
        if known is not None and name not in _CONVERTED:
            for arg, type in zip(args, known.argument_types(len(args)), strict=False):
                if type is not None:
                    self._classes.ask(arg, type)
        return self._classes.new(_CONVERTED.get(name) or (known.result if known else None))

    def _visit_named(self, call: tree.Call, arg: int) -> int:
        """`as(x, T)`: of T, as x is where nothing else says what it is."""
        guess = self._guess_named(call)
        if guess is None or not guess.firm:
            return arg
        self._asked_last.append((arg, guess.type))
        return self._classes.new(guess.type)

    def _visit_aggregate(self, aggregate: tree.Aggregate) -> int:
        self._visit_body(aggregate.body)
        target, *_ = [*map(self._visit, aggregate.args), None]
        if target is None:
            return self._classes.new(aggregate_type(aggregate.function, None))
        if aggregate.function in EXTREMES:
            return target
        return self._classes.operate(aggregate.function, target, target)


def _atoms(body: tree.Body, terms: list[tree.Term]) -> Iterator[tree.Atom]:
    """The atoms of a rule at any depth, in the order of the text; those in `terms` first."""
    for term in terms:
        yield from _atoms_inside(term)
    for literal in body.literals:
        match literal:
            case tree.Atom():
                yield from _atoms(tree.Body(()), list(literal.terms))
                yield literal
            case tree.Comparison(_, left, right):
                yield from _atoms(tree.Body(()), [left, right])
            case tree.Negation(inner):
                yield from _atoms(inner, [])
            case tree.Disjunction(branches):
                for branch in branches:
                    yield from _atoms(branch, [])


def _atoms_inside(term: tree.Term | None) -> Iterator[tree.Atom]:
    match term:
        case tree.Call() | tree.HeadAggregate():
            for arg in term.args:
                yield from _atoms_inside(arg)
        case tree.Aggregate():
            yield from _atoms(term.body, [])
            for arg in term.args:
                yield from _atoms_inside(arg)


def _guess_constant(value: object) -> Guess | None:
    try:
        found = constant_type(value)
    except LftjError:
        return None
    return Guess(found, found.unsigned or found.name not in ("int", "decimal"))


def constant_type(value: object) -> Type:
    """The type of a constant by itself. Raises LftjError for what is no value of the language."""
    return _OF_CLASS.get(type(value)) or type_of_value(value)
