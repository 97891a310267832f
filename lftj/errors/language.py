# SPDX-License-Identifier: Apache-2.0
"""Errors of rule text and programs: E1xx."""

from __future__ import annotations

from lftj.errors.base import LftjError


class ParseError(LftjError, ValueError):
    """The text is not a program (E100), uses a construct that is recognised but not supported
    (E101), nests too deeply (E102), or has a preprocessor line that cannot be carried out (E104).
    """

    code = "E100"


class ExpressionError(LftjError, TypeError):
    """A Python expression that means nothing in a rule: `and`, `or`, `not`, a chained comparison, a
    term in the place of a condition.
    """

    code = "E103"


class UnknownNameError(LftjError, KeyError):
    """A relation (E110), a column (E111), a functor or aggregate (E112), a type (E113) or a rule
    (E114) that is not there.
    """

    code = "E110"


class ArityError(LftjError, ValueError):
    """An atom or a row (E120), a functor or an aggregate (E121) with the wrong number
    of arguments.
    """

    code = "E120"


class TypeClashError(LftjError, TypeError):
    """A term of another type than its place asks for (E130) or its operator takes (E132), an
    aggregate where none may be (E131), or a union of different types (E133).
    """

    code = "E130"


class UnsafeRuleError(LftjError, ValueError):
    """A variable that nothing binds, in a head (E140), a negation (E141), a comparison or
    expression (E142) or an aggregate (E143).

    Also `_` where a value is asked for (E144), and a variable or aggregate in a fact (E145).
    """

    code = "E140"


class StratificationError(LftjError, ValueError):
    """Negation (E150), an aggregate (E151) or a string functor (E152) inside a cycle of rules; the
    message names the cycle.
    """

    code = "E150"


class DeclarationError(LftjError, ValueError):
    """A relation or aggregate declared twice, differently (E160), or what is no type (E161).

    A function written as a relation or the other way round (E162), a relation with an aggregate and
    other rules or facts (E163), a column name used twice (E164), a type name defined twice (E165),
    a rule with too many combinations of branches (E166), a relation with too many columns (E168),
    one that is `inline` where it cannot be (E169).
    """

    code = "E160"
