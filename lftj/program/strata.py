"""Strata: the strongly connected components of the graph "this relation is derived from that one", in an order in which each reads only
earlier ones and itself.

Negation, aggregates and functors may only read earlier strata: inside a cycle "the rows for which this does not hold yet" has no fixed
meaning. The error names the cycle in the users' relations. Cost: linear in the number of body atoms, without recursion, so that chains of
any depth work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lftj.errors import LftjError, ProgramErrors
from lftj.program.components import components
from lftj.program.cycles import Edge, cycle_errors
from lftj.program.hidden import of_aggregate
from lftj.program.listing import describe_strata
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema, StratifiedProgram, Stratum

__all__ = ["describe_strata", "stratify"]

AnyRule = NormalRule | FunctorRule


def stratify(relations: Mapping[str, RelationSchema], rules: Sequence[AnyRule]) -> StratifiedProgram:
    """The strata of all relations that have rules. Raises ProgramErrors of StratificationErrors, one for each rule at fault.

    The order depends on the rules and their order only. A relation without rules gets no stratum.
    """
    rules_of: dict[str, list[AnyRule]] = {}
    for rule in rules:
        rules_of.setdefault(rule.relation, []).append(rule)
    reads = {name: dict.fromkeys(read for rule in mine for read in rule.reads if read in rules_of) for name, mine in rules_of.items()}
    strata: list[Stratum] = []
    errors: list[LftjError] = []
    for members in components(reads):
        recursive = len(members) > 1 or members[0] in reads[members[0]]
        mine = tuple(rule for name in members for rule in rules_of[name])
        if recursive:
            errors += cycle_errors(strict_edges(mine, set(members)), reads, set(members))
        strata.append(Stratum(tuple(members), mine, recursive))
    if errors:
        raise ProgramErrors(errors)
    return StratifiedProgram(dict(relations), tuple(strata))


def extend(old: StratifiedProgram, relations: Mapping[str, RelationSchema], rules: Sequence[AnyRule]) -> StratifiedProgram | None:
    """`old` with more rules, when they only add to its end: no rule of `old` derives or reads what they derive. None otherwise.

    Costs in proportion to the new rules, but for a look at the names.
    """
    heads = {rule.relation for rule in rules}
    if any(not heads.isdisjoint(stratum.relations) or not heads.isdisjoint(stratum.reads) for stratum in old.strata):
        return None
    return StratifiedProgram(dict(relations), old.strata + stratify(relations, rules).strata)


def strict_edges(rules: Iterable[AnyRule], members: set[str]) -> list[Edge]:
    """What the rules of a recursive stratum read of it in ways that a cycle must not have."""
    edges: list[Edge] = []
    for rule in rules:
        if isinstance(rule, FunctorRule):
            edges += [Edge(rule, rule.domain, "functor")] if rule.domain in members else []
            continue
        for atom in rule.negated:
            if atom.relation in members:
                edges.append(Edge(rule, atom.relation, "aggregate" if of_aggregate(atom.relation) else "negation"))
        if rule.aggregates:
            edges += [Edge(rule, atom.relation, "aggregate") for atom in rule.atoms if atom.relation in members]
    return edges
