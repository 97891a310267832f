"""Compiled passage between exact float sums as dense states (`float_sum_kernels`) and as the few words that a tree keeps of them.

A tree keeps a state's words in *balanced* form: the number is Σ word[i] · 2^(64·i) with signed words, so that there is no sign to extend
and a sum of everyday size has two or three words that are not 0. The form is unique: equal sums have equal rows. The numbers of infinities
follow.
"""

from __future__ import annotations

from lftj.heads.float_sum_kernels import STATE_WORDS, WORDS
from scantree.jit import compiled, load
from scantree.page_kernels import leaf_column
from scantree.seek_kernels import END, SLOT_MASK, compare_leaf_row, leaf_at, lower_bound, step


@compiled
def _balanced(word, lent):
    """A word with what the one before lends it, and what it lends the next: 1 where it is read as negative."""
    word += lent
    # all ones and 1 more is 2⁶⁴: the word is 0 and the 1 goes on
    return word, 1 if word < 0 or (lent == 1 and word == 0) else 0


@compiled
def to_balanced(state, words):
    """The balanced words of a two's complement state: a word read as negative lends 1 to the next."""
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
    """The state of each group (columns of `groups`), from a tree keyed (group…, position) with the words; all 0 for an absent group."""
    width = groups.shape[0]
    for group in range(groups.shape[1]):
        states[group, :] = 0
        position = lower_bound(memory, root, height, layout, groups, group)
        while position != END:
            leaf = leaf_at(memory, root, height, position)
            slot = position & SLOT_MASK
            if compare_leaf_row(memory, leaf, slot, width, groups, group) != 0:
                break
            states[group, load(memory, leaf_column(leaf, width) + slot)] = load(memory, leaf_column(leaf, width + 1) + slot)
            position = step(memory, root, height, leaf, position)
        to_twos_complement(states[group])


@compiled
def changed_words(groups, before, after, inserts, erases):
    """The rows that a tree of balanced words wins and loses when states change: into inserts (width + 2 × …) and erases: their numbers."""
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
