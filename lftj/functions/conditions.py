# SPDX-License-Identifier: Apache-2.0
"""Conditions on strings, written like atoms: what is looked for, then the string."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pyarrow as pa

from lftj.functions.patterns import matches, matching, translated
from lftj.functions.record import Function, Functor
from lftj.types import STR
from lftj.types import arrow_compute as pc


def _by_columns(name: str, negated: bool, parts: pa.Array, texts: pa.Array) -> pa.Array | None:
    """A function of Arrow's that looks for one part in many texts. Rows are sorted by the parts."""
    if parts[0] != parts[-1]:
        return None
    found = getattr(pc, name)(texts, pattern=parts[0].as_py())
    return pc.invert(found) if negated else found


def _condition(
    name: str,
    line: str,
    first: str,
    holds: Callable[[str, str], bool],
    sql: Mapping[str, str],
    *,
    arrow: str | None = None,
    check: Callable[[str], object] | None = None,
    at_once: Callable[[str, pa.Array], np.ndarray] | None = None,
) -> Function:
    """A condition and its opposite. `arrow`: the name of the same in Arrow."""

    def fails(part: str, text: str) -> bool:
        return not holds(part, text)

    def functor(negated: bool) -> Functor:
        return Functor(
            name="!" * negated + name,
            types=(STR, STR),
            result=None,
            evaluate=fails if negated else holds,
            check=check,
            at_once=at_once,
            columns=None if arrow is None else partial(_by_columns, arrow, negated),
            sql={dialect: "NOT " * negated + text for dialect, text in sql.items()},
        )

    return Function(
        name=name,
        arguments=(first, "text"),
        line=line,
        usage=f"write {name}({first}, text)",
        functors=(functor(False), functor(True)),
        condition=True,
    )


def _everywhere(sql: str) -> Mapping[str, str]:
    return {"duckdb": sql, "spark": sql}


CONDITIONS = (
    _condition(
        "contains",
        "The condition that `part` occurs in `text`.",
        "part",
        lambda part, text: part in text,
        _everywhere("contains({1}, {0})"),
        arrow="match_substring",
    ),
    _condition(
        "match",
        "The condition that a regular expression matches all of `text`.",
        "pattern",
        matches,
        {
            "duckdb": "regexp_full_match({1}, {0})",
            "spark": "({1} RLIKE concat('\\\\A(?:', {0}, ')\\\\z'))",
        },
        check=translated,
        at_once=matching,
    ),
    _condition(
        "starts_with",
        "The condition that `text` begins with `part`.",
        "part",
        lambda part, text: text.startswith(part),
        {"duckdb": "starts_with({1}, {0})", "spark": "startswith({1}, {0})"},
        arrow="starts_with",
    ),
    _condition(
        "ends_with",
        "The condition that `text` ends with `part`.",
        "part",
        lambda part, text: text.endswith(part),
        {"duckdb": "ends_with({1}, {0})", "spark": "endswith({1}, {0})"},
        arrow="ends_with",
    ),
)
