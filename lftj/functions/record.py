# SPDX-License-Identifier: Apache-2.0
"""Records of built-in functions: all that the language knows of one stands in its record.

A *function* is what a rule writes: a name with arguments, or an operator. By the types of its
arguments it means one of its *operators*, which compiled code computes in the middle of a join, or
one of its *functors*, which are computed over the rows of a relation, in Arrow or in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np
import pyarrow as pa

from lftj.scantree.frozen import frozen
from lftj.types import Type

Sql = str | Mapping[str, str]
"""SQL with places for the arguments, `{0}`; by dialect where dialects differ."""


@frozen(slots=True, kw_only=True)
class Operator:
    """An operation of compiled code, on codes of values.

    `evaluate`: the same on Python values, which may leave the range of the type; a
    ZeroDivisionError is a division by zero, an OverflowError a result out of range. `kernel`,
    `float_kernel`: names of the operations in `operation_kernels`, for results that are no floats
    and for floats; None where the code is another one, or none. `of_days`: compiled code takes the
    day of a timestamp first. `fails`: it has no value for some operands; `below`: for some it is
    below zero, which fails where the result is unsigned. `slopes`: how the result moves with each
    argument, by 1 or −1, () where it keeps no order; `alike`: by 1 with any number of them.
    `written`: its name in messages, where it is another one. `sql`: None where it depends on types,
    so that `lftj.sql.expressions` says it.
    """

    name: str
    evaluate: Callable[..., Any]
    kernel: str | None = None
    float_kernel: str | None = None
    of_days: bool = False
    fails: bool = False
    below: bool = False
    slopes: tuple[int, ...] = ()
    alike: bool = False
    written: str | None = None
    sql: Sql | None = None


@frozen(slots=True, kw_only=True)
class Functor:
    """A function that compiled code does not compute: `types` of its arguments (None: any type; a
    `variadic` one repeats its last), the `result` (None: a predicate), and the function itself.

    `many`: it gives a sequence of values, each of which is a result. `partial`: it fails for some
    arguments. `check`: raises ValueTypeError for a bad first argument. `at_once`: a predicate, or
    what it is the opposite of, of one first argument and many texts. `columns`: the same function
    of whole columns, texts as Arrow arrays and numbers as codes; None where it has to go row by
    row.
    """

    name: str
    types: tuple[Type | None, ...]
    result: Type | None
    evaluate: Callable[..., Any]
    variadic: bool = False
    many: bool = False
    partial: bool = False
    check: Callable[[str], object] | None = None
    at_once: Callable[[str, pa.Array], np.ndarray] | None = None
    columns: Callable[..., pa.Array | None] | None = None
    sql: Sql | None = None

    def argument_types(self, count: int) -> tuple[Type | None, ...]:
        """The types of `count` arguments."""
        return (
            self.types + self.types[-1:] * (count - len(self.types))
            if self.variadic
            else self.types
        )


Conversion = tuple[Operator | None, Type]
"""An operator of one argument (None: the value as it is), and the type of its result."""


@frozen(slots=True, kw_only=True)
class Function:
    """A function or an operator of rules.

    `arguments`: their names, "…" behind those that may be repeated, and in brackets those that may
    be left out. `usage`: what to write, for hints; `line`: what it is, for pages and completion.
    `operators` and `functors`: what it means; `conversions`: what it means for one argument, by
    the name of its type. `alike`: a test for the types of which arguments and result may be, all of
    one type; None where they are of others. `moves`: of a duration, by the name of a type of dates
    or timestamps, how far 1 of it moves one. `condition`: it stands where an atom does and has no
    value. `reserved`: no relation and no aggregate may have its name.
    """

    name: str
    arguments: tuple[str, ...]
    line: str
    usage: str = ""
    operators: tuple[Operator, ...] = ()
    functors: tuple[Functor, ...] = ()
    conversions: Mapping[str, Conversion] = field(default_factory=dict[str, Conversion])
    alike: Callable[[Type], bool] | None = None
    moves: Mapping[str, int] = field(default_factory=dict[str, int])
    condition: bool = False
    reserved: bool = True
    precedence: int | None = None
    """Strength with which an operator binds; None for `name(…)`."""
    prefix: bool = False
    synonyms: tuple[str, ...] = ()
    of_sql: tuple[str, ...] = ()
    """Names of the same function in SQL."""

    @property
    def of_values(self) -> bool:
        """True for a function whose arguments are values, all of which are computed."""
        return bool(self.operators or self.functors or self.moves)

    @property
    def arity(self) -> tuple[int, int | None]:
        """The least and the greatest number of arguments (None: any number)."""
        needed = [each for each in self.arguments if each != "…" and not each.startswith("[")]
        return len(needed), None if self.arguments[-1] == "…" else len(self.arguments)

    @property
    def word(self) -> bool:
        """True for an operator that is a word, as `band`."""
        return self.precedence is not None and bool(self.usage)
