"""Variable orders for the join that the planner would not choose."""

from __future__ import annotations

import random
from typing import Any

from lftj.program.normal_form import Apply, Expression, NormalRule, Ref


def force_order(workspace: Any, handle: Any, by: random.Random) -> None:
    """Evaluate a rule, and what normalisation made of it, by a random variable order from now on.

    What is only computed follows the variables it is computed from, as in every order of the
    planner's.
    """
    source = workspace._backend.state.program.sources[handle.source]
    workspace._backend.orders[handle.source] = random_order(
        [rule for rule in source.normal.rules if isinstance(rule, NormalRule)], by
    )


def random_order(rules: list[NormalRule], by: random.Random) -> tuple[str, ...]:
    """All variable names of these rules: those that atoms bind in every rule shuffled, then the
    computed ones by dependence.

    Without `_` and the like, which are no one variable's name; the engine puts these last.
    """
    inputs: dict[str, set[str]] = {}
    names: dict[str, None] = {}
    for rule in rules:
        own = [variable.name for variable in rule.variables]
        names |= dict.fromkeys(own)
        bound = {
            own[arg.variable] for atom in rule.atoms for arg in atom.args if isinstance(arg, Ref)
        }
        for assignment in rule.assignments:
            if own[assignment.variable] not in bound:
                inputs.setdefault(own[assignment.variable], set()).update(
                    own[number] for number in _read_by(assignment.expression)
                )
    free = [name for name in names if name not in inputs]
    order = (*by.sample(free, len(free)), *_after_inputs(inputs))
    return tuple(name for name in order if not name.startswith("_"))


def _read_by(expression: Expression) -> set[int]:
    if isinstance(expression, Ref):
        return {expression.variable}
    return (
        {number for arg in expression.args for number in _read_by(arg)}
        if isinstance(expression, Apply)
        else set()
    )


def _after_inputs(inputs: dict[str, set[str]]) -> list[str]:
    found: list[str] = []
    while len(found) < len(inputs):
        found.append(
            next(
                name
                for name in inputs
                if name not in found and inputs[name] & inputs.keys() <= {*found, name}
            )
        )
    return found
