# SPDX-License-Identifier: Apache-2.0
"""Aggregated heads: rows of satisfying assignments to one row per group [LFTJ-IVM 2.3].

The state behind each function, and what *INSERT* and *ERASE* of an assignment do to it; rows are in
order:

| `StateKind` of the function | state per group | computed in | kept in |
|---|---|---|---|
| every one | η, the number of assignments: ±1; none at 0 | `support` | `aggregate_state` |
| `COUNT` | η itself | `support` | `aggregate_state` |
| `TOTAL` of int, decimal | the exact total: ±value | `integer_sum` | `integer_sum` |
| `TOTAL` of float | the exact total: ±value | `float_sum` | `float_sum` |
| `LEAST`, `GREATEST` | rows (group, value), counted | `aggregate` | `ordered_rows` |
| ends by keys too, of many rows | ends, until one is erased | `grouping` | `unordered_extremes` |
| `TEXTS` | rows (group, keys, text), counted | `concatenation` | `ordered_rows`, `scans` |
| `ORDERED` | rows (group, keys, value), counted | `in_order` | `ordered_rows` |
| `FOLD`, a user's, with an inverse | a total | `user`, `built_in` | `user_totals` |
| the same without | rows (group, arguments), counted | `user` | `ordered_rows`, `scans` |

`aggregate` computes all of them from scratch, for whole columns. No rows make no groups, also when
there is no group column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lftj.functions.aggregates import AGGREGATES, GREATEST, StateKind
from lftj.heads.aggregate_shape import AggregateCall
from lftj.heads.built_in import fold_of
from lftj.heads.concatenation import grouped_concatenations
from lftj.heads.float_sum import float_results, grouped_sums
from lftj.heads.in_order import grouped_in_order
from lftj.heads.integer_sum import grouped_totals, integer_results
from lftj.heads.support import group_sizes
from lftj.heads.user import UserAggregate, grouped_folds
from lftj.heads.valued import of_values, rows_with_values
from lftj.heads.values import by_value, group_name
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import equal_runs, is_sorted, sort_with
from lftj.types import Type
from lftj.types.dictionary import Dictionary

# `min` and `max`: semigroups, which cannot take a value out again [LFTJ-IVM 2.3.3].
#
# *State kept:* the ordered rows (group, value) with their support counts, in a scan tree whose scan
# is min or max. *INSERT* and *ERASE* of an assignment change one support count; a row appears or
# vanishes there as a projection's does, and the group's result is the scan of its range, O(log n).
# The functions here compute the same result for whole columns at once.


def grouped_extremes(
    codes: np.ndarray, starts: np.ndarray, type: Type, dictionary: Dictionary, *, greatest: bool
) -> np.ndarray:
    """The code of the least or greatest value of each run; strings compare by code point. O(n),
    more for strings (see `by_value`).
    """
    keys, back = by_value(codes, type, dictionary)
    found = (np.maximum if greatest else np.minimum).reduceat(keys, starts)
    return found if back is None else back.take(found)


@frozen(slots=True)
class _Groups:
    """Rows in group order: where each group starts, how often each row counts, how many assignments
    each group has.
    """

    columns: list[np.ndarray]
    starts: np.ndarray
    counts: np.ndarray
    sizes: np.ndarray
    arranged: dict[int, np.ndarray]
    dictionary: Dictionary
    types: Sequence[Type]
    user: Mapping[str, UserAggregate]

    def args(self, call: AggregateCall) -> list[np.ndarray]:
        """The arguments of a call in group order."""
        return [self.arranged[id(column)] for column in call.args]

    def part(
        self, call: AggregateCall, rows: np.ndarray, starts: np.ndarray, groups: np.ndarray
    ) -> _Groups:
        """Some rows with the arguments of a call, and the groups that have some, which start at
        `starts` among these rows.
        """
        counts = self.counts.take(rows)
        return replace(
            self,
            columns=[column.take(groups) for column in self.columns],
            starts=starts,
            counts=counts,
            sizes=group_sizes(counts, starts),
            arranged={id(column): self.arranged[id(column)].take(rows) for column in call.args},
        )

    def name(self, group: int) -> str:
        """Name a group by its values, for messages."""
        return group_name(
            [column[group : group + 1] for column in self.columns], self.types, self.dictionary
        )


def aggregate(
    group: Sequence[np.ndarray],
    calls: Sequence[AggregateCall],
    counts: np.ndarray,
    dictionary: Dictionary,
    user: Mapping[str, UserAggregate] | None = None,
    *,
    group_types: Sequence[Type] = (),
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """One row per group: the group columns, sorted and distinct, and a column of result codes per
    call.

    `group` and every call's `args` hold codes, one per row; row i stands for `counts[i]` ≥ 1
    assignments. `group_types` is for messages. O(n log n) for the order (O(n) when the rows are
    already grouped in order), then a pass per call. ValueRangeError names the group whose result
    leaves its type.
    """
    if len(counts) == 0:
        empty = np.zeros(0, dtype=np.int64)
        return [empty for _ in group], [empty for _ in calls]
    args = {id(column): column for call in calls for column in call.args}
    ordered, arranged, counts = _in_group_order(group, args, counts)
    starts = equal_runs(ordered, len(ordered)) if ordered else np.zeros(1, dtype=np.int64)
    columns = [column.take(starts) for column in ordered]
    groups = _Groups(
        columns,
        starts,
        counts,
        group_sizes(counts, starts),
        arranged,
        dictionary,
        group_types,
        user or {},
    )
    return groups.columns, [_of_values(call, groups) for call in calls]


def _in_group_order(
    group: Sequence[np.ndarray], args: dict[int, np.ndarray], counts: np.ndarray
) -> tuple[Sequence[np.ndarray], dict[int, np.ndarray], np.ndarray]:
    """Group columns, argument columns (by identity) and counts, all in ascending order of the
    groups.
    """
    if not group or is_sorted(group):
        return group, args, counts
    once = bool((counts == 1).all())
    if once and len(args) == 1:
        # Sorted along with the group: no random reads when both pack into one number.
        ((key, column),) = args.items()
        ordered, column = sort_with(group, column)
        return ordered, {key: column}, counts
    ordered, order = sort_with(group, np.arange(len(counts), dtype=np.int64))
    return (
        ordered,
        {key: column.take(order) for key, column in args.items()},
        counts if once else counts.take(order),
    )


def _of_values(call: AggregateCall, groups: _Groups) -> np.ndarray:
    """The results of a call, of the rows without NULL in its arguments."""
    optional = [arg for arg, type in enumerate(call.types) if type.optional]
    if not optional:
        return _result(call, groups)
    args = groups.args(call)
    kept = np.flatnonzero(rows_with_values([args[arg] for arg in optional]))
    counts, found = np.zeros((2, len(groups.starts)), np.int64)
    if len(kept):
        places = np.searchsorted(groups.starts, kept, side="right") - 1
        starts = equal_runs([places], 1)
        here = places.take(starts)
        part = groups.part(call, kept, starts, here)
        counts[here], found[here] = part.sizes, _result(call, part)
    return of_values(call.function, found, counts)


# ── one function each ─────────────────────────────────────────────────────────────────────────────
def _result(call: AggregateCall, groups: _Groups) -> np.ndarray:
    fold = fold_of(call.function, call.types, groups.user)
    if fold is not None:
        return grouped_folds(
            fold,
            groups.args(call),
            call.types,
            groups.counts,
            groups.starts,
            groups.dictionary,
            call.result,
            groups.name,
        )
    return _BY_STATE[AGGREGATES[call.function].state](call, groups)


def _count(call: AggregateCall, groups: _Groups) -> np.ndarray:
    return groups.sizes


def _total(call: AggregateCall, groups: _Groups) -> np.ndarray:
    rows = groups.args(call)[0], groups.counts, groups.starts
    if call.types[0].name == "float":
        return float_results(*grouped_sums(*rows), call, groups.sizes, groups.name)
    return integer_results(grouped_totals(*rows), call, groups.sizes, groups.name)


def _extreme(call: AggregateCall, groups: _Groups) -> np.ndarray:
    codes = groups.args(call)[0]
    return grouped_extremes(
        codes,
        groups.starts,
        call.types[0],
        groups.dictionary,
        greatest=call.function in GREATEST,
    )


def _texts(call: AggregateCall, groups: _Groups) -> np.ndarray:
    args = groups.args(call)
    return grouped_concatenations(args, call.types, groups.counts, groups.starts, groups.dictionary)


def _ordered(call: AggregateCall, groups: _Groups) -> np.ndarray:
    args, rows = groups.args(call), (groups.counts, groups.starts, groups.dictionary)
    return grouped_in_order(call.function, args, call.types, *rows, groups.name)


_BY_STATE: dict[StateKind, Callable[[AggregateCall, _Groups], np.ndarray]] = {
    StateKind.COUNT: _count,
    StateKind.TOTAL: _total,
    StateKind.LEAST: _extreme,
    StateKind.GREATEST: _extreme,
    StateKind.TEXTS: _texts,
    StateKind.ORDERED: _ordered,
}
