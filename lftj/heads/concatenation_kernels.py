# SPDX-License-Identifier: Apache-2.0
"""Compiled passes that join the texts of groups: how long the results are, and their bytes.

Row i has the text `codes[i]` `counts[i]` times, with the separator `separators[i]` before each but
the first of its group; where there are no separators the array is empty. Group g is [starts[g],
starts[g + 1]). `offsets` and `data` are the dictionary's.
"""

from __future__ import annotations

from lftj.scantree.jit import compiled, inlined, load, load_byte

MOST = 1 << 46
"""Bytes of all results together that no machine has room for."""


@inlined
def copy_text(offsets, data, code, out, at):
    """Write a text's bytes from `at` on; where they end."""
    first = load(offsets, code)
    length = load(offsets, code + 1) - first
    for i in range(length):
        out[at + i] = load_byte(data, first + i)
    return at + length


@compiled
def measure_joined(offsets, codes, separators, counts, starts, ends):
    """Write where each group's result ends, all of them one after the other, behind the 0 where the
    first begins. False beyond `MOST`.
    """
    total = 0
    for group in range(starts.size):
        last = load(starts, group + 1) if group + 1 < starts.size else codes.size
        for row in range(load(starts, group), last):
            code = load(codes, row)
            text = load(offsets, code + 1) - load(offsets, code)
            between = 0
            if separators.size > 0:
                code = load(separators, row)
                between = load(offsets, code + 1) - load(offsets, code)
            times = load(counts, row)
            if text + between > 0 and times > (MOST - total) // (text + between):
                return False
            total += times * (text + between)
            if row == load(starts, group):
                total -= between
        ends[group + 1] = total
    return True


@compiled
def write_joined(offsets, data, codes, separators, counts, starts, out):
    """Write all results, as `measure_joined` has their ends."""
    at = 0
    for group in range(starts.size):
        first = load(starts, group)
        last = load(starts, group + 1) if group + 1 < starts.size else codes.size
        for row in range(first, last):
            for time in range(load(counts, row)):
                if separators.size > 0 and (row > first or time > 0):
                    at = copy_text(offsets, data, load(separators, row), out, at)
                at = copy_text(offsets, data, load(codes, row), out, at)
