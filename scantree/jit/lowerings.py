# SPDX-License-Identifier: Apache-2.0
"""Loads, stores and their like (`lftj.scantree.jit.memory`) as Numba has them.

They are operations, not functions: a load is an instruction where it stands, and nothing is
compiled or linked for it. With bounds checks on they are functions that index the array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core.typing import templates

from lftj.scantree.jit.directory import CHECKED
from lftj.scantree.jit.memory import (
    bits_to_float,
    claim,
    fetch,
    float_to_bits,
    load,
    load_byte,
    store,
)

_WORD = 64  # bits

# Numba's own types do not tell what these are.
_type_callable: Any = extending.type_callable
_lower: Any = extending.lower_builtin
_overload: Any = extending.overload
_typed: Any = templates.signature


def _format(kind: Any) -> tuple[int, bool]:
    """Bits of an element of `memory`, and whether it is signed."""
    return (
        (kind.dtype.bitwidth, kind.dtype.signed) if isinstance(kind, types.Array) else (_WORD, True)
    )


def _element(context: Any, builder: Any, kind: Any, memory: Any, index: Any, bits: int) -> Any:
    """A pointer to an element of `bits` bits."""
    if isinstance(kind, types.Integer):
        start = builder.inttoptr(memory, ir.IntType(bits).as_pointer())
    else:
        start = context.make_array(kind)(context, builder, memory).data
    return builder.gep(start, [index])


@_type_callable(fetch)
def _type_fetch(_context: Any) -> Any:
    return lambda memory, index: _typed(types.none, types.unliteral(memory), types.int64)


@_lower(fetch, types.Integer, types.Integer)
@_lower(fetch, types.Array, types.Integer)
def _lower_fetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    memory, index = arguments
    place = builder.bitcast(
        _element(context, builder, signature.args[0], memory, index, _WORD),
        ir.IntType(8).as_pointer(),
    )
    number = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", (place.type,), kind)
    builder.call(
        prefetch, [place, number(0), number(3), number(1)]
    )  # a read, of data, that will be used more than once
    return context.get_dummy_value()


@_type_callable(claim)
def _type_claim(_context: Any) -> Any:
    words = [types.int64] * 3
    return lambda memory, index, expected, value: _typed(
        types.int64, types.unliteral(memory), *words
    )


@_lower(claim, types.Integer, types.Integer, types.Integer, types.Integer)
@_lower(claim, types.Array, types.Integer, types.Integer, types.Integer)
def _lower_claim(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    memory, index, *words = arguments
    bits, signed = _format(signature.args[0])
    if bits != _WORD:
        words = [builder.trunc(word, ir.IntType(bits)) for word in words]
    place = _element(context, builder, signature.args[0], memory, index, bits)
    found = builder.extract_value(builder.cmpxchg(place, *words, "monotonic", "monotonic"), 0)
    return (
        found
        if bits == _WORD
        else (builder.sext if signed else builder.zext)(found, ir.IntType(_WORD))
    )


if CHECKED:
    # Numba compares the argument lists of an overload and its implementation, annotations included:
    # none on either.
    @_overload(load)
    def _checked_load(memory, index):
        return lambda memory, index: np.int64(memory[index])

    @_overload(load_byte)
    def _checked_load_byte(memory, index):
        return lambda memory, index: np.int64(memory[index])

    @_overload(store)
    def _checked_store(memory, index, value):
        def put(memory, index, value):
            memory[index] = value

        return put

else:

    @_type_callable(load)
    @_type_callable(load_byte)
    def _type_load(_context: Any) -> Any:
        return lambda memory, index: _typed(types.int64, types.unliteral(memory), types.int64)

    @_type_callable(store)
    def _type_store(_context: Any) -> Any:
        return lambda memory, index, value: _typed(
            types.none, types.unliteral(memory), types.int64, types.int64
        )

    @_lower(load, types.Integer, types.Integer)
    @_lower(load, types.Array, types.Integer)
    def _lower_load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        memory, index = arguments
        bits, signed = _format(signature.args[0])
        value = builder.load(_element(context, builder, signature.args[0], memory, index, bits))
        return (
            value
            if bits == _WORD
            else (builder.sext if signed else builder.zext)(value, ir.IntType(_WORD))
        )

    @_lower(load_byte, types.Integer, types.Integer)
    @_lower(load_byte, types.Array, types.Integer)
    def _lower_load_byte(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        memory, index = arguments
        return builder.zext(
            builder.load(_element(context, builder, signature.args[0], memory, index, 8)),
            ir.IntType(64),
        )

    @_lower(store, types.Integer, types.Integer, types.Integer)
    @_lower(store, types.Array, types.Integer, types.Integer)
    def _lower_store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        memory, index, value = arguments
        bits, _ = _format(signature.args[0])
        narrow = value if bits == _WORD else builder.trunc(value, ir.IntType(bits))
        builder.store(narrow, _element(context, builder, signature.args[0], memory, index, bits))
        return context.get_dummy_value()


@_type_callable(bits_to_float)
def _type_bits_to_float(_context: Any) -> Any:
    return lambda bits: _typed(types.float64, types.int64)


@_type_callable(float_to_bits)
def _type_float_to_bits(_context: Any) -> Any:
    return lambda value: _typed(types.int64, types.float64)


@_lower(bits_to_float, types.int64)
def _lower_bits_to_float(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    return builder.bitcast(arguments[0], ir.DoubleType())


@_lower(float_to_bits, types.float64)
def _lower_float_to_bits(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    return builder.bitcast(arguments[0], ir.IntType(64))
