# SPDX-License-Identifier: Apache-2.0
"""States of aggregates that compiled code has no name for: tuples of whole numbers, which are put
together, kept, stored and sent to parts as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lftj.scantree.frozen import frozen

UNIT = 1074
"""Finite floats are multiples of 2⁻¹⁰⁷⁴."""

State = tuple[int, ...]
Summands = Sequence[Sequence[tuple[np.ndarray, int]]]
"""For each number of a state columns with weights: the number is their weighted exact sum. Columns
of floats count units of 2⁻¹⁰⁷⁴.
"""


@frozen(slots=True, kw_only=True)
class Fold:
    """The state of an aggregate over one type. All functions are pure.

    `zero`: the state of nothing. `lift`: that of one value. `combine`: of two, in any order.
    `inverse`: what takes a state out again; without it groups keep their rows. `finish`: the value,
    None where there is none. `words`: words of 64 bits that each number takes at most, for states
    that are kept. `summands`: columns whose exact sums are the state of all values of a column, as
    floats or as codes; None where values are lifted one by one.
    """

    zero: State
    lift: Callable[[Any], State]
    combine: Callable[[State, State], State]
    inverse: Callable[[State], State] | None = None
    finish: Callable[[State], Any]
    words: tuple[int, ...] | None = None
    summands: Callable[[np.ndarray], Summands] | None = None


def summed(one: State, other: State) -> State:
    """Number by number the sum of two states."""
    return tuple([first + second for first, second in zip(one, other, strict=True)])


def negated(state: State) -> State:
    """The state with which another adds up to zero."""
    return tuple([-number for number in state])


def units(value: float) -> int:
    """A finite float in units of 2⁻¹⁰⁷⁴, of which it is a multiple."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * ((1 << UNIT) // denominator)
