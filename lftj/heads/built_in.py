# SPDX-License-Identifier: Apache-2.0
"""Built-in aggregates whose state is a `Fold`: kept, put together and stored as those of users are,
and made of whole columns where these have summands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise

import numpy as np

from lftj.errors import LftjError, ValueRangeError
from lftj.functions.aggregates import AGGREGATES
from lftj.functions.fold import State, Summands
from lftj.heads.float_sum import advanced
from lftj.heads.float_sum_kernels import STATE_WORDS, WORDS
from lftj.heads.integer_sum import grouped_totals
from lftj.heads.user import NO_VALUE, UserAggregate
from lftj.types import Type, codes_to_floats, floats_to_codes
from lftj.types.dictionary import Dictionary

_CHUNK = 4096
"""Groups whose exact sums of floats are held at a time: about a megabyte."""


@dataclass(frozen=True, slots=True)
class BuiltInFold(UserAggregate):
    """`written`: its name in messages. `summands`: as of a `Fold`."""

    written: str = ""
    summands: Callable[[np.ndarray], Summands] | None = None

    def runs(
        self, args: Sequence[np.ndarray], counts: np.ndarray, starts: np.ndarray
    ) -> Sequence[State] | None:
        """The states of runs of codes; None where values are lifted one by one."""
        if self.summands is None:
            return None
        (codes,) = args
        of_floats = self.argument_types[0].name == "float"
        numbers = self.summands(codes_to_floats(codes) if of_floats else codes)
        return list(zip(*(_number(each, counts, starts) for each in numbers), strict=True))

    def code(self, state: State, type: Type, dictionary: Dictionary) -> int:
        """The code of the value of a state, `NO_VALUE` where there is none."""
        if self.result(state) is None:
            return NO_VALUE
        return super(BuiltInFold, self).code(state, type, dictionary)

    def error_of(self, problem: Exception, group: str) -> Exception:
        """The error of a state that has no value, with the group."""
        if isinstance(problem, LftjError):
            hint = problem.hint or "leave such rows out of the group"
            return ValueRangeError(f"{self.written} {group}: {problem.message}", hint=hint)
        return problem


def _number(
    summands: Sequence[tuple[np.ndarray, int]], counts: np.ndarray, starts: np.ndarray
) -> list[int]:
    """A number of the states of runs."""
    found = [0] * len(starts)
    for column, weight in summands:
        of_floats = column.dtype == np.float64
        totals = (_floats if of_floats else _integers)(column, counts, starts)
        found = [known + weight * more for known, more in zip(found, totals, strict=True)]
    return found


def _integers(column: np.ndarray, counts: np.ndarray, starts: np.ndarray) -> list[int]:
    high, low = grouped_totals(column, counts, starts)
    return [(over << 63) + rest for over, rest in zip(high.tolist(), low.tolist(), strict=True)]


def _floats(column: np.ndarray, counts: np.ndarray, starts: np.ndarray) -> list[int]:
    codes = floats_to_codes(column)
    bounds = [*range(0, len(starts), _CHUNK), len(starts)]
    return list(chain.from_iterable(
        _units(codes, counts, starts, *chunk) for chunk in pairwise(bounds)
    ))  # fmt: skip


def _units(
    codes: np.ndarray, counts: np.ndarray, starts: np.ndarray, first: int, last: int
) -> list[int]:
    """Exact sums of the runs from `first` to `last`, in units of the least float."""
    low = starts[first]
    high = starts[last] if last < len(starts) else len(codes)
    nothing = np.zeros((last - first, STATE_WORDS), np.int64)
    states, _, _ = advanced(nothing, codes[low:high], counts[low:high], starts[first:last] - low)
    return [int.from_bytes(state[:WORDS].tobytes(), "little", signed=True) for state in states]


@cache
def built_in(function: str, type: Type) -> BuiltInFold | None:
    """The fold that an aggregate is over values of a type; None where its state is of another
    kind.
    """
    known = AGGREGATES.get(function)
    if known is None or known.fold is None:
        return None
    fold = known.fold(type)
    return BuiltInFold(
        function, fold.zero, fold.lift, fold.combine, fold.inverse, fold.finish, (type,),
        known.result(type), fold.words, function, fold.summands,
    )  # fmt: skip


def fold_of(
    function: str, types: Sequence[Type], user: Mapping[str, UserAggregate]
) -> UserAggregate | None:
    """The aggregate of a user, or a built-in fold, with this name; None where there is none."""
    return user.get(function) or (built_in(function, types[0]) if types else None)
