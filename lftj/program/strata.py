# SPDX-License-Identifier: Apache-2.0
"""Strata: the strongly connected components of the graph "this relation is derived from that one",
in an order in which each reads only earlier ones and itself.

Negation and aggregates may only read earlier strata: inside a cycle "the rows for which this does
not hold yet" has no fixed meaning. But `min` and `max` in heads may, where nothing asks more of a
value than that it is good enough (`program.monotone`). String functors may stand in cycles, for
their values depend on one row; but not beside such `min` and `max`. The error names the cycle in
the users' relations. Cost: linear in the number of body atoms, without recursion, so that chains of
any depth work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lftj.errors import LftjError, ProgramErrors, TypeClashError
from lftj.program.additive import adds_up
from lftj.program.cycles import CycleError, Edge, cycle_errors, misuse_error
from lftj.program.hidden import of_aggregate, of_negation
from lftj.program.monotone import lattices, least_of_absent, misuses
from lftj.program.normal_form import FunctorRule, NormalRule, Stratum

# Strongly connected components by Tarjan's algorithm with a stack of its own, so that depth costs
# no recursion.


def components(reads: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The components of the graph `reads`, each after all that it reads. Every node read must be a
    key. O(nodes + edges).

    Members stand in the order of the mapping's keys; so the result depends on that order only.
    """
    search = _Search(reads)
    for node in reads:
        if node not in search.number:
            search.run(node)
    return search.found


class _Search:
    """`number` is the order of discovery, `low` the least number reachable from below, `path` the
    nodes not yet in a component.
    """

    def __init__(self, reads: Mapping[str, Iterable[str]]):
        self.found: list[list[str]] = []
        self.number: dict[str, int] = {}
        self._reads = reads
        self._low: dict[str, int] = {}
        self._path: list[str] = []
        self._on_path: set[str] = set()
        self._place = {node: place for place, node in enumerate(reads)}

    def run(self, start: str) -> None:
        """Find all components reachable from `start`."""
        agenda: list[tuple[str, Iterator[str]]] = [self._enter(start)]
        while agenda:
            node, rest = agenda[-1]
            for target in rest:
                if target not in self.number:
                    agenda.append(self._enter(target))
                    break
                if target in self._on_path:
                    self._low[node] = min(self._low[node], self.number[target])
            else:
                agenda.pop()
                self._leave(node)
                if agenda:
                    above = agenda[-1][0]
                    self._low[above] = min(self._low[above], self._low[node])

    def _enter(self, node: str) -> tuple[str, Iterator[str]]:
        self.number[node] = self._low[node] = len(self.number)
        self._path.append(node)
        self._on_path.add(node)
        return node, iter(self._reads[node])

    def _leave(self, node: str) -> None:
        if self._low[node] != self.number[node]:
            return
        members: list[str] = []
        while not members or members[-1] != node:
            members.append(self._path.pop())
        self._on_path.difference_update(members)
        self.found.append(sorted(members, key=self._place.__getitem__))


AnyRule = NormalRule | FunctorRule


def strata_of(rules: Sequence[AnyRule], choosing: Iterable[str] = ()) -> tuple[Stratum, ...]:
    """The strata of these rules, and of relations that have one in any case; other relations
    without any of them count as given.

    The order depends on the rules and their order only. Raises ProgramErrors of
    StratificationErrors, one for each rule at fault.
    """
    rules_of: dict[str, list[AnyRule]] = {name: [] for name in choosing}
    for rule in rules:
        rules_of.setdefault(rule.relation, []).append(rule)
    reads = {
        name: dict.fromkeys(read for rule in mine for read in rule.reads if read in rules_of)
        for name, mine in rules_of.items()
    }
    strata: list[Stratum] = []
    errors: list[LftjError] = []
    for members in components(reads):
        recursive = len(members) > 1 or members[0] in reads[members[0]]
        mine = tuple(rule for name in members for rule in rules_of[name])
        if adds_up(mine, members, cycle=recursive):
            strata.append(Stratum(tuple(members), mine, True, summed=True))
            continue
        if recursive:
            errors += _problems(mine, reads, set(members))
        together = recursive or (len(mine) > 1 and bool(lattices(mine)))
        if together:
            errors += map(_absent_error, least_of_absent(mine))
        strata.append(Stratum(tuple(members), mine, together))
    if errors:
        raise ProgramErrors(errors)
    return tuple(strata)


def _absent_error(rule: NormalRule) -> LftjError:
    """The error for a `min` whose values may be NULL, where it is not of all rows of a group at
    once: NULL has the least code, and would be the least value.
    """
    message = f"what the `min` of `{rule.relation}` is of may be NULL"
    hint = (
        "leave NULL out with !is_null(…), or give a value with coalesce(…, …), in a cycle of rules "
        "and where several rules say what is least"
    )
    return TypeClashError(message, code="E134", span=rule.span, hint=hint)


def _problems(
    rules: Sequence[AnyRule], reads: Mapping[str, Iterable[str]], members: set[str]
) -> list[CycleError]:
    """Errors in the rules of a recursive stratum, one for each user's rule."""
    errors = cycle_errors(strict_edges(rules, members), reads, members)
    for misuse in misuses(rules, members):
        if misuse.rule.source not in {error.source for error in errors}:
            errors.append(misuse_error(misuse, reads, members))
    return errors


def strict_edges(rules: Sequence[AnyRule], members: set[str]) -> list[Edge]:
    """Edges of a recursive stratum that a cycle must not have."""
    edges: list[Edge] = []
    found = lattices(rules)
    for rule in rules:
        if isinstance(rule, FunctorRule):
            # beside `min` and `max` a string made of a value that is replaced later would stay
            edges += (
                [Edge(rule, rule.domain, "functor")] if found and rule.domain in members else []
            )
            continue
        for atom in rule.negated:
            if atom.relation in members:
                edges.append(
                    Edge(
                        rule,
                        atom.relation,
                        "aggregate" if of_aggregate(atom.relation) else "negation",
                    )
                )
        if rule.aggregates and (of_negation(rule.relation) or rule.relation not in found):
            kind = "negation" if of_negation(rule.relation) else "aggregate"
            edges += [
                Edge(rule, atom.relation, kind) for atom in rule.atoms if atom.relation in members
            ]
    return edges
