# SPDX-License-Identifier: Apache-2.0
"""`compiled` and `inlined`: what makes a Python function a kernel."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

from lftj.scantree.jit.directory import DISABLED, require_numba
from lftj.scantree.jit.fitting import call_fitted
from lftj.scantree.jit.library import library

Function = TypeVar("Function", bound=Callable[..., Any])


_seconds = 0.0


def compile_seconds() -> float:
    """Seconds that this process has spent on compiling kernels or reading them from the cache."""
    return _seconds


def add_seconds(seconds: float) -> None:
    """Count seconds as spent on compiling."""
    global _seconds
    _seconds += seconds


class Kernel:
    """A function that runs as machine code: from the library (`lftj.scantree.jit.library`), or
    compiled by Numba, which is imported only then.

    Which one is found at the first call. Arguments that fit no signature of the library are copied
    (`lftj.scantree.jit.fitting`); a kernel that it lacks goes to Numba.
    """

    py_func: Callable[..., Any]

    def __init__(self, function: Callable[..., Any], inline: bool) -> None:
        update_wrapper(self, function)
        self.py_func, self._inline = function, inline
        self._call: Callable[..., Any] = self._begin
        self._dispatcher: Any = None
        self._machine_code: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._call(*arguments, **named) if named else self._call(*arguments)

    def __repr__(self) -> str:
        return f"<kernel {self._full_name}>"

    def __reduce__(self) -> Any:
        """Pickle by name, as a function; one inside a function by its parts, for Numba's keys."""
        name = self.py_func.__qualname__
        return (Kernel, (self.py_func, self._inline)) if "<locals>" in name else name

    def __getattr__(self, name: str) -> Any:
        """An attribute of Numba's dispatcher of this function: `signatures`, `stats`, …"""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    @property
    def dispatcher(self) -> Any:
        """Numba's dispatcher of this function. Imports Numba."""
        if self._dispatcher is None:
            require_numba()
            from lftj.scantree.jit.dispatchers import dispatcher_of

            self._dispatcher = dispatcher_of(self.py_func, self._inline)
        return self._dispatcher

    @property
    def _full_name(self) -> str:
        return f"{self.py_func.__module__}.{self.py_func.__qualname__}"

    def _begin(self, *arguments: Any, **named: Any) -> Any:
        """The first call."""
        found = library()
        function = None if found is None else found.function(self._full_name, self._unfit)
        self._call = function or self.dispatcher
        return self._call(*arguments, **named)

    def _unfit(self, *arguments: Any, **named: Any) -> Any:
        """A call that the library has no signature for: by copies that fit one, else by Numba."""
        found = library()
        if self._machine_code is None and found is not None:
            self._machine_code = found.function(self._full_name, self._by_numba)
        answer = None
        if self._machine_code is not None and found is not None and not named:
            answer = call_fitted(self._machine_code, arguments, found.signatures(self._full_name))
        if answer is None:
            return self._by_numba(*arguments, **named)
        result, copies = answer
        logging.getLogger("lftj").debug(
            "%d arrays were copied for %s, called with (%s)", copies, self._full_name,
            ", ".join(map(_described, arguments)),
        )  # fmt: skip
        return result

    def _by_numba(self, *arguments: Any, **named: Any) -> Any:
        """A call that nothing in the library can answer."""
        if self._dispatcher is None:
            logging.getLogger("lftj").info(
                "the library of kernels lacks %s for (%s): Numba compiles it", self._full_name,
                ", ".join(map(_described, arguments)),
            )  # fmt: skip
        return self.dispatcher(*arguments, **named)


def _described(argument: Any) -> str:
    """The type of an argument, for a line of the log."""
    if isinstance(argument, tuple):
        return f"{type(argument).__name__}:{','.join(map(_described, argument))}"
    kind, flags = getattr(argument, "dtype", None), getattr(argument, "flags", None)
    if kind is None or flags is None or not hasattr(argument, "shape"):
        return type(argument).__name__
    layout = ("C" if flags.c_contiguous else "A") + ("" if flags.writeable else " readonly")
    return f"{kind}[{argument.ndim}] {layout}"


def compiled(function: Function) -> Function:
    """Compile a kernel: cached on disk, GIL released, NumPy's rules for division by zero, no Python
    objects.
    """
    made: Any = function if DISABLED else Kernel(function, inline=False)
    return made


def inlined(function: Function) -> Function:
    """As `compiled`, and inlined into its callers by LLVM: for helpers of a few lines inside hot
    loops.
    """
    made: Any = function if DISABLED else Kernel(function, inline=True)
    return made
