# SPDX-License-Identifier: Apache-2.0
"""`if(condition, a, b)`, which is no function of values: of the branch that is not taken nothing is
computed. The syntax makes a disjunction of it before anything else reads a rule.
"""

from __future__ import annotations

from lftj.functions.record import Function

IF = Function(
    name="if",
    arguments=("condition", "a", "b"),
    line="`a` where a condition holds, else `b`: `if(y != 0, x / y, 0)`. What is not taken is not "
    "computed, so it cannot fail. Several conditions are in parentheses.",
    usage="write if(condition, a, b)",
)
