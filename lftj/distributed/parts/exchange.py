"""What one part does in a stage that is derived in rounds, from step to step of a commit.

After insertions rounds go on from what there is. Where something was lost, it is *over-deleted* first [DRed]: what may have lost a
derivation is found by rounds of its own, over all relations as they were before the commit (`Rounds.losing`), and taken away. What is
left has a derivation that nothing touched. Then rows that were taken away are *derived again*: each part is given those that its rules
may derive, and looks for derivations in what is left; rounds go on from there, with what was inserted, as after insertions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lftj.distributed.parts.host import Host, Rows
from lftj.distributed.parts.rounds import News, PartFixpoint
from lftj.distributed.placing.cuts import local_name
from lftj.distributed.placing.plan import Feed
from lftj.distributed.placing.rounds import LOST_SUFFIX, NEWS_SUFFIX, Rounds
from lftj.distributed.placing.steps import Move, Step
from lftj.join.context import AllowanceSpentError, Context
from lftj.maintain.row_checks import check_rows
from lftj.maintain.versions import Versions
from lftj.program.normal_form import RelationSchema
from lftj.recursion.rederivation.over_deletion import keep_orders, only_grows, taken_below
from lftj.storage.database import Database
from lftj.storage.delta import Columns, Delta
from lftj.storage.loose_rows import LooseRows
from lftj.storage.relation import RelationVersion

Found = dict[str, RelationVersion]


@dataclass
class Exchange:
    """Part `number` of `parts` in one stage of a commit on the database `old`.

    `lost`: what may have lost a derivation, by the local names of `Rounds.losing`. `news`: what the last step found that others need.
    `shrank`: whether something was lost here, so that rounds cannot go on from what there was; `gave_up`: whether that is more than is
    followed; `anew`: whether all began with nothing.
    """

    rounds: Rounds
    old: Database
    number: int
    parts: int
    host: Host
    lost: Found = field(default_factory=dict)
    news: dict[str, News] = field(default_factory=dict)
    shrank: bool = False
    gave_up: bool = False
    anew: bool = False

    @property
    def overdeleted(self) -> int:
        """Rows that may have lost a derivation and live here."""
        losing = self.rounds.losing
        return sum(self.lost[losing.local(relation)[0]].count for relation in losing.cuts) if self.lost else 0

    def moved(self, now: Database) -> bool:
        """Whether there is anything to tell in the end, or to forget."""
        names = [name for relation in self.rounds.cuts for name in (relation + NEWS_SUFFIX, *self.rounds.local(relation))]
        return any(now[name].identity is not self.old[name].identity for name in names)

    def step(self, step: Step, now: Database, deltas: Mapping[str, Delta], rows: Rows, context: Context) -> Found:
        """The relations that are others after a step of rounds. `now`: this commit's; `deltas`: of the relations below."""
        self.news, self.shrank, self.gave_up = {}, False, False
        changed = {name: deltas[name] for name in self.rounds.below & deltas.keys()}
        versions = Versions(self.old, now, changed, self.host.arena)
        own = list(map(self.rounds.base, self.rounds.cuts))
        self.shrank = step.move is Move.BEGIN and not only_grows(self.rounds.rules, own, changed)
        if self.shrank:
            taken = taken_below(self.rounds.rules, self.rounds.lost, changed, versions, self.host.arena)
            return self._overdelete(taken, {name: rows.columns() for name, rows in taken.items()}, step.most, now, context)
        if step.move is Move.OVERDELETE:
            return self._overdelete({}, self._arrived(self.rounds.losing, self._lost(), rows), step.most, now, context)
        if step.move is Move.REDERIVE:
            return self._rederive(versions, now, rows, context)
        self.anew |= step.move is Move.ANEW
        fixpoint = PartFixpoint(self.rounds, now, context, self.number, self.parts, lasting=not self.anew)
        if step.move is Move.BEGIN:
            fixpoint.resume(now)
            return self._go_on(fixpoint, versions)
        if step.move is Move.ANEW:
            self.lost = {}
            fixpoint.anew()
        else:
            fixpoint.follow(self._arrived(self.rounds, now, rows))
        return self._finish(fixpoint)

    def told(self, now: Database, context: Context) -> tuple[Found, dict[str, Delta]]:
        """The end: what rounds collected is forgotten, and the net change that all steps together made."""
        deltas: dict[str, Delta] = {}
        for name in (name for relation in self.rounds.cuts for name in self.rounds.local(relation)):
            delta = now[name].difference(self.old[name])
            check_rows(now[name].schema, now[name], delta, context)
            if len(delta):
                deltas[name] = delta
        return self._nothing_collected(), deltas

    # ── more ──────────────────────────────────────────────────────────────────────────────────────────────────────────
    def _go_on(self, fixpoint: PartFixpoint, versions: Versions) -> Found:
        """With what changed below, or of own rows, that adds to what the rules derive."""
        fixpoint.offer_opened(versions)
        fixpoint.proceed({name: delta.inserts for name, delta in versions.deltas.items()})
        return self._finish(fixpoint)

    # ── less ──────────────────────────────────────────────────────────────────────────────────────────────────────────
    def _overdelete(self, taken: Found, inserted: Mapping[str, Columns], most: int, now: Database, context: Context) -> Found:
        """What follows here from what was taken below, or is told by other parts. Of what this part holds nothing is another one yet."""
        if self.rounds.lattices:
            self.gave_up = True  # what rested on a value that is the best no more cannot be told
            return {}
        relations = {**self.old, **taken, **self._lost()}
        fixpoint = PartFixpoint(self.rounds.losing, relations, context, self.number, self.parts, most=most)
        try:
            fixpoint.follow(inserted)
            self.lost = self._finish(fixpoint)
        except AllowanceSpentError:
            self.gave_up = True
        changed = [name for name in self.rounds.below & self.old.keys() if now[name] is not self.old[name]]
        keep_orders(changed, self.old, now)
        return {}

    def _rederive(self, versions: Versions, now: Database, rows: Rows, context: Context) -> Found:
        """What is left; what of the rest has a derivation in it; and what follows from that, and from what came below."""
        lost = self._lost()
        held = [name for relation in self.rounds.cuts for name in self.rounds.local(relation)]
        left = {name: self.old[name].apply(_erasing(lost[self.rounds.lost(name)])) for name in held}
        now = now.replace(left | self._nothing_collected())
        fixpoint = PartFixpoint(self.rounds, now, context, self.number, self.parts)
        fixpoint.resume(now)
        for relation in self.rounds.cuts:
            if (base := self.rounds.base(relation)) in now:
                own = lost[self.rounds.lost(self.rounds.local(relation)[0])].columns()
                there = now[base].contains(own)
                fixpoint.rows[relation + NEWS_SUFFIX].add_columns([column[there] for column in own])
        sought: Found = {}
        for rule, cut in zip(self.rounds.rules, self.rounds.asked, strict=True):
            name = local_name(rule.relation.removesuffix(NEWS_SUFFIX) + LOST_SUFFIX, cut)
            sought[name] = sought.get(name) or lost.get(name) or self._sought(rule.relation, cut, lost, rows)
            head = rule.head_in(name)
            fixpoint.offer_driven(replace(rule, atoms=(head, *rule.atoms)), name, sought[name])
        return self._go_on(fixpoint, versions)

    def _sought(self, collected: str, cut: int, lost: Found, rows: Rows) -> RelationVersion:
        """The rows that were taken away and may be derived here, in a cut in which nobody holds them: found here, or told."""
        own = lost[collected.removesuffix(NEWS_SUFFIX) + LOST_SUFFIX + NEWS_SUFFIX]
        told = rows(Feed(own.schema.name, cut, own.schema))
        return LooseRows(own.schema, self.host.arena, Delta.insertion(own.columns()).then(told).inserts)

    # ── what both need ────────────────────────────────────────────────────────────────────────────────────────────────
    def _finish(self, fixpoint: PartFixpoint) -> Found:
        found = fixpoint.finish()
        self.news = fixpoint.news()
        return found

    def _nothing_collected(self) -> Found:
        collected = (relation + NEWS_SUFFIX for relation in self.rounds.cuts)
        return {name: self.host.empty(self.old[name].schema) for name in collected}

    def _lost(self) -> Found:
        """What may have lost a derivation so far."""
        if self.lost:
            return self.lost
        found: Found = {}
        for relation, losing in zip(self.rounds.cuts, self.rounds.losing.cuts, strict=True):
            columns = self.old[relation + NEWS_SUFFIX].schema.columns
            for name in (losing + NEWS_SUFFIX, *self.rounds.losing.local(losing)):
                found[name] = self.host.empty(RelationSchema(name, columns))
        return found

    @staticmethod
    def _arrived(rounds: Rounds, relations: Mapping[str, RelationVersion], rows: Rows) -> dict[str, Columns]:
        """What other parts found, by the local relations into which it comes."""
        return {
            name: rows(Feed(relation + NEWS_SUFFIX, cut, relations[name].schema)).inserts
            for relation, cuts in rounds.cuts.items()
            for name, cut in zip(rounds.local(relation), cuts, strict=True)
        }


def _erasing(rows: RelationVersion) -> Delta:
    columns = rows.columns()
    return Delta([column[:0] for column in columns], columns)
