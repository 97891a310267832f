# SPDX-License-Identifier: Apache-2.0
"""Recognition of strata that fall apart into independent fixpoints, one for each value of the
columns that recursion keeps.

T(x, z) :- T(x, y), E(y, z) never changes x: the rows with one x follow only from rows with that x,
and y changes by a step along the edges of E. All recursive rules of the stratum must have this
shape and change the same column. The literals that they join with T may not read the kept columns,
and must be small: one atom holds every variable, others and conditions that cannot fail only filter
it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from lftj.program.normal_form import (
    Filter,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    Value,
)
from lftj.scantree.frozen import frozen

Argument = Ref | Value | None


@frozen
class Decomposition:
    """Recursion changes the column `changing` of `relation`; `steps` are rules with the head (value
    before, value after). `transitive`: instead of these, the rows of iteration 0 are the steps.
    """

    relation: str
    changing: int
    steps: tuple[NormalRule, ...]
    transitive: bool = False


def decompose(names: Collection[str], rules: Iterable[NormalRule]) -> Decomposition | None:
    """Decompose a stratum of these relations into parts; None when it has none."""
    if len(names) != 1:
        return None
    (name,) = names
    steps = [_step(rule, name) for rule in rules if name in rule.reads]
    found = [step for step in steps if step is not None]
    changed = {column for column, _ in found}
    if len(found) < len(steps) or len(changed) != 1:
        return None
    return Decomposition(name, changed.pop(), tuple(rule for _, rule in found))


def walkable(names: Collection[str], rules: Sequence[NormalRule]) -> Decomposition | None:
    """A decomposition of a stratum for its rows alone: where T(x, z) :- T(x, y), T(y, z) is all
    that recursion does, T has a row from x for each node that steps of iteration 0 lead to from
    there.
    """
    found = decompose(names, rules)
    if found is not None or len(names) != 1:
        return found
    (name,) = names
    recursive = [rule for rule in rules if name in rule.reads]
    if len(recursive) == 1 and _transitive(recursive[0], name):
        return Decomposition(name, 1, (), transitive=True)
    return None


def _transitive(rule: NormalRule, name: str) -> bool:
    """Test for T(x, z) :- T(x, y), T(y, z) and nothing else."""
    bare = not (rule.negated or rule.filters or rule.assignments or rule.aggregates)
    if not bare or [atom.relation for atom in rule.atoms] != [name, name]:
        return False
    head = rule.head_in(name).args
    if len(head) != 2 or len(_variables(head)) != 2:
        return False
    (x, y), (z, w) = (atom.args for atom in rule.atoms)
    return len(_variables((x, y, z, w))) == 3 and (
        (y == z and head == (x, w)) or (x == w and head == (z, y))
    )


_Step = tuple[int, NormalRule] | None
"""The column that a recursive rule changes, and the rule for its steps."""
_steps: dict[int, tuple[NormalRule, _Step]] = {}
"""The steps of rules by their identities: each commit asks for them several times, and hashing a
rule takes as long as looking at it.
"""
_REMEMBERED = 1_000


def _step(rule: NormalRule, name: str) -> _Step:
    """The step of a recursive rule of the stratum that derives `name`; None where it has none."""
    known = _steps.get(id(rule))
    if known is None:
        if len(_steps) >= _REMEMBERED:
            _steps.clear()
        known = _steps[id(rule)] = rule, _found_step(rule, name)
    return known[1]


def _found_step(rule: NormalRule, name: str) -> _Step:
    recursive = [atom for atom in rule.atoms if atom.relation == name]
    if len(recursive) != 1 or rule.assignments or rule.aggregates:
        return None
    old, new = recursive[0].args, rule.head_in(name).args
    changed = [
        column
        for column, (before, after) in enumerate(zip(old, new, strict=True))
        if before != after
    ]
    if len(changed) != 1 or len(_variables(old)) < len(old) or len(set(new)) < len(new):
        return None
    column = changed[0]
    rest = tuple(atom for atom in rule.atoms if atom.relation != name)
    ends = {old[column], new[column]}
    used = set().union(
        ends,
        *(_variables(part.args) for part in (*rest, *rule.negated)),
        *(_compared(each) for each in rule.filters),
    )
    if used & (_variables(old) - ends) or not any(used <= _variables(atom.args) for atom in rest):
        return None
    return column, _renumbered(rule, rest, (old[column], new[column]))


def _variables(args: Iterable[Argument]) -> set[Argument]:
    return {argument for argument in args if isinstance(argument, Ref)}


def _compared(condition: Filter) -> set[Argument]:
    """The variables of a comparison; None is among them when there is arithmetic, which may fail
    for rows that recursion never reaches.
    """
    sides = (condition.left, condition.right)
    return {
        side if isinstance(side, Ref) else None for side in sides if not isinstance(side, Value)
    }


def _renumbered(
    rule: NormalRule, rest: tuple[PositiveAtom, ...], head: tuple[Argument, ...]
) -> NormalRule:
    """The rule `head :- rest` and the conditions of `rule`, over the variables that are left."""
    kept = sorted(
        {argument.variable for atom in rest for argument in atom.args if isinstance(argument, Ref)}
    )
    number = {old: Ref(new) for new, old in enumerate(kept)}

    def moved(argument: Any) -> Any:
        return number[argument.variable] if isinstance(argument, Ref) else argument

    return replace(
        rule,
        lead=None,
        head=tuple(map(moved, head)),
        variables=tuple(rule.variables[old] for old in kept),
        atoms=tuple(PositiveAtom(atom.relation, tuple(map(moved, atom.args))) for atom in rest),
        negated=tuple(
            NegatedAtom(atom.relation, tuple(map(moved, atom.args))) for atom in rule.negated
        ),
        filters=tuple(
            Filter(each.operator, moved(each.left), moved(each.right)) for each in rule.filters
        ),
    )
