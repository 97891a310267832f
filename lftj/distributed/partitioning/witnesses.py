# SPDX-License-Identifier: Apache-2.0
"""Witnesses: beside each best value of a stratum in supersteps, the derivation by which its group
took it.

A group takes a value from rows that have theirs already, so witnesses never lead in a circle: what
they rest on was taken earlier. So a deletion concerns those groups alone whose own derivation is
lost, not all that have one as good among those that are (decision 012). A witness is the number of
the rule, and all groups of the stratum that it read: derivations that agree in these rest on the
same rows of the stratum, so each may stand for the other. They are columns behind the value, of a
relation beside the user's, which the rules then derive and read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from lftj.distributed.partitioning.partition_keys import Placement, rules_of
from lftj.program import (
    Assignment,
    Lattice,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    RuleVariable,
    Stratum,
    Value,
)
from lftj.scantree import PAGE_COLUMNS, frozen
from lftj.types import INT, Dictionary, Role, Source, Type, decode_scalar


@frozen
class Witnessed:
    """A stratum whose relations have witnesses, with all that is said of these, by their names.
    `plain`: the user's relations.
    """

    stratum: Stratum
    schemas: Mapping[str, RelationSchema]
    placements: Mapping[str, Placement]
    lattices: Mapping[str, Lattice]
    plain: Mapping[str, str]


def witnessed(
    stratum: Stratum,
    found: Mapping[str, Lattice],
    schemas: Mapping[str, RelationSchema],
    placements: Mapping[str, Placement],
) -> Witnessed | None:
    """A stratum in supersteps, whose best values are attained and whose lattices are these, with
    witnesses; None for one without.

    Each of its relations must keep one value per group, and be held in one cut: who holds a row in
    another one would have to learn from which of several equal offers it was taken.
    """
    single = all(
        len(placements[name].cuts) == 1 and placements[name].cuts[0] >= 0
        for name in stratum.relations
    )
    if found.keys() != set(stratum.relations) or not single:
        return None
    renaming = _Renaming(stratum, schemas, found)
    if any(renaming.schema(name).arity > PAGE_COLUMNS for name in stratum.relations):
        return None
    rules = [
        renaming.rule(rule, number)
        for name in stratum.relations
        for number, rule in enumerate(renaming.rules_of(name))
    ]
    return Witnessed(
        Stratum(tuple(map(_witness, stratum.relations)), tuple(rules), stratum.recursive),
        {_witness(name): renaming.schema(name) for name in found},
        {_witness(name): placements[name] for name in found},
        {
            _witness(name): replace(lattice, riding=1 + len(renaming.types[name]))
            for name, lattice in found.items()
        },
        {_witness(name): name for name in found},
    )


def _witness(relation: str) -> Source:
    return Source(relation, Role.WITNESSED)


class _Renaming:
    """The rules over relations with witnesses. `types`: per relation those of the columns behind
    the number of the rule.
    """

    def __init__(
        self, stratum: Stratum, schemas: Mapping[str, RelationSchema], found: Mapping[str, Lattice]
    ):
        self._stratum, self._schemas, self._found = stratum, schemas, found
        self.types = {name: self._columns(name) for name in stratum.relations}

    def schema(self, name: str) -> RelationSchema:
        """As the user's, and the witness, in columns that no user's is called as. What determines
        what is checked in the user's.
        """
        said = (
            (Source("rule", Role.HIDDEN), INT),
            *(
                (Source(str(number), Role.HIDDEN), type)
                for number, type in enumerate(self.types[name])
            ),
        )
        return RelationSchema(_witness(name), (*self._schemas[name].columns, *said))

    def rules_of(self, name: str) -> list[NormalRule]:
        """Rules of one relation, in their order, as they were."""
        return [rule for rule in rules_of(self._stratum, name) if isinstance(rule, NormalRule)]

    def _columns(self, name: str) -> tuple[Type, ...]:
        """As many of each type as some rule has."""
        most: Counter[Type] = Counter()
        for rule in self.rules_of(name):
            most |= Counter(rule.variables[variable].type for variable in self._read(rule))
        return tuple(type for type in sorted(most, key=str) for _ in range(most[type]))

    def _read(self, rule: NormalRule) -> list[int]:
        """The variables that tell which groups of the stratum a rule read, beside those that its
        own group tells.
        """
        grouped = set(rule.group)
        found: dict[int, None] = {}
        for atom in rule.atoms:
            if atom.relation in self._found:
                group = (
                    term
                    for column, term in enumerate(atom.args)
                    if column != self._found[atom.relation].column
                )
                found |= dict.fromkeys(
                    term.variable
                    for term in group
                    if isinstance(term, Ref) and term.variable not in grouped
                )
        return list(found)

    def rule(self, rule: NormalRule, number: int) -> NormalRule:
        """The same with witnesses, under this number. Variables keep theirs."""
        variables = list(rule.variables)

        def new(type: Type) -> Ref:
            variables.append(RuleVariable(f"_!{len(variables)}", type))
            return Ref(len(variables) - 1)

        def reading(atom: PositiveAtom) -> PositiveAtom:
            if atom.relation not in self._found:
                return atom
            return PositiveAtom(
                _witness(atom.relation), (*atom.args, *map(new, (INT, *self.types[atom.relation])))
            )

        atoms = tuple(map(reading, rule.atoms))
        says = self._said(rule, number)
        head = tuple(new(type) for type in (INT, *self.types[rule.relation]))
        assigned = tuple(
            Assignment(term.variable, said) for term, said in zip(head, says, strict=True)
        )
        return replace(
            rule,
            relation=_witness(rule.relation),
            head=(*rule.head, *head),
            variables=tuple(variables),
            atoms=atoms,
            assignments=(*rule.assignments, *assigned),
        )

    def _said(self, rule: NormalRule, number: int) -> list[Ref | Value]:
        """Terms of a rule's rows for the columns of the witness."""
        waiting: dict[Type, list[int]] = {type: [] for type in self.types[rule.relation]}
        for variable in self._read(rule):
            waiting[rule.variables[variable].type].append(variable)
        each = (
            Ref(waiting[type].pop(0)) if waiting[type] else _nothing(type)
            for type in self.types[rule.relation]
        )
        return [Value(number, INT), *each]


def _nothing(type: Type) -> Value:
    """Filler for a rule that has fewer terms than another."""
    return Value("" if type.name == "str" else decode_scalar(type, 0, Dictionary()), type)
