"""Hashes of words."""

from __future__ import annotations

from scantree.jit import inlined

_MULTIPLIER = -7046029254386353131  # 2⁶⁴ / golden ratio, as a signed word


@inlined
def mix(hashed, value):
    """A hash of what was hashed so far and one more value."""
    hashed = (hashed ^ value) * _MULTIPLIER
    return hashed ^ ((hashed >> 29) & 0x7FFFFFFFF)
