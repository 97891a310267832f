# SPDX-License-Identifier: Apache-2.0
"""Compiled exact sums of doubles: fixed point over the whole range of exponents, rounded once, at
the end.

A sum is worked on as `limbs`, int64[LIMBS] of 32 bits each in units of 2⁻¹⁰⁷⁴ (the least
subnormal), with room above the 32 bits so that carries wait; and kept as a *state*,
int64[STATE_WORDS]: the same number as 34 two's complement words, then how many +∞ and how many −∞
were added. A state is canonical: equal sums have equal states, whatever the history.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import bits_to_float, compiled, float_to_bits, load
from lftj.scantree.page_kernels import leaf_column
from lftj.scantree.seek_kernels import END, SLOT_MASK, compare_leaf_row, leaf_at, lower_bound, step

LIMBS = 72
"""68 hold any sum of fewer than 2⁶³ doubles; the rest take carries."""
WORDS = 34
STATE_WORDS = WORDS + 2

EXACT, OVERFLOW, NOT_A_NUMBER = 0, 1, 2

_LOW32 = 0xFFFF_FFFF
_SIGN32 = 0x8000_0000
_FRACTION = (1 << 52) - 1
_INT64_MAX = 2**63 - 1
_INFINITE = 2047
_CHUNK = 10
"""Bits of a multiplicity taken at a time: 53 bits of significand times 10 fit an int64."""
_PATIENCE = 1 << 28
"""Additions that may pass before waiting carries could overflow a limb."""


@compiled
def _add_scaled(limbs: np.ndarray, magnitude: int, position: int, negative: bool) -> None:
    """Add ±magnitude · 2^position, for a magnitude below 2⁶³."""
    at = position >> 5
    shift = position & 31
    low = (magnitude & _LOW32) << shift
    high = (magnitude >> 32) << shift
    first = low & _LOW32
    second = (low >> 32) + (high & _LOW32)
    third = high >> 32
    if negative:
        first, second, third = -first, -second, -third
    limbs[at] += first
    limbs[at + 1] += second
    limbs[at + 2] += third


@compiled
def _carry(limbs: np.ndarray, low: int, high: int) -> bool:
    """Pass carries up through limbs [low, high); the last limb keeps the sign. Returns whether the
    number is negative.
    """
    for i in range(low, high - 1):
        carry = limbs[i] >> 32
        limbs[i] -= carry << 32
        limbs[i + 1] += carry
    return limbs[high - 1] < 0


@compiled
def _accumulate(
    codes: np.ndarray,
    counts: np.ndarray,
    start: int,
    end: int,
    limbs: np.ndarray,
    infinite: np.ndarray,
) -> tuple[int, int]:
    """Add rows [start, end), each `counts` times (negative: subtract). Returns the range of limbs
    in use, two for carries included.
    """
    low = LIMBS - 2
    high = 0
    waiting = 0
    for row in range(start, end):
        code = codes[row]
        times = counts[row]
        negative = (code < 0) != (times < 0)
        bits = code if code >= 0 else -1 - code
        exponent = bits >> 52
        if exponent == _INFINITE:
            infinite[1 if code < 0 else 0] += times
            continue
        magnitude = bits & _FRACTION
        position = 0
        if exponent > 0:
            magnitude |= 1 << 52
            position = exponent - 1
        low = min(low, position >> 5)
        # As a pattern of bits −2⁶³ is its own magnitude, so the shift below brings in zeros.
        rest = -times if -_INT64_MAX <= times < 0 else times
        while rest != 0:
            _add_scaled(limbs, magnitude * (rest & ((1 << _CHUNK) - 1)), position, negative)
            high = max(high, (position >> 5) + 3)
            rest = (rest >> _CHUNK) & ((1 << (64 - _CHUNK)) - 1)
            position += _CHUNK
            waiting += 1
        if waiting >= _PATIENCE:
            _carry(limbs, 0, LIMBS)
            low, high, waiting = 0, LIMBS - 2, 0
    return low, max(high, low) + 2


@compiled
def _nearest(limbs: np.ndarray, low: int, high: int) -> int:
    """The bits of the double nearest to carried, non-negative limbs [low, high), ties to even;
    beyond the greatest double -1.
    """
    top = high - 1
    while top > 0 and limbs[top] == 0:
        top -= 1
    width = 0
    while (limbs[top] >> width) != 0:
        width += 1
    highest = 32 * top + width - 1
    if highest <= 52:
        return limbs[0] | (limbs[1] << 32)
    # 54 bits from the highest on: the significand and the bit that decides.
    need = 54 - width
    kept = limbs[top]
    if need > 32:
        top -= 1
        kept = (kept << 32) | limbs[top]
        need -= 32
    top -= 1
    kept = (kept << need) | (limbs[top] >> (32 - need))
    sticky = (limbs[top] & ((1 << (32 - need)) - 1)) != 0
    while not sticky and top > low:
        top -= 1
        sticky = limbs[top] != 0
    significand = kept >> 1
    if (kept & 1) != 0 and (sticky or (significand & 1) != 0):
        significand += 1
    if highest - 51 + (significand >> 53) >= _INFINITE:
        return -1
    return ((highest - 52) << 52) + significand


@compiled
def _publish(limbs: np.ndarray, low: int, high: int, infinite: np.ndarray) -> tuple[int, int]:
    """The code of the rounded sum, and a status. Leaves the limbs in use zero."""
    negative = _carry(limbs, low, high)
    if negative:
        for i in range(low, high):
            limbs[i] = -limbs[i]
        _carry(limbs, low, high)
    bits = _nearest(limbs, low, high)
    for i in range(low, high):
        limbs[i] = 0
    if infinite[0] != 0 or infinite[1] != 0:
        both = infinite[0] != 0 and infinite[1] != 0
        bits = _INFINITE << 52
        code = bits if infinite[0] != 0 else -1 - bits
        infinite[0] = 0
        infinite[1] = 0
        return code, NOT_A_NUMBER if both else EXACT
    if bits < 0:
        return 0, OVERFLOW
    return -1 - bits if negative else bits, EXACT


@compiled
def _sum_of_few(codes: np.ndarray, counts: np.ndarray, start: int, end: int) -> tuple[int, bool]:
    """The sum's code where the processor's own addition is the answer: one value, or two with a
    finite sum.
    """
    first = codes[start]
    if end - start > 2 or counts[start] != 1 or counts[end - 1] != 1:
        return 0, False
    if end - start == 1:
        return first, True
    second = codes[start + 1]
    bits = float_to_bits(
        bits_to_float(first ^ ((first >> 63) & _INT64_MAX))
        + bits_to_float(second ^ ((second >> 63) & _INT64_MAX))
    )
    return bits ^ ((bits >> 63) & _INT64_MAX), (bits >> 52) & _INFINITE != _INFINITE


@compiled
def sum_runs(
    codes: np.ndarray, counts: np.ndarray, starts: np.ndarray, sums: np.ndarray, status: np.ndarray
) -> None:
    """Sum each run of rows: the code of its correctly rounded sum and a status. Run r is
    [starts[r], starts[r + 1]).
    """
    limbs = np.zeros(LIMBS, dtype=np.int64)
    infinite = np.zeros(2, dtype=np.int64)
    for run in range(starts.shape[0]):
        end = starts[run + 1] if run + 1 < starts.shape[0] else codes.shape[0]
        sums[run], exact = _sum_of_few(codes, counts, starts[run], end)
        if exact:
            status[run] = EXACT
            continue
        low, high = _accumulate(codes, counts, starts[run], end, limbs, infinite)
        sums[run], status[run] = _publish(limbs, low, high, infinite)


# ── states ────────────────────────────────────────────────────────────────────────────────────────
@compiled
def _store_state(limbs: np.ndarray, infinite: np.ndarray, state: np.ndarray) -> None:
    """Write a sum as its state and leave limbs and infinities zero."""
    _carry(limbs, 0, 2 * WORDS)
    for word in range(WORDS):
        high = ((limbs[2 * word + 1] & _LOW32) ^ _SIGN32) - _SIGN32
        state[word] = (high << 32) | limbs[2 * word]
    for i in range(LIMBS):
        limbs[i] = 0
    for i in range(2):
        state[WORDS + i] = infinite[i]
        infinite[i] = 0


@compiled
def _add_state(state: np.ndarray, limbs: np.ndarray, infinite: np.ndarray) -> None:
    """Add a state to limbs and infinities."""
    for word in range(WORDS):
        limbs[2 * word] += state[word] & _LOW32
        limbs[2 * word + 1] += (
            state[word] >> 32 if word == WORDS - 1 else (state[word] >> 32) & _LOW32
        )
    infinite[0] += state[WORDS]
    infinite[1] += state[WORDS + 1]


@compiled
def _is_empty(state: np.ndarray) -> bool:
    """Test for a state of nothing added, or of everything taken away again."""
    for word in range(STATE_WORDS):
        if state[word] != 0:
            return False
    return True


@compiled
def advance_states(
    states: np.ndarray,
    codes: np.ndarray,
    counts: np.ndarray,
    starts: np.ndarray,
    sums: np.ndarray,
    status: np.ndarray,
) -> None:
    """Add to each state, in place, a run of rows, and round it: its code, and how it went."""
    limbs = np.zeros(LIMBS, dtype=np.int64)
    infinite = np.zeros(2, dtype=np.int64)
    for run in range(starts.shape[0]):
        end = starts[run + 1] if run + 1 < starts.shape[0] else codes.shape[0]
        empty = _is_empty(states[run])
        if not empty:
            _add_state(states[run], limbs, infinite)
        _accumulate(codes, counts, starts[run], end, limbs, infinite)
        _store_state(limbs, infinite, states[run])
        if empty:
            sums[run], exact = _sum_of_few(codes, counts, starts[run], end)
            if exact:
                status[run] = EXACT
                continue
        _add_state(states[run], limbs, infinite)
        sums[run], status[run] = _publish(limbs, 0, 2 * WORDS, infinite)


@compiled
def divide_floats(sums: np.ndarray, sizes: np.ndarray, means: np.ndarray) -> None:
    """The codes of floats, given as codes, over sizes."""
    for group in range(sums.shape[0]):
        bits = float_to_bits(
            bits_to_float(sums[group] ^ ((sums[group] >> 63) & _INT64_MAX)) / sizes[group] + 0.0
        )
        means[group] = bits ^ ((bits >> 63) & _INT64_MAX)


# Compiled passage between exact float sums as dense states (`float_sum_kernels`) and as the few
# words that a tree keeps of them.
#
# A tree keeps a state's words in *balanced* form: the number is Σ word[i] · 2^(64·i) with signed
# words, so that there is no sign to extend and a sum of everyday size has two or three words that
# are not 0. The form is unique: equal sums have equal rows. The numbers of infinities follow.


@compiled
def _balanced(word, lent):
    """A word with what the one before lends it, and what it lends the next: 1 where it is read as
    negative.
    """
    word += lent
    # all ones and 1 more is 2⁶⁴: the word is 0 and the 1 goes on
    return word, 1 if word < 0 or (lent == 1 and word == 0) else 0


@compiled
def to_balanced(state, words):
    """The balanced words of a two's complement state: a word read as negative lends 1
    to the next.
    """
    lent = 0
    for i in range(WORDS):
        words[i], lent = _balanced(state[i], lent)
    for i in range(WORDS, STATE_WORDS):
        words[i] = state[i]


@compiled
def to_twos_complement(words):
    """The reverse of `to_balanced`, in place."""
    owed = 0
    for i in range(WORDS):
        negative = words[i] < 0 or (words[i] == 0 and owed == 1)
        words[i] -= owed
        owed = 1 if negative else 0


@compiled
def read_states(memory, root, height, layout, groups, states):
    """The state of each group (columns of `groups`), from a tree keyed (group…, position) with the
    words; all 0 for an absent group.
    """
    width = groups.shape[0]
    for group in range(groups.shape[1]):
        states[group, :] = 0
        position = lower_bound(memory, root, height, layout, groups, group)
        while position != END:
            leaf = leaf_at(memory, root, height, position)
            slot = position & SLOT_MASK
            if compare_leaf_row(memory, leaf, slot, width, groups, group) != 0:
                break
            states[group, load(memory, leaf_column(leaf, width) + slot)] = load(
                memory, leaf_column(leaf, width + 1) + slot
            )
            position = step(memory, root, height, leaf, position)
        to_twos_complement(states[group])


@compiled
def changed_words(groups, before, after, inserts, erases):
    """The rows that a tree of balanced words wins and loses when states change: into inserts (width
    + 2 × …) and erases: their numbers.
    """
    width = groups.shape[0]
    written = 0
    gone = 0
    for group in range(groups.shape[1]):
        was, now = before[group], after[group]
        lent_before = lent_after = 0
        for i in range(STATE_WORDS):
            # most words are 0 and stay so: nothing to be balanced
            if (was[i] | now[i] | lent_before | lent_after) == 0:
                continue
            old, new = was[i], now[i]
            if i < WORDS:
                old, lent_before = _balanced(old, lent_before)
                new, lent_after = _balanced(new, lent_after)
            if old == new:
                continue
            if new == 0:
                for column in range(width):
                    erases[column, gone] = groups[column, group]
                erases[width, gone] = i
                gone += 1
                continue
            for column in range(width):
                inserts[column, written] = groups[column, group]
            inserts[width, written] = i
            inserts[width + 1, written] = new
            written += 1
    return written, gone
