# SPDX-License-Identifier: Apache-2.0
"""Functions that a user defines in Python and calls in rules: `y = slug(x)`.

A function is pure by contract: the same arguments give the same result, and nothing else changes.
So it is called once for all arguments that occur, and its results are kept. It takes one row's
values, or, with `columns`, whole columns as Arrow or NumPy arrays of one length.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from types import CodeType
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

import pyarrow as pa

from lftj.errors import ArityError, DeclarationError
from lftj.syntax import tree
from lftj.syntax.conversion import to_term
from lftj.syntax.expressions import Expression
from lftj.types import Type, type_of_python

Carrier = Literal["arrow", "numpy"]
"""The arrays that a function of whole columns takes and gives."""
_CARRIERS = ("arrow", "numpy")


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A user's function. Called in Python with terms, it gives the term that a rule computes;
    `function` is the plain function.

    `argument_types` and `result_type`: the types of columns; by default what the function's
    annotations say. `columns`: None for a function of single values. `version`: a text that tells
    this function from what it was before; by default that is its own code, without the code of
    what it calls.
    """

    function: Callable[..., Any]
    argument_types: tuple[Type, ...] = ()
    result_type: Type | None = None
    columns: Carrier | None = None
    name: str = ""
    version: str = ""

    if TYPE_CHECKING:  # a user gives Python's types

        def __init__(
            self,
            function: Callable[..., Any],
            argument_types: object = (),
            result_type: object = None,
            columns: Carrier | None = None,
            name: str = "",
            version: str = "",
        ) -> None: ...

    def __post_init__(self) -> None:
        """Python's types stand for columns' types. Raises DeclarationError (E160, E161)."""
        name = self.name or getattr(self.function, "__name__", "")
        if not callable(self.function):
            raise DeclarationError(
                f"{self.function!r} is no function", hint="write @ws.function above a `def`"
            )
        if self.columns not in (None, *_CARRIERS):
            raise DeclarationError(
                f"columns={self.columns!r} of function `{name}` is no kind of array",
                hint='write columns="arrow" or columns="numpy", or leave it out',
            )
        hints = {} if self.argument_types and self.result_type else _hints(self.function)
        given: Any = self.argument_types or [
            hints[each] for each in _parameters(self.function) if each in hints
        ]
        types = given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
        result = self.result_type or hints.get("return")
        _require_types(self.function, name, list(types), result)
        arguments, gives = tuple(map(type_of_python, types)), type_of_python(result)
        _require_values(name, arguments)
        for field, value in (
            ("name", name),
            ("argument_types", arguments),
            ("result_type", gives),
            ("version", self.version or _code_of(self.function)),
        ):
            object.__setattr__(self, field, value)

    def __call__(self, *args: object) -> Expression:
        """The term `name(args)` of a rule. Raises ArityError (E121)."""
        if len(args) != len(self.argument_types):
            raise ArityError(
                f"`{self.name}` takes {len(self.argument_types)} arguments, found {len(args)}",
                code="E121",
                hint=f"the plain function is {self.name}.function",
            )
        return Expression(tree.HeadAggregate(self.name, tuple(map(to_term, args))))

    def of_values(self, *values: object) -> Any:
        """The result for the values of one row: the function is called."""
        if self.columns is None:
            return self.function(*values)
        columns: list[Any] = [
            pa.array([value], type.arrow)
            for value, type in zip(values, self.argument_types, strict=True)
        ]
        if self.columns == "numpy":
            columns = [column.to_numpy(zero_copy_only=False) for column in columns]
        (found,) = self.function(*columns).tolist()
        return found

    @property
    def path(self) -> str:
        """The import path, `module:name`; "" where no module has it."""
        module = getattr(self.function, "__module__", None)
        name = getattr(self.function, "__qualname__", "<lambda>")
        return "" if module is None or "<" in name else f"{module}:{name}"


def found_at(path: str) -> object:
    """The object of this import path among the modules that the program has imported by itself;
    None where there is none.
    """
    module, _, names = path.partition(":")
    found: object = sys.modules.get(module)
    for name in names.split("."):
        found = getattr(found, name, None)
    return found


def same_code(one: str, other: str) -> bool:
    """Test for the same version of a function. Compiled code of another Python says nothing."""
    if one == other:
        return True
    kinds = {each.partition(":")[0] for each in (one, other)}
    return len(kinds) == 2 and all(each.startswith(_COMPILED) for each in kinds)


_COMPILED = "cpython-"


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except (NameError, TypeError, AttributeError):
        return {}


def _parameters(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (ValueError, TypeError):
        return []


def _require_types(
    function: Callable[..., Any], name: str, types: list[object], result: object
) -> None:
    """Raise DeclarationError (E160) for a function whose types are not known."""
    parameters = _parameters(function)
    if types and result is not None and (len(types) == len(parameters) or not parameters):
        return
    what = "no argument" if not types and not parameters else "types that are not known"
    raise DeclarationError(
        f"function `{name}` has {what}",
        hint=f"annotate it, def {name}(text: str) -> str, or write "
        "@ws.function(argument_types=(str,), result_type=str)",
    )


def _require_values(name: str, arguments: tuple[Type, ...]) -> None:
    """Raise DeclarationError (E160) for a function of NULL."""
    number = next((at for at, each in enumerate(arguments, 1) if each.optional), None)
    if number is not None:
        raise DeclarationError(
            f"argument {number} of function `{name}` is {arguments[number - 1]}, but a function is "
            "not called where an argument is NULL: there its result is NULL",
            hint=f"declare it {arguments[number - 1].required}, and say what stands for NULL in "
            f"rules: {name}(coalesce(x, …)), or coalesce({name}(x), …)",
        )


def _code_of(function: Callable[..., Any]) -> str:
    """The version of a function by default: a digest of its code."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', '')}"
    defaults = getattr(function, "__defaults__", None)
    digest = blake2b(repr((_parts_of(code), _constant(defaults))).encode(), digest_size=8)
    major, minor = sys.version_info[:2]
    return f"{_COMPILED}{major}.{minor}:{digest.hexdigest()}"


def _parts_of(code: CodeType) -> tuple[object, ...]:
    return code.co_code, code.co_names, tuple(map(_constant, code.co_consts))


def _constant(value: object) -> object:
    """A constant of a function as something whose text is the same in every process."""
    match value:
        case CodeType():
            return _parts_of(value)
        case frozenset():
            return sorted(map(repr, value))
        case tuple():
            return tuple(map(_constant, value))
    return value if isinstance(value, int | float | str | bytes | None) else type(value).__name__
