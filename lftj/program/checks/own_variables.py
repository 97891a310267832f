# SPDX-License-Identifier: Apache-2.0
"""Variables of an aggregate's braces that nothing but its own result binds outside: there they are
others.

In `last(to) :- to = max e : { span(_, to), e = to }.` the `to` in the braces cannot mean the
result, which is not there before the braces are done; so it is another variable, as in Soufflé. It
gets another name before the rule is checked. What something else binds outside is fixed from there,
and what the result does not bind either is a witness (`witnesses`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from lftj.program.checks.safety import bound_names
from lftj.program.checks.witnesses import (
    Names,
    fresh_name,
    has_aggregates,
    results_of,
)
from lftj.program.scope import (
    direct_names,
    direct_terms,
    mentioned_names,
    own_names,
    term_aggregates,
)
from lftj.syntax import tree
from lftj.syntax.depth import renamed


def with_own_variables(rule: tree.Rule) -> tree.Rule:
    """The rule, with names of their own for such variables. O(size of the rule)."""
    if not has_aggregates(rule.body):
        return rule
    used = mentioned_names((*rule.heads, rule.body))
    outside = frozenset(mentioned_names(rule.heads))
    body = _Bodies(used).body(rule.body, frozenset(), outside)
    return rule if body == rule.body else replace(rule, body=body)


class _Bodies:
    """Bodies at any depth; `used` grows by the names that are new."""

    def __init__(self, used: set[str]):
        self._used = used

    def body(self, body: tree.Body, given: Names, outside: Names) -> tree.Body:
        """A body. `given`: the variables that bodies around it bind; `outside`: those that these
        and the heads have.
        """
        visible = outside | direct_names(body.literals).keys()
        results = [frozenset(results_of([literal])) for literal in body.literals]
        all_bound = bound_names(body.literals, given.union(*results), visible)
        literals = list(body.literals)
        for place, literal in enumerate(body.literals):
            shared = visible & mentioned_names(tuple(_aggregates(literal)))
            own: Names = frozenset()
            if results[place] and shared - given:
                others = given.union(*results[:place], *results[place + 1 :])
                own = shared & all_bound - bound_names(body.literals, others, visible)

            def change(aggregate: tree.Aggregate, own: Names = own) -> tree.Aggregate:
                return self._aggregate(aggregate, own, all_bound, visible)

            literals[place] = self._literal(literal, all_bound, visible, change)
        return replace(body, literals=tuple(literals))

    def _literal(
        self,
        literal: tree.Literal,
        bound: Names,
        visible: Names,
        change: Callable[[tree.Aggregate], tree.Aggregate],
    ) -> tree.Literal:
        match literal:
            case tree.Comparison(_, left, right):
                return replace(literal, left=_changed(left, change), right=_changed(right, change))
            case tree.Atom(_, args, value):
                terms = tuple(_changed(term, change) for term in args)
                last = None if value is None else _changed(value, change)
                return replace(literal, args=terms, value=last)
            case tree.Negation(body):
                return replace(literal, body=self.body(body, bound, visible))
            case tree.Disjunction(branches):
                made = tuple(self.body(branch, bound, visible) for branch in branches)
                return replace(literal, branches=made)
        return literal

    def _aggregate(
        self, aggregate: tree.Aggregate, own: Names, bound: Names, visible: Names
    ) -> tree.Aggregate:
        inside = aggregate.body.literals
        names = visible | direct_names(inside).keys()
        own &= bound_names(inside, bound - own, names)
        own &= mentioned_names(aggregate) - own_names(aggregate)
        if own:
            again = {name: fresh_name(name, self._used) for name in sorted(own)}
            aggregate = renamed(aggregate, again)
        return replace(aggregate, body=self.body(aggregate.body, bound, visible))


def _aggregates(literal: tree.Literal) -> Iterator[tree.Aggregate]:
    for term in direct_terms(literal):
        yield from term_aggregates(term)


def _changed(term: tree.Term, change: Callable[[tree.Aggregate], tree.Aggregate]) -> tree.Term:
    match term:
        case tree.Aggregate():
            return change(term)
        case tree.Call(_, args):
            return replace(term, args=tuple(_changed(arg, change) for arg in args))
    return term
