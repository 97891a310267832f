# SPDX-License-Identifier: Apache-2.0
"""The instantiations that attain the best values: a stratum with `min` or `max` as a plain
recursive one over its finished rows.

Once the best value of every group is known, an instantiation matters as a proof only if its head
has that value. So each rule that aggregates is read as a plain rule with one more atom, which looks
its head up among the finished rows:

    dist(y, min(d + w)) :- dist(x, d), edge(x, y, w).     becomes     dist(y, e) :- dist(x, d),
    edge(x, y, w), dist#best(y, e), e = d + w.

In shortest paths these are the tight edges [Ramalingam and Reps 1996, SP(G)]. The rules that come
out keep nothing but finished rows, and of a finished row they tell the iterations after which it
stands proven and by how many instantiations: what the elastic update maintains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from lftj.join.run.evaluate import Relations
from lftj.program.monotone import Lattice
from lftj.program.normal_form import AggregateTerm, NormalRule
from lftj.storage.relation import RelationVersion
from lftj.types.sources import Role, Source, in_role


def offering(rule: NormalRule) -> NormalRule:
    """The rule without its aggregate: its head rows are what it offers to the groups."""
    head = tuple(term.args[0] if isinstance(term, AggregateTerm) else term for term in rule.head)
    return replace(rule, head=head)


def support_rule(rule: NormalRule, found: Mapping[str, Lattice]) -> NormalRule:
    """A rule of a stratum, restricted to heads that are finished rows if its relation is among
    those `found` to keep the best.
    """
    if rule.relation not in found:
        return rule
    plain = offering(rule)
    return replace(plain, atoms=(*plain.atoms, plain.head_in(Source(rule.relation, Role.BEST))))


class WithBest(Mapping[str, RelationVersion]):
    """Relations, and the finished rows of some in the role `BEST`."""

    def __init__(self, relations: Relations, finished: Relations, found: Iterable[str]):
        self._relations = relations
        self._best = {Source(name, Role.BEST): finished[name] for name in found}

    def __getitem__(self, name: str) -> RelationVersion:
        return self._best[name] if in_role(name, Role.BEST) else self._relations[name]

    def __contains__(self, name: object) -> bool:
        return name in self._best or name in self._relations

    def __iter__(self) -> Iterator[str]:
        yield from self._relations
        yield from self._best

    def __len__(self) -> int:
        return len(self._relations) + len(self._best)
