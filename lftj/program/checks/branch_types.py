# SPDX-License-Identifier: Apache-2.0
"""Variables that the branches of a disjunction bind by columns of different types.

`h(as(x, number)) :- ( n(x) ; u(x) ).` over number and unsigned is two rules to Soufflé, each with
an `x` of its own type. So what uses `x` goes into the branches:

    h(value) :- ( n(x), value = as(x, number) ; u(x), value = as(x, number) ).

Rules that are well typed as they stand are left so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lftj.program.checks.witnesses import fresh_name
from lftj.program.schema import Catalog
from lftj.program.scope import direct_names, mentioned_names
from lftj.syntax import tree
from lftj.types import Type


def typed_by_branches(rule: tree.Rule, catalog: Catalog) -> tree.Rule:
    """The rule, with what uses such variables in the branches that bind them; the rule itself where
    there are none, or where a head counts assignments of its variables. O(size of the rule).
    """
    terms = [term for head in rule.heads for term in head.terms]
    if any(isinstance(term, tree.HeadAggregate) for term in terms):
        return rule
    for place, literal in enumerate(rule.body.literals):
        if isinstance(literal, tree.Disjunction):
            names = set(_of_several_types(literal, catalog))
            others = rule.body.literals[:place] + rule.body.literals[place + 1 :]
            if names & mentioned_names((*rule.heads, others)):
                return _moved_into(rule, literal, others, names)
    return rule


def _of_several_types(disjunction: tree.Disjunction, catalog: Catalog) -> Iterator[str]:
    """The variables that all branches have, of another type in some."""
    found = [_column_types(branch, catalog) for branch in disjunction.branches]
    for name in direct_names([disjunction]):
        if len({types.get(name) for types in found} - {None}) > 1:
            yield name


def _column_types(branch: tree.Body, catalog: Catalog) -> dict[str, Type]:
    """The types of the columns that the atoms of a branch have its variables in."""
    found: dict[str, Type] = {}
    for atom in branch.literals:
        schema = catalog.relations.get(atom.relation) if isinstance(atom, tree.Atom) else None
        if isinstance(atom, tree.Atom) and schema is not None and schema.arity == len(atom.terms):
            for term, (_, type) in zip(atom.terms, schema.columns, strict=True):
                if isinstance(term, tree.Variable):
                    found.setdefault(term.name, type)
    return found


def _moved_into(
    rule: tree.Rule,
    disjunction: tree.Disjunction,
    others: tuple[tree.Literal, ...],
    names: set[str],
) -> tree.Rule:
    """The rule, with all that mentions one of the `names` in each branch."""
    used = mentioned_names((*rule.heads, rule.body))
    equations: list[tree.Literal] = []

    def value_of(term: tree.Term) -> tree.Term:
        if isinstance(term, tree.Variable) or names.isdisjoint(mentioned_names(term)):
            return term
        value = tree.Variable(fresh_name("value", used), span=term.span)
        equations.append(tree.Comparison("=", value, term, span=term.span))
        return value

    heads = tuple(
        replace(
            head,
            args=tuple(map(value_of, head.args)),
            value=None if head.value is None else value_of(head.value),
        )
        for head in rule.heads
    )
    moved = [each for each in others if not names.isdisjoint(mentioned_names(each))]
    branches = tuple(
        replace(branch, literals=(*branch.literals, *moved, *equations))
        for branch in disjunction.branches
    )
    kept = [each for each in others if each not in moved]
    body = replace(rule.body, literals=(replace(disjunction, branches=branches), *kept))
    return replace(rule, heads=heads, body=body)
