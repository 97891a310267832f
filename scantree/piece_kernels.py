# SPDX-License-Identifier: Apache-2.0
"""A changed leaf, put together from pieces: stretches of rows that stay and of rows that are
inserted, each copied as a whole.

So what a change costs is the search for its place and the copying of the page, not a comparison
with every row of the leaf.
"""

from __future__ import annotations

from lftj.scantree.jit import compiled, inlined, load, store
from lftj.scantree.page_kernels import ENTRIES, PAGE_ROWS, WIDTH, leaf_column, new_leaf
from lftj.scantree.seek_kernels import compare_leaf_row, slot_from

# words of a piece
SOURCE = 0  # its first row in the leaf, or the complement of its first column in the inserts
UNTIL = 1  # rows of the result up to its end
PIECE_WORDS = 2


@compiled
def compare_columns(keys, left, i, right, j):
    """−1, 0, 1 for column i of `left` against column j of `right`, over the first `keys` rows of
    each.
    """
    for column in range(keys):
        if left[column, i] != right[column, j]:
            return -1 if left[column, i] < right[column, j] else 1
    return 0


@inlined
def add_piece(pieces, count, source, rows):
    """One piece more, of at least one row; the one before grows if it goes on there. The number of
    pieces.
    """
    before = pieces[count - 1, UNTIL] if count > 0 else 0
    start = pieces[count - 2, UNTIL] if count > 1 else 0
    if (
        count > 0
        and pieces[count - 1, SOURCE] < 0
        and pieces[count - 1, SOURCE] - (before - start) == source
    ):
        pieces[count - 1, UNTIL] = before + rows
        return count
    pieces[count, SOURCE] = source
    pieces[count, UNTIL] = before + rows
    return count + 1


@compiled
def cut_leaf(memory, keys, leaf, inserts, first_in, last_in, erases, first_out, last_out, pieces):
    """The pieces of `leaf` less the erases, with the inserts: their number. An insert wins over its
    equal.
    """
    entries = memory[leaf + ENTRIES]
    slot = 0
    count = 0
    while first_in < last_in or first_out < last_out:
        inserting = first_in < last_in
        if inserting and first_out < last_out:
            inserting = compare_columns(keys, inserts, first_in, erases, first_out) <= 0
        changes, change = (inserts, first_in) if inserting else (erases, first_out)
        at = slot_from(memory, leaf, slot, entries, keys, changes, change)
        if at > slot:
            count = add_piece(pieces, count, slot, at - slot)
        slot = at
        if slot < entries and compare_leaf_row(memory, leaf, slot, keys, changes, change) == 0:
            slot += 1
        if inserting:
            count = add_piece(pieces, count, ~first_in, 1)
            first_in += 1
        else:
            first_out += 1
    if slot < entries:
        count = add_piece(pieces, count, slot, entries - slot)
    return count


@compiled
def write_pieces(memory, layout, leaf, inserts, pieces, first, last):
    """A new leaf of rows [first, last) of what pieces of `leaf` and of the inserts make."""
    page = new_leaf(memory, layout)
    width = layout[WIDTH]
    row = 0
    piece = 0
    while row < last:
        source, until = pieces[piece, SOURCE], pieces[piece, UNTIL]
        start, rows = max(row, first), min(until, last) - max(row, first)
        target = leaf_column(page, 0) + start - first
        if rows > 0 and source < 0:
            for column in range(width):
                for i in range(rows):
                    store(
                        memory,
                        target + column * PAGE_ROWS + i,
                        inserts[column, ~source + start - row + i],
                    )
        elif rows > 0:
            from_row = leaf_column(leaf, 0) + source + start - row
            for column in range(width):
                for i in range(rows):
                    store(
                        memory,
                        target + column * PAGE_ROWS + i,
                        load(memory, from_row + column * PAGE_ROWS + i),
                    )
        row = until
        piece += 1
    memory[page + ENTRIES] = last - first
    return page
