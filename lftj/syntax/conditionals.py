# SPDX-License-Identifier: Apache-2.0
"""`if(condition, a, b)` as a disjunction: `z = if(c, a, b)` says `(c, z = a ; !( c ), z = b)`.

So one condition decides, and only then the branch that is taken is computed, in whichever way a
rule is evaluated. A conditional in the midst of a term, or in a head, is the value of a new
variable. One that has aggregates of its head stays (`lftj.syntax.groups`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lftj.syntax import tree
from lftj.syntax.depth import children
from lftj.syntax.groups import has_aggregates
from lftj.syntax.left_joins import has_left_joins, without_left_joins

_MADE = re.compile(r"if_[0-9]+")


def is_made(name: str) -> bool:
    """Test for a variable that stands for a conditional."""
    return _MADE.fullmatch(name) is not None


def has_conditionals(node: tree.Node) -> bool:
    """Test for a conditional or a group `( … )?` at any depth. O(size of the node)."""
    return any(isinstance(each, tree.Conditional | tree.LeftJoin) for each in _nodes(node))


def without_conditionals(rule: tree.Rule) -> tree.Rule:
    """The rule with disjunctions in place of conditionals, and of groups `( … )?`. Raises
    UnsafeRuleError (E140) for a group that binds nothing.
    """
    made = _Expansion({each.name for each in _nodes(rule) if isinstance(each, tree.Variable)})
    added: list[tree.Literal] = []
    heads = tuple(made.head(head, added) for head in rule.heads)
    body = made.body(rule.body)
    made_rule = replace(rule, heads=heads, body=replace(body, literals=(*body.literals, *added)))
    return without_left_joins(made_rule) if has_left_joins(made_rule) else made_rule


def _nodes(node: tree.Node) -> Iterator[tree.Node]:
    waiting = [node]
    while waiting:
        yield (last := waiting.pop())
        waiting += children(last)


class _Expansion:
    """The conditionals of one rule; `used` are the names that it has."""

    def __init__(self, used: set[str]):
        self._used = used

    def _fresh(self) -> str:
        number = 1
        while (name := f"if_{number}") in self._used:
            number += 1
        self._used.add(name)
        return name

    def body(self, body: tree.Body) -> tree.Body:
        literals = [made for literal in body.literals for made in self._literal(literal)]
        return replace(body, literals=tuple(literals))

    def atom(self, atom: tree.Atom, added: list[tree.Literal]) -> tree.Atom:
        """The atom; `added` gets the disjunctions that it needs."""
        value = None if atom.value is None else self._term(atom.value, added)
        return replace(atom, args=self._terms(atom.args, added), value=value)

    def head(self, head: tree.Atom, added: list[tree.Literal]) -> tree.Atom:
        """A head. What it computes of aggregates is computed of each group, so a conditional that
        has some stays.
        """
        terms = [
            self._of_groups(term, added) if has_aggregates(term) else self._term(term, added)
            for term in head.terms
        ]
        if head.value is None:
            return replace(head, args=tuple(terms))
        return replace(head, args=tuple(terms[:-1]), value=terms[-1])

    def _of_groups(self, node: Any, added: list[tree.Literal]) -> Any:
        match node:
            case tree.HeadAggregate():
                return self._term(node, added)
            case tuple():
                return tuple(self._of_groups(each, added) for each in node)  # pyright: ignore[reportUnknownVariableType]
            case tree.Node() if not isinstance(node, tree.Constant):
                parts = {name: self._of_groups(part, added) for name, part in vars(node).items()}
                return replace(node, **parts)
        return node

    def _literal(self, literal: tree.Literal) -> list[tree.Literal]:
        added: list[tree.Literal] = []
        match literal:
            case tree.Comparison("=", tree.Variable() as one, tree.Conditional() as value):
                return [self._disjunction(one, value)]
            case tree.Comparison("=", tree.Conditional() as value, tree.Variable() as one):
                return [self._disjunction(one, value)]
            case tree.Comparison(_, left, right):
                left, right = self._term(left, added), self._term(right, added)
                return [replace(literal, left=left, right=right), *added]
            case tree.Atom():
                return [self.atom(literal, added), *added]
            case tree.Negation(body):
                return [replace(literal, body=self.body(body))]
            case tree.Disjunction(branches):
                return [replace(literal, branches=tuple(map(self.body, branches)))]
        return [literal]

    def _terms(
        self, terms: tuple[tree.Term, ...], added: list[tree.Literal]
    ) -> tuple[tree.Term, ...]:
        return tuple([self._term(term, added) for term in terms])

    def _term(self, term: tree.Term, added: list[tree.Literal]) -> tree.Term:
        match term:
            case tree.Conditional():
                made = tree.Variable(self._fresh(), span=term.span)
                added.append(self._disjunction(made, term))
                return made
            case tree.Call() | tree.HeadAggregate():
                return replace(term, args=self._terms(term.args, added))
            case tree.Aggregate():
                inside: list[tree.Literal] = []
                args = self._terms(term.args, inside)
                body = self.body(term.body)
                body = replace(body, literals=(*body.literals, *inside))
                return replace(term, args=args, body=body)
        return term

    def _disjunction(self, value: tree.Variable, term: tree.Conditional) -> tree.Disjunction:
        conditions = term.condition, _opposite(term.condition)
        branches = [
            tree.Body((*condition.literals, tree.Comparison("=", value, taken, span=term.span)))
            for condition, taken in zip(conditions, term.args, strict=True)
        ]
        return tree.Disjunction(tuple(map(self.body, branches)), span=term.span)


def _opposite(condition: tree.Body) -> tree.Body:
    match condition.literals:
        case (tree.Truth(value) as truth,):
            opposite: tree.Literal = replace(truth, value=not value)
        case literals:
            nested = len(literals) == 1 and isinstance(literals[0], tree.Atom)
            opposite = tree.Negation(condition, nested, span=condition.span)
    return replace(condition, literals=(opposite,))
