# SPDX-License-Identifier: Apache-2.0
"""Compiled look-ups of texts among those of a dictionary: open addressing over the codes, compared
by their UTF-8 bytes.

A slot holds 0 for none, or a code and one more in its lower `CODE_BITS`, under as many bits of its
text's hash as a word has room for: so the bytes of a text are read where these agree, which for
another text they hardly ever do.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.hash_kernels import MULTIPLIER
from lftj.scantree.jit import compiled, fetch, inlined, load, load_byte, store

_HASH = (1 << 63) - 1
CODE_BITS = 40
_CODE = (1 << CODE_BITS) - 1
# texts that take each step side by side, so that what the next step reads comes from memory for all
# of them meanwhile
_AT_ONCE = 64


@inlined
def eight_bytes(data, at):
    """Eight bytes as a number."""
    low = (
        load_byte(data, at)
        | load_byte(data, at + 1) << 8
        | load_byte(data, at + 2) << 16
        | load_byte(data, at + 3) << 24
    )
    high = (
        load_byte(data, at + 4)
        | load_byte(data, at + 5) << 8
        | load_byte(data, at + 6) << 16
        | load_byte(data, at + 7) << 24
    )
    return low | high << 32


@compiled
def hash_of(data, first, last):
    """A hash of 63 bits of the bytes [first, last)."""
    hashed = int(last - first)  # a number without bounds where this is interpreted
    at = first
    while at + 8 <= last:
        hashed = ((hashed ^ eight_bytes(data, at)) * MULTIPLIER) & _HASH
        hashed ^= hashed >> 29
        at += 8
    word = 0
    for i in range(at, last):
        word = word << 8 | load_byte(data, i)
    hashed = ((hashed ^ word) * MULTIPLIER) & _HASH
    return hashed ^ (hashed >> 32)


@compiled
def same_bytes(data, first, last, other, start):
    """Compare the bytes [first, last) of `data` with those of `other` from `start` on."""
    at = first
    while at + 8 <= last:
        if eight_bytes(data, at) != eight_bytes(other, start + at - first):
            return False
        at += 8
    for i in range(at, last):
        if load_byte(data, i) != load_byte(other, start + i - first):
            return False
    return True


@inlined
def enter_one(slots, shift, offsets, data, code):
    """Put a code, which is not there, into a free slot."""
    mask = slots.size - 1
    hashed = hash_of(data, load(offsets, code), load(offsets, code + 1))
    slot = hashed >> shift
    while load(slots, slot) != 0:
        slot = (slot + 1) & mask
    store(slots, slot, (hashed << CODE_BITS) & _HASH | (code + 1))


@compiled
def enter(slots, shift, offsets, data, first, last):
    """Put codes [first, last), none of which is there, into 2^(63 − shift) slots, which have room
    for them.
    """
    for code in range(first, last):
        enter_one(slots, shift, offsets, data, code)


@compiled
def enter_some(slots, shift, offsets, data, codes):
    """As `enter`, these codes."""
    for i in range(codes.size):
        enter_one(slots, shift, offsets, data, load(codes, i))


@compiled
def find(slots, shift, offsets, data, ends, texts, codes):
    """The codes of texts [ends[i], ends[i + 1]), −1 for those without one, and how many
    these are.
    """
    mask = slots.size - 1
    missing = 0
    hashes = np.empty(_AT_ONCE, np.int64)
    for first in range(0, codes.size, _AT_ONCE):
        last = min(first + _AT_ONCE, codes.size)
        for i in range(first, last):
            hashes[i - first] = hash_of(texts, load(ends, i), load(ends, i + 1))
            fetch(slots, hashes[i - first] >> shift)
        for i in range(first, last):
            fetch(offsets, max(0, (load(slots, hashes[i - first] >> shift) & _CODE) - 1))
        for i in range(first, last):
            fetch(
                data,
                load(offsets, max(0, (load(slots, hashes[i - first] >> shift) & _CODE) - 1)) >> 3,
            )
        for i in range(first, last):
            code = find_one(
                slots,
                mask,
                shift,
                offsets,
                data,
                hashes[i - first],
                texts,
                load(ends, i),
                load(ends, i + 1),
            )
            missing += code < 0
            store(codes, i, code)
    return missing


@compiled
def find_one(slots, mask, shift, offsets, data, hashed, texts, first, last):
    """The code of one text, or −1."""
    slot = hashed >> shift
    while True:
        word = load(slots, slot)
        if word == 0:
            return -1
        code = (word & _CODE) - 1
        if word == (hashed << CODE_BITS) & _HASH | (code + 1):
            start = load(offsets, code)
            if load(offsets, code + 1) - start == last - first and same_bytes(
                texts, first, last, data, start
            ):
                return code
        slot = (slot + 1) & mask


@compiled
def find_or_enter(slots, shift, offsets, data, count, ends, texts, fresh, codes):
    """The codes of texts [ends[i], ends[i + 1]); those without one get the next from `count` on,
    and their numbers go to `fresh`. Return how many these are; there are slots for all.
    """
    new = 0
    hashes = np.empty(_AT_ONCE, np.int64)
    for first in range(0, codes.size, _AT_ONCE):
        last = min(first + _AT_ONCE, codes.size)
        for i in range(first, last):
            hashes[i - first] = hash_of(texts, load(ends, i), load(ends, i + 1))
            fetch(slots, hashes[i - first] >> shift)
        for i in range(first, last):
            known = (slots, shift, offsets, data, count, ends, texts)
            code = enter_new(known, hashes[i - first], i, fresh, new)
            new += code == count + new
            store(codes, i, code)
    return new


@compiled
def enter_new(known, hashed, row, fresh, new):
    """The code of one text, which is entered with the next one where it has none."""
    slots, shift, offsets, data, count, ends, texts = known
    mask, slot = slots.size - 1, hashed >> shift
    first, last = load(ends, row), load(ends, row + 1)
    while True:
        word = load(slots, slot)
        if word == 0:
            store(slots, slot, (hashed << CODE_BITS) & _HASH | (count + new + 1))
            store(fresh, new, row)
            return count + new
        code = (word & _CODE) - 1
        if word == (hashed << CODE_BITS) & _HASH | (code + 1):
            if code < count:
                start, end = load(offsets, code), load(offsets, code + 1)
                same = end - start == last - first and same_bytes(texts, first, last, data, start)
            else:
                other = load(fresh, code - count)
                start, end = load(ends, other), load(ends, other + 1)
                same = end - start == last - first and same_bytes(texts, first, last, texts, start)
            if same:
                return code
        slot = (slot + 1) & mask
