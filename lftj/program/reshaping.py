# SPDX-License-Identifier: Apache-2.0
"""Differences of a declaration from the relation that is there: in words, and as the call that
alters the one to the other. No renaming is guessed: a call renames what it is told to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lftj.program.conversions import conversion, making
from lftj.program.normal_form import RelationSchema
from lftj.types import Type

NO_RENAMES: Mapping[str, str] = {}


class Reshaping(NamedTuple):
    """The arguments of the call that alters a relation to another schema of its name. A default of
    `…` is to be chosen; `key` is None where it stays, else a tuple with the key; `compute` has
    expressions for types that share no values, `…` where one is to be found.
    """

    drop: list[str]
    rename: dict[str, str]
    retype: dict[str, Type]
    add: dict[str, Type]
    default: dict[str, object]
    key: tuple[list[str] | None] | None
    compute: dict[str, str]

    def __bool__(self) -> bool:
        return any(map(bool, self))

    @property
    def complete(self) -> bool:
        """Test for a call in which nothing is to be chosen, and which loses nothing of columns that
        stay.
        """
        return ... not in self.default.values() and not self.compute

    @property
    def of_columns(self) -> bool:
        """Test for a call that changes more than the key and defaults."""
        return any(map(bool, self[:4]))

    def call(self, relation: str, on: str = "ws") -> str:
        """The call as text, of a workspace or of a transaction."""
        types = (
            {name: str(type) for name, type in each.items()} for each in (self.retype, self.add)
        )
        retype, add = types
        shown = (
            f"{name!r}: {'…' if value is ... else repr(value)}"
            for name, value in self.default.items()
        )
        parts = [
            f"drop={self.drop}" if self.drop else "",
            f"rename={self.rename}" if self.rename else "",
            f"retype={retype}" if retype else "",
            f"compute={self.compute}" if self.compute else "",
            f"add={add}" if add else "",
            f"default={{{', '.join(shown)}}}" if self.default else "",
            f"key={self.key[0]}" if self.key else "",
        ]
        return f"{on}.alter({relation!r}, {', '.join(filter(None, parts))})"


def reshaping(
    before: RelationSchema, after: RelationSchema, rename: Mapping[str, str] = NO_RENAMES
) -> Reshaping | None:
    """The arguments of the call that leads from one schema to another, in which these columns are
    renamed; None where there is no such call.
    """
    old = {rename.get(name, name): type for name, type in before.columns}
    new = dict(after.columns)
    gone, came = _not_in(old, new), _not_in(new, old)
    left = [each for each in old if each not in gone]
    if [*left, *came] != [*new] or before.choice != after.choice:
        return None
    if before.functional != after.functional or (before.functional and (gone or came)):
        return None
    retype = {each: new[each] for each in left if old[each] != new[each]}
    return Reshaping(
        gone,
        dict(rename),
        retype,
        {each: new[each] for each in came},
        _defaults(before, after, rename, came),
        _key(before, after, rename, gone),
        {
            each: making(each, old[each], type) or "…"
            for each, type in retype.items()
            if conversion(each, old[each], type) is None
        },
    )


def likely_renames(before: RelationSchema, after: RelationSchema) -> dict[str, str]:
    """The columns that go, with those that come in their places and are of the same type: whether
    these are the same columns, nobody can tell but the user.
    """
    old, new = dict(before.columns), dict(after.columns)
    gone, came = _not_in(old, new), _not_in(new, old)
    return {
        was: now
        for (was, one), (now, other) in zip(before.columns, after.columns, strict=False)
        if was in gone and now in came and one.required == other.required
    }


def calls_between(before: RelationSchema, after: RelationSchema) -> str:
    """The calls that alter a relation to another schema of its name, in words; empty where there
    are none.
    """
    found, renames = reshaping(before, after), likely_renames(before, after)
    renamed = reshaping(before, after, renames) if renames else None
    plain = f"{found.call(before.name)} makes it the second" if found else ""
    if renamed is None:
        return plain
    said = f"{renamed.call(before.name)} does so if {names_of(renames)} renamed"
    return f"{plain}, and {said}" if plain else said


def names_of(columns: Sequence[str] | Mapping[str, str]) -> str:
    """Columns with their verb: `a` and `b` were."""
    quoted = [f"`{each}`" for each in columns]
    return f"{' and '.join(quoted)} {'was' if len(quoted) == 1 else 'were'}"


# ── in words ──────────────────────────────────────────────────────────────────────────────────────
def differences(before: RelationSchema, after: RelationSchema) -> list[str]:
    """The differences between two schemas of a name, in words, column by column."""
    old, new = dict(before.columns), dict(after.columns)
    defaults, said = dict(before.defaults), dict(after.defaults)
    gone, came = _not_in(old, new), _not_in(new, old)
    stay = [name for name in old if name in new]
    found = [f"- {name}: {old[name]}" for name in gone]
    for name in came:
        value = f" = {said[name]!r}" if name in said else ""
        found.append(f"+ {name}: {new[name]}{value}")
    found += [f"{name}: {old[name]} → {new[name]}" for name in stay if old[name] != new[name]]
    found += [
        f"{name} by default {said[name]!r}" if name in said else f"{name} without default"
        for name in stay
        if defaults.get(name) != said.get(name)
    ]
    if [*stay, *came] != [*new]:
        found.append(f"the order {', '.join(new)}")
    if (key := _key_words(before)) != (wanted := _key_words(after)):
        found.append(f"{key} → {wanted}")
    if (choice := _choice_words(before)) != (wanted := _choice_words(after)):
        found.append(f"{choice} → {wanted}")
    return found


def _key_words(schema: RelationSchema) -> str:
    if schema.functional:
        return "a function"
    return f"key {', '.join(key)}" if (key := _key_names(schema)) else "no key"


def _choice_words(schema: RelationSchema) -> str:
    domains = [", ".join(schema.columns[each][0] for each in domain) for domain in schema.choice]
    return f"choice-domain ({'), ('.join(domains)})" if domains else "no choice-domain"


def in_order(before: RelationSchema, after: RelationSchema, *, all: bool) -> list[str]:
    """The columns of a declaration in an order that a relation can be altered to: those that are
    there stay where they are, and others come last. `all`: with those that would go.
    """
    old, new = dict(before.columns), dict(after.columns)
    return [*(name for name in old if all or name in new), *_not_in(new, old)]


# ── parts of the call ─────────────────────────────────────────────────────────────────────────────
def _not_in(columns: Mapping[str, Type], others: Mapping[str, Type]) -> list[str]:
    return [each for each in columns if each not in others]


def _defaults(
    before: RelationSchema, after: RelationSchema, renamed: Mapping[str, str], came: Sequence[str]
) -> dict[str, object]:
    """The defaults that columns get or lose; `…` for one that comes and says none."""
    new, types = dict(after.defaults), dict(after.columns)
    old = {renamed.get(name, name): value for name, value in before.defaults}
    return {
        name: new.get(name, ... if name in came else None)
        for name in types
        if new.get(name) != (None if name in came else old.get(name))
        or (name in came and not types[name].optional)
    }


def _key_names(schema: RelationSchema) -> list[str] | None:
    return None if schema.key is None else [schema.columns[each][0] for each in schema.key]


def _key(
    before: RelationSchema, after: RelationSchema, renamed: Mapping[str, str], gone: Sequence[str]
) -> tuple[list[str] | None] | None:
    old, new = _key_names(before), _key_names(after)
    if old is not None:
        old = [renamed.get(each, each) for each in old]
        if any(each in gone for each in old):
            return (new,)
    return None if old == new else (new,)
