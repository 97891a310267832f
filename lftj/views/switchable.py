# SPDX-License-Identifier: Apache-2.0
"""All ways to find rows and to follow changes, by name: which of them can be switched off, and the
benchmark that loses most without each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lftj.errors import DeclarationError
from lftj.join.run.ladder import ACCESSES
from lftj.join.strategy import Strategy, names_of
from lftj.maintenance.ladder import CLOSURES, STRATA
from lftj.tuning import Tuning
from lftj.tuning.aids import AIDS
from lftj.tuning.aids import GATES as GATES_OF_AIDS
from lftj.views.ways import WAYS

LADDERS: Sequence[Sequence[type[Strategy[Any]]]] = (ACCESSES, STRATA, CLOSURES)
"""The ladders of strategies: for the assignments of a body, and for recursive strata."""

NAMES = [*(way.name for way in WAYS), *names_of(LADDERS)]
"""The names of all ways, in the order in which they are asked."""
OPTIONAL = [
    *(way.name for way in WAYS if way.gate),
    *(
        name
        for name in names_of(LADDERS)
        if not all(each.needed for ladder in LADDERS for each in ladder if each.name == name)
    ),
]
"""Ways without which everything can be evaluated: `Tuning(without=…)` may name them."""
GATES = (
    {way.name: way.gate for way in WAYS if way.gate}
    | {
        each.name: each.gate
        for ladder in LADDERS
        for each in ladder
        if each.name in OPTIONAL and not each.needed
    }
    | GATES_OF_AIDS
)
"""The gate of each way and aid that can be switched off: the benchmark that loses most without it.
"""

GONE = {
    "guarded groups": "delta queries",
    "small fixpoint": "iterations",
    "counting at once": "counting",
    "long chains": "counting from nothing",
    "by groups": "full evaluation",
    "projection": "full evaluation",
    "without a state": "full evaluation",
}
"""Strategies of earlier versions, and those that do their work now."""


def check_without(tuning: Tuning) -> None:
    """Raise DeclarationError (E160) where a tuning is without what is no strategy, or is needed."""
    for name in sorted(tuning.without):
        if name in OPTIONAL or name in AIDS:
            continue
        what = "cannot be switched off" if name in NAMES else "is no strategy"
        if name in GONE:
            stays = "" if GONE[name] in OPTIONAL else ", and cannot be switched off"
            what = f"is gone: `{GONE[name]}` took its place{stays}"
        known = ", ".join(f"`{each}`" for each in (*OPTIONAL, *AIDS))
        raise DeclarationError(
            f"Tuning: `{name}` in `without` {what}", hint=f"those that can be: {known}"
        )
