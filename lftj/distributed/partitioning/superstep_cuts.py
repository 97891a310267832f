# SPDX-License-Identifier: Apache-2.0
"""Recursion in supersteps: by which variables its rules are cut, and in which cuts parts have to
hold what they derive.

A rule is cut by a leading variable like any other. An atom of the stratum's own that holds it in
some column is read in a cut by that column, so each row that a part derives goes to the part that
needs it there, for every cut in which some rule reads its relation: in tc(x, z) :- tc(x, y), tc(y,
z). led by y, to the part of its first value and to the part of its second. Atoms without the
leading variable are read whole, and what is derived goes to all parts. Each part closes what it
holds, tells the others, and goes on with what it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from lftj.distributed.partitioning.cuts import ALL, ONE, Cut, local_name
from lftj.distributed.partitioning.partition_keys import (
    Lead,
    Placement,
    home_columns,
    leading,
    rules_of,
)
from lftj.program import (
    AggregateTerm,
    Lattice,
    NormalRule,
    PositiveAtom,
    Ref,
    RuleVariable,
    StratifiedProgram,
    Stratum,
    lattices,
)
from lftj.types import Role, Source

_COPY, _EVERYWHERE, _ABROAD, _SUPERSTEPS = 3, 100, 1, 1000  # only the order of these matters

Reading = Callable[[NormalRule, int], int]
"""Cost of reading a rule's atoms when this variable leads."""


def exchanged(
    stratum: Stratum, program: StratifiedProgram, reading: Reading
) -> tuple[int, dict[str, Placement]] | None:
    """Placement of a recursive stratum that is derived in supersteps, and its cost.

    None for one with string functors or with aggregates that do not keep one value per group, which
    the language has no room for now, and for one with choice: its accepted rows depend on the
    iteration in which all candidates are found.
    """
    if any(program.relations[name].choice for name in stratum.relations):
        return None
    found = lattices(stratum.rules)
    rules = [rule for rule in stratum.rules if isinstance(rule, NormalRule)]
    if len(rules) < len(stratum.rules) or any(
        rule.aggregates and rule.relation not in found for rule in rules
    ):
        return None
    search = _Search(stratum, found, reading)
    for rule in rules:
        search.rule(rule)
    leads = dict(zip(map(id, rules), search.leads, strict=True))
    placed: dict[str, Placement] = {}
    for name, cuts in search.cuts.items():
        homes = [
            column
            for column in home_columns(program.relations[name])
            if name not in found or column != found[name].column
        ]
        home = next((cut for cut in cuts if cut in homes), homes[0] if homes else ONE)
        own = tuple(leads[id(rule)] for rule in rules_of(stratum, name))
        placed[name] = Placement(home, own, cuts=tuple(dict.fromkeys((home, *cuts))))
    return search.cost + _SUPERSTEPS, placed


def own_cut(atom: PositiveAtom, lead: Lead, cuts: Sequence[int]) -> int:
    """The cut in which an atom of the stratum's own is read: one of `cuts` by a column with the
    leading variable, else ALL.
    """
    return next((cut for cut in cuts if cut >= 0 and atom.args[cut] == _ref(lead)), ALL)


def asked_cut(rule: NormalRule, lead: Lead, cuts: Sequence[int]) -> int:
    """A cut of the rule's head, if that can be one of `cuts`, in which each row lies in all parts
    where the rule may derive it.
    """
    if lead is None:
        return cuts[0]  # all parts derive the same
    columns = [column for column, term in enumerate(rule.head) if term == _ref(lead)]
    return next((column for column in columns if column in cuts), columns[0] if columns else ALL)


