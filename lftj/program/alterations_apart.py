# SPDX-License-Identifier: Apache-2.0
"""Alterations that two versions have made apart from each other: what one has and the other lacks,
as it is made after all that the other has. Operational transformation, of changes of schemas.

Two alterations commute where they concern different relations, or different columns of one; equal
ones are one. A name that the other one has changed is followed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from lftj.program.alteration import Alteration
from lftj.scantree.frozen import frozen
from lftj.syntax import tree
from lftj.syntax.depth import below, renamed
from lftj.syntax.parser import expression_of

_OF_VALUES = ("drop", "retype", "default")


class ApartError(Exception):
    """Two alterations of which none can be made after the other."""

    def __init__(self, one: Alteration, other: Alteration, reason: str):
        super().__init__(reason)
        self.one, self.other, self.reason = one, other, reason


@frozen
class Apart:
    """Alterations that only the one has, as they are made after the other's, and the reverse."""

    one: tuple[Alteration, ...]
    other: tuple[Alteration, ...]


def apart(one: Sequence[Alteration], other: Sequence[Alteration]) -> Apart:
    """The alterations that only one of two lists has, which began as the same. Raises ApartError.
    O(n · m) for lists that differ in so many.
    """
    shared = min(len(one), len(other))
    if tuple(one[:shared]) != tuple(other[:shared]):
        pairs = zip(one, other, strict=False)
        shared = next(place for place, (left, right) in enumerate(pairs) if left != right)
    mine, theirs = list[Alteration](), list(other[shared:])
    for each in one[shared:]:
        moved, theirs = _past(each, theirs)
        mine += moved
    return Apart(tuple(mine), tuple(theirs))


def since(
    before: Sequence[Alteration], after: Sequence[Alteration]
) -> tuple[Alteration, ...] | None:
    """The alterations that lead from one catalog to a later one; None where they do not."""
    if tuple(after[: len(before)]) == tuple(before):
        return tuple(after[len(before) :])
    try:
        found = apart(before, after)
    except ApartError:
        return None
    return None if found.one else found.other


def _past(
    one: Alteration, others: Sequence[Alteration]
) -> tuple[list[Alteration], list[Alteration]]:
    """An alteration as it is made after others, and these as they are made after it; both without
    what is equal.
    """
    left: list[Alteration] = []
    for place, other in enumerate(others):
        if one == other:
            return [], [*left, *others[place + 1 :]]
        left.append(_after(other, one))
        one = _after(one, other)
    return [one], left


def _after(one: Alteration, other: Alteration) -> Alteration:
    """An alteration as it is made after another one. Raises ApartError."""
    if other.kind == "name":
        if one.relation == other.relation:
            _require(one.kind != "name", one, other, "both give the relation a name")
            return replace(one, relation=other.to)
        same = one.kind == "name" and one.to == other.to
        _require(not same, one, other, "both give a relation this name")
        return one
    if one.relation != other.relation or one.kind == "name":
        return one
    _require_columns(one, other)
    return _renamed(one, other.column, other.to) if other.kind == "rename" else one


def _require_columns(one: Alteration, other: Alteration) -> None:
    """Raise ApartError for alterations of one relation that concern the same."""
    column, changed = other.column, one.column if one.kind in _OF_VALUES else ""
    wins = one.column if one.kind == "add" else one.to
    reads, key = _reads(one), one.key or ()
    match other.kind:
        case "key":
            _require(one.kind != "key", one, other, "both change the key")
            lost = one.kind == "drop" and one.column in (other.key or ())
            _require(not lost, one, other, f"the column `{one.column}` is in the key")
            null = _may_be_null(one) and one.column in (other.key or ())
            _require(not null, one, other, f"the column `{one.column}` is in the key, without NULL")
        case "add":
            _require(wins != column, one, other, f"both bring a column `{column}`")
        case "rename":
            twice = one.kind == "rename" and one.column == column
            _require(not twice, one, other, f"both rename the column `{column}`")
            _require(wins != other.to, one, other, f"both bring a column `{other.to}`")
        case "drop":
            free = column not in (changed, *reads, *key) and (one.kind, one.column) != (
                "rename",
                column,
            )
            _require(free, one, other, f"the column `{column}` went")
        case "retype":
            free = column not in (changed, *reads)
            _require(free, one, other, f"the column `{column}` has another type")
            null = _may_be_null(other) and column in key
            _require(not null, one, other, f"the column `{column}` of the key may be NULL")
        case _:
            _require(changed != column, one, other, f"both change the column `{column}`")


def _may_be_null(alteration: Alteration) -> bool:
    """Test for a column that becomes optional."""
    return alteration.kind == "retype" and alteration.type is not None and alteration.type.optional


def _require(possible: bool, one: Alteration, other: Alteration, reason: str) -> None:
    if not possible:
        raise ApartError(one, other, reason)


# ── expressions ───────────────────────────────────────────────────────────────────────────────────
def _reads(alteration: Alteration) -> Collection[str]:
    """The columns that the expressions of an alteration read."""
    texts = filter(None, (alteration.expression, alteration.back))
    return {
        node.name
        for text in texts
        for node in below(expression_of(text))
        if isinstance(node, tree.Variable)
    }


def _renamed(alteration: Alteration, column: str, to: str) -> Alteration:
    """The alteration after a column of the relation got another name."""

    def name(each: str) -> str:
        return to if each == column else each

    def text(each: str) -> str:
        return str(renamed(expression_of(each), {column: to})) if each else each

    return replace(
        alteration,
        column=alteration.column if alteration.kind == "add" else name(alteration.column),
        key=None if alteration.key is None else tuple(map(name, alteration.key)),
        expression=text(alteration.expression),
        back=text(alteration.back),
    )
