"""Guarantees of the compile decorators beyond Numba's."""

from __future__ import annotations

import gc
import sys
import threading
import time
from _thread import interrupt_main
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types
from numba.core import runtime

from lftj.scantree.jit import (
    ADDRESSES,
    address,
    bits_to_float,
    claim,
    compiled,
    fetch,
    float_to_bits,
    load,
    load_byte,
    store,
)
from lftj.scantree.jit.directory import DISABLED
from lftj.scantree.process.interrupts import interrupts_as_such
from tests.unit.scantree.fresh_processes import SUMS, python, sum_of_twice, twice

ARRAY: Any = types.Array(types.int64, 1, "C")


@pytest.mark.skipif(DISABLED, reason="kernels are interpreted: there is no machine code")
def test_a_kernel_called_with_a_constant_is_compiled_for_numbers_only() -> None:
    @compiled
    def kernel(memory: Any, at: int) -> int:
        return load(memory, at) + 1

    dispatcher: Any = kernel
    for constant in (0, 1):
        template, *_ = dispatcher.get_call_template((ARRAY, types.literal(constant)), {})
        assert [signature.args for signature in template.cases] == [(ARRAY, types.int64)]


def test_a_kernel_that_kernels_call_can_be_called_from_python_too() -> None:
    memory = np.arange(4)
    assert sum_of_twice(memory) == 12
    assert [twice(memory, at) for at in range(4)] == [0, 2, 4, 6]
    assert sum_of_twice(memory) == 12


@pytest.mark.skipif(DISABLED, reason="kernels are interpreted: there is no machine code")
def test_only_what_python_calls_gets_machine_code() -> None:
    @compiled
    def inner(at: int) -> int:
        return at + 1

    @compiled
    def outer(at: int) -> int:
        return inner(at) + 1

    assert outer(1) == 3
    assert gc.isenabled()
    with_code: list[Any] = [outer, inner]
    assert [kernel.signatures for kernel in with_code] == [[(types.int64,)], []]


def test_words_that_are_fetched_early_are_read_as_ever() -> None:
    @compiled
    def total(memory: Any, words: int) -> int:
        for i in range(words + 8):  # beyond the end too: nothing is read yet
            fetch(memory, i)
        found = 0
        for i in range(words):
            found += load(memory, i)
        return found

    memory = np.arange(100)
    assert total(memory, 100) == total(address(memory), 100) == 4950
    assert memory.tolist() == list(range(100))


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


@pytest.mark.parametrize("word", [np.int64, np.uint32, np.int32, np.uint8])
def test_words_of_an_array_have_its_width_and_its_sign(word: Any) -> None:
    @compiled
    def moved(memory: Any) -> int:
        store(memory, 1, load(memory, 0))
        return load(memory, 1) - 1

    highest = int(np.iinfo(word).max)
    for value in (highest, int(np.iinfo(word).min) + 1, 0):
        memory = np.array([value, 7, 9], word)
        assert moved(memory) == value - 1
        assert memory.tolist() == [value, value, 9]


def test_bytes_are_loaded_as_they_are() -> None:
    @compiled
    def read(memory: Any, at: int) -> int:
        return load_byte(memory, at)

    memory = np.array([0, 127, 128, 255], np.uint8)
    assert [read(memory, at) for at in range(4)] == [0, 127, 128, 255]


@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, -np.inf])
def test_the_bits_of_a_float_are_the_same_to_python_and_to_kernels(value: float) -> None:
    @compiled
    def bits(value: float) -> int:
        return float_to_bits(value)

    @compiled
    def back(bits: int) -> float:
        return bits_to_float(bits)

    assert bits(value) == float_to_bits(value)
    assert np.array(back(bits(value))).tobytes() == np.array(value).tobytes()


@compiled
def borrowed_sum(lines: Any, chosen: Any, at: int) -> int:
    """Borrows: views of one array or the other."""
    line, skipped = (lines[at], 1) if at % 2 == 0 else (chosen, 0)
    total = 0
    view = line[skipped:]
    for at in range(view.size):
        total += view[at]
    return total


@compiled
def made_sum(lines: Any, chosen: Any) -> int:
    """Makes arrays: a copy by an array of places, and one by a call."""
    copy = chosen[chosen]
    return copy.sum() + doubled(chosen).sum() + borrowed_sum(lines, copy, 1)


