# SPDX-License-Identifier: Apache-2.0
"""Over-deletion: the rows of a recursive stratum that may have lost a derivation, as a recursive
program of its own [DRed].

A row may have lost one if a derivation of it, among the rows before the commit, used a deleted row,
a row that may have lost one itself, or the absence of an inserted row. So there is a rule for each
atom of each rule: its head and that atom are over lost rows; its other atoms, and its negated ones,
read relations as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import NegatedAtom, NormalRule, PositiveAtom, RelationSchema
from lftj.scantree import Arena
from lftj.storage.database import base_name
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.types.sources import Role, Source, named_once


@named_once
def deleted_name(relation: str) -> Source:
    """The name for the rows that a relation lost."""
    return Source(relation, Role.DELETED)


def lost_name(name: str, given: Collection[str]) -> str:
    """The name for what a relation lost that rules read; `given`: the names of rows that are given
    to relations of the stratum.
    """
    if isinstance(name, Source) and name in given:
        return base_name(deleted_name(name.name))
    return deleted_name(name)


def over_deleting(rule: NormalRule, head: str, lost: Callable[[str], str]) -> Iterator[NormalRule]:
    """The rules by which rows of a rule's head may have lost a derivation; `lost` names what a
    relation of its body may have lost.
    """
    for number, atom in enumerate(rule.atoms):
        went = PositiveAtom(lost(atom.relation), atom.args)
        yield replace(
            rule, relation=head, atoms=(*rule.atoms[:number], went, *rule.atoms[number + 1 :])
        )
    for atom in rule.negated:
        yield replace(rule, relation=head, atoms=(atom.bound_in(appeared_name(atom)), *rule.atoms))


def takes_and_adds(
    rules: Iterable[NormalRule], own: Collection[str], changed: Mapping[str, Delta]
) -> tuple[bool, bool]:
    """Test if changes of the rules' inputs, and of their `own` rows below, may have taken derived
    rows away, and if they may have added some.
    """
    rules = list(rules)
    negated = {atom.relation for rule in rules for atom in rule.negated}
    others = {atom.relation for rule in rules for atom in rule.atoms}.union(own)
    came = {name for name, delta in changed.items() if delta.inserted}
    went = {name for name, delta in changed.items() if delta.erased}
    return bool(others & went or negated & came), bool(others & came or negated & went)


def taken_below(
    rules: Iterable[NormalRule],
    lost: Callable[[str], str],
    changed: Mapping[str, Delta],
    versions: Versions,
    arena: Arena,
) -> dict[str, RelationVersion]:
    """Inputs of the rules of `over_deleting` that `changed` below: rows that went, and values that
    came to be where a rule negates them.
    """
    found: dict[str, RelationVersion] = {}
    for name, delta in changed.items():
        if delta.erased:
            found[lost(name)] = TransientRelation(versions[name].schema, arena, delta.erases)
    for atom in (atom for rule in rules for atom in rule.negated if atom.relation in changed):
        bound, columns = atom.bound_columns, versions[atom.relation].schema.columns
        schema = RelationSchema(appeared_name(atom), tuple(columns[column] for column in bound))
        found[schema.name] = TransientRelation(
            schema, arena, versions.presence(atom.relation, bound).inserts
        )
    return found


def keep_orders(
    names: Iterable[str], old: Mapping[str, RelationVersion], now: Mapping[str, RelationVersion]
) -> None:
    """Give the present versions the key orders in which old versions were read: the next commit
    reads the same and finds the orders there.
    """
    for name in names:
        for order in old[name].orders():
            if order not in now[name].orders():
                now[name].tree(order)


def appeared_name(atom: NegatedAtom) -> Source:
    """The name for the values of an atom's bound columns that came to be there."""
    return Source(atom.relation, Role.APPEARED, atom.bound_columns)
