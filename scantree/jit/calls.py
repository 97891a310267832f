"""Calls of machine code by its address, for a kernel so large that no second one should contain it.

What Python calls is optimised as a whole with all it calls (`libraries`), so a kernel that calls another one contains it, and takes as long
to compile. A call by address takes the code that is there.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core.typing import templates

_WORDS = 8  # arguments of a kernel that is called so

_type_callable: Any = extending.type_callable
_lower: Any = extending.lower_builtin
_typed: Any = templates.signature


def code_of(kernel: Any) -> int:
    """The address of the code of a kernel that takes eight words and gives one. It is compiled if it has not been."""
    signature = (types.int64,) * _WORDS
    kernel.compile(signature)
    made = kernel.overloads[signature]
    if made.signature.return_type != types.int64:
        raise TypeError(f"{kernel!r} gives {made.signature.return_type}, not a word")
    return made.library.get_pointer_to_function(made.fndesc.llvm_func_name)


def call(code: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
    """What the kernel at this address gives for these words. In compiled code only."""
    raise NotImplementedError


@_type_callable(call)
def _type_call(_context: Any) -> Any:
    words = [types.int64] * (_WORDS + 1)
    return lambda code, a, b, c, d, e, f, g, h: _typed(types.int64, *words)


@_lower(call, *[types.int64] * (_WORDS + 1))
def _lower_call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    words = list(signature.args[1:])
    kind = context.call_conv.get_function_type(signature.return_type, words)
    callee = builder.inttoptr(arguments[0], ir.PointerType(kind))
    _, result = context.call_conv.call_function(builder, callee, signature.return_type, words, arguments[1:])
    return result
