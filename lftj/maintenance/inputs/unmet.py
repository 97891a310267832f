# SPDX-License-Identifier: Apache-2.0
"""Changes that meet nothing: rows that came or went below a recursive stratum, and join none of its
rows.

Many recursive questions may stand over one relation, as which nodes are reached from each of a
thousand. At most commits most of them have nothing to do with what changed. An instantiation of a
rule that came or went has a changed row, and rows of all other atoms, of the stratum itself as it
was before [DRed]: where one of these atoms has none that goes with the changed row, there is no
such instantiation, and where no rule has any the stratum stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import NegatedAtom, NormalRule, PositiveAtom, Ref, Value
from lftj.scantree import after_prefix
from lftj.scantree.frozen import found_once
from lftj.storage.relation import RelationVersion
from lftj.types import Interning, lookup_scalar

_LOOKED_UP = 8
"""Changed rows of a relation that are looked up one by one: more are sooner joined."""


class _Partner(NamedTuple):
    """Another atom: where the value for each of these columns stands in the changed row."""

    relation: str
    values: dict[int, int]


class _Changing(NamedTuple):
    """An atom that may change: the columns that must hold a constant, and the other atoms."""

    relation: str
    constants: Sequence[tuple[int, Value]]
    partners: Sequence[_Partner]


def meets_nothing(rule: NormalRule, versions: Versions, dictionary: Interning) -> bool:
    """Test for changes of which no row joins the rows of the rule's other atoms. False where that
    is not told by some look-ups, as of many rows, or where no key order is at hand.

    O(atoms · changed rows · log rows).
    """
    for changing in _changing(rule):
        delta = versions.deltas.get(changing.relation)
        if delta is None:
            continue
        if len(delta) > _LOOKED_UP:
            return False
        constants = [
            (column, lookup_scalar(value.type, value.value, dictionary))
            for column, value in changing.constants
        ]
        for columns in (delta.inserts, delta.erases):
            for row in zip(*[column.tolist() for column in columns], strict=True):
                if all(row[column] == code for column, code in constants) and not any(
                    _lacks(partner, row, versions) for partner in changing.partners
                ):
                    return False
    return True


@found_once
def _changing(rule: NormalRule) -> Sequence[_Changing]:
    atoms = (*rule.atoms, *rule.negated)
    return [
        _Changing(atom.relation, tuple(rule.constants(atom)), tuple(_partners(number, rule)))
        for number, atom in enumerate(atoms)
    ]


def _partners(number: int, rule: NormalRule) -> Iterator[_Partner]:
    """The other atoms that are not negated."""
    place = {
        arg.variable: column
        for column, arg in enumerate((*rule.atoms, *rule.negated)[number].args)
        if isinstance(arg, Ref)
    }
    for other, atom in enumerate(rule.atoms):
        if other != number:
            yield _Partner(atom.relation, dict(_values(atom, place)))


def _values(atom: PositiveAtom | NegatedAtom, place: dict[int, int]) -> Iterator[tuple[int, int]]:
    for column, arg in enumerate(atom.args):
        if isinstance(arg, Ref) and arg.variable in place:
            yield column, place[arg.variable]


def _lacks(partner: _Partner, row: Sequence[int], versions: Versions) -> bool:
    """Tell that a relation has no row that goes with a changed one, and had none before."""
    relation = partner.relation
    if not _none(versions[relation], partner.values, row):
        return False
    return relation not in versions.deltas or _none(versions.before(relation), partner.values, row)


def _none(version: RelationVersion, values: dict[int, int], row: Sequence[int]) -> bool:
    if not version.count:
        return True
    width = len(values)
    for order in version.orders() if width else ():
        first = order[:width]
        if values.keys() == set(first) and version.at_hand(order):
            key = [row[values[column]] for column in first]
            return version.tree(order).positions(key, after_prefix(key))[2] == 0
    return False
