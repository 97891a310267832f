# SPDX-License-Identifier: Apache-2.0
"""Alterations: single changes of a relation's schema, as values that outlive a process.

A catalog keeps all alterations that led to it, in order. So two versions tell by what their
schemas differ, and rows of the earlier one are read in the columns of the later one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal

from lftj.program.defaults import default_data, default_of, with_default, with_defaults
from lftj.program.normal_form import RelationSchema
from lftj.scantree.frozen import frozen
from lftj.types import Type, type_of_python

Kind = Literal["add", "drop", "rename", "retype", "default", "key", "name", "order"]


@frozen
class Alteration:
    """One change of a relation, made by the commit of a `version`, which another branch may make by
    another commit.

    `add` has the column, its type, and the `default` that rows get, also later ones by name; where
    an `expression` computes their values, the default is what they are taken to have had. `drop`,
    `rename` (`to`) and `retype` (type, `expression`) name a column; `back` is the expression by
    which a retyped column is what it was, where no value may be lost, and its `default` that of
    later rows. `default` gives a column (of this type) another one, None for none. `key` has the
    new key, None for none; `name` gives the relation the name `to`. `order`, which no
    catalog keeps, has all columns in another order, by `key`.
    """

    version: int = field(compare=False)
    relation: str
    kind: Kind
    column: str = ""
    to: str = ""
    type: Type | None = None
    default: object = None
    expression: str = ""
    key: tuple[str, ...] | None = None
    back: str = ""

    @property
    def name(self) -> str:
        """The relation's name afterwards."""
        return self.to if self.kind == "name" else self.relation

    def schema(self, before: RelationSchema) -> RelationSchema:
        """The schema afterwards of a relation that has what the alteration names."""
        columns = before.columns
        names = [name for name, _ in columns]
        if self.kind == "name":
            return replace(before, name=self.to)
        if self.kind == "key":
            key = None if self.key is None else tuple(sorted(map(names.index, self.key)))
            return replace(before, key=key)
        if self.kind == "add":
            assert self.type is not None
            after = replace(before, columns=(*columns, (self.column, self.type)))
            return after if self.expression else with_default(after, self.column, self.default)
        if self.kind == "order":
            return _in_order(before, [names.index(name) for name in self.key or ()])
        if self.kind == "default":
            return with_default(before, self.column, self.default)
        place = names.index(self.column)
        if self.kind == "drop":
            return _without(before, place)
        name, type = columns[place]
        column = (self.to, type) if self.kind == "rename" else (name, self.type or type)
        after = replace(before, columns=(*columns[:place], column, *columns[place + 1 :]))
        if self.kind == "retype":
            return with_default(after, name, self.default)
        defaults = {self.to if of == name else of: value for of, value in before.defaults}
        return with_defaults(after, defaults)

    def __str__(self) -> str:
        """The alteration in words: `order: + region: str = 'EU'`."""
        return f"{self.relation}{_WORDS[self.kind](self)}"

    @property
    def words(self) -> str:
        """The alteration in fewer words: without NULL as a value, and conversions without loss."""
        if self.kind == "retype" and (self.back or self.expression == self.column):
            return f"{self.relation}: {self.column}: {self.type}"
        if self.kind == "add" and not self.expression and self.default is None:
            return f"{self.relation}: + {self.column}: {self.type}"
        return str(self)

    @staticmethod
    def of_order(after: RelationSchema) -> Alteration:
        """The one that has columns in the order that they have in a schema."""
        return Alteration(0, after.name, "order", key=tuple(name for name, _ in after.columns))

    # ── as plain data ─────────────────────────────────────────────────────────────────────────────
    def data(self) -> dict[str, Any]:
        """The alteration as data that JSON can write."""
        type, default = self.type, self.default
        if type is not None:
            default = default_data(type, default)
        key = None if self.key is None else list(self.key)
        found = {**vars(self), "type": type and str(type), "default": default, "key": key}
        return {name: value for name, value in found.items() if value not in (None, "")}

    @staticmethod
    def of(data: Mapping[str, Any]) -> Alteration:
        """The alteration again."""
        type = type_of_python(data["type"]) if "type" in data else None
        default, key = data.get("default"), data.get("key")
        if type is not None:
            default = default_of(type, default)
        made = {**data, "type": type, "default": default, "key": key and tuple(key)}
        return Alteration(**made)


_WORDS = {
    "add": lambda each: f": + {each.column}: {each.type} = {each.expression or repr(each.default)}",
    "drop": lambda each: f": - {each.column}",
    "rename": lambda each: f": {each.column} → {each.to}",
    "retype": lambda each: f": {each.column}: {each.type} = {each.expression}",
    "default": lambda each: (
        f": {each.column} without default"
        if each.default is None
        else f": {each.column} by default {each.default!r}"
    ),
    "key": lambda each: f": key {', '.join(each.key)}" if each.key else ": no key",
    "name": lambda each: f" → {each.to}",
}


def _in_order(before: RelationSchema, places: Sequence[int]) -> RelationSchema:
    """The schema with its columns in the order of these places."""

    def moved(columns: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted(places.index(place) for place in columns))

    key = None if before.key is None else moved(before.key)
    choice = tuple(map(moved, before.choice))
    columns = tuple(before.columns[place] for place in places)
    after = replace(before, columns=columns, key=key, choice=choice)
    return with_defaults(after, dict(before.defaults))


def _without(before: RelationSchema, place: int) -> RelationSchema:
    """The schema without a column, which is in no choice domain. A key that had it goes."""
    columns = (*before.columns[:place], *before.columns[place + 1 :])
    key = before.key
    if key is not None:
        key = None if place in key else tuple(i - (i > place) for i in key)
    choice = tuple(tuple(i - (i > place) for i in domain) for domain in before.choice)
    after = replace(before, columns=columns, key=key, choice=choice)
    return with_default(after, before.columns[place][0], None)


def rekeyed(alterations: Sequence[Alteration]) -> frozenset[str]:
    """The relations, by their names afterwards, whose rows may break a key after alterations that
    they obeyed before.
    """
    found = set[str]()
    for each in alterations:
        known = each.relation in found
        found.discard(each.relation)
        if known or each.kind in ("key", "retype"):
            found.add(each.name)
    return frozenset(found)


def of_relation(
    alterations: Sequence[Alteration], name: str, first: int = 0
) -> tuple[str, list[Alteration]]:
    """The alterations of the relation that has a name after all of them, and the name that it had
    before. `first`: the version from which on the relation of this name is this one.
    """
    found: list[Alteration] = []
    for each in reversed(alterations):
        if each.name == name and each.version >= first:
            found.append(each)
            name = each.relation
    return name, found[::-1]


def name_of_now(alterations: Sequence[Alteration], name: str) -> tuple[int, str] | None:
    """The version that gave the relation of a name another one, the last if several did, and the
    name that it got; None where there was none.
    """
    found: tuple[int, str] | None = None
    for each in alterations:
        if each.kind == "name" and each.relation == (found[1] if found else name):
            found = each.version, each.to
    return found