@compiled
def doubled(values: Any) -> Any:
    """Returns an array."""
    result = np.empty_like(values)
    for at in range(values.size):
        result[at] = 2 * values[at]
    return result


@compiled
def same(values: Any) -> Any:
    """Returns the array it was given."""
    return values


def test_arrays_are_given_up_once_and_for_all() -> None:
    numbas: Any = runtime
    numbas._nrt_python.memsys_enable_stats()
    before, lines, chosen = (
        numbas.rtsys.get_allocation_stats(),
        np.arange(6).reshape(2, 3),
        np.arange(4),
    )
    for _ in range(50):
        assert made_sum(lines, chosen) == 24
        assert borrowed_sum(lines, chosen, 0) == 3
        assert doubled(doubled(chosen)).tolist() == [0, 4, 8, 12]
        assert same(same(chosen)).tolist() == [0, 1, 2, 3]
    after = numbas.rtsys.get_allocation_stats()
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free
    assert after.mi_alloc > before.mi_alloc or DISABLED
    assert sys.getrefcount(chosen) == 2
    assert lines.tolist() == [[0, 1, 2], [3, 4, 5]]


COUNTS = """
import numpy as np
from tests.unit.scantree import test_jit as t
lines, chosen = np.arange(6).reshape(2, 3), np.arange(4)
print([t.borrowed_sum(lines, chosen, at) for at in range(2)], t.made_sum(lines, chosen))
kernels = t.borrowed_sum, t.made_sum
print(["call void @NRT_incref" in "".join(each.inspect_llvm().values()) for each in kernels])
"""


@pytest.mark.skipif(not ADDRESSES, reason="kernels are interpreted or checked")
def test_kernels_that_only_borrow_arrays_count_no_references(tmp_path: Path) -> None:
    run = python(COUNTS, LFTJ_CACHE_DIR=str(tmp_path))
    assert run.stdout == "[3, 6] 24\n[False, True]\n"


def test_bounds_are_checked_in_kernels_that_kernels_call(tmp_path: Path) -> None:
    run = python(SUMS.format(at=4), LFTJ_CACHE_DIR=str(tmp_path), NUMBA_BOUNDSCHECK="1")
    assert "IndexError" in run.stderr


def test_interpreted_accesses_below_zero_are_refused() -> None:
    """Python alone would wrap around, where machine code leaves the array."""
    memory = np.arange(3)
    for access in (
        load,
        load_byte,
        lambda *place: store(*place, 7),
        lambda *place: claim(*place, 2, 7),
    ):
        with pytest.raises(IndexError, match="index -1 is below zero"):
            access(memory, -1)
    assert memory.tolist() == [0, 1, 2]


@compiled
def claim_all(memory: Any, at: int, value: int) -> int:
    """Words from `at` on that were 0 and became `value`."""
    claimed = 0
    for word in range(at, memory.size):
        claimed += 1 if claim(memory, word, 0, value) == 0 else 0
    return claimed


@pytest.mark.parametrize("kind", [np.int64, np.uint32])
def test_of_threads_that_claim_a_word_one_succeeds(kind: type) -> None:
    memory = np.zeros(20_000, kind)
    memory[::100] = 7
    values = [2, 3, 2**31 + 5, 2**32 - 1]
    with ThreadPoolExecutor(4) as threads:
        claimed = list(threads.map(lambda value: claim_all(memory, 1, value), values))
    assert sum(claimed) == 20_000 - 200
    assert [int(np.sum(memory == value)) for value in values] == claimed
    assert memory[0] == memory[100] == 7


@compiled
def spin(steps):
    """Some arrays and a number, after a while."""
    found = np.zeros(3, np.int64)
    for step in range(steps):
        found[step % 3] += step ^ (found[0] >> 3)
    return found, found[0], found


@pytest.mark.usefixtures("heeding_interrupts")
@pytest.mark.skipif(DISABLED, reason="a kernel in Python is interrupted like any function")
def test_an_interrupt_during_a_kernel_that_returns_arrays_is_one() -> None:
    spin(3)
    with pytest.raises(KeyboardInterrupt), interrupts_as_such():  # noqa: PT012 -- it may come at the end of the call
        threading.Timer(0.02, interrupt_main).start()
        spin(100_000_000)
        time.sleep(60)
    with pytest.raises(SystemError, match="other"), interrupts_as_such():
        raise SystemError("other")
