"""Which of the rows that may have lost a derivation have another one, found out before any of them
is taken away [DRed].

Most come back, and taking a row away and bringing it back changes a page in every key order. So
relations stay as they were, and rules read them without what is `gone`, which a negated atom says:
first everything that may have to go, then what is left of it from round to round. A row that
returns drives the next round; what is looked for there are rows that are gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from lftj.join.context import Context
from lftj.join.run.evaluate import Columns, chunks, plan_rule
from lftj.maintenance.cost.cost_model import ITERATION, LOOK_UP, charge
from lftj.maintenance.counting.rule_queries import LOST
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.rules.full import head_picks
from lftj.program.normal_form import NegatedAtom, NormalRule, PositiveAtom, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import Delta, no_rows
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import LooseRows
from scantree.rows import difference, sort_rows

BACK = "#back"
"""Behind a relation's name: the rows that came back in the last round."""

_OTHER_WAY = 50_000  # kernel steps that led to nothing, after which a search goes the other way
_LEADS_TO_LITTLE = (
    16  # steps for each row that drives a search or is found; what is beyond led to nothing
)
_FEW = 4096  # rows that are gone
# rows of the stratum for each that may be gone, from which on the search is worth key orders of its
# own
_MANY = 1000

Found = dict[str, Columns]


@dataclass
class _Search:
    """How a rule is searched for rows that are gone: by a join with these, or `forward`, which
    finds all heads, of which they are some.

    The join takes the less the fewer are gone, forward the fewer rows drive it. Which will do is
    hard to say, as whole groups of rows that belong together go and return; so a search that led to
    little goes the other way.
    """

    forward: bool = False
    _wasted: int = 0
    _turns: int = 0

    def took(self, steps: int, rows: int) -> None:
        """Note the kernel steps of a search, and the rows that drove it or were found."""
        self._wasted += max(0, steps - _LEADS_TO_LITTLE * rows)
        if self._wasted > _OTHER_WAY << self._turns:
            self.forward, self._wasted, self._turns = not self.forward, 0, self._turns + 1


