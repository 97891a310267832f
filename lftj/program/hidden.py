# SPDX-License-Identifier: Apache-2.0
"""Constructs of a rule that hidden relations such as `rule7#not1` and `rule7#count1` stand for."""

from __future__ import annotations

from lftj.functions.aggregates import IN_BRACES
from lftj.types.sources import HiddenName, lineage


def source_of(name: str) -> int | None:
    """The id of the user's rule that a hidden relation was made for."""
    return next((each.source for each in lineage(name) if isinstance(each, HiddenName)), None)


PART = "part"
ASKED = "ask"
UNITED = "or"
GROUPED = "group"


def of_aggregate(name: str) -> bool:
    """True for the hidden relation of a body aggregate."""
    return kind_of(name) in IN_BRACES


def of_question(name: str) -> bool:
    """True for the hidden relation of the values that a cycle asks for."""
    return kind_of(name) == ASKED


def of_part(name: str) -> bool:
    """True for the hidden relation of a part of a body."""
    return kind_of(name) == PART


def of_negation(name: str) -> bool:
    """True for the hidden relation of a nested negation."""
    return kind_of(name) == "not"


def only_input(name: str) -> bool:
    """True for the hidden relation of a part of a body, or of the values given to a functor or an
    aggregate, which no user has in mind.
    """
    return kind_of(name) in ("in", ASKED, PART)


_WORDS = {
    "not": "`!( … )`",
    UNITED: "`( … ; … )`",
    "choice": "`choice(…)`",
    GROUPED: "the aggregates of its head",
}


def explain_hidden(name: str) -> str:
    """The words for a hidden relation in terms of the rule it comes from."""
    kind = kind_of(name)
    if kind in IN_BRACES:
        return f"the aggregate `{kind}`"
    return _WORDS.get(kind, f"the functor `{kind}`")


def is_functor(name: str) -> bool:
    """True for the hidden relation of a functor, or of a function of the user's."""
    kind = kind_of(name)
    return bool(kind) and kind not in IN_BRACES and kind not in _WORDS and not only_input(name)


def kind_of(name: str) -> str:
    """The construct that a hidden relation was made for; "" for one that is not hidden."""
    return name.kind if isinstance(name, HiddenName) else ""
