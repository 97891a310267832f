# SPDX-License-Identifier: Apache-2.0
"""Compiled comparison of texts with those that are expected in their places.

A text that comes where it was before is found by reading it, in order; a look-up would read a slot,
an offset and a text somewhere else in memory.
"""

from __future__ import annotations

from lftj.scantree.jit import compiled, inlined, load, load_byte, store
from lftj.types.codes import NULL_CODE
from lftj.types.text_index_kernels import eight_bytes

# words of the state
AT = 0  # the place of the next text among those that are expected
LEFT = 1  # comparisons elsewhere that are still worth it

NEAR = 8  # places around the next one, of rows that came or went
FAR = 2048  # places that are looked through after so many texts without success
PATIENCE = 64
EARNED = 2  # comparisons elsewhere that each text pays for
GIVEN_UP = -(1 << 60)  # comparisons that are left when texts come in another order


@inlined
def is_text(offsets, data, code, texts, first, last):
    """Compare the bytes [first, last) with the text of a code; NULL has none."""
    if code < 0:
        return False
    start = load(offsets, code)
    if load(offsets, code + 1) - start != last - first:
        return False
    at = first
    while at + 8 <= last:
        if eight_bytes(texts, at) != eight_bytes(data, start + at - first):
            return False
        at += 8
    if at < last and last - first >= 8:
        return eight_bytes(texts, last - 8) == eight_bytes(data, start + last - 8 - first)
    for i in range(at, last):
        if load_byte(texts, i) != load_byte(data, start + i - first):
            return False
    return True


@compiled
def place_around(known, expected, at, reach, first, last):
    """The place of a text nearest to `at` among those expected, within a reach; −1 for none."""
    offsets, data, texts = known
    for away in range(1, reach + 1):
        if at + away < expected.size and is_text(
            offsets, data, load(expected, at + away), texts, first, last
        ):
            return at + away
        if 0 <= at - away < expected.size and is_text(
            offsets, data, load(expected, at - away), texts, first, last
        ):
            return at - away
    return -1


@compiled
def find_expected(offsets, data, ends, texts, expected, state, codes, missed):
    """Replace the codes of texts [ends[i], ends[i + 1]) by those expected, in this order but for
    some that came or went; the numbers of others go to `missed`. Return how many these are. Where a
    code is that of NULL there is no text.
    """
    at, left, found, lost = load(state, AT), load(state, LEFT), 0, 0
    for i in range(codes.size):
        if load(codes, i) == NULL_CODE:
            at += at < expected.size and load(expected, at) == NULL_CODE
            continue
        first, last = load(ends, i), load(ends, i + 1)
        place = -1
        left += EARNED
        if left <= 0 and lost > PATIENCE:
            at, left = expected.size, GIVEN_UP
        if at < expected.size and is_text(offsets, data, load(expected, at), texts, first, last):
            place = at
        elif left > 0:
            far = lost % PATIENCE == PATIENCE - 1
            reach = FAR if far else NEAR
            place = place_around((offsets, data, texts), expected, at, reach, first, last)
            left -= 2 * (reach if place < 0 else abs(place - at))
        if place < 0:
            store(missed, found, i)
            found, lost, at = found + 1, lost + 1, at + 1
        else:
            store(codes, i, load(expected, place))
            lost, at = 0, place + 1
    store(state, AT, at)
    store(state, LEFT, left)
    return found
