# SPDX-License-Identifier: Apache-2.0
"""The hidden relations of a program: those of several rules that are defined alike are one.

A thousand rules that count in the same braces read one relation of the groups. It has the name, and
the normal rules, of the first rule that it was made for, and is there as long as one rule reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from hashlib import blake2b
from typing import NamedTuple

from lftj.program.hidden import kind_of
from lftj.program.normal_form import QUESTION, FunctorRule, NormalRule, RelationSchema
from lftj.program.rewrites.pipeline import NormalizedRule
from lftj.scantree.frozen import frozen

AnyRule = NormalRule | FunctorRule


class Form(NamedTuple):
    """The normal form of a rule of the user. `names`: those of its hidden relations that have a
    name of another rule's; None where the program is to find these.
    """

    normal: NormalizedRule
    names: Mapping[str, str] | None = None


@frozen
class HiddenRelations:
    """Hidden relations by name: `schemas`; the ids of the users' rules that have each; and by what
    defines them the names that others may share.
    """

    schemas: Mapping[str, RelationSchema] = field(default_factory=dict)
    _rules: Mapping[str, tuple[AnyRule, ...]] = field(default_factory=dict)
    _holders: Mapping[str, frozenset[int]] = field(default_factory=dict)
    _keys: Mapping[str, str] = field(default_factory=dict)
    _names: Mapping[str, str] = field(default_factory=dict)

    def holders(self, name: str) -> frozenset[int]:
        """The ids of the users' rules that have a hidden relation."""
        return self._holders.get(name, frozenset())

    def with_rules(
        self, forms: Mapping[int, Form]
    ) -> tuple[HiddenRelations, Mapping[int, Form], list[AnyRule]]:
        """The hidden relations with those of more rules, by their ids; the rules' forms, which read
        hidden relations that are there where these are defined alike; and the normal rules that
        are new. O(their size), and dictionaries are copied.
        """
        change = _Change(self)
        made = {number: change.add(number, form) for number, form in forms.items()}
        return change.done(), made, change.new

    def without(self, number: int, normal: NormalizedRule) -> tuple[HiddenRelations, list[AnyRule]]:
        """The hidden relations without a rule, and its normal rules that go with it."""
        change = _Change(self)
        return change.done_without(number, normal)


class _Change:
    """More rules, or fewer."""

    def __init__(self, before: HiddenRelations):
        self.new: list[AnyRule] = []
        self._schemas, self._rules = dict(before.schemas), dict(before._rules)
        self._holders = dict[str, frozenset[int] | set[int]](before._holders)
        self._keys, self._names = dict(before._keys), dict(before._names)

    def done(self) -> HiddenRelations:
        holders = {name: frozenset(each) for name, each in self._holders.items()}
        return HiddenRelations(self._schemas, self._rules, holders, self._keys, self._names)

    def add(self, number: int, form: Form) -> Form:
        """Add a rule of the user. Its form."""
        normal, own = form.normal, dict[str, list[AnyRule]]()
        if not normal.hidden:
            self.new += normal.rules
            return Form(normal, {})
        for rule in normal.rules:
            own.setdefault(rule.relation, []).append(rule)
        names, made = dict[str, str](), dict[str, tuple[AnyRule, ...]]()
        alone = not _may_share(normal)
        for schema in normal.hidden:
            rules = [_reading(rule, names) for rule in own.pop(schema.name, ())]
            key = _key(schema, rules)
            name = schema.name if form.names is None else form.names.get(schema.name, schema.name)
            if form.names is None and not alone:
                name = self._names.get(key, name)
            if name != schema.name:
                names[schema.name] = name
            made[name] = self._held(number, name, key, schema, rules, shared=not alone)
        heads = [_reading(rule, names) for rules in own.values() for rule in rules]
        self.new += heads
        hidden = tuple(self._schemas[name] for name in made)
        rules = (*(rule for each in made.values() for rule in each), *heads)
        return Form(NormalizedRule(rules, hidden), names)

    def _held(
        self,
        number: int,
        name: str,
        key: str,
        schema: RelationSchema,
        rules: list[AnyRule],
        *,
        shared: bool,
    ) -> tuple[AnyRule, ...]:
        """Note that a rule has a hidden relation, which may be there. Its normal rules. Raises
        ValueError for the name of another one.
        """
        if name not in self._schemas:
            self._schemas[name] = schema if schema.name == name else replace(schema, name=name)
            self._rules[name] = tuple(
                rule if rule.relation == name else replace(rule, relation=name) for rule in rules
            )
            self._keys[name], self._holders[name] = key, set()
            self.new += self._rules[name]
            if shared:
                self._names.setdefault(key, name)
        elif self._keys[name] != key:
            raise ValueError(f"{name} is defined otherwise")
        holders = self._holders[name]
        if not isinstance(holders, set):
            holders = self._holders[name] = set(holders)
        holders.add(number)
        return self._rules[name]

    def done_without(
        self, number: int, normal: NormalizedRule
    ) -> tuple[HiddenRelations, list[AnyRule]]:
        kept = set[str]()
        for schema in normal.hidden:
            name = schema.name
            self._holders[name] = left = frozenset(self._holders[name]) - {number}
            if left:
                kept.add(name)
                continue
            key = self._keys.pop(name)
            if self._names.get(key) == name:
                del self._names[key]
            del self._schemas[name], self._rules[name], self._holders[name]
        return self.done(), [rule for rule in normal.rules if rule.relation not in kept]


def _may_share(normal: NormalizedRule) -> bool:
    """Test for hidden relations that others may have too: answers to questions and choices are of
    one rule, and so is what a cycle asks for.
    """
    if any(each.choice or each.asked_by for each in normal.hidden):
        return False
    return all(rule.relation != QUESTION for rule in normal.rules)


def _reading(rule: AnyRule, names: Mapping[str, str]) -> AnyRule:
    """The rule with other names for relations that it reads."""
    if not any(name in names for name in rule.reads):
        return rule
    if isinstance(rule, FunctorRule):
        return replace(rule, domain=names[rule.domain])
    atoms = tuple(
        replace(each, relation=names.get(each.relation, each.relation)) for each in rule.atoms
    )
    negated = tuple(
        replace(each, relation=names.get(each.relation, each.relation)) for each in rule.negated
    )
    return replace(rule, atoms=atoms, negated=negated)


def _key(schema: RelationSchema, rules: list[AnyRule]) -> str:
    """A digest of a definition, whatever rule it is of and its variables' names."""
    types = [type for _, type in schema.columns]
    text = repr((kind_of(schema.name), types, *map(_nameless, rules)))
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _nameless(rule: AnyRule) -> object:
    if isinstance(rule, FunctorRule):
        return replace(rule, source=0, relation="")
    nameless = replace(rule, source=0, relation="", variables=())
    return nameless, [variable.type for variable in rule.variables]
