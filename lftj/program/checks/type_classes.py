# SPDX-License-Identifier: Apache-2.0
"""Classes of terms that are of one type, while it is not known yet: a constant `2` is a number of
whichever kind its use asks for.

Terms that are compared are of one class. What an operation says of its operands and its result
waits until enough of their types is known; in the end classes that only constants are in take the
constants' own type. A class that is asked for a type that it cannot be of stays as it is, and the
place that asks is an error for the elaboration.
"""

from __future__ import annotations

from dataclasses import dataclass

from lftj.functions.aggregates import AGGREGATES
from lftj.program.signatures import (
    ROUNDINGS,
    Guess,
    aggregate_type,
    common_type,
    operand_types,
    result_type,
    rounded_type,
)
from lftj.types import FLOAT, INT, STR, UNSIGNED, Type


@dataclass(slots=True)
class Class:
    """All that is known of a class: its `type`; else the `default` that its constants have, and
    whether it is `open`, which classes of constants alone are not.
    """

    type: Type | None = None
    default: Type | None = None
    open: bool = True


@dataclass(slots=True)
class Operation:
    """`left functor right` with the classes of the operands and the result; aggregates and
    `ROUNDINGS` have a left operand only. `places`: of these.
    """

    functor: str
    left: int
    right: int
    result: int
    places: object = None


class TypeClasses:
    """Classes by number, and the operations that have something to say of them."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self._classes: list[Class] = []
        self._waiting: list[Operation] = []
        self._changes = 0

    # ── classes ───────────────────────────────────────────────────────────────────────────────────
    def new(
        self, type: Type | None = None, default: Type | None = None, *, open: bool = True
    ) -> int:
        """The number of one more class."""
        self._parents.append(len(self._classes))
        self._classes.append(Class(type, default, open))
        return len(self._classes) - 1

    def type_of(self, number: int) -> Type | None:
        """The type of a class, as far as it is known by now."""
        return self._class(number).type

    def guess(self, number: int) -> Guess | None:
        """The type of a class, or of the constants that are all there is in it."""
        found = self._class(number)
        if found.type is not None:
            return Guess(found.type, True)
        return Guess(found.default, False) if found.default and not found.open else None

    def ask(self, number: int, type: Type) -> None:
        """Let a class be of a type, where its own is not known and its constants admit it."""
        found = self._class(number)
        if found.type is None and _admits(found.default, type):
            found.type = type
            self._changes += 1

    def join(self, one: int, other: int) -> None:
        """Let two classes be of one type, unless theirs are known to differ."""
        first, second = self._root(one), self._root(other)
        left, right = self._classes[first], self._classes[second]
        if first == second or (left.type is not None and right.type is not None):
            return
        type = left.type or right.type
        if type is not None and not (_admits(left.default, type) and _admits(right.default, type)):
            return
        defaults = [Guess(each, False) for each in (left.default, right.default) if each]
        self._parents[second] = first
        self._classes[first] = Class(type, common_type([*defaults]), left.open or right.open)
        self._changes += 1

    def _root(self, number: int) -> int:
        while (parent := self._parents[number]) != number:
            self._parents[number] = self._parents[parent]
            number = parent
        return number

    def _class(self, number: int) -> Class:
        return self._classes[self._root(number)]

    # ── operations ────────────────────────────────────────────────────────────────────────────────
    def operate(self, functor: str, left: int, right: int, places: object = None) -> int:
        """The class of an operation's result."""
        result = self.new()
        self._waiting.append(Operation(functor, left, right, result, places))
        return result

    def solve(self) -> None:
        """Let operations say what they can, until none can say more."""
        changes = -1
        while changes != (changes := self._changes):
            self._waiting = [each for each in self._waiting if not self._noted(each)]
            # so that chains of operations end in two passes, whichever way they are written
            self._waiting.reverse()

    def take_defaults(self) -> None:
        """Let classes be of the types of their constants, decimals first."""
        for name in ("decimal", "int"):
            for found in self._classes:
                if found.type is None and found.default is not None and found.default.name == name:
                    found.type = found.default
                    self._changes += 1
            self.solve()
        for each in self._waiting:
            result = _forward(each, self.guess(each.left), self.guess(each.right))
            if result is not None:
                self.ask(each.result, result)

    def _noted(self, operation: Operation) -> bool:
        """Take note of what an operation says by now; True when it has no more to say."""
        left, right = self.guess(operation.left), self.guess(operation.right)
        if left and right and (left.firm or right.firm):
            result = _forward(operation, left, right)
            if result is not None:
                self.ask(operation.result, result)
            return True
        known = [each.type for each in (left, right) if each is not None and each.firm]
        if (result := self.type_of(operation.result)) is not None:
            known.append(result)
        for type in known:
            if _spreads(operation.functor, type):
                for number in (operation.left, operation.right, operation.result):
                    self.ask(number, type)
                return True
        return False


def _admits(default: Type | None, type: Type) -> bool:
    """Test for constants that may be written where a type is asked for."""
    if default is None:
        return True
    return type.numeric if default == INT else type.name == default.name


def _spreads(functor: str, type: Type) -> bool:
    """Test for a type that operands and result of a functor can only have together. That of one int
    may be a decimal's or a date's besides.
    """
    if functor in AGGREGATES:
        return AGGREGATES[functor].alike and type.numeric
    match functor:
        case "round" | "floor" | "ceil":
            return False
        case "+":
            return type in (FLOAT, UNSIGNED, STR) or type.name == "decimal"
        case "-":
            return type in (FLOAT, UNSIGNED) or type.name == "decimal"
    return type in (FLOAT, UNSIGNED)


def _forward(operation: Operation, left: Guess | None, right: Guess | None) -> Type | None:
    """The type of the result, by those of the operands."""
    if operation.functor in AGGREGATES:
        return aggregate_type(operation.functor, left.type) if left else None
    if operation.functor in ROUNDINGS:
        return rounded_type(operation.functor, left.type, operation.places) if left else None
    operands = operand_types(operation.functor, left, right)
    return None if operands is None else result_type(operation.functor, *operands)
