# SPDX-License-Identifier: Apache-2.0
"""An aggregate in a body as a query with one column, `value`, and one row at most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from lftj.functions import AGGREGATES
from lftj.program import CheckedAggregate, Value
from lftj.sql.expressions import Terms


class Inner(Protocol):
    """The query of the body in braces."""

    @property
    def names(self) -> Mapping[int, str]: ...
    def select(self, columns: list[str]) -> str: ...


class BodyAggregate:
    """`query`: the SQL. `has_row`: it gives a row of no assignments too; `may_lack_value`: the
    value in that row is NULL then, which is no value of the aggregate.
    """

    def __init__(self, literal: CheckedAggregate, terms: Terms, inner: Inner):
        self._literal, self._terms, self._inner = literal, terms, inner
        known = AGGREGATES[literal.function]
        self._nothing, self._folds = known.of_nothing, known.fold is not None
        optional = literal.type.optional
        self.has_row = self._nothing is not None or not optional
        self.may_lack_value = self._nothing is None and not optional
        self.query = f"({self._of_rows() if not literal.args else self._of_values()})"

    def _of_rows(self) -> str:
        whole = self._terms.aggregate(self._literal.function, [], self._literal.type)
        return self._inner.select([f"{whole} AS value"])

    def _of_values(self) -> str:
        """The query, with a table between: it keeps an aggregate of outer columns alone in its own
        query.
        """
        literal, terms, names = self._literal, self._terms, self._inner.names
        columns = {f"value{place or ''}": arg for place, arg in enumerate(literal.args)}
        args = [f"a.{name}" for name in columns]
        same = [isinstance(arg, Value) for arg in literal.args]
        for place, arg in enumerate(literal.args):
            if place and isinstance(arg, Value):
                args[place] = terms.of(arg, names)
        whole = terms.aggregate(literal.function, args, literal.type, same)
        named = [f"{terms.of(arg, names)} AS {name}" for name, arg in columns.items()]
        tests = "" if self.has_row else f" HAVING {self._has_value(whole, args)}"
        if self._nothing is not None:
            whole = self._or_nothing(whole, terms.number(self._nothing, literal.type))
        return f"SELECT {whole} AS value FROM ({self._inner.select(named)}) AS a{tests}"

    def _or_nothing(self, whole: str, nothing: str) -> str:
        """The aggregate, or its value of no assignments; of nothing but NULL it is NULL."""
        if self._literal.type.optional:
            return f"CASE WHEN count(*) = 0 THEN {nothing} ELSE {whole} END"
        return f"coalesce({whole}, {nothing})"

    def _has_value(self, whole: str, args: list[str]) -> str:
        """The test that a group has a row: a fold may have no value though there are values."""
        some = "count(*) > 0"
        return f"{some} AND ({whole} IS NOT NULL OR count({args[0]}) = 0)" if self._folds else some
