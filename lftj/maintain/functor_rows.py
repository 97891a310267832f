"""String functors as relations: the rows of the domain, each longer by the functor's value (or kept, when a predicate holds)."""

from __future__ import annotations

import numpy as np

from lftj.errors import LftjError
from lftj.join.context import Context
from lftj.join.evaluate import Columns
from lftj.program.functors import call
from lftj.program.normal_form import FunctorRule
from lftj.types import decode_scalar, encode_scalar
from scantree.rows import sort_rows


def functor_rows(rule: FunctorRule, domain: Columns, context: Context) -> Columns:
    """The sorted rows of a functor's relation over these rows of its domain, which are sorted. One Python call per row."""
    arguments = [
        [decode_scalar(type, code, context.dictionary) for code in column.tolist()] for type, column in zip(rule.types, domain, strict=True)
    ]
    results = []
    for values in zip(*arguments, strict=True):
        try:
            results.append(call(rule.functor, values))
        except LftjError as error:
            error.span = error.span or rule.span
            raise
    if rule.result is None:
        keep = np.array(results, bool)
        return [column[keep] for column in domain]
    codes = np.array([encode_scalar(rule.result, value, context.dictionary) for value in results], np.int64)
    return sort_rows([*domain, codes])
