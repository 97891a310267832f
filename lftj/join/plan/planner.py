# SPDX-License-Identifier: Apache-2.0
"""Planner: from a conjunctive rule to a `plan`. It chooses a variable order and lays out the
levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from lftj.join.plan.cardinality import Statistics
from lftj.join.plan.index_upkeep import Upkeep
from lftj.join.plan.order_choice import Choice, OrderSearch
from lftj.join.plan.order_costs import EVEN, KEPT_ORDER, NEW_ORDER, Crowds
from lftj.join.plan.plan import Level, PlannedAtom, PlannedProbe, RulePlan
from lftj.join.plan.variable_orders import variables_of
from lftj.program.normal_form import (
    Expression,
    Filter,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    Value,
    not_null,
)
from lftj.storage.relation import Order, RelationVersion
from lftj.types import INT

_ZERO = Value(0, INT)


def make_plan(
    rule: NormalRule,
    needed: Iterable[int],
    relations: Mapping[str, RelationVersion],
    statistics: Statistics,
    *,
    count: bool,
    forced: tuple[str, ...] | None = None,
    lasting: bool = False,
    upkeep: Upkeep | None = None,
    keeping: bool = False,
) -> RulePlan:
    """Choose an order and lay out the levels. `needed` are the variables whose values come out, in
    that order.

    `count`: rows carry the number of proofs; otherwise the search below `emit_level` stops at the
    first proof. `forced` is a variable order by name. A `lasting` plan runs at many commits, so key
    orders that do not exist yet cost it little: they are built once. With `upkeep` it counts what
    commits do for them. `keeping`: as of `OrderSearch`.
    """
    needed = tuple(needed)
    if forced is None or lasting:
        building = KEPT_ORDER if lasting else NEW_ORDER
        choice = choose_order(
            rule,
            needed,
            relations,
            statistics,
            building=building,
            upkeep=upkeep,
            counting=count,
            keeping=keeping,
        )
    else:
        choice = _forced(rule, forced)
    return lay_out(rule, choice, needed, relations, count=count)


def choose_order(
    rule: NormalRule,
    needed: Iterable[int],
    relations: Mapping[str, RelationVersion],
    statistics: Statistics,
    *,
    building: float = NEW_ORDER,
    upkeep: Upkeep | None = None,
    counting: bool = True,
    crowds: Crowds = EVEN,
    keeping: bool = False,
) -> Choice:
    """The variable order for the values of `needed`, as `make_plan` chooses it. `building`,
    `counting`, `crowds`, `keeping`: as of `OrderSearch`.
    """
    about, orders = (
        (lambda name: statistics.of(relations[name])),
        (lambda name: relations[name].orders()),
    )
    return OrderSearch(
        rule,
        about,
        orders,
        frozenset(needed),
        building,
        upkeep,
        counting,
        crowds,
        keeping,
        statistics.tuning,
    ).choose()


def lay_out(
    rule: NormalRule,
    choice: Choice,
    needed: tuple[int, ...],
    relations: Mapping[str, RelationVersion],
    *,
    count: bool,
    least: bool = False,
) -> RulePlan:
    """The plan for a variable order that is chosen already. `least`: as of `RulePlan`, where the
    order begins with what is needed.
    """
    levels, place = _levels(rule, choice.order)
    atoms = [_plan_atom(atom, levels, place) for atom in rule.atoms]
    valued = _valued(rule, atoms, place)
    atoms = [replace(a, valued=True) if a.levels[0] in valued else a for a in atoms]
    _place_computed(rule, levels, place)
    probes = tuple(_plan_probe(atom, relations[atom.relation]) for atom in rule.negated)
    for number, atom in enumerate(rule.negated):
        levels[_last(place, (a for a in atom.args if a is not None))].probes.append(number)
    for condition in rule.filters:
        if (tested := not_null(condition)) is None or place[tested] not in valued:
            levels[_last(place, (condition.left, condition.right))].filters.append(condition)
    outputs = tuple([place[v] for v in needed])
    return RulePlan(
        rule,
        choice,
        tuple(levels),
        tuple(atoms),
        probes,
        max(outputs, default=-1) + 1,
        outputs,
        count,
        least,
    )


def _valued(rule: NormalRule, atoms: Iterable[PlannedAtom], place: Mapping[int, int]) -> set[int]:
    """The levels without NULL at which an atom begins, which is not read where it has NULL."""
    tested = {place[v] for test in rule.filters if (v := not_null(test)) is not None}
    return tested & {atom.levels[0] for atom in atoms}


def _forced(rule: NormalRule, names: tuple[str, ...]) -> Choice:
    """The order by these names, the variables that are not named last. ValueError when it cannot
    be.
    """
    number = {variable.name: i for i, variable in enumerate(rule.variables)}
    for name in names:
        if sum(variable.name == name for variable in rule.variables) > 1:
            raise ValueError(f"{name!r} in a forced order names several variables")
    order = [number[name] for name in names if name in number]
    order += [v for v in range(len(rule.variables)) if v not in order]
    known = {term.variable for atom in rule.atoms for term in atom.args if isinstance(term, Ref)}
    for place, variable in enumerate(order):
        inputs = [variables_of(a.expression) for a in rule.assignments if a.variable == variable]
        if variable not in known and not any(read <= set(order[:place]) for read in inputs):
            raise ValueError(
                f"the forced order puts {rule.variables[variable].name!r} before what it is "
                f"computed from"
            )
    return Choice(tuple(order), 0.0, ())


def _last(place: Mapping[int, int], expressions: Iterable[Expression]) -> int:
    """The first level at which all of these have a value."""
    return max((place[v] for e in expressions for v in variables_of(e)), default=0)


def _constants(rule: NormalRule) -> list[Value]:
    """The constants among the arguments of positive atoms, once per occurrence within an atom.

    A nullary atom's single stored column counts as the constant 0.
    """
    found: list[Value] = []
    for atom in rule.atoms:
        mine = [argument for argument in atom.args or (_ZERO,) if isinstance(argument, Value)]
        for value in mine:
            # as many levels as the atom that has this constant most often needs
            missing = sum(_same(other, value) for other in mine) - sum(
                _same(other, value) for other in found
            )
            found += [value] * missing
    return found


def _levels(rule: NormalRule, order: Order) -> tuple[list[Level], dict[int, int]]:
    """The levels and the level of each variable: constants, then the variables, each followed by
    its repeated occurrences.
    """
    levels = [Level(f"={value.value}", None, value) for value in _constants(rule)]
    place: dict[int, int] = {}
    again = _repetitions(rule)
    for variable in order:
        place[variable] = len(levels)
        name = rule.variables[variable].name
        levels.append(Level(name, variable))
        levels += [Level(f"={name}", None, Ref(variable)) for _ in range(again.get(variable, 0))]
    if not levels:
        levels.append(Level("=true", None, _ZERO))
    return levels, place


def _repetitions(rule: NormalRule) -> dict[int, int]:
    """Number of further occurrences of each variable in the atom that has it most often, where any
    does.
    """
    again: dict[int, int] = {}
    for atom in rule.atoms:
        variables = [argument.variable for argument in atom.args if isinstance(argument, Ref)]
        if len(variables) > 1 and len(set(variables)) < len(variables):
            for variable in variables:
                again[variable] = max(again.get(variable, 0), variables.count(variable) - 1)
    return again


def _plan_atom(atom: PositiveAtom, levels: list[Level], place: Mapping[int, int]) -> PlannedAtom:
    at: list[tuple[int, int]] = []
    seen: dict[int, int] = {}
    for column, argument in enumerate(atom.args or (_ZERO,)):
        if isinstance(argument, Ref):
            occurrence = seen.get(argument.variable, 0)
            seen[argument.variable] = occurrence + 1
            at.append((place[argument.variable] + occurrence, column))
        else:
            taken = {level for level, _ in at}
            at.append(
                (
                    next(
                        i
                        for i, level in enumerate(levels)
                        if i not in taken and _same(level.value, argument)
                    ),
                    column,
                )
            )
    at.sort()
    return PlannedAtom(
        atom.relation, tuple([column for _, column in at]), tuple([level for level, _ in at])
    )


def _same(left: Expression | None, right: Expression) -> bool:
    return (
        isinstance(left, Value)
        and isinstance(right, Value)
        and left.type == right.type
        and repr(left.value) == repr(right.value)
    )


def _place_computed(rule: NormalRule, levels: list[Level], place: Mapping[int, int]) -> None:
    """Assignments: the first whose inputs come earlier gives its variable's level a value; any
    other is a filter at its last level.
    """
    for assignment in rule.assignments:
        level = levels[place[assignment.variable]]
        inputs = variables_of(assignment.expression)
        if level.value is None and all(place[v] < place[assignment.variable] for v in inputs):
            level.value = assignment.expression
            continue
        condition = Filter("=", Ref(assignment.variable), assignment.expression)
        levels[_last(place, (condition.left, condition.right))].filters.append(condition)


def _plan_probe(atom: NegatedAtom, relation: RelationVersion) -> PlannedProbe:
    """Look-up columns first, as an existing key order has them, else ascending: any order of a
    prefix serves [Subotić 2018].
    """
    arity = max(1, len(atom.args))
    args = atom.args or (_ZERO,)
    bound = frozenset(column for column, argument in enumerate(args) if argument is not None)
    fitting = (order for order in relation.orders() if frozenset(order[: len(bound)]) == bound)
    order = next(fitting, (*sorted(bound), *(c for c in range(arity) if c not in bound)))
    return PlannedProbe(
        atom.relation,
        order,
        tuple(arg for c in order[: len(bound)] if (arg := args[c]) is not None),
    )


# Plans whose variable order begins with a group, so that its rows lie side by side, or one of them
# is first.


def plan_behind(
    rule: NormalRule,
    group: tuple[int, ...],
    needed: tuple[int, ...],
    relations: Mapping[str, RelationVersion],
    statistics: Statistics,
    *,
    least: bool = False,
) -> RulePlan | None:
    """The plan in the cheapest order that begins with the variables of the group; None where none
    does. It counts all proofs.

    With `least`, as of `RulePlan`, the last of `needed` comes behind the group, and the search
    stops at the first proof.
    """
    about, orders = (
        (lambda name: statistics.of(relations[name])),
        (lambda name: relations[name].orders()),
    )
    search = OrderSearch(
        rule, about, orders, frozenset(needed), counting=not least, tuning=statistics.tuning
    )
    choice = search.choose_behind(group, *(needed[-1:] if least else ()))
    return (
        None
        if choice is None
        else lay_out(rule, choice, needed, relations, count=not least, least=least)
    )


def begins_with(group: tuple[int, ...], plan: RulePlan) -> bool:
    """Test for a plan in which no variable stands before these levels, so that rows of one group
    lie side by side.
    """
    before = range(max(group) + 1) if group else ()
    return bool(group) and all(
        plan.levels[level].variable is None or level in group for level in before
    )
