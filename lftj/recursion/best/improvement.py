"""Rounds of improvement from rows that are known to be derived: after a change, and after what lost its proofs has gone.

An instantiation that was there before and reads rows that were there before offers nothing new, but to groups that lost what they had. So
what is offered at first is what these groups are offered now, and what instantiations offer that read something new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lftj.join.evaluate import Columns
from lftj.maintain.versions import Versions
from lftj.program.normal_form import NormalRule
from lftj.recursion.best.attaining import offering
from lftj.recursion.best.monotone import MonotoneFixpoint
from lftj.recursion.effort import ITERATION, change_of, charge
from lftj.storage.relation import RelationVersion


@dataclass(frozen=True)
class Offers:
    """What may add to the rows of a stratum.

    `new`: rows found in it; `gone`: those of groups without a value now; `added`: rules that came; `versions`: what changed below.
    """

    new: Mapping[str, Columns]
    gone: Mapping[str, Columns]
    added: list[NormalRule]
    versions: Versions

    def any(self, rules: Sequence[NormalRule]) -> bool:
        """Whether there is anything to look at for these rules, which are all of the stratum."""
        deltas = self.versions.deltas
        won = any(deltas[atom.relation].inserted for rule in rules for atom in rule.atoms if atom.relation in deltas)
        opened = any(deltas[atom.relation].erased for rule in rules for atom in rule.negated if atom.relation in deltas)
        return bool(self.new or self.gone or self.added or won or opened)


class Improvement(MonotoneFixpoint):
    """One run of rounds, which counts as effort."""

    def run_from(self, stayed: Mapping[str, RelationVersion], offers: Offers) -> dict[str, RelationVersion]:
        """All rows, after rounds from those that `stayed`."""
        self.resume(stayed)
        for name, rows in offers.new.items():
            self.rows[name].add_columns(rows)
        self.offer_inserted({name: delta.inserts for name, delta in offers.versions.deltas.items()})
        self.offer_opened(offers.versions)
        for rule in self.rules:
            if rule.relation in offers.gone:
                self.offer_again(rule, offers.gone[rule.relation])
        for rule in offers.added:
            self._offer(offering(rule), {**self.lower, **self.totals}, self.rows[rule.relation])
        self._next_round()
        return self.finish()

    def _next_round(self) -> None:
        super()._next_round()
        charge(self.context, ITERATION + sum(change_of(delta.count, self.totals[name].count) for name, delta in self.deltas.items()))
