"""The one way to compiled code: `compiled`, and loads and stores that skip Python's negative-index handling.

Kernels that call one another millions of times a second take their arrays as addresses (`address`): an array argument is seven machine
words and a reference count, an address is one register. `load` and `store` take either.

Numba's on-disk cache keys a function by its own file only: an edit to a callee in another file leaves the caller's cached machine code in
place, and the old result is served without a word. So the cache lives in a directory named by a hash of *all* kernel sources, and any edit
to any of them starts a fresh one. Set `LFTJ_CACHE_DIR` to choose where those directories go (default: the user's cache directory).

With `NUMBA_DISABLE_JIT=1` kernels run as Python, and with `NUMBA_BOUNDSCHECK=1` every `load` and `store` is checked.
"""

from __future__ import annotations

import hashlib
import os
import signal
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import config

Function = TypeVar("Function", bound=Callable[..., Any])

# Numba's own types do not tell what these are: settings and options known at run time only, a decorator that takes an argument away.
numba_config: Any = config
intrinsic: Any = extending.intrinsic
overload: Any = extending.overload
njit: Any = numba.njit

_ROOT = Path(__file__).resolve().parent.parent
_PACKAGES = ("lftj", "sensitivity", "scantree", "partition")


def _kernel_sources() -> list[Path]:
    found = [path for package in _PACKAGES for path in (_ROOT / package).rglob("*_kernels.py")]
    return sorted([*found, Path(__file__).resolve()])


def _source_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {numba_config.BOUNDSCHECK}".encode())
    for path in _kernel_sources():
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Where this set of kernel sources keeps its machine code."""
    base = os.environ.get("LFTJ_CACHE_DIR") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "lftj")
    return Path(base) / f"kernels-{_source_hash()}"


# Numba reads the directory when a function is decorated, so it is set once, here, before any kernel module is imported.
numba_config.CACHE_DIR = str(cache_directory())

DISABLED = bool(numba_config.DISABLE_JIT)
_CHECKED = bool(numba_config.BOUNDSCHECK)


class _InterruptsHeld:
    """Ctrl-C waits until the block is over: an interrupt inside Numba's compiler leaves half-made code behind, unusable ever after."""

    def __enter__(self) -> None:
        self._waiting: list[tuple[int, FrameType | None]] = []
        self._previous = None
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, lambda number, frame: self._waiting.append((number, frame)))

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
            if self._waiting and callable(self._previous):
                self._previous(*self._waiting[0])


def _jit(function: Function, **options: Any) -> Function:
    dispatcher = njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    if not DISABLED:
        compile_now = dispatcher._compile_for_args

        def compile_for_arguments(*arguments: Any, **named: Any) -> Any:
            with _InterruptsHeld():
                return compile_now(*arguments, **named)

        dispatcher._compile_for_args = compile_for_arguments  # Numba looks this up on the dispatcher at each new signature
        template_for = dispatcher.get_call_template
        # A variable that starts as 0 is first typed as that very constant, and Numba would compile a kernel it is passed to twice.
        dispatcher.get_call_template = lambda arguments, named: template_for(*_without_constants(arguments, named))
    return dispatcher


def _without_constants(arguments: Any, named: Any) -> tuple[Any, Any]:
    """The types of a call from compiled code, constants taken as what they are constants of."""
    return tuple(types.unliteral(kind) for kind in arguments), {name: types.unliteral(kind) for name, kind in named.items()}


def compiled(function: Function) -> Function:
    """Compile a kernel: cached on disk, GIL released, NumPy's rules for division by zero, no Python objects."""
    return _jit(function)


def inlined(function: Function) -> Function:
    """As `compiled`, and inlined into its callers by LLVM: for helpers of a few lines inside hot loops."""
    return _jit(function, forceinline=True)


# ── unchecked loads and stores on a one-dimensional int64 array ───────────────────────────────────────────────────────
@intrinsic
def _load(typingctx: Any, memory: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load(builder.gep(array.data, [arguments[1]]))

    return types.int64(memory, types.int64), codegen


@intrinsic
def _load_at(typingctx: Any, base: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load(builder.gep(pointer, [arguments[1]]))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def _load_byte_at(typingctx: Any, base: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        return builder.zext(builder.load(builder.gep(pointer, [arguments[1]])), ir.IntType(64))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def _store_at(typingctx: Any, base: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        builder.store(arguments[2], builder.gep(pointer, [arguments[1]]))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), codegen


@intrinsic
def _store(typingctx: Any, memory: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        builder.store(arguments[2], builder.gep(array.data, [arguments[1]]))
        return context.get_dummy_value()

    return types.none(memory, types.int64, types.int64), codegen


def address(array: np.ndarray) -> Any:
    """What a kernel takes for `array` (one-dimensional, contiguous): its address, or itself where accesses are checked or interpreted.

    The caller keeps the array alive while the kernel runs.
    """
    if DISABLED or _CHECKED:
        return array
    return array.__array_interface__["data"][0]


def load(memory: Any, index: Any) -> Any:
    """`memory[index]` for index ≥ 0, without the wrap-around test; `memory` is an int64 array or its address."""
    return memory[index]


def load_byte(memory: Any, index: Any) -> Any:
    """As `load`, of a uint8 array."""
    return int(memory[index])


def store(memory: Any, index: Any, value: Any) -> None:
    """`memory[index] = value` for index ≥ 0, without the wrap-around test; `memory` is an int64 array or its address."""
    memory[index] = value


# Numba compares the argument lists of an overload and its implementation, annotations included: none on either.
@overload(load)
def _overload_load(memory, index):
    if isinstance(memory, types.Integer):
        return lambda memory, index: _load_at(memory, index)
    if _CHECKED:
        return lambda memory, index: memory[index]
    return lambda memory, index: _load(memory, index)


@overload(load_byte)
def _overload_load_byte(memory, index):
    if isinstance(memory, types.Integer):
        return lambda memory, index: _load_byte_at(memory, index)
    return lambda memory, index: np.int64(memory[index])


@overload(store)
def _overload_store(memory, index, value):
    def checked(memory, index, value):
        memory[index] = value

    def unchecked(memory, index, value):
        _store(memory, index, value)

    def at_address(memory, index, value):
        _store_at(memory, index, value)

    if isinstance(memory, types.Integer):
        return at_address
    return checked if _CHECKED else unchecked


# ── floats and their bits ─────────────────────────────────────────────────────────────────────────────────────────────
@intrinsic
def _bits_to_float(typingctx: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@intrinsic
def _float_to_bits(typingctx: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), codegen


def bits_to_float(bits: int) -> float:
    """The double whose IEEE 754 bits are `bits`."""
    return struct.unpack("<d", struct.pack("<q", bits))[0]


def float_to_bits(value: float) -> int:
    """The IEEE 754 bits of `value` as a signed integer."""
    return struct.unpack("<q", struct.pack("<d", value))[0]


@overload(bits_to_float)
def _overload_bits_to_float(bits):
    return lambda bits: _bits_to_float(bits)


@overload(float_to_bits)
def _overload_float_to_bits(value):
    return lambda value: _float_to_bits(value)
