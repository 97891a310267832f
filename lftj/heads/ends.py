# SPDX-License-Identifier: Apache-2.0
"""Aggregates that read the first or the last row of a group in order: `min`, `max`, and a value by
keys, such as `arg_max`. A row is the keys and the value, compared in this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lftj.functions.aggregates import EXTREMES, GREATEST, TEXTS
from lftj.heads.aggregate_shape import CallShape
from lftj.heads.in_order import reading
from lftj.storage.delta import Columns


def ordered_args(call: CallShape) -> tuple[int, ...]:
    """The arguments of a call in the order in which they order its rows: the keys of `concat` come
    first, then its text, and its separator where that is not the same for all rows; likewise keys
    before the value of others.
    """
    if call.function in TEXTS:
        return (*call.args[2:], *call.args[: 2 if call.constant is None else 1])
    if (read := reading(call.function)) is None:
        return call.args
    return call.args[:1] if read.by_share else tuple(dict.fromkeys((*call.args[1:], call.args[0])))


class End(NamedTuple):
    """The least or greatest row of the columns `args` of an assignment."""

    args: tuple[int, ...]
    greatest: bool


def end_of(call: CallShape) -> End | None:
    """The end that a call reads, where codes stand in the order of values; None for others, and for
    texts.
    """
    if any(type.name == "str" for type in call.types):
        return None
    if call.function in EXTREMES:
        return End(call.args, call.function in GREATEST)
    read = reading(call.function)
    if read is None or read.end is None:
        return None
    return End(ordered_args(call), read.end)


def beats(rows: Sequence[np.ndarray], others: Sequence[np.ndarray], greatest: bool) -> np.ndarray:
    """Mark the rows that come before others in the order that an end is found by."""
    found = np.zeros(len(rows[0]), np.bool_)
    alike = np.ones(len(rows[0]), np.bool_)
    for column, other in zip(rows, others, strict=True):
        found |= alike & (column > other if greatest else column < other)
        alike &= column == other
    return found


def equal(rows: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> np.ndarray:
    """Mark the rows that are equal to others."""
    pairs = zip(rows, others, strict=True)
    return np.logical_and.reduce([column == other for column, other in pairs])


def where(which: np.ndarray, rows: Columns, others: Columns) -> Columns:
    """The marked rows, and others in the place of the rest."""
    return [np.where(which, *pair) for pair in zip(rows, others, strict=True)]
