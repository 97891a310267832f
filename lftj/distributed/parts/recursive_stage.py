# SPDX-License-Identifier: Apache-2.0
"""Supersteps of one part in a recursive stage, from step to step of a commit.

After insertions supersteps continue from the existing rows. After a loss, rows that may have lost a
derivation are found first [DRed], by supersteps of their own, over all relations as they were
before the commit (`Supersteps.over_deletion`). The rows left have a derivation that nothing
touched. Then supersteps derive from these alone, before anything goes: each part gets the rows that
its rules may derive, and looks for derivations in the rows left (`PartReturning`). The others go,
and supersteps continue from there with the inserted rows, as after insertions.

For relations that keep the best value of each group, no row is looked for: groups whose value may
be lost become empty, rules offer them values again over the rows left, and supersteps continue from
there at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from lftj.distributed.partitioning.cuts import local_name, slots
from lftj.distributed.partitioning.part_plan import Feed
from lftj.distributed.partitioning.steps import Move, Step
from lftj.distributed.partitioning.supersteps import (
    Supersteps,
    collected_lost,
)
from lftj.distributed.parts.host import Host, Rows
from lftj.distributed.parts.part_over_deletion import PartOverDelete
from lftj.distributed.parts.part_rederivation import PartReturning
from lftj.distributed.parts.part_supersteps import PartFixpoint
from lftj.distributed.parts.shuffle import News, Shuffle
from lftj.join import AllowanceSpentError, Context
from lftj.join.run import chunks, plan_rule
from lftj.maintenance.deletion import keep_orders, taken_below, takes_and_adds
from lftj.maintenance.inputs import Versions
from lftj.maintenance.rules import check_rows
from lftj.program import RelationSchema
from lftj.scantree import differences, sort_rows
from lftj.storage import Columns, Database, Delta, RelationVersion, TransientRelation, no_rows
from lftj.types import Role, Source, without_role

Found = dict[str, RelationVersion]


@dataclass
class Exchange:
    """Part `number` of `parts` in one stage of a commit on the database `old`.

    `lost`: what may have lost a derivation, by the local names of `Supersteps.over_deletion`;
    `returning`: which of it is gone, as far as is known. `news`: what the last step found that
    others need. `shrank`: whether something was lost here, so that supersteps cannot go on from
    what there was, and `grew`: whether something came, with which they do; `asked`: parts where
    what was lost in it may be derived; `gave_up`: whether more was lost than is followed; `anew`:
    whether all began with nothing.
    """

    supersteps: Supersteps
    old: Database
    number: int
    parts: int
    host: Host
    lost: Found = field(default_factory=dict)
    returning: PartReturning | None = None
    news: dict[str, News] = field(default_factory=dict)
    shrank: bool = False
    grew: bool = False
    asked: frozenset[int] = frozenset()
    gave_up: bool = False
    anew: bool = False

    @property
    def overdeleted(self) -> int:
        """Rows that may have lost a derivation and live here."""
        over_deletion = self.supersteps.over_deletion
        return (
            sum(
                self.lost[over_deletion.local(relation)[0]].count for relation in over_deletion.cuts
            )
            if self.lost
            else 0
        )

    def moved(self, now: Database) -> bool:
        """Test for changes to report in the end, or to forget."""
        names = [*self._held, *map(_news, self.supersteps.cuts)]
        gone = self.returning is not None and any(map(self.returning.are_gone, self._held))
        return gone or any(now[name].identity is not self.old[name].identity for name in names)

    def step(
        self, step: Step, now: Database, deltas: Mapping[str, Delta], rows: Rows, context: Context
    ) -> Found:
        """The relations that are others after a step of supersteps. `now`: this commit's; `deltas`:
        of the relations below.
        """
        self.news, self.shrank, self.asked, self.gave_up = {}, False, frozenset(), False
        versions = Versions(
            self.old,
            now,
            {name: deltas[name] for name in self.supersteps.below & deltas.keys()},
            self.host.arena,
        )
        if step.move is Move.BEGIN:
            return self._begin(versions, step.most, now, context)
        if step.move is Move.OVERDELETE:
            return self._overdelete(
                {},
                self._arrived(self.supersteps.over_deletion, self._lost(), rows),
                step.most,
                now,
                context,
            )
        if step.move is Move.REDERIVE:
            return self._rederive(now, versions.deltas, rows, context)
        if step.move is Move.RETURN:
            return self._return(now, rows, context)
        self.anew |= step.move is Move.ANEW
        now = now.replace(
            self._left()
            if step.move is Move.RESUME and self.supersteps.lattices
            else self._without_gone(now)
        )
        if step.move is Move.RESUME:
            return self._go_on(versions, now, context, rows)
        fixpoint = self._fixpoint(now, context)
        if step.move is Move.ANEW:
            self.lost = {}
            fixpoint.anew()
        else:
            fixpoint.follow(self._arrived(self.supersteps, now, rows))
        return self._finish(fixpoint)

    def relations_after(self, now: Database, context: Context) -> tuple[Found, dict[str, Delta]]:
        """The end: what supersteps collected is forgotten, and the net change that all steps
        together made.
        """
        left = self._without_gone(now)
        now = now.replace(left)
        moved = {name: now[name].difference(self.old[name]) for name in self._held}
        for name, user in self.supersteps.plain.items():
            moved[user] = _without_witnesses(moved[name], now[user].schema.arity)
            left[user] = now[user].apply(moved[user])
        now = now.replace(left)
        for name, delta in moved.items():
            check_rows(now[name].schema, now[name], delta, context)
        return left | self._nothing_collected(), {
            name: delta for name, delta in moved.items() if len(delta)
        }

    def _begin(self, versions: Versions, most: int, now: Database, context: Context) -> Found:
        rules, changed = self.supersteps.rules, versions.deltas
        self.shrank, self.grew = takes_and_adds(
            rules, list(map(self.supersteps.base, self.supersteps.cuts)), changed
        )
        if not self.shrank:
            return self._go_on(versions, now, context)
        taken = taken_below(rules, self.supersteps.lost, changed, versions, self.host.arena)
        return self._overdelete(
            taken, {name: rows.columns() for name, rows in taken.items()}, most, now, context
        )

    # ── more ──────────────────────────────────────────────────────────────────────────────────────
    def _go_on(
        self, versions: Versions, now: Database, context: Context, rows: Rows | None = None
    ) -> Found:
        """Continue with the changes below, or of own rows, that add to the derived rows, and with
        offers for groups without a value.
        """
        fixpoint = self._fixpoint(now, context)
        fixpoint.resume(now)
        if rows is not None and self.supersteps.lattices:
            for rule, cut in zip(fixpoint.rules, self.supersteps.asked, strict=True):
                fixpoint.offer_again(
                    rule, self._sought(without_role(rule.relation, Role.NEWS), cut, rows)
                )
        fixpoint.offer_opened(versions)
        fixpoint.proceed({name: delta.inserts for name, delta in versions.deltas.items()})
        return self._finish(fixpoint)

    # ── less ──────────────────────────────────────────────────────────────────────────────────────
    def _overdelete(
        self,
        taken: Found,
        inserted: Mapping[str, Columns],
        most: int,
        now: Database,
        context: Context,
    ) -> Found:
        """Rows lost here because of rows taken below, or by other parts. The rows that this part
        holds do not change yet.
        """
        if not self.supersteps.optimal_support:
            self.gave_up = True  # what rested on a value that is the best no more cannot be told
            return {}
        relations = {**self.old, **taken, **self._lost()}
        fixpoint = PartOverDelete(
            self.supersteps, relations, now, context, self.number, self.parts, most
        )
        try:
            fixpoint.follow(inserted)
            before, self.lost = self._lost(), self._finish(fixpoint)
            self.news |= fixpoint.seeking()
            self.asked = (
                frozenset(self._had_derivations(before, context)) if self.parts > 1 else frozenset()
            )
        except AllowanceSpentError:
            self.gave_up = True
        changed = [
            name
            for name in self.supersteps.below & self.old.keys()
            if now[name] is not self.old[name]
        ]
        keep_orders(changed, self.old, now)
        return {}

    def _had_derivations(self, before: Found, context: Context) -> Iterator[int]:
        """The parts where rules had derived what may be lost since `before`, as far as it can be
        told here (`Supersteps.asking`).
        """
        for rule in filter(None, self.supersteps.asking):
            lost, held = (atom.relation for atom in rule.atoms)
            fresh = TransientRelation(
                self.lost[lost].schema,
                self.host.arena,
                self.lost[lost].difference(before[lost]).inserts,
            )
            if fresh.count:
                relations = {lost: fresh, held: self.old[held]}
                plan = plan_rule(
                    rule, relations, context, needed=rule.group, count=False, lasting=True
                )
                for values in chunks(plan, relations, context):
                    found = slots(
                        values[0],
                        rule.variables[rule.group[0]].type,
                        self.host.dictionary,
                        self.parts,
                    )
                    yield from np.flatnonzero(np.bincount(found)).tolist()

    def _rederive(
        self, now: Database, changed: dict[str, Delta], rows: Rows, context: Context
    ) -> Found:
        """Rows among these with a derivation in the rows left. Rows that followed from insertions
        below are forgotten, as some of them may not follow any more.
        """
        lost, supersteps = self._lost(), self.supersteps
        before = {name: self.old[name] for name in self._held} | self._nothing_collected()
        now = now.replace(before)
        sought = {name: lost[supersteps.lost(name)].columns() for name in self._held}
        for rule, name, cut in zip(
            supersteps.rules, supersteps.sought, supersteps.asked, strict=True
        ):
            if name not in sought:  # in a cut in which nobody holds them: found here, or told
                own = lost[collected_lost(rule.relation)]
                sought[name] = (
                    Delta.insertion(own.columns())
                    .then(rows(Feed(own.schema.name, cut, own.schema)))
                    .inserts
                )
        collected = {name: now[name].schema for name in map(_news, supersteps.cuts)}
        shuffle = Shuffle(supersteps, collected, self.host.dictionary, self.number, self.parts)
        self.returning = PartReturning(
            supersteps, shuffle, sought, Versions(self.old, now, changed, self.host.arena), context
        )
        self.returning.run()
        self.news = shuffle.news()
        return before

    def _return(self, now: Database, rows: Rows, context: Context) -> Found:
        """Rows that follow from re-derived rows of other parts."""
        assert self.returning is not None, (
            "a part that holds such a row was told that it may be lost"
        )
        self.news = self.returning.arrive(self._arrived(self.supersteps, now, rows), context)
        return {}

    def _without_gone(self, now: Database) -> Found:
        """Relations without the rows that are gone, once these are known."""
        gone = {} if self.returning is None else self.returning.gone
        self.returning = None
        held = (name for name in self._held if name in gone)
        return {
            name: now[name].apply(Delta(no_rows(now[name].schema.arity), gone[name]))
            for name in held
        }

    # ── less of relations that keep the best value of each group ──────────────────────────────────
    def _sought(self, relation: str, cut: int, rows: Rows) -> Columns:
        """Rows that may be lost and lie here in this cut."""
        if cut in self.supersteps.cuts[relation]:
            return self._lost()[self.supersteps.lost(local_name(relation, cut))].columns()
        return rows(
            Feed(
                _news(Source(Source(relation, Role.GONE), Role.SOUGHT)),
                cut,
                self.old[_news(relation)].schema,
            )
        ).inserts

    def _left(self) -> Found:
        """Relations of this part without the rows that may be lost. Rows that followed from
        insertions below are forgotten, as some of them may not follow any more.
        """
        lost, left = self._lost(), self._nothing_collected()
        for name in self._held:
            gone = lost[self.supersteps.lost(name)].columns()
            left[name] = (
                self.old[name].apply(Delta(no_rows(len(gone)), gone))
                if len(gone[0])
                else self.old[name]
            )
        return left

    # ── what both need ────────────────────────────────────────────────────────────────────────────
    @property
    def _held(self) -> list[str]:
        """The local relations of the stratum."""
        return [
            name for relation in self.supersteps.cuts for name in self.supersteps.local(relation)
        ]

    def _fixpoint(self, now: Database, context: Context) -> PartFixpoint:
        return PartFixpoint(
            self.supersteps, now, context, self.number, self.parts, lasting=not self.anew
        )

    def _finish(self, fixpoint: PartFixpoint) -> Found:
        found = fixpoint.finish()
        self.news = fixpoint.news()
        return found

    def _nothing_collected(self) -> Found:
        return {
            name: self.host.empty(self.old[name].schema)
            for name in map(_news, self.supersteps.cuts)
        }

    def _lost(self) -> Found:
        """Rows that may have lost a derivation so far."""
        if self.lost:
            return self.lost
        found: Found = {}
        for relation, over_deletion in zip(
            self.supersteps.cuts, self.supersteps.over_deletion.cuts, strict=True
        ):
            columns = self.old[Source(relation, Role.NEWS)].schema.columns
            for name in (
                Source(over_deletion, Role.NEWS),
                *self.supersteps.over_deletion.local(over_deletion),
            ):
                found[name] = self.host.empty(RelationSchema(name, columns))
        return found

    @staticmethod
    def _arrived(
        supersteps: Supersteps, relations: Mapping[str, RelationVersion], rows: Rows
    ) -> dict[str, Columns]:
        """Rows that other parts found, by the local relations that receive them."""
        return {
            name: rows(Feed(Source(relation, Role.NEWS), cut, relations[name].schema)).inserts
            for relation, cuts in supersteps.cuts.items()
            for name, cut in zip(supersteps.local(relation), cuts, strict=True)
        }


def _without_witnesses(delta: Delta, arity: int) -> Delta:
    """Reduce a delta to the rows themselves."""
    inserts, erases = (sort_rows(columns[:arity]) for columns in (delta.inserts, delta.erases))
    return Delta(*differences(inserts, erases))


def _news(relation: str) -> str:
    return Source(relation, Role.NEWS)
