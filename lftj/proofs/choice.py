# SPDX-License-Identifier: Apache-2.0
"""Choice, naively: of each pass's new rows those that clash with nothing, one at a time in
ascending order of their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from lftj.proofs.kinds import Value
from lftj.syntax import tree

HIDDEN = "choice of clause "
Row = tuple[Value, ...]
Domains = dict[str, list[tuple[int, ...]]]


def choice_domains(declarations: Iterable[tree.Declaration]) -> Domains:
    """Column positions of each choice domain, by relation; only relations that have some."""
    found: Domains = {}
    for each in declarations:
        names = [column.name for column in each.columns]
        if each.choice:
            found[each.name] = [
                tuple(names.index(name) for name in domain) for domain in each.choice
            ]
    return found


def accepted(
    new: Iterable[tuple[str, Row]], relations: Mapping[str, set[Row]], domains: Domains
) -> list[tuple[str, Row]]:
    """Select the new rows that may be added to `relations`, as they stand before this pass."""
    kept: list[tuple[str, Row]] = []
    for name, row in sorted(new, key=_in_order):
        if name not in domains:
            kept.append((name, row))
            continue
        rows = [*relations[name], *(other for relation, other in kept if relation == name)]
        if not any(_agree(row, other, domain) for other in rows for domain in domains[name]):
            kept.append((name, row))
    return kept


def _in_order(each: tuple[str, Row]) -> tuple[object, ...]:
    """A row by its values, NULL last."""
    name, row = each
    return name, tuple((value is None, 0 if value is None else value) for value in row)


def _agree(one: Row, other: Row, columns: tuple[int, ...]) -> bool:
    return all(one[column] == other[column] for column in columns)


def with_relations_for_choices(clauses: Iterable[tree.Clause]) -> tuple[tree.Clause, ...]:
    """The program without `choice(…)` in bodies: each such rule has a relation with choice domains
    of its own instead.
    """
    return tuple(
        made
        for number, clause in enumerate(clauses)
        for made in _plain(clause, f"{HIDDEN}{number}")
    )


def _plain(clause: tree.Clause, name: str) -> Iterator[tree.Clause]:
    choices = (
        [each for each in clause.body.literals if isinstance(each, tree.Choice)]
        if isinstance(clause, tree.Rule)
        else []
    )
    if not choices or not isinstance(clause, tree.Rule):
        yield clause
        return
    rest = tuple(each for each in clause.body.literals if not isinstance(each, tree.Choice))
    terms = min(
        ((*each.determining, *each.determined) for each in choices),
        key=lambda listed: [str(term) for term in listed],
    )
    columns = tuple(tree.Column(str(term), "any") for term in terms)
    yield tree.Declaration(
        name, columns, choice=tuple(tuple(map(str, each.determining)) for each in choices)
    )
    yield tree.Rule((tree.Atom(name, terms),), tree.Body(rest))
    yield replace(clause, body=tree.Body((*rest, tree.Atom(name, terms))))
