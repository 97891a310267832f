# SPDX-License-Identifier: Apache-2.0
"""Keyword arguments of public calls: one that does not exist is an error that names the nearest one
that does.
"""

from __future__ import annotations

import errno
import inspect
from collections.abc import Callable
from functools import wraps
from types import CodeType
from typing import Any, ParamSpec, TypeVar

from lftj.errors import LftjError, LimitError, OptionError
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
        try:
            return function(*args, **named)
        except OSError as error:
            _for_want_of_files(error)
            raise

    return checked


def with_named_options(owner: Class) -> Class:
    """The same class, its public methods with `named_options`; of those that take any keyword
    argument, and of what notebooks call, only errors for want of file descriptors are changed.
    """
    for name, value in list(vars(owner).items()):
        if inspect.isfunction(value) and (name == "_repr_html_" or not name.startswith("_")):
            setattr(owner, name, _with_files(value) if _takes_any(value) else named_options(value))
    return owner


def _with_files(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """The same function, with LimitError (E334) where the process can open no more files: modules
    that few calls need are imported by these.
    """

    @wraps(function)
    def checked(*args: Parameters.args, **named: Parameters.kwargs) -> Returned:
        try:
            return function(*args, **named)
        except OSError as error:
            _for_want_of_files(error)
            raise

    return checked


def _for_want_of_files(error: OSError) -> None:
    """Raises LimitError (E334) where a process, or a system, can open no more files."""
    if error.errno not in (errno.EMFILE, errno.ENFILE) or isinstance(error, LftjError):
        return
    hint = (
        "close files and connections that are not needed, or allow more: `ulimit -n`, or "
        "resource.setrlimit(resource.RLIMIT_NOFILE, …); then call again"
    )
    what = f" ({error.filename})" if error.filename else ""
    raise LimitError(f"the process can open no more files{what}", code="E334", hint=hint) from error


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
