# SPDX-License-Identifier: Apache-2.0
"""Ways in which views other than recursive ones are brought up to date, by the names that
`ws.profile()` and docs/strategies.md have for them.
"""

from __future__ import annotations

from typing import NamedTuple


class Way(NamedTuple):
    """A way. `gate`: the benchmark that loses most without it, for one that can be switched off by
    `Tuning(without=…)`.
    """

    name: str
    gate: str = ""


UPDATE = Way("update", "watched days")
"""The change of a view's rows from the changes of what it reads."""
DELTA_QUERIES = Way("delta queries")
"""The rule with each of its atoms in turn reading what changed."""
TRACE = Way("trace", "next event")
"""The trace of a search: what the search looked at tells what a change can matter to."""
FULL = Way("full evaluation")
"""All rows anew, with what later updates start from."""
CHOICE_ANEW = Way("choice anew")
"""All candidates anew, and the choice among them, where that depends on several domains."""

WAYS = (CHOICE_ANEW, UPDATE, FULL, TRACE, DELTA_QUERIES)
"""All of them. A relation is updated, if it can be, before it is evaluated in full; inside an
update each rule has a trace or delta queries.
"""
