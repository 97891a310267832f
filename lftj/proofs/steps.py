# SPDX-License-Identifier: Apache-2.0
"""Steps of proofs: rows with the premises that they follow from, as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

Row = tuple[Any, ...]
Bindings = tuple[tuple[str, Any], ...]
"""Names of variables with their values."""


# ── premises ──────────────────────────────────────────────────────────────────────────────────────
class Follows(NamedTuple):
    """An atom, whose row the step of this number derives."""

    literal: str
    step: int


class Holds(NamedTuple):
    """A comparison or a predicate: `instance` has values for its variables, `values` are those of
    both sides.
    """

    literal: str
    instance: str
    values: tuple[Any, ...]


class Absent(NamedTuple):
    """A negation: nothing matches `instance`, which has values for the variables that the rule
    binds elsewhere.
    """

    literal: str
    instance: str


class Assignment(NamedTuple):
    """One assignment of a body's own variables, with a premise for each of its literals."""

    bindings: Bindings
    premises: tuple[Premise, ...]


class Branch(NamedTuple):
    """A disjunction of which branch `number`, counted from 0, holds under further bindings."""

    literal: str
    number: int
    holds: Assignment


class Group(NamedTuple):
    """An aggregate: its value, how many assignments it is over, and those that matter most.

    Of a minimum or maximum `shown` are assignments that attain it, of a sum the largest
    contributors; `size - len(shown)` others are not shown.
    """

    literal: str
    value: Any
    size: int
    shown: tuple[Assignment, ...]


class Part(NamedTuple):
    """A part of a row that several rules add up: the rule that adds it with one of its heads, under
    `bindings` of what tells the group, and its own assignments, as of a `Group`.
    """

    rule: str
    head: int
    bindings: Bindings
    value: Any
    size: int
    shown: tuple[Assignment, ...]


class Chosen(NamedTuple):
    """A choice: of `size` candidates that agree on the `domain` (names with values) this one was
    taken, which comes first. `rejected` are some of the others.
    """

    domain: Bindings
    size: int
    rejected: tuple[Row, ...]


Premise = Follows | Holds | Absent | Branch | Group | Part | Chosen


class Origin(NamedTuple):
    """The commit with which a base fact came: its version, time and message."""

    version: int
    time: datetime
    message: str = ""

    @staticmethod
    def of(version: int, seconds: float, message: str | None) -> Origin:
        """The origin in a commit of so many seconds since 1970."""
        return Origin(version, datetime.fromtimestamp(seconds), message or "")


@dataclass(frozen=True, slots=True)
class Step:
    """One row of a relation and why it is there. `rule` is the text of the rule, None for a base
    fact; `head`: which of several heads.

    Of a row that several rules add up `rule` and `head` are the first of them, and the premises are
    a `Part` of each. `height`: 0 for a base fact, else one more than the greatest height among the
    premises.
    """

    relation: str
    row: Row
    height: int = 0
    rule: str | None = None
    head: int = 0
    bindings: Bindings = ()
    premises: tuple[Premise, ...] = ()


def assignments_of(premises: Sequence[Premise]) -> Iterator[Assignment]:
    """The assignments inside branches and groups, not those inside these."""
    for premise in premises:
        if isinstance(premise, Branch):
            yield premise.holds
        elif isinstance(premise, Group | Part):
            yield from premise.shown


def rests_on(premises: Sequence[Premise]) -> Iterator[int]:
    """The numbers of the steps that premises rest on, at any depth, in order."""
    for premise in premises:
        if isinstance(premise, Follows):
            yield premise.step
        else:
            for each in assignments_of([premise]):
                yield from rests_on(each.premises)


def plain(value: object) -> Any:
    """A step, a premise or a tuple of such as dictionaries and lists."""
    if isinstance(value, Step):
        made = {name: plain(getattr(value, name)) for name in Step.__slots__}
        return {**made, "bindings": dict(value.bindings)}
    if hasattr(value, "_asdict"):
        named: dict[str, Any] = value._asdict()  # type: ignore[attr-defined]
        whole = {name: plain(each) for name, each in named.items()}
        for name in whole.keys() & {"bindings", "domain"}:
            whole[name] = dict(named[name])
        return {"kind": type(value).__name__.lower(), **whole}
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return value
