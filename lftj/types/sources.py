# SPDX-License-Identifier: Apache-2.0
"""Names of relations that are made from others: the rows of a relation in some role.

A rule reads relations by name. Beside those that users declare it may read the rows that one of
them had before a commit, those that are new in an iteration, a part's share of it, and so on. Such
a name is a `Source`: the relation, the role, and what else tells it from its like, such as a
column. Nothing looks for a role in the text of a name.

A `Source` is a `str`, whose text no user can choose as a name. Names of both kinds so stand in one
mapping, are sorted together, and are written to files and messages as they are. Names that come
back from a file are read with `read_name`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum
from functools import lru_cache
from typing import Self, TypeGuard

Column = int | str | tuple[int, ...]
"""Tells two sources in one role apart: a column or several, a number, a cut."""

_MARK = "#"


class Role(Enum):
    """The rows that a source has. The value is the text behind the relation's name."""

    BASE = "#base"
    """Rows that were loaded into a relation that has rules."""
    HIDDEN = "#"
    """Rows of a relation that the engine declares: a part of a rule, the answers to a question."""
    RESULTS = "#results "
    """Arguments of a user's function with their results, by the function's version."""
    STRATUM = "#stratum "
    """The state of a recursive stratum, by its relations."""

    PREVIOUS = "#old"
    """Rows before the commit."""
    CHANGED = "#change"
    """Rows, or values of some columns, that came or went."""
    SIGNED = "#signed"
    """Rows that came and went, each with its sign."""
    REGION = "#region"
    """A batch of regions of a search space."""
    AFFECTED = "#touched"
    """Values whose part of a stratum is evaluated anew."""

    APPEARED = "+"
    """Values of some columns that have a row now, and had none before."""

    DELTA = "#delta"
    """Rows that are new in the last iteration."""
    OLDER = "#older"
    """Rows from before the last iteration."""
    BEST = "#best"
    """Finished rows of a stratum that keeps one value for each group."""
    POSSIBLE = "#possible"
    """Groups that may be there whatever the values of others are."""
    OPEN = "#open"
    """Groups without a value."""
    DELETED = "#lost"
    """Rows that lost a derivation, or all."""
    REDERIVED = "#back"
    """Rows that are derived again."""

    ITERATED = "#iterated"
    """Rows with the iterations that they are derived in."""
    BEFORE_MOVE = "#iterated#before"
    """The same before the present move."""
    BEFORE_UPDATE = "#iterated#start"
    """The same before the update."""
    MOVED = "#iterated#moved"
    """The same, of rows that move in this iteration."""
    CANDIDATES = "#candidates"
    """Rows that a choice is made among."""
    RANKING = "#ranking"
    """The same in the order of the choice."""

    PARAMETERS = "#parameters"
    """Constants by which the bodies of some rules differ."""
    TRANSIENT = "#loose"
    """Statistics of rows that are no version of a relation."""
    MATCHING = "#matching"
    """Rows that have a partner in another relation."""

    CUT = "@"
    """A part's share of the rows, in one cut."""
    SHARE = "%"
    """Rows that parts found for themselves, to be put together."""
    NEWS = "~"
    """Rows that parts tell each other."""
    GONE = "-"
    """Rows that went, or may have to, in a stratum over parts."""
    SOUGHT = "?"
    """Rows among them that other parts are asked about."""
    WITNESSED = "!"
    """Rows with the derivation that they were taken by."""

    def __init__(self, text: str):
        self.text = text
        """The value, which takes longer to look up."""


class Source(str):
    """The rows of relation `name` in a role. `name` may be a source, too: the lost rows of a part's
    share. `hidden` is true unless users know the relation.
    """

    __slots__ = ("column", "hidden", "name", "role")
    name: str
    role: Role
    column: Column | None
    hidden: bool

    def __new__(cls, name: str, role: Role, column: Column | None = None) -> Self:
        """O(length of the name)."""
        text = role.text
        made = str.__new__(cls, name + text if column is None else f"{name}{text}{column}")
        made.name = name
        made.role = role
        made.column = column
        made.hidden = text[0] == _MARK or (isinstance(name, Source) and name.hidden)
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return Source, (self.name, self.role, self.column)


def named_once(make: Callable[[str], Source]) -> Callable[[str], Source]:
    """Decorate a function that every commit calls, since a `Source` takes a microsecond to make.

    The cache tells types apart: a source and its text are equal, but are not the same name.
    """
    return lru_cache(maxsize=1024, typed=True)(make)


class HiddenName(Source):
    """A relation that stands for a part of a user's rule: `rule7#not1` is the first negation of a
    conjunction in rule 7.
    """

    __slots__ = ("kind", "number", "source")
    source: int
    kind: str
    number: int

    def __new__(cls, source: int, kind: str, number: int) -> Self:
        """`source` is the id of the user's rule; `kind` names the construct."""
        made = Source.__new__(cls, f"rule{source}", Role.HIDDEN, f"{kind}{number}")
        made.source, made.kind, made.number = source, kind, number
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return HiddenName, (self.source, self.kind, self.number)


# ── questions about any name ──────────────────────────────────────────────────────────────────────
def in_role(name: str, role: Role) -> TypeGuard[Source]:
    """True for the rows of a relation in this role."""
    return isinstance(name, Source) and name.role is role


def without_role(name: str, role: Role) -> str:
    """The relation that the name has in this role; the name itself where it is in another."""
    return name.name if isinstance(name, Source) and name.role is role else name


def lineage(name: str) -> Iterator[str]:
    """The name, the one that it is made from, and so on."""
    yield name
    while isinstance(name, Source):
        name = name.name
        yield name


def is_hidden(name: str) -> bool:
    """True for a relation that no user knows. Users know the shares that parts have of theirs."""
    return isinstance(name, Source) and name.hidden


def is_reserved(name: str) -> bool:
    """True for a text that no user may choose as a name, since the engine's names are such."""
    return _MARK in name


# ── files ─────────────────────────────────────────────────────────────────────────────────────────
_IN_FILES = (Role.BASE, Role.SHARE, Role.NEWS, Role.GONE, Role.SOUGHT, Role.WITNESSED)
_ENDING = re.compile(rf"(.*)({'|'.join(re.escape(role.value) for role in _IN_FILES)})", re.DOTALL)
_CUT = re.compile(r"(.*)@((?:\d+|all|one|here)(?:\+(?:\d+|all))?)", re.DOTALL)
_RESULTS = re.compile(rf"([^#]*){Role.RESULTS.value}(.*)", re.DOTALL)
_HIDDEN = re.compile(r"rule(\d+)#([^@#]*?)(\d+)")


@lru_cache(maxsize=4096)
def read_name(text: str) -> str:
    """The name that was written to a file as this text. O(length)."""
    if found := _HIDDEN.fullmatch(text):
        return HiddenName(int(found[1]), found[2], int(found[3]))
    if found := _RESULTS.fullmatch(text):
        return Source(found[1], Role.RESULTS, found[2])
    if text.startswith(Role.STRATUM.value):
        return Source("", Role.STRATUM, text[len(Role.STRATUM.value) :])
    if found := _CUT.fullmatch(text):
        return Source(read_name(found[1]), Role.CUT, found[2])
    if found := _ENDING.fullmatch(text):
        return Source(read_name(found[1]), Role(found[2]))
    return text