class Returning:
    """One commit: `run` gives what is gone for good of the rows that were `lost`, as far as rows
    that come do not bring it back.
    """

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        rules: list[NormalRule],
        lost: Mapping[str, Columns],
        versions: Versions,
        context: Context,
    ):
        self._schemas, self._rules = schemas, rules
        self._versions, self._context = versions, context
        self._gone = {
            name: self._are_gone(name, rows) for name, rows in lost.items() if len(rows[0])
        }
        rows = sum(versions[name].count for name in schemas if name in versions)
        self._searches: dict[NormalRule, _Search] = {}
        self._lasting = sum(len(rows[0]) for rows in lost.values()) * _MANY < rows

    @property
    def gone(self) -> Found:
        """What is gone by now, by relations that have such rows. O(n) for n of them."""
        return {name: rows.columns() for name, rows in self._gone.items()}

    def are_gone(self, name: str) -> bool:
        """Whether rows of a relation are gone."""
        return name in self._gone

    def among_gone(self, name: str, rows: Columns) -> Columns:
        """Those of a relation's rows, sorted and distinct, that are gone."""
        there = self._gone[name].contains(rows)
        return [column[there] for column in rows]

    def run(self) -> Found:
        """Rounds until no row returns. Raises what evaluation raises, and AllowanceSpentError."""
        self.follow(self._settled(self._given(), self._derived({})))
        return self.gone

    def follow(self, fresh: Found) -> None:
        """Rounds until no row returns, after these did."""
        while fresh:
            fresh = self._settled(self._derived(fresh))

    def back(self, found: Found) -> Found:
        """What is found is gone no longer; it, by the relations where rules read it."""
        for name, rows in found.items():
            charge(self._context, LOOK_UP * len(rows[0]))
            gone = self._gone[name]
            loose = isinstance(gone, LooseRows)
            left = (
                self._loose(name, LOST, difference(gone.columns(), rows))
                if loose
                else gone.apply(Delta(no_rows(len(rows)), rows))
            )
            if left.count:
                self._gone[name] = left
            else:
                del self._gone[name]
        return found

    def _given(self) -> Iterator[tuple[str, Columns]]:
        """Rows that are gone, and were given to the stratum beside what it derives."""
        for name, gone in self._gone.items():
            base = self._versions.get(base_name(name))
            if base is not None:
                rows = gone.columns()
                there = base.contains(rows)
                yield name, [column[there] for column in rows]

    def _derived(self, fresh: Found) -> Iterator[tuple[str, Columns]]:
        """What the rules derive, with a row among those that came back just now if
        there are any.
        """
        relations = {name: self._versions[name] for rule in self._rules for name in rule.reads}
        relations |= {name + LOST: rows for name, rows in self._gone.items()}
        relations |= {name + BACK: self._loose(name, BACK, rows) for name, rows in fresh.items()}
        for rule in self._rules:
            if rule.relation in self._gone:
                for driven in self._driven(rule, fresh):
                    yield rule.relation, self._found(driven, relations)

    def _driven(self, rule: NormalRule, fresh: Found) -> Iterator[NormalRule]:
        """The rule, for rows that are gone: over what is not, or driven by each atom of which rows
        came back.
        """
        if not fresh:
            yield self._without_gone(rule, -1)
        for number, atom in enumerate(rule.atoms):
            if atom.relation in fresh:
                yield self._without_gone(rule, number)

    def _without_gone(self, rule: NormalRule, driver: int) -> NormalRule:
        atoms, negated = list(rule.atoms), list(rule.negated)
        for number, atom in enumerate(rule.atoms):
            if number == driver:
                atoms[number] = PositiveAtom(atom.relation + BACK, atom.args)
            elif atom.relation in self._gone:
                negated.append(NegatedAtom(atom.relation + LOST, atom.args))
        sought = rule.head_in(rule.relation + LOST)
        return replace(rule, atoms=(sought, *atoms), negated=tuple(negated))

    def _found(self, rule: NormalRule, relations: Mapping[str, RelationVersion]) -> Columns:
        search, before = self._searches.setdefault(rule, _Search()), self._context.work
        asked = replace(rule, atoms=rule.atoms[1:]) if search.forward else rule
        needed, picks = head_picks(asked)
        plan = plan_rule(
            asked, relations, self._context, needed=needed, count=False, lasting=self._lasting
        )
        pieces = [piece.take(picks, axis=0) for piece in chunks(plan, relations, self._context)]
        found = sum(piece.shape[1] for piece in pieces)
        self._context.found += found
        search.took(
            self._context.work - before,
            found + min(relations[atom.relation].count for atom in rule.atoms),
        )
        if not needed:
            return [np.zeros(min(len(pieces), 1), np.int64)]
        rows = list(np.concatenate([np.empty((len(picks), 0), np.int64), *pieces], axis=1))
        return self.among_gone(rule.relation, sort_rows(rows)) if asked is not rule else rows

    def _settled(self, *found: Iterator[tuple[str, Columns]]) -> Found:
        """What is `back`, of rows that are found."""
        charge(self._context, ITERATION)
        return self.back(distinct(each for some in found for each in some))

    def _are_gone(self, name: str, rows: Columns) -> RelationVersion:
        """Rows of a relation, sorted, that are gone. Many have key orders that rounds bring
        forward; few are sorted anew in each.
        """
        loose = self._loose(name, LOST, rows)
        return (
            loose
            if len(rows[0]) <= _FEW
            else RelationVersion.build(loose.schema, self._context.arena, rows)
        )

    def _loose(self, name: str, suffix: str, rows: Columns) -> LooseRows:
        return LooseRows(
            replace(self._schemas[name], name=name + suffix, key=None), self._context.arena, rows
        )


def distinct(found: Iterable[tuple[str, Columns]]) -> Found:
    """All rows found by one name together, each once, in ascending order; no name without any."""
    pieces: dict[str, list[Columns]] = {}
    for name, rows in found:
        if len(rows[0]):
            pieces.setdefault(name, []).append(rows)
    return {
        name: sort_rows([np.concatenate(columns) for columns in zip(*rows, strict=True)])
        for name, rows in pieces.items()
    }
