# SPDX-License-Identifier: Apache-2.0
"""Operations that a call of an arithmetic functor can mean, chosen by the types of its arguments.

One functor stands for several operations: `+` adds integers, floats, decimals and dates. An
overload is the operation, the types that the arguments have to have, and the type of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lftj.errors import TypeClashError
from lftj.functions import FUNCTIONS
from lftj.program.signatures import (
    Guess,
    common_type,
    operand_types,
    places_of,
    result_type,
    rounded_type,
)
from lftj.syntax import tree
from lftj.syntax.functors import PREFIX
from lftj.types import FLOAT, INT, UNSIGNED, Type


class Overload(NamedTuple):
    """An operation with the types of its arguments and of its result."""

    operator: str
    types: Sequence[Type]
    result: Type


def arithmetic_overload(
    call: tree.Call, guesses: list[Guess | None], expected: Type | None
) -> Overload:
    """The operation on numbers or dates that a call means. Where only constants stand, they take
    the type that is expected of the result. Raises TypeClashError (E132).
    """
    name = call.functor
    scaled = (
        name == "*" and expected is not None and expected.name == "decimal"
    )  # the product of constants has a scale of its own
    if (
        expected is not None
        and expected.numeric
        and not scaled
        and all(guess is not None and not guess.firm for guess in guesses)
    ):
        guesses = [Guess(expected, True)] * len(guesses)
    operand = common_type(guesses) or expected or INT
    if (alike := FUNCTIONS[name].alike) is not None:
        result = _admitted(name, operand if alike(operand) else None, operand)
        return Overload(name, [operand] * len(call.args), result)
    if name in PREFIX:
        operand = UNSIGNED if operand.unsigned else INT
        return Overload(name, [operand], operand)
    operands = operand_types(name, *guesses) or tuple(
        INT if guess is None else guess.type for guess in guesses
    )
    return Overload(name, operands, _admitted(name, result_type(name, *operands), *operands))


def _admitted(name: str, result: Type | None, *operands: Type) -> Type:
    if result is not None:
        return result
    shown = " and ".join(dict.fromkeys(map(str, operands)))
    hint = (
        "convert one side with to_float(…) or to_number(…)"
        if all(each.numeric for each in operands)
        else None
    )
    if any(each.name == "decimal" for each in operands):
        hint = (
            "decimals multiply with decimals and ints, up to 18 places, and add with "
            "one scale, which round(x, 2) gives; 0.5 is "
            'written decimal("0.5"); for anything else compute with to_float(…)'
        )
    if name in _OF_FLOATS and any(each.name == "decimal" for each in operands):
        hint = (
            f"the result of decimals would be rounded; compute a float, for a column of floats: "
            f"to_float(…) {name} to_float(…)"
            + (', or multiply by a part: x * decimal("0.25")' if name == "/" else "")
        )
    raise TypeClashError(f"`{name}` does not take {shown}", code="E132", hint=hint)


_OF_FLOATS = ("/", "^")
"""Operations whose results decimals mostly do not have."""


def rounding_overload(call: tree.Call, guess: Guess) -> Overload:
    """The `round`, `floor` or `ceil` of a value of this type. Raises TypeClashError (E132)."""
    name = call.functor
    if (result := rounded_type(name, guess.type, places_of(call))) is None:
        found = " and ".join((str(guess.type), *map(str, call.args[1:])))
        hint = (
            "write round(x, 2): of a number, with a constant number of places"
            if name == "round"
            else "it takes a float or a decimal"
        )
        raise TypeClashError(f"`{name}` does not take {found}", code="E132", hint=hint)
    taken = guess.type if result.name == "decimal" else FLOAT
    return Overload(name, [taken, INT] if name == "round" else [taken], result)


def no_conversion(name: str, found: Type) -> TypeClashError:
    """The error (E132) for a conversion of a type that it does not take."""
    kinds = [kind for kind in FUNCTIONS[name].conversions if kind != "unsigned"]
    hint = (
        f"it takes a {' or a '.join(kinds)}"
        if name != "ord"
        else "it gives the number of a number; compare strings with < and >"
    )
    return TypeClashError(f"`{name}` does not take {found}", code="E132", hint=hint)
