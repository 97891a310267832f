"""Keyword arguments of public calls: one that does not exist is an error that names the nearest one
that does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from types import CodeType
from typing import Any, ParamSpec, TypeVar

from lftj.errors import OptionError
from lftj.frames.match import suggestion

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
Class = TypeVar("Class", bound=type)


def named_options(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """The same function, with OptionError (E170) for a keyword argument that it does not have,
    where Python has a bare TypeError.
    """
    known = [name for name in _names(function) if name != "self"]

    @wraps(function)
    def checked(*args: Parameters.args, **named: Parameters.kwargs) -> Returned:
        for name in named:
            if name not in known:
                raise _unknown(name, function.__name__, known)
        return function(*args, **named)

    return checked


def with_named_options(owner: Class) -> Class:
    """The same class, its public methods with `named_options`; those that take any keyword argument
    are left as they are.
    """
    for name, value in list(vars(owner).items()):
        if not name.startswith("_") and inspect.isfunction(value) and not _takes_any(value):
            setattr(owner, name, named_options(value))
    return owner


def _code(function: Callable[..., Any]) -> CodeType:
    """The code of a function as it was written, in whatever it was wrapped. `inspect.signature`
    tells more, and takes a hundred times longer.
    """
    return inspect.unwrap(function).__code__


def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    code = _code(function)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _takes_any(function: Callable[..., Any]) -> bool:
    return bool(_code(function).co_flags & inspect.CO_VARKEYWORDS)


def _unknown(name: str, function: str, known: list[str]) -> OptionError:
    meant = suggestion(name, known)
    hint = (
        f"did you mean {meant}=?"
        if meant
        else f"it has {', '.join(f'{option}=' for option in known)}"
        if known
        else "leave it out"
    )
    return OptionError(f"{function}(…) has no option {name}=", hint=hint)
