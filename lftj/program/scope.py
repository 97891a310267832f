# SPDX-License-Identifier: Apache-2.0
"""Scopes: the occurrences of a name that are one variable.

A body has as variables the names of its own atoms and comparisons, and those that every branch of
one of its disjunctions has. A name inside `!( … )`, an aggregate or a branch means the variable of
the enclosing body when that body has it; otherwise it is a variable of the inner body alone, and
the same name in two inner bodies is two variables. The variables of an aggregate's target that its
body has are always the aggregate's own, as in Soufflé.

`rename_apart` writes that down in the names: afterwards one name is one variable. A renamed
variable carries a `'` and a number, which no user can write; `user_name` takes them off again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from lftj.errors import Span
from lftj.syntax import tree

_MADE_OF = re.compile(r"(.+)_[0-9]+")
"""A name that reading a rule has made of another one, or of `if`."""


def user_name(name: str) -> str:
    """The name as the user wrote it."""
    return name.partition("'")[0]


def written_name(name: str, span: Span | None) -> str | None:
    """The name that the user's text at `span` has for a variable of the rule there, without the
    number that reading the rule has put behind it. None for a variable that has no name there, as a
    wildcard.
    """
    if name.startswith("_"):
        return None
    words = re.findall(r"[\w?]+", "" if span is None else span.text)
    made = _MADE_OF.fullmatch(name)
    if made is None or name in words:
        return name
    if made[1] == "if":
        return None
    return made[1] if made[1] in words else name


# ── names of a node ───────────────────────────────────────────────────────────────────────────────
def term_names(term: tree.Term | None) -> dict[str, tree.Variable]:
    """The variables of a term in order of appearance, without those of body aggregates
    inside it.
    """
    match term:
        case tree.Variable():
            return {term.name: term}
        case tree.Call() | tree.HeadAggregate():
            return {name: each for arg in term.args for name, each in term_names(arg).items()}
    return {}


def term_aggregates(term: tree.Term | None) -> list[tree.Aggregate]:
    """The body aggregates in a term, outermost only."""
    match term:
        case tree.Aggregate():
            return [term]
        case tree.Call() | tree.HeadAggregate():
            return [found for arg in term.args for found in term_aggregates(arg)]
    return []


def negated_atom(literal: tree.Literal) -> tree.Atom | None:
    """The atom of `!atom`; None for everything else, the nested `!( … )` included."""
    if (
        isinstance(literal, tree.Negation)
        and len(literal.body.literals) == 1
        and not literal.nested
    ):
        inner = literal.body.literals[0]
        return inner if isinstance(inner, tree.Atom) else None
    return None


def direct_terms(literal: tree.Literal) -> tuple[tree.Term, ...]:
    """The terms that belong to the body the literal stands in: those of atoms, of `!atom`, of
    comparisons and of choices.
    """
    if isinstance(literal, tree.Comparison):
        return (literal.left, literal.right)
    if isinstance(literal, tree.Choice):
        return (*literal.determining, *literal.determined)
    atom = literal if isinstance(literal, tree.Atom) else negated_atom(literal)
    return atom.terms if atom is not None else ()


def direct_names(literals: Iterable[tree.Literal]) -> dict[str, None]:
    """The variables of the body made of `literals` (an ordered set)."""
    names: dict[str, None] = {}
    for literal in literals:
        for term in direct_terms(literal):
            names.update(dict.fromkeys(term_names(term)))
        if isinstance(literal, tree.Disjunction) and literal.branches:
            first, *rest = (direct_names(branch.literals) for branch in literal.branches)
            names.update({name: None for name in first if all(name in other for other in rest)})
    return names


def own_names(aggregate: tree.Aggregate) -> frozenset[str]:
    """The variables of the arguments that are the aggregate's own, whoever has their names
    outside.
    """
    inside = direct_names(aggregate.body.literals).keys()
    return frozenset(name for arg in aggregate.args for name in term_names(arg) if name in inside)


def mentioned_names(node: object) -> set[str]:
    """Every variable name at any depth."""
    if isinstance(node, tree.Variable):
        return {node.name}
    if isinstance(node, tuple):
        return {name for each in node for name in mentioned_names(each)}
    match node:
        case tree.Atom():
            return mentioned_names(node.terms)
        case tree.Comparison():
            return mentioned_names((node.left, node.right))
        case tree.Choice():
            return mentioned_names((node.determining, node.determined))
        case tree.Call() | tree.HeadAggregate():
            return mentioned_names(node.args)
        case tree.Aggregate():
            return mentioned_names((node.args, node.body))
        case tree.Negation():
            return mentioned_names(node.body)
        case tree.Disjunction():
            return mentioned_names(node.branches)
        case tree.Body():
            return mentioned_names(node.literals)
    return set()


# ── one name, one variable ────────────────────────────────────────────────────────────────────────
def rename_apart(rule: tree.Rule, *, counting: bool = False) -> tree.Rule:
    """The same rule with a name of its own for every variable. `counting`: its assignments count,
    as they do under an aggregate in a head.
    """
    if not _nests(rule):
        return rule
    counting = counting or any(
        isinstance(term, tree.HeadAggregate) for head in rule.heads for term in head.terms
    )
    renaming = _Renaming()
    outside = mentioned_names(rule.heads)
    names = {name: None for head in rule.heads for term in head.terms for name in term_names(term)}
    scope = renaming.scope(
        rule.body.literals, {name: renaming.fresh(name) for name in names}, outside, counting
    )
    heads = tuple(renaming.atom(head, scope) for head in rule.heads)
    return replace(rule, heads=heads, body=renaming.body(rule.body, scope, counting))


def _is_null_only(name: str, body: tree.Body) -> bool:
    """Test for a variable of a body of which `is_null` is all that the body says."""
    rest = [each for each in body.literals if not _asks_for_null(each)]
    return name not in mentioned_names(tuple(rest))


def _asks_for_null(literal: tree.Literal) -> bool:
    return isinstance(literal, tree.Comparison) and literal.operator == "is_null"


def _nests(rule: tree.Rule) -> bool:
    terms = [term for head in rule.heads for term in head.terms]
    for literal in rule.body.literals:
        if isinstance(literal, tree.Disjunction) or (
            isinstance(literal, tree.Negation) and negated_atom(literal) is None
        ):
            return True
        terms += direct_terms(literal)
    return any(term_aggregates(term) for term in terms)


Scope = Mapping[str, str]
"""The names that a body knows, with the names that they get."""


class _Renaming:
    """Rewrites bodies; `scope` maps the names a body knows, its own and those of the bodies around
    it.
    """

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}

    def fresh(self, name: str) -> str:
        uses = self._uses.get(name, 0)
        self._uses[name] = uses + 1
        return f"{name}'{uses}" if uses else name

    def scope(
        self, literals: tuple[tree.Literal, ...], visible: Scope, outside: set[str], counting: bool
    ) -> Scope:
        """`visible` and the names of the body `literals`; `outside` are the names mentioned around
        it.

        Where assignments are not counted, a name that all branches of one disjunction have and
        nothing else mentions stays local to each branch: it could as well have another type in
        each. Not one of which a branch says `is_null` and no more: the others say its type.
        """
        names = dict(visible)
        for position, literal in enumerate(literals):
            others = outside | mentioned_names(literals[:position] + literals[position + 1 :])
            for name in direct_names([literal]):
                if name not in names and (
                    counting
                    or not isinstance(literal, tree.Disjunction)
                    or name in others
                    or any(_is_null_only(name, branch) for branch in literal.branches)
                ):
                    names[name] = self.fresh(name)
        return names

    def body(self, body: tree.Body, scope: Scope, counting: bool) -> tree.Body:
        return replace(
            body,
            literals=tuple(self._literal(literal, scope, counting) for literal in body.literals),
        )

    def atom(self, atom: tree.Atom, scope: Scope) -> tree.Atom:
        value = None if atom.value is None else self._term(atom.value, scope)
        return replace(atom, args=tuple(self._term(term, scope) for term in atom.args), value=value)

    def _literal(self, literal: tree.Literal, scope: Scope, counting: bool) -> tree.Literal:
        match literal:
            case tree.Atom():
                return self.atom(literal, scope)
            case tree.Comparison():
                return replace(
                    literal,
                    left=self._term(literal.left, scope),
                    right=self._term(literal.right, scope),
                )
            case tree.Choice(determining, determined):
                sides = (
                    tuple(self._term(term, scope) for term in side)
                    for side in (determining, determined)
                )
                return tree.Choice(*sides, span=literal.span)
            case tree.Negation():
                return replace(literal, body=self._inner(literal.body, scope, counting=False))
            case tree.Disjunction():
                return replace(
                    literal,
                    branches=tuple(
                        self._inner(branch, scope, counting) for branch in literal.branches
                    ),
                )
        return literal

    def _inner(self, body: tree.Body, scope: Scope, counting: bool) -> tree.Body:
        return self.body(body, self.scope(body.literals, scope, set(), counting), counting)

    def _term(self, term: tree.Term, scope: Scope) -> tree.Term:
        match term:
            case tree.Variable():
                return replace(term, name=scope.get(term.name, term.name))
            case tree.Call() | tree.HeadAggregate():
                return replace(term, args=tuple(self._term(arg, scope) for arg in term.args))
            case tree.Aggregate():
                return self._aggregate(term, scope)
        return term

    def _aggregate(self, aggregate: tree.Aggregate, scope: Scope) -> tree.Aggregate:
        own = own_names(aggregate)
        visible = {name: given for name, given in scope.items() if name not in own}
        inner = self.scope(aggregate.body.literals, visible, set(), counting=True)
        args = tuple(self._term(arg, inner) for arg in aggregate.args)
        return replace(aggregate, args=args, body=self.body(aggregate.body, inner, counting=True))
