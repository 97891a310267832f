# SPDX-License-Identifier: Apache-2.0
"""Hashes of words."""

from __future__ import annotations

from lftj.scantree.jit import inlined

MULTIPLIER = -7046029254386353131
"""2⁶⁴ / golden ratio, as a signed word."""


@inlined
def mix(hashed, value):
    """A hash of what was hashed so far and one more value."""
    hashed = (hashed ^ value) * MULTIPLIER
    return hashed ^ ((hashed >> 29) & 0x7FFFFFFFF)


@inlined
def slot_of(hashed, shift):
    """Fibonacci hashing: the top bits of a product."""
    return ((hashed * MULTIPLIER) >> shift) & ((1 << (64 - shift)) - 1)
