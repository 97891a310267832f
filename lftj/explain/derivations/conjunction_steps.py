# SPDX-License-Identifier: Apache-2.0
"""Steps of a conjunction: each takes assignments in pieces, and gives those that it admits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lftj.explain.derivations.conjunction_search import Rows, Search
from lftj.explain.derivations.groups import Gathered, gathered
from lftj.explain.derivations.values import expression_value, folded, plain_value
from lftj.explain.derivations.version import Codes, Version, matrix
from lftj.explain.derivations.ways import Way
from lftj.functions import USERS, call, functor_named
from lftj.program import CheckedAggregate, FunctorCall
from lftj.proofs import NOTHING

Variables = tuple[int, ...]


class SearchStep:
    """A search that begins with each assignment."""

    def __init__(self, search: Search):
        self._search = search

    def through(self, pieces: Iterator[Rows], version: Version) -> Iterator[Rows]:
        """See `Step`."""
        for piece in pieces:
            if piece.shape[1]:
                for found in self._search.run(version.relations, piece, version.context):
                    if found.shape[1]:
                        yield found


class FunctorStep:
    """A functor on strings, computed for each assignment."""

    def __init__(self, call: FunctorCall, bound: Variables):
        self._call, self._bound = call, bound

    def through(self, pieces: Iterator[Rows], version: Version) -> Iterator[Rows]:
        """See `Step`."""
        return _mapped(pieces, lambda row: self._results(row, version))

    def _results(self, row: Codes, version: Version) -> Iterator[Codes]:
        asked, env = self._call, dict(zip(self._bound, row, strict=True))
        values = tuple(
            expression_value(arg, type, env, version)
            for arg, type in zip(asked.args, asked.types, strict=True)
        )
        functor = functor_named(asked.functor)
        if None in values and (functor.many or asked.result is None):
            return
        found: Any = None
        if None in values:
            pass
        elif functor is USERS:
            found = version.of_function(asked.functor, *values)
        else:
            found = call(asked.functor, values)
        if asked.result is None or asked.result_type is None:
            if found:
                yield row
            return
        several = found if functor.many else (found,)
        for value in several:
            code = version.encode(asked.result_type, plain_value(value))
            yield from _bound(row, env, asked.result, code)


class NegationStep:
    """A nested negation: no assignment of the inner body goes with the outer one."""

    def __init__(self, inner: Sequence[Way], bound: Variables):
        self._inner, self._bound = inner, bound

    def through(self, pieces: Iterator[Rows], version: Version) -> Iterator[Rows]:
        """See `Step`."""
        for piece in pieces:
            keep = np.ones(piece.shape[1], bool)
            for each in self._inner:
                keys, rows = outer_rows(piece, self._bound, each.given)
                satisfied = {
                    row
                    for found in each.run(version, rows)
                    for row in tuples(found[: len(each.given)])
                }
                keep &= np.array([key not in satisfied for key in keys], bool)
            yield np.ascontiguousarray(piece[:, keep])


class AggregateStep:
    """An aggregate over an inner body, for each assignment of the outer one."""

    def __init__(self, aggregate: CheckedAggregate, inner: Sequence[Way], bound: Variables):
        self._aggregate, self._inner, self._bound = aggregate, inner, bound

    def through(self, pieces: Iterator[Rows], version: Version) -> Iterator[Rows]:
        """See `Step`."""
        for piece in pieces:
            yield from _mapped(iter((piece,)), lambda row: self._result(row, version))

    def _result(self, row: Codes, version: Version) -> Iterator[Codes]:
        env, asked = dict(zip(self._bound, row, strict=True)), self._aggregate
        group = group_of(self._inner, env, version)
        values: list[Any] = [range(group.size)]
        if asked.args and group.size:
            variables = self._inner[0].variables
            values = [group.values(arg, env, version, variables) for arg in asked.args]
        value = folded(asked.function, *values)
        if value is not NOTHING:
            code = version.encode(self._aggregate.type, value)
            yield from _bound(row, env, self._aggregate.result, code)


def group_of(inner: Sequence[Way], env: Mapping[int, int], version: Version) -> Gathered:
    """The distinct assignments of an aggregate's body under outer bindings."""

    def begin(way: Way) -> Rows:
        return matrix([tuple(env[variable] for variable in way.given)], len(way.given))

    return gathered(inner, version, begin)


def tuples(piece: Rows) -> list[Codes]:
    """The columns of a matrix as tuples."""
    return list(zip(*piece.tolist(), strict=True)) if len(piece) else [()] * piece.shape[1]


def outer_rows(piece: Rows, bound: Variables, given: Variables) -> tuple[list[Codes], Rows]:
    """The values of some variables in each assignment, and these values once each."""
    places = [bound.index(variable) for variable in given]
    keys = tuples(piece[places]) if places else [()] * piece.shape[1]
    return keys, matrix(dict.fromkeys(keys), len(given))


def _bound(row: Codes, env: Mapping[int, int], result: int, code: int) -> Iterator[Codes]:
    """The assignment with a result, if that is what it has already or none."""
    if result not in env:
        yield (*row, code)
    elif env[result] == code:
        yield row


def _mapped(pieces: Iterator[Rows], of: Any) -> Iterator[Rows]:
    """Each assignment's results, some at a time, so that nobody waits for all to see the first."""
    for piece in pieces:
        for first in range(0, piece.shape[1], _AT_ONCE):
            some = [made for row in tuples(piece[:, first : first + _AT_ONCE]) for made in of(row)]
            if some:
                yield matrix(some, len(some[0]))


_AT_ONCE = 256
