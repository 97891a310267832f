"""What the compile decorator promises beyond Numba's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from scantree.jit import compiled, load, store


def test_a_kernel_called_with_a_constant_is_compiled_for_numbers_only() -> None:
    @compiled
    def kernel(memory: Any, at: int) -> int:
        return load(memory, at) + 1

    dispatcher: Any = kernel
    array = types.Array(types.int64, 1, "C")
    for constant in (0, 1):
        template, *_ = dispatcher.get_call_template((array, types.literal(constant)), {})
        assert [signature.args for signature in template.cases] == [(array, types.int64)]


def test_loads_and_stores_reach_every_word() -> None:
    @compiled
    def turned(memory: Any) -> None:
        for i in range(memory.size // 2):
            left = load(memory, i)
            store(memory, i, load(memory, memory.size - 1 - i))
            store(memory, memory.size - 1 - i, left)

    memory = np.arange(7)
    turned(memory)
    assert memory.tolist() == [6, 5, 4, 3, 2, 1, 0]
