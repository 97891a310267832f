# SPDX-License-Identifier: Apache-2.0
"""Witnesses of a least or greatest value: variables that occur in the braces of a `min` or `max`
and outside, and that nothing outside binds.

`v(a, m) :- m = max y : { e(a, y) }.` says, as in Soufflé, of which `a` the greatest `y` of all is:

    v(a, m) :- m = max y : { e(a_1, y) }, e(a, m).

The rule is replaced by that one before it is checked: the braces get a variable of their own in
place of each witness, and what is in them is said again of the result. Other aggregates have no
witnesses, and a body in which one asks for some stays as it is: it is unsafe.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields, replace
from typing import TypeVar

from lftj.functions.aggregates import WITNESSED
from lftj.program.checks.safety import bound_names
from lftj.program.scope import (
    direct_names,
    direct_terms,
    mentioned_names,
    own_names,
    term_aggregates,
    term_names,
)
from lftj.syntax import tree
from lftj.syntax.depth import renamed
from lftj.syntax.functors import BODY_AGGREGATES

Names = frozenset[str]
Node = TypeVar("Node")


def with_witnesses_bound(rule: tree.Rule) -> tree.Rule:
    """The rule, with its witnesses bound. O(size of the rule).

    Heads that aggregate count assignments of the rule's variables, and what is said again would
    bring others, so such a rule stays as it is.
    """
    if not has_aggregates((*rule.heads, rule.body), WITNESSED):
        return rule
    if any(isinstance(term, tree.HeadAggregate) for head in rule.heads for term in head.terms):
        return rule
    heads = frozenset(
        name for head in rule.heads for each in head.terms for name in term_names(each)
    )
    used = mentioned_names((*rule.heads, rule.body))
    body, replaced = _with_heads(rule.heads, rule.body, frozenset(), heads, used)
    return (
        rule
        if (body, replaced) == (rule.body, rule.heads)
        else replace(rule, heads=replaced, body=body)
    )


def has_aggregates(node: object, functions: Collection[str] = BODY_AGGREGATES) -> bool:
    """Test for an aggregate with braces, of one of these functions, at any depth."""
    if isinstance(node, tuple):
        return any(has_aggregates(each, functions) for each in node)
    if isinstance(node, tree.Aggregate) and node.function in functions:
        return True
    return isinstance(node, tree.Node) and has_aggregates(tuple(_parts(node).values()), functions)


def _with_heads(
    heads: tuple[tree.Atom, ...], body: tree.Body, given: Names, outside: Names, used: set[str]
) -> tuple[tree.Body, tuple[tree.Atom, ...]]:
    """A body and its heads with the witnesses bound. `given`: the variables that bodies around it
    bind; `outside`: those that these and the heads have; `used` grows by the names that are new.
    """
    visible = outside | direct_names(body.literals).keys()
    results = frozenset(results_of(body.literals))  # bound, whatever is in the braces
    scope = _Scope(visible, bound_names(body.literals, given | results, visible), used)
    literals = tuple(map(scope.inside, body.literals))
    terms = [term for literal in (*heads, *literals) for term in direct_terms(literal)]
    asking = [each for term in terms for each in term_aggregates(term) if scope.witnesses(each)]
    if asking and all(each.function in WITNESSED for each in asking):
        heads = tuple(map(scope.atom, heads))
        literals = tuple(map(scope.literal, literals))
    return replace(body, literals=(*literals, *scope.added)), heads


def results_of(literals: Iterable[tree.Literal]) -> Iterator[str]:
    """The variables that equal aggregates."""
    for literal in literals:
        match literal:
            case tree.Comparison("=", tree.Variable(name), tree.Aggregate()):
                yield name
            case tree.Comparison("=", tree.Aggregate(), tree.Variable(name)):
                yield name


class _Scope:
    """One body. `visible`: its variables, and those around it; `bound`: those that something
    outside of braces binds; `added`: what is said again.
    """

    def __init__(self, visible: Names, bound: Names, used: set[str]):
        self.visible, self.bound, self.used = visible, bound, used
        self.added: list[tree.Literal] = []

    def inside(self, literal: tree.Literal) -> tree.Literal:
        """The literal, with the branches of a disjunction done."""
        if not isinstance(literal, tree.Disjunction):
            return literal
        branches = (
            _with_heads((), branch, self.bound, self.visible, self.used)[0]
            for branch in literal.branches
        )
        return replace(literal, branches=tuple(branches))

    def witnesses(self, aggregate: tree.Aggregate) -> Names:
        """The variables of an aggregate that its braces bind, and nothing outside."""
        shared = (mentioned_names(aggregate) & self.visible) - own_names(aggregate) - self.bound
        inner = self.visible | direct_names(aggregate.body.literals).keys()
        return frozenset(shared) & bound_names(aggregate.body.literals, self.bound, inner)

    def literal(self, literal: tree.Literal) -> tree.Literal:
        """A literal, with other variables in braces in place of witnesses."""
        match literal:
            case tree.Atom():
                return self.atom(literal)
            case tree.Comparison("=", tree.Variable(name), tree.Aggregate() as aggregate):
                return replace(literal, right=self._bound(aggregate, name))
            case tree.Comparison("=", tree.Aggregate() as aggregate, tree.Variable(name)):
                return replace(literal, left=self._bound(aggregate, name))
            case tree.Comparison(left=left, right=right):
                return replace(literal, left=self._term(left), right=self._term(right))
        return literal

    def atom(self, atom: tree.Atom) -> tree.Atom:
        """An atom, with variables in place of aggregates that have witnesses."""
        value = None if atom.value is None else self._term(atom.value)
        return replace(atom, args=tuple(map(self._term, atom.args)), value=value)

    def _term(self, term: tree.Term) -> tree.Term:
        match term:
            case tree.Aggregate() if self.witnesses(term):
                result = tree.Variable(self._fresh("best"), span=term.span)
                found = self._bound(term, result.name)
                self.added.append(tree.Comparison("=", result, found, span=term.span))
                return result
            case tree.Call() | tree.HeadAggregate():
                return replace(term, args=tuple(map(self._term, term.args)))
        return term

    def _bound(self, aggregate: tree.Aggregate, result: str) -> tree.Aggregate:
        """The aggregate with variables of its own for its witnesses. What binds these is added."""
        witnesses = self.witnesses(aggregate)
        if not witnesses:
            return aggregate
        own, target = own_names(aggregate), aggregate.target
        again = {
            name: self._fresh(name)
            for name in sorted(mentioned_names(aggregate) - (self.visible - own))
        }
        if isinstance(target, tree.Variable):
            again[target.name] = result
        elif target is not None:
            same = tree.Comparison("=", tree.Variable(result), renamed(target, again))
            self.added.append(replace(same, span=aggregate.span))
        self.added += renamed(aggregate.body.literals, again)
        return renamed(aggregate, {name: self._fresh(name) for name in sorted(witnesses)})

    def _fresh(self, name: str) -> str:
        return fresh_name(name, self.used)


def fresh_name(name: str, used: set[str]) -> str:
    """A name like another that is none of the `used` ones, which it joins."""
    number = 1
    while f"{name}_{number}" in used:
        number += 1
    used.add(f"{name}_{number}")
    return f"{name}_{number}"


def _parts(node: tree.Node) -> dict[str, object]:
    return {each.name: getattr(node, each.name) for each in fields(node) if each.name != "span"}
