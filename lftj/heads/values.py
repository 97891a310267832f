# SPDX-License-Identifier: Apache-2.0
"""Codes by the order of their values: what min, max, concat and user aggregates need of strings,
whose codes follow arrival instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.frames.out import to_values
from lftj.scantree.rows import sort_rows
from lftj.types import Type, in_words
from lftj.types.dictionary import Dictionary

_DENSE = 4
"""Codes are looked up in a table when it needs at most this many places per row, else by binary
search.
"""


def ranks_of(distinct: np.ndarray, ranks: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """`ranks[i]` for every code that is `distinct[i]`; `distinct` ascends and holds all
    of `codes`.
    """
    first = int(distinct[0])
    width = int(distinct[-1]) - first + 1
    if width > _DENSE * len(codes):
        return ranks.take(np.searchsorted(distinct, codes))
    table = np.zeros(width, dtype=np.int64)
    table[distinct - first] = ranks
    return table.take(codes - first)


def by_value(
    codes: np.ndarray, type: Type, dictionary: Dictionary
) -> tuple[np.ndarray, np.ndarray | None]:
    """Numbers that order as the values of `codes` do, and the array that turns such a number back
    into its code (None: it is the code).

    O(n) plus, for strings, sorting the distinct ones by code point.
    """
    if type.name != "str" or len(codes) == 0:
        return codes, None
    (distinct,) = sort_rows([codes])
    ranks = dictionary.ranks(distinct)
    back = np.empty_like(distinct)
    back[ranks] = distinct
    return ranks_of(distinct, ranks, codes), back


def group_name(codes: Sequence[np.ndarray], types: Sequence[Type], dictionary: Dictionary) -> str:
    """Name a group by its values, for messages; `codes` are one-element columns, shown as codes
    when their types are not known.
    """
    if not codes:
        return "over all rows"
    if len(types) == len(codes):
        values = [
            to_values(type, code, dictionary)[0] for code, type in zip(codes, types, strict=True)
        ]
    else:
        values = [int(code[0]) for code in codes]
    return f"for the group ({', '.join(map(in_words, values))})"
