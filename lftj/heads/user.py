# SPDX-License-Identifier: Apache-2.0
"""Aggregates that a user defines in Python, by four or five verbs.

    UserAggregate("times", zero=1, lift=lambda v: v, combine=lambda a, b: a * b,
    argument_types=(INT,), result_type=INT)

`lift` turns the arguments of one assignment into a state, `combine` puts two states together
(associative, `zero` neutral), `finish` turns the last state into the result (default: it is the
result). All must be pure: they may not change what they are given.

With `inverse` the aggregate is an Abelian group: `combine` must commute, and `combine(s,
inverse(s))` be zero. *State kept:* (state, η); *INSERT* combines `lift(args)`, *ERASE* its inverse.
Without `inverse` it is a semigroup. *State kept:* the ordered rows (group, args) with support
counts in a scan tree; *INSERT* and *ERASE* change a support count, and the group's result is the
scan of its range, so `combine` need not commute: states are combined in ascending order of the
arguments. Partitions merge by `combine`, lower keys first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lftj.errors import DeclarationError, LftjError, LimitError, UserFunctionError
from lftj.frames.out import to_values
from lftj.heads.concatenation import order_in_groups
from lftj.scantree.process.garbage import resume_in_time
from lftj.types import Type, encode_scalar, type_of_python
from lftj.types.dictionary import Dictionary

NO_VALUE = 2**63 - 1
"""In place of the code of a float where a group has no value: that of no number. A head has no row
for such a group.
"""

if TYPE_CHECKING:
    _Lift = (
        Callable[[], Any]
        | Callable[[Any], Any]
        | Callable[[Any, Any], Any]
        | Callable[[Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any, Any], Any]
    )
    """Functions of some number of arguments: those of a lambda have a type for strict checkers."""


@dataclass(frozen=True, slots=True)
class UserAggregate:
    """A user's aggregate; the module says what the verbs must obey."""

    name: str
    zero: Any
    lift: Callable[..., Any]
    combine: Callable[[Any, Any], Any]
    inverse: Callable[[Any], Any] | None = None
    finish: Callable[[Any], Any] | None = None
    argument_types: tuple[Type, ...] = ()
    result_type: Type | None = None
    words: tuple[int, ...] | None = None
    """Number of 64-bit words that each integer of a state takes at most, where a state is a tuple
    of integers; such states can be stored as pages.
    """

    if TYPE_CHECKING:  # a user gives Python's types

        def __init__(
            self,
            name: str,
            zero: Any,
            lift: _Lift,
            combine: Callable[[Any, Any], Any],
            inverse: Callable[[Any], Any] | None = None,
            finish: Callable[[Any], Any] | None = None,
            argument_types: object = (),
            result_type: object = None,
            words: tuple[int, ...] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Python's types stand for columns' types here too. Raises DeclarationError
        (E160, E161).
        """
        for verb in ("lift", "combine", "inverse", "finish"):
            function = getattr(self, verb)
            if not callable(function) and not (function is None and verb in ("inverse", "finish")):
                hint = "write a function of states, such as lambda a, b: a * b"
                raise DeclarationError(
                    f"`{verb}` of aggregate `{self.name}` cannot be called: {function!r}", hint=hint
                )
        given: Any = self.argument_types
        types = (
            tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
        )
        object.__setattr__(self, "argument_types", tuple(map(type_of_python, types)))
        if self.result_type is not None:
            object.__setattr__(self, "result_type", type_of_python(self.result_type))

    @property
    def invertible(self) -> bool:
        """True for an Abelian group, whose state can be maintained without the rows."""
        return self.inverse is not None

    def repeated(self, state: Any, times: int) -> Any:
        """`state` combined with itself `times` times, in O(log times) steps; zero for none, and the
        inverse for negative times.
        """
        if times < 0:
            if self.inverse is None:
                raise ValueError(f"{self.name} has no inverse, so nothing can be taken out")
            state, times = self.inverse(state), -times
        total = self.zero
        while times:
            if times & 1:
                total = self.combine(total, state)
            times >>= 1
            state = self.combine(state, state) if times else state
        return total

    def fold(self, rows: Sequence[tuple[Any, ...]], counts: Sequence[int]) -> Any:
        """The state of argument tuples in their order, each as often as its count says."""
        resume_in_time()  # a user's functions may take long and make cycles
        total = self.zero
        for row, times in zip(rows, counts, strict=True):
            total = self.combine(total, self.repeated(self.lift(*row), times))
        return total

    def result(self, state: Any) -> Any:
        """The value that is published for a state."""
        return state if self.finish is None else self.finish(state)

    def runs(
        self, args: Sequence[np.ndarray], counts: np.ndarray, starts: np.ndarray
    ) -> Sequence[Any] | None:
        """The states of runs of codes, where these are made of whole columns; None where not."""
        return None

    def code(self, state: Any, type: Type, dictionary: Dictionary) -> int:
        """The code of the value that is published for a state."""
        return encode_scalar(type, self.result(state), dictionary)

    def published(
        self, states: Iterable[tuple[int, Callable[[], Any]]], groups: int, result: Type,
        dictionary: Dictionary, name: Callable[[int], str],
    ) -> np.ndarray:  # fmt: skip
        """The codes of so many groups; `states` makes those of some of them. Raises as `error_of`;
        `name` names a group.
        """
        codes = np.zeros(groups, np.int64)
        for group, state in states:
            try:
                codes[group] = self.code(state(), result, dictionary)
            except Exception as problem:
                raise self.error_of(problem, name(group))  # noqa: B904 — it knows its cause
        return codes

    def error_of(self, problem: Exception, group: str) -> Exception:
        """The error to raise for what came of the user's functions. `group`: as messages call it.

        UserFunctionError (E223) with what they raised as its cause; where their result is no value,
        that error with its place.
        """
        if isinstance(problem, (MemoryError, LimitError)):
            return problem
        if not isinstance(problem, LftjError):
            hint = (
                "the traceback above shows where; let the functions take all values that the "
                "arguments can have"
            )
            raised = (
                f"raised {type(problem).__name__}: {problem}"
                if str(problem)
                else f"raised {type(problem).__name__}"
            )
            error = UserFunctionError(
                f"the user aggregate `{self.name}` {raised}, {group}", hint=hint
            )
            error.__cause__ = problem
            return error
        problem.message = f"the user aggregate `{self.name}` {group}: {problem.message}"
        problem.hint = f"let `finish` give a value of the result_type, {self.result_type}"
        return problem


def grouped_folds(
    aggregate: UserAggregate,
    args: Sequence[np.ndarray],
    types: Sequence[Type],
    counts: np.ndarray,
    starts: np.ndarray,
    dictionary: Dictionary,
    result: Type,
    name: Callable[[int], str] = str,
) -> np.ndarray:
    """The code of each run's result. Raises as `UserAggregate.error_of`; `name` names a group.

    O(n log n) for the order, then one call of `lift` and at least one of `combine` per row.
    """
    known = aggregate.runs(args, counts, starts)
    if known is None:
        folds = _folds(aggregate, args, types, counts, starts, dictionary)
    else:
        folds = [partial(known.__getitem__, group) for group in range(len(known))]
    return aggregate.published(enumerate(folds), len(starts), result, dictionary, name)


def _folds(
    aggregate: UserAggregate,
    args: Sequence[np.ndarray],
    types: Sequence[Type],
    counts: np.ndarray,
    starts: np.ndarray,
    dictionary: Dictionary,
) -> list[Callable[[], Any]]:
    """Functions that make the states of runs, from the values in their order."""
    order = order_in_groups(args, types, starts, dictionary) if args else np.arange(len(counts))
    columns = [
        to_values(type, column.take(order), dictionary)
        for column, type in zip(args, types, strict=True)
    ]
    rows = list(zip(*columns, strict=True)) if columns else [()] * len(counts)
    times = counts.take(order).tolist()
    bounds = pairwise([*starts.tolist(), len(counts)])
    return [partial(aggregate.fold, rows[first:last], times[first:last]) for first, last in bounds]
