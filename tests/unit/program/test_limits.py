# SPDX-License-Identifier: Apache-2.0
"""Limits of hidden counts: from what on no reader takes a count."""

from __future__ import annotations

import pytest

from lftj.program.normal_form import NormalRule
from lftj.program.program import Program
from lftj.syntax.parser import parse

COUNT = "count : { s(_, u), u > t }"


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        (f"{COUNT} < 10", 10),
        (f"{COUNT} <= 10", 11),
        (f"10 > {COUNT}", 10),
        (f"{COUNT} = 3", 4),
        (f"{COUNT} < 0", 1),
        (f"{COUNT} >= 3", 3),
        (f"{COUNT} > 3", 4),
        (f"{COUNT} != 3", 4),
        (f"!({COUNT} < 3)", 3),
        (f"({COUNT} = 1 ; {COUNT} < 3)", 3),
        (f"n = {COUNT}, n < 5, n != 70", 5),
        (f"1 + {COUNT} <= 10", 10),
        (f"n = 1 + {COUNT}, n <= 10", 10),
        (f"n = {COUNT} - 2, m = n + 1, m < 4", 5),
        (f"n = {COUNT}, n < x", None),
        (f"n = {COUNT}, n > 3, x = n", None),
        (f"n = {COUNT}, n > 3, asked(n)", None),
        (f"n = {COUNT}, n * n < 10", None),
        (f"n = {COUNT}, x = n", None),
        (f"{COUNT} < 2147483648", 2147483648),
    ],
)
@pytest.mark.parametrize("head", ["r(t)", "r(sum(t))"])
def test_a_limit_is_the_least_that_no_reader_takes(body: str, limit: int | None, head: str) -> None:
    text = f"""
        .decl s(x: number, t: number)
        .decl asked(n: number)
        .decl r(t: number)
        {head} :- s(x, t), {body}.
    """
    program, _ = Program().add(parse(text, None))
    rules = [rule for stratum in program.stratified.strata for rule in stratum.rules]
    found = {
        rule.relation: rule.limit
        for rule in rules
        if isinstance(rule, NormalRule) and rule.aggregates and rule.relation != "r"
    }
    assert found == {"rule1#count1": limit}
    others = [rule for rule in rules if isinstance(rule, NormalRule) and not rule.aggregates]
    assert {rule.limit for rule in others} == {None}
