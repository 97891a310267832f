"""Looking behind the views: by which strategy a commit brought them up to date, and the support
counts it left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lftj import frames
from tests.strategies.schemas import Row

Supports = dict[str, dict[Row, int]]


MANY = 10_000
"""Assignments of a view beyond which an update may be given up, however few rows there are: it may
always take 20,000 steps.
"""


def strategies(workspace: Any) -> dict[str, set[str]]:
    """Strategies of the last commit by relation, hidden ones included; a fallback counts as an
    update where assignments are many.
    """
    profile = workspace.profile(last=1)
    many = profile.groupby("relation")["assignments"].transform("sum") > MANY
    profile.loc[many & (profile["outcome"] == "fallback"), "outcome"] = "update"
    found: dict[str, set[str]] = {}
    for relation, strategy in profile[["relation", "outcome"]].itertuples(index=False):
        found.setdefault(relation, set()).add(strategy)
    return found


def supports(workspace: Any, relations: Iterable[str]) -> Supports:
    """Of each of these views that counts its supports, every row with its count."""
    engine = workspace._backend
    found: Supports = {}
    for name in relations:
        state = engine.state.view_states.get(name)
        if state is not None and state.support is not None:
            schema = engine.state.schema(name)
            *columns, counts = state.support.tree.columns()
            types = [type_ for _, type_ in schema.columns]
            rows = (
                frames.to_tuples(types, columns, engine.dictionary)
                if schema.arity
                else [()] * len(counts)
            )
            found[name] = dict(zip(rows, counts.tolist(), strict=True))
    return found
