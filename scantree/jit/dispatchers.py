# SPDX-License-Identifier: Apache-2.0
"""Numba's dispatchers of kernels: functions that Numba compiles for the types they are called with,
in our way (`lftj.scantree.jit.libraries`), and keeps on disk.

Numba is imported with this module, which is imported only where the library of kernels does not do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba import types
from numba.extending import typeof_impl

from lftj.scantree.jit import announcing, lowerings  # noqa: F401 -- loads, stores and the like
from lftj.scantree.jit.compile_lock import turn
from lftj.scantree.jit.decorators import Kernel, add_seconds
from lftj.scantree.jit.directory import kept_in
from lftj.scantree.jit.kept import KernelCache
from lftj.scantree.jit.libraries import CalleeCompiler, EntryCompiler
from lftj.scantree.process.garbage import collector_paused
from lftj.scantree.process.interrupts import interrupts_wait

_njit: Any = numba.njit


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C waits until the block is over: an interrupt inside Numba's compiler leaves half-made
    code behind, unusable ever after.

    So does the collection of cyclic garbage: the compiler makes millions of small objects that live
    till its end, and a tenth of its time would go into looking at them again and again.
    """
    with interrupts_wait(), collector_paused():
        yield


@contextmanager
def _at_work(kernel: str) -> Iterator[None]:
    """While a kernel is made: by no other process, undisturbed, announced and counted."""
    started = time.perf_counter()
    try:
        with turn(kernel), _undisturbed():
            yield
    finally:
        add_seconds(time.perf_counter() - started)
        announcing.end()


def dispatcher_of(function: Callable[..., Any], inline: bool) -> Any:
    """Numba's dispatcher of a kernel."""
    options: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}
    options |= {"forceinline": True} if inline else {}
    dispatcher = _njit(nogil=True, pipeline_class=EntryCompiler, **options)(function)
    callee = _njit(no_cpython_wrapper=True, pipeline_class=CalleeCompiler, **options)(function)
    if kept_in():
        dispatcher._cache = KernelCache(function)
    name, compile_now = (
        f"{function.__module__}.{function.__qualname__}",
        dispatcher._compile_for_args,
    )

    def compile_for_arguments(*arguments: Any, **named: Any) -> Any:
        with _at_work(name):
            return compile_now(*arguments, **named)

    def compile_ahead(kinds: tuple[Any, ...]) -> None:
        with _at_work(name):
            dispatcher.compile(kinds)

    # Numba looks these up on the dispatcher: the first at each new signature, the others for calls
    # from compiled code.
    dispatcher._compile_for_args, dispatcher.compile_ahead = compile_for_arguments, compile_ahead
    dispatcher.get_call_template = lambda arguments, named: callee.get_call_template(
        *_without_constants(arguments, named)
    )
    dispatcher.get_overload, dispatcher.callee = callee.get_overload, callee
    return dispatcher


def _without_constants(arguments: Any, named: Any) -> tuple[Any, Any]:
    """The types of a call from compiled code, constants taken as what they are constants of.

    A variable that starts as 0 is first typed as that very constant, and Numba would compile a
    kernel it is passed to twice.
    """
    return tuple(types.unliteral(kind) for kind in arguments), {
        name: types.unliteral(kind) for name, kind in named.items()
    }


@typeof_impl.register(Kernel)
def _type_of_kernel(kernel: Kernel, _context: Any) -> Any:
    """The type of a kernel to kernels that call it."""
    return types.Dispatcher(kernel.dispatcher)