def asking(
    rule: NormalRule,
    lead: Lead,
    cuts: Mapping[str, Sequence[int]],
    below: Mapping[str, Iterable[Cut]],
) -> NormalRule | None:
    """A rule, over local names, for the values of the leading variable under which rows that may be
    lost had derivations by a rule.

    None where not all parts would be asked without it, or no atom tells them in the part of such a
    row: one that has the leading variable, and lies in some cut by a variable of the head, by which
    the row lies as well. `cuts`: of the stratum's own, `below`: of the others.
    """
    homes = cuts[rule.relation]
    if not isinstance(lead, int) or asked_cut(rule, lead, homes) != ALL or ALL in homes:
        return None
    for atom in rule.atoms:
        for cut in (
            (cuts.get(atom.relation) or below.get(atom.relation, ()))
            if Ref(lead) in atom.args
            else ()
        ):
            by = atom.args[cut] if isinstance(cut, int) and cut >= 0 else None
            column = next(
                (column for column in homes if column >= 0 and rule.head[column] == by), None
            )
            if column is not None:
                row = _row(rule, local_name(Source(rule.relation, Role.GONE), column))
                return _over(
                    (row, replace(atom, relation=local_name(atom.relation, cut))), lead, rule
                )
    return None


def _row(rule: NormalRule, relation: str) -> PositiveAtom:
    """The atom that finds a row of the head in a relation of the same columns: of a group whatever
    its value is.
    """
    return PositiveAtom(
        relation,
        tuple(term if isinstance(term, Ref) else Ref(len(rule.variables)) for term in rule.head),
    )


def _over(atoms: tuple[PositiveAtom, ...], variable: int, rule: NormalRule) -> NormalRule:
    """The values of a variable in some atoms that have the variables of a rule."""
    used = list(
        dict.fromkeys(
            term.variable for atom in atoms for term in atom.args if isinstance(term, Ref)
        )
    )
    terms = [
        tuple(
            Ref(used.index(term.variable)) if isinstance(term, Ref) else term for term in atom.args
        )
        for atom in atoms
    ]
    renamed = tuple(replace(atom, args=args) for atom, args in zip(atoms, terms, strict=True))
    value = [RuleVariable("_", term.type) for term in rule.head if isinstance(term, AggregateTerm)]
    variables = (*rule.variables, *value)
    return NormalRule(
        rule.source,
        "",
        (Ref(used.index(variable)),),
        tuple(variables[each] for each in used),
        renamed,
    )


def _ref(lead: Lead) -> Ref | None:
    return Ref(lead) if isinstance(lead, int) else None


class _Search:
    """Takes the rules one after the other, each with the leading variable that costs least beside
    those before.
    """

    def __init__(self, stratum: Stratum, found: dict[str, Lattice], reading: Reading):
        self.cuts: dict[str, list[int]] = {name: [] for name in stratum.relations}
        self.leads: list[int | None] = []
        self.cost = 0
        self._found = found
        self._reading = reading

    def rule(self, rule: NormalRule) -> None:
        options = [(self._cost(rule, lead), lead) for lead in leading(rule)]
        cost, lead = min(options, default=(0, None))
        self.cost += cost
        self.leads.append(lead)
        for atom in rule.atoms:
            if atom.relation in self.cuts:
                cuts, cut = self.cuts[atom.relation], self._cut(atom, lead)
                if cut not in cuts:
                    cuts.append(cut)

    def _cut(self, atom: PositiveAtom, lead: int | None) -> int:
        """One that there is already, else a new one; never by a value that changes while supersteps
        go on.
        """
        known = own_cut(atom, lead, self.cuts[atom.relation])
        moving = self._found[atom.relation].column if atom.relation in self._found else None
        columns = [
            column
            for column, term in enumerate(atom.args)
            if term == _ref(lead) and column != moving
        ]
        return columns[0] if known == ALL and columns else known

    def _cost(self, rule: NormalRule, lead: int) -> int:
        own = [atom for atom in rule.atoms if atom.relation in self.cuts]
        cost = self._reading(_without(rule, own), lead)
        for atom in own:
            cut = self._cut(atom, lead)
            cost += _EVERYWHERE if cut == ALL else 0 if cut in self.cuts[atom.relation] else _COPY
        return cost + (0 if Ref(lead) in rule.head else _ABROAD)


def _without(rule: NormalRule, own: list[PositiveAtom]) -> NormalRule:
    return replace(rule, atoms=tuple(atom for atom in rule.atoms if atom not in own))
