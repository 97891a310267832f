# SPDX-License-Identifier: Apache-2.0
"""The one way to compiled code: `compiled` and `inlined`, and loads and stores that skip Python's
negative-index handling.

Kernels that call one another millions of times a second take their arrays as addresses (`address`):
an array argument is seven machine words and a reference count, an address is one register. `load`
and `store` take either. `claim` is for words that several threads write.

With `NUMBA_DISABLE_JIT=1` kernels run as Python, and with `NUMBA_BOUNDSCHECK=1` every `load` and
`store` is checked.
"""

from __future__ import annotations

from lftj.scantree.jit import announcing
from lftj.scantree.jit.decorators import compile_seconds, compiled, inlined
from lftj.scantree.jit.directory import ADDRESSES, cache_directory
from lftj.scantree.jit.memory import (
    address,
    bits_to_float,
    claim,
    fetch,
    float_to_bits,
    load,
    load_byte,
    store,
)

__all__ = [
    "ADDRESSES",
    "address",
    "announcing",
    "bits_to_float",
    "cache_directory",
    "claim",
    "compile_seconds",
    "compiled",
    "fetch",
    "float_to_bits",
    "inlined",
    "load",
    "load_byte",
    "store",
]
