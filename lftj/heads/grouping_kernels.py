# SPDX-License-Identifier: Apache-2.0
"""Compiled passes of a group-by over batches of assignments: the group of each row, and sums that
stay exact.

The states of groups lie one after another, `stride` words each. An integer total takes two words:
the sum modulo 2⁶⁴ as an int64, and how often it went over the top, less how often below. A float
total takes two doubles whose sum it is, exactly [Dekker 1971, Knuth's two-sum]; a value with which
that would not be so is not added, but told.
"""

from __future__ import annotations

from lftj.join.kernels.lookup_kernels import NOWHERE, same_key, slot_of
from lftj.scantree.jit import bits_to_float, compiled, float_to_bits, load, store
from lftj.scantree.rows_kernels import sums_wrap

_INT64_MAX = 2**63 - 1
_NULL = -(2**63)
"""The code of NULL in optional columns."""
_TOGETHER = 8
"""Rows whose counts are added together where they are of one group."""
_LARGE = 2.0**1000
"""Totals that are added up so stay below: no sum of fewer than 2²³ of these overflows."""


@compiled
def place_groups(keys, codes, first, table, held, known, places):
    """Find the group of each row of a batch (columns of `keys`) from number `first` on; new ones
    get the next column of `held`. Return the first row that found no room.

    `known`: how many groups there are. `table`: their numbers. `codes`: the slot in it of each
    row's group; where there are none, rows are hashed, and it has at least twice as many slots as
    `held` has columns, a power of two.
    """
    mask = table.size - 1
    hashed = codes.size == 0
    groups = load(known, 0)
    row = first
    while row < keys.shape[1]:
        if hashed and row > first and same_key(keys, row, keys, row - 1):
            store(places, row, load(places, row - 1))
            row += 1
            continue
        slot = slot_of(keys, row, mask) if hashed else load(codes, row)
        group = load(table, slot)
        while hashed and group != NOWHERE and not same_key(keys, row, held, group):
            slot = (slot + 1) & mask
            group = load(table, slot)
        if group == NOWHERE:
            if groups == held.shape[1]:
                break
            group = groups
            store(table, slot, group)
            for line in range(keys.shape[0]):
                held[line, group] = keys[line, row]
            groups += 1
        store(places, row, group)
        row += 1
    store(known, 0, groups)
    return row


@compiled
def add_times(places, times, states, stride, at):
    """Add to a count of each row's group how often the row counts, `times[0]` where that is one
    word. True where a count leaves int64.
    """
    wraps = False
    step = 0 if times.size == 1 else 1
    for row in range(places.size):
        place = load(places, row) * stride + at
        before, more = load(states, place), load(times, row * step)
        after = before + more
        wraps = wraps or sums_wrap(before, more, after)
        store(states, place, after)
    return wraps


@compiled
def add_missing(places, codes, times, states, stride, at, whole):
    """Add to a count of each row's group how often the row counts, as `add_times` has it, of the
    rows with the code of NULL; and with `whole` to the first count of all rows: True where that
    leaves int64.

    Rows of one group, one after the other, are added together: each addition waits for the one
    before it.
    """
    wraps = False
    once = times.size == 1
    row = 0
    while row < places.size:
        last = min(row + _TOGETHER, places.size)
        if once and last - row == _TOGETHER and _is_one_group(places, row):
            missing, more = 0, load(times, 0)
            for same in range(_TOGETHER):
                missing += 1 if load(codes, row + same) == _NULL else 0
            group, every = load(places, row) * stride, _TOGETHER * more if whole else 0
            wraps = _add_counts(states, group, at, missing * more, every) or wraps
        else:
            for one in range(row, last):
                more = load(times, 0 if once else one)
                missing = more if load(codes, one) == _NULL else 0  # a branch would be missed
                group = load(places, one) * stride
                wraps = _add_counts(states, group, at, missing, more if whole else 0) or wraps
        row = last
    return wraps


@compiled
def _is_one_group(places, row):
    """Test for rows of one group, `_TOGETHER` of them from this one on."""
    first, differs = load(places, row), 0
    for same in range(_TOGETHER):
        differs |= load(places, row + same) ^ first
    return differs == 0


@compiled
def _add_counts(states, group, at, missing, every):
    """Add to two counts of a group: True where that of every row leaves int64."""
    store(states, group + at, load(states, group + at) + missing)
    before = load(states, group)
    store(states, group, before + every)
    return sums_wrap(before, every, before + every)


@compiled
def add_integers(places, values, states, stride, at, null):
    """Add each row's value to an integer total of its group. `null`: the code of NULL is none."""
    for row in range(places.size):
        value = load(values, row)
        value = 0 if null and value == _NULL else value  # without a branch, which would be missed
        place = load(places, row) * stride + at
        before = load(states, place)
        after = before + value
        store(states, place, after)
        if sums_wrap(before, value, after):
            store(states, place + 1, load(states, place + 1) + (1 if value > 0 else -1))


@compiled
def add_floats(places, codes, states, stride, at, null, left):
    """Add each row's value, a float code, to a float total of its group. The rows with which that
    would not be exact go to `left`; return how many there are. `null`: as above.
    """
    many = 0
    for row in range(places.size):
        place = load(places, row) * stride + at
        code = load(codes, row)
        code = 0 if null and code == _NULL else code  # the code of 0.0
        value = bits_to_float(code ^ ((code >> 63) & _INT64_MAX))
        most, rest = bits_to_float(load(states, place)), bits_to_float(load(states, place + 1))
        total = most + value
        part = total - most
        more = (most - (total - part)) + (value - part)
        after = rest + more
        part = after - rest
        lost = (rest - (after - part)) + (more - part)
        if lost == 0.0 and -_LARGE < total < _LARGE:
            store(states, place, float_to_bits(total))
            store(states, place + 1, float_to_bits(after))
        else:
            store(left, many, row)
            many += 1
    return many


@compiled
def add_extremes(places, rows, states, stride, at, greatest, codes, last):
    """Make the words of each row's group the least, or greatest, of themselves and the row, which
    has its columns in the lines of `rows`; not of rows with NULL in `codes`, which has one word
    where all rows have values.

    That is asked of the rows that would come to be a group's. `last`: NULL in the first line, which
    would be the least, is read as the greatest code: few rows with it are asked then.
    """
    width = rows.shape[0]
    step = 0 if codes.size == 1 else 1
    for row in range(places.size):
        place = load(places, row) * stride + at
        for line in range(width):
            code, before = rows[line, row], load(states, place + line)
            code = _INT64_MAX if last and line == 0 and code == _NULL else code
            if code != before:
                if (code > before) == greatest:
                    first = width if load(codes, row * step) == _NULL else line
                    for other in range(first, width):
                        store(states, place + other, rows[other, row])
                break
