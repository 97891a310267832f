# SPDX-License-Identifier: Apache-2.0
"""Rows of the output buffer: column i of it begins at word i · CAPACITY; the last column is the
number of proofs.

The last level may write many rows at once: its own column first (from `last_column` on), then the
others (`complete_rows`).
"""

from __future__ import annotations

from lftj.join.kernels.layout_kernels import (
    BINDINGS,
    CAPACITY,
    OUTPUT_TABLE,
    OUTPUTS,
    ROWS,
)
from lftj.scantree.jit import (
    compiled,
    inlined,
    load,
    store,
)


@compiled
def write_bindings(plan, state, out, row):
    """Write the bindings of the output levels to row `row` of `out`."""
    capacity = load(state, CAPACITY)
    for i in range(load(plan, OUTPUTS)):
        level = load(plan, load(plan, OUTPUT_TABLE) + i)
        store(out, i * capacity + row, load(state, load(state, BINDINGS) + level))


@inlined
def last_column(plan, state, last_level):
    """Place of the last level's value in the next output row; whenever that level comes out, some
    output column holds it.
    """
    for i in range(load(plan, OUTPUTS)):
        if load(plan, load(plan, OUTPUT_TABLE) + i) == last_level:
            return i * load(state, CAPACITY) + load(state, ROWS)
    return 0


@compiled
def complete_rows(plan, state, out, taken, last_level):
    """Give `taken` new rows, whose last level is written, their other columns. The buffer has 1 for
    their numbers of proofs already.
    """
    row = load(state, ROWS)
    capacity = load(state, CAPACITY)
    for i in range(load(plan, OUTPUTS)):
        level = load(plan, load(plan, OUTPUT_TABLE) + i)
        if level != last_level:
            to = i * capacity + row
            value = load(state, load(state, BINDINGS) + level)
            for j in range(taken):
                store(out, to + j, value)
    store(state, ROWS, row + taken)
