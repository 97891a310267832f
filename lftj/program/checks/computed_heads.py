# SPDX-License-Identifier: Apache-2.0
"""Heads that compute something of aggregates, as two rules with one relation between them.

    v(g, sum(a) / count()) :- r(g, a).
is
    groups(g, sum(a), count()) :- r(g, a).
    v(g, s / c) :- groups(g, s, c).

The columns of the head without an aggregate tell the groups. So what stands outside of aggregates
is of these columns, as in SQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from lftj.errors import LftjError, TypeClashError
from lftj.program.checked import (
    CheckedAtom,
    CheckedGroups,
    CheckedHead,
    CheckedHeadAggregate,
    CheckedRule,
)
from lftj.program.checks.null_terms import may_be_null
from lftj.program.hidden import GROUPED
from lftj.program.normal_form import (
    Expression,
    Ref,
    RelationSchema,
    RuleVariable,
    type_of,
)
from lftj.program.schema import UNKNOWN, Catalog
from lftj.program.scope import direct_names, mentioned_names, own_names, user_name
from lftj.scantree.frozen import frozen
from lftj.syntax import tree
from lftj.syntax.conditionals import has_conditionals, without_conditionals
from lftj.syntax.depth import children
from lftj.syntax.groups import aggregates_of_head, computes_of_groups, has_aggregates
from lftj.types import Type
from lftj.types.sources import HiddenName

Checked = tuple[CheckedRule | None, list[LftjError]]


class Check(Protocol):
    """The check of a rule whose variables come behind those that are `known`."""

    def __call__(
        self, rule: tree.Rule, catalog: Catalog, known: Sequence[RuleVariable] = ()
    ) -> Checked: ...


@frozen(slots=True)
class _Parts:
    """The two rules of a head: the head of what groups the body, and what computes the user's of
    that. `columns`: of each of the head's columns the key that it has.
    """

    grouped: tree.Atom
    computing: tree.Rule
    columns: tuple[int | None, ...]


def check_in_two(rule: tree.Rule, catalog: Catalog, check: Check) -> Checked:
    """A rule with heads that compute something of aggregates, or the problems with it."""
    parts = {
        place: _parts(head, rule, HiddenName(0, GROUPED, place + 1))
        for place, head in enumerate(rule.heads)
        if computes_of_groups(head)
    }
    strays = [error for each in parts.values() for error in _strays(each, rule)]
    if strays:
        return None, strays
    heads = [parts[n].grouped if n in parts else head for n, head in enumerate(rule.heads)]
    grouping = replace(rule, heads=tuple(heads))
    for each in parts.values():
        catalog = _with_groups(catalog, each, [UNKNOWN] * len(each.grouped.terms))
    made, errors = check(grouping, catalog)
    if made is None or errors:
        return None, [_as_written(error, grouping, rule) for error in errors]
    variables, checked = made.variables, list(made.heads)
    for place, each in parts.items():
        groups = made.heads[place]
        known = _with_groups(catalog, each, _types(groups.args, made.variables))
        computed, errors = check(each.computing, known, variables)
        if computed is None or errors:
            return None, [_as_written(error, each.computing, rule) for error in errors]
        variables = computed.variables
        checked[place] = _joined(computed, groups, each)
    return replace(made, rule=rule, variables=variables, heads=tuple(checked)), []


def _parts(head: tree.Atom, rule: tree.Rule, relation: str) -> _Parts:
    plain = [term for term in head.terms if not has_aggregates(term) and mentioned_names(term)]
    keys = list(dict.fromkeys(plain))
    terms = (*keys, *aggregates_of_head(head))
    names = _names(terms)
    given = tuple(tree.Variable(name, span=term.span) for term, name in names.items())
    computing = tree.Rule(
        (replace(head, args=_read(head.args, names), value=_read(head.value, names)),),
        tree.Body((tree.Atom(relation, given),)),
        span=rule.span,
    )
    if has_conditionals(computing):
        computing = without_conditionals(computing)
    columns = [keys.index(term) if term in keys else None for term in head.terms]
    return _Parts(tree.Atom(relation, terms, span=head.span), computing, tuple(columns))


def _names(terms: Sequence[tree.Term]) -> dict[tree.Term, str]:
    """A name for the value of each term: that of a variable, else its text, without what ends the
    name that a user sees.
    """
    made: dict[tree.Term, str] = {}
    for term in terms:
        name = term.name if isinstance(term, tree.Variable) else str(term).replace("'", "")
        while name in made.values():
            name += " "
        made[term] = name
    return made


def _read(node: Any, names: Mapping[Any, str]) -> Any:
    """A node, in which variables stand for the terms that have names."""
    match node:
        case tuple():
            return tuple(_read(each, names) for each in node)  # pyright: ignore[reportUnknownVariableType]
        case tree.Constant():
            return node
        case tree.Node():
            if node in names:
                return tree.Variable(names[node], span=node.span)
            parts = {name: _read(part, names) for name, part in vars(node).items()}
            return replace(node, **parts)
    return node


def _with_groups(catalog: Catalog, parts: _Parts, types: Sequence[Type]) -> Catalog:
    """The catalog with the relation between the two rules of a head."""
    names = map(str, parts.grouped.terms)
    relation = parts.grouped.relation
    schema = RelationSchema(relation, tuple(zip(names, types, strict=True)))
    return replace(catalog, relations={**catalog.relations, relation: schema})


def _types(
    terms: Sequence[Expression | CheckedHeadAggregate], variables: Sequence[RuleVariable]
) -> list[Type]:
    absent = {number for number, each in enumerate(variables) if each.type.optional}
    return [
        term.type
        if isinstance(term, CheckedHeadAggregate)
        else type_of(term, variables).or_null
        if may_be_null(term, absent)
        else type_of(term, variables).required
        for term in terms
    ]


def _joined(computed: CheckedRule, groups: CheckedHead, parts: _Parts) -> CheckedHead:
    """The head of the rule that computes, with what the other groups."""
    atom, *literals = computed.body.literals
    assert isinstance(atom, CheckedAtom), "the groups are read first"
    results = tuple(each.variable for each in atom.args if isinstance(each, Ref))
    made = CheckedGroups(groups.args, results, parts.columns, groups.literals)
    (head,) = computed.heads
    return replace(head, literals=(*literals, *head.literals), groups=made)


# ── errors ────────────────────────────────────────────────────────────────────────────────────────
def _strays(parts: _Parts, rule: tree.Rule) -> Iterator[LftjError]:
    """E131 for a variable beside an aggregate that may have several values in a group."""
    (head,) = parts.computing.heads
    (groups, *rest) = parts.computing.body.literals
    found = {each.name: each for term in (*head.terms, *rest) for each in _outer(term)}
    known = direct_names(rule.body.literals).keys() - direct_names([groups]).keys()
    for name, variable in found.items():
        if name in known:
            shown = user_name(name)
            yield TypeClashError(
                f"`{shown}` stands beside an aggregate, and may have several values in a group",
                code="E131",
                span=variable.span or parts.grouped.span or rule.span,
                hint=f"give `{shown}` a column of the head, which tells groups apart, or write "
                f"min({shown}) or max({shown})",
            )


def _outer(node: tree.Node) -> Iterator[tree.Variable]:
    """The variables of a node, without those that an aggregate in it has for itself."""
    if isinstance(node, tree.Variable):
        yield node
    own = own_names(node) if isinstance(node, tree.Aggregate) else frozenset[str]()
    for each in children(node):
        yield from (found for found in _outer(each) if found.name not in own)


def _as_written(error: LftjError, part: tree.Rule, rule: tree.Rule) -> LftjError:
    """An error of one of the two rules, as one of the user's."""
    error.message = error.message.replace(str(part), str(rule))
    for made, written in zip(part.heads, rule.heads, strict=False):
        error.message = error.message.replace(made.relation, written.relation)
    return error
