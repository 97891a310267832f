"""Heads over one set of columns, and what they must hold, for tests of kept states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lftj.heads.aggregate import AggregateCall, aggregate
from lftj.heads.aggregate_shape import AggregateShape
from lftj.heads.aggregate_state import AggregateState
from lftj.heads.float_sum import ExactSum
from lftj.heads.float_sum_kernels import WORDS
from lftj.heads.user import UserAggregate
from lftj.program.normal_form import AggregateTerm, NormalRule, Ref, RuleVariable
from lftj.scantree import Arena
from lftj.storage.delta import Columns, Delta
from lftj.types import FLOAT, INT, NULL_CODE, STR, Type, decimal, encode_scalar
from lftj.types.dictionary import Dictionary

Row = tuple[Any, ...]
Call = tuple[str, list[int], Type]

CENTS = decimal(12, 2)
TYPES: list[Type] = [INT, STR, INT, FLOAT, CENTS, STR, STR]
"""Two columns for groups, an int, a float, cents, two texts."""

PATH = UserAggregate("path", (), lambda s, k: (f"{s}{k}",), lambda a, b: a + b, finish="/".join)
SPREAD = UserAggregate(
    "spread",
    (0, 0),
    lambda v: (1, v),
    lambda a, b: (a[0] + b[0], a[1] + b[1]),
    lambda a: (-a[0], -a[1]),
    max,
)
ROWS = UserAggregate("rows", 0, lambda: 1, lambda a, b: a + b)
USER = {"path": PATH, "spread": SPREAD, "rows": ROWS}


def state_of(total: ExactSum) -> np.ndarray:
    """The state that kernels must have for a sum: its number in two's complement words, then how
    many +∞ and −∞ are in it.
    """
    number, *infinities = total.parts
    return np.append(
        np.frombuffer(number.to_bytes(8 * WORDS, "little", signed=True), dtype="<i8"), infinities
    ).astype(np.int64)


def shape_of(
    calls: Sequence[Call],
    group: Sequence[int],
    *,
    results_first: bool = False,
    optional: Collection[int] = (),
) -> AggregateShape:
    """The shape of a head over variables numbered as the columns are, some of which may be NULL."""
    types = [replace(type, optional=i in optional) for i, type in enumerate(TYPES)]
    variables = tuple(RuleVariable(f"v{i}", type) for i, type in enumerate(types))
    terms = [AggregateTerm(name, tuple(map(Ref, args)), type) for name, args, type in calls]
    groups = [Ref(column) for column in group]
    return AggregateShape.of(
        NormalRule(0, "v", (*terms, *groups) if results_first else (*groups, *terms), variables, ())
    )


def encoded(rows: Iterable[tuple[Row, int]], dictionary: Dictionary) -> tuple[Columns, np.ndarray]:
    """All columns and the counts."""
    rows = list(rows)
    columns = [
        _codes(type, [row[c] for row, _ in rows], dictionary) for c, type in enumerate(TYPES)
    ]
    return columns, np.array([count for _, count in rows], dtype=np.int64)


def _codes(type: Type, values: Sequence[Any], dictionary: Dictionary) -> np.ndarray:
    """The codes of a column, each value encoded once."""
    distinct = dict.fromkeys(value for value in values if value is not None)
    found = {value: encode_scalar(type, value, dictionary) for value in distinct if type != STR}
    if type == STR:
        found = dict(zip(distinct, dictionary.encode(list(distinct)).tolist(), strict=True))
    found[None] = NULL_CODE
    return np.fromiter(map(found.__getitem__, values), np.int64, len(values))


def listed(columns: Sequence[np.ndarray]) -> list[Row]:
    """Columns as rows."""
    return list(zip(*(column.tolist() for column in columns), strict=True))


class Head:
    """A kept state that is compared with `aggregate` from scratch at every step."""

    def __init__(
        self,
        shape: AggregateShape,
        rows: Iterable[tuple[Row, int]] = (),
        user: Mapping[str, UserAggregate] = USER,
    ):
        self.shape, self.user = shape, user
        self.dictionary = Dictionary()
        self.bag: Counter[Row] = Counter(dict(rows))
        columns, counts = self.columns(self.bag.items())
        self.state, found = AggregateState.build(
            Arena(1 << 32), shape, columns, counts, self.dictionary, user
        )
        self.rows = self.from_scratch()
        assert listed(found) == self.rows

    def columns(self, rows: Iterable[tuple[Row, int]]) -> tuple[Columns, np.ndarray]:
        """The columns that the shape needs, and the counts."""
        columns, counts = encoded(rows, self.dictionary)
        return [columns[variable] for variable in self.shape.needed], counts

    def from_scratch(self) -> list[Row]:
        """The head rows, as codes, that `aggregate` computes from all rows."""
        shape = self.shape
        columns, counts = self.columns(self.bag.items())
        calls = [
            AggregateCall(
                call.function, [columns[arg] for arg in call.args], list(call.types), call.result
            )
            for call in shape.calls
        ]
        types = [shape.types[i] for i in shape.group]
        group, results = aggregate(
            [columns[i] for i in shape.group],
            calls,
            counts,
            self.dictionary,
            self.user,
            group_types=types,
        )
        distinct = [group[shape.group.index(i)] for i in range(shape.width)]
        return sorted(listed(shape.head_rows(distinct, results)))

    def step(self, change: Sequence[tuple[Row, int]], *, check: bool = True) -> Delta:
        """Bring bag and state forward."""
        for row, signed in change:
            self.bag[row] += signed
        self.bag = +self.bag
        self.state, delta = self.state.update(*self.columns(change))
        if check:
            before, self.rows = self.rows, self.from_scratch()
            assert listed(self.state.rows()) == self.rows
            assert listed(delta.inserts) == sorted(set(self.rows) - set(before))
            assert listed(delta.erases) == sorted(set(before) - set(self.rows))
            columns = [self.shape.needed[place] for place in self.shape.group]
            assert len(self.state) == len({tuple(row[c] for c in columns) for row in self.bag})
        return delta
