# SPDX-License-Identifier: Apache-2.0
"""`( … )?` as a disjunction: rows that match, or NULL in their place.

`customer(c), (order(c, a), a > 10)?` says

    customer(c), (order(c, a), a > 10 ; !(order(c, a_1), a_1 > 10), is_null(a))

The variables that the body around it binds without any such group are those of each row; what the
group alone binds is its own, and may be used behind it. Groups are read in the order of the text: a
later one may ask for what an earlier one binds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from lftj.errors import UnsafeRuleError
from lftj.syntax import tree
from lftj.syntax.depth import children, renamed


def has_left_joins(node: tree.Node) -> bool:
    """Test for a group `( … )?` at any depth. O(size of the node)."""
    return any(isinstance(each, tree.LeftJoin) for each in _nodes(node))


def without_left_joins(rule: tree.Rule) -> tree.Rule:
    """The rule with disjunctions in place of groups. Raises UnsafeRuleError (E140) for one that
    binds nothing.
    """
    made = _Expansion({each.name for each in _nodes(rule) if isinstance(each, tree.Variable)})
    return replace(
        rule,
        heads=tuple(made.node(head, frozenset()) for head in rule.heads),
        body=made.body(rule.body, frozenset()),
    )


def _nodes(node: tree.Node) -> Iterator[tree.Node]:
    waiting = [node]
    while waiting:
        yield (last := waiting.pop())
        waiting += children(last)


Names = frozenset[str]


class _Expansion:
    """The groups of one rule; `used` are the names that it has."""

    def __init__(self, used: set[str]):
        self._used = used

    def body(self, body: tree.Body, outside: Names) -> tree.Body:
        """A body. `outside`: variables that the bodies around it bind."""
        groups = [each for each in body.literals if isinstance(each, tree.LeftJoin)]
        of_groups = {name for group in groups for name in _own_names(group.branches[0].literals)}
        plain = [each for each in body.literals if not isinstance(each, tree.LeftJoin)]
        given = bound_names(plain, outside, of_groups)
        made: list[tree.Literal] = []
        for literal in body.literals:
            if isinstance(literal, tree.LeftJoin):
                group, own = self._group(literal, given)
                made.append(group)
                given |= own
            else:
                made.append(self.node(literal, given))
        return replace(body, literals=tuple(made))

    def node(self, node: Any, given: Names) -> Any:
        """A literal or a term, with the bodies inside."""
        match node:
            case tree.Body():
                return self.body(node, given)
            case tuple():
                return tuple(self.node(each, given) for each in node)
            case tree.Constant():
                return node
            case tree.Node():
                parts = {name: self.node(part, given) for name, part in vars(node).items()}
                return replace(node, **parts)
        return node

    def _group(self, group: tree.LeftJoin, given: Names) -> tuple[tree.Disjunction, Names]:
        inside = self.body(group.branches[0], given)
        own = {name: None for name in _own_names(inside.literals) if name not in given}
        if not own:
            raise UnsafeRuleError(
                f"`{group}` binds no variable of its own, so it changes nothing",
                span=group.span,
                hint="leave the mark out, or give what it is to find a name of its own",
            )
        again = renamed(inside, {name: self._fresh(name) for name in own})
        nested = len(again.literals) == 1 and isinstance(again.literals[0], tree.Atom)
        absent = [
            tree.Comparison("is_null", variable, variable, span=group.span)
            for variable in map(tree.Variable, own)
        ]
        none = tree.Negation(again, nested, span=group.span)
        branches = (inside, tree.Body((none, *absent), span=group.span))
        return tree.Disjunction(branches, span=group.span), frozenset(own)

    def _fresh(self, name: str) -> str:
        number = 1
        while (made := f"{name}_{number}") in self._used:
            number += 1
        self._used.add(made)
        return made


def bound_names(
    literals: Sequence[tree.Literal], given: Names, waited_for: Collection[str]
) -> Names:
    """The variables that atoms and equations bind, those `given` among them. An aggregate has a
    value once those of its variables are bound that are `waited_for`.
    """
    bound, size = set(given), -1
    while size != (size := len(bound)):
        for literal in literals:
            bound.update(_binds(literal, frozenset(bound), waited_for))
    return frozenset(bound)


def _binds(literal: tree.Literal, bound: Names, waited_for: Collection[str]) -> Iterable[str]:
    match literal:
        case tree.Atom():
            terms = map(tree.argument, literal.terms)
            return [term.name for term in terms if isinstance(term, tree.Variable)]
        case tree.Comparison("=", left, right):
            sides = ((left, right), (right, left))
            return [
                side.name
                for side, other in sides
                if isinstance(side, tree.Variable)
                if set(_asked(other, waited_for)) <= bound
            ]
        case tree.Disjunction(branches):
            read = (bound_names(branch.literals, bound, waited_for) for branch in branches)
            return frozenset.intersection(*read)
    return ()


def _asked(term: tree.Term, waited_for: Collection[str]) -> Iterator[str]:
    """The variables that must be bound before a term has a value."""
    yield from _names(term)
    for each in _nodes(term):
        if isinstance(each, tree.Aggregate):
            names = (inner.name for inner in _nodes(each) if isinstance(inner, tree.Variable))
            yield from (name for name in names if name in waited_for)


def _names(term: tree.Term) -> Iterator[str]:
    """The variables of a term, without those of aggregates."""
    if isinstance(term, tree.Variable):
        yield term.name
    elif isinstance(term, tree.Call):
        for arg in term.args:
            yield from _names(arg)


def _own_names(literals: Iterable[tree.Literal]) -> Iterator[str]:
    """The variables of a body itself, not those of bodies inside it."""
    for literal in literals:
        match literal:
            case tree.Atom():
                for term in literal.terms:
                    yield from _names(term)
            case tree.Comparison(_, left, right):
                yield from (*_names(left), *_names(right))
            case tree.Disjunction(branches):
                first, *rest = (list(_own_names(branch.literals)) for branch in branches)
                yield from (name for name in first if all(name in other for other in rest))
