# SPDX-License-Identifier: Apache-2.0
"""Programs of users by name: the text, and what it holds in a workspace.

What a program found there when it came, of nobody's or of another that had found it, is only lent
to it, and stays when it goes. Everything else goes with the last program that holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from lftj.program.normal_form import RelationSchema
from lftj.scantree.frozen import frozen
from lftj.types import code_of, decode_scalar

Row = tuple[object, ...]
Rows = Mapping[str, frozenset[Row]]
"""Rows by relation, as Python values."""
Relations = Mapping[str, RelationSchema]


@frozen
class NamedProgram:
    """A text, the rules that it holds by their numbers, the relations and types that it declares,
    and the rows that its facts are. `lent`: those among the rules and facts that stay without it.

    `whole`: all of the text is there, nothing of it was removed in another way. `repeats`: some
    rule or fact stands in the text twice. `earlier`: rules by what they were before relations were
    altered, which is what the text says by position.
    """

    text: str
    rules: frozenset[int] = frozenset()
    lent_rules: frozenset[int] = frozenset()
    relations: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    facts: Rows = field(default_factory=dict)
    lent_facts: Rows = field(default_factory=dict)
    whole: bool = True
    repeats: bool = False
    earlier: Mapping[str, int] = field(default_factory=dict)

    def renumbered(self, number: Callable[[int], int]) -> NamedProgram:
        """The program with other numbers of its rules."""
        rules, lent = map(number, self.rules), map(number, self.lent_rules)
        earlier = {key: number(each) for key, each in self.earlier.items() if each in self.rules}
        return replace(self, rules=frozenset(rules), lent_rules=frozenset(lent), earlier=earlier)

    def without_rules(self, numbers: Iterable[int]) -> NamedProgram:
        """The program once rules of it were removed in another way."""
        gone = self.rules.intersection(numbers)
        if not gone:
            return self
        left, lent = self.rules - gone, self.lent_rules - gone
        return replace(self, rules=left, lent_rules=lent, whole=False)

    def without_facts(self, name: str, rows: frozenset[Row]) -> NamedProgram:
        """The program once facts of it were deleted in another way."""
        if self.facts.get(name, frozenset()).isdisjoint(rows):
            return self
        facts, lent = without(self.facts, name, rows), without(self.lent_facts, name, rows)
        return replace(self, facts=facts, lent_facts=lent, whole=False)

    def lending(self, name: str, rows: frozenset[Row]) -> NamedProgram:
        """The program once facts of it came in another way too."""
        more = rows & self.facts.get(name, frozenset())
        if more <= self.lent_facts.get(name, frozenset()):
            return self
        return replace(self, lent_facts=joined(self.lent_facts, {name: more}))


NamedPrograms = Mapping[str, NamedProgram]


def joined(one: Rows, other: Rows) -> dict[str, frozenset[Row]]:
    """The rows of both."""
    return {name: one.get(name, _NONE) | other.get(name, _NONE) for name in {**one, **other}}


def without(rows: Rows, name: str, gone: frozenset[Row]) -> dict[str, frozenset[Row]]:
    """The rows without some of a relation."""
    left = {**rows, name: rows.get(name, _NONE) - gone}
    return {each: its for each, its in left.items() if its}


def others_of(programs: NamedPrograms, name: str) -> list[NamedProgram]:
    """All programs but one."""
    return [program for each, program in programs.items() if each != name]


def texts_of(programs: NamedPrograms) -> dict[str, str]:
    """The texts by name."""
    return {name: program.text for name, program in programs.items()}


_NONE: frozenset[Row] = frozenset()


class _NoStrings:
    """Strings are told as they are."""

    def decode_one(self, code: int) -> str:
        raise LookupError(f"no string has the code {code} here")


_NO_STRINGS = _NoStrings()


# ── as plain data ─────────────────────────────────────────────────────────────────────────────────
def program_data(program: NamedProgram, relations: Relations) -> dict[str, Any]:
    """A program as data that JSON can write."""
    data = {
        "text": program.text,
        "rules": sorted(program.rules),
        "lent_rules": sorted(program.lent_rules),
        "relations": sorted(program.relations),
        "types": sorted(program.types),
        "facts": _rows_data(program.facts, relations),
        "lent_facts": _rows_data(program.lent_facts, relations),
        "whole": program.whole,
        "repeats": program.repeats,
    }
    return {**data, "earlier": dict(program.earlier)} if program.earlier else data


def program_of(data: Mapping[str, Any], relations: Relations) -> NamedProgram:
    """The program again."""
    return NamedProgram(
        data["text"],
        frozenset(data["rules"]),
        frozenset(data["lent_rules"]),
        frozenset(data["relations"]),
        frozenset(data["types"]),
        _rows_of(data["facts"], relations),
        _rows_of(data["lent_facts"], relations),
        data["whole"],
        data["repeats"],
        data.get("earlier", {}),
    )


def _rows_data(rows: Rows, relations: Relations) -> dict[str, list[list[Any]]]:
    """Rows with strings as they are, and codes of other values, which mean the same everywhere."""
    return {
        name: sorted(
            [
                value if isinstance(value, str) else code_of(type, value)
                for (_, type), value in zip(relations[name].columns, row, strict=True)
            ]
            for row in rows[name]
        )
        for name in sorted(rows)
    }


def _rows_of(
    data: Mapping[str, list[list[Any]]], relations: Relations
) -> dict[str, frozenset[Row]]:
    return {
        name: frozenset(
            tuple(
                value if isinstance(value, str) else decode_scalar(type, value, _NO_STRINGS)
                for (_, type), value in zip(relations[name].columns, row, strict=True)
            )
            for row in rows
        )
        for name, rows in data.items()
    }
